@_spi(CDE) import CDESQL
import CDEStore

// Finding the history of a file, and making one.
extension HistoryTables {
  /// Finds the tables of a file.
  ///
  /// - Returns: nil for a file without a history.
  init?(_ tables: [String: FileContents.Table], _ physical: PhysicalSchema) {
    guard let changes = tables[Self.changes]?.columns, let transactions = tables[Self.transactions]?.columns,
      ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].allSatisfy({ changes[$0] != nil }),
      transactions["ZTIMESTAMP"] != nil
    else { return nil }
    var count = 0
    while changes["ZTOMBSTONE\(count)"] != nil { count += 1 }
    self.init(
      hasStrings: tables[Self.strings] != nil && transactions["ZAUTHORTS"] != nil,
      hasColumns: changes["ZCOLUMNS"] != nil, tombstoneCount: count,
      entities: physical.schema.entities.mapped { HistoryEntity($0, columns: physical.cellColumns[$0.index]) }
    )
  }

  private static let definitions = [
    "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
      + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
    "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
      + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
      + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
    "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
    "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
    "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
    "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
    "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
    "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
  ]

  private static let numbers: [(number: Number, name: String)] = [
    (.change, "CHANGE"), (.transaction, "TRANSACTION"), (.string, "TRANSACTIONSTRING"),
  ]

  /// Makes what a file lacks to record a history: the tables, their numbers, columns for values of deleted rows.
  ///
  /// - Precondition: a writing transaction has begun.
  static func complete(
    _ tables: [String: FileContents.Table], _ physical: PhysicalSchema, on connection: Connection
  ) throws(StoreError) {
    let task = "Adding a history to the store"
    let known = HistoryTables(tables, physical)
    if known == nil {
      guard tables[changes] == nil, tables[transactions] == nil else {
        throw StoreError(
          .unreadable,
          "The tables ACHANGE and ATRANSACTION of the store's history lack columns. The history is damaged, or newer "
            + "than this program. Open the store without NSPersistentHistoryTrackingKey.")
      }
      for definition in definitions where tables[strings] == nil || !definition.contains(strings) {
        try connection.execute(definition, while: task)
      }
    }
    let wanted = HistoryEntity.all(physical).map(\.preserved.count).max() ?? 0
    for index in (known?.tombstoneCount ?? 0)..<max(wanted, known?.tombstoneCount ?? 0) {
      try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(index) BLOB", while: task)
    }
    for (number, name) in numbers where known?.hasStrings != false || number != .string {
      try connection.run(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, 0)",
        [.integer(number.rawValue), .text(name)], while: task)
    }
  }

  /// Whether a file has all that ``complete(_:_:on:)`` makes.
  static func isComplete(_ contents: FileContents, _ physical: PhysicalSchema) -> Bool {
    guard let tables = HistoryTables(contents.tables, physical) else { return false }
    let wanted = HistoryEntity.all(physical).map(\.preserved.count).max() ?? 0
    return tables.tombstoneCount >= wanted && contents.numbers?["CHANGE"] != nil
      && contents.numbers?["TRANSACTION"] != nil
  }
}
