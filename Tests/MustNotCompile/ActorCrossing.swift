import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  @Relationship(inverse: "items", deleteRule: .nullify) var tags: Set<Tag>
}

@PersistentModel
final class Tag: NSManagedObject {
  @Relationship(inverse: "tags", deleteRule: .nullify) var items: Set<Item>
}

actor Worker {
  func take(_ value: some Sendable) {}
}

struct Shared: Sendable {
  let item: Item  // error: has non-Sendable type 'Item'
}

@MainActor
func cross(_ item: Item, _ worker: Worker) async throws {
  await worker.take(item)  // error: Pass its handle (try object.handle) to work on it elsewhere
  await worker.take([item])  // error: Pass its handle
  // These may go anywhere.
  await worker.take(try item.handle)
  await worker.take([try item.snapshot()])
  await worker.take(Item.path.title)
  await worker.take(FetchDescriptor<Item>(predicate: Item.path.title.equals("x")))
}

func mistakes(_ snapshot: Item.Snapshot, _ handle: Item.Handle, _ context: NSManagedObjectContext) throws {
  snapshot.title = "x"  // error: cannot assign
  let tag: Tag = try context.object(for: handle)  // error: cannot convert
  _ = snapshot.nonsense  // error: has no dynamic member 'nonsense'
  _ = tag
}
