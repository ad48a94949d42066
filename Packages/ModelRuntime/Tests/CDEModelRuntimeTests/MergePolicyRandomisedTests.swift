import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Several contexts, in two containers over one file, that change, delete and save the same objects in random
/// order, against dictionaries that do what the policies promise.
@Suite("Merge policies, randomised")
struct MergePolicyRandomisedTests {
  @Test(
    "Whatever the contexts do, the store and each of them hold what a plain model says",
    arguments: [
      NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    ],
    0..<4)
  func agreement(_ type: NSMergePolicyType, _ run: Int) throws {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 104_729 &+ 5
    print("Merge policies, type \(type.rawValue), seed \(seed)")
    var test = try RivalryRun(type, seed: seed)
    for _ in 0..<400 { try test.step() }
    try test.finish()
  }

  @Test("Counters under the error policy add up: who was too late refreshes and counts again")
  func counters() throws {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 31
    print("Counters, seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let rivals = try Rivals(.twoContainers)
    let counter = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let contexts = [rivals.theirs, rivals.mine, rivals.stack.context()]
    let counters = try contexts.map { try rivals.twin(of: counter, in: $0) }
    var conflicts = 0
    for _ in 0..<300 {
      let index = Int.random(in: 0..<3, using: &random)
      while true {
        counters[index].count += 1
        do {
          try contexts[index].save()
          break
        } catch let error as ManagedObjectError where error.code == .saveConflict {
          conflicts += 1
          contexts[index].refresh(counters[index], mergeChanges: false)
        }
      }
    }
    #expect(try rivals.stored(counter)?.count == 300)
    #expect(conflicts > 100)
  }
}

struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

private struct RivalryRun {
  /// An object's values: three numbers, and the number of its category.
  typealias Values = [String: Int]

  /// What one context knows of one object.
  struct View {
    /// As read last; nil once the context knows that it is gone.
    var base: Values?
    var version = 1
    var changes: Values = [:]
    var isDeleted = false
  }

  static let keys = ["a", "b", "c"]
  let type: NSMergePolicyType
  let stack: Stack
  let contexts: [NSManagedObjectContext]
  /// By context, then by number.
  var objects: [[NSManagedObject]] = []
  var categories: [[NSManagedObject]] = []
  /// The store, as it should be.
  var rows: [Values?] = []
  var versions: [Int] = []
  var views: [[View]] = []
  var random: SeededGenerator

  init(_ type: NSMergePolicyType, seed: UInt64) throws {
    self.type = type
    random = SeededGenerator(seed: seed)
    let thing = entity("Thing", nil, Self.keys.map { attribute($0, .integer64AttributeType) })
    let category = entity("Category", nil, [attribute("number", .integer64AttributeType)])
    connect(.one(thing, "category"), .many(category, "things"))
    let model = model(thing, category)
    stack = try Stack(model: model)
    let other = NSPersistentContainer(name: "Other", managedObjectModel: model)
    other.persistentStoreDescriptions = stack.container.persistentStoreDescriptions
    var failure: (any Error)?
    other.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    contexts = [stack.container, stack.container, other, other].map { $0.newBackgroundContext() }
    let maker = stack.context()
    let made = (0..<12).map { _ in maker.make("Thing", ["a": 0, "b": 0, "c": 0]) }
    let madeCategories = (0..<3).map { maker.make("Category", ["number": $0]) }
    for (index, object) in made.enumerated() {
      object.setValue(madeCategories[index % 3], forKey: "category")
    }
    try maker.save()
    rows = made.indices.map { ["a": 0, "b": 0, "c": 0, "category": $0 % 3] }
    versions = made.map { _ in 1 }
    for context in contexts {
      context.mergePolicy = NSMergePolicy(merge: type)
      func twin(_ object: NSManagedObject) throws -> NSManagedObject {
        let url = object.objectID.uriRepresentation()
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
        return try context.existingObject(with: id)
      }
      objects.append(try made.map(twin))
      categories.append(try madeCategories.map(twin))
      views.append(rows.map { View(base: $0) })
    }
  }

  mutating func step() throws {
    let context = Int.random(in: contexts.indices, using: &random)
    let number = Int.random(in: rows.indices, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<60: change(number, in: context)
    case 60..<66: delete(number, in: context)
    case 66..<72: refresh(number, in: context)
    default: try save(context)
    }
  }

