import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Random programs over required relationships to many without a minimum count, in contexts, their children and batches, and across
/// a migration, each checked against sets of its own.
@Suite("Randomised required relationships to many", .ownThreads)
struct MandatoryRelationshipRandomisedTests {
  @Test(
    "Each save is made, and the store has what sets have, before a migration and after it", arguments: 0..<4)
  func agreement(_ run: Int) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 6_151 &+ 11
    let rounds = environment["CDE_MANDATORY_ROUNDS"].flatMap(Int.init) ?? 40
    print("Randomised required relationships to many, seed \(seed)")
    let program = Program(seed: seed)
    let stack = try Stack(model: Self.model(version: 1))
    try program.run(rounds, in: stack.container)
    try stack.container.close()
    // The new version renames a relationship and adds another one, which is empty in all objects.
    program.rename("labels", to: "marks", adding: "more")
    let migrated = try Stack.open(stack.file, Self.model(version: 2))
    try migrated.work { try program.check($0) }
    try program.run(rounds, in: migrated)
    try migrated.close()
  }

  private static func model(version: Int) -> NSManagedObjectModel {
    let number = { attribute("n", .integer64AttributeType, optional: false, default: 0) }
    let owner = entity("Owner", nil, [number(), attribute("note", .stringAttributeType)])
    let thing = entity("Thing", nil, [number(), attribute("note", .stringAttributeType)])
    // Things of a sub-entity are members of the same relationships.
    let rare = entity("Rare")
    thing.subentities = [rare]
    connect(.many(owner, "things", optional: false), .one(thing, "owner"))
    connect(.many(owner, "ranked", ordered: true, optional: false), .one(thing, "ranker"))
    connect(
      .many(owner, version == 1 ? "labels" : "marks", optional: false),
      .many(thing, "labelled", optional: false))
    point(.many(owner, "extras", optional: false), to: thing)
    if version == 2 {
      owner.relationshipsByName["marks"]?.renamingIdentifier = "labels"
      connect(.many(owner, "more", optional: false), .one(thing, "moreOwner"))
    }
    return CDEModelRuntimeTests.model(owner, thing, rare)
  }
}

/// Sets that stand for a store, and the random changes of both.
private final class Program {
  private enum Form { case single, ordered, pairs, oneWay }

  private let seed: UInt64
  private var random: MigrationRandom
  private var forms: [(name: String, form: Form)] = [
    ("things", .single), ("ranked", .ordered), ("labels", .pairs), ("extras", .oneWay),
  ]
  private var owners: Set<Int> = []
  private var things: Set<Int> = []
  /// The numbers of the members, by the relationship and the owner's number. Only those of an ordered one have an order.
  private var members: [String: [Int: [Int]]] = [:]
  private var next = 0
  /// How often an object without any member of a relationship was saved.
  private var emptied = 0

  init(seed: UInt64) { (self.seed, random) = (seed, MigrationRandom(seed: seed)) }

  func rename(_ old: String, to new: String, adding added: String) {
    forms = forms.map { $0.name == old ? (new, $0.form) : $0 } + [(added, .single)]
    members[new] = members.removeValue(forKey: old)
  }

