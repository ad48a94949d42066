@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Makes mappings of a mapping model's source, with the expressions that Core Data's compiler computes.
struct MappingResolver {
  private let source: MappingSource
  private let models: MappingModels
  private var names: [String] = []

  init(_ source: MappingSource, _ models: MappingModels) throws(ModelFileError) {
    self.source = source
    self.models = models
    var known: Set<String> = []
    for entity in source.entities {
      guard let name = Self.name(of: entity) else {
        throw source.error(
          .invalidModel, "The mapping has neither an old nor a new entity. Remove it.", line: entity.line)
      }
      guard known.insert(name).inserted else {
        throw source.error(
          .invalidModel, "Two mappings are named \(name). Rename one of them.", line: entity.line)
      }
      names.append(name)
    }
  }

  private static func name(of entity: MappingSource.Entity) -> String? {
    if let name = entity.name { return name }
    guard let source = entity.source, let destination = entity.destination else {
      return entity.destination ?? entity.source
    }
    return "\(source)To\(destination)"
  }

  func mappings() throws(ModelFileError) -> [NSEntityMapping] {
    var result: [NSEntityMapping] = []
    for (entity, name) in zip(source.entities, names) { result.append(try mapping(entity, name)) }
    return result
  }

  private func entity(
    _ name: String?, in model: NSManagedObjectModel, _ which: String, _ line: Int
  ) throws(ModelFileError) -> NSEntityDescription? {
    guard let name else { return nil }
    guard let entity = model.entitiesByName[name] else {
      throw source.error(
        .invalidModel, "The \(which) model has no entity \(name). Correct the mapping in Xcode.", line: line)
    }
    return entity
  }

  private func mapping(
    _ entity: MappingSource.Entity, _ name: String
  ) throws(ModelFileError) -> NSEntityMapping {
    let old = try self.entity(entity.source, in: models.source, "source", entity.line)
    let new = try self.entity(entity.destination, in: models.destination, "destination", entity.line)
    let result = NSEntityMapping()
    result.name = name
    result.sourceEntityName = entity.source
    result.destinationEntityName = entity.destination
    result.sourceEntityVersionHash = old?.versionHash
    result.destinationEntityVersionHash = new?.versionHash
    result.entityMigrationPolicyClassName = entity.policy
    result.mappingType =
      if entity.policy != nil {
        .customEntityMappingType
      } else if old == nil {
        .addEntityMappingType
      } else if new == nil {
        .removeEntityMappingType
      } else if old?.versionHash == new?.versionHash {
        .copyEntityMappingType
      } else {
        .transformEntityMappingType
      }
    if let name = entity.source { result.sourceExpression = try request(name, entity) }
    result.attributeMappings = try properties(entity.attributes) { property in
      guard old?.attributesByName[property.name] != nil || property.sourceKeyPath != nil, old != nil else {
        return nil
      }
      return MappingSourcePath(of: property).expression
    }
    result.relationshipMappings = try properties(entity.relationships) { property in
      relationship(property, old, new)
    }
    return result
  }

  /// The call that makes the request for the old objects.
  private func request(
    _ name: String, _ entity: MappingSource.Entity
  ) throws(ModelFileError) -> TreeExpression {
    let filter = entity.filter ?? "TRUEPREDICATE"
    do throws(PredicateTreeError) {
      _ = try NSPredicate(format: filter, argumentArray: nil).predicateTree()
    } catch {
      throw source.error(
        .unsupportedExpression,
        "The condition “\(filter)” of the mapping \(Self.name(of: entity) ?? "") is malformed: \(error.message).",
        line: entity.line, cause: error)
    }
    return TreeExpression(
      .call(
        target: .variable("manager"), selector: MappingSelectors.request,
        [.constant(.string(name)), .constant(.string(filter))]))
  }

  private func properties(
    _ properties: [MappingSource.Property], _ generated: (MappingSource.Property) -> ExpressionTree?
  ) throws(ModelFileError) -> [NSPropertyMapping] {
    var result: [NSPropertyMapping] = []
    for property in properties {
      let mapping = NSPropertyMapping()
      mapping.name = property.name
      if let data = property.expression {
        mapping.valueExpression = try expression(data, property)
      } else if property.generates {
        mapping.valueExpression = generated(property).map { TreeExpression($0) }
      }
      result.append(mapping)
    }
    return result
  }

  private func expression(
    _ data: Data, _ property: MappingSource.Property
  ) throws(ModelFileError) -> TreeExpression {
    let archive: ModelArchive
    do throws(ModelFileError) { archive = try ModelArchive(data, file: source.file) } catch {
      throw source.error(
        .damaged, "The expression of \(property.name) is damaged. Enter the expression again in Xcode.",
        line: property.line, cause: error)
    }
    do throws(PredicateTreeError) {
      var reader = PredicateArchiveReader(archive: archive)
      return TreeExpression(try reader.expression(.reference(archive.root)))
    } catch {
      throw source.error(
        .unsupportedExpression, "The expression of \(property.name) can't be read: \(error.message).",
        line: property.line, cause: error)
    }
  }

  /// The call that finds the new objects of those to which the old object refers; nil if there are none.
  private func relationship(
    _ property: MappingSource.Property, _ old: NSEntityDescription?, _ new: NSEntityDescription?
  ) -> ExpressionTree? {
    guard old?.relationshipsByName[property.name] != nil || property.sourceKeyPath != nil, old != nil else {
      return nil
    }
    let path = MappingSourcePath(of: property)
    let objects = path.expression
    var mapping = property.sourceMapping
    if mapping == nil, let target = new?.relationshipsByName[property.name]?.destinationEntity {
      mapping = self.mapping(to: target)
    }
    if let mapping {
      return .call(
        target: .variable("manager"), selector: MappingSelectors.byMapping,
        [.constant(.string(mapping)), objects])
    }
    return .call(
      target: .variable("manager"), selector: MappingSelectors.byRelationship,
      [.constant(.string(path.keys.isEmpty ? property.name : path.keys.joined(separator: "."))), objects])
  }

  /// The only mapping whose new objects the relationship may have; nil if there are several, as those of sub-entities.
  private func mapping(to target: NSEntityDescription) -> String? {
    let fitting = zip(source.entities, names).filter { entity, _ in
      guard entity.source != nil, let name = entity.destination else { return false }
      var current = models.destination.entitiesByName[name]
      while let candidate = current {
        if candidate === target { return true }
        current = candidate.superentity
      }
      return false
    }
    return fitting.count == 1 ? fitting[0].1 : nil
  }
}

/// The key path of a property's old value.
private struct MappingSourcePath {
  let variable: String
  let keys: [String]

  /// Xcode writes `$source.name`. A path without a variable is one of the old object, too.
  init(of property: MappingSource.Property) {
    var keys = (property.sourceKeyPath ?? property.name).split(separator: ".").map(String.init)
    if let first = keys.first, first.hasPrefix("$"), first.count > 1 {
      keys.removeFirst()
      variable = first == "$sourceObject" ? "source" : String(first.dropFirst())
    } else {
      variable = "source"
    }
    self.keys = keys
  }

  var expression: ExpressionTree { keys.isEmpty ? .variable(variable) : .variableKeyPath(variable, keys) }
}

/// The methods of `NSMigrationManager` that generated expressions call.
enum MappingSelectors {
  static let request = "fetchRequestForSourceEntityNamed:predicateString:"
  static let byMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  static let byRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
}
