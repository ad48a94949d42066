import CDEModelRuntime
import Foundation
import Observation
import Testing

@testable import CDEObservation

@Suite("Observed fetches")
@MainActor
struct ObservedFetchTests {
  /// A stack of items with the titles a, b, c and ranks 1, 2, 3, and a fetch of them.
  @MainActor
  private struct World {
    let stack: Stack
    let domain: CDEObservationDomain
    let writer: NSManagedObjectContext
    let items: [Item]
    let fetch: CDEObservedFetch<Item>
    let readers = Readers()

    init(_ format: String? = nil, sectionedBy key: String? = nil) throws {
      stack = try Stack()
      domain = CDEObservationDomain(container: stack.container)
      writer = domain.newObservedBackgroundContext()
      stack.item.title = "a"
      stack.item.rank = 1
      var items = [stack.item]
      for (title, rank) in [("b", 2), ("c", 3)] {
        let item = Item(context: stack.view)
        (item.title, item.rank) = (title, rank)
        items.append(item)
      }
      try stack.view.save()
      self.items = items
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.predicate = format.map { NSPredicate(format: $0) }
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let fetch = try CDEObservedFetch(request, in: domain, sectionedBy: key)
      self.fetch = fetch
      readers.add("elements") { _ = fetch.elements }
      readers.add("count") { _ = fetch.count }
      readers.add("first") { _ = fetch.element(at: 0) }
      readers.add("third") { _ = fetch.element(at: 2) }
      readers.add("fourth") { _ = fetch.element(at: 3) }
      readers.add("sections") { _ = fetch.sections }
      readers.add("change") { _ = fetch.lastChange }
      readers.add("title of a") { _ = items[0].title }
    }

    func write(_ change: @escaping @Sendable (NSManagedObjectContext) throws -> Void) async throws {
      try await writer.perform { [writer] in
        try change(writer)
        try writer.save()
      }
      await stack.merged()
    }

    func edit(_ index: Int, _ change: @escaping @Sendable (Item) -> Void) async throws {
      let id = items[index].objectID
      try await write { context in
        guard let item = try context.existingObject(with: id) as? Item else { throw Unwanted() }
        change(item)
      }
    }
  }

  @Test("An observed fetch has the objects of the context, in order")
  func initial() throws {
    let world = try World()
    #expect(world.fetch.elements == world.items)
    #expect(world.fetch.count == 3 && !world.fetch.isEmpty)
    #expect(world.fetch.element(at: 1) === world.items[1])
    #expect(world.fetch.element(at: 3) == nil)
    #expect(world.readers.take() == [:])
  }

  @Test(
    "A property that decides nothing wakes its own readers, and of the fetch only those of the last change")
  func propertyOnly() async throws {
    let world = try World()
    try await world.edit(0) { $0.summary = "s" }
    #expect(world.readers.take() == ["change": 1])
    #expect(world.fetch.lastChange.updated == [0])
    #expect(!world.fetch.lastChange.isEmpty)
  }

  @Test("A saved insertion elsewhere wakes readers of the list, the count and the places that changed")
  func insertion() async throws {
    let world = try World()
    try await world.write { context in Item(context: context).title = "bb" }
    #expect(world.readers.take() == ["elements": 1, "count": 1, "third": 1, "fourth": 1, "change": 1])
    #expect(world.fetch.elements.map(\.title) == ["a", "b", "bb", "c"])
    #expect(world.fetch.lastChange.inserted == [2])
    #expect(world.fetch.lastChange.removed == [] && world.fetch.lastChange.moved == [])
    #expect(world.fetch.element(at: 3) === world.items[2])
  }

  @Test("A move wakes readers of the list and of places, not of the count")
  func move() async throws {
    let world = try World()
    try await world.edit(0) { $0.title = "z" }
    #expect(world.readers.take() == ["elements": 1, "first": 1, "third": 1, "change": 1, "title of a": 1])
    #expect(world.fetch.elements == [world.items[1], world.items[2], world.items[0]])
    #expect(world.fetch.lastChange.moved == [.init(from: 0, to: 2)])
    #expect(world.fetch.lastChange.updated == [2])
  }

  @Test("A merged deletion takes the element out; a local one does with its save")
  func deletion() async throws {
    let world = try World()
    let id = world.items[2].objectID
    try await world.write { $0.delete(try $0.existingObject(with: id)) }
    #expect(world.readers.take() == ["elements": 1, "count": 1, "third": 1, "change": 1])
    #expect(world.fetch.lastChange.removed == [2])
    world.stack.view.delete(world.items[1])
    #expect(world.fetch.count == 2)
    try world.stack.view.save()
    #expect(world.readers.take() == ["elements": 1, "count": 1, "change": 1])
    #expect(world.fetch.elements == [world.items[0]])
  }

  @Test("Unsaved changes do not show before their save")
  func unsaved() throws {
    let world = try World("item_rank < 3")
    let item = Item(context: world.stack.view)
    item.title = "0"
    world.fetch.refetch()
    #expect(world.fetch.count == 2)
    try world.stack.view.save()
    #expect(world.fetch.elements == [item] + world.items[..<2])
    #expect(world.readers.take() == ["elements": 1, "count": 1, "first": 1, "third": 1, "change": 1])
  }

