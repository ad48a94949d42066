public import Foundation
@_spi(CDE) internal import CDEExecutors

/// Builds models from the schemas of model classes, without a model file.
@_spi(CDE) public enum RuntimeModelBuilder {
  /// A class and its schema.
  public typealias Source = (type: NSObject.Type, schema: CDRuntimeEntitySchema)

  // Models are kept until the process ends, like the classes from which they are made.
  private static let models = Lock<[Key: NSManagedObjectModel]>([:])

  private struct Key: Hashable {
    let types: [ObjectIdentifier]
    let layout: CDRuntimeCompositionLayout
    /// A class that is used before a model is loaded has a model without its relationships.
    let hasRelationships: Bool
  }

  /// The model of these classes, with one entity for each, in order. The same classes in the same order give
  /// the same object. May be called from any thread.
  ///
  /// - Parameters:
  ///   - compositions: How attributes of composition storage are stored.
  ///   - predicate: Makes a predicate of a format string and its arguments. Without it, a schema's
  ///     validations are omitted.
  /// - Throws: ``CDRuntimeModelBuilderError``.
  public static func makeModel(
    schemas: [Source], compositions: CDRuntimeCompositionLayout = .dictionary,
    predicate: ((String, [any Sendable]) -> NSPredicate)? = nil
  ) throws -> NSManagedObjectModel {
    let key = Key(
      types: schemas.map { ObjectIdentifier($0.type) }, layout: compositions,
      hasRelationships: schemas.contains { !$0.schema.relationships.isEmpty })
    return try models.withLock { models in
      if let known = models[key] { return known }
      let model = try build(schemas, compositions)
      if let predicate { addValidations(schemas, to: model, predicate) }
      models[key] = model
      return model
    }
  }

