import CDEModelRuntime
import Foundation
import Testing

/// Random changes, undos and redos in a context, in its child and beside another writer, each checked against dictionaries.
@Suite("Randomised undo and redo", .ownThreads)
struct UndoRandomisedTests {
  @Test("After each undo and redo a context agrees with its former dictionaries", arguments: 0..<6)
  func agreement(_ run: Int) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 15_485_863 &+ 5
    let rounds = environment["CDE_UNDO_ROUNDS"].flatMap(Int.init) ?? 60
    print("Randomised undo and redo, seed \(seed)")
    var test = try UndoRun(seed: seed)
    for _ in 0..<rounds { try test.round() }
  }
}

private struct UndoRun {
  var run: RandomRun
  let context: NSManagedObjectContext
  let child: NSManagedObjectContext
  let writer: NSManagedObjectContext
  let manager = UndoManager()
  /// The content before each step that can be undone, and after each that can be redone.
  var undone: [World] = []
  var redone: [World] = []
  var stored = World()
  /// What each step changed in the dictionaries, for the report of a failure.
  private var log: [String] = []
  private var logged = World()

  init(seed: UInt64) throws {
    run = try RandomRun(seed: seed)
    // Undo does not restore references that a save cleared because nothing leads back from their destinations.
    run.relatesOneWay = false
    context = run.stack.context()
    writer = run.stack.context()
    child = NSManagedObjectContext(.privateQueue)
    child.parent = context
    child.automaticallyMergesChangesFromParent = false
    manager.groupsByEvent = false
    context.performAndWait { [context, manager] in context.undoManager = manager }
  }

  mutating func round() throws {
    switch Int.random(in: 0..<12, using: &run.generator) {
    case 0..<4: try changeByGroup()
    case 4: try changeInChild()
    case 5..<8: try undo()
    case 8, 9: try redo()
    case 10: try save()
    default: try writeElsewhere()
    }
  }

  /// Changes of one group, which the context announces once or several times.
  private mutating func changeByGroup() throws {
    let before = run.world
    try context.performAndWait {
      manager.beginUndoGrouping()
      var objects = try run.read(context)
      for _ in 0..<Int.random(in: 1...12, using: &run.generator) {
        try run.change(context, &objects)
        if Int.random(in: 0..<4, using: &run.generator) == 0 { context.processPendingChanges() }
      }
      manager.endUndoGrouping()
    }
    try check("after changes")
    try noteStep(before)
  }

  private mutating func changeInChild() throws {
    let before = run.world
    context.performAndWait { [manager] in manager.beginUndoGrouping() }
    try child.performAndWait {
      child.reset()
      var objects = try run.read(child)
      for _ in 0..<Int.random(in: 1...8, using: &run.generator) { try run.change(child, &objects) }
      try child.save()
    }
    context.performAndWait { [manager] in manager.endUndoGrouping() }
    try check("after a child's save")
    try noteStep(before)
  }

  /// A step without a lasting change may leave no action.
  private mutating func noteStep(_ before: World) throws {
    let count = context.performAndWait { manager.undoCount }
    try #require((undone.count...undone.count + 1).contains(count))
    if count == undone.count + 1 {
      undone.append(before)
      redone = []
    } else {
      try #require(run.world == before)
    }
  }

  private mutating func undo() throws {
    let canUndo = context.performAndWait { [context, manager] in
      defer { context.undo() }
      return manager.canUndo
    }
    try #require(canUndo == !undone.isEmpty)
    if let world = undone.popLast() {
      redone.append(run.world)
      run.world = world
    }
    try check("after an undo")
  }

  private mutating func redo() throws {
    let canRedo = context.performAndWait { [context, manager] in
      defer { context.redo() }
      return manager.canRedo
    }
    try #require(canRedo == !redone.isEmpty)
    if let world = redone.popLast() {
      undone.append(run.world)
      run.world = world
    }
    try check("after a redo")
  }

  private mutating func save() throws {
    do {
      try context.performAndWait {
        try context.save()
        try #require(!context.hasChanges)
      }
    } catch {
      print(log.joined(separator: "\n"))
      throw error
    }
    stored = run.world
    try check("after a save")
    try run.check(run.stack.context(), stored, "in the store")
  }

  /// Another writer adds an object, which belongs to the content at all times.
  private mutating func writeElsewhere() throws {
    let id = run.nextID
    run.nextID += 1
    let saved = SavedNote()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
    ) { saved.note = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    try writer.performAndWait {
      _ = writer.make("Owner", ["number": id])
      try writer.save()
    }
    context.performAndWait { [context] in context.mergeChanges(fromContextDidSave: saved.note!) }
    func add(_ world: inout World) { world.things[id] = World.Thing(entity: "Owner", values: ["number": id]) }
    for index in undone.indices { add(&undone[index]) }
    for index in redone.indices { add(&redone[index]) }
    add(&run.world)
    add(&stored)
    try check("after another writer's save")
  }

  private mutating func check(_ when: String) throws {
    let changed = Set(run.world.things.keys).union(logged.things.keys).sorted().filter {
      run.world.things[$0] != logged.things[$0]
    }
    log.append(
      "\(when): "
        + changed.map { "\($0) \(run.world.things[$0].map { "\($0)" } ?? "-")" }.joined(separator: "; "))
    logged = run.world
    do { try compare(when) } catch {
      print(log.joined(separator: "\n"))
      throw error
    }
  }

  private func compare(_ when: String) throws {
    try context.performAndWait {
      try run.check(context, run.world, when)
      if run.world == stored, !context.hasChanges { try #require(context.changedObjects.isEmpty) }
    }
  }
}

private final class SavedNote: @unchecked Sendable {
  // Guard: the run keeps to one thread.
  var note: Notification?
}

extension NSManagedObjectContext {
  fileprivate var changedObjects: Set<NSManagedObject> {
    insertedObjects.union(updatedObjects).union(deletedObjects)
  }
}
