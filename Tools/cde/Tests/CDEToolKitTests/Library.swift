import CoreDataEvolution
@_spi(CDE) import CDESQLiteFaults
import Foundation
import SystemSQLite
import Testing

@testable import CDEToolKit

/// A store of books as an app leaves it, in a folder of its own.
struct Library {
  let folder: URL
  let url: URL

  init(_ fill: (NSManagedObjectContext) throws -> Void = Library.fill) throws {
    folder = ProcessFolder.url.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent("Library.sqlite")
    try Self.write(at: url, fill)
  }

  var place: StorePlace { .file(url) }

  static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    return attribute
  }

  static func relationship(_ name: String, to entity: NSEntityDescription, many: Bool)
    -> NSRelationshipDescription
  {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = entity
    relationship.maxCount = many ? 0 : 1
    return relationship
  }

  static func join(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    one.inverseRelationship = other
    other.inverseRelationship = one
  }

  static func model() -> NSManagedObjectModel {
    let person = NSEntityDescription()
    person.name = "Person"
    let author = NSEntityDescription()
    author.name = "Author"
    let book = NSEntityDescription()
    book.name = "Book"
    let tag = NSEntityDescription()
    tag.name = "Tag"
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.elements = [attribute("city", .stringAttributeType), attribute("zip", .integer32AttributeType)]
    let notes = attribute("notes", .transformableAttributeType)
    let cover = attribute("cover", .binaryDataAttributeType)
    cover.allowsExternalBinaryDataStorage = true
    let books = relationship("books", to: book, many: true)
    let owner = relationship("owner", to: person, many: false)
    join(books, owner)
    let tags = relationship("tags", to: tag, many: true)
    let tagged = relationship("books", to: book, many: true)
    join(tags, tagged)
    person.properties = [
      attribute("firstName", .stringAttributeType), attribute("lastName", .stringAttributeType),
      attribute("born", .dateAttributeType), attribute("isActive", .booleanAttributeType), address, books,
    ]
    author.properties = [attribute("penName", .stringAttributeType)]
    book.properties = [
      attribute("title", .stringAttributeType, optional: false), attribute("pages", .integer32AttributeType),
      attribute("price", .decimalAttributeType), attribute("weight", .doubleAttributeType),
      attribute("isbn", .UUIDAttributeType), attribute("page", .URIAttributeType), cover, notes, owner, tags,
    ]
    tag.properties = [attribute("name", .stringAttributeType), tagged]
    tag.uniquenessConstraints = [["name"]]
    person.subentities = [author]
    let model = NSManagedObjectModel()
    model.entities = [person, author, book, tag]
    model.versionIdentifiers = ["7"]
    return model
  }

  static func container(at url: URL, _ model: NSManagedObjectModel = model()) throws -> NSPersistentContainer
  {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.persistentStoreDescriptions[0].setOption(
      true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// Writes with a coordinator that is closed afterwards, as a process that ends does.
  static func write(at url: URL, _ fill: (NSManagedObjectContext) throws -> Void) throws {
    let container = try container(at: url)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try fill(context)
      try context.save()
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  static func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext)
    -> NSManagedObject
  {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  static let moment = Date(timeIntervalSinceReferenceDate: 757_429_323.25)

  static func fill(_ context: NSManagedObjectContext) throws {
    let ada = insert(
      "Person",
      [
        "firstName": "Ada", "lastName": "Byron", "born": moment, "isActive": true,
        "address": ["city": "London", "zip": 1000],
      ], context)
    let pen = insert("Author", ["firstName": "Currer", "lastName": "Bell", "penName": "C. Bell"], context)
    let tag = insert("Tag", ["name": "engines"], context)
    for number in 1...12 {
      let book = insert(
        "Book",
        [
          "title": "Volume \(number)", "pages": number * 100, "price": Decimal(string: "9.\(number)")!,
          "weight": Double(number) / 4, "owner": number <= 9 ? ada : pen,
        ], context)
      if number == 1 {
        book.setValue(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF"), forKey: "isbn")
        book.setValue(URL(string: "https://example.org/1"), forKey: "page")
        book.setValue(Data([0x89, 0x50, 0x4E, 0x47, 1, 2]), forKey: "cover")
        book.setValue(["shelf", 3] as NSArray, forKey: "notes")
        book.setValue(NSSet(object: tag), forKey: "tags")
      }
    }
  }

  /// The names, bytes and modification times of everything in the folder.
  func contents() throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let path = folder.appendingPathComponent(name).path
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let bytes = FileManager.default.contents(atPath: path)
      result[name] = [
        "\(bytes.map(\.hashValue) ?? 0)", "\(attributes[.modificationDate] ?? 0)", "\(bytes?.count ?? -1)",
      ]
    }
    return result
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// The text of an answer in a mode.
func text(_ answer: Answer, _ mode: OutputMode = .table) -> String { Renderer(mode: mode).text(of: answer) }

/// A database in memory that statements in SQL have filled.
final class FilledDatabase {
  private var database: OpaquePointer?

  init(_ sql: String) {
    #expect(sqlite3_open(":memory:", &database) == SQLITE_OK)
    #expect(
      sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
  }

  deinit { sqlite3_close(database) }

  /// The first value of a query as text; "none" without a row, and for NULL.
  func value(_ sql: String) -> String {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    sqlite3_prepare_v2(database, sql, -1, &statement, nil)
    guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else {
      return "none"
    }
    return String(cString: text)
  }
}
