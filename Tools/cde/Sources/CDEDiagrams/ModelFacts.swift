import CDEManagedModel

extension NSAttributeDescription {
  /// The type as Xcode's editor names it.
  package var typeName: String {
    switch attributeType {
    case .undefinedAttributeType: "Undefined"
    case .integer16AttributeType: "Integer 16"
    case .integer32AttributeType: "Integer 32"
    case .integer64AttributeType: "Integer 64"
    case .decimalAttributeType: "Decimal"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .stringAttributeType: "String"
    case .booleanAttributeType: "Boolean"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Binary Data"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URI"
    case .transformableAttributeType: "Transformable"
    case .objectIDAttributeType: "Object ID"
    case .compositeAttributeType: "Composite"
    }
  }
}

extension NSRelationshipDescription {
  /// The delete rule as Xcode's editor names it.
  package var ruleName: String {
    switch deleteRule {
    case .noActionDeleteRule: "No Action"
    case .nullifyDeleteRule: "Nullify"
    case .cascadeDeleteRule: "Cascade"
    case .denyDeleteRule: "Deny"
    }
  }
}

extension NSManagedObjectModel {
  /// The entities by name.
  package var sortedEntities: [NSEntityDescription] { entities.sorted { ($0.name ?? "") < ($1.name ?? "") } }
}

extension NSEntityDescription {
  /// The stored properties that the entity does not inherit, by name.
  package var ownStored: [NSPropertyDescription] {
    propertiesByName.values.filter { property in
      !property.isTransient && !(property is NSFetchedPropertyDescription)
        && superentity?.propertiesByName[property.name] == nil
    }.sorted { $0.name < $1.name }
  }
}
