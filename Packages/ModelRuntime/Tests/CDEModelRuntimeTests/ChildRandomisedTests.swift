import CDEModelRuntime
import Foundation
import Testing

/// Random changes in a context, its child and its grandchild, each checked against dictionaries of its own.
@Suite("Randomised operations in child contexts", .ownThreads)
struct ChildRandomisedTests {
  @Test("A context, its child and its grandchild agree with dictionaries", arguments: 0..<4)
  func agreement(_ run: Int) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 104_729 &+ 23
    let rounds = environment["CDE_CHILD_ROUNDS"].flatMap(Int.init) ?? 12
    print("Randomised operations in child contexts, seed \(seed)")
    var test = try FamilyRun(seed: seed)
    for _ in 0..<rounds { try test.round() }
  }
}

private struct FamilyRun {
  var run: RandomRun
  /// The context over the store, its child, and its grandchild.
  let contexts: [NSManagedObjectContext]
  /// The store's content, and the content of each context.
  var worlds: [World]

  init(seed: UInt64) throws {
    run = try RandomRun(seed: seed)
    var contexts = [run.stack.context()]
    for _ in 0..<2 {
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = contexts.last
      contexts.append(child)
    }
    self.contexts = contexts
    worlds = Array(repeating: World(), count: contexts.count + 1)
  }

  private mutating func chance(_ part: Int, of all: Int) -> Bool {
    Int.random(in: 0..<all, using: &run.generator) < part
  }

  mutating func round() throws {
    let level = Int.random(in: 1...contexts.count, using: &run.generator)
    // Unsaved changes of deeper contexts belong to the values that they were based on.
    for deeper in stride(from: contexts.count, to: level, by: -1) where worlds[deeper] != worlds[deeper - 1] {
      if chance(1, of: 3) { rollBack(deeper) } else { try save(deeper) }
    }
    try check("before the changes")
    let context = contexts[level - 1]
    run.world = worlds[level]
    try context.performAndWait {
      var objects = try run.read(context)
      for _ in 0..<Int.random(in: 1...20, using: &run.generator) { try run.change(context, &objects) }
    }
    worlds[level] = run.world
    reload(below: level)
    try check("after the changes of level \(level)")
    switch Int.random(in: 0..<10, using: &run.generator) {
    case 0, 1: rollBack(level)
    case 2: break
    default: try save(level)
    }
    try check("at the end, level \(level)")
  }

  private mutating func save(_ level: Int) throws {
    let context = contexts[level - 1]
    try context.performAndWait {
      try context.save()
      try #require(!context.hasChanges)
    }
    worlds[level - 1] = worlds[level]
  }

  private mutating func rollBack(_ level: Int) {
    let context = contexts[level - 1]
    context.performAndWait { context.rollback() }
    worlds[level] = worlds[level - 1]
    reload(below: level)
  }

  /// Makes deeper contexts read their parents again.
  private mutating func reload(below level: Int) {
    for deeper in level..<contexts.count {
      let context = contexts[deeper]
      let resets = chance(1, of: 2)
      context.performAndWait { if resets { context.reset() } else { context.refreshAllObjects() } }
      worlds[deeper + 1] = worlds[deeper]
    }
  }

  private mutating func check(_ when: String) throws {
    for (index, context) in contexts.enumerated() {
      try context.performAndWait { try run.check(context, worlds[index + 1], "\(when), context \(index)") }
    }
    try run.check(run.stack.context(), worlds[0], "\(when), store")
  }
}