  /// A new model of these classes.
  static func build(
    _ sources: [Source], _ compositions: CDRuntimeCompositionLayout = .dictionary
  ) throws -> NSManagedObjectModel {
    guard !sources.isEmpty else { throw CDRuntimeModelBuilderError.emptyInput }
    var seen: Set<String> = []
    for source in sources where !seen.insert(source.schema.entityName).inserted {
      throw CDRuntimeModelBuilderError.duplicateEntityName(source.schema.entityName)
    }
    let entities = try sources.map { try makeEntity($0, compositions) }
    let parents = try sources.map { source in
      try source.schema.parentEntityName.map { try index(ofParent: $0, of: source, in: sources) }
    }
    var relationships = [[String: NSRelationshipDescription]](repeating: [:], count: sources.count)
    var targets: [[Int]] = []
    for (index, source) in sources.enumerated() {
      targets.append([])
      for schema in source.schema.relationships {
        let target = try resolve(schema, of: source.schema.entityName, in: sources)
        let relationship = makeRelationship(schema)
        relationship.destinationEntity = entities[target]
        relationships[index][schema.persistentName] = relationship
        targets[index].append(target)
        entities[index].properties.append(relationship)
      }
    }
    for (index, source) in sources.enumerated() {
      for (schema, target) in zip(source.schema.relationships, targets[index]) {
        // A relationship that the target inherits belongs to its parent.
        let owners = sequence(first: target) { parents[$0] }
        guard let inverse = owners.lazy.compactMap({ relationships[$0][schema.inverseName] }).first else {
          throw CDRuntimeModelBuilderError.missingInverse(
            entityName: source.schema.entityName, relationshipName: schema.persistentName,
            targetEntityName: sources[target].schema.entityName)
        }
        relationships[index][schema.persistentName]!.inverseRelationship = inverse
      }
    }
    // This is the last step, because afterwards the properties of an entity include those of its parents.
    for (child, parent) in parents.enumerated() {
      if let parent { entities[parent].subentities.append(entities[child]) }
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func index(
    ofParent name: String, of source: Source, in sources: [Source]
  ) throws -> Int {
    if let found = sources.firstIndex(where: { $0.schema.entityName == name }) { return found }
    throw CDRuntimeModelBuilderError.unknownParent(
      entityName: source.schema.entityName, parentEntityName: name)
  }

  private static func makeEntity(
    _ source: Source, _ compositions: CDRuntimeCompositionLayout
  ) throws -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = source.schema.entityName
    entity.managedObjectClassName = ManagedClassRegistry.register(source.type)
    ManagedClassRegistry.register(source.type, as: source.schema.managedObjectClassName)
    entity.isAbstract = source.schema.isAbstract
    entity.properties = try source.schema.attributes.map {
      try makeAttribute($0, of: source.schema.entityName, compositions)
    }
    var constraints = source.schema.uniquenessConstraints.map(\.persistentPropertyNames)
    for attribute in source.schema.attributes where attribute.isUnique {
      if !constraints.contains([attribute.persistentName]) { constraints.append([attribute.persistentName]) }
    }
    entity.uniquenessConstraints = constraints
    return entity
  }

  private static func makeAttribute(
    _ schema: CDRuntimeAttributeSchema, of entity: String, _ compositions: CDRuntimeCompositionLayout
  ) throws -> NSAttributeDescription {
    if case .composition(let fields) = schema.storage, compositions == .columns {
      return try makeComposite(schema, fields, of: entity)
    }
    let attribute = NSAttributeDescription()
    attribute.name = schema.persistentName
    attribute.isOptional = schema.isOptional
    attribute.isTransient = schema.isTransient
    attribute.preservesValueInHistoryOnDeletion = schema.isPreservedOnDeletion
    switch schema.storage {
    case .primitive(let type):
      attribute.attributeType = type.attributeType
      if let text = schema.defaultValueExpression, !DefaultValueExpression.isNil(text) {
        guard let value = DefaultValueExpression.value(of: text, as: type) else {
          throw CDRuntimeModelBuilderError.unsupportedDefaultValueExpression(
            entityName: entity, attributeName: schema.persistentName, expression: text, primitiveType: type)
        }
        attribute.defaultValue = value
      }
    case .raw(let name):
      guard let type = rawType(named: name) else {
        throw CDRuntimeModelBuilderError.unsupportedRawBackingType(
          entityName: entity, attributeName: schema.persistentName, backingTypeName: name)
      }
      attribute.attributeType = type
      // Source text does not contain an enumeration's raw value. Only a schema made with the type has it.
      attribute.defaultValue = schema.defaultRawValue?.value
    case .codable:
      attribute.attributeType = .binaryDataAttributeType
    case .transformed(let name):
      attribute.attributeType = .transformableAttributeType
      attribute.valueTransformerName = name
    case .composition:
      attribute.attributeType = .transformableAttributeType
      attribute.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
    }
    return attribute
  }

  private static func rawType(named name: String) -> NSAttributeType? {
    switch name.hasPrefix("Swift.") ? String(name.dropFirst("Swift.".count)) : name {
    case "String": .stringAttributeType
    case "Int16": .integer16AttributeType
    case "Int32": .integer32AttributeType
    case "Int", "Int64": .integer64AttributeType
    default: nil
    }
  }

  private static func makeRelationship(_ schema: CDRuntimeRelationshipSchema) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = schema.persistentName
    relationship.isOptional = schema.isOptional
    relationship.isOrdered = schema.kind == .toManyArray
    // A relationship to many may be empty unless its minimum says otherwise.
    let isRequiredToOne = schema.kind == .toOne && !schema.isOptional
    relationship.minCount = schema.minimumModelCount ?? (isRequiredToOne ? 1 : 0)
    relationship.maxCount = schema.kind == .toOne ? 1 : schema.maximumModelCount ?? 0
    relationship.deleteRule =
      switch schema.deleteRule {
      case .nullify: .nullifyDeleteRule
      case .cascade: .cascadeDeleteRule
      case .deny: .denyDeleteRule
      }
    return relationship
  }

  /// The source that a relationship refers to. A qualified name has precedence. Otherwise the class name ends
  /// with the name, or the entity has it.
  private static func resolve(
    _ schema: CDRuntimeRelationshipSchema, of entity: String, in sources: [Source]
  ) throws -> Int {
    let target = schema.targetTypeName
    let names = sources.map { ManagedClassRegistry.withoutPrivateContexts(String(reflecting: $0.type)) }
    var found = sources.indices.filter { index in
      names[index] == target || String(reflecting: sources[index].type) == target
        || (target.contains(".") && sources[index].schema.managedObjectClassName == target)
    }
    if found.isEmpty {
      found = sources.indices.filter { index in
        names[index].hasSuffix(".\(target)") || sources[index].schema.entityName == target
          || sources[index].schema.managedObjectClassName == target
      }
    }
    guard let first = found.first else {
      throw CDRuntimeModelBuilderError.unknownRelationshipTarget(
        entityName: entity, relationshipName: schema.persistentName, targetTypeName: target)
    }
    guard found.count == 1 else {
      throw CDRuntimeModelBuilderError.ambiguousRelationshipTarget(
        entityName: entity, relationshipName: schema.persistentName, targetTypeName: target)
    }
    return first
  }
}
