import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

/// Stores behind symbolic links, entities with a property `id`, abstract entities, ordered relationships, and files with mistakes.
@Suite("Stores and files that are not the usual ones")
struct StrangeStoreTests {
  /// An abstract entity, one with an attribute `id`, and an ordered relationship whose inverse is a to-one.
  private static func model() -> NSManagedObjectModel {
    let (thing, list, entry) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (thing.name, list.name, entry.name) = ("Thing", "List", "Entry")
    thing.isAbstract = true
    let photo = Library.attribute("photo", .binaryDataAttributeType)
    photo.allowsExternalBinaryDataStorage = true
    thing.properties = [Library.attribute("title", .stringAttributeType)]
    let entries = Library.relationship("entries", to: entry, many: true)
    entries.isOrdered = true
    let owner = Library.relationship("list", to: list, many: false)
    Library.join(entries, owner)
    list.properties = [
      Library.attribute("id", .UUIDAttributeType), Library.attribute("weight", .doubleAttributeType), entries,
    ]
    entry.properties = [Library.attribute("made", .dateAttributeType), photo, owner]
    thing.subentities = [list, entry]
    let model = NSManagedObjectModel()
    model.entities = [thing, list, entry]
    return model
  }

  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "strange-\(UUID().uuidString)")
  private var url: URL { folder.appendingPathComponent("Real/Things.sqlite") }
  private static let photo = Data(repeating: 9, count: 300_000)

  private func make(_ fill: (NSManagedObjectContext) -> Void = { _ in }) throws -> StorePlace {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let container = try Library.container(at: url, Self.model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      fill(context)
      try context.save()
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    return .file(url)
  }

  private func makeList() throws -> StorePlace {
    try make { context in
      let list = Library.insert("List", ["id": UUID(), "title": "a\0b", "weight": -Double.infinity], context)
      let entries = (1...3).map { Library.insert("Entry", ["title": "\($0)", "photo": Self.photo], context) }
      list.setValue(NSOrderedSet(array: entries.reversed()), forKey: "entries")
    }
  }

  private func file(_ name: String, _ text: String) throws -> URL { try file(name, Data(text.utf8)) }

  private func file(_ name: String, _ data: Data) throws -> URL {
    let file = folder.appendingPathComponent(name)
    try data.write(to: file)
    return file
  }

  private func count(_ place: StorePlace, _ entity: String) throws -> Int {
    let store = try OpenedStore(place)
    return try store.count(store.entity(named: entity))
  }

  private func exported(_ place: StorePlace, _ form: StoreExport.Form, _ entities: String...) throws -> String
  {
    var export = StoreExport(try OpenedStore(place))
    (export.form, export.entities) = (form, entities)
    var result = ""
    try export.write { result += $0 }
    return result
  }

  @Test("An order that lacks a member, which another program added, is refused, and the member stays")
  func order() throws {
    let studio = try Studio(try makeList(), isWritable: true)
    func edit(_ order: String) throws {
      let text = "{\"id\": \"List/p1\", \"values\": {\"entries\": {\"order\": [\(order)]}}}"
      _ = try studio.edit(StudioEdit(JSONValue(reading: Data(text.utf8))))
    }
    try edit(#""Entry/p3", "Entry/p2", "Entry/p4""#)
    let failure = #expect(throws: StudioFailure.self) { try edit(#""Entry/p2", "Entry/p3""#) }
    #expect(failure?.kind == .conflict && failure?.fields.map(\.property) == ["entries"])
    let members = try studio.members(of: "List/p1", "entries", at: 0, limit: 10)
    #expect(members["count"] == .int(3))
  }

  @Test(
    "A dry run and a backup through a symbolic link use the file that it leads to", arguments: [false, true])
  func links(isRelative: Bool) throws {
    _ = try makeList()
    defer { try? FileManager.default.removeItem(at: folder) }
    let link = folder.appendingPathComponent("link.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: isRelative ? "Real/Things.sqlite" : url.path)
    var work = StoreImport(.file(link))
    work.entity = "Entry"
    work.isDryRun = true
    let answer = try work.answer(try file("new.csv", "title\nnew\n"))
    #expect(text(answer).contains("nothing is written"))
    #expect(try count(.file(url), "Entry") == 3)
    let copy = try Backup.make(of: link)
    #expect(copy.resolvingSymlinksInPath().path != url.resolvingSymlinksInPath().path)
    #expect(try exported(.file(copy), .json) == exported(.file(url), .json))
    #expect(try StoreCheck(.file(link)).findings() == [])
  }

  @Test(
    "An attribute named id is exported beside the object's ID, and imported again",
    arguments: [StoreExport.Form.json, .csv])
  func identifiers(form: StoreExport.Form) throws {
    let place = try makeList()
    defer { try? FileManager.default.removeItem(at: folder) }
    let all = try exported(place, .json, "List")
    let text = try exported(place, form, "List")
    #expect(text.contains("$id") && text.contains("List/p1"))
    let source = try file("lists.\(form)", text)
    let other = StrangeStoreTests()
    let target = try other.make()
    defer { try? FileManager.default.removeItem(at: other.folder) }
    var work = StoreImport(target)
    if form == .csv { work.entity = "List" }
    // The entries are not in the file.
    let refused = try work.answer(source)
    #expect(refused.hasFindings)
    let alone = try file(
      "alone.\(form)", text.replacing(/,"entries":\[[^\]]*\]/, with: "").replacing(/Entry\/p\d ?/, with: ""))
    let answer = try work.answer(alone)
    #expect(!answer.hasFindings, "\(CDEToolKitTests.text(answer))")
    let id = try #require(all.firstMatch(of: /"id":"([0-9A-F-]{36})"/)?.output.1)
    #expect(try exported(target, .json, "List").contains(id))
  }

  @Test("SQL keeps zeros in texts, infinity, and the order of members")
  func sql() throws {
    let place = try makeList()
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = FilledDatabase(try exported(place, .sql))
    #expect(database.value("SELECT hex(title) FROM List") == "610062")
    #expect(database.value("SELECT weight < -1e308 AND typeof(weight) = 'real' FROM List") == "1")
    #expect(database.value("SELECT length(id) FROM List") == "36")
    #expect(
      database.value(
        "SELECT group_concat(title, '') FROM (SELECT title FROM \"List.entries\" JOIN Entry ON Entry.id = member ORDER BY position)"
      )
        == "321")
  }

  @Test(
    "A file with a mistake is refused, and nothing is written",
    arguments: [
      ("a.csv", "title,made\nx,2023-02-30\n", "Entry", "made has to be a date"),
      ("a.csv", "title\nx,y\n", "Entry", "has 2 fields for 1 columns"),
      ("a.csv", "title,made,title\nx,,y\n", "Entry", "two columns with the name title"),
      ("a.csv", "title\nx\n", "Thing", "Thing is abstract and has no objects. Choose from Entry, List"),
      ("a.json", "[{\"weight\": 1e400}]", "List", "weight has to be a number that fits"),
      (
        "a.json", "[{\"id\": \"A\", \"title\": \"1\"}, {\"id\": \"A\"}]", "Entry",
        "Another record has the ID A"
      ),
      ("a.csv", "title\n\u{E9}", "Entry", "is not in UTF-8"),
      ("a.json", "[{\"title\": \"\u{E9}\"}]", "Entry", "is not in UTF-8"),
    ])
  func mistakes(name: String, content: String, entity: String, reason: String) throws {
    let place = try make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let isLatin = reason.contains("UTF-8")
    let source = try file(name, try #require(content.data(using: isLatin ? .isoLatin1 : .utf8)))
    var work = StoreImport(place)
    work.entity = entity
    do {
      let answer = try work.answer(source)
      #expect(answer.hasFindings && text(answer).contains(reason), "\(text(answer))")
    } catch {
      #expect("\(error)".contains(reason), "\(error)")
    }
    #expect(try count(place, "Entry") + count(place, "List") == 0)
  }

  @Test("A key that the entity does not have is an error")
  func unknownKey() throws {
    let place = try make()
    defer { try? FileManager.default.removeItem(at: folder) }
    var work = StoreImport(place)
    (work.entity, work.key) = ("Entry", "titel")
    let error = try #require(throws: ToolError.self) { try work.answer(try file("a.csv", "title\nx\n")) }
    #expect(error.status == .usage && error.message.contains("no attribute titel"))
    #expect(try count(place, "Entry") == 0)
  }

  @Test("A date is written so that it is read as the same date")
  func dates() throws {
    for _ in 0..<2_000 {
      // Nine digits of a second are exact up to this size.
      let seconds =
        Double(Int64.random(in: -4_000_000_000_000...4_000_000_000_000)) / 1_000
      let text = DateText.text(Date(timeIntervalSinceReferenceDate: seconds))
      #expect(DateText.date(text)?.timeIntervalSinceReferenceDate == seconds, "\(seconds) is \(text)")
    }
    #expect(DateText.text(Date(timeIntervalSinceReferenceDate: 725_760_000.97)).hasSuffix(":00.97Z"))
    #expect(
      DateText.date("2024-02-29") != nil && DateText.date("2023-02-29") == nil
        && DateText.date("2023-04-31") == nil)
    #expect(DateText.date("9999-12-31T23:59:59Z").map(DateText.text) == "9999-12-31T23:59:59Z")
  }

  @Test("A salvage that saved no row has a finding")
  func nothingSaved() throws {
    let place = try makeList()
    defer { try? FileManager.default.removeItem(at: folder) }
    guard case .file(let url) = place else { return }
    let whole = try Data(contentsOf: url)
    let damaged = try file("cut.sqlite", whole.prefix(4_096))
    let answer = try Salvage.answer(
      damaged, to: folder.appendingPathComponent("saved.sqlite"), model: Self.model())
    #expect(answer.hasFindings, "\(text(answer))")
  }
}
