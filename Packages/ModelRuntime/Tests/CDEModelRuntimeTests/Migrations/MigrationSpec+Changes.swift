import CDEManagedModel

/// Numbers from a seed.
struct MigrationRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension MigrationSpec {
  private static let types: [NSAttributeType] = [
    .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
    .doubleAttributeType, .decimalAttributeType,
  ]

  /// A random model with random objects.
  init(_ random: inout MigrationRandom) {
    self.init()
    for _ in 0..<Int.random(in: 2...4, using: &random) { addEntity(&random) }
    for _ in 0..<Int.random(in: 1...4, using: &random) { addRelation(&random) }
    for id in 1...Int.random(in: 5...25, using: &random) {
      let entity = entities.filter { !$0.isAbstract }.randomElement(using: &random)!.name
      var thing = Thing(entity: entity)
      for attribute in attributes(of: entity) where !attribute.isOptional || Bool.random(using: &random) {
        thing.values[attribute.name] = Int.random(in: 0...99, using: &random)
      }
      thing.known = Set(attributes(of: entity).map(\.name))
      things[id] = thing
    }
    for index in relations.indices { link(index, &random) }
  }

  private mutating func link(_ index: Int, _ random: inout MigrationRandom) {
    let relation = relations[index]
    let from = things.keys.sorted().filter { inherits(things[$0]!.entity, from: relation.from.entity) }
    let to = things.keys.sorted().filter { inherits(things[$0]!.entity, from: relation.to.entity) }
    guard !from.isEmpty, !to.isEmpty else { return }
    for _ in 0..<Int.random(in: 0...(from.count * 2), using: &random) {
      let pair = [from.randomElement(using: &random)!, to.randomElement(using: &random)!]
      let pairs = relations[index].pairs
      if pairs.contains(pair) { continue }
      if !relation.from.isToMany, pairs.contains(where: { $0[0] == pair[0] }) { continue }
      // Members of a to-many relationship without an inverse have one owner.
      let isSingle = relation.hasInverse ? !relation.to.isToMany : relation.from.isToMany
      if isSingle, pairs.contains(where: { $0[1] == pair[1] }) { continue }
      relations[index].pairs.append(pair)
    }
  }

