public import CDEManagedModel
internal import CDEPredicates
internal import CDEStore

extension NSMappingModel {
  /// Works out how two versions of a model belong together, as Core Data does it for a lightweight migration.
  ///
  /// Entities and properties are the same if their renaming identifiers are, or if the new one's renaming identifier is the old one's
  /// name; without an identifier the name counts. The result can be inspected and compiled. A store is migrated when it is opened,
  /// see ``NSMappingModel``, and needs no mapping model in code.
  ///
  /// - Parameters:
  ///   - sourceModel: the old model.
  ///   - destinationModel: the new model.
  /// - Returns: a mapping for each entity of either model.
  /// - Throws: ``MappingInferenceError``, Core Data's `NSInferredMappingModelError`, which names the entity, the property and the
  ///   remedy.
  public class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let inferred = try InferredMapping(from: sourceModel, to: destinationModel)
    let result = NSMappingModel()
    let names = Dictionary(
      inferred.entities.compactMap { entity in entity.destination.map { ($0, Self.name(of: entity)) } }
    ) { first, _ in first }
    result.entityMappings = inferred.entities.map { entity in
      mapping(
        entity, entity.source.flatMap { sourceModel.entitiesByName[$0] },
        entity.destination.flatMap { destinationModel.entitiesByName[$0] }, names)
    }
    return result
  }

  private static func name(of entity: InferredMapping.Entity) -> String {
    guard let source = entity.source, let destination = entity.destination else {
      return entity.destination ?? entity.source ?? ""
    }
    return "\(source)To\(destination)"
  }

  private static func mapping(
    _ entity: InferredMapping.Entity, _ old: NSEntityDescription?, _ new: NSEntityDescription?,
    _ names: [String: String]
  ) -> NSEntityMapping {
    let result = NSEntityMapping()
    result.name = name(of: entity)
    result.sourceEntityName = entity.source
    result.destinationEntityName = entity.destination
    result.sourceEntityVersionHash = old?.versionHash
    result.destinationEntityVersionHash = new?.versionHash
    result.mappingType =
      if old == nil {
        .addEntityMappingType
      } else if new == nil {
        .removeEntityMappingType
      } else if old?.versionHash == new?.versionHash {
        .copyEntityMappingType
      } else {
        .transformEntityMappingType
      }
    if let source = entity.source {
      result.sourceExpression = TreeExpression(
        .call(
          target: .variable("manager"), selector: MappingSelectors.request,
          [.constant(.string(source)), .constant(.string("TRUEPREDICATE"))]))
    }
    guard let new else { return result }
    var attributes: [NSPropertyMapping] = []
    var relationships: [NSPropertyMapping] = []
    for property in entity.properties {
      let mapping = NSPropertyMapping()
      mapping.name = property.name
      let value = property.source.map { ExpressionTree.variableKeyPath("source", [$0]) }
      if let relationship = new.relationshipsByName[property.name] {
        mapping.valueExpression = value.map {
          TreeExpression(destinations(of: $0, property.source ?? "", relationship.destinationEntity, names))
        }
        relationships.append(mapping)
      } else {
        mapping.valueExpression = value.map { TreeExpression($0) }
        attributes.append(mapping)
      }
    }
    result.attributeMappings = attributes
    result.relationshipMappings = relationships
    return result
  }

  /// The call that finds the new objects for old ones: by the mapping of their entity, or across an inheritance tree by the relationship.
  private static func destinations(
    of objects: ExpressionTree, _ source: String, _ target: NSEntityDescription?, _ names: [String: String]
  ) -> ExpressionTree {
    if let target, target.subentities.isEmpty, let name = target.name.flatMap({ names[$0] }) {
      return .call(
        target: .variable("manager"), selector: MappingSelectors.byMapping,
        [.constant(.string(name)), objects])
    }
    return .call(
      target: .variable("manager"), selector: MappingSelectors.byRelationship,
      [.constant(.string(source)), objects])
  }
}
