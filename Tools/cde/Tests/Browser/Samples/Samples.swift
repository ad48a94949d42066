import CoreDataEvolution
import Foundation
import SystemSQLite

/// Writes the stores that the browser looks at: a library, a store of a million rows, and models of 5, 20 and 60 entities.
@main
struct Samples {
  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      print("studio-samples FOLDER")
      return
    }
    let folder = URL(fileURLWithPath: CommandLine.arguments[1])
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try store(folder.appendingPathComponent("Library.sqlite"), LibraryModel.make(), LibraryModel.fill)
    let big = folder.appendingPathComponent("Big.sqlite")
    try store(big, BigModel.make(), BigModel.fill)
    try BigModel.addRows(to: big, count: 1_000_000)
    for count in [20, 60] {
      try store(folder.appendingPathComponent("Model\(count).sqlite"), WideModel.make(count)) { _ in }
    }
  }

  private static func store(
    _ url: URL, _ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void
  ) throws {
    let container = NSPersistentContainer(name: "sample", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    context.transactionAuthor = "importer"
    try context.performAndWait {
      try fill(context)
      try context.save()
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}

func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.attributeType = type
  attribute.isOptional = optional
  return attribute
}

/// Two relationships that are each other's inverses.
func join(
  _ one: NSEntityDescription, _ name: String, many: Bool, _ other: NSEntityDescription, _ inverse: String,
  many inverseIsMany: Bool, ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
) {
  let there = NSRelationshipDescription()
  there.name = name
  there.destinationEntity = other
  there.maxCount = many ? 0 : 1
  there.isOrdered = ordered
  there.deleteRule = rule
  let back = NSRelationshipDescription()
  back.name = inverse
  back.destinationEntity = one
  back.maxCount = inverseIsMany ? 0 : 1
  there.inverseRelationship = back
  back.inverseRelationship = there
  one.properties.append(there)
  other.properties.append(back)
}

func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
  let entity = NSEntityDescription()
  entity.name = name
  entity.properties = attributes
  return entity
}

enum LibraryModel {
  static func make() -> NSManagedObjectModel {
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.elements = [attribute("city", .stringAttributeType), attribute("zip", .integer32AttributeType)]
    let person = entity(
      "Person",
      [
        attribute("firstName", .stringAttributeType),
        attribute("lastName", .stringAttributeType, optional: false),
        attribute("born", .dateAttributeType), attribute("isActive", .booleanAttributeType), address,
      ])
    let author = entity("Author", [attribute("penName", .stringAttributeType)])
    person.subentities = [author]
    let pages = attribute("pages", .integer32AttributeType)
    pages.setValidationPredicates(
      [NSPredicate(format: "SELF >= 1")], withValidationWarnings: ["A book has pages."])
    let book = entity(
      "Book",
      [
        attribute("title", .stringAttributeType, optional: false), pages,
        attribute("price", .decimalAttributeType),
        attribute("isbn", .UUIDAttributeType), attribute("site", .URIAttributeType),
        attribute("cover", .binaryDataAttributeType), attribute("summary", .stringAttributeType),
        attribute("bought", .dateAttributeType),
      ])
    let tag = entity("Tag", [attribute("name", .stringAttributeType)])
    tag.uniquenessConstraints = [["name"]]
    let loan = entity(
      "Loan", [attribute("since", .dateAttributeType), attribute("returned", .dateAttributeType)])
    join(person, "books", many: true, book, "owner", many: false)
    join(book, "tags", many: true, tag, "books", many: true)
    join(book, "loans", many: true, loan, "book", many: false, ordered: true, rule: .cascadeDeleteRule)
    join(person, "loans", many: true, loan, "reader", many: false)
    let model = NSManagedObjectModel()
    model.entities = [person, author, book, tag, loan]
    return model
  }

