internal import CDEManagedModel
public import CDEModelRuntime
internal import Foundation

/// The objects that trees were made into. They belong to their context, as all objects do.
public nonisolated struct MadeObjects {
  /// The objects of the trees given, in their order.
  public let roots: [NSManagedObject]
  private let named: [String: NSManagedObject]

  init(roots: [NSManagedObject], named: [String: NSManagedObject]) {
    self.roots = roots
    self.named = named
  }

  /// The object that a tree gave a name.
  public subscript(name: String) -> NSManagedObject? { named[name] }

  /// The object that a tree gave a name, as its class.
  ///
  /// - Throws: ``TestSupportError``: `.unresolvedReference` when no object has the name, `.wrongType` when it is
  ///   of another class.
  public func object<Model: NSManagedObject>(_ name: String, as type: Model.Type = Model.self) throws -> Model
  {
    guard let object = named[name] else {
      throw TestSupportError(
        .unresolvedReference, "No object has the name \"\(name)\". Named are: \(names(named.keys)).")
    }
    guard let model = object as? Model else {
      throw TestSupportError(
        .wrongType, "The object \"\(name)\" is of the class \(Swift.type(of: object)), not \(type).")
    }
    return model
  }
}

extension Sequence where Element == ObjectTree {
  /// Makes all objects, their values and relationships, or none.
  ///
  /// Nothing is saved. Names hold for all the trees together. On the context's own isolation, as everything
  /// that concerns its objects.
  ///
  /// - Throws: ``TestSupportError`` with the place of the mistake: `.unknownEntity`, `.unknownProperty`,
  ///   `.wrongType`, `.unresolvedReference`, `.duplicateName`. No object has been made then.
  @discardableResult
  public func make(in context: NSManagedObjectContext) throws -> MadeObjects {
    var maker = try TreeMaker(context)
    for (index, tree) in enumerated() { try maker.add(tree, root: index) }
    return try maker.make()
  }
}

extension ObjectTree {
  /// Makes the object and those inside it, or none; see ``Swift/Sequence/make(in:)``.
  @discardableResult
  public func make(in context: NSManagedObjectContext) throws -> MadeObjects {
    try CollectionOfOne(self).make(in: context)
  }
}

private func names(_ names: some Sequence<String>) -> String {
  let sorted = names.sorted()
  return sorted.isEmpty ? "none" : sorted.joined(separator: ", ")
}

/// Makes objects of trees: lists them, checks everything, and only then makes the first.
private struct TreeMaker {
  private struct Node {
    let tree: ObjectTree
    let entity: NSEntityDescription
    let place: String
    var attributes: [(key: String, value: Any?)] = []
    var relationships: [(key: String, isToMany: Bool, targets: [Int])] = []
  }

  private let context: NSManagedObjectContext
  private let entities: [String: NSEntityDescription]
  private var nodes: [Node] = []
  private var roots: [Int] = []
  private var named: [String: Int] = [:]
  /// What relationships say, to be looked at when all names are known.
  private var pending:
    [(node: Int, relationship: NSRelationshipDescription, value: TreeValue, place: String)] = []
  /// Objects inside relationships, by the place they stand at.
  private var inside: [String: Int] = [:]

  init(_ context: NSManagedObjectContext) throws {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else {
      throw TestSupportError(
        .unknownEntity, "The context has no model. Take it from a container, or set its coordinator.")
    }
    self.context = context
    entities = model.entitiesByName
  }

  mutating func add(_ tree: ObjectTree, root index: Int) throws {
    let label = tree.name.map { " \"\($0)\"" } ?? "[\(index)]"
    let place = (tree.entity ?? "(no entity)") + label
    guard let name = tree.entity else {
      throw TestSupportError(
        .unknownEntity, "\(place) does not say its entity, and no relationship leads to it that would.",
        place: place)
    }
    roots.append(try add(tree, try entity(name, place), place))
  }

  private func entity(_ name: String, _ place: String) throws -> NSEntityDescription {
    guard let entity = entities[name] else {
      throw TestSupportError(
        .unknownEntity, "\(place): the model has no entity \"\(name)\". It has: \(names(entities.keys)).",
        place: place)
    }
    guard !entity.isAbstract else {
      throw TestSupportError(
        .unknownEntity,
        "\(place): \(name) is abstract. Name one of its sub-entities: "
          + names(entity.subentitiesByName.keys) + ".", place: place)
    }
    return entity
  }

