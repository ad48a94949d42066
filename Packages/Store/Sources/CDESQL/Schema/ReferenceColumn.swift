public import CDEStore

/// A column with keys of a tree's rows: that of a to-one relationship.
@_spi(CDE) public struct ReferenceColumn: Sendable {
  /// The name of the relationship.
  public let property: String
  /// The entity that declares the relationship.
  public let owner: EntityIndex
  /// The entity that the relationship leads to.
  public let destination: EntityIndex
  /// The name of the relationship's inverse.
  public let inverse: String?
  /// The quoted name of the owners' table.
  public let table: String
  /// The quoted name of the column.
  public let column: String

  /// The columns of all to-one relationships, by the root of the destination's tree.
  public static func all(_ physical: PhysicalSchema) -> IndexedArray<RootIndex, [ReferenceColumn]> {
    var columns = IndexedArray<RootIndex, [ReferenceColumn]>(
      repeating: [], count: physical.schema.entities.count)
    for entity in physical.schema.entities where physical.held.contains(entity.index) {
      for property in entity.layout.properties
      where property.declaringEntity == entity.index && !property.isTransient {
        guard case .toOne = property.kind, let cell = property.cells.first else { continue }
        let end = physical.schema.end(of: property.slot, in: entity.index)
        guard physical.held.contains(end.destination) else { continue }
        columns[physical.schema.entities[end.destination].root].append(
          ReferenceColumn(
            property: property.name, owner: entity.index, destination: end.destination,
            inverse: end.inverse?.name, table: quoted(physical.tableName(of: entity.index)),
            column: quoted(physical.cellColumns[entity.index][cell])))
      }
    }
    return columns
  }

  /// Whether a deletion leaves references of the column as they are, because its delete rule takes no action.
  public func isKept(by deletion: RowDeletion, _ schema: ResolvedSchema) -> Bool {
    if deletion.kept.isEmpty { return false }
    let layout = schema.entities[deletion.entity].layout
    guard let slot = inverse.flatMap({ layout.slot(named: $0) }) else { return false }
    return deletion.kept.contains(slot)
  }

  /// The conflict of a row that refers to a deleted row.
  ///
  /// - Parameters:
  ///   - key: the key of the referring row.
  ///   - number: its `Z_ENT`.
  ///   - target: the key of the deleted row.
  /// - Returns: nil for a row whose entity uses the column for another property. Entities of a tree share columns.
  public func conflict(
    ofRow key: Int64, entity number: Int64, to target: Int64, _ physical: PhysicalSchema
  ) -> ReferenceConflict? {
    guard let entity = physical.indexes[number],
      let slot = physical.schema.entities[entity].layout.slot(named: property)
    else { return nil }
    return ReferenceConflict(
      row: .init(entity: entity, key: key), slot: slot, target: .init(entity: destination, key: target),
      isDeletedHere: true)
  }
}
