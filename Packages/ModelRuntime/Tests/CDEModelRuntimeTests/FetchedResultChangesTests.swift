import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

private func sorted(_ predicate: NSPredicate? = nil) -> NSFetchRequest<Item> {
  let request = NSFetchRequest<Item>(entityName: "Item")
  request.predicate = predicate
  request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
  return request
}

@Suite("Changes of a fetched result")
struct FetchedResultChangesTests {
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    context = stack.context()
  }

  private func titles(_ ids: [NSManagedObjectID]) async -> [String] {
    await context.perform { [context] in ids.map { (context.object(with: $0) as? Item)?.title ?? "?" } }
  }

  private func insert(_ titles: String...) async {
    await context.perform { [context] in
      for title in titles { Item(context: context).title = title }
    }
  }

  private func change(_ title: String, _ body: @escaping (Item) -> Void) async throws {
    try await context.perform { [context] in
      let request = sorted(NSPredicate(format: "title == %@", title))
      if let item = try context.fetch(request).first { body(item) }
    }
  }

  @Test("The first element is the whole result, the others are what changed")
  func elements() async throws {
    await insert("a", "c")
    var changes = context.changes(of: sorted()).makeAsyncIterator()
    var ids: [NSManagedObjectID] = []
    let first = try #require(try await changes.next())
    #expect(first.count == 2 && first.insertions.map(\.index) == [0, 1])
    first.apply(to: &ids)
    #expect(await titles(ids) == ["a", "c"])

    await insert("b")
    let second = try #require(try await changes.next())
    second.apply(to: &ids)
    #expect(second.insertions.map(\.index) == [1] && second.updates.isEmpty)
    #expect(await titles(ids) == ["a", "b", "c"])

    try await context.perform { [context] in try context.save() }
    try await change("b") { $0.note = "x" }
    let third = try #require(try await changes.next())
    #expect(third.updates == [.init(id: ids[1], index: 1, properties: ["note"])])

    try await change("a") { $0.title = "d" }
    let fourth = try #require(try await changes.next())
    #expect(fourth.moves == [.init(id: ids[0], from: 0, to: 2, properties: ["title"])])
    fourth.apply(to: &ids)
    #expect(await titles(ids) == ["b", "c", "d"])

    try await change("c") { [context] in context.delete($0) }
    let fifth = try #require(try await changes.next())
    #expect(fifth.removals == [.init(id: ids[1], index: 1)] && fifth.count == 2)
  }

  @Test("A limit and an offset hold for each element", arguments: [UInt64.random(in: 0 ... .max), 1])
  func limit(seed: UInt64) async throws {
    var random = SplitMix(state: seed)
    let offset = Int.random(in: 0...1, using: &random)
    @Sendable func limited() -> NSFetchRequest<Item> {
      let request = sorted(NSPredicate(format: "count < 8"))
      (request.fetchLimit, request.fetchOffset) = (3, offset)
      return request
    }
    var changes = context.changes(of: limited()).makeAsyncIterator()
    var ids: [NSManagedObjectID] = []
    try #require(try await changes.next()).apply(to: &ids)
    var filled = 0
    for step in 0..<60 {
      let (kind, title, count) = (
        Int.random(in: 0..<4, using: &random), "\(Int.random(in: 0..<9, using: &random)).\(step)",
        Int.random(in: 0..<10, using: &random)
      )
      let place = Int.random(in: 0..<100, using: &random)
      let expected = try await context.perform { [context] in
        let all = try context.fetch(sorted())
        switch kind {
        // Some stay, so that the list is not empty in most steps of any draw.
        case 0 where all.count > 4: context.delete(all[place % all.count])
        case 1 where !all.isEmpty: all[place % all.count].title = title
        case 2 where !all.isEmpty: all[place % all.count].count = count
        default:
          let item = Item(context: context)
          (item.title, item.count) = (title, count)
        }
        if place.isMultiple(of: 3) { try context.save() } else { context.processPendingChanges() }
        return try context.fetch(limited()).map(\.title)
      }
      // Without a change of the list there may be no element.
      while await titles(ids) != expected { try #require(try await changes.next()).apply(to: &ids) }
      if !ids.isEmpty { filled += 1 }
    }
    #expect(filled > 10, "seed \(seed)")
  }

  @Test("Changes that come while the reader is busy are one element")
  func coalescing() async throws {
    var changes = context.changes(of: sorted()).makeAsyncIterator()
    _ = try await changes.next()
    for title in ["a", "b", "c"] { await insert(title) }
    try await change("b") { [context] in context.delete($0) }
    try await change("a") { $0.count = 1 }
    let next = try #require(try await changes.next())
    #expect(next.insertions.map(\.index) == [0, 1] && next.removals.isEmpty && next.updates.isEmpty)
    #expect(next.count == 2)
  }

  @Test("Saves of other contexts arrive with their properties, and a reset is followed")
  func merges() async throws {
    context.automaticallyMergesChangesFromParent = true
    await insert("a", "b")
    try await context.perform { [context] in try context.save() }
    var changes = context.changes(of: sorted()).makeAsyncIterator()
    var ids: [NSManagedObjectID] = []
    try await changes.next()?.apply(to: &ids)
    let other = stack.context()
    try await other.perform {
      for item in try other.fetch(sorted()) where item.title == "b" { item.note = "x" }
      try other.save()
    }
    let next = try #require(try await changes.next())
    #expect(next.updates.map(\.properties) == [["note"]] && next.updates.map(\.id) == [ids[1]])

    try await other.perform {
      for item in try other.fetch(sorted()) where item.title == "a" { other.delete(item) }
      Item(context: other).title = "c"
      context.automaticallyMergesChangesFromParent = false
      try other.save()
    }
    await context.perform { [context] in context.reset() }
    try await changes.next()?.apply(to: &ids)
    #expect(await titles(ids) == ["b", "c"])
  }

  @Test("A reader on the main actor follows a background context")
  @MainActor func mainActor() async throws {
    var changes = context.changes(of: sorted()).makeAsyncIterator()
    #expect(try await changes.next()?.count == 0)
    await insert("a")
    #expect(try await changes.next()?.count == 1)
  }

  @Test("The sequence ends with its task, and frees the context")
  func ending() async throws {
    weak var freed: NSManagedObjectContext?
    let task: Task<Int, any Error>
    do {
      let stack = try Stack()
      let context = stack.context()
      freed = context
      let (started, signal) = AsyncStream.makeStream(of: Void.self)
      task = Task {
        var count = 0
        for try await _ in context.changes(of: sorted()) {
          count += 1
          signal.yield()
        }
        return count
      }
      for await _ in started { break }
    }
    task.cancel()
    #expect(try await task.value == 1)
    // The objects are released on the context's executor, after blocks that are queued there.
    let deadline = ContinuousClock.now + .seconds(60)
    while freed != nil, .now < deadline { await Task.yield() }
    #expect(freed == nil)
  }

  @Test("A request without an order throws, and so does one of an unknown entity")
  func errors() async throws {
    var unordered = context.changes(of: NSFetchRequest<Item>(entityName: "Item")).makeAsyncIterator()
    await #expect(throws: ManagedObjectError.self) { try await unordered.next() }
    let request = sorted()
    request.entityName = "Nothing"
    var unknown = context.changes(of: request).makeAsyncIterator()
    await #expect(throws: ManagedObjectError.self) { try await unknown.next() }
    // A later call tries again.
    await #expect(throws: ManagedObjectError.self) { try await unknown.next() }
  }
}
