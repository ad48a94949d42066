internal import Foundation

/// The rules that a model must satisfy before a coordinator can use it.
struct ModelValidator {
  let entities: [NSEntityDescription]
  private let members: Set<ObjectIdentifier>

  init(entities: [NSEntityDescription]) {
    self.entities = entities
    members = Set(entities.map { ObjectIdentifier($0) })
  }

  func validate() throws {
    var names: Set<String> = []
    for entity in entities {
      let name = entity.name ?? ""
      guard Self.isEntityName(name) else {
        throw ModelError(
          .invalidName,
          name.isEmpty
            ? "An entity has no name. Set its name before the model is used."
            : "“\(name)” is no name for an entity: it has white space, quotes, slashes or control characters.",
          entity: entity.name)
      }
      guard names.insert(name).inserted else {
        throw ModelError(
          .duplicateName,
          "Two entities are named \(name). Rename one of them: names must be unique in a model.", entity: name
        )
      }
    }
    // A missing destination also breaks inverses of other entities. All destinations are checked before any
    // inverse.
    for entity in entities {
      try validateTree(of: entity)
      try validateDestinations(of: entity)
    }
    for entity in entities {
      try validateProperties(of: entity)
      try validateNames(of: entity)
    }
  }

  private func validateTree(of entity: NSEntityDescription) throws {
    for other in entity.subentities + [entity.superentity].compactMap({ $0 })
    where !members.contains(ObjectIdentifier(other)) {
      let name = entity.name!
      throw ModelError(
        .unknownEntity,
        "\(other.name ?? "An entity") is the \(other === entity.superentity ? "parent" : "child") of "
          + "\(name), but is not in the model. Add it to the model's entities.",
        entity: name)
    }
  }

  private func validateDestinations(of entity: NSEntityDescription) throws {
    let name = entity.name!
    for case let relationship as NSRelationshipDescription in entity.ownProperties {
      if let destination = relationship.destinationEntity, members.contains(ObjectIdentifier(destination)) {
        continue
      }
      throw ModelError(
        .unknownDestination,
        "\(name).\(relationship.name) has no destination in the model. Set destinationEntity to one of its "
          + "entities.", entity: name, property: relationship.name)
    }
  }

  private func validateProperties(of entity: NSEntityDescription) throws {
    let name = entity.name!
    var seen: Set<String> = []
    for property in entity.properties {
      guard seen.insert(property.name).inserted else {
        throw ModelError(
          .duplicateName,
          "\(name) has two properties named \(property.name), inherited ones included. Rename one.",
          entity: name, property: property.name)
      }
    }
    for property in entity.ownProperties {
      guard Self.isPropertyName(property.name) else {
        throw ModelError(
          .invalidName,
          property.name.isEmpty
            ? "A property of \(name) has no name."
            : "“\(name).\(property.name)” is no name for a property: use a letter or underscore, "
              + "then letters, digits and underscores.",
          entity: name, property: property.name)
      }
      switch property {
      case let attribute as NSAttributeDescription: try validate(attribute, of: name)
      case let relationship as NSRelationshipDescription: try validate(relationship, of: name)
      default: break
      }
    }
  }

  private func validate(_ attribute: NSAttributeDescription, of entity: String) throws {
    func fail(_ text: String) -> ModelError {
      ModelError(
        .invalidType, "\(entity).\(attribute.name) \(text)", entity: entity, property: attribute.name)
    }
    let composite = attribute as? NSCompositeAttributeDescription
    guard (composite != nil) == (attribute.attributeType == .compositeAttributeType) else {
      throw fail("must be an NSCompositeAttributeDescription to be of type composite, and only then.")
    }
    if let composite {
      guard !composite.elements.isEmpty else { throw fail("is a composite without elements.") }
      var seen: Set<String> = []
      for element in composite.elements {
        guard Self.isPropertyName(element.name), seen.insert(element.name).inserted else {
          throw fail("has an element named “\(element.name)”, which is no name or is used twice.")
        }
        try validate(element, of: "\(entity).\(attribute.name)")
      }
    }
    switch attribute.attributeType {
    case .undefinedAttributeType where !attribute.isTransient,
      .objectIDAttributeType where !attribute.isTransient:
      throw fail("has a type that can't be stored. Set attributeType, or make the attribute transient.")
    default: break
    }
    if let derived = attribute as? NSDerivedAttributeDescription {
      try Derivation.validate(derived, of: entity)
    }
  }

