import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Applies what a controller tells its delegate to plain arrays.
final class ArrayModel: NSObject, NSFetchedResultsControllerDelegate {
  struct Change {
    var object: NSManagedObject
    var old: IndexPath?
    var type: NSFetchedResultsChangeType
    var new: IndexPath?
  }

  private(set) var names: [String] = []
  private(set) var rows: [[NSManagedObject]] = []
  private(set) var problems: [String] = []
  private(set) var updates = 0
  private var isChanging = false
  private var changes: [Change] = []
  private var deleted: [Int] = []
  private var inserted: [(index: Int, name: String)] = []

  func start(_ controller: NSFetchedResultsController<some NSManagedObject>) {
    names = controller.sections!.map(\.name)
    rows = controller.sections!.map { $0.objects as! [NSManagedObject] }
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    if isChanging { problems.append("two beginnings") }
    if controller.sections!.map({ $0.objects as! [NSManagedObject] }) != rows {
      problems.append("the content changed before its beginning")
    }
    isChanging = true
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    changes.append(
      Change(object: anObject as! NSManagedObject, old: indexPath, type: type, new: newIndexPath))
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    if !changes.isEmpty { problems.append("a section came after an object") }
    if type == .delete {
      if names[sectionIndex] != sectionInfo.name { problems.append("another section was deleted") }
      deleted.append(sectionIndex)
    } else {
      inserted.append((sectionIndex, sectionInfo.name))
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    if !isChanging { problems.append("no beginning") }
    if changes.isEmpty { problems.append("nothing changed") }
    updates += 1
    for change in changes {
      if let old = change.old, rows[old.section][old.row] !== change.object {
        problems.append("another object was at \(old)")
      }
      if (change.old == nil) != (change.type == .insert) || (change.new == nil) != (change.type == .delete) {
        problems.append("wrong paths for \(change.type)")
      }
    }
    let leaving = changes.filter { $0.type == .delete || $0.type == .move }
    for old in leaving.map({ $0.old! }).sorted(by: >) { rows[old.section].remove(at: old.row) }
    for index in deleted.sorted(by: >) {
      if !rows[index].isEmpty { problems.append("a deleted section had other objects") }
      rows.remove(at: index)
      names.remove(at: index)
    }
    for section in inserted.sorted(by: { $0.index < $1.index }) {
      rows.insert([], at: section.index)
      names.insert(section.name, at: section.index)
    }
    let arriving = changes.filter { $0.type == .insert || $0.type == .move }
    for change in arriving.sorted(by: { $0.new! < $1.new! }) {
      rows[change.new!.section].insert(change.object, at: change.new!.row)
    }
    for change in changes where change.type == .update {
      if rows[change.new!.section][change.new!.row] !== change.object {
        problems.append("an update moved without a move")
      }
    }
    (changes, deleted, inserted) = ([], [], [])
    isChanging = false
  }
}

@Suite("Fetched results against fetches")
struct FetchedResultsRandomisedTests {
  private static var steps: Int {
    ProcessInfo.processInfo.environment["CDE_FETCHED_STEPS"].flatMap(Int.init) ?? 250
  }
  private static var seed: UInt64 {
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
  }

  @Test("Controllers have what a fetch finds, and arrays follow their changes")
  func agreement() throws {
    let seed = Self.seed
    print("Fetched results, seed \(seed)")
    var left = Self.steps
    var generator = SplitMix(state: seed)
    while left > 0 {
      // New stores now and then, because stores grow.
      let steps = min(left, 5_000)
      left -= steps
      var world = try FollowedWorld(seed: generator.next())
      let context = world.mine
      try context.performAndWait { for _ in 0..<steps { try world.step() } }
      try #require(steps < 1_000 || world.controllers.allSatisfy { $0.model.updates > 10 })
    }
  }

  @Test("Results of many parts follow many changes at once")
  func large() throws {
    let seed = Self.seed
    print("Large fetched results, seed \(seed)")
    var world = try FollowedWorld(seed: seed, items: 1_300)
    let context = world.mine
    try context.performAndWait { for _ in 0..<3 { try world.largeStep() } }
  }
}

/// Two contexts over one store. The first has controllers, the second is another writer.
struct FollowedWorld {
  struct Followed {
    let controller: NSFetchedResultsController<NSManagedObject>
    let model: ArrayModel
  }

  var generator: SplitMix
  let stack: Stack
  let mine: NSManagedObjectContext
  let theirs: NSManagedObjectContext
  private(set) var controllers: [Followed] = []
  private var next = 0
  private var isRemote = false

