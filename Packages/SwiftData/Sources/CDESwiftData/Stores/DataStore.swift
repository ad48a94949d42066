/// Where a container has models: a file format, a web service or a database of the application's own.
///
/// A store gets and gives snapshots, values of whole models. `ModelContext` makes models of them, keeps them, faults related ones and
/// works out what a save changes. A store that can't filter or sort throws ``DataStoreError/preferInMemoryFilter`` or
/// ``DataStoreError/preferInMemorySort``, and the context does it:
///
/// ```swift
/// final class MemoryStore: DataStore {
///   typealias Configuration = MemoryConfiguration
///   typealias Snapshot = DefaultSnapshot
///
///   let configuration: MemoryConfiguration
///   let identifier = UUID().uuidString
///   let schema: Schema
///   private var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
///
///   init(_ configuration: MemoryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
///     self.configuration = configuration
///     schema = configuration.schema!
///   }
///
///   func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
///     if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
///     if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
///     return DataStoreFetchResult(
///       descriptor: request.descriptor, fetchedSnapshots: Array(snapshots.values), relatedSnapshots: snapshots)
///   }
///
///   func save(
///     _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
///   ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
///     var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
///     for snapshot in request.inserted {
///       identifiers[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
///         for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
///     }
///     for snapshot in request.inserted + request.updated {
///       let id = identifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
///       snapshots[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: identifiers)
///     }
///     for snapshot in request.deleted { snapshots[snapshot.persistentIdentifier] = nil }
///     return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: identifiers)
///   }
/// }
///
/// struct MemoryConfiguration: DataStoreConfiguration {
///   typealias Store = MemoryStore
///   var name: String
///   var schema: Schema?
/// }
/// ```
///
/// The calls to one store follow each other, also those of several contexts, so a store needs no lock of its own. They run on the
/// thread of the context that caused them. A store must not use a context of its container.
///
/// As in SwiftData.
nonisolated public protocol DataStore: AnyObject {
  /// The type of the store's configuration, which a container makes the store of.
  associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
  /// The type of the values that the store gets and gives.
  associatedtype Snapshot: DataStoreSnapshot

  /// What the store was made of.
  var configuration: Configuration { get }
  /// The name of the store in the identifiers of its models. Another store has another name.
  var identifier: String { get }
  /// The entities of the store.
  var schema: Schema { get }

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - configuration: where the store is. Its schema is not nil: a container sets its own, if there is none.
  ///   - migrationPlan: the versions of the container's schema. A store migrates its contents itself.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  /// Removes all contents. The default implementation throws ``DataStoreError/unsupportedFeature``.
  func erase() throws

  /// Finds models.
  ///
  /// - Parameter request: the condition, the order and the greatest number. A result that has more is cut by the context.
  /// - Returns: the snapshots in the order of the request, and others that they lead to, so that these need no fetch of their own.
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to be asked again without the
  ///   predicate or the order; any other error is that of the context's fetch.
  func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
  where T: PersistentModel

  /// The number of models that ``fetch(_:)`` would return. The default implementation fetches.
  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel

  /// The identifiers of the models that ``fetch(_:)`` would return. The default implementation fetches.
  func fetchIdentifiers<T>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
  where T: PersistentModel

  /// Writes the changes of a context, all or none.
  ///
  /// - Returns: a permanent identifier for each temporary one of the inserted snapshots.
  /// - Throws: why nothing was written. The context's save throws the same error, and its changes stay unsaved.
  func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

  /// Begins to work for a context. The default implementation does nothing.
  func initializeState(for editingState: EditingState)

  /// Ends to work for a context, which is gone. The default implementation does nothing.
  func invalidateState(for editingState: EditingState)

  /// Snapshots that the store has at hand, without reading. The default implementation has none.
  ///
  /// Called before related models are fetched by their identifiers.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
  /// Throws ``DataStoreError/unsupportedFeature``. A container then deletes the models.
  public func erase() throws { throw DataStoreError.unsupportedFeature }

  /// Counts the models of ``fetch(_:)`` that are of the class.
  public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try fetchIdentifiers(request).count
  }

  /// Takes the identifiers from the models of ``fetch(_:)`` that are of the class.
  public func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    let names = Set(_ModelInfo.names(from: .of(T.self)))
    return try fetch(request).fetchedSnapshots.map(\.persistentIdentifier).filter {
      names.contains($0.entityName)
    }
  }

  /// Does nothing.
  public func initializeState(for editingState: EditingState) {}

  /// Does nothing.
  public func invalidateState(for editingState: EditingState) {}

  /// Has none.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that deletes models by a condition, without their values.
///
/// ``ModelContext/delete(model:where:includeSubclasses:)`` uses it. The store then follows the delete rules, at once and not with the
/// next save.
nonisolated public protocol DataStoreBatching: DataStore {
  /// Deletes the models that satisfy a condition.
  ///
  /// - Throws: ``DataStoreError/unsupportedFeature`` or ``DataStoreError/preferInMemoryFilter`` to let the context delete model by
  ///   model with its next save; any other error is that of the context's call.
  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// What a container makes a store of.
nonisolated public protocol DataStoreConfiguration: Hashable {
  /// The store's type.
  associatedtype Store: DataStore where Store.Configuration == Self

  /// The name of the configuration. The configurations of a container have different names.
  var name: String { get }
  /// The part of the container's schema whose models are in the store; nil for all that no other configuration has.
  var schema: Schema? { get set }

  /// Checks the configuration before its store is made. The default implementation accepts each.
  func validate() throws
}

extension DataStoreConfiguration {
  /// Accepts each configuration.
  public func validate() throws {}
}

/// What a store throws to be asked otherwise.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate has no meaning for the store.
  case invalidPredicate
  /// The context shall evaluate the predicate.
  case preferInMemoryFilter
  /// The context shall sort.
  case preferInMemorySort
  /// The store can't do what was asked.
  case unsupportedFeature
}
