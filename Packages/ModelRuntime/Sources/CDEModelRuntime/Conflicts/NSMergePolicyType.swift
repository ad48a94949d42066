/// How a save resolves conflicts with other writers.
public enum NSMergePolicyType: UInt, Sendable {
  /// The save fails and names the conflicts.
  case errorMergePolicyType = 0
  /// Merges by property. If both sides changed a property, the store's value stays.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Merges by property. If both sides changed a property, the object's value is saved.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// All values of the object are saved.
  case overwriteMergePolicyType = 3
  /// The object drops its unsaved changes.
  case rollbackMergePolicyType = 4

  /// Whether the store's value stays if both sides changed the same property.
  var storeTrumps: Bool {
    self == .mergeByPropertyStoreTrumpMergePolicyType || self == .rollbackMergePolicyType
  }
}
