@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

/// Reads the history of a file, inside a transaction that the caller began.
struct HistoryReader {
  let tables: HistoryTables
  let plans: SchemaPlans
  let connection: Connection

  private static let task = "Reading the history"

  func transactions(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
    var conditions = ["t.Z_PK > ?"]
    var bindings: [StoreValue] = [.integer(query.after)]
    if let since = query.since {
      conditions.append("t.ZTIMESTAMP > ?")
      bindings.append(.real(since))
    }
    var limit = ""
    if let count = query.limit {
      limit = " LIMIT ?"
      bindings.append(.integer(Int64(max(count, 0))))
    }
    let texts = HistoryTables.textColumns.map { column in
      tables.hasStrings
        ? "ifnull((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.\(column)TS), t.\(column))"
        : "t.\(column)"
    }
    var result: [StoreHistoryTransaction] = []
    try connection.forEachRow(
      "SELECT t.Z_PK, t.ZTIMESTAMP, \(texts.joined(separator: ", ")) FROM ATRANSACTION AS t "
        + "WHERE \(conditions.joined(separator: " AND ")) ORDER BY t.Z_PK\(limit)", bindings, while: Self.task
    ) { statement in
      func text(_ column: Int32) -> String? {
        sqlite3_column_text(statement, column).map { String(cString: $0) }
      }
      result.append(
        StoreHistoryTransaction(
          number: sqlite3_column_int64(statement, 0), timestamp: sqlite3_column_double(statement, 1),
          author: text(2), contextName: text(4), bundleIdentifier: text(3), processName: text(5)))
    }
    if query.includesChanges, let first = result.first?.number, let last = result.last?.number {
      try addChanges(to: &result, from: first, through: last)
    }
    return result
  }

  private func addChanges(
    to transactions: inout [StoreHistoryTransaction], from first: Int64, through last: Int64
  ) throws(StoreError) {
    let tombstones = (0..<tables.tombstoneCount).map { ", ZTOMBSTONE\($0)" }.joined()
    var index = 0
    try connection.forEachRow(
      "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, "
        + "\(tables.hasColumns ? "ZCOLUMNS" : "NULL")\(tombstones) FROM ACHANGE "
        + "WHERE ZTRANSACTIONID BETWEEN ? AND ? ORDER BY ZTRANSACTIONID, Z_PK",
      [.integer(first), .integer(last)], while: Self.task
    ) { statement in
      let number = sqlite3_column_int64(statement, 4)
      while index < transactions.count, transactions[index].number < number { index += 1 }
      guard index < transactions.count, transactions[index].number == number, let change = change(statement)
      else { return }
      transactions[index].changes.append(change)
    }
  }

  /// - Returns: nil for a change that this schema has no entity for.
  private func change(_ statement: OpaquePointer) -> StoreHistoryChange? {
    guard let kind = StoreHistoryChange.Kind(rawValue: sqlite3_column_int64(statement, 1)),
      let entity = plans.physical.indexes[sqlite3_column_int64(statement, 2)]
    else { return nil }
    var change = StoreHistoryChange(
      number: sqlite3_column_int64(statement, 0), kind: kind, entity: entity,
      key: sqlite3_column_int64(statement, 3))
    let layout = tables.entities[entity]
    switch kind {
    case .inserted: break
    case .updated:
      if let start = sqlite3_column_blob(statement, 5) {
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 5)))
        change.properties = layout.decode(bytes)
        if change.properties == nil {
          change.properties = layout.properties
          ValueReports.noteUnexplainedBits(
            bytes.count, expected: layout.byteCount, of: plans.schema.entities[entity].source.name)
        }
      }
    case .deleted:
      for (place, preserved) in layout.preserved.enumerated() where place < tables.tombstoneCount {
        let value = StoreValue(column: Int32(6 + place), of: statement)
        if value == .null { continue }
        if let leaf = preserved.leaf {
          change.compositeTombstone[preserved.slot, default: Array(repeating: .null, count: leaf.count)][
            leaf.number] = value
        } else {
          change.tombstone[preserved.slot] = value
        }
      }
    }
    return change
  }

  // With two aggregates in one SELECT, SQLite reads all rows instead of the first and the last one.
  static let extentQuery =
    "SELECT (SELECT min(Z_PK) FROM ATRANSACTION), max(ifnull((SELECT max(Z_PK) FROM ATRANSACTION), 0), "
    + "ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002), 0))"

  func extent() throws(StoreError) -> StoreHistoryExtent {
    var extent = StoreHistoryExtent(first: nil, last: 0)
    try connection.forEachRow(Self.extentQuery, while: Self.task) { statement in
      if sqlite3_column_type(statement, 0) != SQLITE_NULL {
        extent.first = sqlite3_column_int64(statement, 0)
      }
      extent.last = sqlite3_column_int64(statement, 1)
    }
    return extent
  }
}
