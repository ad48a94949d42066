@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Opens or creates the file of a store.
struct StoreOpener {
  struct Opened {
    var physical: PhysicalSchema
    var identifier: String
    var metadata: StoreMetadata
    var isReadOnly: Bool
    var notes: [String]
    var pool: ConnectionPool
    var checkpointer: Checkpointer?
    var history: HistoryTables?
    /// The path of the store's file without symbolic links; nil in memory.
    var path: String?
    /// The file of the store; nil in memory.
    var file: FileIdentity?
  }

  let schema: ResolvedSchema
  let held: Set<EntityIndex>
  let configuration: SQLiteStore.Configuration
  /// Gets the requests of the open store.
  let observer: (any StatementObserver)?
  /// The copy of the model for a new store.
  var modelCache: (@Sendable () -> [UInt8]?)?

  // Older versions are not tested.
  private static let oldestSQLite: Int32 = 3_038_000

  func open() throws(StoreError) -> Opened {
    try checkHeld()
    guard sqlite3_libversion_number() >= Self.oldestSQLite else {
      throw StoreError(
        .engine,
        "SQLite \(String(cString: sqlite3_libversion())) is too old; install 3.38 or newer.")
    }
    switch configuration.location {
    case .file(let path): return try openFile(path)
    case .inMemory(let name): return try openMemory(name)
    }
  }

  /// A part of a schema must be complete in itself.
  private func checkHeld() throws(StoreError) {
    for entity in schema.entities where held.contains(entity.index) {
      let related = entity.layout.properties.filter { property in
        switch property.kind {
        case .toOne, .toMany: !held.contains(schema.end(of: property.slot, in: entity.index).destination)
        case .attribute, .composite: false
        }
      }.map(\.name)
      guard related.isEmpty, entity.parent.map(held.contains) ?? true else {
        throw StoreError(
          .invalidSchema,
          "\(entity.source.name) is to be held without its parent or without \(related.joined(separator: ", "))"
            + ", which a store can't do. Let the store hold the whole group.",
          entity: entity.source.name, properties: related)
      }
    }
  }

  // MARK: Memory

  private func openMemory(_ name: String) throws(StoreError) -> Opened {
    // A shared memory file of SQLite. It has a name and is removed with its last connection.
    let uri = "file:/\(StoreURI.escaped(name))?vfs=memdb"
    let connection = try Connection(
      uri: uri, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: configuration.busyMilliseconds
    )
    try Self.configure(connection, configuration, role: .sole)
    var contents = try prepareContents(of: connection, mayCreate: configuration.createsIfMissing)
    if configuration.tracksHistory { try contents.keepHistory(on: connection) }
    if contents.hasSpatialTriggers {
      connection.trustsSchema = true
    }
    return opened(connection, contents, uri: uri, usesLog: false)
  }

  // MARK: Files

  private func openFile(_ path: String) throws(StoreError) -> Opened {
    let files = try FileSystem(named: configuration.vfs)
    let path = try files.resolved(path)
    var opened = try openFile(path, files)
    opened.path = path
    return opened
  }

