import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("IDs of elsewhere")
struct ForeignIDTests {
  @Test("An ID of another store names nothing, whatever has the same key here")
  func otherStore() throws {
    let (here, there) = (try Stack(), try Stack())
    let (ours, theirs) = (here.context(), there.context())
    let own = ours.make("Item", ["title": "ours"])
    try ours.save()
    let other = theirs.make("Item", ["title": "theirs"])
    try theirs.save()
    let id = other.objectID
    #expect(id.uriRepresentation().lastPathComponent == own.objectID.uriRepresentation().lastPathComponent)
    #expect(id != own.objectID)

    #expect(ours.registeredObject(for: id) == nil)
    let error = #expect(throws: ManagedObjectError.self) { try ours.existingObject(with: id) }
    #expect(error?.code == .objectNotFound)
    #expect(error?.objectID == id)
    #expect(error?.message.contains("another store") == true)
    let gone = ours.object(with: id)
    #expect(gone !== own)
    #expect(gone.isDeleted && !gone.isFault && gone.objectID == id)
    #expect(gone.value(forKey: "title") as? String == "")
    ours.delete(gone)
    #expect(!ours.hasChanges)
    #expect(own.value(forKey: "title") as? String == "ours")
    #expect(ours.registeredObject(for: own.objectID) === own)
  }

  @Test("An ID of another container is good where that has the same store")
  func sameStore() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = context.make("Item", ["title": "shared"])
    try context.save()
    let again = NSPersistentContainer(
      name: "Test",
      managedObjectModel: try NSManagedObjectModel.makeRuntimeModel([Item.self, Category.self, Tag.self]))
    again.persistentStoreDescriptions = stack.container.persistentStoreDescriptions
    var failure: (any Error)?
    again.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let reader = again.newBackgroundContext()
    #expect(reader.registeredObject(for: item.objectID) == nil)
    let found = try reader.existingObject(with: item.objectID)
    #expect(found.value(forKey: "title") as? String == "shared")
    #expect(reader.registeredObject(for: item.objectID) === found)
    #expect(reader.object(with: item.objectID) === found)
  }

  @Test("A temporary ID is good in its own context only")
  func temporary() throws {
    let stack = try Stack()
    let (context, other) = (stack.context(), stack.context())
    let draft = context.make("Item")
    #expect(context.registeredObject(for: draft.objectID) === draft)
    #expect(try context.existingObject(with: draft.objectID) === draft)
    #expect(other.registeredObject(for: draft.objectID) == nil)
    #expect(throws: ManagedObjectError.self) { try other.existingObject(with: draft.objectID) }
    let gone = other.object(with: draft.objectID)
    #expect(gone.isDeleted && gone.objectID == draft.objectID && !other.hasChanges)
    #expect(other.registeredObject(for: draft.objectID) == nil)
  }

  @Test("An ID of a model without that entity throws where errors can, and is found nowhere")
  func otherModel() throws {
    let stack = try Stack()
    let foreign = try Stack(model: model(entity("Alien", nil, [attribute("name", .stringAttributeType)])))
    let away = foreign.context()
    let alien = away.make("Alien")
    try away.save()
    let context = stack.context()
    context.make("Item")
    try context.save()
    #expect(context.registeredObject(for: alien.objectID) == nil)
    let error = #expect(throws: ManagedObjectError.self) { try context.existingObject(with: alien.objectID) }
    #expect((error?.code, error?.entity) == (.objectNotFound, "Alien"))
    #expect(error?.message.contains("no such entity") == true)
  }

  @Test("object(with:) says so when the model lacks the ID's entity")
  func otherModelTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      let alien = entity("Alien", nil, [attribute("name", .stringAttributeType)])
      let foreign = NSPersistentContainer(name: "Foreign", managedObjectModel: model(alien))
      let object = NSManagedObject(entity: alien, insertInto: foreign.newBackgroundContext())
      _ = stack.context().object(with: object.objectID)
    }
    #expect(result?.text.contains("has no entity Alien, which the object ID names") == true)
  }
}
