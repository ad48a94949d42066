import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation

/// Two random versions of a model, objects of the first one, and the mapping between them as a plain description.
struct XcodeWorld {
  /// What becomes of an old entity.
  enum Fate: CaseIterable { case kept, renamed, split, removed }

  /// An attribute of a new entity, and what its value is made of.
  struct Attribute {
    var name: String
    var type: String
    /// How Xcode says it: a key path, an expression, or neither.
    var keyPath: String?
    var expression: String?
    var value: (Thing) -> Value
  }

  enum Value: Equatable { case text(String?), number(Double?) }

  struct Entity {
    var name: String
    var texts: [String]
    var numbers: [String]
    var fate: Fate
    var usesPolicy = false
    /// The attributes of the new entity.
    var attributes: [Attribute] = []

    /// The new entity that relationships lead to; nil if the entity is removed.
    var destination: String? {
      switch fate {
      case .kept: name
      case .renamed, .split: "New\(name)"
      case .removed: nil
      }
    }

    /// The mappings: their new entities, and the conditions for old objects.
    var mappings: [(destination: String?, filter: String?)] {
      switch fate {
      case .kept, .renamed: [(destination, nil)]
      case .split: [("Low\(name)", "\(numbers[0]) < 50"), ("High\(name)", "\(numbers[0]) >= 50")]
      case .removed: [(nil, nil)]
      }
    }

    func destination(of thing: Thing) -> String? {
      fate == .split ? "\(thing.numbers[numbers[0]]! < 50 ? "Low" : "High")\(name)" : destination
    }
  }

  struct End {
    var entity: Int
    var name: String
    var newName: String
    var isToMany: Bool
    var isOrdered = false
  }

  /// Pairs of objects of the first and the second end.
  struct Relation {
    var from: End
    var to: End
    var pairs: [[Int]] = []
  }

  struct Thing {
    var entity: Int
    var texts: [String: String] = [:]
    var numbers: [String: Int] = [:]
    /// The text of the object at the end of a to-one relationship, by the relationship's name.
    var neighbours: [String: String] = [:]
    var counts: [String: Int] = [:]
  }

  private(set) var entities: [Entity] = []
  private(set) var relations: [Relation] = []
  private(set) var things: [Int: Thing] = [:]
  private(set) var added: [String] = []

  init(_ random: inout MigrationRandom) {
    for index in 0..<Int.random(in: 2...4, using: &random) {
      let entity = Entity(
        name: "E\(["q", "b", "x", "e"][index])", texts: names("t", 1...2, &random),
        numbers: names("n", 1...3, &random),
        fate: index == 0 ? .kept : Fate.allCases.randomElement(using: &random)!,
        usesPolicy: Bool.random(using: &random))
      entities.append(entity)
    }
    for index in 0..<Int.random(in: 1...4, using: &random) { addRelation(index, &random) }
    for id in 1...Int.random(in: 3...20, using: &random) {
      let place = entities.indices.randomElement(using: &random)!
      var thing = Thing(entity: place)
      for name in entities[place].texts where Int.random(in: 0..<4, using: &random) > 0 {
        thing.texts[name] = "\(name) of \(id)"
      }
      for (order, name) in entities[place].numbers.enumerated()
      where order == 0 || Bool.random(using: &random) {
        thing.numbers[name] = Int.random(in: 0...99, using: &random)
      }
      things[id] = thing
    }
    for index in relations.indices { link(index, &random) }
    for index in entities.indices { addAttributes(index, &random) }
    added = names("Added", 0...2, &random)
  }

  private func names(
    _ kind: String, _ range: ClosedRange<Int>, _ random: inout MigrationRandom
  ) -> [String] {
    (0..<Int.random(in: range, using: &random)).map { "\(kind)\($0)" }
  }

  private mutating func addRelation(_ index: Int, _ random: inout MigrationRandom) {
    func end(_ kind: String, _ world: XcodeWorld) -> End {
      let isToMany = Bool.random(using: &random)
      let name = "\(kind)\(index)"
      return End(
        entity: world.entities.indices.randomElement(using: &random)!, name: name,
        newName: Bool.random(using: &random) ? name : "new\(name)", isToMany: isToMany,
        isOrdered: isToMany && Bool.random(using: &random))
    }
    relations.append(Relation(from: end("r", self), to: end("s", self)))
  }

