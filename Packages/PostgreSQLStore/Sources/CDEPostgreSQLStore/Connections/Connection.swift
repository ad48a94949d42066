#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEExecutors
  internal import CDELibPQ
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// One connection to the server, with the statements prepared on it.
  final class Connection: @unchecked Sendable {
    // Guard: ConnectionPool gives a connection to one borrower at a time.
    let handle: OpaquePointer
    /// A statement of one text may be prepared several times, because its parameters have the types of the first values.
    private struct StatementKey: Hashable {
      let sql: String
      let types: [UInt32]
    }

    /// A statement that is prepared on this connection.
    private final class Statement {
      let key: StatementKey
      let name: String
      /// When it was last used.
      var use: Int

      init(_ key: StatementKey, number: Int, use: Int) {
        self.key = key
        name = "s\(number)"
        self.use = use
      }
    }

    private var statements: [StatementKey: Statement] = [:]
    /// The statement that was used last, mostly the next one, too. Hashing its text takes longer than comparing equal storage.
    private var lastUsed: Statement?
    private var lastNumber = 0
    private var uses = 0
    /// Texts that no message may contain.
    private let secrets: [String]
    /// The constraint that the last failed statement violated.
    private(set) var violatedConstraint: String?
    /// The number of statements that ran since it was last taken.
    private var runCount = 0
    private var isGivenUp = false
    /// Statements that are sent together with the next one, and the bytes of their values.
    var queue: [QueuedStatement] = []
    /// Whether a commit was sent since this was last set to false.
    var isCommitSent = false
    var queuedBytes = 0
    /// Collects the statements of the borrower's request; nil if no observer wants them.
    var collector: StatementCollector?
    /// The server's process of this connection.
    let backend: Int32
    /// See ``PostgreSQLConfiguration``.
    let copyLimit: Int

    // As a rule a store runs fewer different texts. Others are prepared again.
    static let cacheLimit = 256

    /// Connects and sets up the session. Blocks up to the connection timeout.
    ///
    /// - Parameter joinsUsers: whether the session counts as a user of the store, whom a migration waits for.
    /// - Throws: `.cannotOpen`, `.busy` if the server has no free connection or the store is being migrated, `.unreadable` for an
    ///   encoding other than UTF-8.
    init(
      _ options: ConnectionOptions, _ configuration: PostgreSQLConfiguration, joinsUsers: Bool = false
    ) throws(StoreError) {
      let (opened, secrets): (OpaquePointer?, [String]) = options.withParameters {
        keywords, values, secrets in
        let handle = Self.withCStrings(keywords) { keywords in
          Self.withCStrings(values) { values in PQconnectdbParams(keywords, values, 0) }
        }
        return (handle, secrets)
      }
      guard let opened else {
        throw StoreError(.engine, "There is no memory for a connection. Free some and try again.")
      }
      handle = opened
      self.secrets = secrets
      backend = PQbackendPID(opened)
      copyLimit = configuration.copyLimit
      // The default writes notices of the server to the standard error.
      PQsetNoticeProcessor(opened, { _, _ in }, nil)
      guard PQstatus(opened) == CONNECTION_OK else {
        throw StoreError(
          .cannotOpen,
          "The server can't be reached: \(Self.message(of: opened, without: secrets)). Check that it runs, and the URL, the "
            + "role and the certificates.")
      }
      try checkServer()
      try setUp(configuration, joinsUsers)
    }

    deinit { PQfinish(handle) }

    /// Whether the connection still stands, as far as libpq knows.
    var isUsable: Bool { !isGivenUp && PQstatus(handle) == CONNECTION_OK }

    /// Leaves a connection that is in no known state.
    func giveUp() { isGivenUp = true }

    /// Whether a transaction is open, be it in failure.
    var isInTransaction: Bool {
      let status = PQtransactionStatus(handle)
      return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
    }

    /// The number of statements in the cache.
    var preparedCount: Int { statements.count }

    /// The number of statements that ran since the last call.
    func takeRunCount() -> Int {
      defer { runCount = 0 }
      return runCount
    }

    private func checkServer() throws(StoreError) {
      let version = PQserverVersion(handle)
      guard version >= 130_000 else {
        throw StoreError(
          .cannotOpen, "The server has the version \(version / 10_000). Version 13 or later is needed.")
      }
      let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
      guard encoding == "UTF8" else {
        throw StoreError(
          .unreadable,
          "The database has the encoding \(encoding), which can't store all text. Make one with ENCODING 'UTF8'."
        )
      }
    }

    private func setUp(_ configuration: PostgreSQLConfiguration, _ joinsUsers: Bool) throws(StoreError) {
      var settings = [
        "SET search_path TO \(quoted(configuration.schema))", "SET client_min_messages TO warning",
        "SET default_transaction_isolation TO 'read committed'",
        // The server can't interrupt the compilation of a statement, which takes minutes for thousands of conditions. Then neither a
        // time-out nor a cancelled task ends it.
        "SET jit TO off",
        // The catalogue's names of types are compared.
        "SET quote_all_identifiers TO off",
        // Without it, the transaction of a client that died in a network keeps its locks.
        "SET idle_in_transaction_session_timeout TO 60000",
      ]
      if let limit = configuration.statementTimeout {
        settings.append("SET statement_timeout TO \(limit.milliseconds)")
      }
      if let limit = configuration.lockTimeout {
        settings.append("SET lock_timeout TO \(limit.milliseconds)")
      }
      if configuration.isReadOnly { settings.append("SET default_transaction_read_only TO on") }
      if joinsUsers { settings.append(UsersLock.joining(configuration.schema)) }
      do throws(StoreError) {
        try execute(settings.joined(separator: "; "), while: "Setting up the session")
      } catch {
        guard error.engineCode == ServerError.lockNotAvailable else { throw error }
        throw StoreError(
          .busy,
          "The store in \(configuration.schema) is being migrated by another process. Open it again later.",
          engineCode: error.engineCode)
      }
    }

    // MARK: Running statements

    /// Runs one or more statements without parameters. The result of the last one is dropped.
    func execute(_ sql: String, while task: String) throws(StoreError) {
      try sendQueue()
      if sql == "COMMIT" { isCommitSent = true }
      runCount += 1
      note(sql)
      _ = try check(PQexec(handle, sql), while: task)
    }

    /// Runs a statement without parameters, and keeps its rows.
    func run(_ sql: String, while task: String) throws(StoreError) -> ResultRows {
      try run(sql, Parameters(), while: task)
    }

    /// Runs a statement, prepared at its first use on this connection.
    ///
    /// - Parameters:
    ///   - sql: one statement, with `$1`, `$2` and so on.
    ///   - parameters: as many as the statement has.
    func run(
      _ sql: String, _ parameters: consuming Parameters, while task: String
    ) throws(StoreError) -> ResultRows {
      if !queue.isEmpty { return try sendQueue(with: sql, parameters, while: task) }
      try checkSize(parameters.byteCount, task)
      let name = try prepare(sql, parameters.types, while: task)
      noteRun()
      note(sql, parameters)
      let result = parameters.withPointers { values, lengths, formats in
        PQexecPrepared(handle, name, Int32(lengths.count), values, lengths, formats, 1)
      }
      return try check(result, while: task)
    }

    func checkSize(_ bytes: Int, _ task: String) throws(StoreError) {
      guard bytes <= Parameters.byteLimit else {
        throw StoreError(
          .tooBig,
          "\(task) failed, because the values take more than 1 GB, which is the server's limit. Save fewer at once."
        )
      }
    }

    /// The server counts the values of a statement by 16 bits.
    private func checkCount(_ count: Int, _ task: String) throws(StoreError) {
      guard count > Int(UInt16.max) else { return }
      throw StoreError(
        .tooBig,
        "\(task) failed, because the statement has \(count) values, where the server allows \(UInt16.max). Write the values as one "
          + "list with IN, or divide the request.")
    }

    /// Counts a round trip.
    func noteRun() { runCount += 1 }

    func prepare(_ sql: String, _ types: [UInt32], while task: String) throws(StoreError) -> String {
      uses += 1
      let key = StatementKey(sql: sql, types: types)
      if let lastUsed, lastUsed.key == key {
        lastUsed.use = uses
        return lastUsed.name
      }
      if let known = statements[key] {
        known.use = uses
        lastUsed = known
        return known.name
      }
      try checkCount(types.count, task)
      if statements.count >= Self.cacheLimit { try evict() }
      lastNumber += 1
      let statement = Statement(key, number: lastNumber, use: uses)
      _ = try check(PQprepare(handle, statement.name, sql, Int32(types.count), types), while: task)
      statements[key] = statement
      lastUsed = statement
      return statement.name
    }

    /// Removes the statement that was not used for the longest time.
    private func evict() throws(StoreError) {
      guard let oldest = statements.values.min(by: { $0.use < $1.use }) else { return }
      statements[oldest.key] = nil
      if lastUsed === oldest { lastUsed = nil }
      // A transaction that failed refuses all statements. The server then keeps one statement more.
      if PQtransactionStatus(handle) == PQTRANS_INERROR { return }
      try execute("DEALLOCATE \(oldest.name)", while: "Removing a statement")
    }

    func check(_ result: OpaquePointer?, while task: String) throws(StoreError) -> ResultRows {
      violatedConstraint = nil
      guard let result else {
        throw isUsable
          ? StoreError(.engine, "\(task) failed: \(message). There may be no memory for the result.")
          : ServerError.lost(message, while: task)
      }
      let rows = ResultRows(result)
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return rows
      default: break
      }
      func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
      // The server's last message before it ends a connection has a SQLSTATE as well.
      guard isUsable, let state = field(Int32(Character("C").asciiValue!)) else {
        throw ServerError.lost(field(Int32(Character("M").asciiValue!)) ?? message, while: task)
      }
      violatedConstraint = field(Int32(Character("n").asciiValue!))
      throw ServerError.make(
        state: state, detail: Self.scrubbed(field(Int32(Character("M").asciiValue!)) ?? "", of: secrets),
        while: task)
    }

    // MARK: Notifications

    /// Waits until the server sends a notification, or until a descriptor has input.
    ///
    /// - Throws: `.io` if the connection is lost.
    func waitForNotification(orInput other: Int32, milliseconds: Int32) throws(StoreError) {
      if takeNotifications() { return }
      // A connection that was lost while it rolled back has no socket, and `poll` would wait for the time to pass.
      guard isUsable else { throw ServerError.lost(message, while: "Waiting for commits") }
      var descriptors = [
        pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&descriptors, 2, milliseconds)
      guard PQconsumeInput(handle) == 1, isUsable else {
        throw ServerError.lost(message, while: "Waiting for commits")
      }
      _ = takeNotifications()
    }

    /// Drops the notifications that have arrived. Their number says nothing that the history does not say.
    private func takeNotifications() -> Bool {
      var isNotified = false
      while let notification = PQnotifies(handle) {
        PQfreemem(notification)
        isNotified = true
      }
      return isNotified
    }

    // MARK: Transactions

    /// Runs a body in a transaction, commits, and rolls back if the body or the commit fails.
    ///
    /// The body's changes must be such that they can be made twice: the transaction has no token.
    ///
    /// - Throws: `.unknownOutcome` if the connection was lost during the commit.
    func inTransaction<Result>(
      _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      try execute("BEGIN", while: "Starting a transaction")
      do throws(StoreError) {
        let result = try body()
        try commit()
        return result
      } catch {
        rollBack()
        throw error
      }
    }

    private func commit() throws(StoreError) {
      do throws(StoreError) { try execute("COMMIT", while: "Committing") } catch {
        if isUsable { throw error }
        throw StoreError(
          .unknownOutcome,
          "The connection to the server was lost during the commit, so the change is made or not. Make it again.",
          engineCode: error.engineCode)
      }
    }

    /// Ends a transaction without its changes. Does nothing on a lost connection, because the server then does so.
    func rollBack() {
      emptyQueue()
      guard isUsable, isInTransaction else { return }
      withoutCollecting { try? execute("ROLLBACK", while: "Rolling back") }
    }

    // MARK: Kept states

    /// Begins a transaction that reads the current state, and keeps it for as long as the connection stands.
    func pin() throws(StoreError) {
      // The first query takes the state.
      try execute(
        "SET idle_in_transaction_session_timeout TO 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1; "
          + "SAVEPOINT pinned", while: "Keeping a state of the store")
    }

    /// Lets the transaction of ``pin()`` go on after a statement that failed.
    func returnToPin() {
      guard isUsable, PQtransactionStatus(handle) == PQTRANS_INERROR else { return }
      try? execute("ROLLBACK TO SAVEPOINT pinned", while: "Returning to the kept state")
    }

    // MARK: Messages

    private var message: String { Self.message(of: handle, without: secrets) }

    private static func message(of handle: OpaquePointer, without secrets: [String]) -> String {
      let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
      let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
      return scrubbed(line.hasSuffix(".") ? String(line.dropLast()) : line, of: secrets)
    }

    private static func scrubbed(_ text: String, of secrets: [String]) -> String {
      secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: "…") }
    }

    /// Calls a closure with an array of C strings that ends with a null pointer.
    private static func withCStrings<Result>(
      _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
      let copies = strings.map { strdup($0) }
      defer { for copy in copies { free(copy) } }
      return body(copies.map { $0.map { UnsafePointer($0) } } + [nil])
    }
  }
#endif
