@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Appends to an ordered relationship by two writers")
struct OrderedAppendTests {
  enum Kind: CaseIterable, Sendable { case oneToMany, manyToMany, oneWay }

  private static func makeModel() -> NSManagedObjectModel {
    let list = entity("List", nil, [attribute("name", .stringAttributeType)])
    let track = entity("Track", nil, [attribute("name", .stringAttributeType)])
    connect(.many(list, "oneToMany", ordered: true), .one(track, "list"))
    connect(.many(list, "manyToMany", ordered: true), .many(track, "lists"))
    point(.many(list, "oneWay", ordered: true), to: track)
    return model(list, track)
  }

  /// What the second writer does beside its appends.
  struct Case: Sendable, CustomTestStringConvertible {
    var kind: Kind
    var policy: NSMergePolicyType
    /// Both write the owner's row, so the second save is a conflict.
    var conflicts: Bool
    /// The second writer has merged the first one's save before its own.
    var merges: Bool
    /// The members exist before; their keys descend.
    var areOld: Bool
    /// Tracks in the list before the first append.
    var before: Int

    var testDescription: String {
      "\(kind) \(policy) conflicts: \(conflicts) merges: \(merges) old: \(areOld) before: \(before)"
    }

    static var all: [Case] {
      var cases: [Case] = []
      for kind in Kind.allCases {
        for policy in NSMergePolicy.settling {
          for bits in 0..<8 {
            for before in [0, 2] {
              cases.append(
                Case(
                  kind: kind, policy: policy, conflicts: bits & 1 != 0, merges: bits & 2 != 0,
                  areOld: bits & 4 != 0, before: before))
            }
          }
        }
      }
      return cases
    }
  }

  @Test("Each writer's appends stay in their order, under every policy", arguments: Case.all.drawn(oneOf: 3))
  func appends(_ test: Case) throws {
    let stack = try Stack(model: Self.makeModel())
    let (x, y) = (stack.context(), stack.context())
    y.mergePolicy = NSMergePolicy(merge: test.policy)
    let key = "\(test.kind)"
    let list = x.make("List", ["name": "list"])
    let names = (0..<test.before).map { "p\($0)" }
    list.setValue(NSOrderedSet(array: names.map { x.make("Track", ["name": $0]) }), forKey: key)
    if test.areOld { for name in ["d", "c", "b", "a"] { x.make("Track", ["name": name]) } }
    try x.save()

    func append(_ added: [String], in context: NSManagedObjectContext) throws {
      let owner = try context.existingObject(with: list.objectID)
      let tracks = try added.map { name in
        if !test.areOld { return context.make("Track", ["name": name]) }
        return try #require(try context.all("Track", NSPredicate(format: "name == %@", name)).first)
      }
      let members = NSMutableOrderedSet(array: owner.list(key))
      members.addObjects(from: tracks)
      owner.setValue(members, forKey: key)
      if test.conflicts { owner.setValue("by \(added[0])", forKey: "name") }
    }
    // The second writer reads before the first one saves.
    #expect(try y.existingObject(with: list.objectID).list(key).count == test.before)
    try append(["a", "b"], in: x)
    try append(["c", "d"], in: y)
    let listener = Listener(x)
    try x.save()
    if test.merges {
      y.mergeChanges(
        fromContextDidSave: Notification(
          name: .NSManagedObjectContextDidSave, object: x, userInfo: try #require(listener.events.last).info))
    }
    try y.save()

    let reader = stack.context()
    let owner = try reader.existingObject(with: list.objectID)
    let found = owner.list(key).compactMap { $0.value(forKey: "name") as? String }
    func among(_ wanted: [String]) -> [String] { found.filter(wanted.contains) }
    #expect(among(["a", "b"]) == ["a", "b"], "\(found)")
    #expect(among(names) == names, "\(found)")
    #expect(Set(found).count == found.count, "\(found)")
    // The rollback policy gives the second writer's values of a row in conflict up, and nothing else.
    if test.policy == .rollbackMergePolicyType, test.conflicts, !test.merges {
      #expect(among(["c", "d"]) == [] || among(["c", "d"]) == ["c", "d"], "\(found)")
    } else {
      #expect(among(["c", "d"]) == ["c", "d"], "\(found)")
    }
    // The writer sees what it stored.
    y.refreshAllObjects()
    let seen = try y.existingObject(with: list.objectID)
    #expect(seen.list(key).compactMap { $0.value(forKey: "name") as? String } == found)
    withExtendedLifetime((owner, seen)) {}
  }

  @Test("Appends of three writers, drawn at random, stay in each writer's order", arguments: Kind.allCases)
  func random(kind: Kind) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    let rounds = environment["CDE_ORDER_ROUNDS"].flatMap(Int.init) ?? 8
    print("OrderedAppendTests \(kind) seed \(seed)")
    var draw = SplitMix(state: seed)
    for round in 0..<rounds { try random(kind, "seed \(seed), round \(round)", &draw) }
  }

  private func random(_ kind: Kind, _ comment: Comment, _ draw: inout SplitMix) throws {
    let stack = try Stack(model: Self.makeModel())
    let key = "\(kind)"
    let writers = (0..<3).map { _ in stack.context() }
    for writer in writers {
      writer.mergePolicy = NSMergePolicy(merge: NSMergePolicy.settling.randomElement(using: &draw)!)
    }
    // Tracks to be appended exist before, in any order of keys, or are made when they are.
    let maker = stack.context()
    let list = maker.make("List", ["name": "list"])
    let old = (0..<3).flatMap { writer in (0..<4).map { "\(writer)old\($0)" } }.shuffled(using: &draw)
    for name in old { maker.make("Track", ["name": name]) }
    try maker.save()

    var appended: [[String]] = [[], [], []]
    var notes: [Notification] = []
    let listeners = writers.map { Listener($0) }
    let owners = try writers.map { try $0.existingObject(with: list.objectID) }
    for step in 0..<24 {
      let writer = Int.random(in: 0..<3, using: &draw)
      let (context, owner) = (writers[writer], owners[writer])
      switch Int.random(in: 0..<8, using: &draw) {
      case 0...3:
        let existing = old.first { $0.hasPrefix("\(writer)") && !appended[writer].contains($0) }
        let name = existing != nil && Bool.random(using: &draw) ? existing! : "\(writer)new\(step)"
        let track =
          name == existing
          ? try context.all("Track", NSPredicate(format: "name == %@", name))[0]
          : context.make("Track", ["name": name])
        let members = NSMutableOrderedSet(array: owner.list(key))
        members.add(track)
        owner.setValue(members, forKey: key)
        appended[writer].append(name)
      case 4: owner.setValue("by \(writer) at \(step)", forKey: "name")
      case 5:
        for note in notes where note.object as? NSManagedObjectContext !== context {
          context.mergeChanges(fromContextDidSave: note)
        }
      default:
        try context.save()
        if let event = listeners[writer].events.last(where: { $0.name == .NSManagedObjectContextDidSave }) {
          notes.append(Notification(name: event.name, object: context, userInfo: event.info))
          listeners[writer].clear()
        }
      }
    }
    for context in writers { try context.save() }
    let reader = stack.context()
    let stored = try reader.existingObject(with: list.objectID)
    let found = stored.list(key).compactMap { $0.value(forKey: "name") as? String }
    for names in appended {
      let kept = found.filter(names.contains)
      #expect(kept == names.filter(found.contains), comment)
    }
    withExtendedLifetime((owners, stored)) {}
  }
}
