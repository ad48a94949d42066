import CDEModelRuntime
import CDEObservation
import Foundation
import Testing

@Suite("Changes without properties, and what becomes of observed objects")
@MainActor
struct FallbackTests {
  @Test("Updates merged by IDs wake all properties of these objects, and of no others")
  func updatedIDs() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.id]], into: [stack.view])
    #expect(ofItem.take() == Dictionary(uniqueKeysWithValues: Readers.itemFields.map { ($0, 1) }))
    #expect(ofFolder.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A merge by IDs that names no observed object wakes no reader")
  func foreignIDs() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.folderID]], into: [stack.view])
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [:], into: [stack.view])
    #expect(readers.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A deletion merged by IDs wakes the object's readers once, and never again")
  func deletedIDs() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    try await stack.write(in: context) { [context] in context.delete($0) }
    let change = [NSDeletedObjectIDsKey: [stack.id]]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: change, into: [stack.view])
    #expect(readers.take() == Readers.itemFields)
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: change, into: [stack.view])
    #expect(readers.take() == [:])
    #expect(!stack.view.hasChanges)
    withExtendedLifetime(domain) {}
  }

  @Test("A merged deletion of any context wakes all readers of the object once", arguments: [true, false])
  func mergedDeletion(isObserved: Bool) async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context =
      isObserved ? domain.newObservedBackgroundContext() : stack.container.newBackgroundContext()
    try await stack.write(in: context) { [context] in context.delete($0) }
    await stack.merged()
    #expect(readers.take() == Dictionary(uniqueKeysWithValues: Readers.itemFields.map { ($0, 1) }))
    #expect(stack.item.isDeleted)
  }

  @Test("A local deletion wakes none of the object's readers, at once or by the save")
  func localDeletion() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    stack.view.delete(stack.item)
    try stack.view.save()
    #expect(ofItem.take() == [:])
    #expect(ofFolder.take() == ["items": 1, "itemsCount": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("reset() drops all observed objects silently")
  func reset() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.view.reset()
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == [:])
    let again = try #require(try stack.view.existingObject(with: stack.id) as? Item)
    let later = Readers(again)
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.title = "newer" }
    await stack.merged()
    #expect(later.take() == ["title": 1])
    #expect(readers.take() == [:])
  }

  @Test("refresh(_:mergeChanges:) wakes all properties of the object, either way", arguments: [true, false])
  func refresh(mergeChanges: Bool) throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    stack.view.refresh(stack.item, mergeChanges: mergeChanges)
    #expect(ofItem.take() == Readers.itemFields)
    #expect(ofFolder.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("An object that became a fault stays observed")
  func fault() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.view.refresh(stack.item, mergeChanges: false)
    let _: Set<String> = readers.take()
    stack.view.refresh(stack.item, mergeChanges: false)
    let _: Set<String> = readers.take()
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.rank = 5 }
    await stack.merged()
    #expect(readers.take() == ["rank": 1])
    #expect(stack.item.rank == 5)
  }

  @Test("rollbackObservedChanges() wakes all readers of changed and of deleted objects, and no others")
  func rollback() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let label = Label(context: stack.view)
    label.name = "l"
    let other = Item(context: stack.view)
    other.title = "other"
    try stack.view.save()
    let ofItem = Readers(stack.item)
    let ofOther = Readers(other)
    let ofLabel = Readers()
    ofLabel.add("name") { _ = label.name }
    stack.item.title = "draft"
    stack.view.delete(other)
    domain.rollbackObservedChanges()
    #expect(ofItem.take() == Readers.itemFields)
    #expect(ofOther.take() == Readers.itemFields)
    #expect(ofLabel.take() == [:])
    #expect(stack.item.title == "old")
    #expect(!other.isDeleted)
  }

  @Test("rollbackObservedChanges() forgets objects never saved, silently")
  func rollbackOfInsert() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = Item(context: stack.view)
    let readers = Readers(item)
    item.title = "never"
    domain.rollbackObservedChanges()
    #expect(readers.take() == [:])
    #expect(item.managedObjectContext == nil)
  }

  @Test("A new object stays observed when its ID becomes permanent: saves of other contexts find its readers")
  func rekeying() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = Item(context: stack.view)
    item.title = "new"
    let temporary = item.objectID
    let readers = Readers(item)
    try stack.view.save()
    let _: Set<String> = readers.take()
    #expect(item.objectID != temporary)
    try await edit(item.objectID, in: domain.newObservedBackgroundContext()) {
      $0.summary = "s"
      try $0.managedObjectContext?.save()
    }
    await stack.merged()
    #expect(readers.take() == ["summary": 1])
    #expect(stack.view.registeredObject(for: item.objectID) === item)
  }
}
