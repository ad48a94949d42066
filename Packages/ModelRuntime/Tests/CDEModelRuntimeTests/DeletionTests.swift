import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel
final class Watched: NSManagedObject {
  var name: String = ""
  @Ignore var seen: [Bool] = []
  override func didSave() {
    super.didSave()
    seen.append(isDeleted)
  }
}

@Suite("Deleting")
struct DeletionTests {
  private func stack(
    _ rule: NSDeleteRule, back: NSDeleteRule = .nullifyDeleteRule, ownerOptional: Bool = true
  ) throws -> Stack {
    let item = entity("Item", nil, [attribute("title", .stringAttributeType)])
    let owner = entity("Owner", nil, [attribute("title", .stringAttributeType)])
    connect(.one(item, "owner", rule: back, optional: ownerOptional), .many(owner, "items", rule: rule))
    return try Stack(model: model(item, owner))
  }

  private func family(_ context: NSManagedObjectContext, _ count: Int) throws -> (
    NSManagedObject, [NSManagedObject]
  ) {
    let owner = context.make("Owner")
    let items = (0..<count).map { context.make("Item", ["title": "\($0)", "owner": owner]) }
    try context.save()
    return (owner, items)
  }

  @Test("Nullify frees the members at once")
  func nullify() throws {
    let context = try stack(.nullifyDeleteRule).context()
    let (owner, items) = try family(context, 2)
    context.delete(owner)
    #expect(owner.isDeleted)
    #expect(context.deletedObjects == [owner])
    #expect(items.allSatisfy { $0.one("owner") == nil })
    #expect(context.updatedObjects == Set(items))
    try context.save()
    #expect(owner.managedObjectContext == nil)
    #expect(!context.hasChanges)
    #expect(try context.all("Owner").isEmpty)
    #expect(try context.all("Item").count == 2)
  }

  @Test("Cascade goes through chains and circles, however long")
  func cascade() throws {
    let node = entity("Node", nil, [attribute("title", .stringAttributeType)])
    connect(.one(node, "next", rule: .cascadeDeleteRule), .one(node, "previous", rule: .cascadeDeleteRule))
    let context = try Stack(model: model(node)).context()
    let nodes = (0..<20_000).map { _ in context.make("Node") }
    for index in nodes.indices { nodes[index].setValue(nodes[(index + 1) % nodes.count], forKey: "next") }
    try context.save()
    context.delete(nodes[77])
    #expect(context.deletedObjects.count == nodes.count)
    try context.save()
    #expect(try context.all("Node").isEmpty)
  }

  @Test("Cascade reaches the members, and a rollback brings all back")
  func cascadeRollback() throws {
    let context = try stack(.cascadeDeleteRule).context()
    let (owner, items) = try family(context, 3)
    context.delete(owner)
    #expect(context.deletedObjects == Set(items + [owner]))
    context.rollback()
    #expect(!context.hasChanges)
    #expect(owner.set("items") == Set(items))
    #expect(items.allSatisfy { !$0.isDeleted && $0.one("owner") === owner })
    context.delete(owner)
    try context.save()
    #expect(try context.all("Item").isEmpty)
  }

