#if PostgreSQL
  @_spi(CDE) import CDESQLiteFaults
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Each kind of change, carried out by both engines on the same rows.
  @Suite(.needsServer) struct MigrationKindTests {
    private let world = MigrationWorld()

    private func string(_ name: String, optional: Bool = true) -> StoreAttribute {
      StoreAttribute(name: name, type: .string, isOptional: optional)
    }

    private func integer(_ name: String, _ type: StoreAttributeType = .integer64) -> StoreAttribute {
      StoreAttribute(name: name, type: type)
    }

    private func link(
      _ name: String, _ destination: String, _ inverse: String?, many: Bool, ordered: Bool = false
    ) -> StoreRelationship {
      StoreRelationship(
        name: name, destination: destination, inverse: inverse, isToMany: many, isOrdered: ordered)
    }

    /// Makes three rows of an entity in both stores, with values that depend on their number.
    private func fill(
      _ entity: String, _ values: (Int64) -> [String: Draft.Value], in schema: ResolvedSchema
    ) throws {
      try world.fill(schema) { store in
        try store.insert(entity, (1...3).map { Draft(key: -$0, version: 1, values: values($0)) })
      }
    }

    // MARK: Attributes

    @Test func `A renamed entity and a renamed attribute keep their rows and values`() throws {
      let change = try SchemaChange(
        [StoreEntity(name: "Book", attributes: [string("title"), integer("pages")])],
        [StoreEntity(name: "Tome", attributes: [string("name"), integer("pages")])],
        entities: ["Tome": "Book"], properties: ["Tome.name": "title"])
      try fill("Book", { ["title": .text("t\($0)"), "pages": .integer($0)] }, in: change.old)
      try world.expectAgreement(change)
      let store = try world.openServer(change.new)
      #expect(try store.describe("Tome", 2)?["name"] == "t2")
      #expect(try store.insert("Tome", [Draft(key: -1)]) == [4])
    }

    @Test func `New attributes have their default values in each type, and removed ones are gone`() throws {
      let id = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
      let bytes = withUnsafeBytes(of: id.uuid) { Data($0) }
      let new: [(StoreAttribute, StoreValue)] = [
        (integer("a"), .integer(-5)), (StoreAttribute(name: "b", type: .boolean), .integer(1)),
        (StoreAttribute(name: "c", type: .double), .real(0.5)),
        (StoreAttribute(name: "d", type: .decimal), .text("12.75")),
        (string("e"), .text("it's \"quoted\" ? $1 \\ ü")),
        (StoreAttribute(name: "f", type: .uuid), .blob(bytes)),
        (StoreAttribute(name: "g", type: .binary), .blob(Data([0, 1, 255]))),
        (StoreAttribute(name: "h", type: .date), .real(7.25)),
        (StoreAttribute(name: "i", type: .uri), .text("https://example.org/?a=1")), (string("j"), .null),
      ]
      let change = try SchemaChange(
        [StoreEntity(name: "Book", attributes: [string("title"), integer("pages")])],
        [StoreEntity(name: "Book", attributes: [string("title")] + new.map(\.0))],
        defaults: Dictionary(uniqueKeysWithValues: new.map { ("Book.\($0.name)", [$1]) }))
      try fill("Book", { ["title": .text("t\($0)"), "pages": .integer($0)] }, in: change.old)
      try world.expectAgreement(change)
    }

    @Test func `Values take each wider type that has a place for them`() throws {
      typealias Kind = StoreAttributeType
      let cases: [(Kind, Kind, Draft.Value)] = [
        (.boolean, .integer16, .integer(1)), (.boolean, .integer64, .integer(1)),
        (.boolean, .float, .integer(1)),
        (.boolean, .double, .integer(1)), (.boolean, .decimal, .integer(1)),
        (.integer16, .integer32, .integer(-3)),
        (.integer16, .double, .integer(-3)), (.integer16, .decimal, .integer(-3)),
        (.integer16, .float, .integer(9)),
        (.integer32, .integer64, .integer(70_000)), (.integer32, .decimal, .integer(70_000)),
        (.integer64, .decimal, .integer(1 << 40)), (.float, .double, .real(0.25)),
        (.float, .decimal, .real(0.25)),
        (.double, .decimal, .real(1234.5625)), (.uri, .string, .text("https://example.org")),
      ]
      let names = cases.indices.map { "a\($0)" }
      let change = try SchemaChange(
        [StoreEntity(name: "Thing", attributes: zip(names, cases).map { .init(name: $0, type: $1.0) })],
        [StoreEntity(name: "Thing", attributes: zip(names, cases).map { .init(name: $0, type: $1.1) })])
      let values = Dictionary(uniqueKeysWithValues: zip(names, cases.map(\.2)))
      try fill("Thing", { $0 == 3 ? [:] : values }, in: change.old)
      try world.expectAgreement(change)
    }

    @Test func `A required attribute gets its default where a row has no value`() throws {
      let change = try SchemaChange(
        [
          StoreEntity(
            name: "Book", attributes: [string("title"), StoreAttribute(name: "sold", type: .boolean)])
        ],
        [
          StoreEntity(
            name: "Book",
            attributes: [
              string("title", optional: false),
              StoreAttribute(name: "sold", type: .boolean, isOptional: false),
            ])
        ], defaults: ["Book.title": [.text("none")], "Book.sold": [.integer(0)]])
      try fill("Book", { $0 == 2 ? [:] : ["title": .text("t\($0)"), "sold": .integer(1)] }, in: change.old)
      try world.expectAgreement(change)
    }

    @Test func `Composites keep the values of their leaves by their paths`() throws {
      func place(_ leaves: StoreAttribute...) -> StoreAttribute {
        StoreAttribute(name: "place", type: .composite, elements: leaves)
      }
      let change = try SchemaChange(
        [
          StoreEntity(
            name: "Shop", attributes: [place(string("city"), StoreAttribute(name: "x", type: .float))])
        ],
        [
          StoreEntity(
            name: "Shop",
            attributes: [place(StoreAttribute(name: "x", type: .double), string("street"), string("city"))])
        ], defaults: ["Shop.place": [.null, .text("?"), .null]])
      try fill("Shop", { ["place.city": .text("c\($0)"), "place.x": .real(Double($0))] }, in: change.old)
      try world.expectAgreement(change)
    }

    @Test func `Values get the head byte of external storage, and lose it`() throws {
      func data(_ name: String, external: Bool) -> StoreAttribute {
        StoreAttribute(name: name, type: .binary, allowsExternalStorage: external)
      }
      let change = try SchemaChange(
        [
          StoreEntity(
            name: "Photo", attributes: [data("small", external: false), data("large", external: true)])
        ],
        [
          StoreEntity(
            name: "Photo", attributes: [data("small", external: true), data("large", external: false)])
        ])
      try fill(
        "Photo", { $0 == 3 ? [:] : ["small": .bytes([1, 2, UInt8($0)]), "large": .bytes([1, 2, 3])] },
        in: change.old)
      try world.expectAgreement(change)
      let store = try world.openServer(change.new)
      let row = try store.describe("Photo", 2)
      #expect(row?["small"] == "1 1 2 2" && row?["large"] == "2 3")
    }

    @Test func `Derived attributes of a row are computed in this process, as on SQLite`() throws {
      func derived(_ name: String, _ derivation: StoreDerivation) -> StoreAttribute {
        StoreAttribute(name: name, type: .string, derivation: derivation)
      }
      let change = try SchemaChange(
        [StoreEntity(name: "Word", attributes: [string("text")])],
        [
          StoreEntity(
            name: "Word",
            attributes: [
              string("text"), derived("folded", .canonical("text")), derived("low", .lowercase("text")),
              derived("high", .uppercase("text")),
            ])
        ])
      let texts = ["Straße ÉCOLE", "İstanbul ŒUVRE ﬁ", ""]
      try fill("Word", { $0 == 3 ? [:] : ["text": .text(texts[Int($0) - 1])] }, in: change.old)
      try world.expectAgreement(change)
      let store = try world.openServer(change.new)
      #expect(try store.describe("Word", 1)?["high"] == "STRASSE ÉCOLE")
    }

    @Test func `Attributes that are derived from other rows are computed for all rows, as on SQLite`() throws
    {
      func entities(_ derived: [StoreAttribute], _ copies: [StoreAttribute]) -> [StoreEntity] {
        [
          StoreEntity(
            name: "Shelf", attributes: [string("name")] + derived,
            relationships: [
              link("books", "Book", "shelf", many: true), link("tags", "Tag", "shelves", many: true),
            ]),
          StoreEntity(
            name: "Book", attributes: [integer("pages")] + copies,
            relationships: [link("shelf", "Shelf", "books", many: false)]),
          StoreEntity(
            name: "Tag", attributes: [integer("weight")],
            relationships: [link("shelves", "Shelf", "tags", many: true)]),
        ]
      }
      func derived(_ name: String, _ derivation: StoreDerivation) -> StoreAttribute {
        StoreAttribute(
          name: name, type: name == "shelfName" ? .string : .integer64, derivation: derivation)
      }
      let change = try SchemaChange(
        entities([], []),
        entities(
          [
            derived("count", .count(relationship: "books")),
            derived("pages", .sum(relationship: "books", attribute: "pages")),
            derived("weight", .sum(relationship: "tags", attribute: "weight")),
          ], [derived("shelfName", .copy(relationship: "shelf", attribute: "name"))]))
      try world.fill(change.old) { store in
        try store.insert("Shelf", (1...3).map { Draft(key: -$0, values: ["name": .text("s\($0)")]) })
        try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["weight": .integer($0)]) })
        try store.insert(
          "Book",
          (1...5).map { Draft(key: -$0, values: ["pages": .integer($0)], references: ["shelf": $0 / 3 + 1]) })
        try store.commit { transaction in
          transaction.links = [(1, 1), (1, 3), (2, 3)].map {
            LinkChange(
              kind: .add, entity: store.index("Shelf"), slot: store.slot("Shelf", "tags"), owner: $0,
              member: $1)
          }
        }
      }
      try world.expectAgreement(change)
      let store = try world.openServer(change.new)
      let row = try store.describe("Shelf", 2)
      #expect(row?["count"] == "3" && row?["pages"] == "12" && row?["weight"] == "3")
      #expect(try store.describe("Book", 5)?["shelfName"] == "s2")
    }

    // MARK: Entities

    @Test func `Added and removed entities change the numbers of the others, and the keys go on`() throws {
      let change = try SchemaChange(
        [
          StoreEntity(name: "Book", attributes: [string("title")]), StoreEntity(name: "Card"),
          StoreEntity(name: "Zoo"),
        ],
        [
          StoreEntity(name: "Author"), StoreEntity(name: "Book", attributes: [string("title")]),
          StoreEntity(name: "Zoo"),
        ])
      try world.fill(change.old) { store in
        for entity in ["Book", "Card", "Zoo"] { try store.insert(entity, (1...3).map { Draft(key: -$0) }) }
      }
      try world.expectAgreement(change)
      let store = try world.openServer(change.new)
      #expect(try store.insert("Zoo", [Draft(key: -1)]) == [4])
      #expect(try store.insert("Author", [Draft(key: -1)]) == [1])
    }

    @Test func `Two roots that get a common parent come into one table, and references follow them`() throws {
      func entities(_ parent: String?) -> [StoreEntity] {
        [
          StoreEntity(
            name: "Cat", parent: parent, attributes: [string("name")],
            relationships: [link("friend", "Dog", "friends", many: false)]),
          StoreEntity(
            name: "Dog", parent: parent, attributes: [string("tag")],
            relationships: [link("friends", "Cat", "friend", many: true)]),
        ]
      }
      let change = try SchemaChange(
        entities(nil), entities("Animal") + [StoreEntity(name: "Animal", isAbstract: true)])
      try world.fill(change.old) { store in
        try store.insert("Dog", (1...2).map { Draft(key: -$0, values: ["tag": .text("d\($0)")]) })
        try store.insert(
          "Cat",
          (1...3).map {
            Draft(key: -$0, values: ["name": .text("c\($0)")], references: ["friend": 1 + $0 % 2])
          })
      }
      try world.expectAgreement(change)
      // And apart again.
      let back = try SchemaChange(
        entities("Animal") + [StoreEntity(name: "Animal", isAbstract: true)], entities(nil))
      try world.expectAgreement(back)
    }

    @Test func `An attribute that moves to the parent keeps its values`() throws {
      let change = try SchemaChange(
        [
          StoreEntity(name: "Base", attributes: [integer("n")]),
          StoreEntity(name: "Leaf", parent: "Base", attributes: [string("title")]),
        ],
        [
          StoreEntity(name: "Base", attributes: [integer("n"), string("title")]),
          StoreEntity(name: "Leaf", parent: "Base"),
          StoreEntity(name: "Twig", parent: "Leaf", attributes: [integer("m")]),
        ], defaults: ["Base.title": [.text("none")]])
      try world.fill(change.old) { store in
        try store.insert("Base", [Draft(key: -1, values: ["n": .integer(1)])])
        try store.insert("Leaf", [Draft(key: -1, values: ["n": .integer(2), "title": .text("t")])])
      }
      try world.expectAgreement(change)
    }

    // MARK: Relationships

    /// Authors and books, as one of the kinds of relationships.
    private func library(many: (Bool, Bool), ordered: (Bool, Bool) = (false, false), inverse: Bool = true)
      -> [StoreEntity]
    {
      [
        StoreEntity(
          name: "Author", attributes: [string("name")],
          relationships: [link("books", "Book", inverse ? "author" : nil, many: many.0, ordered: ordered.0)]),
        StoreEntity(
          name: "Book", attributes: [string("title")],
          relationships: inverse ? [link("author", "Author", "books", many: many.1, ordered: ordered.1)] : []),
      ]
    }

    /// Two authors and four books. Each book has one author.
    private func fillLibrary(_ schema: ResolvedSchema, in world: MigrationWorld) throws {
      try world.fill(schema) { store in
        try store.insert("Author", (1...2).map { Draft(key: -$0, values: ["name": .text("a\($0)")]) })
        let books = store.schema.entity(named: "Book")!
        let property = books.layout.property(named: "author")
        var isToOne = false
        if case .toOne? = property?.kind { isToOne = true }
        try store.insert(
          "Book",
          (Int64(1)...4).map { number in
            var draft = Draft(key: -number, values: ["title": .text("b\(number)")])
            if isToOne {
              draft.references["author"] = 1 + number % 2
              draft.orders["author"] = 5000 - 1000 * number
            }
            return draft
          })
        if isToOne { return }
        let author = store.schema.entity(named: "Author")!
        let slot = store.slot("Author", "books")
        if case .toOne = author.layout.properties[slot].kind { return }
        try store.commit { transaction in
          transaction.links = (Int64(1)...4).map {
            LinkChange(
              kind: .add, entity: author.index, slot: slot, owner: 1 + $0 % 2, member: $0,
              order: 9000 - 1000 * $0)
          }
        }
      }
    }

    @Test func `Each kind of relationship becomes each other one that has a place for its pairs`() throws {
      struct Kind {
        var many: (Bool, Bool)
        var ordered: (Bool, Bool) = (false, false)
        var inverse = true
      }
      let kinds = [
        Kind(many: (true, false)), Kind(many: (true, false), ordered: (true, false)),
        Kind(many: (true, true)),
        Kind(many: (true, true), ordered: (true, true)), Kind(many: (true, true), ordered: (true, false)),
        Kind(many: (true, false), inverse: false),
        Kind(many: (true, false), ordered: (true, false), inverse: false),
      ]
      let pairs = kinds.flatMap { before in kinds.map { (before, $0) } }
      for (before, after) in pairs.drawn(oneOf: 4) {
        let world = MigrationWorld()
        let change = try SchemaChange(
          library(many: before.many, ordered: before.ordered, inverse: before.inverse),
          library(many: after.many, ordered: after.ordered, inverse: after.inverse))
        try fillLibrary(change.old, in: world)
        try world.expectAgreement(change)
      }
    }

    @Test func `A relationship that leads to several objects can't become to-one`() throws {
      let change = try SchemaChange(library(many: (true, true)), library(many: (false, true)))
      try fillLibrary(change.old, in: world)
      let before = try world.contents()
      let found = failure { () throws(StoreError) in try world.migrateServer(change) }
      let wanted = failure { () throws(StoreError) in try world.migrateFile(change) }
      #expect(found?.code == .migration)
      #expect(found?.message == wanted?.message && found?.obstacles == wanted?.obstacles)
      #expect(try world.contents() == before)
    }

    @Test func `Relationships to removed entities are gone, and so are their pairs`() throws {
      let old = library(many: (true, true)) + [StoreEntity(name: "Essay", parent: "Book")]
      let change = try SchemaChange(old, library(many: (true, true)))
      try fillLibrary(change.old, in: world)
      try world.fill(change.old) { store in
        try store.insert("Essay", [Draft(key: -1)])
        try store.commit {
          $0.links = [
            LinkChange(
              kind: .add, entity: store.index("Author"), slot: store.slot("Author", "books"), owner: 1,
              member: 5)
          ]
        }
      }
      try world.expectAgreement(change)
    }

    @Test func `A relationship that is its own inverse keeps its pairs`() throws {
      func person(_ name: String) -> [StoreEntity] {
        [StoreEntity(name: "Person", relationships: [link(name, "Person", name, many: true)])]
      }
      let change = try SchemaChange(
        person("friends"), person("peers"), properties: ["Person.peers": "friends"])
      try world.fill(change.old) { store in
        try store.insert("Person", (1...4).map { Draft(key: -$0) })
        try store.commit {
          $0.links = [(1, 2), (1, 3), (4, 2)].map {
            LinkChange(
              kind: .add, entity: store.index("Person"), slot: store.slot("Person", "friends"), owner: $0,
              member: $1)
          }
        }
      }
      try world.expectAgreement(change)
    }

    // MARK: Constraints and indexes

    @Test func `Constraints and indexes come and go, also on tables that stay`() throws {
      func book(_ constraints: [[String]], _ indexes: [String]) -> [StoreEntity] {
        [
          StoreEntity(
            name: "Book", attributes: [string("title"), integer("pages")], uniquenessConstraints: constraints,
            indexes: indexes.map { StoreIndex(name: "by_\($0)", elements: [.init(property: $0)]) })
        ]
      }
      let change = try SchemaChange(book([["title"]], ["pages"]), book([["pages", "title"]], ["title"]))
      try fill("Book", { ["title": .text("t\($0)"), "pages": .integer($0)] }, in: change.old)
      let oid = try world.place.connection().texts("SELECT '\"ZBOOK\"'::regclass::oid::text")
      try world.expectAgreement(change)
      #expect(try world.place.connection().texts("SELECT '\"ZBOOK\"'::regclass::oid::text") == oid)
      let store = try world.openServer(change.new)
      let error = failure { () throws(StoreError) in
        try store.insert("Book", [Draft(key: -1, values: ["title": .text("t1"), "pages": .integer(1)])])
      }
      #expect(error?.code == .uniqueness)
    }

    @Test func `Values that are not unique are obstacles, as on SQLite`() throws {
      let change = try SchemaChange(
        [StoreEntity(name: "Book", attributes: [string("title"), integer("pages")])],
        [
          StoreEntity(
            name: "Book", attributes: [string("title", optional: false), integer("pages")],
            uniquenessConstraints: [["pages"]])
        ])
      try fill("Book", { $0 == 2 ? [:] : ["title": .text("t"), "pages": .integer(7)] }, in: change.old)
      let before = try world.contents()
      let found = failure { () throws(StoreError) in try world.migrateServer(change) }
      let wanted = failure { () throws(StoreError) in try world.migrateFile(change) }
      #expect(found?.obstacles.map(\.kind) == [.missingValues, .duplicateValues])
      #expect(found?.obstacles == wanted?.obstacles)
      #expect(try world.contents() == before)
      let survey = try world.migratable.survey(
        change.migration, from: change.old, to: change.new, entities: Set(change.new.entities.indices))
      #expect(survey.obstacles == wanted?.obstacles && survey.rows == ["Book": 3])
      #expect(survey.fileBytes > 0)
    }
  }
#endif
