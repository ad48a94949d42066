@_spi(CDE) import CDESQL
import CDESQLiteStore
import CDEStore
import Foundation
import Testing

struct SchemaVector: Decodable, Sendable, CustomTestStringConvertible {
  struct Property: Decodable, Sendable {
    var name: String
    var kind: String
    var optional: Bool?
    var transient: Bool?
    var attributeTypeName: String?
    var allowsExternalBinaryDataStorage: Bool?
    var elements: [Property]?
    var destination: String?
    var inverse: String?
    var maxCount: Int?
    var ordered: Bool?
    var indexed: Bool?
    var derivation: Derivation?

    struct Derivation: Decodable, Sendable { var text: String }
  }

  struct Index: Decodable, Sendable {
    struct Element: Decodable, Sendable {
      var property: String
      var type: String
      var ascending: Bool
    }
    var name: String
    var elements: [Element]
  }

  struct Entity: Decodable, Sendable {
    var name: String
    var parent: String?
    var isAbstract: Bool
    var properties: [Property]
    var uniquenessConstraints: [[String]]
    var fetchIndexes: [Index]
  }

  struct Statement: Decodable, Sendable {
    var name: String
    var sql: String
  }

  var id: String
  var entities: [Entity]
  var statements: [String: [Statement]]
  var primaryKey: [[PrimaryKeyItem]]

  enum PrimaryKeyItem: Decodable, Sendable {
    case number(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }

    var text: String {
      switch self {
      case .number(let number): String(number)
      case .text(let text): text
      }
    }
  }

  var testDescription: String { id }

  static let all: [SchemaVector] = {
    struct File: Decodable { var vectors: [SchemaVector] }
    let url = Bundle.module.url(
      forResource: "schema-vectors", withExtension: "json", subdirectory: "Fixtures")!
    return try! JSONDecoder().decode(File.self, from: Data(contentsOf: url)).vectors
  }()

  var schema: StoreSchema {
    StoreSchema(
      entities: entities.map { entity in
        StoreEntity(
          name: entity.name, parent: entity.parent, isAbstract: entity.isAbstract,
          attributes: entity.properties.compactMap(attribute),
          relationships: entity.properties.compactMap(relationship),
          uniquenessConstraints: entity.uniquenessConstraints,
          indexes: entity.fetchIndexes.map { index in
            StoreIndex(
              name: index.name,
              elements: index.elements.map { .init(property: $0.property, isAscending: $0.ascending) })
          })
      })
  }

  private func attribute(_ property: Property) -> StoreAttribute? {
    guard let type = property.attributeTypeName else { return nil }
    return StoreAttribute(
      name: property.name, type: StoreAttributeType(rawValue: type)!,
      isTransient: property.transient ?? false,
      allowsExternalStorage: property.allowsExternalBinaryDataStorage ?? false,
      elements: (property.elements ?? []).compactMap(attribute),
      derivation: property.derivation.map { derivation in
        // The only form in the vectors.
        precondition(derivation.text.hasPrefix("count:("))
        return .count(relationship: String(derivation.text.dropFirst("count:(".count).dropLast()))
      })
  }

  private func relationship(_ property: Property) -> StoreRelationship? {
    guard property.kind == "relationship" else { return nil }
    return StoreRelationship(
      name: property.name, destination: property.destination!, inverse: property.inverse,
      isToMany: property.maxCount != 1, isOrdered: property.ordered ?? false,
      isTransient: property.transient ?? false)
  }
}

