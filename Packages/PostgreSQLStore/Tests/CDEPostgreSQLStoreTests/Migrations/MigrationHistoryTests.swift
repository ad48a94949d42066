#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// The history of a migrated store.
  @Suite(.needsServer) struct MigrationHistoryTests {
    @Test func `Changes keep their objects and properties under their new names, as on SQLite`() throws {
      var world = MigrationWorld()
      world.history = true
      func attribute(_ name: String, kept: Bool = false) -> StoreAttribute {
        StoreAttribute(name: name, type: .string, preservesValueOnDeletion: kept)
      }
      let change = try SchemaChange(
        [
          StoreEntity(name: "Book", attributes: [attribute("title", kept: true), attribute("note")]),
          StoreEntity(name: "Card", attributes: [attribute("text")]),
          StoreEntity(name: "Zoo", attributes: [attribute("a"), attribute("b")]),
        ],
        [
          StoreEntity(name: "Album", attributes: [attribute("x")]),
          StoreEntity(
            name: "Tome",
            attributes: [attribute("added"), attribute("title", kept: true), attribute("remark")]),
          StoreEntity(name: "Zoo", attributes: [attribute("b")]),
        ], entities: ["Tome": "Book"], properties: ["Tome.remark": "note"])
      try world.fill(change.old) { store in
        for entity in ["Book", "Card", "Zoo"] { try store.insert(entity, (1...3).map { Draft(key: -$0) }) }
        try store.commit {
          $0.updated = [
            store.update("Book", [Draft(key: 1, version: 2, values: ["note": .text("n")])], "note"),
            store.update(
              "Zoo", [Draft(key: 2, version: 2, values: ["a": .text("a"), "b": .text("b")])], "a", "b"),
            store.update("Card", [Draft(key: 2, version: 2, values: ["text": .text("c")])], "text"),
          ]
        }
        try store.commit {
          $0.updated = [
            store.update("Book", [Draft(key: 2, version: 2, values: ["title": .text("old")])], "title")
          ]
        }
        try store.commit { $0.deleted = [store.deletion("Book", 2, version: 2), store.deletion("Card", 1)] }
      }
      try world.expectAgreement(change)
      let (server, file) = (try world.openServer(change.new), try world.openFile(change.new))
      let found = try Self.changes(server)
      #expect(try found == Self.changes(file))
      #expect(found.contains { $0.contains("Tome 2 [\"title\"]") })
      #expect(!found.contains { $0.contains("Card") })
      // And it goes on after the last number.
      try server.insert("Album", [Draft(key: -1)])
      #expect(try server.historyExtent()?.last == 7)
    }

    private static func changes(_ store: any Store) throws -> [String] {
      try store.history(StoreHistoryQuery(after: 0)).flatMap { transaction in
        transaction.changes.map { change in
          let entity = store.schema.entities[change.entity]
          let names = change.properties?.map { entity.layout.properties[$0].name } ?? []
          let tombstone = change.tombstone.map { "\(entity.layout.properties[$0].name)=\($1)" }.sorted()
          return
            "\(transaction.number) \(change.kind) \(entity.source.name) \(change.key) \(names) \(tombstone)"
        }
      }
    }
  }
#endif