  private mutating func link(_ index: Int, _ random: inout MigrationRandom) {
    let relation = relations[index]
    func ids(_ end: End) -> [Int] { things.keys.sorted().filter { things[$0]!.entity == end.entity } }
    let (from, to) = (ids(relation.from), ids(relation.to))
    guard !from.isEmpty, !to.isEmpty else { return }
    for _ in 0..<Int.random(in: 0...(from.count * 2), using: &random) {
      let pair = [from.randomElement(using: &random)!, to.randomElement(using: &random)!]
      let pairs = relations[index].pairs
      if pairs.contains(pair) || !relation.from.isToMany && pairs.contains(where: { $0[0] == pair[0] })
        || !relation.to.isToMany && pairs.contains(where: { $0[1] == pair[1] })
      {
        continue
      }
      relations[index].pairs.append(pair)
    }
    for pair in relations[index].pairs {
      for (end, id, other) in [(relation.from, pair[0], pair[1]), (relation.to, pair[1], pair[0])] {
        things[id]!.counts[end.name, default: 0] += 1
        let first = entities[things[other]!.entity].texts[0]
        if !end.isToMany { things[id]!.neighbours[end.name] = things[other]!.texts[first] }
      }
    }
  }

  /// The ends of an entity, with the entity at the other end.
  func ends(of entity: Int) -> [(end: End, other: Int)] {
    relations.flatMap { relation in
      [(relation.from, relation.to.entity), (relation.to, relation.from.entity)].filter {
        $0.0.entity == entity
      }
    }
  }

  private mutating func addAttributes(_ index: Int, _ random: inout MigrationRandom) {
    let entity = entities[index]
    var result: [Attribute] = []
    func add(
      _ name: String, _ type: String, keyPath: String? = nil, expression: String? = nil,
      _ value: @escaping (Thing) -> Value
    ) {
      result.append(
        Attribute(name: name, type: type, keyPath: keyPath, expression: expression, value: value))
    }
    for name in entity.texts {
      switch Int.random(in: 0..<(entity.usesPolicy ? 5 : 4), using: &random) {
      case 0: add(name, "String") { .text($0.texts[name]) }
      case 1: add("new\(name)", "String", keyPath: "$source.\(name)") { .text($0.texts[name]) }
      case 2: add("new\(name)", "String", expression: "$source.\(name)") { .text($0.texts[name]) }
      case 3:
        add(name, "String", expression: "uppercase:($source.\(name))") {
          .text($0.texts[name]?.uppercased())
        }
      default:
        add(name, "String", expression: "FUNCTION($entityPolicy, 'shout:', $source.\(name))") {
          .text($0.texts[name].map { "\($0)!" })
        }
      }
    }
    for name in entity.numbers {
      let read: @Sendable (Thing) -> Double? = { $0.numbers[name].map { Double($0) } }
      switch Int.random(in: 0..<(entity.usesPolicy ? 6 : 5), using: &random) {
      case 0: add(name, "Integer 64") { .number(read($0)) }
      case 1:
        add(name, ["Double", "Float", "Integer 16"].randomElement(using: &random)!) { .number(read($0)) }
      case 2: add("new\(name)", "Integer 32", keyPath: "$source.\(name)") { .number(read($0)) }
      case 3:
        add(name, "Integer 64", expression: "$source.\(name) * 2 + 1") {
          .number(read($0).map { $0 * 2 + 1 })
        }
      case 4: add(name, "Integer 64", expression: "7") { _ in .number(7) }
      default:
        add(name, "Double", expression: "FUNCTION($entityPolicy, 'half:', $source.\(name))") {
          .number(read($0).map { $0 / 2 })
        }
      }
    }
    for (end, other) in ends(of: index) where Bool.random(using: &random) {
      if end.isToMany {
        add("count\(end.name)", "Integer 32", expression: "$source.\(end.name).@count") {
          .number(Double($0.counts[end.name] ?? 0))
        }
      } else {
        let path = "$source.\(end.name).\(entities[other].texts[0])"
        add("text\(end.name)", "String", keyPath: path) { .text($0.neighbours[end.name]) }
      }
    }
    add("fixed", "String", expression: "'made'") { _ in .text("made") }
    add("unmapped", "String") { _ in .text("default") }
    if entity.usesPolicy { add("mark", "String") { _ in .text("policy") } }
    entities[index].attributes = result
  }
}

