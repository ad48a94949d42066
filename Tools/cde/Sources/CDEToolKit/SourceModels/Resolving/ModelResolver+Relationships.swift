import CDEManagedModel

extension ModelResolver {
  /// Nil for a relationship that the class can't have; a remark says why.
  mutating func resolve(_ relationship: NSRelationshipDescription, of entity: String) -> ResolvedRelationship?
  {
    let name = relationship.name
    let rule = section.relationshipRules[entity]?[name] ?? RelationshipRule()
    let isClass = kind == .persistentModel
    if !SwiftNaming.isName(name) {
      problem(
        "relationshipRules.\(entity).\(name)",
        "The relationship “\(name)” of \(entity) has a name that is none in Swift. Rename it in the model.")
    }
    guard let destination = relationship.destinationEntity?.name else {
      remark(entity, name, "leads to no entity", changesVersion: true)
      return nil
    }
    let inverse = relationship.inverseRelationship
    if isClass {
      guard inverse != nil else {
        remark(entity, name, "has no inverse, which @Relationship requires", changesVersion: true)
        return nil
      }
      remarkFormerName(relationship.renamingIdentifier, of: name, entity, name)
      if relationship.isTransient {
        remark(entity, name, "is transient, and a relationship of a class is stored", changesVersion: true)
      }
      if !relationship.isOptional {
        remark(entity, name, "is required, and a relationship of a class is optional", changesVersion: true)
      }
      if relationship.versionHashModifier != nil {
        remark(entity, name, "has a hash modifier, which no property has", changesVersion: true)
      }
      if relationship.deleteRule == .noActionDeleteRule {
        remark(entity, name, "has the delete rule No Action, which leaves references to deleted objects")
      }
    }
    var resolved = ResolvedRelationship(
      persistentName: name,
      swiftName: rule.swiftName ?? (isClass ? SwiftNaming.property(name) : name),
      destination: destination, destinationClass: classNames[destination] ?? destination,
      isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, isOptional: relationship.isOptional,
      inverse: inverse?.name ?? "", deleteRule: Self.rule(relationship.deleteRule))
    resolved.hasChosenName = rule.swiftName != nil
    if relationship.minCount > 0 { resolved.minimumCount = relationship.minCount }
    if relationship.isToMany, relationship.maxCount > 0 { resolved.maximumCount = relationship.maxCount }
    if let former = relationship.renamingIdentifier, former != name { resolved.formerName = former }
    return resolved
  }

  private static func rule(_ rule: NSDeleteRule) -> String {
    switch rule {
    case .cascadeDeleteRule: "cascade"
    case .denyDeleteRule: "deny"
    case .noActionDeleteRule: "noAction"
    case .nullifyDeleteRule: "nullify"
    }
  }
}
