@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import SystemSQLite
import Testing

@testable import CDEToolKit

@Suite("Editing by pages", .timeLimit(.minutes(2)))
struct StudioEditTests {
  private let library: Library
  private let studio: Studio

  init() throws {
    library = try Library()
    studio = try Studio(library.place, isWritable: true)
  }

  private func edit(_ text: String) throws -> JSONValue {
    try studio.edit(StudioEdit(JSONValue(reading: Data(text.utf8))))
  }

  /// A value as another process reads it.
  private func stored(_ id: String, _ name: String) throws -> String {
    let page = try OpenedStore(library.place).page(of: id)
    guard case .facts(let facts) = page.blocks[0] else { return "" }
    return facts.first { $0.name == name }?.cell.text ?? ""
  }

  private func failure(_ text: String) throws -> StudioFailure {
    try #require(#expect(throws: StudioFailure.self) { try edit(text) })
  }

  @Test("Values of all types are saved, undone and redone")
  func values() throws {
    defer { library.remove() }
    let answer = try edit(
      #"{"id": "Book/p2", "values": {"title": "Neu", "pages": "7", "price": "1.25", "weight": null, "page": "https://example.org/2", "isbn": "6F9619FF-8B86-D011-B42D-00CF4FC964FF"}, "was": {"title": "Volume 2", "pages": "200"}}"#
    )
    #expect(answer["ids"] == .array([.string("Book/p2")]))
    #expect(answer["undo"]?.words == "title, pages, price, weight, page, isbn of Book/p2")
    #expect(try stored("Book/p2", "title") == "Neu" && stored("Book/p2", "price") == "1.25")
    #expect(try stored("Book/p2", "weight") == "" && stored("Book/p2", "page") == "https://example.org/2")
    let undone = try studio.undo()
    #expect(
      undone["undo"] == .null && undone["redo"] != .null && undone["ids"] == .array([.string("Book/p2")]))
    #expect(try stored("Book/p2", "title") == "Volume 2" && stored("Book/p2", "weight") == "0.5")
    #expect(try studio.object("Book/p2")["attributes"]?.named("pages")?["value"]?.words == "200")
    _ = try studio.redo()
    #expect(try stored("Book/p2", "title") == "Neu" && stored("Book/p2", "weight") == "")
    _ = try edit(
      #"{"id": "Person/p1", "values": {"address": {"city": "Paris", "zip": "75"}, "born": "2020-01-02T03:04:05Z", "isActive": "false"}}"#
    )
    #expect(try stored("Person/p1", "address") == "{city: Paris, zip: 75}")
    #expect(
      try stored("Person/p1", "born") == "2020-01-02T03:04:05Z" && stored("Person/p1", "isActive") == "false")
  }

  /// Runs statements as another program.
  private func sql(_ statements: String) {
    var database: OpaquePointer?
    #expect(sqlite3_open(library.url.path, &database) == SQLITE_OK)
    #expect(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
  }

  @Test("What breaks a rule of the model comes back as it was when its deletion, or its change, is undone")
  func invalidBefore() throws {
    defer { library.remove() }
    sql("UPDATE ZBOOK SET ZTITLE = NULL, ZPAGES = 77 WHERE Z_PK IN (4, 5)")
    #expect(try failure(#"{"id": "Book/p4", "values": {"title": null}}"#).kind == .invalid)
    _ = try edit(#"{"id": "Book/p4", "values": {"title": "Four"}}"#)
    _ = try edit(#"{"delete": ["Book/p5"]}"#)
    #expect(try failure(#"{"id": "Book/p5", "values": {"pages": "1"}}"#).kind == .missing)
    _ = try studio.undo()
    #expect(try stored("Book/p5", "pages") == "77" && stored("Book/p5", "title") == "")
    _ = try studio.undo()
    #expect(try stored("Book/p4", "title") == "")
    _ = try studio.redo()
    #expect(try stored("Book/p4", "title") == "Four")
  }

  @Test("A step of undo that another program's lock keeps from being saved can be taken again")
  func locked() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"pages": "1"}}"#)
    _ = try edit(#"{"id": "Book/p2", "values": {"pages": "2"}}"#)
    var database: OpaquePointer?
    #expect(sqlite3_open(library.url.path, &database) == SQLITE_OK)
    #expect(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    let refused = #expect(throws: StudioFailure.self) { try studio.undo() }
    #expect(refused?.message.contains("can't be undone any more") == false)
    #expect(try studio.undoState()["undo"]?.words == "pages of Book/p2")
    #expect(sqlite3_exec(database, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
    _ = try studio.undo()
    #expect(try stored("Book/p2", "pages") == "1")
    _ = try studio.undo()
    #expect(try stored("Book/p2", "pages") == "200")
    _ = try studio.redo()
    #expect(try stored("Book/p2", "pages") == "1")
  }

  @Test("Values of relationships that are no IDs are refused, and change nothing")
  func noIDs() throws {
    defer { library.remove() }
    let owner = try stored("Book/p2", "owner")
    for value in ["[\"Person/p1\"]", "5", "true", "{\"id\": \"Person/p1\"}"] {
      #expect(
        try failure("{\"id\": \"Book/p2\", \"values\": {\"owner\": \(value)}}").kind == .invalid, "\(value)")
    }
    for value in [
      "[\"Tag/p1\"]", "\"Tag/p1\"", "{\"add\": \"Tag/p1\"}", "{\"add\": [5]}", "{\"set\": [\"Tag/p1\"]}",
    ] {
      #expect(
        try failure("{\"id\": \"Book/p2\", \"values\": {\"tags\": \(value)}}").kind == .invalid, "\(value)")
    }
    #expect(try failure(#"{"delete": ["Book/p2", 5]}"#).kind == .wrong)
    #expect(try stored("Book/p2", "owner") == owner)
  }

  @Test(
    "Numbers that another number would stand for are refused",
    arguments: ["0x10", "0x1p3", "-infinity", "nan", "1e-300", "1e300", "12abc", ""])
  func otherNumbers(text: String) throws {
    defer { library.remove() }
    let values = "{\"id\": \"Book/p2\", \"values\": {\"price\": \"\(text)\"}}"
    #expect(try failure(values).fields.map(\.property) == ["price"])
    for fine in ["0", "-1.50", ".5", "1e10", "0.000"] {
      _ = try edit("{\"id\": \"Book/p2\", \"values\": {\"price\": \"\(fine)\"}}")
    }
  }

  @Test("An object that another program changed can be changed again after one refusal")
  func conflictsEnd() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"pages": "1"}}"#)
    sql("UPDATE ZBOOK SET ZPAGES = 9, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    let change = #"{"id": "Person/p1", "values": {"books": {"remove": ["Book/p2"]}}}"#
    _ = try? edit(change)
    _ = try edit(change)
    #expect(try stored("Book/p2", "owner") == "" && stored("Book/p2", "pages") == "9")
  }

  @Test("Undo does not overwrite a relationship that another program has set")
  func relationshipOfOthers() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"owner": null}}"#)
    sql("UPDATE ZBOOK SET ZOWNER = 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    _ = try edit(#"{"id": "Book/p2", "values": {"pages": "3"}}"#)
    _ = try studio.undo()
    let refused = #expect(throws: StudioFailure.self) { try studio.undo() }
    #expect(refused?.message == "There is nothing to undo.")
    #expect(try stored("Book/p2", "owner") != "")
  }

  @Test("A reference to an object that the store does not have is shown as such, and can be changed")
  func dangling() throws {
    defer { library.remove() }
    sql("UPDATE ZBOOK SET ZOWNER = 999, Z_OPT = Z_OPT + 1 WHERE Z_PK = 3")
    let owner = try studio.object("Book/p3")["relationships"]?.named("owner")
    #expect(
      owner?["objects"]?.text(indented: false) == #"[{"id":"Person/p999","name":"Person/p999 (missing)"}]"#)
    let rows = try studio.rows(StudioQuery(entity: "Book")).text(indented: false)
    #expect(rows.contains("Person/p999 (missing)"))
    _ = try edit(#"{"id": "Book/p3", "values": {"owner": "Person/p1"}, "was": {"owner": "Person/p999"}}"#)
    #expect(try stored("Book/p3", "owner") != "")
  }

  @Test("A page far behind the last row is empty")
  func farBehind() throws {
    defer { library.remove() }
    let page = try studio.rows(StudioQuery(entity: "Book"), at: Int.max - 1, limit: 1_000)
    #expect(page["rows"] == .array([]))
  }

  @Test("Relationships to one and to many are changed, and undone")
  func relationships() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p1", "values": {"owner": "Author/p2", "tags": {"remove": ["Tag/p1"]}}}"#)
    #expect(
      try stored("Book/p1", "owner") == "Currer Bell  [Author/p2]" && stored("Book/p1", "tags") == "none")
    _ = try edit(
      #"{"id": "Person/p1", "values": {"books": {"add": ["Book/p12"], "remove": ["Book/p2", "Book/p3"]}}}"#)
    #expect(try stored("Book/p12", "owner").contains("Ada") && stored("Book/p3", "owner") == "")
    _ = try studio.undo()
    #expect(try stored("Book/p12", "owner").contains("Currer") && stored("Book/p3", "owner").contains("Ada"))
    _ = try studio.undo()
    #expect(try stored("Book/p1", "owner").contains("Ada") && stored("Book/p1", "tags") == "1: engines")
    let wrong = try failure(#"{"id": "Book/p1", "values": {"owner": "Tag/p1"}}"#)
    #expect(wrong.kind == .invalid && wrong.fields.first?.property == "owner")
  }

  @Test(
    "What the model or the store refuses is told by field, and changes nothing",
    arguments: [
      (#"{"id": "Book/p2", "values": {"title": null}}"#, "title"),
      (#"{"id": "Book/p2", "values": {"pages": "many"}}"#, "pages"),
      (#"{"id": "Book/p2", "values": {"pages": "3000000000", "isbn": "x"}}"#, "pages isbn"),
      (#"{"entity": "Book", "values": {"pages": "3"}}"#, "title"),
      (#"{"entity": "Tag", "values": {"name": "engines"}}"#, "name"),
      (#"{"id": "Book/p2", "values": {"absent": "3"}}"#, "absent"),
    ])
  func refused(text: String, fields: String) throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"weight": "3"}}"#)
    let failure = try failure(text)
    #expect(
      failure.kind == .invalid && failure.fields.map(\.property).joined(separator: " ") == fields,
      "\(failure)")
    #expect(
      failure.fields.allSatisfy { $0.message.hasSuffix(".") && !$0.message.contains("\n") },
      "\(failure.fields)")
    #expect(try stored("Book/p2", "title") == "Volume 2")
    #expect(try OpenedStore(library.place).count(OpenedStore(library.place).entity(named: "Tag")) == 1)
    // The step before can still be undone, and what failed can't be redone.
    #expect(try studio.undoState()["redo"] == .null)
    _ = try studio.undo()
    #expect(try stored("Book/p2", "weight") == "0.5")
    _ = try studio.redo()
    #expect(try stored("Book/p2", "weight") == "3.0")
    #expect(try studio.undoState()["redo"] == .null)
    #expect(throws: StudioFailure.self) { try studio.redo() }
  }

  @Test("Objects are made and deleted, and both can be undone")
  func presence() throws {
    defer { library.remove() }
    let made = try edit(
      #"{"entity": "Book", "values": {"title": "New", "owner": "Person/p1", "tags": {"add": ["Tag/p1"]}}}"#)
    let id = try #require(made["ids"]?.list.first?.words)
    #expect(try stored(id, "owner").contains("Ada") && stored(id, "tags") == "1: engines")
    _ = try edit(#"{"delete": ["Person/p1", "Tag/p1"]}"#)
    #expect(throws: ToolError.self) { try stored("Person/p1", "lastName") }
    #expect(try stored("Book/p4", "owner") == "")
    _ = try studio.undo()
    #expect(try stored("Person/p1", "lastName") == "Byron" && stored("Book/p4", "owner").contains("Ada"))
    _ = try studio.undo()
    #expect(throws: ToolError.self) { try stored(id, "title") }
    #expect(try studio.undoState()["undo"] == .null)
    let abstract = try failure(#"{"entity": "Absent", "values": {}}"#)
    #expect(abstract.kind == .wrong)
  }

  @Test("What another program changed meanwhile is told, and not overwritten")
  func conflicts() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"weight": "3"}}"#)
    func write(_ pages: Int) throws {
      try Library.write(at: library.url) { context in
        let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        books.first { $0.value(forKey: "title") as? String == "Volume 2" }?.setValue(pages, forKey: "pages")
      }
    }
    try write(5)
    // An undo is a change of a row that is newer.
    let undo = try #require(#expect(throws: StudioFailure.self) { try studio.undo() })
    #expect(undo.kind == .conflict && undo.message.contains("Earlier changes can't be undone"), "\(undo)")
    #expect(try stored("Book/p2", "weight") == "3.0" && stored("Book/p2", "pages") == "5")
    try write(6)
    let conflict = try failure(#"{"id": "Book/p2", "values": {"pages": "8"}, "was": {"pages": "5"}}"#)
    #expect(
      conflict.kind == .conflict
        && conflict.fields == [.init("pages", "Another program changed this to 6.", now: .string("6"))])
    #expect(try stored("Book/p2", "pages") == "6")
    // Another property is no conflict.
    _ = try edit(#"{"id": "Book/p2", "values": {"weight": "4"}, "was": {"weight": "3.0"}}"#)
    #expect(try stored("Book/p2", "weight") == "4.0" && stored("Book/p2", "pages") == "6")
    try write(9)
    // The look at the newer row drops the steps before it.
    _ = try edit(#"{"id": "Book/p2", "values": {"title": "T"}}"#)
    _ = try studio.undo()
    #expect(throws: StudioFailure.self) { try studio.undo() }
    #expect(try stored("Book/p2", "pages") == "9" && stored("Book/p2", "title") == "Volume 2")
  }

  @Test("A page edits a transformable value only if its text stands for the same value")
  func transformables() throws {
    defer { library.remove() }
    let values: [(String, Any, Bool)] = [
      ("text", "plain", true), ("list", ["a", 1, true, NSNull(), ["b": 2.5]] as NSArray, true),
      ("date", Library.moment, false), ("number", 5 as NSNumber, false), ("bytes", Data([1, 2]), false),
      ("dates", [Library.moment] as NSArray, false), ("like a list", "[1]", false),
      ("decimals", [Decimal(1) / 3] as NSArray, false),
    ]
    try Library.write(at: library.url) { context in
      for (name, value, _) in values { _ = Library.insert("Book", ["title": name, "notes": value], context) }
    }
    for (name, value, isText) in values {
      let id = try #require(
        try studio.find(name, entity: "Book").list.first { $0["name"]?.words == name }?["id"]?.words)
      let notes = try #require(try studio.object(id)["attributes"]?.named("notes"))
      #expect(notes["text"] == .bool(isText), "\(name): \(notes.text())")
      guard isText, let text = notes["value"]?.words else { continue }
      // Another value, and the one before as the page shows it.
      _ = try edit(#"{"id": "\#(id)", "values": {"notes": "other"}}"#)
      _ = try studio.edit(
        StudioEdit(
          .object([
            .init("id", .string(id)), .init("values", .object([.init("notes", .string(text))])),
            .init("was", .object([.init("notes", .string("other"))])),
          ])))
      let read = try OpenedStore(library.place).read { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == %@", name)
        return try context.fetch(request).first?.value(forKey: "notes").map {
          ($0 as? NSObject) ?? ($0 as! String) as NSString
        }
      }
      #expect(read == (value as? NSObject ?? (value as! String) as NSString), "\(name)")
    }
  }

  @Test("Bytes that another program changed are a conflict, also of the same length")
  func binaryConflicts() throws {
    defer { library.remove() }
    func stamp() throws -> String {
      try #require(try studio.object("Book/p1")["attributes"]?.named("cover")?["stamp"]?.words)
    }
    let before = try stamp()
    try Library.write(at: library.url) { context in
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      books.first { $0.value(forKey: "title") as? String == "Volume 1" }?.setValue(
        Data([0x89, 0x50, 0x4E, 0x47, 1, 3]), forKey: "cover")
    }
    let conflict = try failure(
      #"{"id": "Book/p1", "values": {"cover": null}, "was": {"cover": "\#(before)"}}"#)
    #expect(
      conflict.kind == .conflict
        && conflict.fields.first?.message == "Another program changed this to <PNG image, 6 bytes>.")
    #expect(conflict.fields.first?.now == .string(try stamp()))
    _ = try edit(#"{"id": "Book/p1", "values": {"cover": "AQI="}, "was": {"cover": "\#(try stamp())"}}"#)
    #expect(try studio.bytes(of: "Book/p1", "cover") == Data([1, 2]))
    #expect(
      try failure(#"{"id": "Book/p1", "values": {"cover": "AQ=="}, "was": {"cover": null}}"#).kind
        == .conflict)
  }

  @Test("An element of a composite is set beside another program's change of another element")
  func elements() throws {
    defer { library.remove() }
    func write(_ city: String) throws {
      try Library.write(at: library.url) { context in
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        let ada = people.first { $0.value(forKey: "lastName") as? String == "Byron" }
        var address = ada?.value(forKey: "address") as? [String: Any] ?? [:]
        address["city"] = city
        ada?.setValue(address, forKey: "address")
      }
    }
    try write("Paris")
    _ = try edit(
      #"{"id": "Person/p1", "values": {"address": {"zip": "75"}}, "was": {"address": {"zip": "1000"}}}"#)
    #expect(try stored("Person/p1", "address") == "{city: Paris, zip: 75}")
    try write("Rome")
    let conflict = try failure(
      #"{"id": "Person/p1", "values": {"address": {"city": "Bonn"}}, "was": {"address": {"city": "Paris"}}}"#)
    #expect(conflict.fields.first?.message == "Another program changed this to city: Rome.")
    #expect(conflict.fields.first?.now?["city"] == .string("Rome"))
    _ = try edit(
      #"{"id": "Person/p1", "values": {"address": {"city": null}}, "was": {"address": {"city": "Rome"}}}"#)
    #expect(try stored("Person/p1", "address") == "{zip: 75}")
    _ = try edit(#"{"id": "Person/p1", "values": {"address": {"zip": null}}}"#)
    #expect(try stored("Person/p1", "address") == "")
    _ = try studio.undo()
    #expect(try stored("Person/p1", "address") == "{zip: 75}")
  }

  @Test("A dictionary of a transformable attribute is replaced as a whole")
  func dictionaries() throws {
    defer { library.remove() }
    _ = try edit(#"{"id": "Book/p2", "values": {"notes": {"a": 1, "b": 2}}}"#)
    _ = try edit(#"{"id": "Book/p2", "values": {"notes": {"b": 3}}}"#)
    #expect(try stored("Book/p2", "notes") == "{b: 3}")
  }

  @Test("A value whose file is gone is named, and can be replaced")
  func unread() throws {
    defer { library.remove() }
    func cover() throws -> JSONValue {
      try #require(try studio.object("Book/p4")["attributes"]?.named("cover"))
    }
    _ = try edit(
      #"{"id": "Book/p4", "values": {"cover": "\#(Data(count: 2_000_000).base64EncodedString())"}}"#)
    #expect(try cover()["bytes"]?.number == 2_000_000 && cover()["unread"] == nil)
    let files = library.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.removeItem(at: files)
    #expect(try cover()["unread"] == .bool(true) && cover()["value"] == .null)
    _ = try edit(#"{"id": "Book/p4", "values": {"cover": "AQI="}, "was": {"cover": null}}"#)
    #expect(try cover()["unread"] == nil && cover()["bytes"]?.number == 2)
  }

  @Test("An edit is a commit of cde, which the pages show at once")
  func commit() throws {
    defer { library.remove() }
    #expect(try studio.count(StudioQuery(entity: "Tag"))["count"]?.number == 1)
    _ = try edit(#"{"entity": "Tag", "values": {"name": "x"}}"#)
    #expect(try studio.count(StudioQuery(entity: "Tag"))["count"]?.number == 2)
    #expect(try studio.commits()["commits"]?.list.first?["author"]?.words == "cde")
    studio.close()
    // The log is in the file, so that a copy of the file has the edit.
    #expect(!FileManager.default.fileExists(atPath: library.url.path + "-wal"))
  }
}
