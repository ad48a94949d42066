import CDEManagedModel
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation

@testable import CDEModelRuntime

/// A random program over contexts that merge each other's saves: two contexts of one container, a child of the second, and a
/// context of another container over the same store, which follows by the history.
///
/// The program merges each commit itself, so a seed gives the same schedule each time.
struct MergeProgram {
  struct Options: CustomStringConvertible {
    var policy = NSMergePolicyType.errorMergePolicyType
    /// Whether steps read relationships, and each step is checked.
    var reads = false
    /// Whether saves wait in the inboxes for some steps.
    var delays = false
    /// Whether the other container takes part.
    var hasOthers = false
    /// Whether objects are deleted.
    var deletes = true

    var description: String {
      "policy \(policy.rawValue)\(reads ? ", reading" : "")\(delays ? ", delayed" : "")"
        + "\(hasOthers ? ", two containers" : "")\(deletes ? "" : ", no deletions")"
    }
  }

  private enum Place: Int { case first, parent, child, other }

  let options: Options
  private var random: SplitMix
  private let stacks: [Stack]
  private let contexts: [NSManagedObjectContext]
  /// Objects that each context keeps in memory, by their numbers.
  private var known: [[Int: NSManagedObject]]
  /// The last transaction of the history that each container has noticed.
  private var noticed: [Int64]
  private var made = 0
  /// What the program has done, for a message.
  private(set) var log: [String] = []
  private(set) var faults: [String] = []

  /// Runs steps until a check finds a fault.
  ///
  /// - Parameter steps: a random number for each step, from which all its choices follow.
  static func run(_ steps: [UInt64], _ options: Options) throws -> MergeProgram {
    var program = try MergeProgram(options)
    for step in steps where program.faults.isEmpty { try program.step(step) }
    if program.faults.isEmpty { try program.finish() }
    return program
  }

  /// Leaves steps out while the program still finds a fault.
  static func shortest(_ steps: [UInt64], _ options: Options) throws -> MergeProgram {
    try run(shortened(steps) { try !run($0, options).faults.isEmpty }, options)
  }

  private init(_ options: Options) throws {
    self.options = options
    random = SplitMix(state: 0)
    let first = try Stack(model: Self.model(), options: NSPersistentHistoryTrackingKey)
    stacks =
      options.hasOthers
      ? [first, try Stack(model: Self.model(), in: first.folder, options: NSPersistentHistoryTrackingKey)]
      : [first]
    let parent = first.context()
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    contexts = [first.context(), parent, child] + stacks.dropFirst().map { $0.context() }
    for (index, context) in contexts.enumerated() {
      context.mergePolicy = NSMergePolicy(merge: options.policy)
      context.transactionAuthor = index == Place.other.rawValue ? "1" : "0"
      // The program merges the commits.
      context.inbox.open { _ in }
    }
    known = contexts.map { _ in [:] }
    noticed = stacks.map { _ in 0 }
    for _ in 0..<2 { for entity in Self.entities { try inside(0) { $0.make(0, entity) } } }
    try inside(0) { try $0.save(0) }
    for index in contexts.indices { try inside(index) { try $0.look(index) } }
  }

  static func model() -> NSManagedObjectModel {
    func named(_ name: String) -> NSEntityDescription {
      entity(
        name, nil,
        [attribute("number", .integer64AttributeType), attribute("value", .integer64AttributeType)])
    }
    let (book, author) = (named("Book"), named("Author"))
    let (tag, card) = (named("Tag"), named("Card"))
    connect(.one(book, "author"), .many(author, "books"))
    connect(.one(book, "ranking"), .many(author, "ranked", ordered: true))
    connect(.many(book, "tags"), .many(tag, "books"))
    connect(.many(book, "lists"), .many(tag, "listed", ordered: true))
    connect(.one(author, "card", rule: .cascadeDeleteRule), .one(card, "holder"))
    connect(.one(author, "master"), .many(author, "pupils", rule: .cascadeDeleteRule))
    reflect(.many(author, "friends"))
    reflect(.one(tag, "twin"))
    point(.one(book, "favourite"), to: tag)
    return CDEModelRuntimeTests.model(book, author, tag, card)
  }

