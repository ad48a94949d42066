/// A store that is not open, as a migration sees it.
///
/// An engine gives one to the object layer, which finds the old model, compares it with the new one, and asks the store to move its
/// rows. Calls block the thread that makes them.
public protocol MigratableStore {
  /// Whether the store has all entities of its model, whatever the configuration with which it is opened.
  var holdsWholeModel: Bool { get }

  /// Reads which version of the model the store has. Nothing changes.
  ///
  /// - Returns: nil if there is no store yet.
  /// - Throws: the errors of opening it.
  func version() throws(StoreError) -> (any StoredVersion)?

  /// Finds out what a migration would do, and what stands in its way. Changes nothing, and counts rows: it takes about as long as
  /// reading the store.
  ///
  /// - Parameters:
  ///   - migration: what becomes of the entities and properties.
  ///   - source: the schema that the store has.
  ///   - destination: the schema that it would get.
  ///   - entities: the entities of the new schema that it would have.
  /// - Throws: `.incompatibleSchema` if the store is not one of the old schema, `.readOnly`, `.busy` and so on.
  func survey(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>
  ) throws(StoreError) -> MigrationSurvey

  /// Migrates the store in one transaction. If that fails, or the process dies, the store is as before.
  ///
  /// Waits for a time until nothing else uses the store. The migrated store has the same UUID, row versions and metadata of the
  /// application.
  ///
  /// - Parameters:
  ///   - migration: what becomes of the entities and properties.
  ///   - source: the schema that the store has.
  ///   - destination: the schema that it gets.
  ///   - entities: the entities of the new schema that it gets.
  ///   - modelCache: the copy of the new model that the store keeps, compressed; nil for none.
  ///   - pace: told how far the migration is; it may end the migration.
  /// - Returns: false if another process has migrated the store meanwhile.
  /// - Throws: `.migration` with the obstacles, `.busy` if the store stays in use, `.cancelled`, `.full`, `.io` and so on.
  func migrate(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>, modelCache: [UInt8]?, pace: MigrationPace
  ) throws(StoreError) -> Bool

  /// Finds out what is in a store that code migrates. Changes nothing, and counts rows.
  ///
  /// - Parameter schema: the schema that the store has.
  /// - Returns: rows and sizes. Everything is written anew.
  /// - Throws: as ``survey(_:from:to:entities:)``.
  func survey(of schema: ResolvedSchema) throws(StoreError) -> MigrationSurvey

  /// Locks the store for a migration by code, which works on a copy. Waits for a time until nothing else uses the store.
  ///
  /// - Parameters:
  ///   - source: the schema that the store has.
  ///   - destination: the schema that it gets.
  ///   - pace: asked while the call waits, and told how far the store's part of the work is.
  /// - Returns: nil if another process has migrated the store meanwhile.
  /// - Throws: `.busy` if the store stays in use, `.readOnly` for parts of other programs that would be lost, `.cancelled` and so on.
  func locked(
    from source: ResolvedSchema, to destination: ResolvedSchema, pace: MigrationPace
  ) throws(StoreError) -> (any LockedStore)?
}

extension MigratableStore {
  /// The store has the entities of a configuration.
  public var holdsWholeModel: Bool { false }

  /// The engine has no migrations by code.
  public func survey(of schema: ResolvedSchema) throws(StoreError) -> MigrationSurvey {
    throw StoreError.codeMigration
  }

  /// The engine has no migrations by code.
  public func locked(
    from source: ResolvedSchema, to destination: ResolvedSchema, pace: MigrationPace
  ) throws(StoreError) -> (any LockedStore)? {
    throw StoreError.codeMigration
  }
}

extension StoreError {
  fileprivate static var codeMigration: StoreError {
    StoreError(
      .unsupportedQuery,
      "Stores of this engine can't be migrated by code: stages with code, migration steps and mapping models. They stay as they are. "
        + "Add a version of the model whose differences can be inferred, and let the application set the new values."
    )
  }
}

/// What a store says about the model that it was made with.
public protocol StoredVersion: Sendable {
  /// The 32-byte version hashes of the entities by name; empty if the store has none.
  var versionHashes: [String: [UInt8]] { get }
  /// The archive of the model; nil if the store keeps no copy, or a damaged one.
  var modelArchive: [UInt8]? { get }
  /// Why there is no archive, as the end of a sentence about the store.
  var archiveAbsence: String { get }
  /// Whether the store has a persistent history.
  var hasHistory: Bool { get }

  /// Compares the tables of a schema's entities with those of the store, by the names of their columns.
  ///
  /// - Returns: each column that only one side has, and each table and entity that the store lacks, as text; sorted.
  func columnDifferences(from schema: ResolvedSchema, entities: Set<EntityIndex>) -> [String]
}
