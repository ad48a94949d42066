import CDESwiftData
import Foundation

// The store of Apple's session "Create a custom data store with SwiftData", as it was published.

final class JSONStoreConfiguration: DataStoreConfiguration {
  typealias Store = JSONStore

  var name: String
  var schema: Schema?
  var fileURL: URL

  init(name: String, schema: Schema? = nil, fileURL: URL) {
    self.name = name
    self.schema = schema
    self.fileURL = fileURL
  }

  static func == (lhs: JSONStoreConfiguration, rhs: JSONStoreConfiguration) -> Bool {
    return lhs.name == rhs.name
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
  }
}

final class JSONStore: DataStore {
  typealias Configuration = JSONStoreConfiguration
  typealias Snapshot = DefaultSnapshot

  var configuration: JSONStoreConfiguration
  var name: String
  var schema: Schema
  var identifier: String

  init(_ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    self.name = configuration.name
    self.schema = configuration.schema!
    self.identifier = configuration.fileURL.lastPathComponent
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remappedIdentifiers = [PersistentIdentifier: PersistentIdentifier]()
    var serializedData = try read()

    for snapshot in request.inserted {
      let permanentIdentifier = try PersistentIdentifier.identifier(
        for: identifier,
        entityName: snapshot.persistentIdentifier.entityName,
        primaryKey: UUID())
      let permanentSnapshot = snapshot.copy(persistentIdentifier: permanentIdentifier)
      serializedData[permanentIdentifier] = permanentSnapshot
      remappedIdentifiers[snapshot.persistentIdentifier] = permanentIdentifier
    }

    for snapshot in request.updated {
      serializedData[snapshot.persistentIdentifier] = snapshot
    }

    for snapshot in request.deleted {
      serializedData[snapshot.persistentIdentifier] = nil
    }
    try write(serializedData)
    return DataStoreSaveChangesResult<DefaultSnapshot>(
      for: self.identifier,
      remappedIdentifiers: remappedIdentifiers)
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil {
      throw DataStoreError.preferInMemoryFilter
    } else if request.descriptor.sortBy.count > 0 {
      throw DataStoreError.preferInMemorySort
    }

    let objs = try read()
    let snapshots = objs.values.map({ $0 })
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: snapshots, relatedSnapshots: objs)
  }

  func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
    if FileManager.default.fileExists(atPath: configuration.fileURL.path(percentEncoded: false)) {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601

      let trips = try decoder.decode(
        [DefaultSnapshot].self, from: try Data(contentsOf: configuration.fileURL))
      var result = [PersistentIdentifier: DefaultSnapshot]()
      trips.forEach { s in
        result[s.persistentIdentifier] = s
      }
      return result
    } else {
      return [:]
    }
  }

  func write(_ trips: [PersistentIdentifier: DefaultSnapshot]) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let jsonData = try encoder.encode(trips.values.map({ $0 }))
    try jsonData.write(to: configuration.fileURL)
  }
}
