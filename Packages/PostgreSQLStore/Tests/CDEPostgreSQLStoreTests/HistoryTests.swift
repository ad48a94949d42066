#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer, .ownThreads) struct HistoryTests {
    let place = TestSchema()
    let store: PostgreSQLStore

    static let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Note",
        attributes: [
          StoreAttribute(name: "code", type: .uuid, preservesValueOnDeletion: true),
          StoreAttribute(name: "count", type: .integer64, preservesValueOnDeletion: true),
          StoreAttribute(name: "price", type: .decimal, preservesValueOnDeletion: true),
          StoreAttribute(name: "text", type: .string),
          StoreAttribute(name: "title", type: .string, preservesValueOnDeletion: true),
        ],
        relationships: [
          StoreRelationship(name: "labels", destination: "Label", inverse: "notes", isToMany: true)
        ]),
      StoreEntity(name: "Memo", parent: "Note", attributes: [StoreAttribute(name: "extra", type: .string)]),
      StoreEntity(
        name: "Label", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "notes", destination: "Note", inverse: "labels", isToMany: true)
        ]),
    ])

    @Test func `A deletion keeps the leaves of a composite`() throws {
      let visit = StoreEntity(
        name: "Visit",
        attributes: [
          StoreAttribute(
            name: "place", type: .composite, preservesValueOnDeletion: true,
            elements: [
              StoreAttribute(name: "latitude", type: .double), StoreAttribute(name: "title", type: .string),
            ])
        ])
      let other = TestSchema()
      var configuration = other.configuration()
      configuration.tracksHistory = true
      let store = try PostgreSQLStore(
        schema: StoreSchema(entities: [visit]), configuration: configuration)
      try store.insert(
        "Visit",
        [
          Draft(key: 1, values: ["place.title": .text("Rome"), "place.latitude": .real(41.9)]), Draft(key: 2),
        ])
      try store.commit { $0.deleted = [store.deletion("Visit", 1), store.deletion("Visit", 2)] }
      let changes = try #require(try store.history(StoreHistoryQuery(after: 1)).first).changes
      #expect(
        changes.map(\.compositeTombstone) == [
          [store.slot("Visit", "place"): [.real(41.9), .text("Rome")]], [:],
        ])
    }

    init() throws {
      var configuration = place.configuration()
      configuration.tracksHistory = true
      store = try PostgreSQLStore(schema: Self.schema, configuration: configuration)
    }

    private func changes(after number: Int64 = 0) throws -> [[String]] {
      try store.history(StoreHistoryQuery(after: number)).map { transaction in
        transaction.changes.map { change in
          let entity = store.schema.entities[change.entity]
          let properties = change.properties.map { set in
            " " + set.map { entity.layout.properties[$0].name }.sorted().joined(separator: ",")
          }
          return "\(change.kind) \(entity.source.name) \(change.key)" + (properties ?? "")
        }
      }
    }

    @Test func `Bits of another length stand for all stored properties`() throws {
      try store.commit { $0.inserted = [store.batch("Note", [Draft(key: -1)])] }
      try store.commit {
        $0.updated = [store.update("Note", [Draft(key: 1, version: 2, values: ["text": .text("x")])], "text")]
      }
      try place.connection().execute(
        #"UPDATE "ACHANGE" SET "ZCOLUMNS" = '\x808080' WHERE "ZCHANGETYPE" = 1"#,
        while: "Changing bits for a test")
      #expect(try changes(after: 1) == [["updated Note 1 code,count,labels,price,text,title"]])
    }

    @Test func `Each commit is recorded with its changes`() throws {
      let before = Date().timeIntervalSinceReferenceDate
      let result = try store.commit {
        $0.inserted = [store.batch("Note", [Draft(key: -1), Draft(key: -2)])]
        $0.author = "me"
        $0.contextName = "view"
      }
      #expect(result.historyNumber == 1)
      try store.commit {
        $0.updated = [
          store.update("Note", [Draft(key: 1, version: 2, values: ["text": .text("x")])], "text", "title")
        ]
      }
      try store.commit { $0.deleted = [store.deletion("Note", 2)] }
      #expect(
        try changes() == [
          ["inserted Note 1", "inserted Note 2"], ["updated Note 1 text,title"], ["deleted Note 2"],
        ])
      let transactions = try store.history(StoreHistoryQuery(includesChanges: false))
      #expect(transactions.map(\.number) == [1, 2, 3])
      #expect(transactions[0].author == "me" && transactions[0].contextName == "view")
      #expect(transactions[1].author == nil && transactions[1].contextName == nil)
      #expect(transactions[0].processName == ProcessInfo.processInfo.processName)
      #expect(
        transactions[0].timestamp >= before
          && transactions[0].timestamp <= Date().timeIntervalSinceReferenceDate)
      #expect(try store.history(StoreHistoryQuery()).flatMap(\.changes).map(\.number) == [1, 2, 3, 4])
    }

    @Test func `Queries take a part of the history`() throws {
      for _ in 0..<5 { try store.insert("Label", [Draft(key: -1)]) }
      func numbers(_ query: StoreHistoryQuery) throws -> [Int64] { try store.history(query).map(\.number) }
      #expect(try numbers(StoreHistoryQuery(after: 2)) == [3, 4, 5])
      #expect(try numbers(StoreHistoryQuery(after: 1, limit: 2)) == [2, 3])
      #expect(try numbers(StoreHistoryQuery(limit: 0)) == [])
      let third = try store.history(StoreHistoryQuery(after: 2, limit: 1))[0]
      #expect(try numbers(StoreHistoryQuery(since: third.timestamp)) == [4, 5])
      #expect(try store.historyExtent() == StoreHistoryExtent(first: 1, last: 5))
    }

    @Test func `Objects whose relationships change are recorded with their concrete entities`() throws {
      try store.commit {
        $0.inserted = [
          store.batch("Memo", [Draft(key: 10)]), store.batch("Note", [Draft(key: 11)]),
          store.batch("Label", [Draft(key: 5)]),
        ]
      }
      try store.commit {
        $0.links = [
          LinkChange(
            kind: .add, entity: store.index("Label"), slot: store.slot("Label", "notes"), owner: 5, member: 10
          )
        ]
        $0.touched = [
          StoreTouch(entity: store.index("Note"), key: 11, properties: [store.slot("Note", "labels")])
        ]
      }
      #expect(
        try Set(changes(after: 1)[0]) == [
          "updated Label 5 notes", "updated Memo 10 labels", "updated Note 11 labels",
        ])
    }

    @Test func `The preserved values of a deleted row are kept`() throws {
      let code = Array(UInt8(1)...16)
      try store.insert(
        "Note",
        [
          Draft(
            key: 1,
            values: [
              "title": .text("kept"), "text": .text("lost"), "count": .integer(-7), "code": .bytes(code),
              "price": .text("1.50"),
            ])
        ])
      try store.commit { $0.deleted = [store.deletion("Note", 1)] }
      let change = try #require(try store.history(StoreHistoryQuery(after: 1)).first?.changes.first)
      #expect(
        change.tombstone == [
          store.slot("Note", "title"): .text("kept"), store.slot("Note", "count"): .integer(-7),
          store.slot("Note", "code"): .blob(Data(code)), store.slot("Note", "price"): .text("1.5"),
        ])
    }

    @Test func `A refused commit leaves no gap in the numbers`() throws {
      try store.insert("Label", [Draft(key: 1)])
      #expect(
        failure { () throws(StoreError) in
          try store.commit { $0.deleted = [store.deletion("Label", 1, version: 9)] }
        } != nil)
      #expect(
        failure { () throws(StoreError) in
          try store.commit {
            $0.author = "a\0b"; $0.deleted = [store.deletion("Label", 1)]
          }
        }?.code == .invalidValue)
      #expect(try store.commit { $0.deleted = [store.deletion("Label", 1)] }.historyNumber == 2)
    }

    @Test func `A reader that goes on after the last number misses no commit of four stores`() throws {
      var configuration = place.configuration()
      configuration.tracksHistory = true
      let stores = try (0..<4).map { _ in
        try PostgreSQLStore(schema: Self.schema, configuration: configuration)
      }
      let running = Lock(4)
      let group = DispatchGroup()
      for store in stores {
        group.enter()
        Thread.detachNewThread {
          for _ in 0..<50 { _ = try? store.insert("Label", [Draft(key: -1), Draft(key: -2)]) }
          running.withLock { $0 -= 1 }
          group.leave()
        }
      }
      var seen: [StoreHistoryTransaction] = []
      var isLast = false
      while !isLast {
        isLast = running.withLock { $0 } == 0
        seen += try store.history(StoreHistoryQuery(after: seen.last?.number ?? 0))
      }
      group.wait()
      #expect(seen.map(\.number) == Array(1...200))
      #expect(Set(seen.flatMap(\.changes).map(\.key)) == Set(1...400))
      #expect(seen.flatMap(\.changes).map(\.number) == Array(1...400))
    }

    @Test func `A purge removes the oldest transactions, and their numbers are not used again`() throws {
      for _ in 0..<4 { try store.insert("Label", [Draft(key: -1)]) }
      #expect(try store.purgeHistory(.before(number: 3)) == 2)
      #expect(try store.historyExtent() == StoreHistoryExtent(first: 3, last: 4))
      #expect(try changes().count == 2)
      #expect(try store.purgeHistory(.beforeTime(.infinity)) == 2)
      #expect(try store.historyExtent() == StoreHistoryExtent(first: nil, last: 4))
      #expect(try store.purgeHistory(.before(number: 99)) == 0)
      #expect(try store.commit { $0.inserted = [store.batch("Label", [Draft(key: -1)])] }.historyNumber == 5)
    }

    @Test func `Without the option nothing is recorded`() throws {
      let store = try PostgreSQLStore(schema: Self.schema, configuration: place.configuration())
      #expect(!store.recordsHistory && self.store.recordsHistory)
      #expect(
        try store.commit { $0.inserted = [store.batch("Label", [Draft(key: -1)])] }.historyNumber == nil)
      #expect(try store.historyExtent() == nil)
      #expect(try self.store.historyExtent() == StoreHistoryExtent(first: nil, last: 0))
    }

    @Test func `A store with a history that is opened without the option can only be read`() throws {
      try store.insert("Label", [Draft(key: -1)])
      let other = try PostgreSQLStore(schema: Self.schema, configuration: place.configuration())
      #expect(other.isReadOnly)
      let error = failure { () throws(StoreError) in try other.insert("Label", [Draft(key: -1)]) }
      #expect(error?.code == .readOnly)
      #expect(error?.message.contains("NSPersistentHistoryTrackingKey") == true)
      #expect(try other.historyExtent()?.last == 1)
    }

    @Test func `Changes of entities that the schema lacks are left out`() throws {
      try store.insert("Label", [Draft(key: 1)])
      try place.connection().execute(#"UPDATE "ACHANGE" SET "ZENTITY" = 99"#, while: "Testing")
      #expect(try changes() == [[]])
    }

    @Test func `Seven thousand changes are recorded in their order`() throws {
      let keys = try store.insert("Label", (1...7000).map { Draft(key: -$0) })
      let found = try store.history(StoreHistoryQuery())[0].changes
      #expect(found.map(\.key) == keys)
      #expect(found.map(\.number) == Array(1...7000))
    }
  }
#endif
