import CDESwiftData
import Testing

@Model
final class LibraryAuthor {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \LibraryBook.author) var books: [LibraryBook] = []
  init(name: String) { self.name = name }
}

@Model
final class LibraryBook {
  var title: String
  var pages: Int
  var author: LibraryAuthor
  init(title: String, pages: Int, author: LibraryAuthor) {
    self.title = title
    self.pages = pages
    self.author = author
  }
}

protocol EntityRepository<Entity> {
  associatedtype Entity
  func all(sortedBy sort: [SortDescriptor<Entity>]) throws -> [Entity]
  func add(_ entity: Entity) throws
  func remove(_ entity: Entity) throws
}

struct SwiftDataRepository<Entity: PersistentModel>: EntityRepository {
  let context: ModelContext

  func all(sortedBy sort: [SortDescriptor<Entity>] = []) throws -> [Entity] {
    try context.fetch(FetchDescriptor<Entity>(sortBy: sort))
  }

  func first(where predicate: Predicate<Entity>) throws -> Entity? {
    var descriptor = FetchDescriptor<Entity>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func add(_ entity: Entity) throws {
    context.insert(entity)
    try context.save()
  }

  func remove(_ entity: Entity) throws {
    context.delete(entity)
    try context.save()
  }
}

@Suite("Generic repositories")
struct RepositoryProgram {
  @Test("A repository works with any model")
  func repositories() throws {
    let container = try ModelContainer(
      for: LibraryAuthor.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let authors = SwiftDataRepository<LibraryAuthor>(context: context)
    let books = SwiftDataRepository<LibraryBook>(context: context)
    let herbert = LibraryAuthor(name: "Herbert")
    try authors.add(herbert)
    try books.add(LibraryBook(title: "Dune", pages: 600, author: herbert))
    try books.add(LibraryBook(title: "Dune Messiah", pages: 300, author: herbert))
    #expect(herbert.books.count == 2)
    #expect(try books.all(sortedBy: [SortDescriptor(\.pages)]).map(\.title) == ["Dune Messiah", "Dune"])
    let long = try books.first(where: #Predicate { $0.pages > 400 && $0.author.name == "Herbert" })
    #expect(long?.title == "Dune")
    let id = herbert.persistentModelID
    #expect(try books.first(where: #Predicate { $0.author.persistentModelID == id }) != nil)
    try authors.remove(herbert)
    #expect(try books.all().isEmpty)
    let anything: any EntityRepository<LibraryAuthor> = authors
    #expect(try anything.all(sortedBy: []).isEmpty)
  }
}
