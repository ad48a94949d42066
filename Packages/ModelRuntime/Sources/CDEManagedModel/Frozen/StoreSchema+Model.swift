internal import CDEStore

extension StoreSchema {
  /// A checked model in the form of the store layer.
  init(model: NSManagedObjectModel) {
    self.init(
      entities: model.entities.map(StoreEntity.init(entity:)),
      versionIdentifiers: model.versionIdentifiers.compactMap { $0.base as? String }.sorted())
  }
}

extension StoreEntity {
  fileprivate init(entity: NSEntityDescription) {
    var attributes: [StoreAttribute] = []
    var relationships: [StoreRelationship] = []
    for property in entity.ownProperties {
      switch property {
      case let attribute as NSAttributeDescription: attributes.append(StoreAttribute(attribute))
      case let relationship as NSRelationshipDescription:
        relationships.append(StoreRelationship(relationship))
      default: continue
      }
    }
    self.init(
      name: entity.name ?? "", parent: entity.superentity?.name, isAbstract: entity.isAbstract,
      attributes: attributes, relationships: relationships,
      uniquenessConstraints: entity.constraintNames, indexes: EntityIndexes(of: entity).indexes,
      versionHash: Array(entity.versionHash))
  }
}

extension StoreAttribute {
  fileprivate init(_ attribute: NSAttributeDescription) {
    let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
    self.init(
      name: attribute.name, type: attribute.attributeType.storeType, isOptional: attribute.isOptional,
      isTransient: attribute.isTransient,
      allowsExternalStorage: attribute.allowsExternalBinaryDataStorage,
      preservesValueOnDeletion: attribute.preservesValueInHistoryOnDeletion,
      elements: elements.map { StoreAttribute($0) },
      // The model has been validated, so the expression can be parsed.
      derivation: (attribute as? NSDerivedAttributeDescription).flatMap { Derivation.read($0) })
  }
}

extension StoreRelationship {
  fileprivate init(_ relationship: NSRelationshipDescription) {
    self.init(
      name: relationship.name, destination: relationship.destinationEntity?.name ?? "",
      inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered && relationship.isToMany, isTransient: relationship.isTransient,
      isOptional: relationship.isOptional,
      minCount: relationship.isToMany ? relationship.minCount : 0,
      maxCount: relationship.isToMany ? relationship.maxCount : 0)
  }
}
