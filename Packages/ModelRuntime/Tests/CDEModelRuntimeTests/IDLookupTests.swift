import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Look-ups by an ID that knows its object")
struct IDLookupTests {
  private func saved(_ count: Int, in context: NSManagedObjectContext) throws -> [Item] {
    let items = (0..<count).map { index in
      let item = Item(context: context)
      item.count = index
      return item
    }
    try context.save()
    return items
  }

  @Test("An ID outlives its object, and then gives a new fault of the same row")
  func outlives() throws {
    let stack = try Stack()
    let context = stack.context()
    var items: [Item]? = try saved(50, in: context)
    let ids = items!.map(\.objectID)
    for (id, item) in zip(ids, items!) { #expect(context.object(with: id) === item) }
    items = nil
    for id in ids { #expect(context.registeredObject(for: id) == nil) }
    for (index, id) in ids.enumerated() {
      let again = context.object(with: id)
      #expect(again.isFault && (again as? Item)?.count == index && again.objectID == id)
    }
  }

  @Test("A temporary ID no longer gives the saved object; its permanent one does")
  func temporary() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    let before = item.objectID
    #expect(context.object(with: before) === item)
    try context.save()
    #expect(context.registeredObject(for: before) == nil)
    #expect(context.object(with: item.objectID) === item && item.objectID != before)
  }

  @Test("An object that left its context is not found by its ID, though both live")
  func left() throws {
    let stack = try Stack()
    let context = stack.context()
    let items = try saved(3, in: context)
    let ids = items.map(\.objectID)
    context.delete(items[0])
    try context.save()
    #expect(context.registeredObject(for: ids[0]) == nil)
    context.reset()
    for (id, item) in zip(ids, items).dropFirst() {
      #expect(context.registeredObject(for: id) == nil && context.object(with: id) !== item)
    }
  }

  @Test("IDs of other contexts, of the same store and of another, name their own rows")
  func otherContexts() throws {
    let stack = try Stack()
    let (first, second) = (stack.context(), stack.context())
    let items = try saved(20, in: first)
    let mine = try second.fetch(Item.fetchRequest())
    for item in items {
      let found = second.object(with: item.objectID)
      #expect(found !== item && mine.contains { $0 === found } && found.objectID == item.objectID)
    }
    let elsewhere = try Stack()
    let stranger = elsewhere.context()
    _ = try saved(20, in: stranger)
    for item in items { #expect(stranger.object(with: item.objectID).isDeleted) }
  }

  @Test("IDs go on naming their rows when the store is removed, whether they were asked for before or not")
  func removedStore() throws {
    let stack = try Stack()
    let (first, second, third) = (stack.context(), stack.context(), stack.context())
    let items = try saved(3, in: first)
    let unasked = try second.fetch(Item.fetchRequest())
    let coordinator = stack.container.persistentStoreCoordinator
    try coordinator.remove(coordinator.persistentStores[0])
    #expect(Set(unasked.map(\.objectID)) == Set(items.map(\.objectID)))
    for item in items {
      #expect(third.object(with: item.objectID).objectID == item.objectID)
      #expect(
        third.object(with: item.objectID).objectID.uriRepresentation() == item.objectID.uriRepresentation())
    }
    withExtendedLifetime(unasked) {}
  }

  @Test("Objects freed on other threads are never handed out")
  func freedElsewhere() async throws {
    let stack = try Stack()
    let context = stack.context()
    for _ in 0..<20 {
      let ids = try await context.perform {
        let items = try context.fetch(Item.fetchRequest())
        return try (items.isEmpty ? saved(200, in: context) : items).map(\.objectID)
      }
      let holders = await context.perform {
        (0..<4).map { part in Holder(ids[(part * 50)..<(part * 50 + 50)].map { context.object(with: $0) }) }
      }
      await withTaskGroup(of: Void.self) { group in
        for holder in holders { group.addTask { holder.drop() } }
        group.addTask {
          await context.perform {
            for id in ids + ids.reversed() {
              #expect(context.object(with: id).objectID == id)
            }
          }
        }
      }
    }
  }

  /// Lets go of objects on any thread.
  private final class Holder: @unchecked Sendable {
    // Guard: one task drops the objects, after the test has made the holder.
    private var objects: [NSManagedObject]
    init(_ objects: [NSManagedObject]) { self.objects = objects }
    func drop() { objects = [] }
  }
}
