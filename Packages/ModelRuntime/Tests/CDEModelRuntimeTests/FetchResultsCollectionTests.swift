import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDESQLiteFaults
@_spi(CDE) import CDEStore
import Foundation
import Synchronization
import Testing

@Suite("Collections that read in batches", .ownThreads)
struct FetchResultsCollectionTests {
  private let stack: Stack
  private let request = Item.fetchRequest()

  init() throws {
    stack = try Stack()
    let context = stack.context()
    for number in 0..<100 {
      let item = Item(context: context)
      item.count = number
      item.title = "\(number)"
    }
    try context.save()
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
  }

  /// Opens the store once more.
  private func opened(_ change: (NSPersistentStoreDescription) -> Void) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(
      name: "Test", managedObjectModel: stack.container.managedObjectModel)
    let description = NSPersistentStoreDescription(url: stack.folder.appendingPathComponent("Test.sqlite"))
    change(description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  private func registered(_ context: NSManagedObjectContext) -> Int { context.registeredObjects.count }

  @Test("Objects come in the order of the fetch, from both ends, and as slices")
  func order() throws {
    let items = try stack.context().fetch(request, batchSize: 7)
    #expect(items.count == 100 && !items.isEmpty)
    #expect(items.map(\.count) == (0..<100).reversed())
    #expect(items.reversed().map(\.count) == Array(0..<100))
    #expect(items[40..<43].map(\.title) == ["59", "58", "57"])
    #expect(items.first?.count == 99 && items.last?.count == 0)
  }

  @Test("The fetch makes no object, one use makes a batch, and at most four batches stay")
  func pages() throws {
    let context = stack.context()
    let items = try context.fetch(request, batchSize: 10)
    #expect(registered(context) == 0)
    #expect(items[25].title == "74" && !items[29].isFault)
    #expect(registered(context) == 10)
    for item in items { #expect(!item.isFault && registered(context) <= 50) }
    #expect(registered(context) == 40)
    let kept = items[0]
    for item in items { #expect(item.count >= 0) }
    #expect(registered(context) == 41 && items[0] === kept && registered(context) == 40)
  }

  @Test("A use of a batch reads once, and a use of a kept one reads nothing")
  func reads() throws {
    let log = ReadCounter()
    let context = try opened { $0.observer = log }.newBackgroundContext()
    let items = try context.fetch(request, batchSize: 10)
    let before = log.count
    for index in [3, 4, 9, 12, 5, 19, 0] { _ = items[index].title }
    #expect(log.count == before + 2)
  }

  @Test("Unsaved changes count: new objects are in it before and after their save, deleted ones are not")
  func pending() throws {
    let context = stack.context()
    let all = try context.fetch(request)
    context.delete(all[0])
    all[1].count = -5
    let new = Item(context: context)
    new.count = 50
    let items = try context.fetch(request, batchSize: 8)
    #expect(items.count == 100 && items.last === all[1] && items.contains { $0 === new })
    let place = try #require(items.firstIndex { $0 === new })
    try context.save()
    #expect(items[place] === new && items.map(\.count) == items.map(\.count).sorted(by: >))
    request.includesPendingChanges = false
    let more = Item(context: context)
    more.count = 1_000
    #expect(try context.fetch(request, batchSize: 8).first?.count == 97)
  }

  @Test("An object whose row was deleted since is a fault with defaults, and the others stay in their places")
  func vanished() throws {
    let context = stack.context()
    let items = try context.fetch(request, batchSize: 10)
    let other = stack.context()
    for item in try other.fetch(request) where item.count == 50 { other.delete(item) }
    try other.save()
    #expect(items.count == 100 && items[48].count == 51 && items[50].count == 49)
    #expect(items[49].count == 0)
  }

  @Test("Limit, offset, conditions and prefetching apply; a limit of a descriptor may be zero")
  func requests() throws {
    let context = stack.context()
    request.fetchLimit = 30
    request.fetchOffset = 10
    request.predicate = NSPredicate(format: "count < 80")
    #expect(try context.fetch(request, batchSize: 4).map(\.count) == (40..<70).reversed())
    var descriptor = FetchDescriptor<Item>(sortBy: [SortDescriptor(\.count)])
    descriptor.fetchLimit = 12
    #expect(try context.fetch(descriptor, batchSize: 5).map(\.count) == Array(0..<12))
    descriptor.fetchLimit = 0
    #expect(try context.fetch(descriptor, batchSize: 5).isEmpty)
    request.relationshipKeyPathsForPrefetching = ["title"]
    #expect(throws: ManagedObjectError.self) { try context.fetch(request, batchSize: 5) }
    request.relationshipKeyPathsForPrefetching = nil
    request.resultType = .managedObjectIDResultType
    #expect(throws: ManagedObjectError.self) { try context.fetch(request, batchSize: 5) }
  }

  @Test(
    "A child context reads through its parent, whose unsaved objects keep their places when they are saved")
  func children() throws {
    let parent = stack.context()
    let new = parent.performAndWait {
      let new = Item(context: parent)
      new.count = 200
      return new
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    let items = try child.performAndWait {
      let items = try child.fetch(request, batchSize: 10)
      #expect(items.count == 101 && items[0].count == 200 && items[100].count == 0)
      return items
    }
    try parent.performAndWait { try parent.save() }
    let id = parent.performAndWait { new.objectID }
    child.performAndWait {
      #expect(items[0].count == 200 && items[0].objectID == id && !id.isTemporaryID)
    }
  }

  @Test("A position outside of the collection ends the program, naming both")
  func bounds() async throws {
    let run = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let items = try Stack().context().fetch(Item.fetchRequest(), batchSize: 5)
      _ = items[3]
    }
    let text = run.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("The position 3 is not in a result of 0 objects."))
  }

  @Test("A batch that can't be read has faults, which are read at their next use", .onSQLite)
  func failedRead() throws {
    let faults = StoreFaults()
    let container = try opened { $0.setOption(faults.vfs, forKey: CDESQLiteVFSOption) }
    let context = container.newBackgroundContext()
    let items = try context.fetch(request, batchSize: 10)
    faults.begin(.always(.ioError))
    let unread = items[42]
    #expect(unread.isFault)
    faults.end()
    #expect(unread.count == 57 && items[43].count == 56 && items[90].count == 9)
  }
}

/// Counts the reads of a store.
private final class ReadCounter: StoreActivityObserver {
  private let reads = Mutex(0)
  var wantsValues: Bool { false }
  var count: Int { reads.withLock { $0 } }
  func didRun(_ request: ObservedRequest) { if request.kind == .read { reads.withLock { $0 += 1 } } }
  func didFire(_ fault: FiredFault) {}
}
