import CDEManagedModel
import CDEModelRuntime
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Thousands of random changes to objects of every kind of relationship, checked against plain dictionaries.
@Suite("Randomised operations")
struct RandomisedOperationsTests {
  @Test(
    "Objects, relationships and stores agree with a model of dictionaries",
    arguments: 0..<(DrawnSteps.takesAll ? 6 : 3))
  func agreement(_ run: Int) throws {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 7919 &+ 17
    print("Randomised operations, seed \(seed)")
    var test = try RandomRun(seed: seed)
    for _ in 0..<60 { try test.round() }
  }
}

/// What the objects should look like.
struct World: Equatable {
  struct Thing: Equatable {
    var entity: String
    var values: [String: Int] = [:]
    var one: [String: Int] = [:]
    var many: [String: [Int]] = [:]
  }

  var things: [Int: Thing] = [:]

  struct Link {
    var name: String
    var inverse: String?
    var isToMany = false
    var isOrdered = false
    var destination: String
    var cascades = false
  }

  static let links: [String: [Link]] = {
    func link(
      _ name: String, _ inverse: String?, _ destination: String, many: Bool, ordered: Bool = false,
      cascades: Bool = false
    )
      -> Link
    {
      Link(
        name: name, inverse: inverse, isToMany: many, isOrdered: ordered, destination: destination,
        cascades: cascades)
    }
    let item = [
      link("owner", "items", "Owner", many: false), link("ranker", "ranked", "Owner", many: false),
      link("labels", "items", "Label", many: true), link("lists", "entries", "List", many: true),
      link("detail", "item", "Detail", many: false, cascades: true),
      link("twin", "twin", "Item", many: false),
      link("friends", "friends", "Item", many: true), link("parent", "children", "Item", many: false),
      link("children", "parent", "Item", many: true, cascades: true),
      link("favourite", nil, "Label", many: false),
    ]
    return [
      "Item": item,
      "SubItem": item + [link("special", "specials", "Owner", many: false)],
      "Owner": [
        link("items", "owner", "Item", many: true),
        link("ranked", "ranker", "Item", many: true, ordered: true),
        link("specials", "special", "SubItem", many: true),
      ],
      "Label": [link("items", "labels", "Item", many: true)],
      "List": [link("entries", "lists", "Item", many: true, ordered: true)],
      "Detail": [link("item", "detail", "Item", many: false)],
    ]
  }()

  static func link(_ entity: String, _ name: String) -> Link { links[entity]!.first { $0.name == name }! }

  func has(_ id: Int, _ entity: String) -> Bool {
    guard let found = things[id]?.entity else { return false }
    return found == entity || (entity == "Item" && found == "SubItem")
  }

  private mutating func remove(_ id: Int, from owner: Int, _ name: String) {
    things[owner]?.many[name]?.removeAll { $0 == id }
  }

  private mutating func append(_ id: Int, to owner: Int, _ name: String) {
    if things[owner]!.many[name, default: []].contains(id) { return }
    things[owner]!.many[name, default: []].append(id)
  }

  mutating func setOne(_ id: Int, _ name: String, _ destination: Int?) {
    let link = Self.link(things[id]!.entity, name)
    let old = things[id]!.one[name]
    if old == destination { return }
    guard let inverse = link.inverse else {
      things[id]!.one[name] = destination
      return
    }
    if Self.link(link.destination, inverse).isToMany {
      things[id]!.one[name] = destination
      if let old { remove(id, from: old, inverse) }
      if let destination { append(id, to: destination, inverse) }
    } else {
      if let old { things[old]!.one[inverse] = nil }
      things[id]!.one[name] = destination
      if let destination {
        if let rival = things[destination]!.one[inverse], rival != id { things[rival]!.one[name] = nil }
        things[destination]!.one[inverse] = id
      }
    }
  }

  mutating func add(_ id: Int, _ name: String, _ member: Int, at index: Int? = nil) {
    let link = Self.link(things[id]!.entity, name)
    let inverse = Self.link(link.destination, link.inverse!)
    if things[id]!.many[name, default: []].contains(member) {
      if let index, link.isOrdered {
        remove(member, from: id, name)
        things[id]!.many[name]!.insert(member, at: min(index, things[id]!.many[name]!.count))
      }
      return
    }
    if !inverse.isToMany, let old = things[member]!.one[inverse.name] { remove(member, from: old, name) }
    if let index {
      let count = things[id]!.many[name, default: []].count
      things[id]!.many[name, default: []].insert(member, at: min(index, count))
    } else {
      append(member, to: id, name)
    }
    if inverse.isToMany {
      append(id, to: member, inverse.name)
    } else {
      things[member]!.one[inverse.name] = id
    }
  }

