import CoreDataEvolution
import Foundation
import Synchronization
import Testing

@testable import CDEToolKit

@Suite("Watching a store", .timeLimit(.minutes(2)))
struct WatchTests {
  @Test("Commits of others are told as they happen, and the file stays as it is")
  func commits() async throws {
    let library = try Library()
    defer { library.remove() }
    var watch = StoreWatch(library.place)
    watch.limit = 2
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let (told, telling) = AsyncStream.makeStream(of: WatchedCommit.self)
    let task = Task { [watch] in
      try await watch.run(began: { beginning.yield() }) { telling.yield($0) }
      telling.finish()
    }
    for await _ in begun { break }
    try Library.write(at: library.url) { context in
      context.transactionAuthor = "importer"
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      for book in try context.fetch(request).prefix(2) {
        book.setValue(1, forKey: "pages")
        book.setValue(2.5, forKey: "weight")
      }
      _ = Library.insert("Tag", ["name": "second"], context)
    }
    var commits = told.makeAsyncIterator()
    let first = try #require(await commits.next())
    #expect(first.number == 2 && first.author == "importer")
    #expect(first.text.hasPrefix("2  20") && first.text.contains("Z  importer  "))
    #expect(first.text.hasSuffix("  Book: 2 updated (pages, weight); Tag: 1 inserted"))
    let before = try library.contents()
    try Library.write(at: library.url) { context in
      for tag in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")) { context.delete(tag) }
    }
    let second = try #require(await commits.next())
    #expect(second.changes.first { $0.entity == "Tag" }?.deleted == 2)
    #expect(
      second.json.text(indented: false).contains(#""entity":"Tag","inserted":0,"updated":0,"deleted":2"#))
    #expect(await commits.next() == nil)
    try await task.value
    #expect(try library.contents() != before)
  }

  @Test("Authors and entities are chosen, and the past is told on request")
  func choices() async throws {
    let library = try Library()
    defer { library.remove() }
    for (author, entity) in [("a", "Tag"), ("b", "Author"), ("a", "Author")] {
      try Library.write(at: library.url) { context in
        context.transactionAuthor = author
        _ = Library.insert(entity, entity == "Tag" ? ["name": "new"] : ["penName": "new"], context)
      }
    }
    func numbers(_ author: String?, _ entity: String?, _ limit: Int) async throws -> [Int64] {
      var watch = StoreWatch(library.place)
      watch.author = author
      watch.entity = entity
      watch.includesPast = true
      watch.limit = limit
      var found: [Int64] = []
      try await watch.run { found.append($0.number) }
      return found
    }
    let before = try library.contents()
    #expect(try await numbers(nil, nil, 4) == [1, 2, 3, 4])
    #expect(try await numbers("a", nil, 2) == [2, 4])
    // Author inherits from Person.
    #expect(try await numbers("b", "person", 1) == [3])
    #expect(try await numbers("a", "Tag", 1) == [2])
    #expect(try library.contents() == before)
    await #expect(throws: ToolError.self) { try await numbers(nil, "Absent", 1) }
  }

  @Test("A store without a history is told with the remedy")
  func withoutHistory() async throws {
    let library = try Library { _ in }
    defer { library.remove() }
    let file = library.folder.appendingPathComponent("Plain.sqlite")
    let container = NSPersistentContainer(name: "plain", managedObjectModel: Library.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let error = await #expect(throws: ToolError.self) { try await StoreWatch(.file(file)).run { _ in } }
    #expect(error?.message.contains("NSPersistentHistoryTrackingKey") == true)
  }
}
