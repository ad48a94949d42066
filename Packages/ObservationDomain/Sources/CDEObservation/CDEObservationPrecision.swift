/// Whose saves wake exactly the readers of what changed.
public enum CDEObservationPrecision: Sendable {
  /// Those of the observed context, of registered contexts and through `saveObservedChanges`. All others, and
  /// batches, wake the readers of all observable properties of the objects concerned.
  case registeredProducers
  /// Everyone's in this process: each save says what it changed, registered or not, and the IDs that a batch
  /// request gives out say what the batch did. Changes that name nothing but objects, such as IDs made of URIs of
  /// a batch's objects, still wake the readers of all properties.
  case everySave
}
