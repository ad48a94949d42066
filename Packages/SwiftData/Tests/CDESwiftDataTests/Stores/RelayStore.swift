import CDESwiftData
import Foundation
import Synchronization

/// Keeps its snapshots in a `DefaultStore`, which evaluates predicates and sorts, and notes what is asked.
final class RelayStore: DataStore, DataStoreBatching {
  typealias Configuration = RelayConfiguration
  typealias Snapshot = DefaultSnapshot

  let configuration: RelayConfiguration
  private let base: DefaultStore
  var identifier: String { base.identifier }
  var schema: Schema { base.schema }

  init(_ configuration: RelayConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    let rows = configuration.url.map { ModelConfiguration(schema: configuration.schema, url: $0) }
    base = try DefaultStore(
      rows ?? ModelConfiguration(schema: configuration.schema, isStoredInMemoryOnly: true),
      migrationPlan: migrationPlan)
  }

  private func note(_ call: String, _ state: EditingState) {
    configuration.log.withLock { $0.append("\(call)\(state.author.map { " by \($0)" } ?? "")") }
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    note("fetch \(T.self)", request.editingState)
    return try base.fetch(request)
  }

  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    note("count \(T.self)", request.editingState)
    return try base.fetchCount(request)
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] {
    note("identifiers \(T.self)", request.editingState)
    return try base.fetchIdentifiers(request)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    note(
      "save \(request.inserted.count) \(request.updated.count) \(request.deleted.count)", request.editingState
    )
    return try base.save(request)
  }

  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    if configuration.refusesBatches { throw DataStoreError.unsupportedFeature }
    note("delete \(T.self)", request.editingState)
    try base.delete(request)
  }

  func erase() throws { try base.erase() }
}

struct RelayConfiguration: DataStoreConfiguration {
  typealias Store = RelayStore

  var name = "relay"
  var schema: Schema?
  var url: URL?
  var refusesBatches = false
  let log = Log()

  final class Log: Sendable {
    private let calls = Mutex<[String]>([])
    var all: [String] { calls.withLock { $0 } }
    func withLock(_ body: (inout [String]) -> Void) { calls.withLock { body(&$0) } }
    func clear() { calls.withLock { $0 = [] } }
  }

  static func == (one: Self, other: Self) -> Bool { one.name == other.name && one.log === other.log }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
