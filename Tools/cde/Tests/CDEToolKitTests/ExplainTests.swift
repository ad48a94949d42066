@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Explaining")
struct ExplainTests {
  private func json(_ explanation: Explanation, _ library: Library) throws -> JSONValue {
    try JSONValue(reading: Data(text(try explanation.answer(library.place), .json).utf8))
  }

  private func steps(_ answer: JSONValue) -> [(detail: String, isScan: Bool)] {
    guard case .array(let statements)? = answer["statements"] else { return [] }
    return statements.flatMap { statement -> [(String, Bool)] in
      guard case .array(let steps)? = statement["plan"] else { return [] }
      return steps.compactMap { step in
        guard case .string(let detail)? = step["detail"] else { return nil }
        return (detail, step["scan"] == .bool(true))
      }
    }
  }

  /// What is asked, and the index that has to be proposed for it: 50 conditions and orders.
  static let asked: [(predicate: String, sort: String, properties: String)] = [
    ("title == 'Volume 3'", "", "title"), ("'Volume 3' == title", "", "title"),
    ("title == nil", "", "title"), ("title != nil AND pages == 3", "", "pages"),
    ("title > 'V'", "", "title"), ("title >= 'V' AND title < 'W'", "", "title"),
    ("title BETWEEN {'A', 'Volume 2'}", "", "title"), ("title BEGINSWITH 'Volume 1'", "", "title"),
    ("title IN {'Volume 1', 'Volume 2'}", "", "title"), ("title IN {'Volume 1'}", "", "title"),
    ("title == 'a' AND title == 'b'", "", "title"), ("title == 'Volume 1' AND price == 1", "", "title+price"),
    ("pages == 300", "", "pages"), ("pages > 300", "", "pages"), ("pages >= 300", "", "pages"),
    ("pages < 300", "", "pages"), ("pages <= 300", "", "pages"), ("300 < pages", "", "pages"),
    ("pages BETWEEN {100, 300}", "", "pages"), ("pages IN {100, 200, 300}", "", "pages"),
    ("pages > 100 AND pages < 300", "", "pages"), ("pages == 1 AND title CONTAINS 'x'", "", "pages"),
    ("pages == 1 AND title ENDSWITH[c] 'x'", "", "pages"), ("pages == 300", "-pages", "pages"),
    ("3 < pages", "-pages", "pages"), ("pages > 3", "title", "pages"),
    ("weight == 0.5", "", "weight"), ("weight > 0.5", "", "weight"),
    ("weight < 1.5 AND weight > 0", "", "weight"),
    ("weight == 0.5 AND title CONTAINS 'x'", "", "weight"), ("weight IN {0.5, 1.5}", "", "weight"),
    ("weight BETWEEN {0.5, 1.5}", "pages", "weight"),
    ("isbn == CAST('6F9619FF-8B86-D011-B42D-00CF4FC964FF', 'NSUUID')", "", "isbn"),
    ("isbn == nil", "", "isbn"),
    ("isbn != nil AND weight == 0", "", "weight"),
    ("title == 'Volume 1' AND pages < 500", "", "title+pages"),
    ("title == 'Volume 1' AND pages == 500", "", "title+pages"),
    ("pages == 500 AND title == 'Volume 1'", "", "pages+title"),
    ("pages < 500 AND title == 'Volume 1'", "", "title+pages"),
    ("title == 'Volume 1' AND weight > 0.5", "", "title+weight"),
    ("pages == 300 AND weight == 0.5", "", "pages+weight"),
    ("pages == 300 AND weight BETWEEN {0, 1}", "", "pages+weight"),
    ("title == 'a' AND (pages == 1 OR pages == 2)", "", "title+pages"),
    ("title == 'a' AND NOT (pages == 1)", "", "title"),
    ("(title == 'a') AND (pages > 3 AND pages < 9)", "", "title+pages"),
    ("title == 'a'", "pages", "title"), ("title == 'a'", "-pages", "title"),
    ("title IN {'a', 'b'} AND pages > 3", "", "title+pages"),
    ("weight > 0 AND TRUEPREDICATE", "", "weight"), ("pages == 3 AND pages == pages", "", "pages"),
  ]

