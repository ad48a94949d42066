import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Batch deletions that cascade")
struct BatchCascadeTests {
  /// Nodes with a relationship of each kind to other nodes, so that chains, trees, cycles and nodes that refer to
  /// themselves come about.
  private static func makeModel() -> NSManagedObjectModel {
    let node = entity("Node", nil, [attribute("n", .integer64AttributeType, optional: false, default: 0)])
    let leaf = entity("Leaf")
    node.subentities = [leaf]
    connect(.one(node, "next", rule: .cascadeDeleteRule), .one(node, "previous"))
    connect(.many(node, "children", rule: .cascadeDeleteRule), .one(node, "parent"))
    connect(.many(node, "wards", rule: .denyDeleteRule), .one(node, "guardian"))
    connect(.one(node, "boss", rule: .noActionDeleteRule), .many(node, "staff"))
    reflect(.many(node, "friends"))
    return model(node, leaf)
  }

  private struct Node: Equatable {
    var isLeaf = false
    var one: [String: Int] = [:]
    var friends: Set<Int> = []
  }

  @Test("Random graphs keep what a simple model keeps, or are left alone when a rule denies")
  func random() throws {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    print("BatchCascadeTests seed \(seed)")
    var generator = SplitMix(state: seed)
    var denied = 0
    var cascaded = 0
    for _ in 0..<25 { try run(&generator, &denied, &cascaded) }
    #expect(denied > 5 && cascaded > 20, "seed \(seed): \(denied) denied, \(cascaded) cascaded")
  }

  private func run(_ generator: inout SplitMix, _ denied: inout Int, _ cascaded: inout Int) throws {
    let stack = try Stack(model: Self.makeModel())
    let context = stack.context()
    let count = Int.random(in: 2...25, using: &generator)
    var nodes: [Int: Node] = [:]
    var objects: [NSManagedObject] = []
    for n in 0..<count {
      let isLeaf = Bool.random(using: &generator)
      nodes[n] = Node(isLeaf: isLeaf)
      objects.append(context.make(isLeaf ? "Leaf" : "Node", ["n": n]))
    }
    for _ in 0..<(count * 3) {
      let (from, to) = (
        Int.random(in: 0..<count, using: &generator), Int.random(in: 0..<count, using: &generator)
      )
      let kind = Int.random(in: 0..<12, using: &generator)
      switch kind {
      case 0...2:
        objects[from].setValue(objects[to], forKey: "next")
        for (n, node) in nodes where node.one["next"] == to { nodes[n]!.one["next"] = nil }
        nodes[from]!.one["next"] = to
      case 3...5, 6, 7...8:
        let key = kind < 6 ? "parent" : kind == 6 ? "guardian" : "boss"
        objects[from].setValue(objects[to], forKey: key)
        nodes[from]!.one[key] = to
      default:
        var friends = objects[from].set("friends")
        friends.insert(objects[to])
        objects[from].setValue(friends, forKey: "friends")
        nodes[from]!.friends.insert(to)
        nodes[to]!.friends.insert(from)
      }
    }
    try context.save()
    try compare(nodes, stack.context())
    for _ in 0..<4 {
      let low = Int.random(in: 0..<count, using: &generator)
      let range = low..<(low + Int.random(in: 1...3, using: &generator))
      let direct = Set(nodes.keys.filter(range.contains))
      var lost = direct
      var frontier = direct
      while !frontier.isEmpty {
        var reached = Set(frontier.compactMap { nodes[$0]!.one["next"] })
        reached.formUnion(nodes.filter { frontier.contains($0.value.one["parent"] ?? -1) }.map(\.key))
        frontier = reached.subtracting(lost)
        lost.formUnion(frontier)
      }
      let isDenied = nodes.contains {
        !lost.contains($0.key) && lost.contains($0.value.one["guardian"] ?? -1)
      }
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Node")
      fetch.predicate = NSPredicate(format: "n >= %d AND n < %d", range.lowerBound, range.upperBound)
      let request = NSBatchDeleteRequest(fetchRequest: fetch)
      request.resultType = .resultTypeCount
      let deletion = stack.context()
      if isDenied {
        let error = #expect(throws: ManagedObjectError.self) { try deletion.execute(request) }
        #expect(error?.code == .relationshipDeniedDelete)
        denied += 1
      } else {
        let result = (try deletion.execute(request) as? NSBatchDeleteResult)?.result as? NSNumber
        #expect(result?.intValue == direct.count)
        cascaded += lost.count - direct.count
        nodes = nodes.filter { !lost.contains($0.key) }
        for n in nodes.keys {
          nodes[n]!.one = nodes[n]!.one.filter { !lost.contains($0.value) }
          nodes[n]!.friends.subtract(lost)
        }
      }
      try compare(nodes, stack.context())
    }
  }

  private func compare(_ expected: [Int: Node], _ context: NSManagedObjectContext) throws {
    var found: [Int: Node] = [:]
    func number(_ object: NSManagedObject) -> Int { object.value(forKey: "n") as! Int }
    for object in try context.all("Node") {
      var node = Node(isLeaf: object.entity.name == "Leaf")
      for key in ["next", "parent", "guardian", "boss"] { node.one[key] = object.one(key).map(number) }
      node.friends = Set(object.set("friends").map(number))
      found[number(object)] = node
    }
    #expect(found == expected)
  }

  /// 100,000 with CDE_CASCADE_ROWS=100000.
  @Test("A long chain goes in one request, and the contexts that merge it let go of it")
  func chain() throws {
    let count = ProcessInfo.processInfo.environment["CDE_CASCADE_ROWS"].flatMap(Int.init) ?? 5_000
    let stack = try Stack(model: Self.makeModel())
    let context = stack.context()
    var previous: NSManagedObject?
    for n in 0..<count {
      let object = context.make("Node", ["n": n])
      if let previous { previous.setValue(object, forKey: "next") }
      previous = object
    }
    try context.save()
    let fetch = NSFetchRequest<NSManagedObject>(entityName: "Node")
    fetch.predicate = NSPredicate(format: "n == 0")
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    let clock = ContinuousClock()
    var ids: [NSManagedObjectID] = []
    let time = try clock.measure {
      let result = try context.execute(request) as? NSBatchDeleteResult
      ids = result?.result as? [NSManagedObjectID] ?? []
    }
    #expect(ids.count == 1)
    #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node")) == 0)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
    #expect(previous?.isDeleted == true || previous?.managedObjectContext == nil)
    print("A chain of \(count) was deleted in \(time)")
  }
}