  static let entities = ["Book", "Author", "Tag", "Card"]

  // MARK: Steps

  private mutating func chance(_ part: Int, of all: Int) -> Bool {
    Int.random(in: 0..<all, using: &random) < part
  }

  /// Does one step, and checks the contexts now and then.
  private mutating func step(_ number: UInt64) throws {
    random = SplitMix(state: number)
    let index = Int.random(in: contexts.indices, using: &random)
    let choice = Int.random(in: 0..<100, using: &random)
    try inside(index) { program in
      switch choice {
      case 0..<4: program.make(index)
      case 4..<32: program.setOne(index)
      case 32..<62: program.changeMany(index)
      case 62..<66: program.setValue(index)
      case 66..<68: if program.options.deletes { program.delete(index) }
      case 68..<70: program.rollBack(index)
      case 70..<72: program.refreshAll(index)
      case 72..<76: try program.look(index)
      case 76..<77: program.release(index)
      default: try program.save(index)
      }
    }
    if options.reads, chance(1, of: 3) {
      let reader = Int.random(in: contexts.indices, using: &random)
      try inside(reader) { $0.read(reader) }
    }
    if options.delays {
      try mergeSome()
    } else {
      try mergeAll()
    }
    if options.reads ? !options.delays || chance(1, of: 4) : chance(1, of: 25) { try check() }
  }

  private mutating func finish() throws {
    try check()
    for index in [Place.child.rawValue] + contexts.indices.filter({ $0 != Place.child.rawValue }) {
      try inside(index) { try $0.save(index) }
      try check()
    }
  }

  /// Runs steps on the isolation of a context.
  private mutating func inside(_ index: Int, _ body: (inout MergeProgram) throws -> Void) throws {
    var copy = self
    try contexts[index].performAndWait { try body(&copy) }
    self = copy
  }

  private mutating func pick(_ index: Int, _ entity: String) -> NSManagedObject? {
    known[index] = known[index].filter { $1.managedObjectContext != nil && !$1.isGone }
    return known[index].filter { !$1.isDeleted && $1.entity.name == entity }.sorted { $0.key < $1.key }
      .randomElement(using: &random)?.value
  }

  private mutating func make(_ index: Int) { make(index, Self.entities.randomElement(using: &random)!) }

  private mutating func make(_ index: Int, _ entity: String) {
    if known[index].count(where: { $1.entity.name == entity }) >= 3 { return setOne(index) }
    made += 1
    let object = contexts[index].make(entity, ["number": made])
    known[index][made] = object
    log.append("\(index): make \(entity) \(made)")
  }

  private mutating func setValue(_ index: Int) {
    guard let object = pick(index, Self.entities.randomElement(using: &random)!) else { return }
    let value = Int.random(in: 0..<3, using: &random)
    object.setValue(value, forKey: "value")
    log.append("\(index): \(Self.name(object)).value = \(value)")
  }

  private mutating func setOne(_ index: Int) {
    let ones = [
      ("Book", "author", "Author"), ("Book", "ranking", "Author"), ("Author", "card", "Card"),
      ("Card", "holder", "Author"), ("Author", "master", "Author"), ("Tag", "twin", "Tag"),
      ("Book", "favourite", "Tag"),
    ]
    let (entity, name, destination) = ones.randomElement(using: &random)!
    guard let object = pick(index, entity) else { return }
    let value = chance(1, of: 3) ? nil : pick(index, destination)
    object.setValue(value, forKey: name)
    log.append("\(index): \(Self.name(object)).\(name) = \(value.map(Self.name) ?? "nil")")
  }

