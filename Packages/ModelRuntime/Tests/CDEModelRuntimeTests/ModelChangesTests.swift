import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Changes between snapshots")
struct ModelChangesTests {
  private func item(_ context: NSManagedObjectContext) throws -> Item {
    let item = Item(context: context)
    item.title = "x"
    try context.save()
    return item
  }

  @Test("They name the properties that differ, with both values")
  func differences() throws {
    let context = try Stack().context()
    let item = try item(context)
    let category = Category(context: context)
    try context.save()
    let old = try item.snapshot()
    #expect(old.changes(since: old).isEmpty)
    item.title = "y"
    item.note = "n"
    item.count = 0
    item.category = category
    let changes = try item.snapshot().changes(since: old)
    #expect(changes.names == ["title", "note", "category"])
    #expect(changes.contains(\.title) && changes.contains(\.category))
    #expect(!changes.contains(\.count) && !changes.contains(\.tags))
    #expect(changes.old.title == "x" && changes.new.title == "y")
    let differences = changes.differences
    #expect(differences.map(\.name) == changes.names)
    #expect(differences[0].old as? String == "x" && differences[0].new as? String == "y")
    #expect(differences[1].old == nil && differences[1].new as? String == "n")
    #expect(try differences[2].new as? URL == category.handle.uriRepresentation)
  }

  @Test("Applied to the object elsewhere they set what differs, and nothing else")
  func apply() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = try item(context)
    let category = Category(context: context)
    try context.save()
    let old = try item.snapshot()
    item.title = "y"
    item.price = 3
    item.category = category
    let changes = try item.snapshot().changes(since: old)
    let elsewhere = stack.context()
    let twin = try elsewhere.object(for: changes.new.handle)
    twin.note = "kept"
    #expect(try elsewhere.apply(changes, to: twin) == ["title", "price", "category"])
    #expect(twin.title == "y" && twin.price == 3 && twin.note == "kept")
    #expect(try twin.category?.handle == category.handle)
    #expect(twin.changedValues().keys.sorted() == ["category", "note", "price", "title"])
    #expect(twin.category?.items.contains(twin) == true)
    #expect(try elsewhere.apply(changes, to: twin) == [])
    try elsewhere.save()
    #expect(try elsewhere.object(for: changes.new.handle).title == "y")
  }

  @Test("A property that was changed otherwise since is a conflict that names it, and nothing is applied")
  func conflict() throws {
    let context = try Stack().context()
    let item = try item(context)
    let old = try item.snapshot()
    item.title = "theirs"
    item.note = "n"
    let changes = try item.snapshot().changes(since: old)
    context.rollback()
    item.title = "mine"
    let error = #expect(throws: ManagedObjectError.self) { try context.apply(changes, to: item) }
    #expect(error?.code == .changeConflict && error?.property == "title")
    #expect(error?.message.contains("Item.title") == true && error?.failures.isEmpty == true)
    #expect(item.title == "mine" && item.note == nil)
    item.note = "other"
    let both = #expect(throws: ManagedObjectError.self) { try context.apply(changes, to: item) }
    #expect(both?.failures.map(\.property) == ["title", "note"])
    item.title = "theirs"
    item.note = nil
    #expect(try context.apply(changes, to: item) == ["note"])
  }

  @Test("A saved change of another context conflicts as well")
  func savedConflict() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = try item(context)
    let old = try item.snapshot()
    item.title = "a"
    let changes = try item.snapshot().changes(since: old)
    context.rollback()
    item.title = "b"
    try context.save()
    #expect(throws: ManagedObjectError.self) { try context.apply(changes, to: item) }
  }

  @Test("A to-one relationship to an object that was never saved conflicts, and is no error of its own")
  func unsavedReference() throws {
    let context = try Stack().context()
    let item = try item(context)
    let category = Category(context: context)
    try context.save()
    let old = try item.snapshot()
    item.category = category
    let changes = try item.snapshot().changes(since: old)
    context.rollback()
    item.category = Category(context: context)
    let error = #expect(throws: ManagedObjectError.self) { try context.apply(changes, to: item) }
    #expect(error?.code == .changeConflict && error?.property == "category")
  }

  @Test("Snapshots of different objects are not compared")
  func mismatch() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let items = [Item(context: context), Item(context: context)]
      try context.save()
      _ = try items[0].snapshot().changes(since: items[1].snapshot())
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("compares two snapshots of the same object"), "\(output)")
  }

  @Test("Changes are applied to the object they are of, in its own context")
  func wrongObject() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let items = [Item(context: context), Item(context: context)]
      try context.save()
      let snapshot = try items[0].snapshot()
      try context.apply(snapshot.changes(since: snapshot), to: items[1])
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("takes changes of the very object"), "\(output)")
  }

  @Test("Changes of the same row of another store are refused")
  func wrongStore() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let contexts = [try Stack().context(), try Stack().context()]
      let items = contexts.map { Item(context: $0) }
      for context in contexts { try context.save() }
      let snapshot = try items[0].snapshot()
      try contexts[1].apply(snapshot.changes(since: snapshot), to: items[1])
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("takes changes of the very object"), "\(output)")
  }

  @Test("Random edits: changes say what a field-by-field comparison says, and applying them reproduces it")
  func randomised() throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    print("snapshot changes: seed \(seed)")
    var random = SplitMix(state: seed)
    let stack = try Stack()
    let context = stack.context()
    let item = try item(context)
    let categories = (0..<3).map { _ in Category(context: context) }
    try context.save()
    func edit(_ item: Item, _ categories: [Category]) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: item.title = ["a", "b", "c"].randomElement(using: &random)!
      case 1: item.count = Int.random(in: 0..<3, using: &random)
      case 2: item.note = [nil, "n", "m"].randomElement(using: &random)!
      case 3: item.payload = [nil, Data([1]), Data([2])].randomElement(using: &random)!
      case 4: item.price = [nil, 1, 2].randomElement(using: &random)!
      default: item.category = ([nil] + categories).randomElement(using: &random)!
      }
    }
    for _ in 0..<100 {
      let old = try item.snapshot()
      let before = (item.title, item.count, item.note, item.payload)
      let (price, category) = (item.price, item.category)
      for _ in 0..<Int.random(in: 0..<4, using: &random) { edit(item, categories) }
      let new = try item.snapshot()
      let changes = new.changes(since: old)
      var wanted: [String] = []
      if item.title != before.0 { wanted.append("title") }
      if item.count != before.1 { wanted.append("count") }
      if item.note != before.2 { wanted.append("note") }
      if item.price != price { wanted.append("price") }
      if item.payload != before.3 { wanted.append("payload") }
      if item.category != category { wanted.append("category") }
      #expect(changes.names == wanted, "seed \(seed)")
      #expect(changes.isEmpty == (new == old), "seed \(seed)")
      // Back to the old values, then forward by the changes alone.
      let back = old.changes(since: new)
      try context.apply(back, to: item)
      #expect(try item.snapshot() == old, "seed \(seed)")
      try context.apply(changes, to: item)
      #expect(try item.snapshot() == new, "seed \(seed)")
      if Bool.random(using: &random) { try context.save() }
    }
  }
}
