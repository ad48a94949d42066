import CDEManagedModel
@_spi(CDE) import CDEExecutors
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Dispatch
import Foundation
import Testing

/// Apple's documentation of `NSPersistentStoreRemoteChange` and of `automaticallyMergesChangesFromParent` is the source.
@Suite("Commits of other processes", .timeLimit(.minutes(10)), .ownThreads)
struct RemoteChangeTests {
  /// Counts notifications, and waits for them.
  private final class Counter: @unchecked Sendable {
    // Guard: `userInfo` is behind the lock, the token is set before the object is shared.
    private let arrived = DispatchSemaphore(value: 0)
    private let infos = Lock<[Info]>([])
    private var token: (any NSObjectProtocol)?

    struct Info: @unchecked Sendable {
      // Guard: immutable.
      let userInfo: [AnyHashable: Any]
    }

    init(_ name: Notification.Name, _ object: AnyObject) {
      token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
        [weak self] in
        guard let self else { return }
        let info = Info(userInfo: $0.userInfo ?? [:])
        self.infos.withLock { $0.append(info) }
        self.arrived.signal()
      }
    }

    deinit { token.map { NotificationCenter.default.removeObserver($0) } }

    var all: [[AnyHashable: Any]] { infos.withLock { $0.map(\.userInfo) } }
    func wait() { arrived.wait() }
    func wait(_ isDone: () -> Bool) { while !isDone() { arrived.wait() } }
  }

  static let merged = NSManagedObjectContext.didMergeChangesObjectIDsNotification

  private func stack(in folder: URL? = nil, history: Bool) throws -> Stack {
    let remote = NSPersistentStoreRemoteChangeNotificationPostOptionKey
    return history
      ? try Stack(in: folder, options: NSPersistentHistoryTrackingKey, remote)
      : try Stack(in: folder, options: remote)
  }

  @Test(
    "A context that merges automatically follows another container, with a history and without",
    // Other engines notice commits of others by the history alone.
    arguments: StoresUnderTest.areSQLite ? [true, false] : [true])
  func following(history: Bool) throws {
    let mine = try stack(history: history)
    let theirs = try stack(in: mine.folder, history: history)
    let writer = theirs.context()
    let (item, category) = (Item(context: writer), Category(context: writer))
    item.title = "old"
    item.category = category
    try writer.save()
    let reader = mine.context()
    reader.automaticallyMergesChangesFromParent = true
    let (seen, seenCategory) = try reader.performAndWait {
      let seen = try #require(try reader.fetch(Item.fetchRequest()).first)
      #expect(seen.category?.items == [seen])
      return (seen, try #require(seen.category))
    }
    let counter = Counter(Self.merged, reader)
    item.title = "new"
    try writer.save()
    counter.wait { reader.performAndWait { seen.title == "new" } }
    let added = Item(context: writer)
    added.category = category
    added.title = "added"
    try writer.save()
    counter.wait { reader.performAndWait { seenCategory.items.count == 2 } }
    item.category = nil
    writer.delete(added)
    try writer.save()
    // Members that an earlier merge dropped are read as the store has them, which may be before this commit is merged.
    counter.wait { reader.performAndWait { seenCategory.items.isEmpty && seen.category == nil } }
    reader.performAndWait {
      #expect(seen.category == nil)
      #expect(!reader.hasChanges)
    }
    withExtendedLifetime((mine, theirs, seen, seenCategory)) {}
  }

  @Test("With a history a merge announces exactly the changed properties' objects; unsaved changes stay")
  func precise() throws {
    let mine = try stack(history: true)
    let theirs = try stack(in: mine.folder, history: true)
    let writer = theirs.context()
    let (first, second) = (Item(context: writer), Item(context: writer))
    (first.title, second.title) = ("1", "2")
    try writer.save()
    let reader = mine.context()
    let counter = Counter(Self.merged, reader)
    let seen = try reader.performAndWait {
      let seen = try reader.fetch(Item.fetchRequest()).sorted { $0.title < $1.title }
      seen[0].count = 9
      return seen
    }
    reader.automaticallyMergesChangesFromParent = true
    first.title = "1 new"
    try writer.save()
    // The insertions may be merged, too, if they were noticed after the reader was told to merge.
    let updates = {
      counter.all.compactMap { $0[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> }.filter { !$0.isEmpty }
    }
    counter.wait { !updates().isEmpty }
    reader.performAndWait {
      #expect(updates() == [[seen[0].objectID]])
      #expect(seen.map(\.title) == ["1 new", "2"])
      #expect(seen[0].count == 9)
    }
    try reader.performAndWait { try reader.save() }
    withExtendedLifetime((mine, theirs, seen)) {}
  }

  @Test("Own commits and batches are announced with store, URL and token", arguments: [true, false])
  func own(history: Bool) throws {
    let stack = try stack(history: history)
    let coordinator = stack.container.persistentStoreCoordinator
    let counter = Counter(.NSPersistentStoreRemoteChange, coordinator)
    let context = stack.context()
    _ = Item(context: context)
    try context.save()
    counter.wait()
    _ = try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["title": "a"]]))
    counter.wait { counter.all.count >= 2 }
    let store = coordinator.persistentStores[0]
    for info in counter.all {
      #expect(info[NSStoreUUIDKey] as? String == store.identifier)
      #expect(info[NSPersistentStoreURLKey] as? URL == store.url)
    }
    let token = counter.all[1][NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
    #expect(token == coordinator.currentPersistentHistoryToken(fromStores: nil))
    #expect((token != nil) == history)
  }

  @Test(
    "A context ends with the graph of the file after another process wrote to it",
    arguments: StoresUnderTest.areSQLite ? [true, false] : [true])
  func process(history: Bool) async throws {
    let mine = try stack(history: history)
    let reader = mine.context()
    reader.automaticallyMergesChangesFromParent = true
    let items = try reader.performAndWait {
      let items = (0..<20).map { index in
        let item = Item(context: reader)
        item.count = index
        return item
      }
      try reader.save()
      return items
    }
    let counter = Counter(Self.merged, reader)
    await #expect(processExitsWith: .success) {
      [folder = mine.folder.path as String, history = history as Bool] in
      let stack = try RemoteChangeTests().stack(in: URL(fileURLWithPath: folder), history: history)
      let context = stack.context()
      let items = try context.fetch(Item.fetchRequest())
      for round in 1...30 {
        for item in items { item.count += 100 }
        items[round % 20].title = "round \(round)"
        try context.save()
      }
      let coordinator = stack.container.persistentStoreCoordinator
      try coordinator.remove(coordinator.persistentStores[0])
    }
    let sum = 20 * 19 / 2 + 20 * 3000
    counter.wait { reader.performAndWait { items.reduce(0) { $0 + $1.count } == sum } }
    reader.performAndWait { #expect(items.allSatisfy { $0.title.hasPrefix("round") }) }
    withExtendedLifetime(mine) {}
  }
}
