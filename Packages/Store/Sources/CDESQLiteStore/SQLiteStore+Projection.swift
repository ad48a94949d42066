@_spi(CDE) import CDESQL
import CDESQLite
public import CDEStore
import Foundation

extension SQLiteStore {
  /// Computes values from rows, in one statement and one read of one state of the store.
  ///
  /// Numbers, texts and bytes are returned as SQLite has them: a decimal may be an integer, a number with a fraction
  /// or a text, and a date is a number of seconds.
  ///
  /// - Throws: `.unsupportedQuery`, `.tooBig` for a query beyond SQLite's limits, `.cancelled` when the calling task
  ///   is cancelled, `.busy`, `.io`, `.closed` and so on. A sum of integers beyond 64 bits is an error as well.
  public func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    try plans.checkEntity(projection.entity)
    var compiler = QueryCompiler(plans.physical)
    let (compiled, columns) = try compiler.compile(projection)
    if projection.limit == 0 { return ProjectedRows(columnCount: columns.count) }
    let numbers = plans.physical.indexes
    return try pool.read { (connection) throws(StoreError) in
      // Made here, because a read may be stopped and repeated on another connection.
      var rows = ProjectedRows(columnCount: columns.count)
      try connection.withStatement(compiled) { (statement) throws(StoreError) in
        var sinceCheck = 0
        while true {
          let code = sqlite3_step(statement)
          if code == SQLITE_DONE { return }
          guard code == SQLITE_ROW else { throw connection.error(code, while: "Computing values from rows") }
          for column in columns { rows.append(Self.value(column, of: statement, numbers)) }
          sinceCheck += 1
          if sinceCheck == RowDecoder.rowsPerBatch {
            sinceCheck = 0
            try RowCollector.checkCancellation()
          }
        }
      }
      return rows
    }
  }

  private static func value(
    _ column: ProjectedColumn, of statement: OpaquePointer, _ numbers: [Int64: EntityIndex]
  ) -> StoreValue {
    if column.entity != nil || column.entityColumn != nil {
      let key = sqlite3_column_int64(statement, column.column)
      let entity =
        column.entity ?? column.entityColumn.flatMap { numbers[sqlite3_column_int64(statement, $0)] }
      // Keys begin at 1; see RowDecoder.
      guard let entity, key > 0 else { return .null }
      return .reference(entity: entity, key: key)
    }
    switch sqlite3_column_type(statement, column.column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column.column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column.column))
    case SQLITE_TEXT:
      guard let start = sqlite3_column_text(statement, column.column) else { return .null }
      let count = Int(sqlite3_column_bytes(statement, column.column))
      return .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      guard let start = sqlite3_column_blob(statement, column.column) else { return .blob(Data()) }
      return .blob(Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column.column))))
    default: return .null
    }
  }
}
