import CDEDatabases
import CDEExecutors
import CDEModelRuntime
import Dispatch
import Foundation
import Synchronization
import Testing

/// Says of every operation whether it ran on the main actor's executor.
final class IsolationProbe: Database {
  let base: any Database
  private let seen = Mutex<[(name: String, isMain: Bool)]>([])
  var observed: [(name: String, isMain: Bool)] { seen.withLock { $0 } }

  init(_ base: any Database) { self.base = base }

  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    let name = operation.name
    return try await base.run(
      operation.wrapping { proceed in
        self.seen.withLock { $0.append((name, isOnMainActor)) }
        try proceed()
      })
  }

  static func everything(_ database: any Database) async throws {
    let handle = try await database.insert(Item.self) { $0.title = "a" }
    try await database.insert(Item.self, for: ["b", "c"]) { $0.title = $1 }
    try await database.update(handle) { $0.rank = 1 }
    _ = try await database.fetch(FetchDescriptor<Item>())
    _ = try await database.fetch(FetchDescriptor<Item>()) { $0.title }
    _ = try await database.fetchHandles(FetchDescriptor<Item>())
    _ = try await database.fetchOne(handle)
    _ = try await database.count(Item.self)
    _ = try await database.exists(handle)
    _ = try await database.read { try $0.fetchCount(FetchDescriptor<Item>()) }
    try await database.transaction { Item(context: $0).title = "d" }
    try await database.withContext { Item(context: $0).title = "e" }
    try await database.save()
    try await database.rollback()
    try await database.getOrCreate(Tag.self, .key(\.name, "t"))
    try await database.synchronize(Tag.self, with: ["u"], key: \.name, from: { $0 }) { $0.note = $1 }
    _ = try await database.changes(of: Item.self)
    try await database.delete(handle)
    try await database.delete(model: Item.self)
  }
}

// Tests that block threads on purpose do so in a process of their own: the pool has as many threads as the machine
// has cores, and the other tests need them.
@Suite("Where work runs", .ownThreads)
struct IsolationTests {
  @Test("Made and used on the main actor, a database works elsewhere", arguments: Kind.allCases)
  @MainActor func madeOnMain(kind: Kind) async throws {
    #expect(isOnMainActor)
    let probe = IsolationProbe(try kind.make())
    try await IsolationProbe.everything(probe)
    #expect(probe.observed.count >= 19)
    for (name, isMain) in probe.observed { #expect(!isMain, "\(name) ran on the main actor") }
    #expect(isOnMainActor)
  }

  @Test("A blocked main actor keeps no database from working")
  func blockedMain() async {
    await #expect(processExitsWith: .success) { @MainActor in
      for kind in Kind.allCases {
        let database = try kind.make()
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task.detached {
          do { try await IsolationProbe.everything(database) } catch { failure.withLock { $0 = error } }
          done.signal()
        }
        precondition(done.wait(timeout: .now() + 60) == .success, "\(kind) waits for the main actor.")
        if let error = failure.withLock({ $0 }) { throw error }
      }
    }
  }

