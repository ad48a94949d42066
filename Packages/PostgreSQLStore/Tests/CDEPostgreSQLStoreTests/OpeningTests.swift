#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer, .ownThreads) struct OpeningTests {
    let place = TestSchema()

    private func open(
      _ schema: StoreSchema = Shop.schema, _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
    ) throws(StoreError) -> PostgreSQLStore {
      var configuration = place.configuration()
      change(&configuration)
      return try PostgreSQLStore(schema: schema, configuration: configuration)
    }

    private func schema(_ entities: StoreEntity...) -> StoreSchema { StoreSchema(entities: entities) }

    private func columns(_ table: String) throws -> [String] {
      try place.connection().texts(
        """
        SELECT a.attname || ' ' || format_type(atttypid, NULL) || coalesce(' ' || l.collname, '') FROM pg_attribute a \
        LEFT JOIN pg_collation l ON l.oid = attcollation AND l.collname <> 'default' \
        WHERE attrelid = '\(quoted(table))'::regclass AND attnum > 0 ORDER BY attnum
        """)
    }

    @Test func `Tables have Core Data's names and the server's types`() throws {
      _ = try open()
      #expect(
        try columns("ZITEM") == [
          "Z_PK bigint", "Z_ENT bigint", "Z_OPT bigint", "ZBIG bigint", "ZFLAG boolean", "ZSMALL bigint",
          "ZCATEGORY bigint", "Z1FEATURED bigint", "Z_FOK_CATEGORY bigint", "Z_FOK_1FEATURED bigint",
          "ZLATITUDE double precision", "ZRATIO double precision", "ZTHIN double precision",
          "ZWHEN double precision",
          "ZPRICE numeric", "ZTITLE text C", "ZTITLE1 text C", "ZEXTRA text C", "ZLINK text C", "ZUID uuid",
          "ZFORM bytea",
          "ZPAYLOAD bytea", "ZPHOTO bytea",
        ])
      #expect(try columns("Z_2TAGS") == ["Z_2ITEMS bigint", "Z_5TAGS bigint", "Z_FOK_2ITEMS bigint"])
      #expect(
        try place.connection().texts(
          #"SELECT "Z_ENT" || ' ' || "Z_NAME" || ' ' || "Z_SUPER" || ' ' || "Z_MAX" FROM "Z_PRIMARYKEY" ORDER BY "Z_ENT""#
        )
          == ["1 Category 0 0", "2 Item 0 0", "3 SpecialItem 2 0", "4 Owner 0 0", "5 Tag 0 0"])
    }

    @Test(arguments: ["Tenant", "Ten ant", "Ten.ant", "Ténant\"'", "select"])
    func `The name of the server's schema may have capital letters, blanks and points`(start: String) throws {
      let name = "\(start) \(place.name.suffix(20))"
      // An unquoted name would be that of this schema, which has other tables.
      let other = name.lowercased()
      let first = schema(
        StoreEntity(name: "Item", attributes: [StoreAttribute(name: "other", type: .string)]))
      defer {
        for name in [name, other] {
          try? place.connection().execute(
            "DROP SCHEMA IF EXISTS \(quoted(name)) CASCADE", while: "Removing the test's schema")
        }
      }
      if other != name { try open(first) { $0.schema = other }.close() }
      for _ in 1...2 { try open { $0.schema = name }.close() }
      let error = failure { () throws(StoreError) in try open(first) { $0.schema = name }.close() }
      #expect(error?.code == .incompatibleSchema)
      if other != name { try open(first) { $0.schema = other }.close() }
    }

    @Test func `A role whose server quotes all names opens a store`() throws {
      for _ in 1...2 {
        try open { configuration in
          let separator = configuration.url.contains("?") ? "&" : "?"
          configuration.url += "\(separator)options=-c%20quote_all_identifiers%3Don"
        }.close()
      }
    }

    @Test func `An index on the entity of a row is one on its number`() throws {
      _ = try open(
        schema(
          StoreEntity(
            name: "Face", attributes: [StoreAttribute(name: "name", type: .string)],
            indexes: [
              StoreIndex(name: "kind", elements: [.init(property: "entity"), .init(property: "name")])
            ])))
      let found = try place.connection().texts(
        "SELECT replace(indexdef, '\"', '') FROM pg_indexes WHERE schemaname = current_schema() "
          + "AND indexname = 'Z_Face_kind'")
      #expect(found.count == 1)
      #expect(found.first?.hasSuffix("(Z_ENT NULLS FIRST, ZNAME NULLS FIRST)") == true)
    }

    @Test func `Relationships, indexes and constraints have their indexes`() throws {
      _ = try open()
      let found = try place.connection().texts(
        """
        SELECT replace(regexp_replace(indexdef, '^CREATE (UNIQUE )?INDEX (.*) ON .*USING btree', '\\1\\2'), '"', '') \
        FROM pg_indexes WHERE schemaname = current_schema() AND tablename IN ('ZITEM', 'ZCATEGORY', 'Z_2TAGS') ORDER BY 1
        """)
      #expect(
        Set(found) == [
          "UNIQUE ZITEM_PKEY (Z_PK)", "UNIQUE ZCATEGORY_PKEY (Z_PK)",
          "UNIQUE Z_2TAGS_pkey (Z_2ITEMS, Z_5TAGS)",
          "UNIQUE Z_Category_UNIQUE_name_code (ZNAME, ZCODE)", "ZCATEGORY_ZPARENT_INDEX (ZPARENT)",
          "ZITEM_ZCATEGORY_INDEX (ZCATEGORY)", "ZITEM_Z1FEATURED_INDEX (Z1FEATURED)",
          "ZITEM_Z_ENT_INDEX (Z_ENT)",
          "Z_Item_byTitle (ZTITLE1 NULLS FIRST)", "Z_2TAGS_Z_5TAGS_INDEX (Z_5TAGS, Z_2ITEMS)",
        ])
      #expect(
        try place.connection().texts(
          "SELECT conname::text FROM pg_constraint WHERE condeferred AND connamespace = "
            + "current_schema()::regnamespace") == ["Z_Category_UNIQUE_name_code"])
    }

    @Test func `Eight callers open a new store at once, and one of them creates it`() throws {
      for _ in 0..<5 {
        let place = TestSchema()
        let results = Lock<[Result<String, StoreError>]>([])
        let start = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        let configuration = place.configuration()
        for _ in 0..<8 {
          group.enter()
          Thread.detachNewThread {
            start.wait()
            let result: Result<String, StoreError>
            do throws(StoreError) {
              result = .success(
                try PostgreSQLStore(schema: Shop.schema, configuration: configuration).identifier)
            } catch { result = .failure(error) }
            results.withLock { $0.append(result) }
            group.leave()
          }
        }
        for _ in 0..<8 { start.signal() }
        group.wait()
        let identifiers = try results.withLock { $0 }.map { try $0.get() }
        #expect(Set(identifiers).count == 1)
        #expect(identifiers.count == 8)
        #expect(try place.connection().integer(#"SELECT count(*) FROM "Z_METADATA""#) == 1)
      }
    }

    @Test func `A failed creation leaves nothing`() throws {
      let connection = try place.connection()
      try connection.execute(
        "CREATE SCHEMA \(quoted(place.name)); CREATE TABLE \"ZTAG\" (a int)", while: "Testing")
      let error = failure { () throws(StoreError) in _ = try open() }
      #expect(error?.engineCode == ServerError.number(of: "42P07"))
      #expect(
        try connection.texts(
          "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace")
          == ["ZTAG"])
    }

    @Test func `Names that differ after the server's limit stay apart`() throws {
      let stem = String(repeating: "ä", count: 40)
      let entity = { (name: String) in
        StoreEntity(
          name: stem + name,
          attributes: [
            StoreAttribute(name: stem + "one", type: .string),
            StoreAttribute(name: stem + "two", type: .integer64),
          ], uniquenessConstraints: [[stem + "one"], [stem + "two"]])
      }
      let schema = schema(entity("A"), entity("B"))
      let first = try open(schema)
      let names = first.physical.tables.values.flatMap { [$0.name] + $0.columns.map(\.name) }
      #expect(Set(names).count == 4)
      #expect(names.allSatisfy { $0.utf8.count <= 63 && $0.hasPrefix("ZÄÄÄÄ") })
      #expect(try open(schema).identifier == first.identifier)
      let draft = { (key: Int64) in Draft(key: key, values: [stem + "two": .integer(7)]) }
      let error = failure { () throws(StoreError) in try first.insert(stem + "B", [draft(-1), draft(-2)]) }
      #expect(error?.code == .uniqueness)
      #expect(error?.entity == stem + "B" && error?.properties == [stem + "two"])
    }

    @Test func `Names may contain quotes and statements`() throws {
      let schema = schema(
        StoreEntity(
          name: #"x" (a int); DROP SCHEMA public; --"#,
          attributes: [StoreAttribute(name: #"ü"; ' \ $1"#, type: .string)],
          uniquenessConstraints: [[#"ü"; ' \ $1"#]]))
      let first = try open(schema)
      #expect(try open(schema).identifier == first.identifier)
      #expect(try columns(#"ZX" (A INT); DROP SCHEMA PUBLIC; --"#).last == #"ZÜ"; ' \ $1 text C"#)
    }

    @Test func `A store of another schema is refused with the difference`() throws {
      let book = StoreEntity(name: "Book", attributes: [StoreAttribute(name: "title", type: .string)])
      _ = try open(schema(book))
      var changed = book
      changed.attributes.append(StoreAttribute(name: "pages", type: .integer32))
      var error = failure { () throws(StoreError) in _ = try open(schema(changed)) }
      #expect(error?.code == .incompatibleSchema && error?.properties == ["pages"])
      changed.attributes = [StoreAttribute(name: "title", type: .double)]
      error = failure { () throws(StoreError) in _ = try open(schema(changed)) }
      #expect(error?.code == .incompatibleSchema && error?.message.contains("double precision") == true)
      error = failure { () throws(StoreError) in _ = try open(schema(book, StoreEntity(name: "Author"))) }
      #expect(error?.code == .incompatibleSchema && error?.entity == "Author")
    }

    @Test func `Other version hashes are another schema`() throws {
      var book = StoreEntity(name: "Book", versionHash: Array(repeating: 1, count: 32))
      _ = try open(schema(book))
      _ = try open(schema(book))
      book.versionHash[0] = 2
      #expect(failure { () throws(StoreError) in _ = try open(schema(book)) }?.code == .incompatibleSchema)
    }

    @Test func `A missing store is not created against the caller's will`() throws {
      #expect(
        failure { () throws(StoreError) in _ = try open { $0.createsIfMissing = false } }?.code == .cannotOpen
      )
      #expect(failure { () throws(StoreError) in _ = try open { $0.isReadOnly = true } }?.code == .cannotOpen)
      #expect(
        try place.connection().integer("SELECT count(*) FROM pg_namespace WHERE nspname = '\(place.name)'")
          == 0)
    }

    @Test func `A store that is opened for reading refuses to write`() throws {
      _ = try open()
      let store = try open { $0.isReadOnly = true }
      #expect(failure { () throws(StoreError) in try store.setMetadata(StoreMetadata()) }?.code == .readOnly)
      let error = failure { () throws(StoreError) in
        try store.pool.withConnection { (connection) throws(StoreError) in
          try connection.execute(#"DELETE FROM "Z_METADATA""#, while: "Testing")
        }
      }
      #expect(error?.code == .readOnly)
    }

    @Test func `A role without rights gets a typed error`() throws {
      let connection = try place.connection()
      let role = "role_" + place.name
      try connection.execute("CREATE ROLE \(role) LOGIN", while: "Testing")
      defer { try? connection.execute("DROP ROLE \(role)", while: "Testing") }
      let error = failure { () throws(StoreError) in _ = try open { $0.url += "&user=\(role)" } }
      #expect(error?.code == .readOnly)
      #expect(error?.engineCode == ServerError.number(of: "42501"))
    }

    @Test func `Metadata are kept, and those of the store itself can't be replaced`() throws {
      let store = try open { $0.modelCache = { [9, 8, 7] } }
      var metadata = try store.metadata()
      #expect(metadata.values["NSStoreType"] == .string("PostgreSQL"))
      metadata.values["NSStoreType"] = .string("mine")
      metadata.values["colour"] = .array([.string("ü"), .integer(-1), .data([0]), .boolean(true), .date(0.5)])
      try store.setMetadata(metadata)
      let other = try open()
      #expect(try other.metadata().values["NSStoreType"] == .string("PostgreSQL"))
      #expect(try other.metadata().values["colour"] == metadata.values["colour"])
      #expect(try other.modelCache() == [9, 8, 7])
    }

    @Test func `A damaged store is reported as unreadable`() throws {
      _ = try open()
      try place.connection().execute(#"UPDATE "Z_METADATA" SET "Z_PLIST" = 'nonsense'"#, while: "Testing")
      #expect(failure { () throws(StoreError) in _ = try open() }?.code == .unreadable)
      try place.connection().execute(#"DELETE FROM "Z_METADATA""#, while: "Testing")
      #expect(failure { () throws(StoreError) in _ = try open() }?.code == .unreadable)
    }

    @Test func `What can't be stored is refused before the server is asked`() throws {
      let zero = schema(
        StoreEntity(name: "Book", attributes: [StoreAttribute(name: "ti\0tle", type: .string)]))
      #expect(failure { () throws(StoreError) in _ = try open(zero) }?.code == .invalidSchema)
      let derived = schema(
        StoreEntity(
          name: "Shelf",
          attributes: [
            StoreAttribute(name: "count", type: .integer64, derivation: .count(relationship: "books"))
          ]))
      let error = failure { () throws(StoreError) in _ = try open(derived) }
      #expect(error?.code == .invalidSchema && error?.properties == ["count"])
      let long = String(repeating: "n", count: 64)
      #expect(failure { () throws(StoreError) in _ = try open { $0.schema = long } }?.code == .cannotOpen)
      let same = schema(StoreEntity(name: "book"), StoreEntity(name: "Book"))
      #expect(failure { () throws(StoreError) in _ = try open(same) }?.code == .invalidSchema)
    }

    @Test func `After closing, calls fail`() throws {
      let store = try open()
      try store.close()
      #expect(failure { () throws(StoreError) in _ = try store.metadata() }?.code == .closed)
      #expect(store.statistics().open == 0)
    }
  }
#endif