  private mutating func change(_ number: Int, in context: Int) {
    guard views[context][number].base != nil, !views[context][number].isDeleted else { return }
    let object = objects[context][number]
    if Bool.random(using: &random) {
      let key = Self.keys.randomElement(using: &random)!
      let value = Int.random(in: 0..<4, using: &random)
      object.setValue(value, forKey: key)
      views[context][number].changes[key] = value
    } else {
      let value = Int.random(in: 0..<3, using: &random)
      object.setValue(categories[context][value], forKey: "category")
      views[context][number].changes["category"] = value
    }
  }

  private mutating func delete(_ number: Int, in context: Int) {
    guard views[context][number].base != nil, !views[context][number].isDeleted else { return }
    contexts[context].delete(objects[context][number])
    views[context][number].isDeleted = true
  }

  private mutating func refresh(_ number: Int, in context: Int) {
    guard let base = views[context][number].base else { return }
    contexts[context].refresh(objects[context][number], mergeChanges: true)
    // A value that was equal to the row is no change, and must not become one to another writer's row.
    views[context][number].changes = views[context][number].changes.filter { base[$0.key] != $0.value }
    views[context][number].base = rows[number]
    views[context][number].version = versions[number]
    if rows[number] == nil { views[context][number] = View(base: nil) }
  }

  private mutating func save(_ context: Int) throws {
    for number in rows.indices {
      let view = views[context][number]
      guard view.base != nil, view.isDeleted || !view.changes.isEmpty else { continue }
      views[context][number] = saved(number, view)
    }
    try contexts[context].save()
    #expect(!contexts[context].hasChanges)
    check(context)
  }

  /// The policies, in a few words.
  private mutating func saved(_ number: Int, _ view: View) -> View {
    let objectTrumps = type == .mergeByPropertyObjectTrumpMergePolicyType
    let base = view.base!
    let isNews = versions[number] != view.version
    // A value set to what was read is no change, whatever the store has by now.
    let changes = view.changes.filter { base[$0.key] != $0.value }
    if !view.isDeleted, changes.isEmpty { return View(base: base, version: view.version) }
    guard let row = rows[number] else {
      if view.isDeleted || !objectTrumps { return View(base: nil) }
      return write(number, base.merging(changes) { $1 })
    }
    if view.isDeleted {
      if isNews, !objectTrumps { return View(base: row, version: versions[number]) }
      rows[number] = nil
      versions[number] += 1
      return View(base: nil)
    }
    let wanted = objectTrumps ? changes : changes.filter { row[$0.key] == base[$0.key] }
    // Both writers may have meant the same.
    let kept = wanted.filter { row[$0.key] != $0.value }
    if kept.isEmpty { return View(base: row, version: versions[number]) }
    return write(number, row.merging(kept) { $1 })
  }

  private mutating func write(_ number: Int, _ values: Values) -> View {
    rows[number] = values
    versions[number] += 1
    return View(base: values, version: versions[number])
  }

  private func check(_ context: Int) {
    for number in rows.indices {
      guard let base = views[context][number].base else {
        #expect(objects[context][number].managedObjectContext == nil)
        continue
      }
      #expect(values(of: objects[context][number]) == base, "object \(number) in context \(context)")
    }
  }

  private func values(of object: NSManagedObject) -> Values {
    var values: Values = [:]
    for key in Self.keys { values[key] = object.value(forKey: key) as? Int }
    values["category"] = object.one("category")?.value(forKey: "number") as? Int
    return values
  }

  mutating func finish() throws {
    for context in contexts.indices { try save(context) }
    let reader = stack.context()
    for (number, row) in rows.enumerated() {
      let id = objects[0][number].objectID
      guard let row else {
        #expect(throws: ManagedObjectError.self) { try reader.existingObject(with: id) }
        continue
      }
      #expect(values(of: try reader.existingObject(with: id)) == row)
    }
    for category in try reader.all("Category") {
      let wanted = rows.filter { $0?["category"] == category.value(forKey: "number") as? Int }
      #expect(category.set("things").count == wanted.count)
    }
    #expect(rows.contains { $0 == nil } && rows.contains { $0 != nil })
  }
}