  @Test("The factory of a background database runs off the main actor, once for all who come first")
  @MainActor func factory() async throws {
    let container = try Library.container()
    let made = Mutex<[Bool]>([])
    let database = BackgroundDatabase {
      made.withLock { $0.append(isOnMainActor) }
      return ModelActorDatabase(modelContainer: container)
    }
    #expect(made.withLock { $0.isEmpty })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask { try await database.insert(Item.self) { $0.rank = number } }
      }
      try await group.waitForAll()
    }
    #expect(made.withLock { $0 } == [false])
    #expect(try await database.count(Item.self) == 64)
  }

  @Test("A factory that fails is asked again")
  func failingFactory() async throws {
    let container = try Library.container()
    let calls = Atomic(0)
    let database = BackgroundDatabase {
      if calls.add(1, ordering: .relaxed).newValue == 1 { throw Refusal() }
      return ModelActorDatabase(modelContainer: container)
    }
    await #expect(throws: Refusal.self) { try await database.count(Item.self) }
    #expect(try await database.count(Item.self) == 0)
    #expect(calls.load(ordering: .relaxed) == 2)
  }

  @Test("The view context hears of a database's saves on the main actor, and works nowhere else")
  func viewContext() async throws {
    let container = try Library.container()
    let database = BackgroundDatabase(modelContainer: container)
    let view = container.viewContext
    view.automaticallyMergesChangesFromParent = true
    let handle = try await database.insert(Item.self) { $0.title = "one" }
    let (merges, continuation) = AsyncStream.makeStream(of: Bool.self)
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: view, queue: nil
    ) { _ in continuation.yield(isOnMainActor) }
    defer { NotificationCenter.default.removeObserver(token) }
    let before = try await view.perform { () -> Bool in
      _ = try view.object(for: handle).title
      return isOnMainActor
    }
    #expect(before)
    try await database.update(handle) { $0.title = "two" }
    var iterator = merges.makeAsyncIterator()
    #expect(await iterator.next() == true)
    let title = try await MainActor.run { try view.object(for: handle).title }
    #expect(title == "two")
  }

  @Test("Reads go on while a write does, and see what is saved")
  func readsBesideWrites() async {
    await #expect(processExitsWith: .success) {
      let database = ModelActorDatabase(modelContainer: try Library.container(inMemory: false))
      try await database.insert(Item.self) { $0.title = "saved" }
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      let mayEnd = DispatchSemaphore(value: 0)
      let write = Task.detached {
        try await database.transaction { context -> Bool in
          Item(context: context).title = "being written"
          continuation.yield()
          return mayEnd.wait(timeout: .now() + 60) == .success
        }
      }
      for await _ in begun { break }
      #expect(try await database.fetch(Item.self).map(\.title) == ["saved"])
      mayEnd.signal()
      #expect(try await write.value)
      #expect(try await database.count(Item.self) == 2)
    }
  }

  @Test("An operation whose time is over before it starts never runs, and its caller goes on at once")
  func timeout() async {
    await #expect(processExitsWith: .success) {
      let actor = ModelActorDatabase(modelContainer: try Library.container(inMemory: false))
      let impatient = actor.with(DatabasePolicy(timeout: .milliseconds(20)))
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      let mayEnd = DispatchSemaphore(value: 0)
      let slow = Task.detached {
        try await actor.transaction { _ -> Bool in
          continuation.yield()
          return mayEnd.wait(timeout: .now() + 60) == .success
        }
      }
      for await _ in begun { break }
      let error = await #expect(throws: DatabaseError.self) {
        try await impatient.insert(Item.self) { $0.title = "too late" }
      }
      #expect(error?.code == .timedOut)
      #expect(error?.message.contains("will not run") == true)
      mayEnd.signal()
      #expect(try await slow.value)
      // The queue is first in, first out: the cancelled operation was next before this one.
      try await actor.insert(Item.self) { $0.title = "in time" }
      #expect(try await actor.fetch(Item.self).map(\.title) == ["in time"])
    }
  }

  @Test("A cancelled caller goes on while its read runs, if the database has a time limit")
  func cancelledRead() async {
    await #expect(processExitsWith: .success) {
      let actor = ModelActorDatabase(modelContainer: try Library.container(inMemory: false))
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      let (ended, ending) = AsyncStream.makeStream(of: Bool.self)
      let mayEnd = DispatchSemaphore(value: 0)
      let read = Task.detached {
        try await actor.with(DatabasePolicy(timeout: .seconds(600))).read { _ in
          continuation.yield()
          ending.yield(mayEnd.wait(timeout: .now() + 60) == .success && Task.isCancelled)
        }
      }
      for await _ in begun { break }
      read.cancel()
      await #expect(throws: CancellationError.self) { try await read.value }
      // The read waits until here, so its caller did not wait for it.
      mayEnd.signal()
      var iterator = ended.makeAsyncIterator()
      #expect(await iterator.next() == true)
      #expect(try await actor.count(Item.self) == 0)
    }
  }

  @Test("Without a time limit a cancelled caller waits for its read, and the read is told")
  func cancelledReadWithoutLimit() async throws {
    let database = BackgroundDatabase(modelContainer: try Library.container(inMemory: false))
    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
    let read = Task.detached {
      try await database.read { _ -> String in
        continuation.yield()
        while !Task.isCancelled {}
        return "told"
      }
    }
    for await _ in begun { break }
    read.cancel()
    #expect(try await read.value == "told")
  }

  @Test("A write whose caller is told that it did not start does not run")
  func startAtTimeout() async throws {
    let actor = ModelActorDatabase(modelContainer: try Library.container(inMemory: true))
    var saved = 0
    for number in 0..<400 {
      let hasBegun = Mutex(false)
      let impatient = actor.with(DatabasePolicy(timeout: .microseconds(number % 100 * 4)))
      do {
        try await impatient.transaction { context in
          hasBegun.withLock { $0 = true }
          Item(context: context).title = "\(number)"
        }
        saved += 1
      } catch let error as DatabaseError {
        #expect(error.code == .timedOut)
        #expect(error.message.contains("did not start") != hasBegun.withLock { $0 })
      }
    }
    #expect(try await actor.count(Item.self) == saved)
  }

  @Test("A write that is running when its time is over is told, and its caller learns the outcome")
  func runningTimeout() async throws {
    let actor = ModelActorDatabase(modelContainer: try Library.container(inMemory: false))
    let hasBegun = Mutex(false)
    var timeout = Duration.milliseconds(20)
    // On a busy machine a short time may be over before the write begins.
    while !hasBegun.withLock({ $0 }) {
      let impatient = actor.with(DatabasePolicy(timeout: timeout))
      let error = await #expect(throws: DatabaseError.self) {
        try await impatient.transaction { context in
          hasBegun.withLock { $0 = true }
          Item(context: context).title = "long"
          while true { try Task.checkCancellation() }
        }
      }
      #expect(error?.code == .timedOut)
      #expect(error?.message.contains("was told to stop") == hasBegun.withLock { $0 })
      timeout *= 4
    }
    #expect(try await actor.count(Item.self) == 0)
  }
}