  private mutating func changeMany(_ index: Int) {
    let manys = [
      ("Author", "books", "Book", false), ("Author", "ranked", "Book", true), ("Book", "tags", "Tag", false),
      ("Tag", "books", "Book", false), ("Book", "lists", "Tag", false), ("Tag", "listed", "Book", true),
      ("Author", "pupils", "Author", false), ("Author", "friends", "Author", false),
    ]
    let (entity, name, destination, isOrdered) = manys.randomElement(using: &random)!
    guard let owner = pick(index, entity), let member = pick(index, destination) else { return }
    let adds = chance(3, of: 5)
    if isOrdered {
      let members = owner.mutableOrderedSetValue(forKey: name)
      if !adds {
        members.remove(member)
      } else if chance(1, of: 2), !members.contains(member) {
        members.insert(member, at: Int.random(in: 0...members.count, using: &random))
      } else {
        members.add(member)
      }
    } else {
      let members = owner.mutableSetValue(forKey: name)
      if adds { members.add(member) } else { members.remove(member) }
    }
    log.append("\(index): \(Self.name(owner)).\(name) \(adds ? "+" : "-")= \(Self.name(member))")
  }

  private mutating func delete(_ index: Int) {
    guard let object = pick(index, Self.entities.randomElement(using: &random)!) else { return }
    log.append("\(index): delete \(Self.name(object))")
    let count = contexts[index].insertedObjects.count
    contexts[index].delete(object)
    if contexts[index].insertedObjects.count < count { resetChild(of: index) }
  }

  private mutating func rollBack(_ index: Int) {
    log.append("\(index): rollback")
    contexts[index].rollback()
    resetChild(of: index)
  }

  /// A child is not told what its parent drops.
  private mutating func resetChild(of index: Int) {
    guard index == Place.parent.rawValue else { return }
    let child = contexts[Place.child.rawValue]
    child.performAndWait { child.reset() }
    known[Place.child.rawValue] = [:]
  }

  private mutating func refreshAll(_ index: Int) {
    log.append("\(index): refresh all")
    contexts[index].refreshAllObjects()
  }

  private mutating func look(_ index: Int) throws {
    log.append("\(index): look")
    for entity in Self.entities {
      for object in try contexts[index].all(entity) { known[index][Self.number(object)] = object }
    }
  }

  private mutating func release(_ index: Int) {
    log.append("\(index): release")
    for number in known[index].keys.sorted() where chance(1, of: 2) { known[index][number] = nil }
  }

  private mutating func save(_ index: Int) throws {
    log.append("\(index): save")
    do {
      try contexts[index].save()
    } catch let error as ManagedObjectError where error.code == .saveConflict {
      log.append("\(index): refused")
      if chance(1, of: 2) { rollBack(index) }
    }
  }

  /// Reads relationships of some objects.
  private mutating func read(_ index: Int) {
    for _ in 0..<2 {
      guard let object = pick(index, Self.entities.randomElement(using: &random)!),
        let name = object.entity.relationshipsByName.keys.sorted().randomElement(using: &random)
      else { continue }
      log.append("\(index): read \(Self.name(object)).\(name)")
      _ = object.value(forKey: name)
    }
  }

  // MARK: Merging

  private mutating func mergeSome() throws {
    for stack in stacks.indices where chance(1, of: 6) { try notice(stack) }
    for index in contexts.indices where chance(1, of: 4) { _ = merge(index) }
  }

  private mutating func mergeAll() throws {
    for stack in stacks.indices { try notice(stack) }
    for index in contexts.indices where index != Place.child.rawValue { while merge(index) {} }
    while merge(Place.child.rawValue) {}
  }

  /// Merges the commit that has waited longest.
  private mutating func merge(_ index: Int) -> Bool {
    let context = contexts[index]
    return context.performAndWait {
      guard let commit = context.inbox.popFirst(through: .max) else { return false }
      log.append("\(index): merge \(commit.sequence) \(commit.isForeign ? "of the other container" : "")")
      context.merge(commit)
      return true
    }
  }

