import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation
@_spi(CDE) internal import CDEExecutors

/// A store in one SQLite file, laid out as Core Data lays out its own.
///
/// Stores that Apple's Core Data or SwiftData wrote open here, and the tables made here are the same, name
/// for name. That a Mac opens a file made here has not been tried.
///
/// All calls may come from any thread and run on it. Under a write-ahead log, reads run beside each other and
/// beside one write; with `.delete` journalling and in memory, calls take turns.
public final class SQLiteStore: Store {
  /// The schema that the store was opened with.
  public let schema: ResolvedSchema
  /// The store's UUID, in upper case.
  public let identifier: String
  /// The metadata as they were when the store was opened.
  @_spi(CDE) public let openedMetadata: StoreMetadata
  /// True when asked for, and when the file holds triggers that this library does not know; see ``notes``.
  public let isReadOnly: Bool
  /// What was noticed when opening, in sentences: why a store only opened for reading, for instance.
  public let notes: [String]
  /// Where the store is and how it was opened.
  public let configuration: Configuration

  let plans: SchemaPlans
  let pool: ConnectionPool
  let externals: ExternalStorage?
  let checkpointer: Checkpointer?

  /// Opens a store, or creates it.
  ///
  /// - Parameters:
  ///   - schema: what the store holds. An existing file has to fit it: by Core Data's version hashes where
  ///   both have
  ///     them, by its tables and columns otherwise.
  ///   - configuration: where the store is and how it is opened.
  /// - Throws: `StoreError`: `.invalidSchema`, `.incompatibleSchema`, `.unreadable` for a file that is
  ///   damaged or no
  ///   store (its bytes stay as they are), `.cannotOpen`, `.readOnly`, `.busy`, `.full`, `.io`.
  public convenience init(schema: StoreSchema, configuration: Configuration) throws(StoreError) {
    let resolved: ResolvedSchema
    do { resolved = try ResolvedSchema(schema) } catch let error as StoreError { throw error } catch {
      throw StoreError(.invalidSchema, "The schema can't be resolved.", cause: error)
    }
    try self.init(schema: resolved, configuration: configuration)
  }

  /// Opens or creates a store of a schema that is resolved already, so that its rows share their layouts
  /// with the other users of that schema.
  ///
  /// - Parameters:
  ///   - resolved: what the store holds.
  ///   - configuration: where the store is and how it is opened.
  ///   - entities: indexes of the entities that the store holds, all for `nil`. Their ancestors and the
  ///     destinations of their relationships have to be among them. The file then is that of a schema without
  ///     the others: it has no table, number or version hash of theirs.
  public convenience init(
    schema resolved: ResolvedSchema, entities: Set<Int>? = nil, configuration: Configuration
  ) throws(StoreError) {
    try self.init(schema: resolved, entities: entities, configuration: configuration, observer: nil)
  }

  /// As ``init(schema:entities:configuration:)``, with an observer of the requests that follow.
  @_spi(CDE) public init(
    schema resolved: ResolvedSchema, entities: Set<Int>?, configuration: Configuration,
    observer: (any StatementObserver)?
  ) throws(StoreError) {
    self.schema = resolved
    self.configuration = configuration
    let opened = try StoreOpener(
      schema: resolved, held: entities ?? Set(resolved.entities.indices), configuration: configuration,
      observer: observer
    ).open()
    identifier = opened.identifier
    openedMetadata = opened.metadata
    isReadOnly = opened.isReadOnly
    notes = opened.notes
    plans = SchemaPlans(opened.physical)
    pool = opened.pool
    switch configuration.location {
    case .file(let path):
      externals = ExternalStorage(storePath: path, files: try FileSystem(named: configuration.vfs))
    case .inMemory: externals = nil
    }
    checkpointer = opened.checkpointer
  }

  /// Checkpoints the write-ahead log and closes all connections. Reads under way on other threads finish on
  /// theirs. Later calls throw `.closed`, a second `close` as well.
  public func close() throws(StoreError) {
    try pool.requireOwnProcess()
    let checkpointer = checkpointer
    checkpointer?.stop()
    let wasOpen = pool.close { connection in
      guard let checkpointer else { return }
      // A store that was only read has nothing to copy.
      if sqlite3_total_changes(connection.handle) > 0 { checkpointer.mark(connection.handle) }
      // Best effort: what stays in the log is as durable, and the next opening reads it.
      sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    if !wasOpen { throw StoreError.closed() }
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
