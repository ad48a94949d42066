@_spi(CDE) import CDESQL
import CDEStore

/// How one cell is bound.
struct BindStep: Sendable {
  enum Kind: UInt8, Sendable { case integer, real, text, blob, key, entity, external }

  var cell: NarrowIndex<CellIndex>
  var kind: Kind
  /// For a key: the root of the tree that it belongs to.
  var root: NarrowIndex<RootIndex>
}

/// The names of the table of rows that a statement inserts.
enum RowTableNames {
  static let table = "cde_row"
  static let key = "key"
  static let version = "version"
  /// The function that gives a cell of the table's current row, by the cell's number.
  static let cell = "cde_cell"
}

/// How rows of one concrete entity are written.
///
/// A class, because a structure would be copied, field by field, for each row.
final class WritePlan: Sendable {
  let entity: EntityIndex
  let root: RootIndex
  let table: String
  let columns: IndexedArray<CellIndex, String>
  let steps: IndexedArray<CellIndex, BindStep>
  let insert: String
  /// Inserts all rows of such a table. A row that fails ends the statement, which does not take back the rows before: then the
  /// transaction does, and SQLite keeps no copies of pages for the statement.
  let tableInsert: String
  /// Cells that may name files.
  let externalCells: [CellIndex]
  /// For each slot its cells.
  let cellsOfSlots: IndexedArray<SlotIndex, Range<CellIndex>>
  /// Cells whose columns a uniqueness constraint of any entity of the tree names, because all of them share a
  /// table.
  let uniqueCells: Set<CellIndex>
  /// Statements that remove references to a deleted row. Their only parameter is the key.
  let cleanUps: [String]

  init(entity: EntityIndex, physical: PhysicalSchema) {
    let description = physical.schema.entities[entity]
    let layout = description.layout
    self.entity = entity
    root = description.root
    table = physical.tableName(of: entity)
    columns = physical.cellColumns[entity]
    var external: [CellIndex] = []
    steps = IndexedArray(
      zip(layout.cells.indices, layout.cells).map { index, cell in
        var step = BindStep(cell: NarrowIndex(index), kind: .integer, root: 0)
        switch (cell.role, cell.kind) {
        case (.key, _):
          let destination = physical.schema.end(of: cell.slot, in: entity).destination
          step.kind = .key
          step.root = NarrowIndex(physical.schema.entities[destination].root)
        case (.entity, _): step.kind = .entity
        case (_, .integer): step.kind = .integer
        case (_, .real): step.kind = .real
        case (_, .text): step.kind = .text
        case (_, .blob):
          step.kind = cell.allowsExternalStorage ? .external : .blob
          if cell.allowsExternalStorage { external.append(index) }
        }
        return step
      })
    externalCells = external
    cellsOfSlots = layout.properties.mapped(\.cells)
    var uniqueColumns: Set<String> = []
    for index in physical.schema.entities[description.root.entity].subtree where physical.held.contains(index)
    {
      for name in physical.schema.entities[index].source.uniquenessConstraints.joined() {
        uniqueColumns.formUnion(physical.columns(of: name, in: index) ?? [])
      }
    }
    uniqueCells = Set(columns.indices.filter { uniqueColumns.contains(physical.cellColumns[entity][$0]) })
    let names = (["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(quoted)).joined(separator: ", ")
    let marks = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
    insert = "INSERT INTO \(quoted(table)) (\(names)) VALUES (?, \(physical.numbers[entity]), \(marks))"
    let cells = columns.indices.map { ", \(RowTableNames.cell)(\($0.rawValue))" }.joined()
    tableInsert =
      "INSERT OR FAIL INTO \(quoted(table)) (\(names)) "
      + "SELECT \(RowTableNames.key), \(physical.numbers[entity]), \(RowTableNames.version)\(cells) FROM \(RowTableNames.table)"
    cleanUps = physical.removals(of: entity, where: "= ?")
  }
}
