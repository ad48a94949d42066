import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("The prompt")
struct QueryTests {
  @Test(
    "A line is read into its parts, and words within text and brackets are none",
    arguments: [
      ("Book", "Book", "", [:]),
      (
        "  Book  where title == \"where sort\"  limit 3 ", "Book", "",
        [.condition: "title == \"where sort\"", .limit: "3"]
      ),
      (
        "Book WHERE pages IN {1, 2} Sort -pages, title COLUMNS title", "Book", "",
        [.condition: "pages IN {1, 2}", .sort: "-pages, title", .columns: "title"]
      ),
      (
        "Book where #limit > 3 AND (sort == 1) offset 2", "Book", "",
        [.condition: "#limit > 3 AND (sort == 1)", .offset: "2"]
      ),
      ("show Book/p2", "show", "Book/p2", [:]),
      ("count Book where title == 'it''s'", "count", "Book", [.condition: "title == 'it''s'"]),
      ("", "", "", [:]),
    ] as [(String, String, String, [QueryLine.Part: String])])
  func lines(text: String, head: String, argument: String, parts: [QueryLine.Part: String]) throws {
    let line = try QueryLine(text)
    #expect(line.head == head && line.argument == argument && line.parts == parts, "\(line)")
  }

  @Test(
    "A part that is empty or stands twice is told",
    arguments: ["Book where", "Book where limit 3", "Book limit 1 limit 2"])
  func mistakes(text: String) {
    #expect(throws: ToolError.self) { try QueryLine(text) }
  }

  @Test(
    "Text goes on while a quotation mark or a bracket is open",
    arguments: [
      ("Book where title == \"a", true), ("Book where title == \"a\\\"", true),
      ("Book where (pages > 2", true),
      ("Book \\", true), ("Book where (pages > 2)", false), ("Book where title == \")\"", false),
    ])
  func continuation(text: String, isOpen: Bool) { #expect(QuerySession.isOpen(text) == isOpen) }

  private func session(_ library: Library) throws -> QuerySession {
    QuerySession(try OpenedStore(library.place))
  }

  private func answer(_ session: QuerySession, _ line: String) throws -> String {
    guard case .answer(let answer) = try session.run(line) else { return "no answer" }
    return text(answer, .csv)
  }

  @Test("Each command answers, and the file stays as it is")
  func commands() throws {
    let library = try Library()
    defer { library.remove() }
    let before = try library.contents()
    let session = try session(library)
    #expect(
      try answer(session, "Book where title == 'Volume 2' columns title,pages").hasPrefix(
        "id,title,pages\r\nBook/p2,Volume 2,"))
    let all = try answer(session, "book sort pages desc, title columns title limit 2")
    #expect(all.split(separator: "\r\n").count == 3)
    #expect(try answer(session, "count Book") == answer(session, "count book where title != nil"))
    #expect(try answer(session, "show Book/p2").contains("Volume 2"))
    #expect(try answer(session, "entities").contains("Book,"))
    #expect(try answer(session, "info").contains("store,"))
    #expect(try answer(session, "explain Book where title == 'a'").contains("SELECT"))
    #expect(try answer(session, "help").contains("ENTITY"))
    if case .mode(let mode) = try session.run("mode JSON") {
      #expect(mode == .json)
    } else {
      Issue.record("no mode")
    }
    if case .end = try session.run("quit") {} else { Issue.record("The session goes on.") }
    if case .nothing = try session.run("  ") {} else { Issue.record("An empty line does something.") }
    #expect(try library.contents() == before)
  }

  @Test(
    "A mistake is one sentence with the remedy",
    arguments: [
      ("Bok", "no entity. The store has Author, Book"), ("mode pdf", "table, json"),
      ("Book wher x", "Write Book where CONDITION"),
      ("Book limit many", "no number for limit"), ("Book where title ==", "can't be read"),
      ("show Book/p99", "Book/p99"),
    ])
  func errors(line: String, part: String) throws {
    let library = try Library()
    defer { library.remove() }
    let session = try session(library)
    let error = #expect(throws: ToolError.self) { try session.run(line) }
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("\n") == false)
  }

  @Test(
    "Entities, key paths and words are completed where they may stand",
    arguments: [
      ("Bo", ["Book"]), ("cou", ["count"]), ("count Bo", ["Book"]), ("mode j", ["json"]),
      ("Book w", ["where"]), ("Book where ti", ["title"]), ("Book where title BEG", ["BEGINSWITH"]),
      ("Book where owner.last", ["owner.lastName"]), ("Book where owner.address.c", ["owner.address.city"]),
      ("Book where tags.@c", ["tags.@count"]), ("Book where (titl", ["(title"]),
      ("Book where !titl", ["!title"]),
      ("Book sort -pag", ["-page", "-pages"]), ("Book columns own", ["owner"]),
      ("Book where title == 1 off", ["offset"]),
      ("Absent where x", []),
    ])
  func completion(line: String, words: [String]) throws {
    let library = try Library { _ in }
    defer { library.remove() }
    #expect(try session(library).completions(of: line) == words)
  }
}
