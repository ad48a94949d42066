import CDEManagedModel
import CDEModelRuntime
import CDEObservation
import Foundation
import Testing

@Suite("Saves merged by hand, in every form")
@MainActor
struct HandMergeTests {
  /// In which form a save is handed to the view context.
  enum Form: CaseIterable, Sendable { case notification, userInfo, ids, uris, remerged }

  private func merge(_ note: Notification, as form: Form, into view: NSManagedObjectContext) {
    func ids(_ key: String) -> [NSManagedObjectID] {
      (note.userInfo?[key] as? Set<NSManagedObject> ?? []).map(\.objectID)
    }
    let all = [
      NSInsertedObjectIDsKey: ids(NSInsertedObjectsKey), NSUpdatedObjectIDsKey: ids(NSUpdatedObjectsKey),
      NSDeletedObjectIDsKey: ids(NSDeletedObjectsKey),
    ]
    switch form {
    case .notification: view.mergeChanges(fromContextDidSave: note)
    case .userInfo:
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: note.userInfo ?? [:], into: [view])
    case .ids: NSManagedObjectContext.mergeChanges(fromRemoteContextSave: all, into: [view])
    case .uris:
      let uris = all.mapValues { $0.map { $0.uriRepresentation() } }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: uris, into: [view])
    case .remerged:
      // As a notification of another context's merge names them.
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: all.mapValues(Set.init), into: [view])
    }
  }

  @Test("A registered context's save wakes exactly the changed properties, once", arguments: Form.allCases)
  func registered(form: Form) async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let (ofItem, ofFolder) = (Readers(stack.item), Readers(stack.folder))
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    merge(try #require(saves.last), as: form, into: stack.view)
    #expect(ofItem.take() == ["title": 1])
    #expect(stack.item.title == "new")
    try await stack.write(in: context) {
      $0.rank = 4
      $0.folder = nil
    }
    merge(try #require(saves.last), as: form, into: stack.view)
    #expect(ofItem.take() == ["rank": 1, "folder": 1])
    #expect(ofFolder.take() == ["items": 1, "itemsCount": 1])
    #expect(stack.item.rank == 4 && stack.folder.itemsCount == 0)
  }

  @Test(
    "An unregistered context's save wakes all properties, unless every save is exact",
    arguments: Form.allCases)
  func unregistered(form: Form) async throws {
    for precision in [CDEObservationPrecision.registeredProducers, .everySave] {
      let stack = try Stack(merges: false)
      let domain = CDEObservationDomain(container: stack.container, precision: precision)
      let readers = Readers(stack.item)
      let context = stack.container.newBackgroundContext()
      let saves = SaveLog(context)
      try await stack.write(in: context) { $0.title = "new" }
      merge(try #require(saves.last), as: form, into: stack.view)
      #expect(readers.take() == (precision == .everySave ? ["title"] : Readers.itemFields))
      withExtendedLifetime(domain) {}
    }
  }

  @Test("A save merged several times in one job wakes once, in whichever forms", arguments: Form.allCases)
  func repeated(form: Form) async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .off)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    let note = try #require(saves.last)
    merge(note, as: form, into: stack.view)
    merge(note, as: form, into: stack.view)
    for other in Form.allCases { merge(note, as: other, into: stack.view) }
    #expect(readers.take() == ["title": 1])
  }

  @Test(
    "With suppression on, a save that was merged by itself and comes again wakes no reader",
    arguments: Form.allCases)
  func echo(form: Form) async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    let note = try #require(saves.last)
    for number in 0..<5 { try await stack.write(in: context) { $0.rank = number + 1 } }
    await stack.merged()
    #expect(readers.take() == ["title": 1, "rank": 5])
    merge(note, as: form, into: stack.view)
    #expect(readers.take() == [:])
    #expect(stack.item.rank == 5)
  }

  @Test(
    "With suppression off, a save that is merged again in a later job wakes all properties",
    arguments: Form.allCases)
  func echoWithoutSuppression(form: Form) async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .off)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    let note = try #require(saves.last)
    merge(note, as: form, into: stack.view)
    #expect(readers.take() == ["title": 1])
    await stack.merged()
    merge(note, as: form, into: stack.view)
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("A part of a save merged by ID leaves the rest news, and is an echo in the whole")
  func partly() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let (ofItem, ofFolder) = (Readers(stack.item), Readers(stack.folder))
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) {
      $0.title = "new"
      $0.folder?.name = "renamed"
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.id]], into: [stack.view])
    #expect(ofItem.take() == ["title": 1])
    #expect(ofFolder.take() == [:])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(ofItem.take() == [:])
    #expect(ofFolder.take() == ["name": 1])
  }

  @Test("Several saves merged by one ID wake what all of them changed")
  func several() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    try await stack.write(in: context) { $0.title = "new" }
    try await stack.write(in: context) { $0.rank = 3 }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.id]], into: [stack.view])
    #expect(readers.take() == ["title": 1, "rank": 1])
    #expect(stack.item.title == "new" && stack.item.rank == 3)
    withExtendedLifetime(domain) {}
  }

  @Test("An ID stands for all properties where another container wrote the row as well")
  func foreignWriter() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.title = "new" }
    let other = NSPersistentContainer(
      name: "Other", managedObjectModel: try .makeRuntimeModel(Item.self, Folder.self, Label.self, Memo.self))
    other.persistentStoreDescriptions = stack.container.persistentStoreDescriptions
    var failure: (any Error)?
    other.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = other.newBackgroundContext()
    try context.performAndWait {
      let item = try #require(try context.fetch(NSFetchRequest<Item>(entityName: "Item")).first)
      item.summary = "foreign"
      try context.save()
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.id]], into: [stack.view])
    #expect(readers.take() == Readers.itemFields)
    #expect(stack.item.title == "new" && stack.item.summary == "foreign")
    withExtendedLifetime(domain) {}
  }

  @Test("IDs of a save that lies too far back wake all properties")
  func bounded() async throws {
    let stack = try Stack(merges: false)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    try await stack.write(in: context) { $0.title = "new" }
    for number in 0..<300 { try await insertMemo("\(number)", in: context) }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [stack.id]], into: [stack.view])
    #expect(readers.take() == Readers.itemFields)
    withExtendedLifetime(domain) {}
  }

  private nonisolated func insertMemo(_ text: String, in context: NSManagedObjectContext) async throws {
    try await context.perform {
      Memo(context: context).text = text
      try context.save()
    }
  }
}
