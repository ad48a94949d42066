import CDEDatabases
@_spi(CDE) import CDEExecutors
import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Synchronization
import Testing

/// Fails operations as a busy store would, before and after they have done their work.
private final class FlakyDatabase: Database {
  let base: any Database
  // The house's lock, because Thread Sanitizer takes what a Mutex guards for racing.
  private let random: Lock<SplitMix>
  let failures = Atomic(0)

  init(_ base: any Database, seed: UInt64) {
    self.base = base
    random = Lock(SplitMix(state: seed))
  }

  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    let draw = random.withLock { Int.random(in: 0..<100, using: &$0) }
    return try await base.run(
      operation.wrapping { proceed in
        if draw < 8 { try self.fail() }
        try proceed()
        if draw > 92 { try self.fail() }
      })
  }

  private func fail() throws {
    failures.add(1, ordering: .relaxed)
    throw ManagedObjectError(.store, "injected", cause: StoreError(.busy, "injected"))
  }
}

@Suite("Many callers of one database")
struct LoadTests {
  @Test(
    "64 tasks, 10,000 operations, failures injected: nothing lost, nothing twice, each caller's order kept")
  func load() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("load test, seed \(seed)")
    let container = try Library.container(inMemory: false)
    let flaky = FlakyDatabase(ModelActorDatabase(modelContainer: container), seed: seed)
    let database = BackgroundDatabase(policy: DatabasePolicy(retries: 3, pause: .microseconds(50))) { flaky }
    let expected = try await withThrowingTaskGroup(of: (Int, [Int: Int]).self) { group in
      for caller in 0..<64 {
        group.addTask { (caller, try await Self.work(database, caller, seed: seed &+ UInt64(caller))) }
      }
      return try await group.reduce(into: [Int: [Int: Int]]()) { $0[$1.0] = $1.1 }
    }
    #expect(flaky.failures.load(ordering: .relaxed) > 500)
    let stored = try await ModelActorDatabase(modelContainer: container).fetch(Item.self)
    for (caller, items) in expected {
      let mine = stored.filter { $0.owner == caller }
        .sorted { Self.key($0.handle) < Self.key($1.handle) }
      // In the order of their keys, the numbers ascend: no insert overtook another of its caller.
      #expect(mine.map(\.title) == items.keys.sorted().map(String.init), "seed \(seed), caller \(caller)")
      #expect(
        Dictionary(uniqueKeysWithValues: mine.map { ($0.title, $0.rank) })
          == Dictionary(uniqueKeysWithValues: items.map { ("\($0)", $1) }), "seed \(seed), caller \(caller)")
    }
    #expect(stored.count == expected.values.reduce(0) { $0 + $1.count })
  }

  @Test("The policy of a call replaces that of the database", arguments: [nil, 0, 2])
  func policies(retries: Int?) async throws {
    let container = try Library.container(inMemory: true)
    let tries = Atomic(0)
    struct Busy: Database {
      let base: any Database
      let begin: @Sendable () -> Void

      func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
        begin()
        throw ManagedObjectError(.store, "injected", cause: StoreError(.busy, "injected"))
      }
    }
    let busy = Busy(base: ModelActorDatabase(modelContainer: container)) { tries.add(1, ordering: .relaxed) }
    let quick = DatabasePolicy(retries: 5, pause: .microseconds(1))
    let background = BackgroundDatabase(policy: quick) { busy }
    let shared = SharedDatabase(modelContainer: container, database: background)
    for database in [background, shared, shared.with(quick)] as [any Database] {
      let called: any Database =
        retries.map { database.with(DatabasePolicy(retries: $0, pause: .microseconds(1))) } ?? database
      await #expect(throws: ManagedObjectError.self) { _ = try await called.fetch(Item.self) }
      #expect(tries.exchange(0, ordering: .relaxed) == (retries ?? 5) + 1)
    }
  }

  static func key<Model>(_ handle: ModelHandle<Model>) -> Int {
    Int(handle.uriRepresentation.lastPathComponent.dropFirst()) ?? 0
  }

  /// One caller's operations, and what must be stored of them afterwards: rank by number.
  private static func work(_ database: any Database, _ caller: Int, seed: UInt64) async throws -> [Int: Int] {
    var random = SplitMix(state: seed)
    var model: [Int: Int] = [:]
    var handles: [Int: ModelHandle<Item>] = [:]
    var next = 0
    for _ in 0..<157 {
      let number = handles.keys.sorted().randomElement(using: &random)
      let draw = Int.random(in: 0..<10, using: &random)
      do {
        switch (draw, number) {
        case (0..<5, _), (_, nil):
          let number = next
          next += 1
          let handle = try await database.insert(Item.self) { item in
            item.owner = caller
            item.title = "\(number)"
          }
          handles[number] = handle
          model[number] = 0
        case (5, let number?):
          try await database.update(handles[number]!) { $0.rank += 1 }
          model[number]! += 1
        case (6, let number?):
          try await database.delete(handles[number]!)
          model[number] = nil
          handles[number] = nil
        case (7, let number?):
          let handle = handles[number]!
          await #expect(throws: (any Error).self) {
            try await database.transaction { context in
              try context.object(for: handle).rank = -1
              Item(context: context).owner = caller
              throw Refusal()
            }
          }
        case (8, let number?):
          #expect(try await database.fetchOne(handles[number]!)?.rank == model[number])
        default:
          let count = try await database.count(Item.self, where: #Predicate { $0.owner == caller })
          #expect(count == model.count)
        }
      } catch let error as ManagedObjectError where error.message == "injected" {
        // All retries failed: the operation must have left nothing, which the model says.
      }
    }
    return model
  }
}

