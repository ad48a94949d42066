@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
@_spi(CDE) internal import CDEStore
internal import Foundation

/// An object as a row of a query: its values in its context, including unsaved ones.
struct ObjectRow: EvaluatedRow {
  let object: NSManagedObject

  var key: Int64 { object._key }

  var concreteEntity: EntityIndex { object._binding.index }

  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue {
    let info = info(slot, entity)
    let value = object.attributeValue(info)
    guard info.kind == .composite else { return value.stored }
    guard case .object(let box) = value else { return .null }
    let part = info.leaves[leaf]
    let element = info.elements.leafValues(in: box.value as? [String: Any])[leaf]
    // If the leaf can't hold a value, the save refuses the value.
    return (try? _PropertyValue(any: element, as: part.type))?.stored ?? .null
  }

  func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [ObjectRow] {
    let info = info(slot, entity)
    guard info.isToMany else { return object.toOne(info.slot).map { [ObjectRow(object: $0)] } ?? [] }
    return object.loadedMembers(info.slot).objects.lazy.filter { !$0.isMarkedDeleted }.map(ObjectRow.init)
  }

  /// The property in the object's own entity, which may inherit from the entity that numbers the slot.
  private func info(_ slot: SlotIndex, _ entity: EntityIndex) -> PropertyInfo {
    let binding = object._binding
    if binding.index == entity { return binding.properties[slot] }
    // An entity has all properties of the entities that it inherits from.
    return binding.property(binding.model.schema.entities[entity].layout.properties[slot].name)!
  }
}

extension _PropertyValue {
  /// The value in the form of a store. An object of the application counts as nil, because no query can
  /// compare it.
  var stored: StoreValue {
    switch self {
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    default: constant(as: .undefined)?.stored ?? .null
    }
  }
}
