@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation
internal import Synchronization

extension NSManagedObjectModel {
  /// Whether a coordinator uses the model, so that it can't be changed.
  @_spi(CDE) public var isFrozen: Bool { immutable.isSet }

  /// Checks the model, numbers it and makes it immutable. May be called from any thread. Later calls return
  /// the same object and cost one lock.
  ///
  /// - Throws: ``ModelError`` that names entity and property. The model then stays mutable.
  @_spi(CDE) public func freeze() throws -> FrozenModel {
    try frozenForm.withLock { form in
      if let form { return form }
      let frozen = try makeFrozen()
      for (index, entity) in frozen.entities.enumerated() {
        entity.description.makeImmutable(
          NSEntityDescription.Facts(
            index: index, versionHash: entity.versionHash,
            propertiesByName: entity.description.collectedProperties()))
      }
      immutable.set()
      form = frozen
      return frozen
    }
  }

  private func makeFrozen() throws -> FrozenModel {
    try ModelValidator(entities: entities).validate()
    let schema = StoreSchema(model: self)
    let resolved: ResolvedSchema
    do { resolved = try ResolvedSchema(schema) } catch {
      throw ModelError(
        .invalidSchema, "The model is no valid schema of a store. The cause is the reason.", cause: error)
    }
    let byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name ?? "", $0) })
    var frozen: IndexedArray<EntityIndex, FrozenEntity> = []
    for entity in resolved.entities {
      let description = byName[entity.source.name]!
      let properties = try entity.layout.properties.mapped { property in
        let declaring = byName[resolved.entities[property.declaringEntity].source.name]!
        let source = declaring.ownProperties.first { $0.name == property.name }!
        return try FrozenProperty(
          property, of: entity.index, in: resolved, description: source, owner: entity.source.name)
      }
      let inherited = entity.parent.map { parent in
        frozen[parent].uniqueness.map { $0.map { frozen[parent].properties[$0].name } }
      }
      let constraints = (inherited ?? []) + entity.source.uniquenessConstraints
      frozen.append(
        FrozenEntity(
          resolved: entity, description: description, properties: properties,
          uniqueness: constraints.map { $0.compactMap { entity.layout.slot(named: $0) } },
          versionHash: Data(entity.source.versionHash)))
    }
    return FrozenModel(
      schema: schema, resolved: resolved, entities: frozen,
      configurations: configurationsByName.mapValues { Set($0.compactMap(\.name)) },
      remarks: sourceRemarks
        + entities.flatMap { entity in
          EntityIndexes(of: entity).remarks
            + entity.ownProperties.compactMap { ($0 as? NSRelationshipDescription)?.inverseRemark }
        })
  }
}

extension FrozenProperty {
  fileprivate init(
    _ property: RowLayout.Property, of entity: EntityIndex, in schema: ResolvedSchema,
    description: NSPropertyDescription, owner: String
  ) throws {
    name = property.name
    slot = property.slot
    cells = property.cells
    isTransient = property.isTransient
    declaringEntity = property.declaringEntity
    self.description = description
    if case .attribute(let attribute) = property.kind {
      derivation = attribute.derivation
    } else {
      derivation = nil
    }
    // A save computes derived attributes, so an object need not have a value.
    isRequired = !description.isOptional && !(description is NSDerivedAttributeDescription)

    switch property.kind {
    case .attribute(let attribute), .composite(let attribute):
      let source = description as! NSAttributeDescription
      if case .composite = property.kind { kind = .composite } else { kind = .attribute }
      attributeType = attribute.type
      transformerName = source.valueTransformerName
      guard let constant = AttributeConstant(source.defaultValue, as: source.attributeType) else {
        throw ModelError(
          .invalidDefault,
          "The default value of \(owner).\(name) is of type \(Swift.type(of: source.defaultValue!)), "
            + "or out of range; the attribute is of type \(attribute.type.rawValue). Correct one of the two.",
          entity: owner, property: name)
      }
      defaultValue = constant
      (destination, inverseSlot) = (-1, -1)
      deleteRule = .noActionDeleteRule
      (minCount, maxCount, isOrdered) = (0, 0, false)
    case .toOne, .toMany:
      let source = description as! NSRelationshipDescription
      kind = source.isToMany ? .toMany : .toOne
      attributeType = .undefined
      transformerName = nil
      defaultValue = .null
      let end = schema.end(of: property.slot, in: entity)
      destination = end.destination
      inverseSlot = end.inverseSlot ?? -1
      deleteRule = source.deleteRule
      minCount = source.minCount
      maxCount = source.maxCount
      isOrdered = source.isOrdered && source.isToMany
    }
  }
}
