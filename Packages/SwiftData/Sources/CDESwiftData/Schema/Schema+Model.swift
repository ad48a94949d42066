@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel

extension Schema {
  /// The model of the schema in Core Data's terms, in the layout of Apple's files.
  ///
  /// Equal schemas of the same classes have the same model, which stays until the process ends.
  ///
  /// - Throws: ``SwiftDataError``: what is wrong with the classes, the first of several.
  func managedObjectModel() throws -> NSManagedObjectModel {
    try model.withLock { known in
      if let known { return known }
      // Equal schemas may have other problems: of their classes, which have no part in equality.
      try throwProblems()
      let key = ModelKey(schema: self, types: modelTypes.mapValues { ObjectIdentifier($0) })
      if let shared = Self.sharedModels.withLock({ $0[key] }) {
        known = shared
        return shared
      }
      let made = try makeModel()
      Self.sharedModels.withLock { $0[key] = made }
      known = made
      return made
    }
  }

  /// Schemas are equal without their classes, and a model belongs to classes.
  private struct ModelKey: Hashable {
    let schema: Schema
    let types: [String: ObjectIdentifier]
  }

  private static let sharedModels = Lock<[ModelKey: NSManagedObjectModel]>([:])

  private func throwProblems() throws {
    guard let first = problems.first else { return }
    guard problems.count > 1 else { throw first }
    throw first.about(
      problems.prefix(5).map(\.message).joined(separator: "\n")
        + (problems.count > 5 ? "\nThere are \(problems.count - 5) more problems." : ""),
      entity: first.entity, property: first.property)
  }

  private func makeModel() throws -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.versionIdentifiers = [version.description]
    var descriptions: [String: NSEntityDescription] = [:]
    for entity in entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.managedObjectClassName = "NSManagedObject"
      descriptions[entity.name] = description
    }
    model.entities = entities.map { descriptions[$0.name]! }
    for entity in entities {
      descriptions[entity.name]!.subentities = entity.subentities.sorted { $0.name < $1.name }.map {
        descriptions[$0.name]!
      }
    }
    for entity in entities {
      descriptions[entity.name]!.properties = try entity.storedProperties.map { property in
        switch property {
        case let attribute as Attribute: try attribute.makeDescription(of: entity)
        case let relationship as Relationship: relationship.makeDescription(descriptions)
        // The check of the schema has refused properties of other types.
        default: throw SwiftDataError(.invalidSchema, "\(entity.name).\(property.name) is of no kind.")
        }
      }
    }
    for entity in entities {
      let description = descriptions[entity.name]!
      for relationship in entity.ownRelationships {
        guard let inverse = relationship.inverseName else { continue }
        let mine = description.relationshipsByName[relationship.name]
        mine?.inverseRelationship = mine?.destinationEntity?.relationshipsByName[inverse]
      }
      description.uniquenessConstraints = entity.uniquenessConstraints
      description.indexes = entity.indexNames.map { $0.makeDescription(of: entity) }
    }
    do { _ = try model.freeze() } catch let error as ModelError {
      throw SwiftDataError(
        .invalidSchema, error.message, entity: error.entity, property: error.property, cause: error)
    }
    return model
  }
}

extension Schema.Attribute {
  fileprivate func makeDescription(of entity: Schema.Entity) throws -> NSAttributeDescription {
    let description: NSAttributeDescription
    if let transformer {
      description = NSAttributeDescription()
      description.name = name
      description.attributeType = .transformableAttributeType
      description.valueTransformerName = transformer.registeredName
      description.defaultValue = defaultValue
    } else {
      // The check of the schema has refused types without a shape.
      guard let shape else { throw SwiftDataError(.invalidSchema, "\(entity.name).\(name) can't be stored.") }
      description = shape.makeAttribute(name: name)
      do {
        description.defaultValue = try defaultValue.flatMap { try ValueCoding.encode($0, shape, name: name) }
      } catch {
        throw SwiftDataError(
          .invalidSchema, "The default value of \(entity.name).\(name) can't be stored. The cause says why.",
          entity: entity.name, property: name, cause: error)
      }
    }
    description.isOptional = isOptional
    description.isTransient = isTransient
    description.isIndexedBySpotlight = options.contains(.spotlight)
    description.allowsExternalBinaryDataStorage = options.contains(.externalStorage)
    description.preservesValueInHistoryOnDeletion = options.contains(.preserveValueOnDeletion)
    description.allowsCloudEncryption = options.contains(.allowsCloudEncryption)
    description.versionHashModifier = hashModifier
    if originalName != name { description.renamingIdentifier = originalName }
    return description
  }
}

extension Schema.Relationship {
  fileprivate func makeDescription(_ entities: [String: NSEntityDescription]) -> NSRelationshipDescription {
    let description = NSRelationshipDescription()
    description.name = name
    description.isOptional = isOptional
    description.destinationEntity = entities[destination]
    description.deleteRule =
      switch deleteRule {
      case .noAction: .noActionDeleteRule
      case .nullify: .nullifyDeleteRule
      case .cascade: .cascadeDeleteRule
      case .deny: .denyDeleteRule
      }
    description.minCount = minimumModelCount ?? 0
    description.maxCount = isToOneRelationship ? 1 : maximumModelCount ?? 0
    description.versionHashModifier = hashModifier
    if originalName != name { description.renamingIdentifier = originalName }
    return description
  }
}

extension Schema.IndexNames {
  fileprivate func makeDescription(of entity: Schema.Entity) -> NSFetchIndexDescription {
    // The name of a binary index is that of Apple's files. Names with a dot would need quotes in SQL.
    let joined = names.joined().split(separator: ".").joined(separator: "_")
    return NSFetchIndexDescription(
      name: (isSpatial ? "SwiftDataIndexOnRTree" : "SwiftDataIndexOnBinary") + joined,
      elements: names.map {
        NSFetchIndexElementDescription(propertyName: $0, collationType: isSpatial ? .rTree : .binary)
      })
  }
}
