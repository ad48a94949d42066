@_spi(CDE) internal import CDEExecutors
public import Foundation

extension NSEntityDescription {
  /// All properties by name, inherited ones included.
  public var propertiesByName: [String: NSPropertyDescription] {
    if let known = facts.withLock({ $0?.propertiesByName }) { return known }
    return collectedProperties()
  }

  /// The attributes by name, inherited ones included.
  public var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// The relationships by name, inherited ones included.
  public var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// The relationships that point at `entity`, inherited ones included.
  public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    properties.compactMap { property in
      guard let relationship = property as? NSRelationshipDescription,
        relationship.destinationEntity === entity
      else { return nil }
      return relationship
    }
  }

  /// The entity's 32-byte version hash, computed as in Core Data. Two descriptions have equal hashes exactly
  /// if a store written with one can be read with the other. Computed at each call until the model is in use.
  ///
  /// An entity that was read from a store's copy of its model has the hash that the store has recorded for it, as long as
  /// its description is not changed.
  public var versionHash: Data {
    if let known = facts.withLock({ $0?.versionHash }) { return known }
    let computed = Data(entityHash())
    // A description that was changed since is another version.
    if let recordedHash, recordedHash.computed == computed { return recordedHash.recorded }
    return computed
  }

  /// Takes over the hash that a store has recorded for this very description, if it is not the computed one.
  ///
  /// Core Data may hash what is not known here. The parent's hash must be settled before, because it is part of the
  /// children's.
  @_spi(CDE) public func recordVersionHash(_ hash: Data) {
    requireMutable()
    let computed = Data(entityHash())
    recordedHash = computed == hash ? nil : (computed, hash)
  }

  /// The entity's index in the frozen model's `entities`; `nil` until the model is in use.
  @_spi(CDE) public var frozenIndex: Int? { facts.withLock { $0?.index } }

  /// The uniqueness constraints that the entity declares itself, as names. An empty one requires nothing.
  var constraintNames: [[String]] {
    uniquenessConstraints.filter { !$0.isEmpty }.map { $0.compactMap { $0 as? String } }
  }

  var compoundIndexNames: [[String]] { compoundIndexes.map { $0.compactMap { $0 as? String } } }

  func collectedProperties() -> [String: NSPropertyDescription] {
    // The nearest declaration is used. The freeze refuses a name that is declared twice.
    Dictionary(properties.map { ($0.name, $0) }) { _, last in last }
  }
}
