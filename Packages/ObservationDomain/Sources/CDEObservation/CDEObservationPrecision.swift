/// Which saves wake exactly the readers of what changed.
public enum CDEObservationPrecision: Sendable {
  /// Saves of the observed context, of registered contexts and through `saveObservedChanges`. All other
  /// saves, and batches, wake the readers of all observable properties of the objects concerned.
  case registeredProducers
  /// All saves in this process. Each save says what it changed, whether its context is registered or not, and
  /// the IDs that a batch request returns say what the batch did. Changes that name nothing but objects, such
  /// as IDs made of URIs of a batch's objects, still wake the readers of all properties.
  case everySave
}
