import CDEModelRuntime
import CDEObservation
import Foundation
import Observation
import Testing

@Suite("Saves of other contexts")
@MainActor
struct ProducerTests {
  @Test("A registered context's plain save wakes exactly, when merged automatically")
  func registered() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    domain.registerChangeProducer(context: context)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    #expect(stack.item.title == "new")
  }

  @Test("newObservedBackgroundContext() makes a registered context of the domain's container")
  func convenience() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    #expect(context.persistentStoreCoordinator === stack.container.persistentStoreCoordinator)
    try await stack.write(in: context) { $0.rank = 9 }
    await stack.merged()
    #expect(readers.take() == ["rank": 1])
  }

  @Test("A registered context's save wakes exactly when merged by mergeChanges(fromContextDidSave:)")
  func explicitMerge() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.summary = "new" }
    await stack.merged()
    #expect(readers.take() == [:])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == ["summary": 1])
  }

  @Test("An unregistered context's save wakes all properties of the changed object, and of no other")
  func unregistered() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    try await stack.write(in: stack.container.newBackgroundContext()) { $0.title = "new" }
    await stack.merged()
    #expect(ofItem.take() == Readers.itemFields)
    #expect(ofFolder.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A related insert wakes its owner's relationship and count, and not its other fields")
  func relatedInsert() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    let context = domain.newObservedBackgroundContext()
    let folderID = stack.folderID
    try await insertItem(into: folderID, in: context)
    await stack.merged()
    #expect(ofFolder.take() == ["items": 1, "itemsCount": 1])
    #expect(ofItem.take() == [:])
    #expect(stack.folder.itemsCount == 2)
  }

  @Test("A related deletion of any context wakes its owner's relationship and count alone")
  func relatedDeletion() async throws {
    for isObserved in [true, false] {
      let stack = try Stack()
      let domain = CDEObservationDomain(container: stack.container)
      let readers = Readers(stack.folder)
      let context =
        isObserved ? domain.newObservedBackgroundContext() : stack.container.newBackgroundContext()
      try await stack.write(in: context) { [context] in context.delete($0) }
      await stack.merged()
      #expect(readers.take() == ["items": 1, "itemsCount": 1])
      #expect(stack.folder.itemsCount == 0)
    }
  }

  @Test("domain.saveObservedChanges(in:) saves any context exactly, and registers nothing")
  func wrapper() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    try await edit(stack.id, in: context) { $0.title = "one" }
    try await domain.saveObservedChanges(in: context)
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    try await stack.write(in: context) { $0.title = "two" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("domain.saveObservedChanges(in:) rolls the context back when the save fails, and throws its error")
  func wrapperFailure() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    try await edit(stack.id, in: context) { $0.title = Item.unwanted }
    await #expect(throws: (any Error).self) { try await domain.saveObservedChanges(in: context) }
    let isDirty = await context.perform { context.hasChanges }
    #expect(!isDirty)
    await stack.merged()
    #expect(readers.take() == [:])
    try await stack.write(in: context) { $0.summary = "after" }
    await stack.merged()
    #expect(readers.take() == ["summary": 1])
    #expect(stack.item.title == "old")
  }

  @Test("What a failed registered save wanted to change is in no later wake-up")
  func failedRegisteredSave() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    try await edit(stack.id, in: context) {
      $0.title = Item.unwanted
      #expect(throws: (any Error).self) { try context.save() }
      context.rollback()
      $0.rank = 4
      try context.save()
    }
    await stack.merged()
    #expect(readers.take() == ["rank": 1])
  }

  @Test("An invalidated registration makes later saves those of an unregistered context")
  func invalidated() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    let registration = domain.registerChangeProducer(context: context)
    await Task.detached {
      registration.invalidate()
      registration.invalidate()
    }.value
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("Two registrations of one context end one by one")
  func twice() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    let first = domain.registerChangeProducer(context: context)
    domain.registerChangeProducer(context: context)
    first.invalidate()
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
  }

  @Test("Saves of two registered contexts do not mix")
  func twoProducers() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let first = domain.newObservedBackgroundContext()
    let second = stack.container.newBackgroundContext()
    let firstSaves = SaveLog(first)
    let secondSaves = SaveLog(second)
    try await stack.write(in: first) { $0.title = "one" }
    try await stack.write(in: second) { $0.summary = "two" }
    stack.view.mergeChanges(fromContextDidSave: try #require(secondSaves.last))
    #expect(readers.take() == Readers.itemFields)
    stack.view.mergeChanges(fromContextDidSave: try #require(firstSaves.last))
    #expect(readers.take() == ["title": 1])
  }

  @Test("Unsaved changes of the view context stay through a merge, and their readers wake")
  func dirtyView() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.item.title = "mine"
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.summary = "theirs" }
    await stack.merged()
    #expect(readers.take() == ["summary": 1])
    #expect(stack.item.title == "mine")
    #expect(stack.item.summary == "theirs")
  }

  @Test("Reads on background contexts make no subscription")
  func backgroundReads() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let context = domain.newObservedBackgroundContext()
    try await stack.write(in: context) { item in
      withObservationTracking {
        _ = item.title
      } onChange: {
        Issue.record("A reader on a background context woke.")
      }
      item.title = "new"
    }
    await stack.merged()
    try await stack.write(in: context) { $0.title = "newer" }
    await stack.merged()
    #expect(stack.item.title == "newer")
  }
}

nonisolated func insertItem(into folderID: NSManagedObjectID, in context: NSManagedObjectContext) async throws
{
  try await context.perform {
    guard let folder = try context.existingObject(with: folderID) as? Folder else { throw Unwanted() }
    let item = Item(context: context)
    item.title = "inserted"
    item.folder = folder
    try context.save()
  }
}

/// Remembers a context's didSave notifications.
final class SaveLog: @unchecked Sendable {
  // Guard: `lock`.
  private let lock = NSLock()
  private var notifications: [Notification] = []
  private var token: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [weak self] notification in
      guard let self else { return }
      lock.withLock { notifications.append(notification) }
    }
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  var last: Notification? { lock.withLock { notifications.last } }
}
