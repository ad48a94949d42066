@_spi(CDE) import CDESQL
import CDEStore

/// The statements that find the rows which refer to others by a column.
struct ReferenceLookUp: Sendable {
  let column: ReferenceColumn
  /// Finds the lowest key, starting at a given one, that a row refers to.
  let next: String
  /// Finds the rows that refer to a range of keys: their keys, entity numbers, and the referenced keys.
  let select: String

  init(_ column: ReferenceColumn) {
    self.column = column
    let (name, table) = (column.column, column.table)
    next = "SELECT \(name) FROM \(table) WHERE \(name) >= ? ORDER BY \(name) LIMIT 1"
    select = "SELECT Z_PK, Z_ENT, \(name) FROM \(table) WHERE \(name) BETWEEN ? AND ?"
  }
}
