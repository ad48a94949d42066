internal import CDEModelRuntime

/// What happens when a commit that readers have been woken for already is merged into the view context once
/// more.
///
/// Some set-ups merge a save again after its effects were seen: a store that mirrors its own history, a
/// manual `mergeChanges(fromContextDidSave:)` beside automatic merging. An echo brings no news. It is
/// recognised by the commit it carries, however late it comes, so no other merge is ever taken for one. Bare IDs are looked up in
/// the last saves of the container. Merging a commit again in the same job of the main actor is never an echo: it wakes once.
public enum CDEPreciseRouteEchoSuppression: Sendable {
  /// On for an `NSPersistentCloudKitContainer`, off for others.
  case auto
  /// Echoes wake no reader.
  case on
  /// Echoes count as changes of unknown extent: all observable properties of their objects wake.
  case off

  func swallowsEchoes(in container: NSPersistentContainer) -> Bool {
    switch self {
    case .auto: container is NSPersistentCloudKitContainer
    case .on: true
    case .off: false
    }
  }
}
