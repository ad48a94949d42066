import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit
@testable import cde

@Suite("Reading a store")
struct ReadingTests {
  @Test("Rows show related objects by name, dates as dates, composites and archives decoded")
  func rows() throws {
    let library = try Library()
    defer { library.remove() }
    var listing = RowListing(entity: "book")
    listing.sort = ["pages"]
    listing.limit = 2
    let answer = try listing.answer(OpenedStore(library.place))
    let rows = try #require(
      JSONSerialization.jsonObject(with: Data(text(answer, .json).utf8)) as? [[String: Any]])
    #expect(rows.count == 2)
    #expect(rows[0]["title"] as? String == "Volume 1")
    #expect(rows[0]["pages"] as? Int == 100)
    #expect(rows[0]["price"] as? Double == 9.1)
    #expect((rows[0]["owner"] as? [String: String])?["name"] == "Ada Byron")
    #expect(rows[0]["tags"] as? Int == 1)
    #expect(rows[0]["notes"] as? [AnyHashable] == ["shelf", 3])
    #expect(rows[1]["notes"] is NSNull)
    #expect(answer.note?.contains("--offset 2") == true)
    #expect(text(answer).contains("<PNG image, 6 bytes>"))

    let people = text(try RowListing(entity: "Person").answer(OpenedStore(library.place)), .csv)
    #expect(people.contains("2025-01-01T13:02:03.25Z"), "\(people)")
    #expect(people.contains("\"{city: London, zip: 1000}\""))
    #expect(people.contains("Author/p2,Currer,Bell"))
  }

  @Test("A predicate, an order, columns and pages choose the rows")
  func choosing() throws {
    let library = try Library()
    defer { library.remove() }
    var listing = RowListing(entity: "Book")
    listing.predicate = "owner.firstName == 'Ada' AND pages > 300"
    listing.sort = ["-pages"]
    listing.columns = ["title", "owner"]
    listing.limit = 3
    listing.offset = 1
    let answer = try listing.answer(OpenedStore(library.place))
    #expect(
      text(answer, .csv)
        == "id,title,owner\r\nBook/p8,Volume 8,Ada Byron\r\nBook/p7,Volume 7,Ada Byron\r\nBook/p6,Volume 6,Ada Byron\r\n"
    )
  }

  @Test(
    "A wrong name or predicate is one sentence with the remedy",
    arguments: [
      ("Bok", nil, "title", "It has Author, Book, Person, Tag."),
      ("Book", "pages >", "title", "The predicate can't be read"),
      ("Book", "pags > 1", "title", "Did you mean"), ("Book", nil, "titel", "has no property titel"),
    ])
  func mistakes(entity: String, predicate: String?, column: String, message: String) throws {
    let library = try Library()
    defer { library.remove() }
    var listing = RowListing(entity: entity)
    listing.predicate = predicate
    listing.columns = [column]
    let store = try OpenedStore(library.place)
    let error = #expect(throws: ToolError.self) { try listing.answer(store) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("\n") == false)
  }

  @Test("An object's page has all values and the names of its relations")
  func page() throws {
    let library = try Library()
    defer { library.remove() }
    let store = try OpenedStore(library.place)
    let person = text(try store.page(of: "Person/p1", members: 2))
    #expect(person.contains("9: Volume 1, Volume 2, … and 7 more"))
    let book = text(try store.page(of: "Book/p1"))
    #expect(book.contains("Ada Byron  [Person/p1]"))
    #expect(book.contains("6F9619FF-8B86-D011-B42D-00CF4FC964FF"))
    #expect(throws: ToolError.self) { try store.page(of: "Book/p99") }
    #expect(throws: ToolError.self) { try store.page(of: "nonsense") }
  }

  @Test("The store's facts and its entities")
  func facts() throws {
    let library = try Library()
    defer { library.remove() }
    let info = text(try OpenedStore.info(library.place), .json)
    let facts = try #require(JSONSerialization.jsonObject(with: Data(info.utf8)) as? [String: Any])
    #expect(facts["history"] as? Bool == true)
    #expect(facts["entities"] as? Int == 4)
    #expect(facts["model version"] as? String == "7")
    let entities = text(try OpenedStore(library.place).entities(), .csv)
    #expect(entities.contains("Person,1,,5,1,firstName lastName"))
    #expect(entities.contains("Author,1,Person,6,1,firstName lastName"))
    #expect(entities.contains("Book,12,,8,2,title"))
  }

  @Test("Reading changes no byte and no name in the folder, in use or not")
  func unchanged() throws {
    let library = try Library()
    defer { library.remove() }
    func readAll() throws {
      _ = try OpenedStore.info(library.place)
      let store = try OpenedStore(library.place)
      _ = try store.entities()
      _ = try RowListing(entity: "Book").answer(store)
      _ = try store.page(of: "Book/p1")
    }
    let before = try library.contents()
    try readAll()
    #expect(try library.contents() == before)

    // An app has the store open, with a commit in its log; it can write while the tool has it open.
    let app = try Library.container(at: library.url)
    let context = app.newBackgroundContext()
    try context.performAndWait {
      _ = Library.insert("Tag", ["name": "open"], context)
      try context.save()
    }
    let open = try library.contents()
    let tool = try OpenedStore(library.place)
    try readAll()
    #expect(text(try RowListing(entity: "Tag").answer(tool), .csv).contains("open"))
    var differing = try library.contents().filter { open[$0.key] != $0.value }
    // The index of the log has the marks of readers; SQLite's connections share it.
    differing["Library.sqlite-shm"] = nil
    #expect(differing.isEmpty)
    try context.performAndWait {
      _ = Library.insert("Tag", ["name": "later"], context)
      try context.save()
    }
    // A command sees at least what was committed before it began.
    #expect(text(try OpenedStore(library.place).entities(), .csv).contains("Tag,3"))
    _ = tool
  }

  @Test("Empty, missing, damaged and foreign files, and folders, are one sentence each")
  func badFiles() throws {
    let library = try Library()
    defer { library.remove() }
    func message(_ name: String, _ bytes: Data?) throws -> String {
      let url = library.folder.appendingPathComponent(name)
      if let bytes { try bytes.write(to: url) }
      var messages: [String] = []
      for body in [{ _ = try OpenedStore.info(.file(url)) }, { _ = try OpenedStore(.file(url)).entities() }] {
        let error = #expect(throws: ToolError.self) { try body() }
        messages.append(error?.message ?? "")
      }
      #expect(messages.allSatisfy { !$0.contains("\n") && $0.hasSuffix(".") }, "\(messages)")
      return messages[1]
    }
    #expect(try message("Missing.sqlite", nil).contains("There is no store"))
    let empty = try message("Empty.sqlite", Data())
    #expect(empty.contains("is empty"), "\(empty)")
    #expect(
      try message("Text.sqlite", Data("These are words, and no database at all.".utf8)).contains(
        "Text.sqlite"))
    var bytes = try Data(contentsOf: library.url)
    bytes.replaceSubrange(2000..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 2000))
    #expect(try message("Damaged.sqlite", bytes).contains("salvage"))
    let error = #expect(throws: ToolError.self) { try OpenedStore(.file(library.folder)) }
    #expect(error?.message.contains("folder") == true, "\(error?.message ?? "")")
  }

  @Test("A read-only file in a read-only folder, and a copy without its log, can be read")
  func readOnly() throws {
    let library = try Library()
    defer {
      _ = chmod(library.folder.path, 0o755)
      library.remove()
    }
    #expect(chmod(library.url.path, 0o444) == 0)
    #expect(chmod(library.folder.path, 0o555) == 0)
    #expect(text(try OpenedStore(library.place).entities(), .csv).contains("Book,12"))
  }

  @Test("A server's URL is read as a place, and its password is not shown")
  func places() throws {
    let place = try StorePlace("postgresql://ada:secret@localhost/shop")
    #expect(place.text == "postgresql://ada@localhost/shop")
    #expect(throws: ToolError.self) { try StorePlace("https://example.org") }
  }
}

