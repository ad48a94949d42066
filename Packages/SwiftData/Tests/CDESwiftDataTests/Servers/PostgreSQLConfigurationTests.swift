#if PostgreSQL
  import CDEPostgreSQL
  import CDESwiftData
  import Foundation
  import Testing

  private let server = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"].flatMap(URL.init(string:))

  /// Containers on the server that `CDE_POSTGRESQL_URL` names.
  @Suite("Containers on a PostgreSQL server", .enabled(if: server != nil, "CDE_POSTGRESQL_URL is not set."))
  struct PostgreSQLConfigurationTests {
    private func configuration(_ schema: String) throws -> ModelConfiguration {
      ModelConfiguration(
        storeType: CDEPostgreSQLStoreType, url: try #require(server),
        options: [CDEPostgreSQLSchemaOption: schema])
    }

    private func name() -> String {
      "sd_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    }

    @Test("Two containers of one server have the same models, and each gets what the other saves")
    @MainActor
    func sharing() async throws {
      let schema = name()
      let types = Schema([Writer.self, Novel.self, Genre.self, Imprint.self, Borrowing.self])
      let here = try ModelContainer(for: types, configurations: configuration(schema))
      let there = try ModelContainer(for: types, configurations: configuration(schema))
      let writing = ModelContext(there)
      writing.author = "importer"
      let ann = Writer("Ann")
      ann.novels = [Novel("One", pages: 100), Novel("Two", pages: 200)]
      writing.insert(ann)
      try writing.save()

      let context = here.mainContext
      let long = #Predicate<Novel> { $0.pages > 150 && $0.writer?.name == "Ann" }
      let found = try #require(try context.fetch(FetchDescriptor(predicate: long)).first)
      #expect(found.title == "Two" && found.writer?.novels.count == 2)
      // The commits come in order. After this one, those of the first save have come.
      ann.novels.first { $0.title == "Two" }?.pages = 250
      try writing.save()
      while found.pages != 250 { await Task.yield() }
      let (pages, title) = (Wakes { _ = found.pages }, Wakes { _ = found.title })
      ann.novels.first { $0.title == "Two" }?.pages = 300
      try writing.save()
      while found.pages != 300 { await Task.yield() }
      #expect(pages.count == 1 && title.count == 0)
      found.title = "Three"
      try context.save()
      let again = ModelContext(try ModelContainer(for: types, configurations: configuration(schema)))
      #expect(try again.fetch(FetchDescriptor<Novel>()).map(\.title).sorted() == ["One", "Three"])
    }

    @Test("A unique value is unique on the server, and a second model with it updates the first")
    func unique() throws {
      let schema = name()
      let first = try ModelContainer(for: Genre.self, configurations: configuration(schema))
      let second = try ModelContainer(for: Genre.self, configurations: configuration(schema))
      for (container, weight) in [(first, 1), (second, 2)] {
        let context = ModelContext(container)
        context.insert(Genre("epic", weight: weight))
        try context.save()
      }
      #expect(try ModelContext(first).fetch(FetchDescriptor<Genre>()).map(\.weight) == [2])
    }

    @Test("Two schemas of a server are two configurations of a container")
    func twoSchemas() throws {
      let types = Schema([Desk.self, Drawer.self, Seat.self])
      let url = try #require(server)
      let container = try ModelContainer(
        for: types,
        configurations: ModelConfiguration(
          "desks", schema: Schema([Desk.self, Drawer.self]), storeType: CDEPostgreSQLStoreType, url: url,
          options: [CDEPostgreSQLSchemaOption: name()]),
        ModelConfiguration(
          "seats", schema: Schema([Seat.self]), storeType: CDEPostgreSQLStoreType, url: url,
          options: [CDEPostgreSQLSchemaOption: name()]))
      let context = ModelContext(container)
      context.insert(Desk("oak"))
      context.insert(Seat("A", 1, guest: "Ann"))
      try context.save()
      let other = ModelContext(container)
      #expect(try other.fetchCount(FetchDescriptor<Desk>()) == 1)
      #expect(try other.fetchCount(FetchDescriptor<Seat>()) == 1)
    }

    @Test("Erasing a container empties its store on the server, and contexts lose their models")
    func erasing() throws {
      let schema = name()
      let types = Schema([Writer.self, Novel.self, Genre.self, Imprint.self, Borrowing.self])
      let container = try ModelContainer(for: types, configurations: configuration(schema))
      let context = ModelContext(container)
      let imprint = Imprint(code: "P", city: "Oslo")
      imprint.novels = [Novel("One")]
      context.insert(imprint)
      try context.save()
      try container.erase()
      #expect(try context.fetchCount(FetchDescriptor<Novel>()) == 0 && imprint.modelContext == nil)
      context.insert(Novel("Two"))
      try context.save()
      let other = try ModelContainer(for: types, configurations: configuration(schema))
      #expect(try ModelContext(other).fetch(FetchDescriptor<Novel>()).map(\.title) == ["Two"])
      #expect(try ModelContext(other).fetchCount(FetchDescriptor<Imprint>()) == 0)
    }

    @Test("A server that can't be reached is an error without the password")
    func unreachable() throws {
      let url = try #require(URL(string: "postgresql://app:tops3cret@localhost:1/none?sslmode=disable"))
      let error = #expect(throws: SwiftDataError.self) {
        try ModelContainer(
          for: Genre.self, configurations: ModelConfiguration(storeType: CDEPostgreSQLStoreType, url: url))
      }
      #expect(error?.code == SwiftDataError.loadIssueModelContainer.code)
      #expect(error.map { !"\($0)".contains("tops3cret") } == true)
    }
  }
#endif