  init(seed: UInt64, items: Int = 12) throws {
    generator = SplitMix(state: seed)
    let number = { attribute("number", .integer64AttributeType, optional: false, default: Int64(0)) }
    let item = entity(
      "Item", nil,
      [
        number(), attribute("n", .integer64AttributeType), attribute("text", .stringAttributeType),
        attribute("group", .stringAttributeType), attribute("flag", .booleanAttributeType),
      ])
    let subItem = entity("SubItem", nil, [attribute("extra", .integer64AttributeType)])
    item.subentities = [subItem]
    let owner = entity(
      "Owner", nil,
      [number(), attribute("name", .stringAttributeType), attribute("rank", .integer64AttributeType)])
    connect(.one(item, "owner"), .many(owner, "items"))
    stack = try Stack(model: model(item, subItem, owner))
    mine = stack.context()
    theirs = stack.context()
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    for _ in 0..<4 { change(mine, choice: 19) }
    for index in 0..<items {
      change(mine, choice: 0)
      if index % 100 == 0 { try mine.save() }
    }
    try mine.save()
    try follow("Item", "flag == YES", ["n", "text", "number"])
    try follow("Item", nil, ["group", "-n", "number"], sections: "group")
    try follow("Item", "owner.rank > 2 OR n < 50", ["owner.name", "number"], sections: "owner.name")
    try follow("Owner", "ANY items.n > 50 OR items.@count == 0", ["rank", "number"])
    try follow("Item", "n > 30", ["text", "n", "number"], sections: "text")
    try follow("Item", "owner.items.@count > 3", ["n", "number"], sections: "n")
  }

