@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

#if PostgreSQL
  import CDEPostgreSQL
#endif

@Suite("The pages of stores of all kinds", .timeLimit(.minutes(2)))
struct StudioStoresTests {
  @Test("A SwiftData store is shown and edited without its classes")
  func swiftData() throws {
    let url = ProcessFolder.newURL("Trips").appendingPathExtension("store")
    try {
      let container = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      let trip = Trip(name: "North", start: Date(timeIntervalSinceReferenceDate: 0))
      context.insert(trip)
      context.insert(Stop(title: "Harbour", trip: trip))
      try context.save()
    }()
    let studio = try Studio(.file(url), isWritable: true)
    #expect(try studio.rows(StudioQuery(entity: "Stop")).column(1) == [.string("Harbour")])
    #expect(try studio.overview()["history"] == .bool(true))
    let edit = #"{"id": "Trip/p1", "values": {"name": "South"}, "was": {"name": "North"}}"#
    _ = try studio.edit(StudioEdit(JSONValue(reading: Data(edit.utf8))))
    studio.close()
    let container = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: url))
    #expect(try ModelContext(container).fetch(FetchDescriptor<Trip>()).map(\.name) == ["South"])
  }

  @Test("Empty, missing, damaged, foreign and locked files, and folders, are one sentence each")
  func badFiles() throws {
    let library = try Library()
    defer { library.remove() }
    func check(_ url: URL, _ part: String) throws {
      for isWritable in [false, true] {
        let error = try #require(
          #expect(throws: ToolError.self) { try Studio(.file(url), isWritable: isWritable) })
        #expect(error.message.contains(part) && !error.message.contains("\n"), "\(error.message)")
      }
    }
    func file(_ name: String, _ bytes: Data) throws -> URL {
      let url = library.folder.appendingPathComponent(name)
      try bytes.write(to: url)
      return url
    }
    try check(library.folder.appendingPathComponent("Missing.sqlite"), "There is no store")
    try check(try file("Empty.sqlite", Data()), "is empty")
    try check(try file("Text.sqlite", Data("These are words, and no database at all.".utf8)), "Text.sqlite")
    var bytes = try Data(contentsOf: library.url)
    bytes.replaceSubrange(2000..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 2000))
    try check(try file("Damaged.sqlite", bytes), "salvage")
    try check(library.folder, "folder")
    let raw = try RawSQLite(library.url.path)
    try raw.run("PRAGMA journal_mode = DELETE")
    try raw.run("BEGIN EXCLUSIVE")
    try check(library.url, "Another connection holds the lock; try again")
    try raw.run("ROLLBACK")
  }

  @Test("A file that is locked meanwhile is one sentence, and shown again afterwards")
  func lockedMeanwhile() throws {
    let library = try Library()
    defer { library.remove() }
    let raw = try RawSQLite(library.url.path)
    try raw.run("PRAGMA journal_mode = DELETE")
    let studio = try Studio(library.place)
    #expect(try studio.count(StudioQuery(entity: "Book"))["count"]?.number == 12)
    try raw.run("DELETE FROM ZBOOK WHERE Z_PK = 12")
    try raw.run("BEGIN EXCLUSIVE")
    let error = try #require(
      #expect(throws: (any Error).self) { try studio.count(StudioQuery(entity: "Book")) })
    #expect(StudioFailure(error).message.contains("Another connection holds the lock"))
    try raw.run("ROLLBACK")
    #expect(try studio.count(StudioQuery(entity: "Book"))["count"]?.number == 11)
  }

  @Test("An app writes while the pages are open for reading and for writing")
  func beside() throws {
    let library = try Library()
    defer { library.remove() }
    let app = try Library.container(at: library.url)
    let context = app.newBackgroundContext()
    func add(_ name: String) throws {
      try context.performAndWait {
        _ = Library.insert("Tag", ["name": name], context)
        try context.save()
      }
    }
    try add("one")
    let reading = try Studio(library.place)
    let writing = try Studio(library.place, isWritable: true)
    for name in ["two", "three"] {
      try add(name)
      for studio in [reading, writing] {
        #expect(try studio.find(name, entity: "Tag").list.count == 1)
      }
    }
    _ = try writing.edit(
      StudioEdit(JSONValue(reading: Data(#"{"entity": "Tag", "values": {"name": "four"}}"#.utf8))))
    #expect(try reading.counts()["counts"]?["Tag"]?.number == 5)
    let names = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).compactMap {
        $0.value(forKey: "name") as? String
      }
    }
    #expect(names.contains("four"))
  }

  #if PostgreSQL
    @Test(
      "A store on a server is shown, follows the commits of others, and is edited",
      .enabled(if: ServerLibrary.isThere))
    func server() async throws {
      let url = try ServerLibrary.url()
      let schema = "cde_studio_\(getpid())"
      let container = try ServerLibrary.container(schema: schema)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try Library.fill(context)
        try context.save()
      }
      let place = try StorePlace(url.absoluteString)
      let reading = try Studio(place, schema: schema)
      let writing = try Studio(place, schema: schema, isWritable: true)
      var query = StudioQuery(entity: "Book")
      query.predicate = "pages > 900"
      query.sort = ["-pages"]
      let rows = try reading.rows(query)
      #expect(rows["total"]?.number == 3 && rows.column(1).first == .string("Volume 12"))
      #expect(try reading.rows(query, at: 1).column(1) == [.string("Volume 11"), .string("Volume 10")])
      let entries = try reading.slowQueries().list
      let entry = try #require(entries.first { $0["text"]?.words == "Book where pages > 900 sort -pages" })
      let plan = try reading.plan(try #require(entry["number"]?.number))
      #expect(plan["statements"]?.list.first?["plan"]?.list.isEmpty == false)
      // Both follow the edits of each other, by the server's notifications.
      let (told, telling) = AsyncStream.makeStream(of: JSONValue.self)
      let task = Task { try await reading.follow { telling.yield($0) } }
      var news = told.makeAsyncIterator()
      _ = await news.next()
      let edit = #"{"id": "Book/p12", "values": {"pages": "5"}, "was": {"pages": "1200"}}"#
      let id = try #require(rows.column(0).first?.words)
      _ = try writing.edit(
        StudioEdit(JSONValue(reading: Data(edit.replacingOccurrences(of: "Book/p12", with: id).utf8))))
      var commits: [JSONValue] = []
      while commits.isEmpty, let next = await news.next() { commits = next["commits"]?.list ?? [] }
      task.cancel()
      #expect(commits.first?["author"]?.words == "cde")
      #expect(try reading.count(query)["count"]?.number == 2)
      _ = try writing.undo()
      #expect(try writing.count(query)["count"]?.number == 3)
      #expect(try reading.history(of: id).list.count == 3)
      for studio in [reading, writing] { studio.close() }
    }
  #endif
}
