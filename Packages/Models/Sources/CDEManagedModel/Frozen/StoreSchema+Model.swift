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
      inverse: relationship.followedInverse?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered && relationship.isToMany, isTransient: relationship.isTransient,
      isOptional: relationship.isOptional,
      minCount: relationship.isToMany ? relationship.minCount : 0,
      maxCount: relationship.isToMany ? relationship.maxCount : 0)
  }
}

extension NSRelationshipDescription {
  /// The inverse that objects keep up to date; nil if a to-one relationship names one that has another inverse itself.
  ///
  /// Xcode warns about such a relationship, and Core Data uses the model: each side keeps to the inverse that it names. The key in
  /// the row is all that a to-one relationship needs. The members of a to-many relationship are the rows whose inverse is the
  /// owner, whatever inverse that one has itself.
  var followedInverse: NSRelationshipDescription? {
    guard let inverse = inverseRelationship, !isToMany, inverse.inverseRelationship != nil else {
      return inverseRelationship
    }
    return isReferredBack ? inverse : nil
  }

  var isReferredBack: Bool { inverseRelationship?.inverseRelationship === self }

  /// Whether the members are found by a to-one relationship that has another inverse itself.
  var borrowsInverse: Bool {
    guard isToMany, !isOrdered, let inverse = inverseRelationship, !inverse.isToMany else { return false }
    return inverse.inverseRelationship != nil && !isReferredBack
  }

  /// What the model says about the inverse and objects do not follow; nil if they follow it.
  var inverseRemark: String? {
    guard let inverse = inverseRelationship, let other = inverse.inverseRelationship, !isReferredBack,
      !isToMany || borrowsInverse
    else { return nil }
    let (mine, theirs) = ("\(entity?.name ?? "").\(name)", "\(inverse.entity?.name ?? "").\(inverse.name)")
    let effect =
      isToMany
      ? "A change of \(theirs) reaches \(mine) when the object is refreshed."
      : "\(mine) is kept as a relationship without an inverse."
    return "\(mine) has the inverse \(theirs), which has the inverse \(other.name) itself. \(effect) "
      + "Give it an inverse of its own, or none."
  }
}