  static func fill(_ context: NSManagedObjectContext) throws {
    func insert(_ name: String, _ values: [String: Any]) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }
    let day = Date(timeIntervalSinceReferenceDate: 757_429_200)
    let people = [("Ada", "Byron"), ("Grace", "Hopper"), ("Émilie", "du Châtelet")].map { first, last in
      insert(
        "Person",
        [
          "firstName": first, "lastName": last, "isActive": true, "born": day,
          "address": ["city": "London", "zip": 1000],
        ])
    }
    let writer = insert("Author", ["firstName": "Currer", "lastName": "Bell", "penName": "C. Bell"])
    let tags = ["engines", "letters", "<b>bold</b>", "Ελλάδα"].map { insert("Tag", ["name": $0]) }
    // A picture of one red point.
    let picture = Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")!
    for number in 1...60 {
      let book = insert(
        "Book",
        [
          "title": "Volume \(number)", "pages": 40 + number * 7, "price": Decimal(number) / 4,
          "owner": number % 4 == 0 ? writer : people[number % 3],
          "bought": day.addingTimeInterval(Double(number) * 86_400),
          "tags": NSSet(array: [tags[number % 4]]),
        ])
      if number % 3 == 0 { book.setValue(UUID(), forKey: "isbn") }
      if number == 1 {
        book.setValue(picture, forKey: "cover")
        book.setValue(URL(string: "https://example.org/1"), forKey: "site")
        book.setValue(
          "A long summary, which does not fit into a cell of the table.\nIt has two lines, and <script>alert(1)</script>.",
          forKey: "summary")
        let loans = (0..<3).map {
          insert("Loan", ["since": day.addingTimeInterval(Double($0) * 604_800), "reader": people[$0 % 3]])
        }
        book.setValue(NSOrderedSet(array: loans), forKey: "loans")
      }
    }
  }
}

enum BigModel {
  static func make() -> NSManagedObjectModel {
    let note = entity(
      "Note",
      [
        attribute("title", .stringAttributeType), attribute("stars", .integer32AttributeType),
        attribute("created", .dateAttributeType), attribute("text", .stringAttributeType),
      ])
    note.indexes = [
      NSFetchIndexDescription(
        name: "byStars",
        elements: [
          NSFetchIndexElementDescription(property: note.propertiesByName["stars"]!, collationType: .binary)
        ])
    ]
    let folder = entity("Folder", [attribute("name", .stringAttributeType)])
    join(folder, "notes", many: true, note, "folder", many: false)
    let model = NSManagedObjectModel()
    model.entities = [note, folder]
    return model
  }

  static func fill(_ context: NSManagedObjectContext) throws {
    for number in 1...10 {
      let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
      folder.setValue("Folder \(number)", forKey: "name")
    }
    NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
      "first", forKey: "title")
  }

  /// Adds rows by SQL, which takes seconds instead of minutes.
  static func addRows(to url: URL, count: Int) throws {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    let sql = """
      DELETE FROM ZNOTE;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSTARS, ZCREATED, ZTEXT, ZFOLDER)
      SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'), 1, 'Note ' || (i * 7919 % \(count)), i % 6,
        700000000 + i, 'The text of note ' || i || ' is as long as a line', 1 + i % 10 FROM n;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Note';
      """
    guard sqlite3_open(url.path, &database) == SQLITE_OK,
      sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
    else {
      throw CocoaError(
        .fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: String(cString: sqlite3_errmsg(database))])
    }
  }
}

/// A model of many entities that refer to each other, as apps have them.
enum WideModel {
  private static let names = [
    "Account", "Address", "Album", "Alert", "Answer", "Article", "Asset", "Badge", "Basket", "Book",
    "Calendar", "Card",
    "Category", "Channel", "Chapter", "City", "Comment", "Company", "Contact", "Country", "Coupon", "Course",
    "Customer",
    "Device", "Document", "Event", "Exercise", "Feed", "Folder", "Game", "Group", "Image", "Invoice", "Item",
    "Job",
    "Journal", "Label", "Lesson", "Level", "List", "Location", "Meal", "Message", "Movie", "Note", "Order",
    "Page", "Payment",
    "Person", "Place", "Player", "Project", "Question", "Recipe", "Review", "Route", "Session", "Song",
    "Task", "Team",
  ]

  static func make(_ count: Int) -> NSManagedObjectModel {
    let types: [(String, NSAttributeType)] = [
      ("name", .stringAttributeType), ("created", .dateAttributeType), ("isHidden", .booleanAttributeType),
      ("position", .integer32AttributeType), ("amount", .decimalAttributeType),
      ("note", .stringAttributeType),
      ("picture", .binaryDataAttributeType),
    ]
    let entities = names.prefix(count).enumerated().map { place, name in
      entity(name, types.prefix(2 + place % 6).map { attribute($0.0, $0.1) })
    }
    for place in 1..<count {
      let (one, other) = (entities[place], entities[(place - 1) / 3])
      let name = one.name!.lowercased()
      join(
        other, "\(name)s", many: true, one, "of\(other.name!)", many: false,
        rule: place % 4 == 0 ? .cascadeDeleteRule : .nullifyDeleteRule)
      if place % 5 == 0 {
        let far = entities[place * 7 % count]
        if far !== one {
          join(one, "linked\(far.name!)s", many: true, far, "linking\(one.name!)s", many: true)
        }
      }
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }
}
