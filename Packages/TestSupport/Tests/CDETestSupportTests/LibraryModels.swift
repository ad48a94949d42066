import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Shelf: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "shelf", deleteRule: .cascade)
  var books: [Book]
}

@PersistentModel
final class Book: NSManagedObject {
  var title: String = ""
  var pages: Int16 = 0
  var rating: Double = 0
  var isLent: Bool = false
  var price: Decimal?
  var due: Date?
  var code: UUID?
  var link: URL?
  var cover: Data?

  @Relationship(inverse: "books", deleteRule: .nullify)
  var shelf: Shelf?

  @Relationship(inverse: "books", deleteRule: .nullify)
  var topics: Set<Topic>

  @Relationship(inverse: "prequel", deleteRule: .nullify)
  var sequel: Book?

  @Relationship(inverse: "sequel", deleteRule: .nullify)
  var prequel: Book?
}

@PersistentModel
final class Topic: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "topics", deleteRule: .nullify)
  var books: Set<Book>
}

enum Library {
  static let model: @Sendable () throws -> NSManagedObjectModel = {
    try .makeRuntimeModel(Shelf.self, Book.self, Topic.self)
  }

  /// Three shelves with two books each.
  @Sendable static func fill(_ context: NSManagedObjectContext) {
    for name in ["a", "b", "c"] {
      let shelf = Shelf(context: context)
      shelf.name = name
      for number in 1...2 {
        let book = Book(context: context)
        book.title = "\(name)\(number)"
        book.shelf = shelf
      }
    }
  }

  /// Asks for the books of each shelf by itself.
  static func readOneByOne(_ container: NSPersistentContainer) async throws -> Int {
    let context = container.newBackgroundContext()
    return try await context.perform {
      try context.fetch(Shelf.fetchRequest()).reduce(0) { $0 + $1.books.count }
    }
  }

  /// Asks for all books with their shelves.
  static func readTogether(_ container: NSPersistentContainer) async throws -> Int {
    let context = container.newBackgroundContext()
    return try await context.perform {
      let request = Shelf.fetchRequest()
      request.relationshipKeyPathsForPrefetching = ["books"]
      return try context.fetch(request).reduce(0) { $0 + $1.books.count }
    }
  }
}
