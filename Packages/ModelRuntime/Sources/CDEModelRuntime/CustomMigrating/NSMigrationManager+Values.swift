internal import CDEManagedModel
internal import CDEModelFiles
@_spi(CDE) public import CDEPredicates
internal import Foundation

// What the default policy does: objects and relationships by the expressions of a mapping.
extension NSMigrationManager {
  /// Makes the new object of an old one, with the values of the attribute mappings.
  func makeObject(
    of source: NSManagedObject?, in mapping: NSEntityMapping, policy: NSEntityMigrationPolicy
  ) throws {
    guard let entity = destinationEntity(for: mapping) else { return }
    if entity.isAbstract {
      throw problem(
        "The mapping \(mapping.name ?? "") makes objects of the entity \(entity.name ?? ""), which is abstract. Map to one of "
          + "its sub-entities.", mapping)
    }
    let made = NSManagedObject(entity: entity, insertInto: destinationContext)
    if let properties = mapping.attributeMappings {
      for property in properties {
        try setValue(of: property, to: made, source, mapping, policy)
      }
    } else if mapping.mappingType == .copyEntityMappingType, let source {
      for (name, attribute) in entity.attributesByName where source.entity.attributesByName[name] != nil {
        if attribute is NSDerivedAttributeDescription { continue }
        try Self.set(source.value(forKey: name), name, of: made)
      }
    }
    if let source { associate(sourceInstance: source, withDestinationInstance: made, for: mapping) }
  }

  /// Sets the relationships of a new object to the values of the relationship mappings.
  func relate(
    _ made: NSManagedObject, in mapping: NSEntityMapping, policy: NSEntityMigrationPolicy
  ) throws {
    let source = sourceInstances(
      forEntityMappingName: mapping.name ?? "", destinationInstances: [made]
    ).first
    if let properties = mapping.relationshipMappings {
      for property in properties { try setValue(of: property, to: made, source, mapping, policy) }
    } else if mapping.mappingType == .copyEntityMappingType, let source {
      for (name, relationship) in made.entity.relationshipsByName
      where source.entity.relationshipsByName[name] != nil {
        let former = Self.objects(try PredicateValue(source.value(forKey: name)))
        try made.setMigrated(destinations(of: former, for: relationship), name)
      }
    }
  }

  private func setValue(
    of property: NSPropertyMapping, to made: NSManagedObject, _ source: NSManagedObject?,
    _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) throws {
    guard let expression = property.valueExpression, let name = property.name else { return }
    currentPropertyMapping = property
    defer { currentPropertyMapping = nil }
    let value: Any?
    do {
      value = try self.value(of: expression, source, made, property, mapping, policy)
    } catch let error as PredicateTreeError {
      throw ManagedObjectError(
        .migrationPolicy,
        "The value of \(made.entity.name ?? "").\(name) can't be computed in the mapping \(mapping.name ?? ""): "
          + "\(error.message). Correct the expression \(expression).", cause: error, entity: made.entity.name,
        property: name)
    }
    try Self.set(value, name, of: made)
  }

  /// Sets a value, but not nil where a value is required and there is a default, as in a lightweight migration.
  private static func set(_ value: Any?, _ name: String, of made: NSManagedObject) throws {
    if value == nil || value is NSNull, let attribute = made.entity.attributesByName[name],
      !attribute.isOptional, attribute.defaultValue != nil
    {
      return
    }
    try made.setMigrated(value, name)
  }

  /// The value of an old attribute. A number is rounded where the new attribute's type has no equal one, as in a lightweight migration.
  private static func nearest(_ value: Any?, _ name: String?, of made: NSManagedObject) -> Any? {
    guard let number = value as? NSNumber, let type = name.flatMap({ made.entity.attributesByName[$0] })
    else { return value }
    return MigratedNumber(number).nearest(of: type.attributeType)
  }

