import CoreDataEvolution
import Observation
import Testing

@PersistentModel(generateInit: true, observation: .mainActor)
final class Book: NSManagedObject {
  var title: String = ""
  var pages: Int = 0
  var isRead: Bool = false

  @Relationship(inverse: "books", deleteRule: .nullify)
  var author: Author?
}

@PersistentModel(observation: .mainActor)
final class Author: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  @Relationship(inverse: "author", deleteRule: .cascade)
  var books: Set<Book>
}

@NSModelActor
actor Library {
  func add(_ title: String, pages: Int, by name: String) throws -> NSManagedObjectID {
    let book = Book(title: title, pages: pages, isRead: false)
    modelContext.insert(book)
    book.author = try author(name)
    try modelContext.save()
    return book.objectID
  }

  func finish(_ id: NSManagedObjectID) async throws {
    self[id, as: Book.self]?.isRead = true
    try await saveObservedChanges()
  }

  func remove(author name: String) throws {
    modelContext.delete(try author(name))
    try modelContext.save()
  }

  private func author(_ name: String) throws -> Author {
    let request = Author.fetchRequest()
    request.predicate = NSPredicate(format: "name ==[cd] %@", name)
    if let known = try modelContext.fetch(request).first { return known }
    let author = Author(context: modelContext)
    author.name = name
    return author
  }
}

@MainActor
@NSMainModelActor
final class Shelf {
  func titles(where format: String, _ arguments: any CVarArg...) throws -> [String] {
    let request = Book.fetchRequest()
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try modelContext.fetch(request).map(\.title)
  }
}

@Suite("A newcomer's program")
@MainActor
struct LibraryTests {
  @Test("Written in the background, merged, observed, asked by predicate, deleted by rule")
  func program() async throws {
    let stack = try CDRuntimeModelStack(modelTypes: Book.self, Author.self)
    let domain = CDEObservationDomain(container: stack.container)
    let library = Library(observationDomain: domain)
    let shelf = Shelf(modelContainer: stack.container)

    let germinal = try await library.add("Germinal", pages: 591, by: "Émile Zola")
    _ = try await library.add("Nana", pages: 420, by: "emile zola")
    _ = try await library.add("Emma", pages: 474, by: "Jane Austen")
    #expect(try shelf.titles(where: "author.name BEGINSWITH[cd] %@", "emile") == ["Germinal", "Nana"])
    #expect(try shelf.titles(where: "pages > %d AND isRead == NO", 450) == ["Emma", "Germinal"])

    // A reader on the main actor wakes for the property it read, and sees the new value.
    let book = try #require(shelf[germinal, as: Book.self])
    let (readings, reading) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      #expect(!book.isRead)
    } onChange: {
      reading.yield()
    }
    try await library.finish(germinal)
    for await _ in readings { break }
    #expect(book.isRead)
    #expect(book.author?.name == "Émile Zola")
    #expect(book.author?.booksCount == 2)

    try await library.remove(author: "ÉMILE ZOLA")
    stack.viewContext.refreshAllObjects()
    #expect(try shelf.titles(where: "pages > %d", 0) == ["Emma"])
    #expect(try stack.viewContext.count(for: Author.fetchRequest()) == 1)
  }

  @Test("The store is a plain SQLite file: another container opens it and finds everything")
  func reopened() async throws {
    let stack = try CDRuntimeModelStack(modelTypes: Book.self, Author.self)
    let library = Library(container: stack.container)
    let id = try await library.add("Persuasion", pages: 249, by: "Jane Austen")
    let uri = id.uriRepresentation()

    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first)
    let url = try #require(store.url)
    try stack.container.persistentStoreCoordinator.remove(store)
    let other = NSPersistentContainer(
      name: "Other", managedObjectModel: try .makeRuntimeModel(Book.self, Author.self))
    other.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    other.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let same = try #require(other.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
    let book = try #require(try other.viewContext.existingObject(with: same) as? Book)
    #expect(book.title == "Persuasion")
    #expect(book.author?.name == "Jane Austen")
  }
}