  func run(_ rounds: Int, in container: NSPersistentContainer) throws {
    let base = container.newBackgroundContext()
    for round in 0..<rounds {
      var contexts = [base]
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let child = NSManagedObjectContext(concurrencyType: .privateQueue)
        child.parent = contexts.last
        contexts.append(child)
      }
      let deepest = contexts[contexts.count - 1]
      try deepest.performAndWait {
        for _ in 0..<Int.random(in: 1...5, using: &random) { try change(deepest) }
      }
      for context in contexts.reversed() { try context.performAndWait { try context.save() } }
      if Int.random(in: 0..<4, using: &random) == 0 {
        try base.performAndWait {
          try batch(base)
          base.refreshAllObjects()
        }
      }
      if round % 5 == 0 {
        try base.performAndWait { try check(base) }
        try container.work { try check($0) }
      }
    }
    try base.performAndWait { try check(base) }
    try container.work { try check($0) }
    #expect(emptied > 0, "seed \(seed)")
  }

  // MARK: Changes

  private func object(_ entity: String, _ n: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject
  {
    try #require(
      try context.all(entity, NSPredicate(format: "n == %@", n)).first, "\(entity) \(n), seed \(seed)")
  }

  private func pick(_ numbers: Set<Int>) -> Int? { numbers.sorted().randomElement(using: &random) }

  private func change(_ context: NSManagedObjectContext) throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      next += 1
      context.make("Owner", ["n": next])
      owners.insert(next)
      emptied += 1
    case 2, 3:
      next += 1
      context.make(Bool.random(using: &random) ? "Thing" : "Rare", ["n": next])
      things.insert(next)
    case 4:
      guard let thing = pick(things) else { return }
      context.delete(try object("Thing", thing, context))
      drop(thing)
    case 5:
      guard let owner = pick(owners) else { return }
      context.delete(try object("Owner", owner, context))
      drop(owner: owner)
    case 6:
      // All members leave at once.
      guard let owner = pick(owners), let (name, form) = forms.randomElement(using: &random) else { return }
      let none: NSObject = form == .ordered ? NSOrderedSet() : NSSet()
      try object("Owner", owner, context).setValue(none, forKey: name)
      members[name]?[owner] = nil
      emptied += 1
    default:
      guard let owner = pick(owners), let thing = pick(things),
        let (name, form) = forms.randomElement(using: &random)
      else { return }
      try toggle(name, form, owner, thing, context)
    }
  }

  private func toggle(
    _ name: String, _ form: Form, _ owner: Int, _ thing: Int, _ context: NSManagedObjectContext
  ) throws {
    let (left, right) = (try object("Owner", owner, context), try object("Thing", thing, context))
    let isIn = members[name]?[owner]?.contains(thing) == true
    if form != .pairs {
      let former = owners.first { members[name]?[$0]?.contains(thing) == true }
      // The store has one owner for such a member, and a relationship without an inverse does not see the other one.
      if form == .oneWay, let former, former != owner {
        try object("Owner", former, context).mutableSetValue(forKey: name).remove(right)
      }
      if let former { members[name]?[former]?.removeAll { $0 == thing } }
    }
    if form == .ordered {
      let list = left.mutableOrderedSetValue(forKey: name)
      if isIn {
        list.remove(right)
      } else {
        let place = Int.random(in: 0...list.count, using: &random)
        list.insert(right, at: place)
        members[name, default: [:]][owner, default: []].insert(thing, at: place)
      }
      return
    }
    let set = left.mutableSetValue(forKey: name)
    if isIn { set.remove(right) } else { set.add(right) }
    members[name]?[owner]?.removeAll { $0 == thing }
    if !isIn { members[name, default: [:]][owner, default: []].append(thing) }
    if members[name]?[owner]?.isEmpty != false { emptied += 1 }
  }

  private func drop(_ thing: Int) {
    things.remove(thing)
    for (name, _) in forms {
      for owner in owners { members[name]?[owner]?.removeAll { $0 == thing } }
    }
  }

  private func drop(owner: Int) {
    owners.remove(owner)
    for (name, _) in forms { members[name]?[owner] = nil }
  }

  private func batch(_ context: NSManagedObjectContext) throws {
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      let new = (1...3).map { next + $0 }
      next += 3
      let name = Bool.random(using: &random) ? "Owner" : "Rare"
      try context.execute(NSBatchInsertRequest(entityName: name, objects: new.map { ["n": $0] }))
      if name == "Owner" { owners.formUnion(new) } else { things.formUnion(new) }
    case 2:
      let update = NSBatchUpdateRequest(entityName: Bool.random(using: &random) ? "Owner" : "Thing")
      update.propertiesToUpdate = ["note": "by a batch"]
      try context.execute(update)
    case 3:
      guard let thing = pick(things) else { return }
      try delete("Thing", thing, context)
      drop(thing)
    default:
      guard let owner = pick(owners) else { return }
      try delete("Owner", owner, context)
      drop(owner: owner)
    }
  }

  private func delete(_ entity: String, _ n: Int, _ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
    request.predicate = NSPredicate(format: "n == %@", n)
    try context.execute(NSBatchDeleteRequest(fetchRequest: request))
  }

  // MARK: Checking

  func check(_ context: NSManagedObjectContext) throws {
    let comment: Comment = "seed \(seed)"
    let found = try context.all("Owner")
    let n = { (object: NSManagedObject) in object.value(forKey: "n") as? Int ?? -1 }
    #expect(Set(found.map(n)) == owners && found.count == owners.count, comment)
    let read = try context.all("Thing")
    #expect(Set(read.map(n)) == things && read.count == things.count, comment)
    for owner in found {
      for (name, form) in forms {
        let expected = members[name]?[n(owner)] ?? []
        if form == .ordered {
          #expect(owner.list(name).map(n) == expected, "\(name) of \(n(owner)), seed \(seed)")
        } else {
          #expect(
            owner.set(name).map(n).sorted() == expected.sorted(), "\(name) of \(n(owner)), seed \(seed)")
        }
      }
    }
    for thing in read {
      let labelled = Set(owners.filter { members[forms[2].name]?[$0]?.contains(n(thing)) == true })
      #expect(Set(thing.set("labelled").map(n)) == labelled, "owners of \(n(thing)), seed \(seed)")
      for (name, inverse) in [("things", "owner"), ("ranked", "ranker")] {
        let owner = owners.first { members[name]?[$0]?.contains(n(thing)) == true }
        #expect(thing.one(inverse).map(n) == owner, "\(inverse) of \(n(thing)), seed \(seed)")
      }
    }
    // The objects read through it until here.
    #expect(!context.hasChanges, comment)
  }
}
