import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Fetch descriptors")
struct FetchDescriptorTests {
  private func filled(_ stack: Stack) throws -> NSManagedObjectContext {
    let context = stack.context()
    let category = Category(context: context)
    category.name = "c"
    let tag = Tag(context: context)
    tag.name = "t"
    for index in 0..<10 {
      let item = Item(context: context)
      item.title = "item \(index)"
      item.count = index
      item.category = index % 2 == 0 ? category : nil
      if index < 3 { item.addToTags(tag) }
    }
    try context.save()
    return context
  }

  @Test("#Predicate, SortDescriptor, limit and offset")
  func swiftData() throws {
    let context = try filled(try Stack())
    var descriptor = FetchDescriptor<Item>(
      predicate: #Predicate { $0.count > 3 }, sortBy: [SortDescriptor(\.title, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.count) == [9, 8, 7, 6, 5, 4])
    #expect(try context.fetchCount(descriptor) == 6)
    descriptor.fetchOffset = 1
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.count) == [8, 7])
    #expect(try context.fetchSnapshots(descriptor).map(\.count) == [8, 7])
    #expect(try context.fetchHandles(descriptor).map { try context.object(for: $0).count } == [8, 7])
    descriptor.fetchLimit = 0
    #expect(try context.fetch(descriptor).isEmpty)
    #expect(try context.fetchCount(descriptor) == 0)
    #expect(try context.fetchSnapshots(descriptor).isEmpty)
    #expect(try context.fetch(FetchDescriptor<Item>()).count == 10)
  }

  @Test("Typed paths, and both kinds of predicate and order together")
  func paths() throws {
    let context = try filled(try Stack())
    var descriptor = FetchDescriptor<Item>(
      predicate: Item.path.category.name.equals("c"),
      sortBy: [try NSSortDescriptor(Item.self, path: Item.path.count, order: .desc)])
    #expect(try context.fetch(descriptor).map(\.count) == [8, 6, 4, 2, 0])
    descriptor.predicate = #Predicate { $0.count < 5 }
    #expect(try context.fetch(descriptor).map(\.count) == [4, 2, 0])
    let mixed = FetchDescriptor<Item>(
      predicate: #Predicate { $0.count < 2 },
      sortBy: [try NSSortDescriptor(Item.self, path: Item.path.count, order: .desc)])
    #expect(try context.fetch(mixed).map(\.count) == [1, 0])
  }

  @Test("Unsaved changes count unless told otherwise")
  func pending() throws {
    let context = try filled(try Stack())
    var descriptor = FetchDescriptor<Item>(
      predicate: #Predicate { $0.title == "new" }, sortBy: [SortDescriptor(\.count)])
    let changed = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.count == 4 }))[0]
    changed.title = "new"
    let inserted = Item(context: context)
    inserted.title = "new"
    inserted.count = 11
    #expect(try context.fetch(descriptor).map(\.count) == [4, 11])
    #expect(try context.fetchSnapshots(descriptor).map(\.count) == [4])
    #expect(try context.fetchHandles(descriptor) == [changed.handle])
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).isEmpty)
    #expect(try context.fetchSnapshots(descriptor).isEmpty)
  }

  @Test("Snapshots come without objects being made")
  func noObjects() throws {
    let stack = try Stack()
    _ = try filled(stack)
    let context = stack.context()
    let snapshots = try context.fetchSnapshots(FetchDescriptor<Item>())
    #expect(snapshots.count == 10)
    #expect(context.registeredObjects.isEmpty)
    #expect(Set(snapshots.map(\.title)).count == 10)
  }

  @Test("Prefetched to-many relationships are handles in the snapshots", arguments: [true, false])
  func prefetching(hasChanges: Bool) throws {
    let stack = try Stack()
    let context = try filled(stack)
    if hasChanges { Tag(context: context).name = "pending" }
    var descriptor = FetchDescriptor<Item>(sortBy: [SortDescriptor(\.count)])
    descriptor.relationshipKeyPathsForPrefetching = [\.tags, \.category]
    let tag = try context.fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == "t" }))[0].handle
    let snapshots = try context.fetchSnapshots(descriptor)
    #expect(snapshots.map { $0.tags ?? [] } == (0..<10).map { $0 < 3 ? [tag] : [] })
    let fresh = stack.context()
    let items = try fresh.fetch(descriptor)
    #expect(items.allSatisfy { !$0.hasFault(forRelationshipNamed: "tags") })
    descriptor.relationshipKeyPathsForPrefetching = [\.title]
    #expect(throws: ManagedObjectError.self) { try stack.context().fetchSnapshots(descriptor) }
    descriptor.relationshipKeyPathsForPrefetching = [\.objectID]
    #expect(throws: ManagedObjectError.self) { try context.fetch(descriptor) }
  }

  @Test("propertiesToFetch chooses what snapshots encode")
  func chosen() throws {
    let context = try filled(try Stack())
    var descriptor = FetchDescriptor<Item>(predicate: #Predicate { $0.count == 1 })
    descriptor.propertiesToFetch = [\.count, \.title]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(context.fetchSnapshots(descriptor)), as: UTF8.self)
    #expect(text == #"[{"count":1,"title":"item 1"}]"#)
  }

  @Test("A container fetches snapshots for any actor, and only what is saved")
  func container() async throws {
    let stack = try Stack()
    let context = try filled(stack)
    context.registeredObjects.compactMap { $0 as? Item }.forEach { $0.title = "unsaved" }
    let descriptor = FetchDescriptor<Item>(
      predicate: #Predicate { $0.count < 2 }, sortBy: [SortDescriptor(\.count)])
    let snapshots = try await stack.container.fetchSnapshots(descriptor)
    #expect(snapshots.map(\.title) == ["item 0", "item 1"])
    let names = await Task.detached { snapshots.map(\.title) }.value
    #expect(names.count == 2)
  }

  @Test("Model actors give snapshots and take handles")
  func actors() async throws {
    let stack = try Stack()
    _ = try filled(stack)
    let keeper = SnapshotKeeper(container: stack.container)
    let found = try await keeper.fetchSnapshots(
      FetchDescriptor<Item>(predicate: #Predicate { $0.count == 5 }))
    #expect(found.map(\.title) == ["item 5"])
    try await keeper.rename(found[0].handle, to: "five")
    let again = try await keeper.fetchSnapshots(
      FetchDescriptor<Item>(predicate: Item.path.title.equals("five")))
    #expect(again.map(\.count) == [5])
    #expect(again[0].changes(since: found[0]).names == ["title"])
    #expect(try await keeper.fetchCount(FetchDescriptor<Item>()) == 10)
  }

  @Test("What can't be used is an error of the fetch")
  func errors() async throws {
    let stack = try Stack()
    let context = try filled(stack)
    let malformed = FetchDescriptor<Item>(predicate: NSPredicate(format: "title =="))
    let error = #expect(throws: ManagedObjectError.self) { try context.fetch(malformed) }
    #expect(error?.code == .predicate)
    await #expect(throws: ManagedObjectError.self) {
      try await stack.container.fetchSnapshots(malformed)
    }
    let foreign = #expect(throws: ManagedObjectError.self) { try context.fetch(FetchDescriptor<Memo>()) }
    #expect(foreign?.code == .unknownEntity)
    let collated = FetchDescriptor<Item>(
      sortBy: [
        try NSSortDescriptor(
          Item.self, path: Item.path.title, order: .asc, collation: .localized, mode: .inMemory)
      ])
    let titles = try context.fetchSnapshots(collated).compactMap(\.title)
    #expect(titles.count == 10)
    #expect(titles == titles.sorted { $0.localizedCompare($1) == .orderedAscending })
  }
}

@NSModelActor
private actor SnapshotKeeper {
  func rename(_ handle: Item.Handle, to title: String) throws {
    let item = try modelContext.object(for: handle)
    item.title = title
    try modelContext.save()
  }
}