  private func value(
    of expression: TreeExpression, _ source: NSManagedObject?, _ made: NSManagedObject,
    _ property: NSPropertyMapping, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) throws -> Any? {
    let tree = try expression.expressionTree()
    // Most expressions name one property. Its value need not become a predicate's, which has fewer types.
    if case .variableKeyPath(NSMigrationSourceObjectKey, let path) = tree, path.count == 1, let source,
      source.entity.attributesByName[path[0]] != nil
    {
      return Self.nearest(source.value(forKey: path[0]), property.name, of: made)
    }
    var variables = try self.variables(mapping, policy)
    variables[NSMigrationPropertyMappingKey] = try PredicateValue(property)
    variables[NSMigrationDestinationObjectKey] = .object(made)
    variables[NSMigrationSourceObjectKey] = source.map { .object($0) } ?? .null
    // Files of Xcode's name the old object so, too.
    variables["sourceObject"] = variables[NSMigrationSourceObjectKey]
    let result =
      if let source {
        try tree.evaluate(with: source, variables: variables)
      } else {
        try tree.evaluate(with: [String: Any](), variables: variables)
      }
    return result.plainValue
  }

  /// The variables that are the same for all objects of a mapping. Kept for the next call, because they are looked at by
  /// reflection.
  private func variables(
    _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) throws -> [String: PredicateValue] {
    if let known = commonVariables, known.mapping === mapping, known.policy === policy { return known.values }
    let values = [
      NSMigrationManagerKey: try PredicateValue(self), NSMigrationEntityPolicyKey: try PredicateValue(policy),
      NSMigrationEntityMappingKey: try PredicateValue(mapping),
    ]
    commonVariables = (mapping, policy, values)
    return values
  }

  /// The old objects of a mapping.
  ///
  /// - Throws: ``ManagedObjectError`` if the source expression gives something else.
  func sources(of mapping: NSEntityMapping, policy: NSEntityMigrationPolicy) throws -> [NSManagedObject] {
    guard let name = mapping.sourceEntityName else { return [] }
    guard let expression = mapping.sourceExpression else {
      return try sourceContext.fetch(request(entityName: name, format: "TRUEPREDICATE"))
    }
    let value: Any?
    do {
      value = try expression.expressionTree().evaluate(
        with: [String: Any](), variables: try variables(mapping, policy)
      ).plainValue
    } catch let error as PredicateTreeError {
      throw ManagedObjectError(
        .migrationPolicy,
        "The source expression of the mapping \(mapping.name ?? "") can't be computed: \(error.message). Correct the "
          + "expression \(expression).", cause: error, entity: name)
    }
    if let request = value as? NSFetchRequest<NSManagedObject> { return try sourceContext.fetch(request) }
    if value == nil { return [] }
    if let objects = value as? [NSManagedObject],
      objects.allSatisfy({ $0.managedObjectContext === sourceContext })
    {
      return objects
    }
    throw problem(
      "The source expression of the mapping \(mapping.name ?? "") gives neither a fetch request nor objects of the old store. Use "
        + "fetchRequestForSourceEntityNamed:predicateString: of $manager.", mapping)
  }

  func problem(_ message: String, _ mapping: NSEntityMapping) -> ManagedObjectError {
    ManagedObjectError(
      .migrationPolicy, message, entity: mapping.destinationEntityName ?? mapping.sourceEntityName)
  }
}

// The functions that generated expressions call.
extension NSMigrationManager: PredicateCallable {
  /// The result of a function that an expression calls on `$manager`: `fetchRequestForSourceEntityNamed:predicateString:`,
  /// `destinationInstancesForEntityMappingNamed:sourceInstances:` or
  /// `destinationInstancesForSourceRelationshipNamed:sourceInstances:`.
  ///
  /// - Throws: ``ManagedObjectError`` for another function, or arguments of other kinds.
  public func predicateValue(calling selector: String, arguments: [PredicateValue]) throws -> PredicateValue {
    let text = arguments.first.flatMap { $0.plainValue as? String }
    guard arguments.count == 2, let text else { throw unknown(selector) }
    switch selector {
    case "fetchRequestForSourceEntityNamed:predicateString:":
      return try PredicateValue(
        request(entityName: text, format: arguments[1].plainValue as? String ?? "TRUEPREDICATE"))
    case "destinationInstancesForEntityMappingNamed:sourceInstances:":
      if mappingModel.entityMappingsByName[text] == nil {
        throw problem(
          "An expression of the mapping \(currentEntityMapping.name ?? "") asks for objects of the mapping \(text), which "
            + "the mapping model lacks. Correct the name.", currentEntityMapping)
      }
      let found = destinationInstances(
        forEntityMappingName: text, sourceInstances: Self.objects(arguments[1]))
      return .collection(found.map { .object($0) })
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
      let relationship = currentPropertyMapping?.name.flatMap {
        destinationEntity(for: currentEntityMapping)?.relationshipsByName[$0]
      }
      let found = destinations(of: Self.objects(arguments[1]), for: relationship)
      return .collection(found.map { .object($0) })
    default: throw unknown(selector)
    }
  }