  private func validate(_ relationship: NSRelationshipDescription, of entity: String) throws {
    let name = relationship.name
    func fail(_ code: ModelError.Code, _ text: String) -> ModelError {
      ModelError(code, text, entity: entity, property: name)
    }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      throw fail(
        .invalidCount,
        "\(entity).\(name) requires at least \(relationship.minCount) objects "
          + "and at most \(relationship.maxCount)."
      )
    }
    guard let inverse = relationship.followedInverse, let destination = relationship.destinationEntity
    else { return }
    guard relationship.isReferredBack || relationship.borrowsInverse else {
      throw fail(
        .missingInverse,
        "\(entity).\(name) has the inverse \(inverse.entity?.name ?? "").\(inverse.name), which does not "
          + "refer back to it. Set inverseRelationship on both sides.")
    }
    guard let owner = inverse.entity, destination.isKindOf(entity: owner),
      let source = relationship.entity, let back = inverse.destinationEntity,
      source.isKindOf(entity: back) || back.isKindOf(entity: source)
    else {
      throw fail(
        .invalidInverse,
        "\(entity).\(name) points at \(destination.name ?? ""), but its inverse is "
          + "\(inverse.entity?.name ?? "(no entity)").\(inverse.name), which points at "
          + "\(inverse.destinationEntity?.name ?? "nothing"). Each must lead to the other's entity.")
    }
  }

  private func validateNames(of entity: NSEntityDescription) throws {
    let name = entity.name!
    let properties = entity.collectedProperties()
    func isStored(_ path: String) -> Bool {
      var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard var found = properties[names.removeFirst()], !found.isTransient else { return false }
      // An element of a composite has a column of its own.
      for name in names {
        guard let composite = found as? NSCompositeAttributeDescription,
          let element = composite.elements.first(where: { $0.name == name })
        else { return false }
        found = element
      }
      return !(found is NSFetchedPropertyDescription)
    }
    let given = entity.uniquenessConstraints.filter { !$0.isEmpty }
    for (constraint, given) in zip(entity.constraintNames, given) {
      guard constraint.count == given.count else {
        throw ModelError(
          .invalidConstraint,
          "A uniqueness constraint of \(name) holds something else than names and properties.",
          entity: name)
      }
      for property in constraint {
        let isToMany = (properties[property] as? NSRelationshipDescription)?.isToMany ?? false
        guard isStored(property), !isToMany else {
          throw ModelError(
            .invalidConstraint,
            "\(name) has a uniqueness constraint on \(property), which is no stored attribute or to-one "
              + "relationship of it.", entity: name, property: property)
        }
      }
    }
    let indexed = entity.indexes.flatMap { index in
      index.elements.filter { $0.expressionFormat == nil }.map { $0.propertyName ?? "" }
        + index.partialNotNil
    }
    for property in indexed + entity.compoundIndexNames.flatMap({ $0 })
    where !isStored(property) && !EntityIndexes.isEntity(property, of: properties) {
      throw ModelError(
        .invalidIndex, "\(name) has an index on “\(property)”, which is no stored property of it.",
        entity: name, property: property)
    }
  }

  static func isPropertyName(_ name: String) -> Bool {
    guard let first = name.first, first == "_" || first.isLetter else { return false }
    return name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
  }

  static func isEntityName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy { scalar in
        !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
          && !["\"", "'", "`", "/"].contains(scalar)
      }
  }
}
