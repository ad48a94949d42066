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
  /// fault and the members of a relationship. Objects that the next save deletes are no members. `objectID`,
  /// `self` and `SELF` return the object itself, represented by its ID, and `entity` its entity, which equals exactly
  /// that description.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.predicate` for a key that is no property of the entity.
  public final func predicateValue(forKey key: String) throws -> PredicateValue {
    if key == "objectID" || key == "self" || key == "SELF" {
      return .constant(.object(PredicateObject(objectID)))
    }
    guard let info = _binding.property(key) else {
      if key == "entity" { return .object(EntityReference(name: _binding.name)) }
      throw ManagedObjectError(
        .predicate, "The entity \(_binding.name) has no property \"\(key)\".", entity: _binding.name,
        property: key)
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

  private func predicateValue(_ value: _PropertyValue, _ type: StoreAttributeType) throws -> PredicateValue {
    switch value {
    case .unset, .null: .null
    case .integer(let value): .constant(type == .boolean ? .bool(value != 0) : .integer(value))
    case .real(let value):
      .constant(type == .date ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value))
    case .text(let value): .constant(.string(value))
    case .data(let value): .constant(.data(value))
    case .uuid(let value): .constant(.uuid(value))
    case .decimal(let value): .constant(.decimal(value))
    case .url(let value): .constant(.url(value))
    case .object(let box): try PredicateValue(box.value)
    case .toOne, .toMany: .null
    }
  }
}
