public import CDEStore

/// The errors of transactions, as all engines say them.
@_spi(CDE) extension StoreError {
  /// Rows are not as a transaction expects them.
  ///
  /// - Precondition: there is a conflict.
  public static func changedRows(_ conflicts: [RowConflict], _ schema: ResolvedSchema) -> StoreError {
    let count = conflicts.count
    return StoreError(
      .conflict,
      "\(count) \(count == 1 ? "row has" : "rows have") changed or vanished since "
        + "\(count == 1 ? "it was" : "they were") read. Refresh the objects and save again, or set a merge policy.",
      entity: schema.entities[conflicts[0].entity].source.name, conflicts: conflicts)
  }

  /// References of a transaction would lead to no row.
  ///
  /// - Precondition: there is a conflict.
  public static func danglingReferences(
    _ references: [ReferenceConflict], _ schema: ResolvedSchema
  ) -> StoreError {
    let first = references[0]
    let entity = schema.entities[first.row.entity]
    let name = first.slot.map { entity.layout.properties[$0].name }
    let count = references.count
    return StoreError(
      .danglingReference,
      "\(count) \(count == 1 ? "reference would lead to a row" : "references would lead to rows") that another "
        + "writer deleted, or that this save deletes while another writer refers to it. Refresh the objects and "
        + "save again, or set a merge policy.",
      entity: entity.source.name, properties: name.map { [$0] } ?? [], references: references)
  }

  /// The same error of a database, with the constraint that was violated.
  public func violating(_ constraint: (entity: String, properties: [String])) -> StoreError {
    var error = self
    error.entity = constraint.entity
    error.properties = constraint.properties
    error.message =
      "Another \(constraint.entity) has the same \(constraint.properties.joined(separator: ", ")). "
      + "Change the value, or let a merge policy decide."
    return error
  }

  /// A link of a relationship whose inverse has cells.
  public static func notALink(
    _ slot: SlotIndex, of entity: EntityIndex, _ schema: ResolvedSchema
  ) -> StoreError {
    let entity = schema.entities[entity]
    let name = entity.layout.properties[slot].name
    return StoreError(
      .unsupportedQuery,
      "\(entity.source.name).\(name) is described by its inverse's to-one cells, so it takes no links.",
      entity: entity.source.name, properties: [name])
  }

  /// A batch would delete an object whose relationship denies that, and some of its members would stay.
  public static func deniedDeletion(of entity: String, _ property: String, remaining: Int) -> StoreError {
    StoreError(
      .constraint,
      "\(entity) can't be deleted while \(property) has members, and \(remaining) of them would stay. "
        + "Delete or move them first.", entity: entity, properties: [property])
  }

  /// A batch would delete objects that a required relationship leads to.
  public static func requiredObjects(of entity: String, _ property: String, count: Int) -> StoreError {
    StoreError(
      .constraint,
      "\(entity).\(property) is required, and \(count) of its objects would be deleted. "
        + "Delete what refers to them first, or cascade.", entity: entity, properties: [property])
  }
}
