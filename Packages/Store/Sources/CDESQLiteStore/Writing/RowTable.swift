@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

/// A table for SQL with the rows of a batch that are being inserted, and a function that gives their cells.
///
/// One statement then inserts all rows. A statement with the cells as parameters ends after each row, so SQLite opens the table
/// and its indexes anew for each, and looks for the end of the table again.
enum RowTable {
  private static let versionColumn: Int32 = 1

  nonisolated(unsafe) private static let module = made().kept()
  // Guard: immutable once it is made; SQLite only reads it.

  /// - Parameter rows: the rows of the connection's statement.
  /// - Precondition: The rows outlive the connection.
  static func register(on handle: OpaquePointer, _ rows: InsertedRows) throws(StoreError) {
    let rows = Unmanaged.passUnretained(rows).toOpaque()
    var code = sqlite3_create_module_v2(handle, RowTableNames.table, module, rows, nil)
    if code == SQLITE_OK {
      code = sqlite3_create_function_v2(
        handle, RowTableNames.cell, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, rows,
        { context, _, values in
          let rows = Unmanaged<InsertedRows>.fromOpaque(sqlite3_user_data(context))
          rows._withUnsafeGuaranteedRef { $0.give(Int(sqlite3_value_int(values![0])), to: context) }
        }, nil, nil, nil)
    }
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the table \(RowTableNames.table)")
    }
  }

  private static func made() -> sqlite3_module {
    var module = sqlite3_module.common()
    module.xConnect = { handle, rows, _, _, table, _ in
      Table.connect(
        handle, "CREATE TABLE row(\(RowTableNames.key), \(RowTableNames.version))", .fromOpaque(rows!), table)
    }
    module.xOpen = { _, cursor in
      let made = UnsafeMutablePointer<sqlite3_vtab_cursor>.allocate(capacity: 1)
      made.initialize(to: sqlite3_vtab_cursor())
      cursor?.pointee = made
      return SQLITE_OK
    }
    module.xFilter = { cursor, _, _, _, _ in
      RowTable.rows(cursor) { $0.row = 0 }
      return SQLITE_OK
    }
    module.xNext = { cursor in
      RowTable.rows(cursor) { $0.row += 1 }
      return SQLITE_OK
    }
    module.xEof = { cursor in RowTable.rows(cursor) { $0.isAtEnd } ? 1 : 0 }
    module.xColumn = { cursor, context, column in
      sqlite3_result_int64(
        context, RowTable.rows(cursor) { column == RowTable.versionColumn ? $0.version : $0.key })
      return SQLITE_OK
    }
    module.xRowid = { cursor, row in
      row?.pointee = Int64(RowTable.rows(cursor) { $0.row })
      return SQLITE_OK
    }
    return module
  }

  @inline(__always)
  private static func rows<R>(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ body: (InsertedRows) -> R
  ) -> R {
    Table.state(cursor!.pointee.pVtab).pointee._withUnsafeGuaranteedRef(body)
  }
}

private typealias Table = Extended<sqlite3_vtab, Unmanaged<InsertedRows>>

/// The rows that a connection's statement with a ``RowTable`` inserts.
final class InsertedRows {
  // Guard: the borrower of the connection uses them. The writer lends itself and a batch while a statement runs. No access
  // runs other code before it ends.
  @exclusivity(unchecked) private var writer: Unmanaged<CellWriter>?
  @exclusivity(unchecked) private var batch: Unmanaged<RowBatch>?
  @exclusivity(unchecked) private var steps = UnsafeBufferPointer<BindStep>(start: nil, count: 0)
  @exclusivity(unchecked) private var root: RootIndex = 0
  @exclusivity(unchecked) private var count = 0
  /// The current row of the table.
  @exclusivity(unchecked) fileprivate(set) var row = 0
  /// The error that ended the last statement, if it was none of SQLite's.
  private(set) var failure: StoreError?

  @exclusivity(unchecked) private var isRegistered = false
  /// Whether tables have triggers that fire on an insertion, as far as it was asked.
  @exclusivity(unchecked) private var triggers: [String: Bool] = [:]

  /// The rows of a connection, which knows their table from then on.
  static func of(_ connection: Connection) throws(StoreError) -> InsertedRows {
    let known = connection.insertion as? InsertedRows
    if let known, known.isRegistered { return known }
    let rows = known ?? InsertedRows()
    // Before SQLite gets the address.
    connection.insertion = rows
    try RowTable.register(on: connection.handle, rows)
    rows.isRegistered = true
    return rows
  }

  /// Whether a table of the file has a trigger. One that another program makes after the first call is not seen.
  func hasTrigger(_ table: String, on connection: Connection) throws(StoreError) -> Bool {
    if let known = triggers[table] { return known }
    let found =
      try connection.integer(
        "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1",
        [.text(table)],
        while: "Looking for triggers") != nil
    triggers[table] = found
    return found
  }

  /// Runs a statement over rows.
  ///
  /// - Returns: SQLite's result code.
  func lend(
    _ batch: RowBatch, _ steps: UnsafeBufferPointer<BindStep>, root: RootIndex, by writer: CellWriter,
    to statement: OpaquePointer
  ) -> Int32 {
    failure = nil
    self.writer = .passUnretained(writer)
    self.batch = .passUnretained(batch)
    self.steps = steps
    self.root = root
    count = batch.count
    defer {
      self.writer = nil
      self.batch = nil
      count = 0
    }
    return withExtendedLifetime((batch, writer)) { sqlite3_step(statement) }
  }

  fileprivate var isAtEnd: Bool { row >= count }

  fileprivate var key: Int64 {
    guard !isAtEnd, let batch, let writer else { return 0 }
    return writer._withUnsafeGuaranteedRef { writer in
      batch._withUnsafeGuaranteedRef { writer.permanent($0.key(row), root: root) }
    }
  }

  fileprivate var version: Int64 {
    guard !isAtEnd, let batch else { return 0 }
    return batch._withUnsafeGuaranteedRef { $0.version(row) }
  }

  @inline(__always)
  fileprivate func give(_ cell: Int, to context: OpaquePointer?) {
    guard !isAtEnd, steps.indices.contains(cell), let batch, let writer else {
      return sqlite3_result_error(context, "there is no row to insert", -1)
    }
    let failure: StoreError? = writer._withUnsafeGuaranteedRef { writer in
      batch._withUnsafeGuaranteedRef { batch in
        do throws(StoreError) {
          _ = try writer.give(batch, row, steps[cell], to: FunctionResult(context: context))
          return nil
        } catch {
          return error
        }
      }
    }
    if let failure {
      self.failure = failure
      sqlite3_result_error(context, "a cell could not be written", -1)
    }
  }
}
