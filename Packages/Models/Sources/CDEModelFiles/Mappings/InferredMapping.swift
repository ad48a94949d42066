@_spi(CDE) public import CDEManagedModel
internal import CDEStore

/// How two versions of a model belong together, as Core Data infers it: by names and renaming identifiers.
///
/// A value that is made from the two models alone. Neither is changed or frozen.
@_spi(CDE) public struct InferredMapping: Hashable, Sendable {
  /// A property of the new model, and the one of the old model whose values it has.
  public struct Property: Hashable, Sendable {
    public let name: String
    /// Nil for a new property.
    public let source: String?
    /// The leaves of a composite attribute that have values of old ones; empty for other properties.
    public var elements: [Element] = []
  }

  /// A leaf of a composite attribute and the old leaf whose values it has, by the names on the ways to them.
  public struct Element: Hashable, Sendable {
    public let path: [String]
    public let source: [String]
  }

  /// An entity of either model.
  public struct Entity: Hashable, Sendable {
    /// Nil for a new entity.
    public let source: String?
    /// Nil for a removed entity.
    public let destination: String?
    /// The stored properties of the new entity, inherited ones included, by name.
    public let properties: [Property]
  }

  /// The entities of the new model by name, then the removed ones.
  public let entities: [Entity]
  /// The differences, in the order of the entities.
  public let changes: [ModelChange]

  /// Compares two versions of a model.
  ///
  /// - Parameter dropsUnfit: whether a property whose values have no place in the new one of its name counts as removed, and
  ///   the new one as added. Otherwise that is an error.
  /// - Throws: ``MappingInferenceError`` for the first difference that needs more than names.
  public init(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, dropsUnfit: Bool = false
  ) throws(MappingInferenceError) {
    var pairs = try EntityPairs(source, destination)
    pairs.dropsUnfit = dropsUnfit
    var entities: [Entity] = []
    for new in pairs.destinations {
      guard let old = pairs.source(of: new) else {
        let names = Self.stored(new).map { Property(name: $0.name, source: nil) }
        entities.append(Entity(source: nil, destination: new.name, properties: names))
        continue
      }
      entities.append(
        Entity(source: old.name, destination: new.name, properties: try pairs.properties(of: new, from: old)))
    }
    for old in pairs.removed {
      entities.append(Entity(source: old.name, destination: nil, properties: []))
    }
    self.entities = entities
    try pairs.checkEnds(entities)
    changes = ModelComparison(pairs, entities).changes()
  }

  /// The properties that a store has values of, inherited ones included, by name.
  static func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
    entity.propertiesByName.values
      .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
      .sorted { codePointOrder($0.name, $1.name) }
  }
}

/// Which entities and properties of two models are the same.
struct EntityPairs {
  let destinations: [NSEntityDescription]
  /// Whether properties that do not fit are not the same.
  var dropsUnfit = false
  private(set) var removed: [NSEntityDescription] = []
  private let sourceModel: NSManagedObjectModel
  private let destinationModel: NSManagedObjectModel
  private var sources: [String: NSEntityDescription] = [:]
  private var targets: [String: NSEntityDescription] = [:]

