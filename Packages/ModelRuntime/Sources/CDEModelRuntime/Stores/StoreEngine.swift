@_spi(CDE) internal import CDEExecutors
public import CDEStore

/// Opens the stores of a type.
///
/// A program registers its engine once, and then names its type as it names ``NSSQLiteStoreType``:
///
/// ```swift
/// struct JournalEngine: StoreEngine {
///   func open(_ opening: StoreOpening) throws -> any Store {
///     try JournalStore(opening.description.url, schema: opening.schema)
///   }
/// }
/// NSPersistentStoreCoordinator.registerStoreEngine(JournalEngine(), forStoreType: "Journal")
/// description.type = "Journal"
/// ```
///
/// Apple's Core Data has subclasses of `NSIncrementalStore` and `NSAtomicStore` for this. Stores of an engine are as good
/// as SQLite stores: contexts know only the protocol `Store`. What works on files, such as destroying and copying a store, is for
/// SQLite stores alone.
public protocol StoreEngine: Sendable {
  /// Opens a store, or makes it if there is none.
  ///
  /// Called on the thread that adds the store to its coordinator.
  ///
  /// - Parameter opening: where the store is, and what it holds.
  /// - Returns: a store with the schema of `opening`, which belongs to the coordinator alone and is closed by it.
  /// - Throws: a `StoreError` or ``ManagedObjectError``. With `.incompatibleSchema`, the store is migrated and opened once more.
  func open(_ opening: StoreOpening) throws -> any Store

  /// Reads the metadata of a store that is not open, for ``NSPersistentStoreCoordinator/metadataForPersistentStore(ofType:at:options:)``.
  ///
  /// - Parameter description: where the store is, with its options.
  /// - Returns: the store's UUID and the metadata; nil if the engine reads them from open stores only. The default implementation
  ///   returns nil.
  /// - Throws: a `StoreError` or ``ManagedObjectError``, for a missing store too.
  func metadata(of description: NSPersistentStoreDescription) throws -> (
    identifier: String, metadata: StoreMetadata
  )?

  /// The store of an opening as the runtime migrates it: the runtime finds the old model, compares it with the new one, and asks the
  /// store to move its rows. Plans of migrations are made with it, too.
  ///
  /// - Parameter opening: as it was given to ``open(_:)``, or as it will be.
  /// - Returns: nil if the runtime can't migrate stores of the engine. The default implementation returns nil.
  /// - Throws: a `StoreError` or ``ManagedObjectError`` for a description that names no store.
  func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)?

  /// Makes a store that has everything that another store has, which may belong to another engine, for
  /// ``NSPersistentStoreCoordinator/migratePersistentStore(_:to:options:withType:)``.
  ///
  /// - Parameters:
  ///   - opening: where the store is made.
  ///   - copy: the rows, the UUID and the metadata. Its schema is that of `opening`.
  /// - Throws: a `StoreError` or ``ManagedObjectError``, also if there is a store already. Then nothing is made. The default
  ///   implementation throws `.unsupportedRequest`.
  func make(_ opening: StoreOpening, from copy: StoreCopy) throws

  /// Migrates a store that has another version of the model. Called if ``migratable(_:)`` returns nil.
  ///
  /// - Parameters:
  ///   - opening: as it was given to ``open(_:)``.
  ///   - refusal: the error of opening it.
  /// - Throws: why the store was not migrated. It stays as it is then. The default implementation throws `refusal`.
  func migrate(_ opening: StoreOpening, after refusal: StoreError) throws
}

extension StoreEngine {
  public func metadata(of description: NSPersistentStoreDescription) throws -> (
    identifier: String, metadata: StoreMetadata
  )? { nil }

  public func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)? { nil }

  public func make(_ opening: StoreOpening, from copy: StoreCopy) throws {
    throw ManagedObjectError(
      .unsupportedRequest,
      "The engine of the type \"\(opening.description.type)\" can't make a store from another one. Add an empty store, and save the "
        + "objects to it.")
  }

  public func migrate(_ opening: StoreOpening, after refusal: StoreError) throws { throw refusal }
}

/// What an engine gets to open a store.
public struct StoreOpening {
  /// Where the store is, and its options: ``NSPersistentStoreDescription/url``, ``NSPersistentStoreDescription/options``,
  /// ``NSPersistentStoreDescription/timeout``, ``NSPersistentStoreDescription/isReadOnly`` and so on.
  public let description: NSPersistentStoreDescription
  /// The schema of the rows. All entities of the model are in it.
  public let schema: ResolvedSchema
  /// The entities that the store holds: those of the configuration, with their ancestors.
  public let entities: Set<EntityIndex>
  let makeModelCache: @Sendable () -> [UInt8]?

  /// The model in the form of `Z_MODELCACHE`: an archive as in a compiled model, compressed. A store that keeps it can be compared
  /// with a later version of the model. `nil` if the model has no such form. Made at the first access.
  public var modelCache: [UInt8]? { makeModelCache() }
}

/// The engines of all store types.
final class StoreEngines: Sendable {
  private let engines: Lock<[String: any StoreEngine]>

  init(_ engines: [String: any StoreEngine]) { self.engines = Lock(engines) }

  /// - Throws: ``ManagedObjectError`` with code `.invalidStoreType`.
  func engine(for type: String) throws -> any StoreEngine {
    let engines = engines.withLock { $0 }
    if let engine = engines[type] { return engine }
    throw ManagedObjectError(
      .invalidStoreType,
      "There is no store type \"\(type)\". Use \(engines.keys.sorted().joined(separator: ", ")), or register an engine with "
        + "NSPersistentStoreCoordinator.registerStoreEngine(_:forStoreType:).")
  }

  func register(_ engine: (any StoreEngine)?, for type: String) { engines.withLock { $0[type] = engine } }
  var all: [String: any StoreEngine] { engines.withLock { $0 } }
}