  private func openFile(_ path: String, _ files: FileSystem) throws(StoreError) -> Opened {
    let found = try StoreFile(at: path, in: files)
    let state = found.state
    if state != .filled, !configuration.createsIfMissing || configuration.isReadOnly {
      throw state == .missing
        ? StoreError(
          .cannotOpen, "There is no store at \(path). Check the path, or allow creating it.",
          cause: CocoaError(.fileReadNoSuchFile))
        : StoreError(.unreadable, "The file at \(path) is empty, so it is no store.")
    }
    if configuration.isReadOnly { return try openReadOnly(path, found, files) }
    // Checked before the file is made, so that a schema without a valid layout leaves no file.
    if state != .filled { _ = try StoreCreator(schema: schema, held: held).layout() }

    let uri = uri(of: path)
    let hadLog = found.hasLog
    let create = state == .filled ? 0 : SQLITE_OPEN_CREATE
    let connection: Connection
    do throws(StoreError) {
      connection = try Connection(
        uri: uri, flags: SQLITE_OPEN_READWRITE | create, busyTimeout: configuration.busyMilliseconds)
    } catch {
      throw state == .missing ? Self.unmade(error, path) : error
    }
    if sqlite3_db_readonly(connection.handle, nil) == 1 {
      throw StoreError(
        .readOnly,
        "The file at \(path) only allows reading. Change its permissions, or open it with isReadOnly.")
    }
    // Until it is certain that this schema fits the store, the log must not be copied into the file.
    if hadLog { _ = cde_sqlite3_db_config_flag(connection.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    try connection.execute("PRAGMA cell_size_check = ON", while: "Opening the store")
    try WriteAheadLog.check(fits: found, path, on: connection, in: files)
    var contents = try prepareContents(of: connection, mayCreate: configuration.createsIfMissing)
    if !configuration.tracksHistory { contents.refuseUnrecordedCommits() }
    if contents.isReadOnly {
      _ = cde_sqlite3_db_config_flag(connection.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
      try connection.execute("PRAGMA query_only = ON", while: "Opening the store")
    } else {
      // Unknown triggers have been excluded above. Triggers can't call functions with outside effects in any
      // case.
      if contents.hasSpatialTriggers {
        connection.trustsSchema = true
      }
      if hadLog { _ = cde_sqlite3_db_config_flag(connection.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }
      try Self.setJournalMode(connection, configuration)
      try contents.keepDerived(on: connection)
      if configuration.tracksHistory { try contents.keepHistory(on: connection) }
      if configuration.analyzesWhenOpened { try connection.execute("ANALYZE", while: "Analyzing \(path)") }
      if configuration.vacuumsWhenOpened { try connection.execute("VACUUM", while: "Vacuuming \(path)") }
    }
    try Self.configure(connection, configuration, role: .writer)
    let usesLog = try connection.journalMode() == "wal"
    connection.file = FileIdentity(of: connection)
    if !contents.isReadOnly, found.hasLog || found.hasJournal {
      contents.notes += sweep(ExternalStorage(storePath: path, files: files), path, on: connection)
    }
    return opened(connection, contents, uri: uri, usesLog: usesLog)
  }

  /// The error for a file that SQLite can't make, with Core Data's number where the folder may not be written.
  ///
  /// After its failure SQLite tries to open the file for reading, so the system's number says that there is none.
  private static func unmade(_ error: StoreError, _ path: String) -> StoreError {
    let folder = (path as NSString).deletingLastPathComponent
    guard error.code == .cannotOpen, error.cause == nil, !FileManager.default.isWritableFile(atPath: folder)
    else { return error }
    var error = error
    error.cause = CocoaError(.fileWriteNoPermission)
    return error
  }

  /// Removes files of a process that died. A store that is closed leaves neither log nor journal.
  ///
  /// - Returns: the reason if that was not possible. It does not prevent opening the store.
  private func sweep(_ externals: ExternalStorage, _ path: String, on connection: Connection) -> [String] {
    // Without waiting for another writer, which may take long. The next opening tries again.
    sqlite3_busy_timeout(connection.handle, 0)
    defer { sqlite3_busy_timeout(connection.handle, configuration.busyMilliseconds) }
    do throws(StoreError) {
      _ = try ExternalSweep(externals: externals, storePath: path).run(on: connection)
      return []
    } catch {
      return ["Files of external values that no row names were not looked for. \(error.message)"]
    }
  }

  private func openReadOnly(
    _ path: String, _ found: StoreFile, _ files: FileSystem
  ) throws(StoreError) -> Opened {
    let source = ReadOnlySource(
      path: path, files: files, vfs: configuration.vfs, busyTimeout: configuration.busyMilliseconds)
    let (connection, uri) = try source.connect(found)
    let file = try FileContents(reading: connection)
    var contents = try StoreContents(file, schema: schema, held: held)
    contents.isReadOnly = true
    try Self.configure(connection, configuration, role: .writer)
    connection.file = FileIdentity(at: path)
    let usesLog = uri == nil ? false : try connection.journalMode() == "wal"
    return opened(
      connection, contents, uri: uri ?? "", usesLog: usesLog,
      renew: uri == nil ? renewal(of: source, places: file) : nil)
  }

  /// Opens the files of a store anew that is read without locks, after they have changed.
  ///
  /// - Parameter places: the contents at the first opening, on which the statements of the store depend.
  private func renewal(
    of source: ReadOnlySource, places: FileContents
  ) -> @Sendable () throws(StoreError) -> Connection {
    { [configuration, observer] () throws(StoreError) in
      let (connection, _) = try source.connect(StoreFile(at: source.path, in: source.files))
      guard try FileContents(reading: connection).hasPlaces(of: places) else {
        throw StoreError(
          .fileChanged,
          "\(source.path) was replaced or migrated by another program after it was opened for reading. Close the store and "
            + "open it again.")
      }
      try Self.configure(connection, configuration, role: .writer)
      connection.file = FileIdentity(at: source.path)
      if let observer { connection.observe(observer) }
      return connection
    }
  }

  private func opened(
    _ connection: Connection, _ contents: StoreContents, uri: String, usesLog: Bool,
    renew: (@Sendable () throws(StoreError) -> Connection)? = nil
  ) -> Opened {
    let configuration = configuration
    let observer = observer
    if let observer { connection.observe(observer) }
    let file = connection.file
    let flags = contents.isReadOnly && configuration.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    var openReader: (@Sendable () throws(StoreError) -> Connection)?
    if usesLog {
      openReader = { () throws(StoreError) in
        func connect() throws(StoreError) -> Connection {
          try Connection(uri: uri, flags: flags, busyTimeout: configuration.busyMilliseconds)
        }
        let reader = if let file { try file.checked(connect) } else { try connect() }
        try Self.configure(reader, configuration, role: .reader)
        reader.watchForCancellation()
        if let observer { reader.observe(observer) }
        return reader
      }
    }
    let pool = ConnectionPool(
      writer: connection, use: (file?.key).map(FileUser.init), idleLimit: configuration.readerCount,
      // Read-only openings may have no shared index to read, and neither has an exclusive lock.
      holdsSnapshots: flags == SQLITE_OPEN_READWRITE
        && !configuration.pragmas.keys.contains { $0.lowercased() == "locking_mode" },
      processors: configuration.checkpointLimits.processors, open: openReader, renew: renew)
    var checkpointer: Checkpointer?
    if usesLog, !contents.isReadOnly {
      let firstPage = FirstPage(connection.collector)
      connection.writeToLog(firstPage)
      checkpointer = Checkpointer(
        uri: uri, busyTimeout: configuration.busyMilliseconds, limits: configuration.checkpointLimits,
        pool: pool, file: file, firstPage: firstPage)
      checkpointer?.watch(connection.handle)
    }
    return Opened(
      physical: contents.physical, identifier: contents.identifier,
      metadata: contents.metadata, isReadOnly: contents.isReadOnly,
      notes: contents.notes, pool: pool, checkpointer: checkpointer, history: contents.history,
      file: file)
  }

  private func prepareContents(
    of connection: Connection, mayCreate: Bool
  ) throws(StoreError) -> StoreContents {
    // A new store has no pages. A file that has pages but no tables has lost them, or is no store. With a
    // log, only the log would contain the tables until the first checkpoint. Therefore a new store is made
    // with a rollback journal.
    if mayCreate, try connection.integer("PRAGMA page_count", while: "Reading the store") == 0 {
      try connection.execute(
        """
        PRAGMA page_size = 4096; \
        PRAGMA synchronous = \(configuration.synchronous.rawValue)
        """, while: "Creating the store")
      try StoreCreator(schema: schema, held: held, modelCache: modelCache).create(on: connection)
      // The store is on the disk. The switch to a log changes some bytes of one sector and need not be
      // synced. If they are lost, the next opening switches again. Configuring the connection resets this
      // pragma.
      try connection.execute("PRAGMA synchronous = OFF", while: "Creating the store")
    }
    return try StoreContents(FileContents(reading: connection), schema: schema, held: held)
  }

  // MARK: Pragmas

  enum Role { case writer, reader, sole }

  private static func setJournalMode(
    _ connection: Connection, _ configuration: SQLiteStore.Configuration
  ) throws(StoreError) {
    let wanted = configuration.pragmas.first { $0.key.lowercased() == "journal_mode" }?.value
    let mode = wanted ?? configuration.journalMode.rawValue
    if try connection.journalMode() == mode.lowercased() { return }
    try connection.execute("PRAGMA journal_mode = \(try plain(mode))", while: "Setting the journal mode")
    // The first read opens the log.
    _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: "Setting the journal mode")
  }

  static func configure(
    _ connection: Connection, _ configuration: SQLiteStore.Configuration, role: Role
  ) throws(StoreError) {
    var sql = """
      PRAGMA synchronous = \(configuration.synchronous.rawValue); PRAGMA cache_size = -65536; \
      PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF;
      """
    switch role {
    // Checking the cells of each page makes reads a tenth slower. It prevents damage from spreading, which a
    // reader can't cause. The connections that open and write the file have it enabled.
    case .reader: sql += "PRAGMA query_only = ON;"
    // Checkpoints are made elsewhere, see Checkpointer.
    case .writer: sql += "PRAGMA wal_autocheckpoint = 0;"
    case .sole: break
    }
    for (name, value) in configuration.pragmas.sorted(by: { $0.key < $1.key })
    where name.lowercased() != "journal_mode" {
      sql += "PRAGMA \(try plain(name)) = \(try plain(value));"
    }
    try connection.execute(sql, while: "Configuring the store")
  }

  /// A word or number of a pragma, because SQL has no parameters for pragmas.
  private static func plain(_ word: String) throws(StoreError) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.enumerated().allSatisfy { index, byte in
        (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5A)
          || (byte >= 0x61 && byte <= 0x7A) || byte == 0x5F || byte == 0x2E
          || (byte == 0x2D && index == 0)
      }
    guard isPlain else {
      throw StoreError(
        .cannotOpen, "The pragma text \(word) is neither a word nor a number. Correct the configuration.")
    }
    return word
  }

  /// The URI of a file for SQLite. It is the same for all connections.
  private func uri(of path: String) -> String { StoreURI.of(path, vfs: configuration.vfs) }
}
