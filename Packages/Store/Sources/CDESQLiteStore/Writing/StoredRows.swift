@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// The rows of a store that a transaction is compared with, within one read of a connection.
struct StoredRows: ConflictSource {
  let plans: SchemaPlans
  let connection: Connection

  func versions(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [Int64: Int64] {
    let sql = "SELECT ifnull(Z_OPT, 0) FROM \(quoted(plans.physical.tableName(of: root))) WHERE Z_PK = ?"
    var versions: [Int64: Int64] = [:]
    for key in keys {
      versions[key] = try connection.integer(sql, [.integer(key)], while: "Reading a version")
    }
    return versions
  }

  /// The column of a large value may name the value's file.
  func hasValues(of cell: RowLayout.Cell) -> Bool { cell.kind != .blob || !cell.allowsExternalStorage }

  func rows(
    like samples: [UniqueSample], in columns: [String], of root: RootIndex
  ) throws(StoreError) -> [Int: TransactionConflicts.Row] {
    let task = "Looking for unique values"
    let sql =
      "SELECT Z_PK, Z_ENT FROM \(quoted(plans.physical.tableName(of: root))) WHERE "
      + columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    let binder = TransactionWriter(plans, connection)
    var rows: [Int: TransactionConflicts.Row] = [:]
    for (position, sample) in samples.enumerated() {
      let plan = plans.writes[sample.batch.layout.entity]
      let statement = try connection.prepare(sql, while: task)
      defer { Connection.reset(statement) }
      try binder.cells.bind(
        sample.batch, sample.row, sample.cells.map { plan.steps[$0] }, to: statement, from: 1)
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, while: task) }
      guard code == SQLITE_ROW,
        let entity = plans.physical.indexes[sqlite3_column_int64(statement, 1)]
      else { continue }
      rows[position] = .init(entity: entity, key: sqlite3_column_int64(statement, 0))
    }
    return rows
  }

  func rows(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [RowBatch] {
    try plans.rows(entity: root.entity, ascending: keys, on: connection, isCancellable: false).batches
  }
}
