import CDEModelRuntime
import CDESQLiteFaults
import CDETestSupport
import Foundation
import Testing

@Suite("Deletions under read errors", .ownThreads)
struct UnreadTests {
  /// Deletes Ann, or topic A, while reads fail from some step of the deletion on.
  func delete(
    _ graph: FaultGraph, _ plan: FaultPlan, _ pick: (NSManagedObjectContext) throws -> NSManagedObject
  ) async throws -> (steps: Int, contents: StoreContents) {
    let faults = StoreFaults()
    let container = try graph.open(faults)
    let context = container.newBackgroundContext()
    let steps = try context.performAndWait {
      let object = try pick(context)
      faults.begin(plan)
      context.delete(object)
      let steps = faults.steps.count
      if !faults.events.isEmpty {
        // Reads still fail: the save can't know what to delete.
        faults.begin(.always(.ioError, on: [.read, .lockIndex]))
        #expect(throws: ManagedObjectError.self) { try context.save() }
        #expect(context.deletedObjects.contains(object))
      }
      faults.end()
      try context.save()
      #expect(!context.hasChanges)
      return steps
    }
    let contents = try await StoreContents(container)
    #expect(try container.close() == "ok")
    return (steps, contents)
  }

  func everyStep(_ pick: (NSManagedObjectContext) throws -> NSManagedObject) async throws -> StoreContents {
    let graph = try await FaultGraph()
    defer { graph.remove() }
    let (steps, expected) = try await delete(graph, .none, pick)
    #expect(steps > 0)
    for step in 1...max(steps, 1) {
      let (_, contents) = try await delete(graph, .always(.ioError, from: step), pick)
      #expect(contents.difference(from: expected).lines == [], "from step \(step) on")
    }
    return expected
  }

  @Test("Books that could not be read when their author was deleted go with the author all the same")
  func cascade() async throws {
    let left = try await everyStep { try #require(try $0.fetch(Author.fetchRequest()).first) }
    #expect(left.objects.keys.sorted() == ["Theme/p1", "Theme/p2"])
  }

  @Test("A fault that could not be read when it was deleted follows its delete rules all the same")
  func fault() async throws {
    let left = try await everyStep { context in
      let request = Author.fetchRequest()
      let id = try #require(try context.fetch(request).first).objectID
      context.reset()
      return context.object(with: id)
    }
    #expect(left.objects.keys.sorted() == ["Theme/p1", "Theme/p2"])
  }

  @Test("Members that could not be read are read by the next use, and given up with a rollback")
  func rereading() async throws {
    let graph = try await FaultGraph()
    defer { graph.remove() }
    let faults = StoreFaults()
    let container = try graph.open(faults)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let ann = try #require(try context.fetch(Author.fetchRequest()).first)
      faults.begin(.always(.ioError))
      #expect(ann.books.isEmpty)
      context.delete(ann)
      context.rollback()
      faults.end()
      #expect(ann.books.map(\.title).sorted() == ["one", "two"])
      ann.name = "Anna"
      try context.save()
    }
    #expect(try await StoreContents(container).objects.count == graph.before.objects.count)
    _ = try container.close()
  }
}