  private mutating func addEntity(_ random: inout MigrationRandom) {
    let parents = entities.map(\.name)
    var entity = Entity(name: newName("E"))
    if Int.random(in: 0..<3, using: &random) == 0 { entity.parent = parents.randomElement(using: &random) }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      entity.attributes.append(newAttribute(&random))
    }
    entities.append(entity)
  }

  private mutating func newAttribute(_ random: inout MigrationRandom) -> Attribute {
    let isOptional = Bool.random(using: &random)
    let name = newName("a")
    changed.insert(name)
    return Attribute(
      name: name, type: Self.types.randomElement(using: &random)!, isOptional: isOptional,
      fallback: isOptional && Bool.random(using: &random) ? nil : Int.random(in: 1...9, using: &random))
  }

  private mutating func addRelation(_ random: inout MigrationRandom) {
    func end(_ spec: inout MigrationSpec) -> End {
      let isToMany = Bool.random(using: &random)
      return End(
        entity: spec.entities.randomElement(using: &random)!.name, name: spec.newName("r"),
        isToMany: isToMany,
        isOrdered: isToMany && Bool.random(using: &random))
    }
    var relation = Relation(from: end(&self), to: end(&self))
    relation.hasInverse = Int.random(in: 0..<4, using: &random) > 0
    relations.append(relation)
  }

  // MARK: The next version

  /// Forgets the former names, and makes some random changes.
  mutating func change(_ random: inout MigrationRandom) {
    changed = []
    lostNames = []
    for index in entities.indices {
      entities[index].former = nil
      for place in entities[index].attributes.indices { entities[index].attributes[place].former = nil }
    }
    for index in relations.indices {
      relations[index].from.former = nil
      relations[index].to.former = nil
    }
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: addEntity(&random)
      case 1: removeEntity(&random)
      case 2: renameEntity(&random)
      case 3: moveEntity(&random)
      case 4: addRelation(&random)
      case 5: changeRelation(&random)
      default: changeAttribute(&random)
      }
    }
  }

  private mutating func removeEntity(_ random: inout MigrationRandom) {
    let free = entities.filter { entity in !entities.contains { $0.parent == entity.name } }
    guard entities.count > 2, let name = free.randomElement(using: &random)?.name else { return }
    relations.removeAll { $0.from.entity == name || $0.to.entity == name }
    let gone = Set(things.keys.filter { things[$0]!.entity == name })
    for id in gone { things[id] = nil }
    for index in relations.indices {
      relations[index].pairs.removeAll { gone.contains($0[0]) || gone.contains($0[1]) }
    }
    entities.removeAll { $0.name == name }
  }

  private mutating func renameEntity(_ random: inout MigrationRandom) {
    let index = entities.indices.randomElement(using: &random)!
    let old = entities[index].name
    // New in this version, or renamed already: the name before is not known to the old model.
    guard entities[index].former == nil else { return }
    let new = newName("E")
    entities[index].name = new
    entities[index].former = old
    for place in entities.indices where entities[place].parent == old { entities[place].parent = new }
    for place in relations.indices {
      if relations[place].from.entity == old { relations[place].from.entity = new }
      if relations[place].to.entity == old { relations[place].to.entity = new }
    }
    for id in things.keys where things[id]!.entity == old { things[id]!.entity = new }
  }

  /// Puts a root below another entity, or a child beside its parent, with what it loses.
  private mutating func moveEntity(_ random: inout MigrationRandom) {
    let index = entities.indices.randomElement(using: &random)!
    let name = entities[index].name
    if let parent = entities[index].parent {
      // Related objects would no longer fit.
      let ancestors = Set(lineage(parent).map(\.name))
      guard
        !relations.contains(where: { ancestors.contains($0.from.entity) || ancestors.contains($0.to.entity) })
      else { return }
      entities[index].parent = nil
      lostNames.formUnion(attributes(of: parent).map(\.name))
      // Keeps the values of one attribute, which it declares itself from now on.
      if let kept = attributes(of: parent).first, kept.former == nil {
        entities[index].attributes.append(kept)
      }
    } else {
      let others = entities.filter { !inherits($0.name, from: name) && $0.former == nil }
      guard let parent = others.randomElement(using: &random)?.name else { return }
      // Both may have an attribute that an entity kept when it left its parent, also under its former name.
      let inherited = Set(attributes(of: parent).map(\.name))
      let own = Set(entities.filter { inherits($0.name, from: name) }.flatMap(\.attributes).map(\.name))
      let isClear =
        inherited.isDisjoint(with: own.union(lostNames)) && inherited.union(own).isDisjoint(with: formerNames)
      guard isClear else { return }
      entities[index].parent = parent
    }
    settle()
  }

  private mutating func changeAttribute(_ random: inout MigrationRandom) {
    let index = entities.indices.randomElement(using: &random)!
    guard let place = entities[index].attributes.indices.randomElement(using: &random),
      Int.random(in: 0..<4, using: &random) > 0
    else {
      entities[index].attributes.append(newAttribute(&random))
      return settle()
    }
    var attribute = entities[index].attributes[place]
    guard changed.insert(attribute.name).inserted else { return }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      attribute.type = Self.types.filter { $0 != attribute.type }.randomElement(using: &random)!
    case 1:
      attribute.isOptional.toggle()
      if attribute.fallback == nil { attribute.fallback = 4 }
    case 2:
      guard attribute.former == nil else { return }
      let old = attribute.name
      attribute.former = old
      formerNames.insert(old)
      attribute.name = newName("a")
      changed.insert(attribute.name)
      for id in things.keys where inherits(things[id]!.entity, from: entities[index].name) {
        things[id]!.values[attribute.name] = things[id]!.values.removeValue(forKey: old)
        things[id]!.known.insert(attribute.name)
      }
    default:
      lostNames.insert(attribute.name)
      entities[index].attributes.remove(at: place)
      return settle()
    }
    entities[index].attributes[place] = attribute
    settle()
  }

  /// Gives objects the values of new attributes, and takes those of removed ones.
  private mutating func settle() {
    for id in things.keys {
      let attributes = attributes(of: things[id]!.entity)
      things[id]!.values = things[id]!.values.filter { name, _ in attributes.contains { $0.name == name } }
      for attribute in attributes where things[id]!.values[attribute.name] == nil {
        if !things[id]!.known.contains(attribute.name) || !attribute.isOptional {
          things[id]!.values[attribute.name] = attribute.fallback
        }
      }
      things[id]!.known = Set(attributes.map(\.name))
    }
  }

  private mutating func changeRelation(_ random: inout MigrationRandom) {
    guard let index = relations.indices.randomElement(using: &random) else { return }
    var relation = relations[index]
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      relations.remove(at: index)
      return
    case 1:
      guard relation.from.former == nil else { return }
      relation.from.former = relation.from.name
      relation.from.name = newName("r")
    case 2:
      relation.from.isOrdered = relation.from.isToMany && !relation.from.isOrdered
    case 3:
      relation.from.isToMany.toggle()
      relation.from.isOrdered = false
      let pairs = relation.pairs
      if !relation.from.isToMany, Set(pairs.map { $0[0] }).count < pairs.count { return }
      if !relation.hasInverse, relation.from.isToMany, Set(pairs.map { $0[1] }).count < pairs.count { return }
    default:
      relation.hasInverse.toggle()
      let pairs = relation.pairs
      let isSingle = relation.hasInverse ? !relation.to.isToMany : relation.from.isToMany
      if isSingle, Set(pairs.map { $0[1] }).count < pairs.count { return }
    }
    relations[index] = relation
  }
}
