@_spi(CDE) import CDESQL
import CDEStore

/// A column with keys of a tree's rows.
struct ReferenceColumn: Sendable {
  /// The relationship, the entity that declares it, and the entity that it leads to.
  let property: String
  let owner: EntityIndex
  let destination: EntityIndex
  /// The name of the relationship's inverse.
  let inverse: String?
  /// Finds the lowest key, starting at a given one, that a row refers to.
  let next: String
  /// Finds the rows that refer to a range of keys: their keys, entity numbers, and the referenced keys.
  let select: String

  /// The columns of all to-one relationships, by the root of the destination's tree.
  static func all(_ physical: PhysicalSchema) -> IndexedArray<RootIndex, [ReferenceColumn]> {
    var columns = IndexedArray<RootIndex, [ReferenceColumn]>(
      repeating: [], count: physical.schema.entities.count)
    for entity in physical.schema.entities where physical.held.contains(entity.index) {
      for property in entity.layout.properties
      where property.declaringEntity == entity.index && !property.isTransient {
        guard case .toOne = property.kind, let cell = property.cells.first else { continue }
        let end = physical.schema.end(of: property.slot, in: entity.index)
        let destination = end.destination
        guard physical.held.contains(destination) else { continue }
        let column = quoted(physical.cellColumns[entity.index][cell])
        let table = quoted(physical.tableName(of: entity.index))
        columns[physical.schema.entities[destination].root].append(
          ReferenceColumn(
            property: property.name, owner: entity.index, destination: destination,
            inverse: end.inverse?.name,
            next: "SELECT \(column) FROM \(table) WHERE \(column) >= ? ORDER BY \(column) LIMIT 1",
            select: "SELECT Z_PK, Z_ENT, \(column) FROM \(table) WHERE \(column) BETWEEN ? AND ?"))
      }
    }
    return columns
  }
}