  @Test("Deny fails the save by name until the members are gone")
  func deny() throws {
    let context = try stack(.denyDeleteRule).context()
    let (owner, items) = try family(context, 2)
    context.delete(owner)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .relationshipDeniedDelete)
    #expect((error as NSError?)?.code == NSValidationRelationshipDeniedDeleteError)
    #expect(error?.property == "items")
    #expect(context.deletedObjects == [owner])
    for item in items { context.delete(item) }
    try context.save()
    #expect(try context.all("Owner").isEmpty)
    #expect(try context.all("Item").isEmpty)
  }

  @Test("No action leaves the members alone")
  func noAction() throws {
    let context = try stack(.noActionDeleteRule).context()
    let (owner, items) = try family(context, 1)
    context.delete(owner)
    #expect(context.updatedObjects.isEmpty)
    try context.save()
    context.reset()
    let item = try #require(try context.all("Item").first)
    // The reference dangles, as in Core Data: it reads as an object that is deleted.
    _ = item.one("owner")?.value(forKey: "title")
    #expect(item.one("owner")?.isDeleted == true)
    #expect(items[0].managedObjectContext == nil)
  }

  @Test("A new object that is deleted was never there")
  func inserted() throws {
    let context = try stack(.cascadeDeleteRule).context()
    let owner = context.make("Owner")
    let items = (0..<3).map { _ in context.make("Item", ["owner": owner]) }
    context.delete(items[0])
    #expect(context.deletedObjects.isEmpty)
    #expect(owner.set("items") == [items[1], items[2]])
    #expect(items[0].managedObjectContext == nil)
    context.delete(owner)
    #expect(context.insertedObjects.isEmpty)
    #expect(context.deletedObjects.isEmpty)
    #expect(!context.hasChanges)
    #expect(!items[1].hasChanges)
    try context.save()
    #expect(try context.all("Item").isEmpty)
    context.insert(items[2])
    try context.save()
    #expect(try context.all("Item") == [items[2]])
  }

  @Test("A required owner that is deleted fails the save of its members")
  func requiredOwner() throws {
    let context = try stack(.nullifyDeleteRule, ownerOptional: false).context()
    let (owner, items) = try family(context, 2)
    context.delete(owner)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .multipleValidationErrors)
    #expect(error?.failures.map(\.code) == [.missingMandatoryProperty, .missingMandatoryProperty])
    #expect(Set(error?.failures.compactMap(\.objectID) ?? []) == Set(items.map(\.objectID)))
  }

  @Test("Owners loaded later do not show members deleted meanwhile, and do again after a rollback")
  func loadedMeanwhile() throws {
    let stack = try stack(.nullifyDeleteRule)
    _ = try family(stack.context(), 2)
    let context = stack.context()
    let item = try context.all("Item", sort: "title")[0]
    context.delete(item)
    let owner = try context.all("Owner")[0]
    #expect(owner.set("items").count == 1)
    context.rollback()
    #expect(owner.set("items").count == 2)
    context.delete(item)
    try context.save()
    #expect(owner.set("items").count == 1)
  }

  @Test("didSave() finds a deleted object deleted, and later code does not")
  func deletedInDidSave() throws {
    let context = try Stack([Watched.self]).context()
    let (kept, gone) = (Watched(context: context), Watched(context: context))
    try context.save()
    kept.name = "changed"
    context.delete(gone)
    try context.save()
    #expect(kept.seen == [false, false] && gone.seen == [false, true])
    #expect(!gone.isDeleted && gone.managedObjectContext == nil)
  }

  @Test("A deleted object that is inserted again is kept, with an unsaved object as with a saved one")
  func insertedAgain() throws {
    let stack = try Stack([Draft.self, Folder.self])
    let context = stack.context()
    let folder = Folder(context: context)
    folder.name = "kept"
    let saved = Draft(context: context)
    saved.text = "saved"
    saved.folder = folder
    try context.save()
    let key = saved.objectID
    let new = Draft(context: context)
    new.text = "new"
    for draft in [saved, new] {
      context.delete(draft)
      context.insert(draft)
      #expect(!draft.isDeleted)
    }
    #expect(context.deletedObjects.isEmpty)
    #expect(folder.drafts == [saved])
    try context.save()
    #expect(saved.objectID == key)
    let other = stack.context()
    let request = Draft.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
    #expect(try other.fetch(request).map(\.text) == ["new", "saved"])
  }

  @Test("A deleted object keeps its last values and is not found any more")
  func lastValues() throws {
    let context = try stack(.nullifyDeleteRule).context()
    let (_, items) = try family(context, 1)
    let id = items[0].objectID
    context.delete(items[0])
    try context.save()
    #expect(items[0].value(forKey: "title") as? String == "0")
    #expect(!items[0].isDeleted && items[0].managedObjectContext == nil)
    #expect(items[0].objectID == id)
    #expect(throws: ManagedObjectError.self) { try context.existingObject(with: id) }
    context.delete(items[0])
    #expect(!context.hasChanges)
  }

  @Test("Objects can only be deleted in their own context")
  func otherContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try DeletionTests().stack(.nullifyDeleteRule)
      let object = stack.context().make("Item")
      stack.context().delete(object)
    }
    #expect(
      result?.text.contains("An NSManagedObjectContext cannot delete objects in other contexts.") == true)
  }
}