  mutating func removeMember(_ id: Int, _ name: String, _ member: Int) {
    let link = Self.link(things[id]!.entity, name)
    guard things[id]!.many[name, default: []].contains(member) else { return }
    remove(member, from: id, name)
    let inverse = Self.link(link.destination, link.inverse!)
    if inverse.isToMany {
      remove(id, from: member, inverse.name)
    } else {
      things[member]!.one[inverse.name] = nil
    }
  }

  mutating func delete(_ id: Int) {
    var doomed: Set<Int> = []
    var queue = [id]
    while let next = queue.popLast() {
      guard doomed.insert(next).inserted else { continue }
      let thing = things[next]!
      for link in Self.links[thing.entity]! where link.cascades {
        if let one = thing.one[link.name] { queue.append(one) }
        queue += thing.many[link.name] ?? []
      }
    }
    for id in doomed { things[id] = nil }
    for id in things.keys {
      for (name, destination) in things[id]!.one where doomed.contains(destination) {
        things[id]!.one[name] = nil
      }
      for name in things[id]!.many.keys { things[id]!.many[name]!.removeAll { doomed.contains($0) } }
    }
  }
}

/// One run: a context that changes things, another that merges, and the dictionaries.
struct RandomRun {
  var generator: SplitMix
  let stack: Stack
  let contexts: [NSManagedObjectContext]
  var committed = World()
  var world = World()
  var nextID = 1
  /// Whether changes use relationships without an inverse.
  var relatesOneWay = true

  init(seed: UInt64) throws {
    generator = SplitMix(state: seed)
    let item = entity("Item", nil, Self.common())
    let subItem = entity("SubItem", nil, [attribute("extra", .integer64AttributeType)])
    item.subentities = [subItem]
    let owner = entity("Owner", nil, Self.common())
    let label = entity("Label", nil, Self.common())
    let list = entity("List", nil, Self.common())
    let detail = entity("Detail", nil, Self.common())
    connect(.one(item, "owner"), .many(owner, "items"))
    connect(.one(item, "ranker"), .many(owner, "ranked", ordered: true))
    connect(.many(item, "labels"), .many(label, "items"))
    connect(.many(item, "lists"), .many(list, "entries", ordered: true))
    connect(.one(item, "detail", rule: .cascadeDeleteRule), .one(detail, "item"))
    connect(.one(item, "parent"), .many(item, "children", rule: .cascadeDeleteRule))
    connect(.one(subItem, "special"), .many(owner, "specials"))
    reflect(.one(item, "twin"))
    reflect(.many(item, "friends"))
    point(.one(item, "favourite"), to: label)
    stack = try Stack(model: model(item, subItem, owner, label, list, detail))
    contexts = [stack.context(), stack.context()]
  }

  private static func common() -> [NSPropertyDescription] {
    [
      attribute("number", .integer64AttributeType, optional: false, default: Int64(0)),
      attribute("value", .integer64AttributeType),
    ]
  }

  // MARK: A round