  @Test("An object that begins or ceases to match comes and goes")
  func matching() async throws {
    let world = try World("item_rank < 3")
    try await world.edit(2) { $0.rank = 0 }
    #expect(world.fetch.elements == world.items)
    try await world.edit(0) { $0.rank = 7 }
    #expect(world.fetch.elements == Array(world.items[1...]))
    #expect(world.fetch.lastChange.removed == [0])
  }

  @Test("A predicate over a relationship follows changes of the related objects")
  func related() async throws {
    let world = try World("folder.name == 'inbox'")
    #expect(world.fetch.elements == [world.items[0]])
    let id = world.stack.folderID
    try await world.write { context in
      (try context.existingObject(with: id) as? Folder)?.name = "other"
    }
    #expect(world.fetch.isEmpty)
  }

  @Test("Sections follow the values of their key, and wake when one changes")
  func sections() async throws {
    let world = try World(sectionedBy: "item_rank")
    typealias Section = CDEObservedFetch<Item>.Section
    #expect(world.fetch.sections.map(\.name) == ["1", "2", "3"])
    try await world.edit(2) { $0.rank = 2 }
    #expect(world.fetch.sections.map(\.name) == ["1", "2"])
    #expect(world.fetch.sections.map(\.range) == [0..<1, 1..<3])
    #expect(world.readers.take() == ["sections": 1, "change": 1])
    try await world.edit(2) { $0.summary = "s" }
    #expect(world.readers.take() == ["change": 1])
  }

  @Test("Merged batches, and a reset, bring the list up to date")
  func batches() throws {
    let world = try World()
    let request = NSBatchInsertRequest(entityName: "Item", objects: [["title": "d"], ["title": "e"]])
    request.resultType = .objectIDs
    let result = try world.stack.container.newBackgroundContext().execute(request) as? NSBatchInsertResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSInsertedObjectIDsKey: ids], into: [world.stack.view])
    #expect(world.fetch.elements.map(\.title) == ["a", "b", "c", "d", "e"])
    world.stack.view.reset()
    #expect(world.fetch.elements.map(\.title) == ["a", "b", "c", "d", "e"])
    #expect(world.fetch.elements.allSatisfy { $0.managedObjectContext === world.stack.view })
  }

  @Test("A reader of a property finds the list up to date when it wakes")
  func settled() async throws {
    let world = try World()
    let (item, fetch) = (world.items[0], world.fetch)
    nonisolated(unsafe) var seen: [String] = []
    // Guard: written and read on the main actor only.
    withObservationTracking {
      _ = item.title
    } onChange: {
      MainActor.assumeIsolated { seen = fetch.elements.map(\.title) }
    }
    try await world.edit(0) { $0.title = "z" }
    #expect(seen == ["b", "c", "z"])
  }

  @Test("A fetch ends with its domain, and is freed with its last reference")
  func lifetime() async throws {
    var world: World? = try World()
    world?.domain.invalidate()
    try await world?.write { context in Item(context: context).title = "d" }
    #expect(world?.fetch.count == 3)
    weak let fetch = world?.fetch
    world = nil
    #expect(fetch == nil)
  }

  @Test("Differences of lists: what they name turns the old list into the new one, drawn at random")
  func differences() {
    let seed = UInt64.random(in: 0 ... .max)
    print("observed fetch differences: seed \(seed)")
    var random = Draws(seed: seed)
    final class Thing {}
    let things = (0..<12).map { _ in Thing() }
    for _ in 0..<2_000 {
      let old = Array(things.shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random)))
      let new =
        Bool.random(using: &random)
        ? old.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        : Array(things.shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random)))
      let change = CDEObservedFetchChange(from: old, to: new)
      let gone = Set(change.removed + change.moved.map(\.from))
      var list = old.indices.filter { !gone.contains($0) }.map { old[$0] }
      let arriving = (change.inserted + change.moved.map(\.to)).sorted()
      for place in arriving { list.insert(new[place], at: place) }
      #expect(list.elementsEqual(new) { $0 === $1 }, "seed \(seed)")
      for move in change.moved { #expect(old[move.from] === new[move.to]) }
      #expect(change.isEmpty == old.elementsEqual(new) { $0 === $1 })
    }
  }

  @Test("Observations yields a property's value once per save")
  func observations() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = stack.item
    let context = domain.newObservedBackgroundContext()
    let id = stack.id
    var seen: [String] = []
    for await title in Observations({ item.title }) {
      seen.append(title)
      if seen.count == 4 { break }
      item.summary = "unsaved \(seen.count)"
      let next = "save \(seen.count)"
      try await edit(id, in: context) {
        $0.title = next
      } then: {
        try context.save()
      }
      await stack.merged()
    }
    #expect(seen == ["old", "save 1", "save 2", "save 3"])
    withExtendedLifetime(domain) {}
  }
}

/// A generator whose sequence a seed fixes.
struct Draws: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
