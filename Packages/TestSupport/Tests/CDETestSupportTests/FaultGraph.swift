import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import CDETestSupport
import Foundation
import Testing

@PersistentModel
final class Author: NSManagedObject {
  var name: String = ""
  var portrait: Data?

  @Relationship(inverse: "author", deleteRule: .cascade)
  var books: Set<Novel>
}

@PersistentModel
final class Novel: NSManagedObject {
  var title: String = ""

  @Relationship(inverse: "books", deleteRule: .nullify)
  var author: Author?

  @Relationship(inverse: "books", deleteRule: .nullify)
  var topics: Set<Theme>
}

@PersistentModel
final class Theme: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "topics", deleteRule: .nullify)
  var books: Set<Novel>
}

/// A small graph in a file, one change of it, and what the store holds before and after.
struct FaultGraph {
  let model: NSManagedObjectModel
  let before: StoreContents
  let after: StoreContents
  private let files = FaultGraphFiles()

  init() async throws {
    let types: [any CDRuntimeSchemaProviding.Type] = [Author.self, Novel.self, Theme.self]
    let copied = try NSManagedObjectModel.makeRuntimeModel(types).copy()
    model = try #require(copied as? NSManagedObjectModel)
    let portrait = try #require(model.entitiesByName["Author"]?.attributesByName["portrait"])
    portrait.allowsExternalBinaryDataStorage = true

    try FileManager.default.createDirectory(at: files.template, withIntermediateDirectories: true)
    let container = try Self.open(files.template, model, nil)
    let context = container.newBackgroundContext()
    try await context.perform { try Self.fill(context) }
    before = try await StoreContents(container)
    _ = try container.close()

    let changed = try Self.open(try files.copy(), model, nil)
    let other = changed.newBackgroundContext()
    try await other.perform {
      try Self.change(other)
      try other.save()
    }
    after = try await StoreContents(changed)
    _ = try changed.close()
  }

  /// A container over a copy of the graph as it is before the change.
  func open(_ faults: StoreFaults?) throws -> NSPersistentContainer {
    try Self.open(try files.copy(), model, faults)
  }

  /// Removes all files.
  func remove() { files.remove() }

  private static func open(
    _ folder: URL, _ model: NSManagedObjectModel, _ faults: StoreFaults?
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Graph", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Graph.sqlite"))
    description.setOption(faults?.vfs, forKey: CDESQLiteVFSOption)
    // Under faults a sync is a step and takes no time.
    description.setValue(faults == nil ? "OFF" : "FULL", forPragmaNamed: "synchronous")
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static func fill(_ context: NSManagedObjectContext) throws {
    let ann = Author(context: context)
    ann.name = "Ann"
    ann.portrait = Data(repeating: 1, count: 140_000)
    for title in ["one", "two"] {
      let book = Novel(context: context)
      book.title = title
      book.author = ann
    }
    for name in ["A", "B"] {
      let topic = Theme(context: context)
      topic.name = name
      for book in ann.books { topic.addToBooks(book) }
    }
    try context.save()
  }

  /// Inserts, updates, deletes, moves links, and brings in a large value for another.
  static func change(_ context: NSManagedObjectContext) throws {
    let ann = try #require(try context.fetch(Author.fetchRequest()).first)
    let books = try context.fetch(Novel.fetchRequest()).sorted { $0.title < $1.title }
    let topics = try context.fetch(Theme.fetchRequest()).sorted { $0.name < $1.name }
    ann.portrait = Data(repeating: 2, count: 150_000)
    let topic = Theme(context: context)
    topic.name = "C"
    books[0].title = "ONE"
    books[0].removeFromTopics(topics[1])
    books[0].addToTopics(topic)
    context.delete(books[1])
    let bea = Author(context: context)
    bea.name = "Bea"
    let third = Novel(context: context)
    third.title = "three"
    third.author = bea
    third.addToTopics(topics[1])
    third.addToTopics(topic)
  }

  /// What is unsaved in a context, in words.
  static func unsaved(_ context: NSManagedObjectContext) -> [String] {
    func lines(_ kind: String, _ objects: Set<NSManagedObject>) -> [String] {
      objects.map { object in
        let values: String =
          switch object {
          case let author as Author: "\(author.name) \(author.portrait?.first ?? 0)"
          case let book as Novel:
            "\(book.title) \(book.author?.name ?? "") \(book.topics.map(\.name).sorted())"
          case let topic as Theme: "\(topic.name) \(topic.books.count)"
          default: ""
          }
        return "\(kind) \(object.objectID.isTemporaryID) \(values)"
      }
    }
    return
      (lines("inserted", context.insertedObjects) + lines("updated", context.updatedObjects)
      + lines("deleted", context.deletedObjects)).sorted()
  }
}

/// The folders of a graph and of its copies.
private struct FaultGraphFiles {
  private let root = ProcessFolder.newURL("faults")

  var template: URL { root.appendingPathComponent("template") }

  func copy() throws -> URL {
    let copy = root.appendingPathComponent(UUID().uuidString)
    try FileManager.default.copyItem(at: template, to: copy)
    return copy
  }

  func remove() { try? FileManager.default.removeItem(at: root) }
}

extension NSPersistentContainer {
  /// Closes the store.
  ///
  /// - Returns: what SQLite itself thinks of the file, without a line of ours.
  func close() throws -> String {
    let path = try #require(storeURL).path
    for store in persistentStoreCoordinator.persistentStores { try persistentStoreCoordinator.remove(store) }
    return try Self.integrity(path)
  }

  private static func integrity(_ path: String) throws -> String {
    do {
      return try RawSQLite(path).column("PRAGMA integrity_check").joined()
    } catch let failure as RawSQLite.Failure {
      return "can't be checked: \(failure.code)"
    }
  }
}
