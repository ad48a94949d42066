import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel(generateInit: true)
final class Draft: NSManagedObject {
  var text: String = "empty"
  var count: Int = 3
  @Attribute(.transient) var scratch: String = "scratch"
  @Ignore var cache: [Int] = [1]
  @Relationship(inverse: "drafts", deleteRule: .nullify)
  var folder: Folder?
}

@PersistentModel
final class Folder: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "folder", deleteRule: .cascade)
  var drafts: [Draft]
}

/// Hand-written, by key-value coding.
private final class Animal: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var inserted = 0
  var fetched = 0
  override func awakeFromInsert() {
    inserted += 1
    setValue("born", forKey: "state")
  }
  override func awakeFromFetch() { fetched += 1 }
}

@Suite("Insertion, identity and defaults")
struct InsertionTests {
  private var drafts: [any CDRuntimeSchemaProviding.Type] { [Draft.self, Folder.self] }

  @Test("IDs are temporary until the save, also in willSave, and permanent in didSave")
  func ids() throws {
    let context = try Stack(drafts).context()
    let draft = Draft(context: context)
    let early = draft.objectID
    #expect(early.isTemporaryID)
    #expect(early.persistentStore == nil)
    nonisolated(unsafe) var seen: [Bool] = []
    // Guard: posted on this thread.
    let held = Unchecked(draft)
    let listener = Listener(context) { note in
      if note.name != .NSManagedObjectContextObjectsDidChange {
        seen.append(held.value.objectID.isTemporaryID)
      }
    }
    try context.save()
    withExtendedLifetime(listener) {}
    #expect(seen == [true, false])
    #expect(early.isTemporaryID)
    #expect(early != draft.objectID)
    let uri = draft.objectID.uriRepresentation()
    #expect(uri.scheme == "x-coredata")
    #expect(uri.lastPathComponent == "p1")
    #expect([early.primaryKey, draft.objectID.primaryKey] == [nil, 1])
    #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) == draft.objectID)
    #expect(try context.existingObject(with: draft.objectID) === draft)
    #expect(context.registeredObject(for: draft.objectID) === draft)
    #expect(context.object(with: draft.objectID) === draft)
  }

  @Test("Permanent IDs can be had before the save, which then uses them")
  func permanentIDs() throws {
    let stack = try Stack(drafts)
    let context = stack.context()
    let made = (0..<3).map { _ in Draft(context: context) }
    try context.obtainPermanentIDs(for: Array(made[0...1]))
    let ids = made.map(\.objectID)
    #expect(ids.map(\.isTemporaryID) == [false, false, true])
    #expect(context.insertedObjects == Set(made))
    #expect(throws: ManagedObjectError.self) { try stack.context().existingObject(with: ids[0]) }
    let folder = Folder(context: context)
    folder.addToDrafts(made)
    try context.save()
    #expect(made.prefix(2).map(\.objectID) == Array(ids.prefix(2)))
    #expect(Set(made.map(\.objectID)).count == 3)
    let other = stack.context()
    let found = try #require(try other.existingObject(with: ids[1]) as? Draft)
    #expect(found.folder?.drafts.count == 3)
    #expect(try other.count(for: Draft.fetchRequest()) == 3)
  }

  @Test("A row has one object in a context, whichever way it is reached")
  func identity() throws {
    let stack = try Stack(drafts)
    let writer = stack.context()
    let folder = Folder(context: writer)
    folder.addToDrafts([Draft(context: writer), Draft(context: writer)])
    try writer.save()
    let context = stack.context()
    let all = try context.fetch(Draft.fetchRequest())
    #expect(all.count == 2)
    #expect(all[0].folder === all[1].folder)
    #expect(all[0].folder?.drafts.contains { $0 === all[0] } == true)
    #expect(try context.fetch(Draft.fetchRequest()).elementsEqual(all, by: ===))
    #expect(context.object(with: folder.objectID) === all[0].folder)
    #expect(Set(all).count == 2)
  }

  @Test("New objects start with the model's defaults, and transient ones come back when values are dropped")
  func defaults() throws {
    let context = try Stack(drafts).context()
    let draft = Draft(context: context)
    #expect(draft.text == "empty")
    #expect(draft.count == 3)
    #expect(draft.scratch == "scratch")
    draft.scratch = "other"
    draft.text = "written"
    try context.save()
    #expect(draft.scratch == "other")
    context.refresh(draft, mergeChanges: false)
    #expect(draft.isFault)
    #expect(draft.scratch == "scratch")
    #expect(draft.text == "written")
    draft.scratch = "again"
    let id = draft.objectID
    context.reset()
    let found = try #require(try context.existingObject(with: id) as? Draft)
    #expect(found.scratch == "scratch")
    #expect(found.cache == [1])
    #expect(found !== draft)
    #expect(draft.text == "written")
    #expect(draft.managedObjectContext == nil)
  }

