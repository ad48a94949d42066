public import CDEStore

@_spi(CDE) extension PhysicalSchema {
  /// How the elements of a to-many relationship are found.
  public enum ToMany {
    /// The elements' table contains the owner's key in the column `key`.
    case inverse(key: String, order: String?)
    /// The elements' table contains the owner's key, although no relationship leads back.
    case implied(key: String, order: String?)
    /// A table of its own contains the pairs.
    case join(JoinTable.Side)
  }

  /// How the elements of a relationship are found.
  ///
  /// - Throws: `.unsupportedQuery` if the slot is no stored to-many relationship.
  public func toMany(_ slot: SlotIndex, of entity: EntityIndex) throws(StoreError) -> ToMany {
    let properties = schema.entities[entity].layout.properties
    guard properties.indices.contains(slot), case .toMany = properties[slot].kind,
      !properties[slot].isTransient
    else {
      throw StoreError(
        .unsupportedQuery,
        "Slot \(slot) of \(schema.entities[entity].source.name) is no stored to-many relationship.",
        entity: schema.entities[entity].source.name)
    }
    let property = properties[slot]
    let key = PropertyKey(entity: property.declaringEntity, property: property.name)
    if let side = joinSides[key] { return .join(side) }
    if let implied = impliedColumns[key] { return .implied(key: implied.key, order: implied.order) }
    let end = schema.end(of: slot, in: entity)
    let layout = schema.entities[end.destination].layout
    let cells = layout.properties[end.inverseSlot!].cells
    let names = cellColumns[end.destination]
    return .inverse(
      key: names[cells.lowerBound],
      order: cells.first { layout.cells[$0].role == .order }.map { names[$0] })
  }
}
