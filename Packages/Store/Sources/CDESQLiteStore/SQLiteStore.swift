@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation
@_spi(CDE) internal import CDEExecutors

/// A store in one SQLite file with Core Data's layout.
///
/// Stores written by Apple's Core Data or SwiftData can be opened here, and the tables made here have the
/// same names. It has not been tested whether a Mac opens a file made here.
///
/// All calls may be made on any thread and run on it. With a write-ahead log, reads run in parallel with each
/// other and with one write. With `.delete` journalling and in memory, only one call runs at a time.
public final class SQLiteStore: Store {
  /// The schema that the store was opened with.
  public let schema: ResolvedSchema
  /// The store's UUID, in upper case.
  public let identifier: String
  /// The metadata at the time when the store was opened.
  public let openedMetadata: StoreMetadata?
  /// True if requested, and if the file contains triggers unknown to this library; see ``notes``.
  public let isReadOnly: Bool
  /// Observations during opening, in sentences: for example, why a store was opened for reading only.
  public let notes: [String]
  /// The location of the store and the options with which it was opened.
  public let configuration: Configuration

  /// The path of the file without symbolic links; nil in memory. It stays the same if a link is changed later.
  let path: String?
  let plans: SchemaPlans
  let pool: ConnectionPool
  let externals: ExternalStorage?
  /// Removes files of external values.
  let retired: RetiredFiles?
  /// Keeps the files of a state that is read.
  private let reading: RetiredFiles.Reading?
  let checkpointer: Checkpointer?
  /// Notices commits of other connections, once that is asked for.
  let others: OtherWriters

  /// Opens or creates a store.
  ///
  /// - Parameters:
  ///   - schema: the schema of the store. An existing file must fit it: by Core Data's version hashes if both
  ///     have them, otherwise by its tables and columns.
  ///   - configuration: the location of the store and the options.
  /// - Throws: `StoreError`: `.invalidSchema`, `.incompatibleSchema`, `.unreadable` for a file that is
  ///   damaged or no store (it does not change), `.cannotOpen`, `.readOnly`, `.busy`, `.full`, `.io`.
  public convenience init(schema: StoreSchema, configuration: Configuration) throws(StoreError) {
    try self.init(schema: ResolvedSchema(schema), configuration: configuration)
  }

  /// Opens or creates a store of a resolved schema. Its rows then share their layouts with the other users of
  /// that schema.
  ///
  /// - Parameters:
  ///   - resolved: the schema.
  ///   - configuration: the location of the store and the options.
  ///   - entities: indexes of the store's entities; all for `nil`. They must include their ancestors and the
  ///     destinations of their relationships. The file is then that of a schema without the other entities:
  ///     it contains no table, number or version hash for them.
  public convenience init(
    schema resolved: ResolvedSchema, entities: Set<EntityIndex>? = nil, configuration: Configuration
  ) throws(StoreError) {
    try self.init(schema: resolved, entities: entities, configuration: configuration, observer: nil)
  }

  /// The same as ``init(schema:entities:configuration:)``, with an observer of the later requests, and with the
  /// copy of the model that a new store has, see `ModelArchive`. The closure is called only when a store is made.
  @_spi(CDE) public init(
    schema resolved: ResolvedSchema, entities: Set<EntityIndex>?, configuration: Configuration,
    observer: (any StatementObserver)?, modelCache: (@Sendable () -> [UInt8]?)? = nil
  ) throws(StoreError) {
    self.schema = resolved
    self.configuration = configuration
    let opened = try StoreOpener(
      schema: resolved, held: entities ?? Set(resolved.entities.indices), configuration: configuration,
      observer: observer, modelCache: modelCache
    ).open()
    identifier = opened.identifier
    openedMetadata = opened.metadata
    isReadOnly = opened.isReadOnly
    notes = opened.notes
    plans = SchemaPlans(
      opened.physical, history: opened.history,
      recordsHistory: configuration.tracksHistory && !opened.isReadOnly)
    pool = opened.pool
    path = opened.path
    if let path {
      externals = ExternalStorage(storePath: path, files: try FileSystem(named: configuration.vfs))
    } else {
      externals = nil
    }
    retired = externals.map(RetiredFiles.init)
    reading = nil
    checkpointer = opened.checkpointer
    others = OtherWriters(file: opened.file)
  }

  /// The same store, read through other connections.
  private init(_ store: SQLiteStore, readThrough pool: ConnectionPool, _ reading: RetiredFiles.Reading?) {
    schema = store.schema
    configuration = store.configuration
    identifier = store.identifier
    openedMetadata = store.openedMetadata
    path = store.path
    isReadOnly = true
    notes = ["The store is read as it was at one time, and not written."]
    plans = store.plans
    self.pool = pool
    externals = store.externals
    retired = store.retired
    self.reading = reading
    checkpointer = nil
    others = OtherWriters(file: store.others.file)
  }

  /// The store as it is now, for reading, whatever is committed later.
  ///
  /// The result has one connection, so its reads run one after the other. While it exists, the write-ahead log can't be reused
  /// from its beginning and grows with later commits. Files of values that later commits of this store replace or delete stay until
  /// the result is released; those that other stores and processes remove are missing then, and reads of them throw. A store for reading only
  /// whose file no program used when it was opened can't be kept as it is: reads throw `.fileChanged` once the file changes.
  ///
  /// - Returns: nil for a store in memory and without a write-ahead log.
  /// - Throws: `.closed`, `.cannotOpen`, `.busy` and the errors of reading.
  public func pinned() throws(StoreError) -> (any Store)? {
    let reading = retired?.reading()
    guard let pool = try pool.pinned() else { return nil }
    return SQLiteStore(self, readThrough: pool, reading)
  }

  /// Checkpoints the write-ahead log and closes all connections. Running reads on other threads complete on
  /// their connections. Later calls throw `.closed`, also a second `close`.
  ///
  /// - Throws: `.closed`; `.fileChanged` if another program changed the file of a store that was read without locks, in a way that no read
  ///   could notice. The store is closed then.
  public func close() throws(StoreError) {
    try pool.requireOwnProcess()
    others.stop()
    let checkpointer = checkpointer
    checkpointer?.stop()
    var change: StoreError?
    let wasOpen = pool.close { connection in
      do throws(StoreError) { try connection.unchanging?.checkAtEnd() } catch { change = error }
      guard let checkpointer else { return }
      // A store that was only read has nothing to copy.
      if sqlite3_total_changes(connection.handle) > 0 { checkpointer.mark(connection.handle) }
      // Best effort. Data that stays in the log is equally durable, and the next opening reads it.
      sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    if !wasOpen { throw StoreError.closed() }
    if let change { throw change }
  }

  func requireWritable() throws(StoreError) {
    if isReadOnly {
      throw StoreError(
        .readOnly,
        "The store is open for reading only. "
          + (notes.first ?? "Open it with isReadOnly set to false to write."))
    }
  }
}