  @Test(
    "A scan is named, and the suggested index, applied to the store, turns it into a search", arguments: asked
  )
  func suggestion(predicate: String, sort: String, properties: String) throws {
    let library = try Library()
    defer { library.remove() }
    var explanation = Explanation(entity: "Book")
    explanation.predicate = predicate
    explanation.sort = sort.isEmpty ? [] : [sort]
    let before = try library.contents()
    let answer = try json(explanation, library)
    #expect(try library.contents() == before)
    #expect(steps(answer).contains { $0.isScan }, "\(answer.text())")
    guard case .array(let names)? = answer["suggestedIndex"]?["properties"] else {
      Issue.record("no suggestion in \(answer.text())")
      return
    }
    let columns = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    #expect(columns.joined(separator: "+") == properties)
    // SQLite itself says so, too, with the index in the store's own file.
    let raw = try RawSQLite(library.url.path)
    try raw.run(
      "CREATE INDEX planted ON ZBOOK (\(columns.map { "Z\($0.uppercased())" }.joined(separator: ", ")))")
    let after = steps(try json(explanation, library))
    #expect(!after.contains { $0.isScan })
    #expect(after.contains { $0.detail.contains("SEARCH") && $0.detail.contains("planted") }, "\(after)")
  }

  @Test("The plan is SQLite's own, and the rows of a scan are counted")
  func agreement() throws {
    let library = try Library()
    defer { library.remove() }
    var explanation = Explanation(entity: "Book")
    explanation.predicate = "title == 'Volume 3'"
    let answer = try json(explanation, library)
    guard case .array(let statements)? = answer["statements"],
      case .string(let sql)? = statements.first?["sql"]
    else {
      Issue.record("no statement in \(answer.text())")
      return
    }
    let own = try RawSQLite(library.url.path).run("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
    #expect(steps(answer).map(\.detail) == own)
    let times = try ["waitingMilliseconds", "storeMilliseconds", "milliseconds"].map { name in
      guard case .number(let text)? = answer[name] else { return -1.0 }
      return try #require(Double(text))
    }
    #expect(times.allSatisfy { $0 >= 0 } && times[0] + times[1] <= times[2] + 0.002, "\(times)")
    // SQLite counts the steps to a next row; there are 12 rows.
    #expect(answer["scannedRows"] == .int(11))
  }

  @Test(
    "What no index answers has no suggestion",
    arguments: [
      "title CONTAINS 'x'", "title ENDSWITH[c] 'x'", "title LIKE 'x*'", "title MATCHES 'x.*'",
      "pages + 1 > 3",
      "sqrt(pages) > 3", "ln(pages) > 3 OR floor(pages / 2.5) == 1", "TRUEPREDICATE",
    ])
  func none(predicate: String) throws {
    let library = try Library()
    defer { library.remove() }
    var explanation = Explanation(entity: "Book")
    explanation.predicate = predicate
    #expect(try json(explanation, library)["suggestedIndex"] == .null)
  }

  @Test("A search by a relationship is no scan, and values can be left out")
  func search() throws {
    let library = try Library()
    defer { library.remove() }
    var explanation = Explanation(entity: "Book")
    explanation.predicate = "owner.lastName == 'Secret' AND pages == 4711"
    explanation.isRedacted = true
    let shown = text(try explanation.answer(library.place))
    #expect(!shown.contains("Secret") && !shown.contains("4711"), "\(shown)")
    #expect(shown.contains("ROWS   0 of 12 objects of Book"))
    explanation.isRedacted = false
    #expect(text(try explanation.answer(library.place)).contains("'Secret'"))
    #expect(
      Explanation.redacted("SELECT t0.Z_PK FROM A t0 WHERE t0.ZA = 'it''s' AND t0.ZB1 > -1.5e3 LIMIT 20")
        == "SELECT t0.Z_PK FROM A t0 WHERE t0.ZA = ? AND t0.ZB1 > ? LIMIT ?")
  }
}