  @Test("An object made without a context holds values until it is inserted")
  func withoutContext() throws {
    let stack = try Stack(drafts)
    let context = stack.context()
    let draft = Draft(text: "made", count: 9, scratch: "s", cache: [2])
    #expect(draft.managedObjectContext == nil)
    #expect(!draft.isInserted)
    #expect(draft.text == "made")
    #expect(draft.objectID != Draft(text: "", count: 0, scratch: "", cache: []).objectID)
    context.insert(draft)
    context.insert(draft)
    #expect(context.insertedObjects == [draft])
    let folder = Folder(context: context)
    draft.folder = folder
    try context.save()
    let other = stack.context()
    let found = try #require(try other.existingObject(with: draft.objectID) as? Draft)
    #expect(found.text == "made")
    #expect(found.count == 9)
    #expect(found.folder?.drafts == [found])
  }

  @Test("A generated initialiser works although several models have the class")
  func severalModels() throws {
    let one = try Stack([Draft.self, Folder.self])
    let other = try Stack([Folder.self, Draft.self])
    for stack in [one, other] {
      let draft = Draft(text: "made", count: 1, scratch: "", cache: [])
      let context = stack.context()
      context.insert(draft)
      draft.folder = Folder(context: context)
      try context.save()
      #expect(draft.entity === NSEntityDescription.entity(forEntityName: "Draft", in: context))
      #expect(try stack.context().fetch(Draft.fetchRequest()).map(\.text) == ["made"])
    }
  }

  @Test("Hand-written classes come with their hooks, plain objects without a class")
  func handWritten() throws {
    func build(_ type: NSManagedObject.Type?) -> NSManagedObjectModel {
      model(
        entity(
          "Animal", type,
          [
            attribute("name", .stringAttributeType, default: "none"),
            attribute("state", .stringAttributeType),
            attribute("age", .integer32AttributeType, default: Int32(1)),
          ]))
    }
    let stack = try Stack(model: build(Animal.self))
    let context = stack.context()
    let animal = Animal(context: context)
    #expect(animal.inserted == 1)
    #expect(animal.value(forKey: "state") as? String == "born")
    animal.name = "Rex"
    try context.save()
    let other = stack.context()
    let found = try #require(try other.all("Animal").first as? Animal)
    #expect(found.name == "Rex")
    #expect(found.fetched == 1)
    _ = try other.all("Animal")
    #expect(found.fetched == 1)
    #expect(found.inserted == 0)
    #expect(!other.hasChanges)
    let plain = try Stack(model: build(nil)).context()
    let object = plain.make("Animal", ["age": 5])
    #expect(type(of: object) == NSManagedObject.self)
    #expect(object.value(forKey: "name") as? String == "none")
    #expect(object.value(forKey: "age") as? Int == 5)
    try plain.save()
    #expect(plain.insertedObjects.isEmpty)
    // An object of the base class says nothing about the entity's class.
    let mixed = stack.context()
    let base = NSManagedObject(
      entity: NSEntityDescription.entity(forEntityName: "Animal", in: mixed)!, insertInto: mixed)
    #expect(type(of: base) == NSManagedObject.self)
    #expect(NSEntityDescription.insertNewObject(forEntityName: "Animal", into: mixed) is Animal)
  }

  @Test("A deleted object that is inserted again is written anew with its values")
  func insertedAgain() throws {
    let stack = try Stack(drafts)
    let context = stack.context()
    let draft = Draft(context: context)
    draft.text = "kept"
    try context.save()
    context.delete(draft)
    try context.save()
    context.insert(draft)
    #expect(draft.isInserted)
    #expect(!draft.isDeleted)
    try context.save()
    #expect(try stack.context().fetch(Draft.fetchRequest()).map(\.text) == ["kept"])
  }

  @Test("A class that no entity stands for can't be made")
  func unknownClass() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack([Draft.self, Folder.self]).context()
      _ = Item(context: context)
    }
    #expect(result?.text.contains("has no entity for the class Item") == true)
  }
}