  private mutating func add(_ tree: ObjectTree, _ entity: NSEntityDescription, _ place: String) throws -> Int
  {
    let index = nodes.count
    nodes.append(Node(tree: tree, entity: entity, place: place))
    if let name = tree.name, let other = named.updateValue(index, forKey: name) {
      throw TestSupportError(
        .duplicateName, "\(place) has the name \"\(name)\", which \(nodes[other].place) has already.",
        place: place)
    }
    for (key, value) in tree.values.sorted(by: { $0.key < $1.key }) {
      let place = "\(place).\(key)"
      switch entity.propertiesByName[key] {
      case is NSDerivedAttributeDescription:
        throw TestSupportError(
          .unknownProperty, "\(place) is derived by the store and can't be set.", place: place)
      case let attribute as NSAttributeDescription:
        nodes[index].attributes.append((key, try value.value(for: attribute, at: place)))
      case let relationship as NSRelationshipDescription:
        try addInside(value, relationship, place)
        pending.append((index, relationship, value, place))
      default:
        throw TestSupportError(
          .unknownProperty,
          "\(place): \(entity.name ?? "") has no property \"\(key)\". It has: "
            + names(entity.propertiesByName.keys) + ".", place: place)
      }
    }
    return index
  }

  /// Lists the objects that stand in a relationship.
  private mutating func addInside(
    _ value: TreeValue, _ relationship: NSRelationshipDescription, _ place: String
  ) throws {
    switch value {
    case .object(let tree):
      let entity = try tree.entity.map { try self.entity($0, place) } ?? relationship.destinationEntity
      guard let entity, !entity.isAbstract else {
        throw TestSupportError(
          .unknownEntity,
          "\(place) leads to objects of several entities. Say which by $entity, or ObjectTree(\"Name\", …).",
          place: place)
      }
      inside[place] = try add(tree, entity, place)
    case .list(let values) where relationship.isToMany:
      for (index, value) in values.enumerated() { try addInside(value, relationship, "\(place)[\(index)]") }
    default: break
    }
  }

  /// The objects that a relationship's value stands for.
  private func targets(
    _ value: TreeValue, _ relationship: NSRelationshipDescription, _ place: String
  ) throws -> [Int] {
    switch value {
    case .constant(.null): return []
    case .list(let values) where relationship.isToMany:
      return try values.enumerated().map { try target($1, relationship, "\(place)[\($0)]") }
    case _ where relationship.isToMany: throw value.mismatch(place, "a list of objects and names of objects")
    default: return [try target(value, relationship, place)]
    }
  }

  private func target(
    _ value: TreeValue, _ relationship: NSRelationshipDescription, _ place: String
  ) throws -> Int {
    let target: Int
    if let found = inside[place] {
      target = found
    } else if case .constant(.string(let name)) = value {
      guard let found = named[name] else {
        throw TestSupportError(
          .unresolvedReference,
          "\(place) refers to \"\(name)\", and no object has that name. Named are: \(names(named.keys)).",
          place: place)
      }
      target = found
    } else {
      throw value.mismatch(place, "an object, or the name of one")
    }
    if let destination = relationship.destinationEntity, !nodes[target].entity.isKindOf(entity: destination) {
      throw TestSupportError(
        .wrongType,
        "\(place) takes objects of \(destination.name ?? ""), and \(nodes[target].place) is of "
          + "\(nodes[target].entity.name ?? "").", place: place)
    }
    return target
  }

  mutating func make() throws -> MadeObjects {
    for (node, relationship, value, place) in pending {
      let found = try targets(value, relationship, place)
      nodes[node].relationships.append((relationship.name, relationship.isToMany, found))
    }
    let objects = nodes.map { node in
      NSEntityDescription.insertNewObject(forEntityName: node.entity.name ?? "", into: context)
    }
    for (node, object) in zip(nodes, objects) {
      for (key, value) in node.attributes { object.setValue(value, forKey: key) }
    }
    // Both sides of a relationship may say something of it, in whatever order they come: members add up, and a
    // to-one side has the last word.
    for isToMany in [true, false] {
      for (node, object) in zip(nodes, objects) {
        for relationship in node.relationships where relationship.isToMany == isToMany {
          let targets = relationship.targets.map { objects[$0] }
          object.setValue(
            isToMany ? targets + members(of: object, relationship.key, without: targets) : targets.first,
            forKey: relationship.key)
        }
      }
    }
    return MadeObjects(roots: roots.map { objects[$0] }, named: named.mapValues { objects[$0] })
  }

  private func members(
    of object: NSManagedObject, _ key: String, without others: [NSManagedObject]
  ) -> [NSManagedObject] {
    let value = object.value(forKey: key)
    let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
    return members.compactMap { $0 as? NSManagedObject }.filter { !others.contains($0) }
  }
}
