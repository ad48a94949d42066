@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import CDEStore
internal import Foundation
internal import Synchronization

/// A store of the application's as the runtime has stores: in rows.
///
/// What the application's store has given is kept as rows in memory, the mirror, so that faults, predicates, orders, conflicts and
/// merging are those of every other store. A model that is only referred to has a row without values. It is loaded when the row
/// is read.
final class CustomStore: Store, @unchecked Sendable {
  // Guard: `turn` for the application's store, the mirror's writes and the announcements; `tables` has its own lock. The mirror is set
  // once, before the store is used.

  let source: any AnyDataStore
  let prepared: PreparedSchema
  /// The identifier in the identities of the application's models. A store may get another one when it is erased.
  var publicIdentifier: String { tables.withLock { $0.store } }
  /// The mirror's. Saves over several stores begin with the lowest, so that a refusal of the application's store comes before another
  /// store has committed.
  let identifier: String
  let name: String
  private(set) var mirror: (any Store)!
  let tables: Lock<KeyTables>
  private let turn = Lock(())
  var announcements: [@Sendable () -> Void] = []
  var othersHandler: (@Sendable (StoreForeignCommits) -> @Sendable () -> Void)?
  var announced: Int64 = 0
  /// For calls that no context's call causes.
  private let ownState = EditingState(id: UUID(), author: nil)
  /// Whether one context or more was told of: see `begin`.
  private let states = Lock<Set<EditingState>>([])

  init(_ source: any AnyDataStore, _ prepared: PreparedSchema) {
    self.source = source
    self.prepared = prepared
    tables = Lock(KeyTables(store: source.identifier))
    name = source.name
    identifier = "00000000-" + UUID().uuidString.dropFirst(9)
    CustomStores.add(self)
  }

  func attach(_ mirror: any Store) { self.mirror = mirror }

  var state: EditingState { StoreScope.editing ?? ownState }

  // MARK: Turns

  /// Runs a body while no other call of the store runs, and hands on afterwards what the body has to announce.
  func taking<Result: Sendable>(_ body: () throws -> Result) throws(StoreError) -> Result {
    let (result, announcements) = turn.withLock { _ in
      let result = Swift.Result { try StoreScope.$prepared.withValue(prepared) { try body() } }
      defer { self.announcements = [] }
      return (result, self.announcements)
    }
    for announcement in announcements { announcement() }
    do { return try result.get() } catch { throw Self.wrapped(error, name) }
  }

  /// An error of the application's store as the runtime passes it on.
  static func wrapped(_ error: any Error, _ name: String) -> StoreError {
    if let error = error as? StoreError { return error }
    return StoreError(.customStore, "The store \(name) failed: \(error)", cause: error)
  }

  /// The error of the application's store inside one of the runtime; nil for other errors.
  static func original(_ error: any Error) -> (any Error)? {
    if let error = error as? StoreError { return error.code == .customStore ? error.cause : nil }
    return (error as? ManagedObjectError)?.cause.flatMap(original)
  }

  // MARK: Contexts

  /// Tells the application's store of a context.
  func begin(_ state: EditingState) {
    if !states.withLock({ $0.insert(state).inserted }) { return }
    try? taking { source.initializeState(for: state) }
  }

  /// Tells it that a context is gone.
  func end(_ state: EditingState) {
    if states.withLock({ $0.remove(state) }) == nil { return }
    try? taking { source.invalidateState(for: state) }
  }

  // MARK: Facts of the mirror

  var schema: ResolvedSchema { mirror.schema }
  var openedMetadata: StoreMetadata? { mirror.openedMetadata }
  var isReadOnly: Bool { mirror.isReadOnly }
  /// The application's store may be on another machine.
  var mayWaitForNetwork: Bool { true }
  var recordsHistory: Bool { false }

  func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    try loadAllUnloaded()
    return try mirror.project(projection)
  }

  func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
    try mirror.conflicts(of: transaction)
  }

  func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult {
    throw StoreError(
      .unsupportedQuery,
      "The store \(name) takes no batch requests. Change or delete its models in a context, and save.")
  }

  func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64] {
    try mirror.allocateKeys(counts)
  }

  func lastKeys() throws(StoreError) -> [RootIndex: Int64] { try mirror.lastKeys() }

  func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8] { try mirror.externalValue(cell) }

  func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] { [] }

  func historyExtent() throws(StoreError) -> StoreHistoryExtent? { nil }

  func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int { 0 }

  func observeOthers(
    _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
  ) throws(StoreError) -> String? {
    try taking { othersHandler = handler }
    return nil
  }

  func metadata() throws(StoreError) -> StoreMetadata { try mirror.metadata() }

  func setMetadata(_ metadata: StoreMetadata) throws(StoreError) { try mirror.setMetadata(metadata) }

  func close() throws(StoreError) {
    CustomStores.remove(identifier)
    try mirror.close()
  }

  deinit { CustomStores.remove(identifier) }
}

extension StoreError.Code {
  /// The application's store failed; the cause is its error.
  static let customStore = Self(rawValue: "customStore")
}

/// A row of a mirror: the root of its entity's inheritance, and its key.
struct RowPlace: Hashable, Sendable {
  let root: RootIndex
  let key: Int64
}

/// A to-many relationship of a model whose snapshot does not say who is in it.
struct UnlistedMembers: Hashable, Sendable {
  let owner: RowPlace
  let name: String
}

/// Which row stands for which model.
struct KeyTables: Sendable {
  /// The identifier of the application's store.
  var store: String
  /// The rows that exist.
  private(set) var places: [PersistentIdentifier: RowPlace] = [:]
  /// The identifiers of all rows that there were: models keep them after their deletion. Keys are not used again.
  private(set) var identifiers: [RowPlace: PersistentIdentifier] = [:]
  /// Rows that are only referred to, and have no values.
  var unloaded: Set<RowPlace> = []
  var unlisted: Set<UnlistedMembers> = []
  /// The permanent identifiers of models that were saved in this process. A store may have kept a temporary one.
  var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]

  init(store: String) { self.store = store }

  mutating func add(_ id: PersistentIdentifier, _ place: RowPlace) {
    places[id] = place
    identifiers[place] = id
  }

  mutating func remove(_ place: RowPlace) {
    unloaded.remove(place)
    if let id = identifiers[place], places[id] == place { places[id] = nil }
  }
}

/// The custom stores that are open, for identities.
enum CustomStores {
  private struct Entry: @unchecked Sendable {
    // Guard: the lock of the table; a weak reference.
    weak var store: CustomStore?
  }

  private static let table = Lock<[String: Entry]>([:])

  static func add(_ store: CustomStore) {
    areUsed.store(true, ordering: .relaxed)
    let entry = Entry(store: store)
    table.withLock { $0[store.identifier] = entry }
  }

  static func remove(_ identifier: String) { table.withLock { $0[identifier] = nil } }

  /// The identifier that a custom store gave to a model; nil for the models of other stores.
  static func identifier(of objectID: NSManagedObjectID) -> PersistentIdentifier? {
    guard areUsed.load(ordering: .relaxed), let store = objectID.storeIdentifier,
      let found = table.withLock({ $0[store]?.store }),
      let entity = objectID.entity.name.flatMap({ found.schema.entity(named: $0) })
    else { return nil }
    return found.tables.withLock { $0.identifiers[RowPlace(root: entity.root, key: objectID.rowKey)] }
  }

  private static let areUsed = Atomic<Bool>(false)
}
