import CDESwiftData
import Foundation
import Synchronization

/// A web service in memory. It keeps JSON by entity and key, knows nothing of models, and counts requests.
final class Service: Sendable {
  struct Failure: Error, Equatable { let reason: String }

  private struct State {
    var documents: [String: [String: Data]] = [:]
    var requests: [String] = []
    var failure: Failure?
    var next = 0
  }

  private let state = Mutex(State())

  var requests: [String] { state.withLock { $0.requests } }
  func forgetRequests() { state.withLock { $0.requests = [] } }
  func fail(_ failure: Failure?) { state.withLock { $0.failure = failure } }

  private func answer<Result: Sendable>(
    _ request: String, _ body: (inout State) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      state.requests.append(request)
      if let failure = state.failure { throw failure }
      return try body(&state)
    }
  }

  func list(_ entity: String) throws -> [Data] {
    try answer("GET /\(entity)") { $0.documents[entity].map { Array($0.values) } ?? [] }
  }

  func get(_ entity: String, _ keys: [String]) throws -> [Data] {
    try answer("GET /\(entity)?keys=\(keys.count)") { state in
      keys.compactMap { state.documents[entity]?[$0] }
    }
  }

  func makeKeys(_ count: Int) throws -> [String] {
    state.withLock { state in
      (0..<count).map { _ in
        state.next += 1
        return "key-\(state.next)"
      }
    }
  }

  /// All documents or none.
  func put(_ documents: [(entity: String, key: String, body: Data?)]) throws {
    try answer("PUT \(documents.count)") { state in
      for document in documents {
        state.documents[document.entity, default: [:]][document.key] = document.body
      }
    }
  }

  func removeAll() throws { try answer("DELETE /") { $0.documents = [:] } }

  /// What another client of the service does.
  func change(_ entity: String, _ edit: (inout [String: Any]) -> Void) throws {
    try state.withLock { state in
      for (key, body) in state.documents[entity] ?? [:] {
        var values = try JSONSerialization.jsonObject(with: body) as! [String: Any]
        edit(&values)
        state.documents[entity]![key] = try JSONSerialization.data(withJSONObject: values)
      }
    }
  }

  func drop(_ entity: String) { state.withLock { $0.documents[entity] = [:] } }
}

struct ServerConfiguration: DataStoreConfiguration {
  typealias Store = ServerStore

  var name = "server"
  var schema: Schema?
  let service: Service

  init(name: String = "server", schema: Schema? = nil, service: Service) {
    self.name = name
    self.schema = schema
    self.service = service
  }

  static func == (one: Self, other: Self) -> Bool { one.name == other.name && one.service === other.service }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A store over the service. It gives the models that are asked for, and none of those that they lead to.
final class ServerStore: DataStore {
  let configuration: ServerConfiguration
  let schema: Schema
  let identifier = "https://service.example/api"
  private let service: Service
  private(set) var contexts: Set<EditingState> = []

  init(_ configuration: ServerConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema!
    service = configuration.service
  }

  func initializeState(for editingState: EditingState) { contexts.insert(editingState) }
  func invalidateState(for editingState: EditingState) { contexts.remove(editingState) }

  private struct Key: Codable {
    struct Implementation: Codable { let primaryKey: String }
    let implementation: Implementation
  }

  /// The key that the service knows a model by.
  private func key(_ id: PersistentIdentifier) throws -> String {
    try JSONDecoder().decode(Key.self, from: JSONEncoder().encode(id)).implementation.primaryKey
  }

  private func snapshots(_ documents: [Data]) throws -> [DefaultSnapshot] {
    try documents.map { try JSONDecoder().decode(DefaultSnapshot.self, from: $0) }
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    // Subclasses have collections of their own.
    var names = [Schema.entityName(for: T.self)]
    var found: [DefaultSnapshot] = []
    while let name = names.popLast() {
      found += try snapshots(service.list(name))
      names += schema.entitiesByName[name]?.subentities.map(\.name) ?? []
    }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found)
  }

  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: DefaultSnapshot] {
    var result: [PersistentIdentifier: DefaultSnapshot] = [:]
    for (entity, ids) in Dictionary(grouping: persistentIdentifiers, by: \.entityName) {
      for snapshot in try snapshots(service.get(entity, ids.map(key))) {
        result[snapshot.persistentIdentifier] = snapshot
      }
    }
    return result
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
    for (snapshot, key) in zip(request.inserted, try service.makeKeys(request.inserted.count)) {
      identifiers[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: key)
    }
    let written = (request.inserted + request.updated).map { snapshot in
      snapshot.copy(
        persistentIdentifier: identifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier,
        remappedIdentifiers: identifiers)
    }
    try service.put(
      written.map {
        ($0.persistentIdentifier.entityName, try key($0.persistentIdentifier), try JSONEncoder().encode($0))
      }
        + request.deleted.map {
          ($0.persistentIdentifier.entityName, try key($0.persistentIdentifier), nil)
        })
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: identifiers)
  }

  func erase() throws { try service.removeAll() }
}
