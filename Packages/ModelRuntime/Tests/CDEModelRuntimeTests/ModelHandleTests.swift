import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Handles")
struct ModelHandleTests {
  @Test("Only an object that was saved has a handle")
  func unsaved() throws {
    let context = try Stack().context()
    let item = Item(context: context)
    #expect(Item.Handle(item) == nil)
    let error = #expect(throws: ManagedObjectError.self) { try item.handle }
    #expect(error?.code == .unsavedObject)
    #expect(error?.message.contains("Save its context first") == true)
    try context.obtainPermanentIDs(for: [item])
    #expect(Item.Handle(item) == nil)
    try context.save()
    #expect(Item.Handle(item) != nil)
    let alone = Item(entity: Item.entity(), insertInto: nil)
    #expect(Item.Handle(alone) == nil)
    #expect(throws: ManagedObjectError.self) { try alone.handle }
  }

  @Test("A handle finds its object in any context of the store")
  func lookUp() throws {
    let stack = try Stack()
    let first = stack.context()
    let item = Item(context: first)
    item.title = "x"
    try first.save()
    let handle = try item.handle
    #expect(try first.object(for: handle) === item)
    let other: Item = try stack.context().object(for: handle)
    #expect(other.title == "x")
    #expect(try other.handle == handle)
    #expect(handle.uriRepresentation == item.objectID.uriRepresentation())
  }

  @Test("Handles survive encoding, and equal by row")
  func coding() throws {
    let context = try Stack().context()
    let items = [Item(context: context), Item(context: context)]
    try context.save()
    let handles = try items.map { try $0.handle }
    let data = try JSONEncoder().encode(handles)
    let decoded = try JSONDecoder().decode([Item.Handle].self, from: data)
    #expect(decoded == handles)
    #expect(Set(decoded + handles).count == 2)
    #expect(try context.object(for: decoded[1]) === items[1])
    #expect(try ModelHandle<Item>(uriRepresentation: handles[0].uriRepresentation) == handles[0])
  }

  @Test(
    "What is no URI of a saved object is no handle",
    arguments: [
      "http://a/Item/p1", "x-coredata://ABC/Item/t1", "x-coredata:///Item/p1", "x-coredata://ABC/Item/p0",
      "x-coredata://ABC/Item/p-1", "x-coredata://ABC/p1", "x-coredata://ABC/Item/p1/p2",
      "x-coredata://ABC/Item/p99999999999999999999",
    ])
  func malformed(text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: ManagedObjectError.self) { try ModelHandle<Item>(uriRepresentation: url) }
    #expect(error?.code == .malformedHandle)
    let data = try JSONEncoder().encode([url])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([ModelHandle<Item>].self, from: data) }
  }

  @Test("A handle of a deleted object, another store or another entity finds nothing, and says why")
  func notFound() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    let tag = Tag(context: context)
    try context.save()
    let handle = try item.handle
    let tagHandle = try tag.handle
    context.delete(item)
    try context.save()
    let gone = #expect(throws: ManagedObjectError.self) { try stack.context().object(for: handle) }
    #expect(gone?.code == .objectNotFound)
    let foreign = #expect(throws: ManagedObjectError.self) { try Stack().context().object(for: tagHandle) }
    #expect(foreign?.code == .objectNotFound && foreign?.message.contains("store") == true)
    let otherModel = try Stack(memoTypes).context()
    let unknown = #expect(throws: ManagedObjectError.self) { try otherModel.object(for: tagHandle) }
    #expect(unknown?.code == .unknownEntity)
    let mistaken = try ModelHandle<Item>(uriRepresentation: tagHandle.uriRepresentation)
    let wrong = #expect(throws: ManagedObjectError.self) { try context.object(for: mistaken) }
    #expect(wrong?.message.contains("names no Item") == true)
  }
}
