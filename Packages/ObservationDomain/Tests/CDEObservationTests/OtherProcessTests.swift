import CDEManagedModel
import CDEModelRuntime
import CDEObservation
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Another container over the same file stands for another process: it shares nothing with the observed one but the file.
@Suite("Commits of other processes wake readers", .timeLimit(.minutes(5)))
@MainActor
struct OtherProcessTests {
  private static let remote = NSPersistentStoreRemoteChangeNotificationPostOptionKey

  /// Waits until the view context has merged another save.
  private func merge(into view: NSManagedObjectContext, after save: @MainActor () async throws -> Void)
    async throws
  {
    let (merges, continuation) = AsyncStream.makeStream(of: Void.self)
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: view, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    try await save()
    for await _ in merges { break }
  }

  private func other(_ stack: Stack) throws -> NSManagedObjectContext {
    let container = NSPersistentContainer(
      name: "Other", managedObjectModel: stack.container.managedObjectModel)
    container.persistentStoreDescriptions = stack.container.persistentStoreDescriptions
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container.newBackgroundContext()
  }

  private func write(
    _ stack: Stack, in context: NSManagedObjectContext, _ change: @escaping @Sendable (Item) -> Void
  ) async throws {
    let uri = stack.id.uriRepresentation()
    try await context.perform {
      let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
      change(try #require(try context.existingObject(with: id) as? Item))
      try context.save()
    }
  }

  @Test("With a history exactly the readers of the changed properties wake")
  func history() async throws {
    let stack = try Stack(options: [Self.remote, NSPersistentHistoryTrackingKey])
    let domain = CDEObservationDomain(container: stack.container)
    let (readers, folderReaders) = (Readers(stack.item), Readers(stack.folder))
    let context = try other(stack)
    try await merge(into: stack.view) { try await write(stack, in: context) { $0.title = "new" } }
    #expect(readers.take() == ["title"])
    #expect(stack.item.title == "new")
    try await merge(into: stack.view) { try await write(stack, in: context) { $0.folder = nil } }
    #expect(readers.take() == ["folder"])
    #expect(folderReaders.take() == ["items", "itemsCount"])
    withExtendedLifetime(domain) {}
  }

  /// The columns of an item in the history's order: folder, item_rank, summary, title, labels.
  @Test(
    "A history of another program of Core Data's wakes exactly the readers of what changed",
    .enabled(if: StoresUnderTest.areSQLite, "The other program writes to the file."),
    arguments: [
      ("ZTITLE = 'theirs'", "10", ["title"]), ("ZSUMMARY = 'theirs'", "20", ["summary"]),
      ("ZITEM_RANK = 7", "40", ["rank"]), ("ZFOLDER = NULL", "80", ["folder"]),
      ("ZTITLE = 'theirs', ZFOLDER = NULL", "90", ["title", "folder"]),
      (nil, "08", ["labels", "labelsCount"]),
    ] as [(String?, String, Set<String>)])
  func otherProgram(assignment: String?, bits: String, woken: Set<String>) async throws {
    let stack = try Stack(options: [Self.remote, NSPersistentHistoryTrackingKey])
    let domain = CDEObservationDomain(container: stack.container)
    let label = Label(context: stack.view)
    try stack.view.save()
    await stack.merged()
    let (readers, folderReaders) = (Readers(stack.item), Readers(stack.folder))
    let key = { (id: NSManagedObjectID) in Int64(id.uriRepresentation().lastPathComponent.dropFirst())! }
    let program = OtherProgram(file: try #require(stack.container.persistentStoreDescriptions[0].url))
    try await merge(into: stack.view) {
      let statement =
        assignment.map { "UPDATE ZITEM SET \($0), Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key(stack.id))" }
        ?? "INSERT INTO Z_2LABELS VALUES (\(key(stack.id)), \(key(label.objectID)))"
      try program.commit(statement, entity: "Item", key: key(stack.id), bits: bits)
    }
    #expect(readers.take() == woken)
    #expect(folderReaders.take() == (woken.contains("folder") ? ["items", "itemsCount"] : []))
    if woken.contains("title") { #expect(stack.item.title == "theirs") }
    if woken.contains("labels") { #expect(stack.item.labels == [label]) }
    withExtendedLifetime(domain) {}
  }

  @Test(
    "Without a history the readers of the changed objects wake, and no others",
    .enabled(if: StoresUnderTest.areSQLite, "Other engines notice commits of others by the history alone."))
  func objects() async throws {
    let stack = try Stack(options: [Self.remote])
    let domain = CDEObservationDomain(container: stack.container)
    let (readers, folderReaders) = (Readers(stack.item), Readers(stack.folder))
    let context = try other(stack)
    try await merge(into: stack.view) { try await write(stack, in: context) { $0.title = "new" } }
    #expect(readers.take() == Readers.itemFields)
    // Without a history the members may have changed, too.
    #expect(folderReaders.take() == ["items", "itemsCount"])
    #expect(stack.item.title == "new")
    withExtendedLifetime(domain) {}
  }
}
