/// A store of the application's without its type.
protocol AnyDataStore: AnyObject {
  var identifier: String { get }
  /// The name for messages.
  var name: String { get }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> FetchedSnapshots
  func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int
  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> [PersistentIdentifier]
  func save(_ changes: SnapshotChanges, _ state: EditingState) throws -> SavedSnapshots
  /// - Returns: false if the store deletes nothing by conditions.
  func delete<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>?, includeSubclasses: Bool, _ state: EditingState
  ) throws -> Bool
  func erase() throws
  func initializeState(for state: EditingState)
  func invalidateState(for state: EditingState)
  func cachedSnapshots(for ids: [PersistentIdentifier], _ state: EditingState) throws -> [DefaultSnapshot]
  /// - Returns: nil if the store has no history of such transactions.
  func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
  /// - Returns: false if the store has no history of such transactions.
  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool
}

/// What a store found.
struct FetchedSnapshots: Sendable {
  var found: [DefaultSnapshot]
  var related: [DefaultSnapshot]
}

/// The changes of a save.
struct SnapshotChanges: Sendable {
  var inserted: [DefaultSnapshot] = []
  var updated: [DefaultSnapshot] = []
  var deleted: [DefaultSnapshot] = []
}

/// What a store made of them.
struct SavedSnapshots: Sendable {
  var identifiers: [PersistentIdentifier: PersistentIdentifier]
  var changed: [DefaultSnapshot]
}

/// A store of the application's with its type.
final class TypedDataStore<Base: DataStore>: AnyDataStore {
  private let base: Base
  private let prepared: PreparedSchema

  init(_ base: Base, _ prepared: PreparedSchema) {
    self.base = base
    self.prepared = prepared
  }

  var identifier: String { base.identifier }
  var name: String { base.configuration.name }

  func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    func fetch<P: HistoryProviding>(_ provider: P) throws -> [T]? {
      guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return nil }
      return try provider.fetchHistory(descriptor) as? [T]
    }
    return try (base as? any HistoryProviding).flatMap { try fetch($0) }
  }

  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    func delete<P: HistoryProviding>(_ provider: P) throws -> Bool {
      guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return false }
      try provider.deleteHistory(descriptor)
      return true
    }
    return try (base as? any HistoryProviding).map { try delete($0) } ?? false
  }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> FetchedSnapshots {
    let result = try base.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
    return FetchedSnapshots(
      found: try plain(result.fetchedSnapshots), related: try plain(Array(result.relatedSnapshots.values)))
  }

  func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int {
    try base.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ state: EditingState
  ) throws -> [PersistentIdentifier] {
    try base.fetchIdentifiers(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
  }

  func save(_ changes: SnapshotChanges, _ state: EditingState) throws -> SavedSnapshots {
    let all = changes.inserted + changes.updated + changes.deleted
    func typed(_ snapshots: [DefaultSnapshot]) -> [Base.Snapshot] {
      SnapshotBacking.convert(snapshots, all, as: Base.Snapshot.self, prepared)
    }
    let result = try base.save(
      DataStoreSaveChangesRequest(
        editingState: state, inserted: typed(changes.inserted), updated: typed(changes.updated),
        deleted: typed(changes.deleted)))
    return SavedSnapshots(
      identifiers: result.remappedIdentifiers, changed: try plain(Array(result.snapshotsToReregister.values)))
  }

  func delete<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>?, includeSubclasses: Bool, _ state: EditingState
  ) throws -> Bool {
    guard let base = base as? any DataStoreBatching else { return false }
    do {
      try base.delete(
        DataStoreBatchDeleteRequest<T>(
          predicate: predicate, includeSubclasses: includeSubclasses, editingState: state))
      return true
    } catch DataStoreError.unsupportedFeature, DataStoreError.preferInMemoryFilter {
      return false
    }
  }

  func erase() throws { try base.erase() }

  func initializeState(for state: EditingState) { base.initializeState(for: state) }

  func invalidateState(for state: EditingState) { base.invalidateState(for: state) }

  func cachedSnapshots(for ids: [PersistentIdentifier], _ state: EditingState) throws -> [DefaultSnapshot] {
    try plain(Array(base.cachedSnapshots(for: ids, editingState: state).values))
  }

  /// Snapshots of another type are read by their coding.
  private func plain(_ snapshots: [Base.Snapshot]) throws -> [DefaultSnapshot] {
    if let same = snapshots as? [DefaultSnapshot] { return same }
    return try JSONForm.value([DefaultSnapshot].self, of: JSONForm.data(of: snapshots))
  }
}

extension DataStoreConfiguration {
  /// Makes the store of the configuration.
  ///
  /// - Parameter schema: the entities of the store, for a configuration that names none.
  func makeStore(
    _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?, _ prepared: PreparedSchema
  ) throws -> any AnyDataStore {
    var configuration = self
    if configuration.schema == nil { configuration.schema = schema }
    return TypedDataStore(
      try StoreScope.$prepared.withValue(prepared) {
        try Store(configuration, migrationPlan: migrationPlan)
      }, prepared)
  }
}
