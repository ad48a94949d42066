import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

// Short words for mapping models made in code, and two versions of a model that need one.

enum Library {
  /// Books with authors, in which each author is a text.
  static func old() -> NSManagedObjectModel {
    let book = entity(
      "Book", nil,
      [
        attribute("title", .stringAttributeType), attribute("pages", .stringAttributeType),
        attribute("cover", .binaryDataAttributeType),
      ])
    (book.propertiesByName["cover"] as? NSAttributeDescription)?.allowsExternalBinaryDataStorage = true
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType)])
    let label = entity("Label", nil, [attribute("text", .stringAttributeType)])
    connect(.many(shelf, "books", ordered: true), .one(book, "shelf"))
    connect(.many(book, "labels"), .many(label, "books"))
    let gone = entity("Gone", nil, [attribute("text", .stringAttributeType)])
    return model(book, shelf, label, gone)
  }

  /// Pages are a number, titles have another name, and there is an entity for the catalogue.
  static func new() -> NSManagedObjectModel {
    let book = entity(
      "Book", nil,
      [
        attribute("name", .stringAttributeType, optional: false), attribute("pages", .integer32AttributeType),
        attribute("cover", .binaryDataAttributeType), attribute("stars", .integer16AttributeType, default: 3),
      ])
    (book.propertiesByName["cover"] as? NSAttributeDescription)?.allowsExternalBinaryDataStorage = true
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType)])
    let label = entity("Label", nil, [attribute("text", .stringAttributeType)])
    connect(.many(shelf, "books", ordered: true), .one(book, "shelf"))
    connect(.many(book, "labels"), .many(label, "books"))
    let catalogue = entity("Catalogue", nil, [attribute("count", .integer64AttributeType)])
    return model(book, shelf, label, catalogue)
  }

  static func fill(_ context: NSManagedObjectContext, books: Int = 3, cover: Int = 0) throws {
    let shelves = (0..<2).map { context.make("Shelf", ["name": "shelf \($0)"]) }
    let labels = (0..<3).map { context.make("Label", ["text": "label \($0)"]) }
    for index in 0..<books {
      let book = context.make("Book", ["title": "book \(index)", "pages": "\(index * 100)"])
      if cover > 0 { book.setValue(Data(repeating: UInt8(index + 1), count: cover), forKey: "cover") }
      book.setValue(shelves[index % 2], forKey: "shelf")
      book.setValue(NSSet(array: [labels[index % 3], labels[(index + 1) % 3]]), forKey: "labels")
    }
    context.make("Gone", ["text": "gone"])
  }

  /// All objects as text, whichever of the versions the context has.
  static func facts(_ context: NSManagedObjectContext) throws -> [String] {
    var result: [String] = []
    for book in try context.all("Book") {
      let name = book.entity.attributesByName["name"] == nil ? "title" : "name"
      let labels = book.set("labels").compactMap { $0.value(forKey: "text") as? String }.sorted()
      let cover = (book.value(forKey: "cover") as? Data).map { "\($0.count) of \($0.first ?? 0)" } ?? "none"
      result.append(
        "book \(book.value(forKey: name) ?? "-") \(book.value(forKey: "pages") ?? "-") "
          + "\(book.one("shelf")?.value(forKey: "name") ?? "-") \(labels) \(cover)")
    }
    for shelf in try context.all("Shelf") {
      let books = shelf.list("books").count
      result.append("shelf \(shelf.value(forKey: "name") ?? "-") \(books)")
    }
    return result.sorted()
  }

  /// A mapping model in the form of Xcode's, with a policy for books.
  static func mapping(_ policy: NSEntityMigrationPolicy.Type? = BookPolicy.self) -> NSMappingModel {
    let result = NSMappingModel()
    let book = entityMapping(
      "BookToBook", "Book", "Book", policy == nil ? .transformEntityMappingType : .customEntityMappingType)
    book.entityMigrationPolicyClassName = policy.map { NSStringFromClass($0) }
    book.attributeMappings = [
      property("name", "$source.title"),
      property("pages", "FUNCTION($entityPolicy, 'numberOf:', $source.pages)"),
      property("cover", "$source.cover"), property("stars", nil),
    ]
    book.relationshipMappings = [
      property("shelf", destinations("ShelfToShelf", "shelf")),
      property("labels", destinations("LabelToLabel", "labels")),
    ]
    let shelf = entityMapping("ShelfToShelf", "Shelf", "Shelf", .copyEntityMappingType)
    shelf.attributeMappings = [property("name", "$source.name")]
    shelf.relationshipMappings = [property("books", destinations("BookToBook", "books"))]
    let label = entityMapping("LabelToLabel", "Label", "Label", .copyEntityMappingType)
    let gone = entityMapping("Gone", "Gone", nil, .removeEntityMappingType)
    let catalogue = entityMapping("Catalogue", nil, "Catalogue", .addEntityMappingType)
    result.entityMappings = [book, shelf, label, gone, catalogue]
    return result
  }

  static func entityMapping(
    _ name: String, _ source: String?, _ destination: String?, _ type: NSEntityMappingType
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = name
    mapping.sourceEntityName = source
    mapping.destinationEntityName = destination
    mapping.mappingType = type
    if let source {
      mapping.sourceExpression = TreeExpression(
        .call(
          target: .variable("manager"), selector: "fetchRequestForSourceEntityNamed:predicateString:",
          [.constant(.string(source)), .constant(.string("TRUEPREDICATE"))]))
    }
    return mapping
  }

  static func property(_ name: String, _ format: String?) -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = name
    mapping.valueExpression = format.map { TreeExpression(format: $0) }
    return mapping
  }

  static func destinations(_ mapping: String, _ key: String) -> String {
    "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', '\(mapping)', $source.\(key))"
  }

  /// A new place for a store.
  static func place() -> URL { ProcessFolder.newURL().appendingPathExtension("sqlite") }

  /// Migrates a store of the old version by a manager, and returns the new one.
  static func migrate(
    _ store: OldStore, _ mapping: NSMappingModel, to file: URL = place(),
    _ manager: NSMigrationManager = NSMigrationManager(sourceModel: old(), destinationModel: new())
  ) throws -> OldStore {
    try manager.migrateStore(
      from: store.file, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: file,
      destinationType: NSSQLiteStoreType)
    return OldStore(at: file)
  }
}

/// Makes numbers of texts.
final class BookPolicy: NSEntityMigrationPolicy {
  override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
    guard selector == "numberOf:", arguments.count == 1 else {
      return try super.value(ofFunction: selector, arguments: arguments)
    }
    return (arguments[0] as? String).flatMap { Int($0) }
  }
}

extension OldStore {
  func facts(_ model: NSManagedObjectModel) throws -> [String] {
    let container = try opened(model)
    defer { try? container.close() }
    return try container.work { try Library.facts($0) }
  }

  /// Expects that some work fails, and that the store is as before.
  func expectFailure(
    _ code: ManagedObjectError.Code, _ part: String, _ place: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) throws {
    let before = try contents()
    var failure: (any Error)?
    do { try body() } catch { failure = error }
    let error = try #require(
      failure as? ManagedObjectError, "\(failure.map { "\($0)" } ?? "no error")", sourceLocation: place)
    #expect(error.code == code, "\(error.message)", sourceLocation: place)
    #expect(error.message.contains(part), "\(error.message)", sourceLocation: place)
    #expect(try contents() == before, sourceLocation: place)
  }
}
