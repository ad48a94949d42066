@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Export and import")
struct WritingTests {
  private func exported(
    _ library: Library, _ form: StoreExport.Form, entities: [String] = [], predicate: String? = nil
  ) throws -> String {
    var export = StoreExport(try OpenedStore(library.place))
    export.form = form
    export.entities = entities
    export.predicate = predicate
    var result = ""
    try export.write { result += $0 }
    return result
  }

  @Test("What JSON exports, an import writes: the stores have the same objects")
  func roundTrip() throws {
    let library = try Library()
    let empty = try Library { _ in }
    defer {
      library.remove()
      empty.remove()
    }
    let before = try library.contents()
    let file = empty.folder.appendingPathComponent("all.json")
    try exported(library, .json).write(to: file, atomically: true, encoding: .utf8)
    #expect(try library.contents() == before)
    let report = try StoreImport(empty.place).answer(file)
    #expect(!report.hasFindings, "\(text(report))")
    #expect(text(report, .csv).contains("Book,12,0,0,0"))
    var difference = StoreDifference(try OpenedStore(library.place), try OpenedStore(empty.place))
    difference.keys = ["title", "Tag.name", "lastName"]
    let answer = try difference.answer()
    #expect(!answer.hasFindings, "\(text(answer))")
  }

  @Test("A dry run says what an import would do, and changes no byte")
  func dryRun() throws {
    let library = try Library()
    defer { library.remove() }
    let file = library.folder.appendingPathComponent("tags.csv")
    try "name,books\nengines,Book/p2 Book/p3\nlooms,\n".write(to: file, atomically: true, encoding: .utf8)
    let before = try library.contents()
    var work = StoreImport(library.place)
    work.entity = "Tag"
    work.key = "name"
    work.isDryRun = true
    #expect(text(try work.answer(file), .csv).contains("Tag,1,1,0,0"))
    #expect(try library.contents() == before)
    work.isDryRun = false
    #expect(text(try work.answer(file), .csv).contains("Tag,1,1,0,0"))
    #expect(text(try work.answer(file), .csv).contains("Tag,0,0,2,0"))
    #expect(text(try OpenedStore(library.place).page(of: "Tag/p1")).contains("2: Volume 2, Volume 3"))
  }

  @Test(
    "A record that does not fit is refused with its reason, and nothing is written",
    arguments: [
      ("title,pages\nA,many\n", "Book.pages has to be a whole number, and is many"),
      ("title,pages\nA,99999999999\n", "between -2147483648"),
      ("title,owner\nA,Tag/p1\n", "no object of Person"), ("title,owner\nA,Person/p99\n", "neither a record"),
      ("titel\nA\n", "has no property titel"), ("pages\n3\n", "title is required"),
      ("title,isbn\nA,x\n", "has to be a UUID"),
      ("title,price\nA,1x\n", "a decimal number"),
    ])
  func refusals(csv: String, reason: String) throws {
    let library = try Library()
    defer { library.remove() }
    let file = library.folder.appendingPathComponent("books.csv")
    try ("title\nfine\n" + "").write(to: file, atomically: true, encoding: .utf8)
    try csv.write(to: file, atomically: true, encoding: .utf8)
    var work = StoreImport(library.place)
    work.entity = "Book"
    let answer = try work.answer(file)
    #expect(answer.hasFindings)
    #expect(text(answer).contains(reason), "\(text(answer))")
    #expect(text(answer).contains("Nothing is written"))
    let store = try OpenedStore(library.place)
    #expect(try store.count(store.entity(named: "Book")) == 12)
  }

  @Test("Values that must be unique are refused by a dry run as by the import", arguments: [true, false])
  func unique(isDryRun: Bool) throws {
    let library = try Library()
    defer { library.remove() }
    let file = library.folder.appendingPathComponent("tags.json")
    try "[{\"name\": \"engines\"}]".write(to: file, atomically: true, encoding: .utf8)
    var work = StoreImport(library.place)
    work.entity = "Tag"
    work.isDryRun = isDryRun
    let answer = try work.answer(file)
    #expect(answer.hasFindings)
    #expect(text(answer).contains("same name"), "\(text(answer))")
  }

  @Test("SQLite runs the exported SQL, and finds the same values")
  func sql() throws {
    let library = try Library()
    defer { library.remove() }
    let database = FilledDatabase(try exported(library, .sql))
    #expect(
      database.value("SELECT COUNT(*) FROM Book b JOIN Person p ON b.owner = p.id WHERE p.firstName = 'Ada'")
        == "9")
    #expect(database.value("SELECT hex(cover) FROM Book WHERE title = 'Volume 1'") == "89504E470102")
    #expect(database.value("SELECT \"address.city\" FROM Person") == "London")
    #expect(database.value("SELECT member FROM \"Book.tags\"") == "Tag/p1")
  }

  @Test("CSV of one entity, a condition, files of all, Markdown")
  func otherForms() throws {
    let library = try Library()
    defer { library.remove() }
    let csv = try exported(library, .csv, entities: ["Book"], predicate: "pages > 1000")
    #expect(csv.split(separator: "\r\n").count == 3)
    #expect(try exported(library, .markdown).contains("| Book/p12 | Volume 12 |"))
    #expect(throws: ToolError.self) { try exported(library, .csv) }
    var export = StoreExport(try OpenedStore(library.place))
    export.form = .csv
    let folder = ProcessFolder.newURL("export")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    #expect(try export.writeFiles(to: folder) == ["Author.csv", "Book.csv", "Person.csv", "Tag.csv"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 4)
    let people = try String(contentsOf: folder.appendingPathComponent("Person.csv"), encoding: .utf8)
    #expect(people.contains("address.city") && people.contains("London"))
  }

  @Test(
    "Documents that are no JSON are refused with the line",
    arguments: ["", "{\"a\": }", "[1, 2", "\"text", "nul", "[1] 2", String(repeating: "[", count: 100_000)])
  func badJSON(document: String) {
    let error = #expect(throws: ToolError.self) { try JSONValue(reading: Data(("\n" + document).utf8)) }
    #expect(error?.message.contains("Line 2 is no JSON") == true || document.isEmpty)
  }

  @Test("JSON that is written is read as the same value")
  func json() throws {
    let value = JSONValue.object([
      .init("a\n\"\u{1}é😀", .array([.number("1.50"), .null, .bool(true), .string("\\")])),
      .init("b", .object([])),
    ])
    #expect(try JSONValue(reading: Data(value.text().utf8)) == value)
    #expect(try JSONValue(reading: Data(value.text(indented: false).utf8)) == value)
  }
}