// What the stores hold.
extension XcodeWorld {
  /// Makes the objects of the first version.
  func fill(_ context: NSManagedObjectContext) {
    var made: [Int: NSManagedObject] = [:]
    for (id, thing) in things.sorted(by: { $0.key < $1.key }) {
      var values: [String: Any] = ["id": id]
      values.merge(thing.texts) { $1 }
      values.merge(thing.numbers) { $1 }
      made[id] = context.make(entities[thing.entity].name, values)
    }
    for relation in relations {
      let end = relation.from
      for (id, pairs) in Dictionary(grouping: relation.pairs, by: { $0[0] }) {
        let members = pairs.map { made[$0[1]]! }
        let value: Any =
          !end.isToMany
          ? members[0] : end.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
        made[id]!.setValue(value, forKey: end.name)
      }
    }
  }

  /// The members of each ordered relationship as the old store has them, because one end alone does not decide the order of the other.
  func orders(_ context: NSManagedObjectContext) throws -> [String: [Int]] {
    var result: [String: [Int]] = [:]
    for entity in entities.indices {
      for object in try context.all(entities[entity].name) {
        for (end, _) in ends(of: entity) where end.isOrdered {
          result["\(Self.id(object)) \(end.name)"] = object.list(end.name).map(Self.id)
        }
      }
    }
    return result
  }

  /// The objects of the second version by their numbers: the entity, the values and the related objects.
  func expected(orders: [String: [Int]]) -> [Int: [String: String]] {
    var result: [Int: [String: String]] = [:]
    func stays(_ id: Int) -> Bool { entities[things[id]!.entity].destination != nil }
    for (id, thing) in things {
      let entity = entities[thing.entity]
      guard let destination = entity.destination(of: thing) else { continue }
      var facts = ["entity": destination]
      for attribute in entity.attributes { facts[attribute.name] = Self.text(attribute.value(thing)) }
      for relation in relations {
        for (end, own, other) in [(relation.from, 0, 1), (relation.to, 1, 0)]
        where end.entity == thing.entity
          && entities[own == 0 ? relation.to.entity : relation.from.entity]
            .destination != nil
        {
          let members = relation.pairs.filter { $0[own] == id }.map { $0[other] }.filter(stays)
          facts[end.newName] =
            (end.isOrdered ? (orders["\(id) \(end.name)"] ?? []).filter(stays) : members.sorted()).description
        }
      }
      result[id] = facts
    }
    return result
  }

  /// The objects of a store of the second version, in the form of ``expected(orders:)``.
  func found(_ context: NSManagedObjectContext) throws -> [Int: [String: String]] {
    var result: [Int: [String: String]] = [:]
    for (index, entity) in entities.enumerated() {
      guard let root = entity.destination else { continue }
      for object in try context.all(root) {
        var facts = ["entity": object.entity.name ?? ""]
        for attribute in entity.attributes {
          let value = object.value(forKey: attribute.name)
          facts[attribute.name] =
            attribute.type == "String"
            ? Self.text(.text(value as? String)) : Self.text(.number((value as? NSNumber)?.doubleValue))
        }
        for (end, other) in ends(of: index) where entities[other].destination != nil {
          let ids =
            end.isOrdered
            ? object.list(end.newName).map(Self.id)
            : (end.isToMany ? Array(object.set(end.newName)) : [object.one(end.newName)].compactMap(\.self))
              .map(Self.id).sorted()
          facts[end.newName] = ids.description
        }
        result[Self.id(object)] = facts
      }
    }
    return result
  }

  private static func id(_ object: NSManagedObject) -> Int { object.value(forKey: "id") as? Int ?? -1 }

  private static func text(_ value: Value) -> String {
    switch value {
    case .text(let text): text ?? "nil"
    case .number(let number): number.map { "\($0)" } ?? "nil"
    }
  }
}
