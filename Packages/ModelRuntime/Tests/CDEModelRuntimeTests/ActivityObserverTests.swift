import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDEStore
import Foundation
import Synchronization
import Testing

@Suite("Observers of a store's activity")
struct ActivityObserverTests {
  final class Listener: StoreActivityObserver {
    let wantsValues = false
    let events = Mutex<[String]>([])

    func didRun(_ request: ObservedRequest) { events.withLock { $0.append(request.kind.rawValue) } }

    func didFire(_ fault: FiredFault) {
      let text =
        switch fault {
        case .object(let entity): "fault \(entity)"
        case .relationship(let entity, let name): "fault \(entity).\(name)"
        }
      events.withLock { $0.append(text) }
    }

    func take() -> [String] {
      events.withLock { events in
        defer { events = [] }
        return events
      }
    }
  }

  let listener = Listener()
  let container: NSPersistentContainer

  init() throws {
    container = NSPersistentContainer(
      name: "Observed",
      managedObjectModel: try .makeRuntimeModel(Item.self, Category.self, Tag.self))
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    description.observer = listener
    // Copies are loaded where descriptions are kept by value.
    container.persistentStoreDescriptions = [description.copy() as! NSPersistentStoreDescription]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    for name in ["a", "b"] {
      let category = Category(context: context)
      category.name = name
      for title in ["1", "2"] {
        let item = Item(context: context)
        item.title = name + title
        item.category = category
      }
    }
    try context.save()
  }

  @Test(
    "Faults that fire by themselves are told after their request, those loaded together are not")
  func faults() throws {
    #expect(container.persistentStoreCoordinator.persistentStores[0].observer === listener)
    #expect(listener.take() == ["save"])
    let context = container.newBackgroundContext()
    let request = Category.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let categories = try context.fetch(request)
    #expect(categories[0].items.map(\.title).sorted() == ["a1", "a2"])
    #expect(listener.take() == ["read", "read", "fault Category.items"])

    let other = container.newBackgroundContext()
    let items = try other.fetch(Item.fetchRequest())
    #expect(Set(items.map { $0.category?.name }) == ["a", "b"])
    #expect(listener.take() == ["read", "read", "fault Category", "read", "fault Category"])

    let third = container.newBackgroundContext()
    request.relationshipKeyPathsForPrefetching = ["items"]
    #expect(try third.fetch(request).map(\.itemsCount) == [2, 2])
    #expect(listener.take() == ["read", "read"])
  }

  @Test("Batch requests of all three kinds are told as such")
  func batches() throws {
    _ = listener.take()
    let context = container.newBackgroundContext()
    try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["tag_name": "x"]]))
    let update = NSBatchUpdateRequest(entityName: "Item")
    update.propertiesToUpdate = ["note": "n"]
    try context.execute(update)
    try context.execute(
      NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")))
    #expect(listener.take() == ["batch", "batch", "batch"])
  }
}
