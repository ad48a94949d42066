import CDESQLite
@_spi(CDE) import CDEStore

/// One SQLite connection with its prepared statements.
///
/// Opened without SQLite's own mutex. Only one thread at a time uses it.
final class Connection: @unchecked Sendable {
  // Guard: ConnectionPool gives a reading connection to one borrower at a time, and the writing connection
  // under its lock. What each read of a row uses is declared without a check of exclusive access: no access to
  // a field runs code that uses the same field.
  let handle: OpaquePointer
  @exclusivity(unchecked) private var cache: [String: OpaquePointer] = [:]
  @exclusivity(unchecked) private var cacheOrder: [String] = []
  @exclusivity(unchecked) var pointSelects = EntityStatements()
  @exclusivity(unchecked) var lookUps: IndexedArray<EntityIndex, RowLookUp?> = []
  /// The key that a statement with a ``KeyTable`` takes next.
  let askedKey = UnsafeMutablePointer<KeyTable.Slot>.allocate(capacity: 1)
  /// Takes the keys of the statement that runs, if that has a ``KeySink``.
  let sink = UnsafeMutablePointer<KeySink?>.allocate(capacity: 1)
  @exclusivity(unchecked) var inserts = EntityStatements()
  @exclusivity(unchecked) var tableInserts = EntityStatements()
  /// What inserting rows keeps for its statements, which use it until the connection is closed.
  @exclusivity(unchecked) var insertion: AnyObject?
  @exclusivity(unchecked) var updates: [UpdateKey: UpdateStatement] = [:]
  @exclusivity(unchecked) var snapshot = HeldSnapshot()
  /// The file whose path is checked when this connection commits; nil if that is not possible.
  var file: FileIdentity?
  /// Set if this connection reads a file without locks, so that a change of the file must be noticed.
  var unchanging: UnchangingFile?
  /// How many connections the pool has had in place of this one.
  var renewals = 0
  /// Set if this connection writes to a log.
  var firstPage: FirstPage?
  /// Writes the pages of a commit to the log together; nil if this connection does not write to a log.
  private(set) var logRun: UnsafeMutablePointer<cde_log_run>?
  private let generation = ProcessGeneration.current
  /// Rows that triggers changed in the current transaction.
  let derived = DerivedRows()
  /// Whether triggers of the file may write R-trees, as Core Data's do.
  var trustsSchema = false {
    didSet { _ = cde_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, trustsSchema ? 1 : 0) }
  }
  /// Stand-ins for collations of other programs.
  let standIns = StandInCollations()
  /// Numbers of texts in the history. They are dropped with a transaction that may have added them.
  var historyStrings: [String: Int64] = [:]
  /// Collects the statements for the store's observer; nil without one.
  @exclusivity(unchecked) var collector: StatementCollector?
  /// Whether a cancelled task stops the current statement.
  @exclusivity(unchecked) var isInterruptible = false

  /// The header of the log's index when the writing connection last ran a read in place of a reader.
  var lastLentHeader: cde_wal_header?
  /// The number of commits that the current read certainly sees.
  @exclusivity(unchecked) var asOf: UInt64 = 0
  @exclusivity(unchecked) private var stepsLeft = 0

  // As a rule a store runs fewer different texts. Others are prepared again.
  private static let cacheLimit = 256

  init(uri: String, flags: Int32, busyTimeout: Int32) throws(StoreError) {
    _ = ProcessConfiguration.isDone
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      uri, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let handle else {
      let error = EngineError.make(code, on: handle, while: "Opening the store")
      sqlite3_close_v2(handle)
      askedKey.deallocate()
      sink.deallocate()
      throw error
    }
    self.handle = handle
    askedKey.initialize(to: KeyTable.Slot())
    sink.initialize(to: nil)
    sqlite3_busy_timeout(handle, busyTimeout)
    _ = cde_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    _ = cde_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    _ = cde_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    _ = cde_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
    try SQLFunctions.register(on: handle, derived: derived)
    try ListTable.register(on: handle)
    try KeyTable.register(on: handle, askedKey)
    try KeySink.register(on: handle, sink)
    standIns.register(on: handle)
    try SQLMathematics.register(on: handle)
    try SQLNumbers.register(on: handle)
  }

  deinit {
    // The connection belongs to the parent. Closing it in the child of a fork may remove the parent's log.
    guard generation == ProcessGeneration.current else { return }
    for statement in cache.values { sqlite3_finalize(statement) }
    pointSelects.finalize()
    for lookUp in lookUps { lookUp?.finalize() }
    inserts.finalize()
    tableInserts.finalize()
    updates.removeAll()
    sqlite3_close_v2(handle)
    if let logRun { cde_log_run_free(logRun) }
    askedKey.deallocate()
    sink.deinitialize(count: 1)
    sink.deallocate()
  }

  /// Prepares for commits to a log. Without memory for a run, each page is written by itself.
  func writeToLog(_ page: FirstPage) {
    firstPage = page
    // Some thirty pages of the usual size. Longer runs are hardly faster.
    logRun = cde_log_run_make(1 << 17)
  }

  /// Ends the runs of all look-ups, which would keep a transaction open.
  func endLookUps() {
    for lookUp in lookUps { if let lookUp, lookUp.isUnderWay { lookUp.rest() } }
  }

  /// Makes cancellation of the calling task stop a long statement that produces no rows.
  ///
  /// For reading connections only. A running commit is never stopped.
  func watchForCancellation() {
    sqlite3_progress_handler(
      handle, 20_000,
      { context in
        let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
        return connection.isInterruptible && Task<Never, Never>.isCancelled ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs a read, but stops it if it takes long.
  ///
  /// - Parameter asked: when the read began to wait for the connection; nil without an observer.
  /// - Returns: nil if the read was stopped, after about 10,000 steps of SQLite's virtual machine.
  func readBriefly<R>(
    asked: ContinuousClock.Instant?, _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    stepsLeft = 10
    sqlite3_progress_handler(
      handle, 1_000,
      { context in
        let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
        connection.stepsLeft -= 1
        return connection.stepsLeft < 0 ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer {
      sqlite3_progress_handler(handle, 0, nil, nil)
      rollBack()
    }
    do throws(StoreError) {
      try run("BEGIN", while: "Reading the store")
      collector?.begin(asked: asked)
      let answer = try body(self)
      collector?.end(.read)
      try run("COMMIT", while: "Reading the store")
      return answer
    } catch {
      // The caller repeats the read on another connection, which reports the error.
      if stepsLeft < 0 { return nil }
      collector?.end(.read)
      throw error
    }
  }

  /// Runs a read, and checks afterwards that files which are read without locks did not change during it.
  func checkingFiles<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    guard let unchanging, !unchanging.isCopied else { return try body() }
    return try unchanging.checking(body)
  }

  func error(_ code: Int32, while task: String) -> StoreError {
    EngineError.make(code, on: handle, while: task)
  }

  func execute(_ sql: String, while task: String) throws(StoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, while: task) }
  }

  /// Prepares a statement that the caller finalises.
  func prepareUncached(_ sql: String, while task: String) throws(StoreError) -> OpaquePointer {
    var sql = sql
    var statement: OpaquePointer?
    let handle = handle
    let code = sql.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_prepare_v3(
          handle, $0.baseAddress, Int32(clamping: $0.count), UInt32(SQLITE_PREPARE_PERSISTENT),
          &statement, nil)
      }
    }
    guard code == SQLITE_OK, let statement else { throw error(code, while: task) }
    return statement
  }

  /// A cached statement, reset and without bindings.
  func prepare(_ sql: String, while task: String) throws(StoreError) -> OpaquePointer {
    if let statement = cache[sql] { return statement }
    let statement = try prepareUncached(sql, while: task)
    if cache.count >= Self.cacheLimit {
      // Drops the older half of the cache.
      for old in cacheOrder.prefix(Self.cacheLimit / 2) { sqlite3_finalize(cache.removeValue(forKey: old)) }
      cacheOrder.removeFirst(Self.cacheLimit / 2)
    }
    cache[sql] = statement
    cacheOrder.append(sql)
    return statement
  }

  /// Prepares a statement for its next use. Cheap, and releases its locks.
  @inline(__always)
  static func reset(_ statement: OpaquePointer) {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  /// Runs a statement whose rows are not needed.
  func run(
    _ sql: String, _ bindings: [StoreValue] = [], while task: String
  ) throws(StoreError) {
    let statement = try prepare(sql, while: task)
    defer { Self.reset(statement) }
    try bind(bindings, to: statement)
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW { code = sqlite3_step(statement) }
    guard code == SQLITE_DONE else { throw error(code, while: task) }
  }

  /// Visits the rows of a statement. Columns are read with SQLite's own functions.
  func forEachRow(
    _ sql: String, _ bindings: [StoreValue] = [], while task: String,
    _ body: (OpaquePointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let statement = try prepare(sql, while: task)
    defer { Self.reset(statement) }
    try bind(bindings, to: statement)
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      try body(statement)
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE else { throw error(code, while: task) }
  }

  func integer(
    _ sql: String, _ bindings: [StoreValue] = [], while task: String
  ) throws(StoreError) -> Int64? {
    var result: Int64?
    try forEachRow(sql, bindings, while: task) { statement in
      if sqlite3_column_type(statement, 0) != SQLITE_NULL {
        result = sqlite3_column_int64(statement, 0)
      }
    }
    return result
  }

  /// `wal`, `delete` and so on, in small letters.
  func journalMode() throws(StoreError) -> String {
    var mode = ""
    try forEachRow("PRAGMA journal_mode", while: "Opening the store") { statement in
      mode = String(cString: sqlite3_column_text(statement, 0))
    }
    return mode.lowercased()
  }

  func bind(_ values: [StoreValue], to statement: OpaquePointer) throws(StoreError) {
    for (index, value) in values.enumerated() {
      let code = Self.bind(value, to: statement, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw error(code, while: "Binding a value") }
    }
  }

  static func bind(_ value: StoreValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
    // SQLite copies the bytes before the call returns.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let integer): return sqlite3_bind_int64(statement, index, integer)
    case .real(let real): return sqlite3_bind_double(statement, index, real)
    case .reference(_, let key): return sqlite3_bind_int64(statement, index, key)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          $0.isEmpty
            ? sqlite3_bind_text(statement, index, "", 0, transient)
            : sqlite3_bind_text64(
              statement, index, $0.baseAddress, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let data):
      return data.withUnsafeBytes {
        $0.isEmpty
          ? sqlite3_bind_zeroblob(statement, index, 0)
          : sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), transient)
      }
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  func rollBack() {
    // A failed statement may already have rolled back. A failure here can't be handled.
    if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    historyStrings.removeAll()
  }
}
