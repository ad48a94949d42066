@_spi(CDE) internal import CDEManagedModel
public import CDEPredicates
internal import CDEStore
internal import Foundation

// Predicates over objects in memory: the same tree gives the same results as in the store.
extension NSManagedObject: PredicateValueProviding, PredicateObjectConvertible {
  /// The object's ID, which predicates compare.
  public final var predicateObjectReference: any PredicateObjectReference { objectID }

  /// Attributes have types, so a predicate that compares one with a value of another kind throws.
  public final var predicateValuesHaveTypes: Bool { true }

  /// The value of a property in the form that predicates compare, with unsaved changes. Reads the row of a
  /// fault and the members of a relationship. Objects that the next save deletes are no members. A ported class's own accessor
  /// of the property is called. `objectID`,
  /// `self` and `SELF` return the object itself, represented by its ID, and `entity` its entity, which equals exactly
  /// that description. Keys of variables that the class computes, and of every managed object's properties such as `hasChanges`, have
  /// the value of key-value coding. A store can't answer them.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.predicate` for a key that is none of these.
  public final func predicateValue(forKey key: String) throws -> PredicateValue {
    if key == "objectID" || key == "self" || key == "SELF" {
      return .constant(.object(PredicateObject(objectID)))
    }
    guard let info = _binding.property(key) else {
      if let computed = accessorValue(key) { return try PredicateValue(computed) }
      if key == "entity" { return .object(EntityReference(name: _binding.name)) }
      if let own = ownValue(forKey: key) { return try PredicateValue(own) }
      throw ManagedObjectError(
        .predicate, "The entity \(_binding.name) has no property \"\(key)\".", entity: _binding.name,
        property: key)
    }
    if _binding.hasAccessor(info), let computed = accessorValue(key) {
      return try predicateValue(computed, info)
    }
    switch info.kind {
    case .attribute(let type): return try predicateValue(attributeValue(info), type)
    case .composite: return try PredicateValue(attributeValue(info).any(as: .composite))
    case .toOne: return toOne(info.slot).map { .object($0) } ?? .null
    case .toMany:
      return .collection(
        loadedMembers(info.slot).objects.filter { !$0.isMarkedDeleted }.map { .object($0) })
    }
  }

  /// What an accessor of the class returned. A value that is not of the property's type is compared as it is.
  private func predicateValue(_ computed: Any?, _ info: PropertyInfo) throws -> PredicateValue {
    guard case .attribute(let type) = info.kind, let value = try? _PropertyValue(any: computed, as: type)
    else {
      return try PredicateValue(computed)
    }
    return try predicateValue(value, type)
  }

  private func predicateValue(_ value: _PropertyValue, _ type: StoreAttributeType) throws -> PredicateValue {
    if case .object(let box) = value { return try PredicateValue(box.value) }
    return value.constant(as: type).map { .constant($0) } ?? .null
  }
}