  private mutating func follow(
    _ entity: String, _ predicate: String?, _ keys: [String], sections: String? = nil
  ) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate.map { NSPredicate(format: $0) }
    request.sortDescriptors = keys.map { key in
      let descends = key.hasPrefix("-")
      return NSSortDescriptor(key: descends ? String(key.dropFirst()) : key, ascending: !descends)
    }
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: mine, sectionNameKeyPath: sections, cacheName: nil)
    let model = ArrayModel()
    controller.delegate = model
    try controller.performFetch()
    model.start(controller)
    controllers.append(Followed(controller: controller, model: model))
  }

  // MARK: A step

  mutating func step() throws {
    let choice = Int.random(in: 0..<100, using: &generator)
    switch choice {
    case 0..<60:
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        change(mine, choice: Int.random(in: 0..<20, using: &generator))
      }
    case 60..<70: try mine.save()
    case 70..<75: mine.rollback()
    case 75..<80:
      if let object = any("Item", in: mine) ?? any("Owner", in: mine), !object.hasChanges {
        mine.refresh(object, mergeChanges: Bool.random(using: &generator))
      }
    case 80..<81: mine.refreshAllObjects()
    case 81..<84: try batch()
    default: try mergeOther()
    }
    mine.processPendingChanges()
    try check("after step \(choice)")
  }

  mutating func largeStep() throws {
    for _ in 0..<Int.random(in: 1...80, using: &generator) {
      change(mine, choice: Int.random(in: 0..<20, using: &generator))
    }
    mine.processPendingChanges()
    try check("after many changes")
    if Bool.random(using: &generator) { try mine.save() } else { mine.rollback() }
    try check("after their end")
  }

  private mutating func mergeOther() throws {
    // The other writer's objects are new each time, so it has no conflicts with the rows of this one.
    theirs.reset()
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      change(theirs, choice: Int.random(in: 0..<20, using: &generator))
    }
    let byIDs = Bool.random(using: &generator)
    nonisolated(unsafe) var notes: [Notification] = []
    // Guard: the notification comes on this thread, in the save.
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: theirs, queue: nil
    ) { notes.append($0) }
    defer { NotificationCenter.default.removeObserver(token) }
    try theirs.save()
    for note in notes {
      if byIDs {
        var ids: [AnyHashable: Any] = [:]
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
          ids[key] = (note.userInfo?[key] as? Set<NSManagedObject>)?.map(\.objectID)
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [mine])
      } else {
        mine.mergeChanges(fromContextDidSave: note)
      }
    }
  }

  private mutating func batch() throws {
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.predicate = NSPredicate(format: "n > %@", Int.random(in: 0..<100, using: &generator))
    request.propertiesToUpdate = ["n": Int.random(in: 0..<100, using: &generator)]
    request.resultType = .updatedObjectIDsResultType
    let result = try mine.execute(request) as? NSBatchUpdateResult
    let ids = result?.result as? [NSManagedObjectID] ?? []
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [mine])
  }

  private mutating func any(_ entity: String, in context: NSManagedObjectContext) -> NSManagedObject? {
    let objects = (try? context.all(entity, nil, sort: "number")) ?? []
    return objects.randomElement(using: &generator)
  }

  private mutating func change(_ context: NSManagedObjectContext, choice: Int) {
    let texts = ["", "a", "b", "B", "c", "ä", nil]
    switch choice {
    case 0..<4:
      let made = context.make(Bool.random(using: &generator) ? "Item" : "SubItem")
      next += 1
      made.setValue(next, forKey: "number")
      made.setValue(Int.random(in: 0..<100, using: &generator), forKey: "n")
      made.setValue(texts.randomElement(using: &generator)!, forKey: "text")
      made.setValue(["x", "y", "z"].randomElement(using: &generator)!, forKey: "group")
      made.setValue(Bool.random(using: &generator), forKey: "flag")
      made.setValue(any("Owner", in: context), forKey: "owner")
    case 4..<7:
      any("Item", in: context)?.setValue(Int.random(in: 0..<100, using: &generator), forKey: "n")
    case 7..<9: any("Item", in: context)?.setValue(texts.randomElement(using: &generator)!, forKey: "text")
    case 9..<11:
      any("Item", in: context)?.setValue(
        ["w", "x", "y", "z", nil].randomElement(using: &generator)!, forKey: "group")
    case 11..<13: any("Item", in: context)?.setValue(Bool.random(using: &generator), forKey: "flag")
    case 13..<15: any("Item", in: context)?.setValue(any("Owner", in: context), forKey: "owner")
    case 15..<17: if let item = any("Item", in: context) { context.delete(item) }
    case 17: any("Owner", in: context)?.setValue(texts.randomElement(using: &generator)!, forKey: "name")
    case 18: any("Owner", in: context)?.setValue(Int.random(in: 0..<5, using: &generator), forKey: "rank")
    default:
      if let owner = any("Owner", in: context), Bool.random(using: &generator) {
        return context.delete(owner)
      }
      next += 1
      context.make(
        "Owner",
        ["number": next, "name": "o\(next % 5)", "rank": Int.random(in: 0..<5, using: &generator)])
    }
  }

  // MARK: Checking

  private func check(_ when: String) throws {
    for (index, followed) in controllers.enumerated() {
      let controller = followed.controller
      let fresh = try mine.fetch(controller.fetchRequest)
      let place = "\(when), controller \(index)"
      try agree(controller.fetchedObjects!, fresh, place)
      var names: [String] = []
      var rows: [[NSManagedObject]] = []
      for object in fresh {
        let value = controller.sectionNameKeyPath.flatMap { object.value(forKeyPath: $0) }
        let name = (value as? String) ?? (value as? NSNumber)?.stringValue ?? ""
        if names.last != name || rows.isEmpty {
          names.append(name)
          rows.append([])
        }
        rows[rows.count - 1].append(object)
      }
      if controller.sectionNameKeyPath == nil, rows.isEmpty { (names, rows) = ([""], [[]]) }
      let sections = controller.sections!
      try #require(sections.map(\.name) == names, "\(place)")
      try #require(sections.map(\.numberOfObjects) == rows.map(\.count), "\(place)")
      for (section, objects) in zip(sections, rows) {
        try agree(section.objects as! [NSManagedObject], objects, place)
      }
      try #require(followed.model.problems == [], "\(place)")
      try #require(followed.model.names == names, "\(place)")
      try agree(followed.model.rows.flatMap { $0 }, fresh, "the model \(place)")
      try #require(followed.model.rows.map(\.count) == rows.map(\.count), "\(place)")
      for (section, objects) in rows.enumerated() {
        for (row, object) in objects.enumerated() where row % 97 < 2 {
          let path = IndexPath(row: row, section: section)
          try #require(controller.indexPath(forObject: object) == path, "\(place)")
          try #require(controller.object(at: path) === object, "\(place)")
        }
      }
    }
  }

  /// Compares without printing thousands of objects.
  private func agree(_ found: [NSManagedObject], _ fresh: [NSManagedObject], _ place: String) throws {
    if found == fresh { return }
    let numbers = { (objects: [NSManagedObject]) in objects.map { ($0.value(forKey: "number") as? Int) ?? -1 }
    }
    let difference = numbers(fresh).difference(from: numbers(found))
    let isEqual = found == fresh
    try #require(isEqual, "\(place): \(difference.prefix(6))")
  }
}