  private func unknown(_ selector: String) -> ManagedObjectError {
    problem(
      "An expression of the mapping \(currentEntityMapping.name ?? "") calls \(selector) on $manager, which has no such function "
        + "for these arguments. Call a function of the policy: FUNCTION($entityPolicy, \"name:\", $source).",
      currentEntityMapping)
  }

  /// The new objects of old ones that a relationship may hold, whichever mappings made them.
  fileprivate func destinations(
    of objects: [NSManagedObject], for relationship: NSRelationshipDescription?
  ) -> [NSManagedObject] {
    let found = associations.destinations(of: objects)
    guard let target = relationship?.destinationEntity else { return found }
    return found.filter { $0.entity.isKindOf(entity: target) }
  }

  /// A request for the objects of an old entity, without those of its sub-entities, which have mappings of their own.
  fileprivate func request(entityName: String, format: String) throws -> NSFetchRequest<NSManagedObject> {
    guard sourceModel.entitiesByName[entityName] != nil else {
      throw problem(
        "The mapping \(currentEntityMapping.name ?? "") asks for objects of \(entityName), which the old model lacks. Correct "
          + "the name.", currentEntityMapping)
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
    request.predicate = NSPredicate(format: format, argumentArray: nil)
    request.includesSubentities = false
    return request
  }

  /// The objects that a value is or contains.
  fileprivate static func objects(_ value: PredicateValue) -> [NSManagedObject] {
    switch value.plainValue {
    case let object as NSManagedObject: [object]
    case let list as [Any]: list.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }
}

extension NSManagedObject {
  /// Sets a property to a computed value.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.invalidValue` where `setValue(_:forKey:)` would end the program.
  func setMigrated(_ value: Any?, _ name: String) throws {
    guard let info = _binding.property(name) else {
      throw ManagedObjectError(
        .migrationPolicy,
        "The entity \(_binding.name) of the new model has no property \(name). Remove its mapping, or correct the name.",
        entity: _binding.name, property: name)
    }
    switch info.kind {
    case .attribute, .composite:
      do throws(UnfitValue) {
        if case .attribute(let type) = info.kind {
          _ = try _PropertyValue(any: value, as: type)
        } else {
          _ = try _PropertyValue(any: value, elements: info.elements)
        }
      } catch {
        throw error.error(for: info, of: _binding.name)
      }
      setValue(value, forKey: name)
    case .toOne: setValue(try related(value, info).first, forKey: name)
    case .toMany(let ordered):
      let objects = try related(value, info)
      setValue(ordered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: name)
    }
  }

  private func related(_ value: Any?, _ info: PropertyInfo) throws -> [NSManagedObject] {
    let members: [Any] =
      switch value {
      case nil, is NSNull: []
      case let list as [Any]: list
      case let set as NSSet: set.allObjects
      case let set as NSOrderedSet: set.array
      case let single?: [single]
      }
    let allowed = _binding.model.entities[info.destination].description
    let objects = try members.map { member -> NSManagedObject in
      if let object = member as? NSManagedObject, object.managedObjectContext === managedObjectContext,
        object.entity.isKindOf(entity: allowed)
      {
        return object
      }
      throw ManagedObjectError(
        .invalidValue,
        "\(_binding.name).\(info.name) can't hold \(Self.kind(of: member)), because it holds new objects of the entity "
          + "\(allowed.name ?? ""). Let the mapping find them with destinationInstances(forEntityMappingName:sourceInstances:).",
        entity: _binding.name, property: info.name)
    }
    if info.kind == .toOne, objects.count > 1 {
      throw ManagedObjectError(
        .invalidValue,
        "\(_binding.name).\(info.name) has a place for one object, and its mapping gives \(objects.count). Correct the expression.",
        entity: _binding.name, property: info.name)
    }
    return objects
  }

  private static func kind(of member: Any) -> String {
    guard let object = member as? NSManagedObject else { return "a value of type \(type(of: member))" }
    return "an object of \(object.entity.name ?? "")"
  }
}
