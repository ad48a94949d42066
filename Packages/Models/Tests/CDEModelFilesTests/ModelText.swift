@_spi(CDE) import CDEManagedModel
import CDEPredicates
import Foundation

/// Everything that a model says, one fact a line, to compare models by.
enum ModelText {
  static func lines(_ model: NSManagedObjectModel) -> [String] {
    var lines = ["version \(model.versionIdentifiers.map { "\($0)" }.sorted())"]
    for entity in model.entities.sorted(by: { $0.name! < $1.name! }) {
      let name = entity.name!
      lines.append(
        "\(name): \(entity.managedObjectClassName!) \(entity.isAbstract) \(entity.renamingIdentifier ?? "-") "
          + "\(entity.versionHashModifier ?? "-") \(entity.superentity?.name ?? "-") "
          + "\(entity.versionHash.base64EncodedString()) \(info(entity.userInfo))")
      lines.append("\(name) unique \(entity.uniquenessConstraints) compound \(entity.compoundIndexes)")
      for index in entity.indexes {
        let elements = index.elements.map {
          "\($0.propertyName ?? "-")/\($0.expressionFormat ?? "-") \($0.isAscending) \($0.collationType)"
        }
        lines.append(
          "\(name) index \(index.name) \(elements) \(format(index.partialIndexPredicate)) \(index.partialNotNil)"
        )
      }
      for property in entity.ownProperties { lines.append("\(name).\(text(property))") }
    }
    for name in model.configurations {
      lines.append(
        "configuration \(name) \(model.entities(forConfigurationName: name)!.compactMap(\.name).sorted())")
    }
    for (name, template) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      lines.append("request \(name) \(text(template))")
    }
    return lines
  }

  private static func info(_ info: [AnyHashable: Any]?) -> String {
    (info ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: ",")
  }

  private static func format(_ predicate: NSPredicate?) -> String {
    guard let predicate else { return "-" }
    return (try? predicate.predicateTree().predicateFormat) ?? "failed"
  }

  private static func text(_ property: NSPropertyDescription) -> String {
    let rules = zip(property.validationPredicates, property.validationWarnings).map {
      "\(format($0)) \($1)"
    }
    var result =
      "\(property.name) \(type(of: property)) \(property.isOptional) \(property.isTransient) "
      + "\(property.isIndexed) \(property.renamingIdentifier ?? "-") \(property.versionHashModifier ?? "-") "
      + "\(info(property.userInfo)) \(rules)"
    switch property {
    case let attribute as NSAttributeDescription:
      result +=
        " \(attribute.attributeType) \(attribute.attributeValueClassName ?? "-") "
        + "\(attribute.valueTransformerName ?? "-") \(attribute.allowsExternalBinaryDataStorage) "
        + "\(attribute.preservesValueInHistoryOnDeletion) "
        + "\(attribute.defaultValue.map { "\(type(of: $0)) \($0)" } ?? "-")"
      if let derived = attribute as? NSDerivedAttributeDescription {
        result += " \(derived.versionHash.base64EncodedString())"
      }
      if let composite = attribute as? NSCompositeAttributeDescription {
        result += " \(composite.elements.map { text($0) })"
      }
    case let relationship as NSRelationshipDescription:
      result +=
        " \(relationship.destinationEntity?.name ?? "-") "
        + "\(relationship.inverseRelationship?.entity?.name ?? "-")."
        + "\(relationship.inverseRelationship?.name ?? "-") \(relationship.minCount) "
        + "\(relationship.maxCount) \(relationship.isOrdered) \(relationship.deleteRule)"
    case let fetched as NSFetchedPropertyDescription:
      result += " \(fetched.template.map { text($0) } ?? "-")"
    default: break
    }
    return result
  }

  private static func text(_ template: FetchRequestTemplate) -> String {
    "\(template.entityName) \(format(template.predicate)) \(template.resultType) \(template.fetchLimit) "
      + "\(template.fetchBatchSize) \(template.includesSubentities) \(template.includesPropertyValues) "
      + "\(template.returnsObjectsAsFaults) \(template.includesPendingChanges) "
      + "\(template.returnsDistinctResults) \(template.sortKeys)"
  }
}