@Suite("Keys, changes and synchronisation")
struct KeyTests {
  @Test("Many callers of two databases get or create one object each key")
  func getOrCreate() async throws {
    let container = try Library.container(inMemory: false)
    let databases = (0..<2).map { _ in BackgroundDatabase(modelContainer: container) }
    let created = try await withThrowingTaskGroup(of: (String, ModelHandle<Tag>, Bool).self) { group in
      for number in 0..<120 {
        group.addTask {
          let name = "tag \(number % 10)"
          let found = try await databases[number % 2].getOrCreate(Tag.self, .key(\.name, name)) {
            $0.note = "new"
          }
          return (name, found.handle, found.isNew)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(created.count { $0.2 } == 10)
    #expect(Set(created.map { "\($0.0) \($0.1)" }).count == 10)
    #expect(try await databases[0].count(Tag.self) == 10)
  }

  @Test("Several keys belong together, and an object that is there keeps its values")
  func severalKeys() async throws {
    let database = try Kind.background.make()
    let first = try await database.getOrCreate(Item.self, .key(\.title, "a"), .key(\.owner, 1)) {
      $0.rank = 1
    }
    let again = try await database.getOrCreate(Item.self, .key(\.title, "a"), .key(\.owner, 1)) {
      $0.rank = 2
    }
    let other = try await database.getOrCreate(Item.self, .key(\.title, "a"), .key(\.owner, 2))
    #expect(first.isNew && !again.isNew && other.isNew)
    #expect(first.handle == again.handle && first.handle != other.handle)
    #expect(try await database.fetchOne(first.handle)?.rank == 1)
    try await database.insert(Item.self) { item in
      item.title = "a"
      item.owner = 2
    }
    let error = await #expect(throws: DatabaseError.self) {
      try await database.getOrCreate(Item.self, .key(\.title, "a"), .key(\.owner, 2))
    }
    #expect(error?.code == .duplicateKey)
  }

  @Test("Changes of a model arrive in the order of the saves, one element a save of any context")
  func changes() async throws {
    let container = try Library.container()
    let database = BackgroundDatabase(modelContainer: container)
    var changes = try await database.changes(of: Item.self).makeAsyncIterator()
    let handle = try await database.insert(Item.self) { $0.title = "one" }
    try await database.insert(Tag.self) { $0.name = "of no concern" }
    try await container.performBackgroundTask { context in
      context.transactionAuthor = "importer"
      try context.object(for: handle).title = "two"
      try context.save()
    }
    try await database.delete(handle)
    let first = try #require(await changes.next())
    #expect(first.inserted.map(\.title) == ["one"] && first.updated.isEmpty && first.deleted.isEmpty)
    let second = try #require(await changes.next())
    #expect(second.updated.map(\.title) == ["two"] && second.author == "importer")
    #expect(second.sequence > first.sequence)
    let third = try #require(await changes.next())
    #expect(third.deleted == [handle] && third.updated.isEmpty)
  }

  @Test("A saved object whose values can't be read is reported with its error, and hides nothing else")
  func unreadableChange() async throws {
    let container = try Library.container()
    let database = BackgroundDatabase(modelContainer: container)
    let context = container.newBackgroundContext()
    // Before the database asks for the values, the object refers to one that was never saved.
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { note in
      let saved = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      for case let item as Pebble in saved where item.name == "broken" { item.heap = Heap(context: context) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    var changes = try await database.changes(of: Pebble.self).makeAsyncIterator()
    try await context.perform {
      Pebble(context: context).name = "broken"
      try context.save()
      context.rollback()
      for name in ["broken", "fine"] { Pebble(context: context).name = name }
      try context.save()
    }
    let first = try #require(await changes.next())
    #expect(first.inserted.isEmpty && first.failures.count == 1)
    #expect((first.failures.first?.error as? ManagedObjectError)?.code == .unsavedObject)
    let handle = try #require(first.failures.first?.handle)
    #expect(try await database.fetchOne(handle)?.name == "broken")
    let second = try #require(await changes.next())
    #expect(second.inserted.map(\.name) == ["fine"] && second.failures.count == 1)
  }

  @Test("Synchronising inserts, updates and deletes what differs, and nothing else")
  func synchronize() async throws {
    struct Remote: Sendable {
      var name: String
      var note: String
    }
    let database = try Kind.background.make()
    let old = try await database.insert(Tag.self, for: ["a", "b", "c"]) { tag, name in
      tag.name = name
      tag.note = name
    }
    let incoming = [Remote(name: "b", note: "b"), Remote(name: "c", note: "x"), Remote(name: "d", note: "d")]
    let report = try await database.synchronize(
      Tag.self, with: incoming, key: \.name, from: { $0.name }, deleting: .missing
    ) { $0.note = $1.note }
    #expect(report.deleted == [old[0]] && report.updated == [old[2]])
    #expect(report.inserted.count == 1 && report.unchanged == 1)
    let stored = try await database.fetch(Tag.self, sortBy: [SortDescriptor(\.name)])
    #expect(stored.map { "\($0.name)\($0.note ?? "")" } == ["bb", "cx", "dd"])
    #expect(stored[0].version == 1)

    let again = try await database.synchronize(
      Tag.self, with: incoming, key: \.name, from: { $0.name }, deleting: .missing
    ) { $0.note = $1.note }
    #expect(again.isEmpty && again.unchanged == 3)

    let some = try await database.synchronize(
      Tag.self, with: [], key: \.name, from: { (remote: Remote) in remote.name },
      deleting: .missingWhere(#Predicate { $0.name == "b" })
    ) { $0.note = $1.note }
    #expect(some.deleted == [old[1]])

    let error = await #expect(throws: DatabaseError.self) {
      try await database.synchronize(
        Tag.self, with: incoming + incoming, key: \.name, from: { $0.name }, deleting: .missing
      ) { $0.note = $1.note }
    }
    #expect(error?.code == .duplicateKey)
    #expect(try await database.count(Tag.self) == 2)
  }
}