  init(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws(MappingInferenceError) {
    sourceModel = source
    destinationModel = destination
    destinations = destination.entities.sorted { codePointOrder($0.name ?? "", $1.name ?? "") }
    let old = source.entities.sorted { codePointOrder($0.name ?? "", $1.name ?? "") }
    let matches = NameMatches(
      destinations.map { .init(name: $0.name ?? "", identifier: $0.renamingIdentifier) },
      among: old.map { .init(name: $0.name ?? "", identifier: $0.renamingIdentifier) })
    for (place, entity) in destinations.enumerated() {
      let name = entity.name ?? ""
      switch matches.results[place] {
      case .none: continue
      case .several:
        throw MappingInferenceError(
          .ambiguousName,
          "The entity \(name) may come from several entities of the old model with the renaming "
            + "identifier \(entity.renamingIdentifier ?? name). Use the name of one of them.", entity: name)
      case .shared(let found, let other):
        throw MappingInferenceError(
          .ambiguousName,
          "The entities \(destinations[other].name ?? "") and \(name) both come from \(old[found].name ?? "") of the "
            + "old model. Give the new one a renaming identifier that the old model does not have.",
          entity: name)
      case .one(let found):
        sources[name] = old[found]
        targets[old[found].name ?? ""] = entity
      }
    }
    removed = old.filter { targets[$0.name ?? ""] == nil }
  }

  func source(of entity: NSEntityDescription) -> NSEntityDescription? { source(named: entity.name ?? "") }

  /// The old entity of a new one with a name.
  func source(named name: String) -> NSEntityDescription? { sources[name] }

  func destination(of entity: NSEntityDescription) -> NSEntityDescription? { targets[entity.name ?? ""] }

  // MARK: Properties

  func properties(
    of new: NSEntityDescription, from old: NSEntityDescription
  ) throws(MappingInferenceError) -> [InferredMapping.Property] {
    let former = InferredMapping.stored(old)
    let properties = InferredMapping.stored(new)
    let matches = NameMatches(
      properties.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
      among: former.map { .init(name: $0.name, identifier: $0.renamingIdentifier) })
    var result: [InferredMapping.Property] = []
    let entity = new.name ?? ""
    for (place, property) in properties.enumerated() {
      var source: String?
      var elements: [InferredMapping.Element] = []
      switch matches.results[place] {
      case .none: break
      case .several:
        throw MappingInferenceError(
          .ambiguousName,
          "\(entity).\(property.name) may come from several properties of the old model with the renaming identifier "
            + "\(property.renamingIdentifier ?? property.name). Use the name of one of them.", entity: entity,
          property: property.name)
      case .shared(let found, let other):
        throw MappingInferenceError(
          .ambiguousName,
          "\(entity).\(properties[other].name) and \(entity).\(property.name) both come from "
            + "\(old.name ?? "").\(former[found].name) of the old model. Give the new one a renaming identifier that "
            + "the old entity does not have.", entity: entity, property: property.name)
      case .one(let found):
        guard try fits(property, former[found], entity, dropsUnfit) else { break }
        source = former[found].name
        elements = ElementPairs.leaves(of: property, from: former[found])
      }
      result.append(.init(name: property.name, source: source, elements: elements))
    }
    return result
  }

  private func fits(
    _ new: NSPropertyDescription, _ old: NSPropertyDescription, _ entity: String, _ dropsUnfit: Bool
  ) throws(MappingInferenceError) -> Bool {
    do { return try fits(new, old, entity) } catch {
      if dropsUnfit { return false }
      throw error
    }
  }

  /// - Returns: false if the value is computed anew, or if none of the related objects stays.
  private func fits(
    _ new: NSPropertyDescription, _ old: NSPropertyDescription, _ entity: String
  ) throws(MappingInferenceError) -> Bool {
    switch (new, old) {
    case (let new as NSAttributeDescription, let old as NSAttributeDescription):
      if let element = ElementPairs.ambiguous(new, old) {
        throw MappingInferenceError(
          .ambiguousName,
          "The element \(element.name) of \(entity).\(new.name) may come from several elements of the old model, or comes from the same "
            + "one as another element. Give it a renaming identifier that one old element has and no other new one.",
          entity: entity, property: new.name)
      }
      let misfit = AttributeConversion.misfit(old, new, alwaysFitting: dropsUnfit)
      if new is NSDerivedAttributeDescription { return misfit == nil }
      if let misfit {
        let what = misfit.path.isEmpty ? "an attribute" : "an element"
        throw MappingInferenceError(
          .incompatibleType,
          "\(entity).\(new.name)\(misfit.path) was of type \(AttributeConversion.name(misfit.old)) and is of type "
            + "\(AttributeConversion.name(misfit.new)), whose values are of another kind. Add \(what) under a new name with a renaming "
            + "identifier of its own, and set its values in code.", entity: entity, property: new.name)
      }
      return true
    case (let new as NSRelationshipDescription, let old as NSRelationshipDescription):
      guard let former = old.destinationEntity, let destination = new.destinationEntity else { return false }
      // Without its objects the old relationship is lost in any case, and the new one leads to new ones.
      if isRemoved(former) { return false }
      guard leadsToSame(former, destination) else {
        throw MappingInferenceError(
          .incompatibleDestination,
          "\(entity).\(new.name) led to \(old.destinationEntity?.name ?? "nothing") and leads to "
            + "\(new.destinationEntity?.name ?? "nothing"), whose objects are others. Give the new relationship a renaming "
            + "identifier of its own, or the entity \(new.destinationEntity?.name ?? "") the one of the old entity.",
          entity: entity, property: new.name)
      }
      return true
    default:
      throw MappingInferenceError(
        .incompatibleKind,
        "\(entity).\(new.name) was \(old is NSRelationshipDescription ? "a relationship and is an attribute" : "an attribute and is a relationship")"
          + ". Give the new property a renaming identifier that the old entity does not have.",
        entity: entity,
        property: new.name)
    }
  }

  /// Whether an old entity is removed with all of its sub-entities.
  private func isRemoved(_ entity: NSEntityDescription) -> Bool {
    destination(of: entity) == nil && entity.subentities.allSatisfy(isRemoved)
  }

  /// Whether objects of the old destination can be objects of the new one.
  private func leadsToSame(_ old: NSEntityDescription, _ new: NSEntityDescription) -> Bool {
    var open = [old]
    while let entity = open.popLast() {
      if let target = destination(of: entity), target.isKindOf(entity: new) || new.isKindOf(entity: target) {
        return true
      }
      open += entity.subentities
    }
    return false
  }

  /// Both ends of a new relationship have to come from one relationship.
  func checkEnds(_ entities: [InferredMapping.Entity]) throws(MappingInferenceError) {
    var sourceNames: [String: [String: String]] = [:]
    for entity in entities {
      guard let name = entity.destination else { continue }
      sourceNames[name] = Dictionary(
        entity.properties.compactMap { property in property.source.map { (property.name, $0) } }
      ) { first, _ in first }
    }
    func former(_ relationship: NSRelationshipDescription, _ entity: NSEntityDescription?)
      -> NSRelationshipDescription?
    {
      guard let entity, let old = source(of: entity),
        let name = sourceNames[entity.name ?? ""]?[relationship.name]
      else { return nil }
      return old.propertiesByName[name] as? NSRelationshipDescription
    }
    for entity in destinations {
      for case let relationship as NSRelationshipDescription in InferredMapping.stored(entity) {
        guard let inverse = relationship.inverseRelationship,
          relationship.isToMany || inverse.inverseRelationship === relationship,
          let old = former(relationship, entity),
          let oldInverse = former(inverse, inverse.entity), oldInverse !== old.inverseRelationship
        else { continue }
        throw MappingInferenceError(
          .divergedEnds,
          "\(entity.name ?? "").\(relationship.name) and its inverse \(inverse.name) come from two relationships of the "
            + "old model: \(old.name) and \(oldInverse.name), which were not inverse. Give one of the ends a renaming "
            + "identifier of its own.", entity: entity.name ?? "", property: relationship.name)
      }
    }
  }
}