  /// Gives the contexts of a container the transactions of the other one.
  private mutating func notice(_ stack: Int) throws {
    guard options.hasOthers else { return }
    let coordinator = stacks[stack].container.persistentStoreCoordinator
    let handle = coordinator.persistentStores[0].handle
    for record in try handle.store.history(StoreHistoryQuery(after: noticed[stack])) {
      noticed[stack] = record.number
      if record.author == "\(stack)" { continue }
      var commit = CommittedTransaction(record, model: coordinator.modelBinding, store: handle)
      _ = coordinator.handOn(&commit, from: nil)
    }
  }

  // MARK: Checking

  /// Merges all that waits. Then both sides of each relationship agree in each context, and a context without unsaved changes
  /// is as stored.
  private mutating func check() throws {
    try mergeAll()
    log.append("check")
    let reader = stacks[0].context()
    var stored: [Int: [String: String]] = [:]
    for entity in Self.entities {
      for object in try reader.all(entity) { stored[Self.number(object)] = Self.values(object) }
    }
    for (index, context) in contexts.enumerated() {
      let parent = contexts[Place.parent.rawValue]
      let isCurrent = index != Place.child.rawValue || parent.performAndWait { !parent.hasChanges }
      faults += context.performAndWait {
        guard isCurrent else { return [] }
        let objects = context.registeredObjects.filter { !$0.isDeletedOrGone }.sorted {
          Self.number($0) < Self.number($1)
        }
        var found = objects.flatMap(Self.disagreements)
        if !context.hasChanges {
          for object in objects where !object.isDeletedOrGone {
            found += Self.differences(object, stored[Self.number(object)])
          }
        }
        return found.map { "context \(index), \($0)" }
      }
    }
  }

  private static func number(_ object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? 0 }

  private static func name(_ object: NSManagedObject) -> String {
    "\(object.entity.name!.lowercased())\(number(object))"
  }

  private static func members(_ object: NSManagedObject, _ name: String) -> [NSManagedObject] {
    let related: [NSManagedObject] =
      switch object.value(forKey: name) {
      case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
      case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
      case let one as NSManagedObject: [one]
      default: []
      }
    return related.filter { !$0.isDeletedOrGone }
  }

  private static func disagreements(_ object: NSManagedObject) -> [String] {
    var found: [String] = []
    for (name, relationship) in object.entity.relationshipsByName {
      guard let inverse = relationship.inverseRelationship?.name else { continue }
      for other in members(object, name) where !members(other, inverse).contains(object) {
        found.append(
          "\(Self.name(object)).\(name) has \(Self.name(other)), whose \(inverse) has "
            + "\(members(other, inverse).map(Self.name))")
      }
    }
    return found
  }

  private static func values(_ object: NSManagedObject) -> [String: String] {
    var values = ["value": "\(object.value(forKey: "value") ?? "nil")"]
    for (name, relationship) in object.entity.relationshipsByName {
      let related = members(object, name).map(Self.name)
      values[name] = (relationship.isOrdered ? related : related.sorted()).joined(separator: " ")
    }
    return values
  }

  private static func differences(_ object: NSManagedObject, _ stored: [String: String]?) -> [String] {
    guard let stored else { return ["\(name(object)) is not stored"] }
    return values(object).filter { stored[$0] != $1 }.map {
      "\(name(object)).\($0) is \($1) and not as stored \(stored[$0] ?? "?")"
    }.sorted()
  }
}

extension Stack {
  /// - Parameter folder: the folder of another stack, whose store this one opens, too; by default a new one.
  init(model: NSManagedObjectModel, in folder: URL? = nil, options: String...) throws {
    self.folder = folder ?? ProcessFolder.newURL()
    container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: self.folder.appendingPathComponent("Test.sqlite"))
    ]
    for option in options {
      container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: option)
    }
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }
}
