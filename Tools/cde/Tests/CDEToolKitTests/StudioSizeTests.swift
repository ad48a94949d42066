@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("The pages of a large store", .serialized, .timeLimit(.minutes(5)))
struct StudioSizeTests {
  /// A store with many books, whose keys have gaps.
  private func large(_ count: Int = 1_000_000) throws -> Library {
    let library = try Library { _ in }
    try RawSQLite(library.url.path).run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZOWNER)
      SELECT i * 2, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, 'Volume ' || (i * 7919 % \(count)), i % 1000, i % 10
      FROM n
      """)
    return library
  }

  @Test("The first page of a million rows costs as much as that of a thousand, and so does each other page")
  func pages() throws {
    let (small, library) = (try large(1000), try large())
    defer {
      small.remove()
      library.remove()
    }
    let query = StudioQuery(entity: "Book")
    let clock = ContinuousClock()
    /// The best of some times, because other processes use the machine.
    func best(_ body: () throws -> Void) rethrows -> Duration {
      try (0..<7).map { _ in try clock.measure(body) }.min()!
    }
    let few = try Studio(small.place)
    let studio = try Studio(library.place)
    let known = try best { _ = try few.rows(query) }
    var first: JSONValue = .null
    let time = try best { first = try studio.rows(query) }
    #expect(first.column(0).first == .string("Book/p2") && first["rows"]?.list.count == 100)
    #expect(first["total"] == .null && first["whole"] == .bool(false))
    #expect(time < known * 3, "\(time) for the first of a million, \(known) for the first of a thousand")
    #expect(try studio.count(query)["count"]?.number == 1_000_000)
    // The keys are read once, in the order of the table and not in that of the index of the owners.
    let end = try studio.rows(query, at: 999_950)
    #expect(end.column(0).last == .string("Book/p2000000") && end.column(0).count == 50)
    #expect(end["whole"] == .bool(true) && end["total"]?.number == 1_000_000)
    var costs: [Duration] = []
    for start in stride(from: 0, to: 1_000_000, by: 99_000) {
      var page: JSONValue = .null
      let time = try clock.measure { page = try studio.rows(query, at: start) }
      #expect(page.column(0).first == .string("Book/p\((start + 1) * 2)"))
      costs.append(time)
    }
    #expect(costs.sorted()[costs.count / 2] < known * 10, "\(costs), \(known) for the first of a thousand")
    #expect(costs.suffix(3).min()! < known * 10, "\(costs), \(known) for the first of a thousand")
  }

  @Test("An order and a condition over a million rows page through all of them")
  func ordered() throws {
    let library = try large()
    defer { library.remove() }
    let studio = try Studio(library.place)
    var query = StudioQuery(entity: "Book")
    query.predicate = "pages == 7"
    query.sort = ["-title"]
    let known = try RawSQLite(library.url.path).column(
      "SELECT Z_PK FROM ZBOOK WHERE ZPAGES = 7 ORDER BY ZTITLE DESC"
    ).map { "Book/p\($0)" }
    var found: [String] = []
    for start in stride(from: 0, to: 1000, by: 100) {
      found += try studio.rows(query, at: start).column(0).compactMap(\.words)
    }
    #expect(found.count == 1000 && found == known)
  }
}
