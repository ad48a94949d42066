@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

#if PostgreSQL
  import CDEPostgreSQL
#endif

@Model
final class Trip {
  var name: String
  var start: Date
  @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

  init(name: String, start: Date) {
    self.name = name
    self.start = start
  }
}

@Model
final class Stop {
  var title: String
  var trip: Trip?

  init(title: String, trip: Trip) {
    self.title = title
    self.trip = trip
  }
}

@Suite("Stores of all kinds")
struct StoresTests {
  @Test("A SwiftData store is read without its classes")
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
    let store = try OpenedStore(.file(url))
    #expect(text(try store.entities(), .csv).contains("Stop,1,,1,1,title"))
    let rows = text(try RowListing(entity: "Trip").answer(store), .csv)
    #expect(rows.contains("Trip/p1,North,2001-01-01T00:00:00Z,1"))
    #expect(text(try RowListing(entity: "Stop").answer(store), .csv).contains("Stop/p1,Harbour,North"))
    #expect(try StoreCheck(.file(url)).findings() == [])
  }

  @Test("A file that another process has locked is one sentence")
  func locked() throws {
    let library = try Library()
    defer { library.remove() }
    let raw = try RawSQLite(library.url.path)
    try raw.run("PRAGMA journal_mode = DELETE")
    try raw.run("BEGIN EXCLUSIVE")
    let error = #expect(throws: ToolError.self) { try OpenedStore(library.place).entities() }
    #expect(error?.message.contains("\n") == false)
    #expect(
      error?.message.contains("Another connection holds the lock; try again") == true,
      "\(error?.message ?? "")")
    try raw.run("ROLLBACK")
    #expect(throws: Never.self) { try OpenedStore(library.place).entities() }
  }

  @Test("A page of a large table reads its rows only")
  func large() throws {
    let library = try Library()
    defer { library.remove() }
    try {
      let raw = try RawSQLite(library.url.path)
      try raw.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZOWNER)
        SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, 'Book ' || i, i, 1 FROM n
        """)
      try raw.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 20000 WHERE Z_NAME = 'Book'")
    }()
    let store = try OpenedStore(library.place)
    let clock = ContinuousClock()
    func time(_ offset: Int) throws -> Duration {
      try clock.measure {
        var listing = RowListing(entity: "Book")
        listing.offset = offset
        let page = text(try listing.answer(store), .csv)
        #expect(page.split(separator: "\r\n").count == 51)
      }
    }
    _ = try time(0)
    let page = try time(50)
    let all = try clock.measure { try StoreExport(store).write { _ in } }
    // All rows are 400 pages.
    #expect(page * 5 < all, "a page took \(page), an export \(all)")
  }

  #if PostgreSQL
    @Test(
      "A store on a server is read, compared with a file, checked and exported",
      .enabled(if: ServerLibrary.isThere))
    func server() async throws {
      let url = try ServerLibrary.url()
      let schema = "cde_tool_\(getpid())"
      let container = try ServerLibrary.container(schema: schema)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try Library.fill(context)
        try context.save()
      }
      let place = try StorePlace(url.absoluteString)
      let store = try OpenedStore(place, schema: schema)
      #expect(text(try store.entities(), .csv).contains("Book,12,,8,2,title"))
      #expect(text(try OpenedStore.info(place, schema: schema), .csv).contains("entities,4"))
      #expect(try StoreCheck(place, schema: schema).findings() == [])
      let library = try Library()
      defer { library.remove() }
      var difference = StoreDifference(store, try OpenedStore(library.place))
      difference.keys = ["title", "Tag.name", "lastName"]
      let answer = try difference.answer()
      #expect(!answer.hasFindings, "\(text(answer))")
      #expect(throws: ToolError.self) { try OpenedStore(place, schema: "cde_no_such_schema") }
      var watch = StoreWatch(place, schema: schema)
      watch.includesPast = true
      watch.limit = 2
      var commits: [WatchedCommit] = []
      try await watch.run { commit in
        commits.append(commit)
        guard commits.count == 1 else { return }
        #expect(throws: Never.self) {
          try context.performAndWait {
            _ = Library.insert("Tag", ["name": "later"], context)
            try context.save()
          }
        }
      }
      #expect(commits.map(\.number) == [1, 2] && commits[1].changes.map(\.entity) == ["Tag"])
    }
  #endif
}