@Suite("The tables of new stores are Core Data's")
struct SchemaVectorTests {
  /// White space inside `WHERE  X` and the like does not count in the vectors.
  private func collapsed(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Tables that either of two relationships of one entity may name.
  private let openNames = ["Z_1FAVORITES": "Z_1FAVORITEFOLDERS"]

  @Test("A store made from the model has the statements of Core Data's own", arguments: SchemaVector.all)
  func statements(vector: SchemaVector) throws {
    let scratch = Scratch()
    try SQLiteStore.file(scratch.file(), vector.schema).close()
    var ours: [String: String] = [:]
    for row in sql(scratch.file(), "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL") {
      ours[row[0]] = collapsed(row[1])
    }
    ours["Z_PRIMARYKEY"] = nil
    ours["Z_METADATA"] = nil
    var theirs: [String: String] = [:]
    for group in ["entityTables", "joinTables", "indexes", "triggers"] {
      for statement in vector.statements[group] ?? [] { theirs[statement.name] = statement.sql }
    }
    for (name, alternative) in openNames where ours[name] == nil && theirs[name] != nil {
      #expect(ours[alternative] != nil)
      ours = ours.filter { !$0.key.hasPrefix(alternative) }
      theirs = theirs.filter { !$0.key.hasPrefix(name) }
    }
    for name in Set(ours.keys).union(theirs.keys).sorted() {
      #expect(ours[name] == theirs[name], "\(name)")
    }
  }

  @Test("Entities are numbered as in Core Data's own", arguments: SchemaVector.all)
  func numbers(vector: SchemaVector) throws {
    let scratch = Scratch()
    try SQLiteStore.file(scratch.file(), vector.schema).close()
    let ours = sql(scratch.file(), "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1")
    let theirs = vector.primaryKey.map { $0.map(\.text) }.filter { Int($0[0])! < 16000 }
    #expect(ours == theirs.map { $0 + ["0"] })
  }

  @Test("A store with Core Data's own statements opens", arguments: SchemaVector.all)
  func openingTheirs(vector: SchemaVector) throws {
    let scratch = Scratch()
    // The bookkeeping comes from a store of ours, everything else from the vector.
    try SQLiteStore.file(scratch.file("Ours.sqlite"), vector.schema).close()
    var script = "PRAGMA journal_mode=WAL;"
    for group in ["entityTables", "joinTables", "indexes", "triggers", "history", "bookkeeping"] {
      for statement in vector.statements[group] ?? [] { script += statement.sql + ";" }
    }
    for row in vector.primaryKey {
      script += "INSERT INTO Z_PRIMARYKEY VALUES (\(row[0].text), '\(row[1].text)', \(row[2].text), 0);"
    }
    script +=
      "ATTACH '\(scratch.file("Ours.sqlite"))' AS ours;"
      + "INSERT INTO Z_METADATA SELECT * FROM ours.Z_METADATA;"
    _ = sql(scratch.file(), script)
    let hasHistory = vector.statements["history"]?.isEmpty == false
    let store = try SQLiteStore.file(scratch.file(), vector.schema) {
      $0.createsIfMissing = false
      $0.tracksHistory = hasHistory
    }
    #expect(!store.isReadOnly)
    for entity in store.schema.entities where entity.isRoot {
      #expect(try store.count(StoreQuery(entity: entity.index)) == 0)
      for property in entity.layout.properties where !property.isTransient {
        guard case .toMany = property.kind else { continue }
        let related = try store.related(
          entity: entity.index, slot: property.slot, owners: [1, 2], isKnown: nil)
        #expect(related.ranges == [0..<0, 0..<0])
      }
    }
    // Core Data's triggers run, too.
    for entity in store.schema.entities where !entity.source.isAbstract {
      var builder = RowBatchBuilder(layout: entity.layout)
      builder.beginRow(key: -1, version: 1)
      var transaction = StoreTransaction()
      transaction.inserted = [builder.finish()]
      let result = try store.commit(transaction)
      let key = result.permanentKey(for: -1, root: entity.root)
      #expect(try store.row(entity: entity.index, key: key)?.version == 1)
    }
    if hasHistory {
      let inserted = try store.history(StoreHistoryQuery()).flatMap(\.changes).filter { $0.kind == .inserted }
      #expect(inserted.count == store.schema.entities.filter { !$0.source.isAbstract }.count)
    }
    try store.close()
  }
}