@Suite("Output")
struct OutputTests {
  @Test(
    "Dates are written so that reading gives the same date",
    arguments: [0, 0.1, -0.5, 757_429_323.25, 1_234_567.891_234, -62_000_000_000, 63_113_904_000, 1e-7])
  func dates(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(DateText.date(DateText.text(date)) == date, "\(DateText.text(date))")
  }

  @Test("Known dates")
  func knownDates() {
    #expect(DateText.text(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00Z")
    #expect(DateText.text(Date(timeIntervalSince1970: 951_782_400)) == "2000-02-29T00:00:00Z")
    #expect(DateText.date("2024-05-06T08:00:00+02:00") == Date(timeIntervalSince1970: 1_714_975_200))
    #expect(DateText.date("2024-13-01") == nil)
  }

  private let answer = Answer([
    .table(
      Table(
        [.init("name"), .init("n", isNumber: true)],
        rows: [[Cell("a|b,\"c\""), Cell(7)], [Cell("日本\u{1B}[31m\nx"), Cell(12)]]))
  ])

  @Test("The forms of a table")
  func forms() {
    #expect(text(answer) == "name          n\na|b,\"c\"       7\n日本\u{FFFD}[31m⏎x  12\n")
    #expect(text(answer, .csv).hasPrefix("name,n\r\n\"a|b,\"\"c\"\"\",7\r\n"))
    #expect(text(answer, .markdown).contains("| --- | ---: |\n| a\\|b,\"c\" | 7 |"))
    #expect(text(answer, .json).contains("\"name\": \"日本\\u001b[31m\\nx\""))
  }

  @Test("A table fits the terminal's width, and colours need one")
  func terminal() {
    let long = Answer([
      .table(
        Table([.init("text"), .init("n")], rows: [[Cell(String(repeating: "x", count: 300)), Cell(1)]]))
    ])
    let here = Terminal(isTerminal: true, environment: ["TERM": "xterm"], size: (40, 20))
    let lines = here.renderer.text(of: long).split(separator: "\n")
    #expect(lines[0].contains("\u{1B}[1m"))
    #expect(lines[1].count == 40)
    #expect(lines[1].contains("…"))
    let file = Terminal(isTerminal: false, environment: [:], size: nil)
    #expect(!file.renderer.text(of: long).contains("\u{1B}"))
    #expect(!Terminal(isTerminal: true, environment: ["NO_COLOR": "1"], size: nil).renderer.hasColors)
  }

  @Test("Each command has examples in its help", arguments: Cde.allCommands())
  func help(path: [String]) {
    let help = Cde.helpMessage(for: Cde.command(at: path))
    #expect(help.contains("EXAMPLE"), "\(path)")
    #expect(help.contains("cde \(path.joined(separator: " "))"))
  }
}