  mutating func round() throws {
    let index = Int.random(in: 0..<2, using: &generator)
    let (context, other) = (contexts[index], contexts[1 - index])
    world = committed
    var objects = try read(context)
    for _ in 0..<Int.random(in: 1...25, using: &generator) { try change(context, &objects) }
    try check(context, world, "before the save")
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1:
      context.rollback()
      try #require(!context.hasChanges)
      world = committed
      try check(context, committed, "after a rollback")
    case 2:
      context.reset()
      world = committed
      try check(context, committed, "after a reset")
    default:
      let saved = Saved()
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { saved.note = $0 }
      try context.save()
      NotificationCenter.default.removeObserver(token)
      try #require(!context.hasChanges)
      committed = world
      try check(context, committed, "after the save")
      let fresh = stack.context()
      try check(fresh, committed, "in the store")
      if Bool.random(using: &generator) {
        if let note = saved.note { other.mergeChanges(fromContextDidSave: note) }
      } else {
        other.reset()
      }
      try #require(!other.hasChanges)
      try check(other, committed, "after the merge")
    }
  }

  private final class Saved: @unchecked Sendable {
    // Guard: the run keeps to one thread.
    var note: Notification?
  }

  func read(_ context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
    var objects: [Int: NSManagedObject] = [:]
    for name in ["Item", "Owner", "Label", "List", "Detail"] {
      for object in try context.all(name) { objects[number(object)] = object }
    }
    return objects
  }

  func number(_ object: NSManagedObject) -> Int { (object.value(forKey: "number") as? Int) ?? -1 }

  // MARK: Changing

  private mutating func pick(_ entity: String) -> Int? {
    world.things.keys.filter { world.has($0, entity) }.sorted().randomElement(using: &generator)
  }

  mutating func change(_ context: NSManagedObjectContext, _ objects: inout [Int: NSManagedObject])
    throws
  {
    let choice = Int.random(in: 0..<20, using: &generator)
    if world.things.count < 8 || (choice < 4 && world.things.count < 60) {
      let entity = ["Item", "Item", "SubItem", "Owner", "Label", "List", "Detail"].randomElement(
        using: &generator)!
      let id = nextID
      nextID += 1
      world.things[id] = World.Thing(entity: entity, values: ["number": id])
      objects[id] = context.make(entity, ["number": id])
      return
    }
    let id = world.things.keys.sorted().randomElement(using: &generator)!
    let thing = world.things[id]!
    let object = objects[id]!
    switch choice {
    case 0..<6:
      let value = Int.random(in: 0..<1000, using: &generator)
      object.setValue(value, forKey: "value")
      world.things[id]!.values["value"] = value
    case 6:
      context.delete(object)
      world.delete(id)
    case 7 where !object.hasChanges && Bool.random(using: &generator):
      context.refresh(object, mergeChanges: Bool.random(using: &generator))
    default:
      try relate(id, thing, object, objects)
    }
  }

  private mutating func relate(
    _ id: Int, _ thing: World.Thing, _ object: NSManagedObject, _ objects: [Int: NSManagedObject]
  ) throws {
    let link = World.links[thing.entity]!.randomElement(using: &generator)!
    if link.inverse == nil, !relatesOneWay { return }
    guard let other = pick(link.destination) else { return }
    if !link.isToMany {
      let destination = Int.random(in: 0..<4, using: &generator) == 0 ? nil : other
      object.setValue(destination.map { objects[$0]! }, forKey: link.name)
      world.setOne(id, link.name, destination)
      return
    }
    let removes = Int.random(in: 0..<3, using: &generator) == 0
    if link.isOrdered {
      let proxy = object.mutableOrderedSetValue(forKey: link.name)
      if removes {
        proxy.remove(objects[other]!)
        world.removeMember(id, link.name, other)
      } else if Bool.random(using: &generator) {
        proxy.add(objects[other]!)
        world.add(id, link.name, other)
      } else if !(thing.many[link.name] ?? []).contains(other) {
        let index = Int.random(in: 0...(thing.many[link.name]?.count ?? 0), using: &generator)
        proxy.insert(objects[other]!, at: index)
        world.add(id, link.name, other, at: index)
      }
    } else {
      let proxy = object.mutableSetValue(forKey: link.name)
      if removes {
        proxy.remove(objects[other]!)
        world.removeMember(id, link.name, other)
      } else {
        proxy.add(objects[other]!)
        world.add(id, link.name, other)
      }
    }
  }

  // MARK: Checking

  func check(_ context: NSManagedObjectContext, _ expected: World, _ when: String) throws {
    var found = World()
    for object in try read(context).values { found.things[number(object)] = describe(object) }
    try #require(found.things.keys.sorted() == expected.things.keys.sorted(), "\(when): objects")
    for (id, thing) in expected.things.sorted(by: { $0.key < $1.key }) {
      let seen = found.things[id]!
      try #require(seen.entity == thing.entity && seen.values == thing.values, "\(when): values of \(id)")
      for link in World.links[thing.entity]! {
        let name = "\(when): \(thing.entity) \(id).\(link.name)"
        if !link.isToMany {
          try #require(seen.one[link.name] == thing.one[link.name], "\(name)")
          continue
        }
        let (have, want) = (seen.many[link.name] ?? [], thing.many[link.name] ?? [])
        try #require(
          link.isOrdered ? have == want : have.sorted() == want.sorted(), "\(name): \(have) for \(want)")
      }
    }
  }

  private func describe(_ object: NSManagedObject) -> World.Thing {
    var thing = World.Thing(entity: object.entity.name!)
    for key in ["number", "value"] { thing.values[key] = object.value(forKey: key) as? Int }
    for link in World.links[thing.entity]! {
      if !link.isToMany {
        // A one-way reference may point at an object that is deleted.
        thing.one[link.name] = object.one(link.name).flatMap { other in
          let number = number(other)
          return other.isDeleted ? nil : number
        }
      } else if link.isOrdered {
        thing.many[link.name] = object.list(link.name).map(number)
      } else {
        thing.many[link.name] = object.set(link.name).map(number)
      }
    }
    return thing
  }
}
