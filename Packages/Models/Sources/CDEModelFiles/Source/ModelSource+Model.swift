@_spi(CDE) public import CDEManagedModel
internal import CDEPredicates
internal import Foundation

extension ModelSource {
  /// A model with the entities of this source.
  ///
  /// - Parameter module: The module of the classes that are written with a leading dot. Without it, such a
  ///   class is found by its bare name.
  /// - Throws: ``ModelFileError`` when an entity names a parent, destination or composite that is missing.
  public func makeModel(module: String? = nil) throws(ModelFileError) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    try fill(model) { ClassNames.resolved($0, module: module) }
    return model
  }

  func fill(_ model: NSManagedObjectModel, className: (String) -> String) throws(ModelFileError) {
    var builder = ModelBuilder(source: self)
    try builder.build(into: model, className: className)
    model.sourceRemarks = warnings.map { "\($0.file):\($0.line): \($0.text)" }
  }
}

/// The spellings of classes in model files.
enum ClassNames {
  /// The name by which a class is looked up.
  static func resolved(_ written: String, module: String?) -> String {
    guard written.hasPrefix("."), written.count > 1 else { return written }
    return (module.map { "\($0)." } ?? "") + written.dropFirst()
  }
}

/// Makes descriptions from a source, and connects them.
private struct ModelBuilder {
  let source: ModelSource
  private var entities: [String: NSEntityDescription] = [:]
  /// The relationships by the names of their entity and their own.
  private var relationships: [String: [String: NSRelationshipDescription]] = [:]
  private let composites: [String: ModelSource.Composite]
  /// Attributes that composites may still make. A few composites that contain each other several times could
  /// otherwise fill the memory.
  private var budget = 20_000
  static let inheritanceLimit = 64
  static let compositeLimit = 16

  init(source: ModelSource) {
    self.source = source
    composites = Dictionary(source.composites.map { ($0.name, $0) }) { first, _ in first }
  }

  private func error(_ text: String, _ line: Int, _ element: String) -> ModelFileError {
    ModelFileError(.invalidModel, text, file: source.file, line: line, element: element)
  }

  mutating func build(
    into model: NSManagedObjectModel, className: (String) -> String
  ) throws(ModelFileError) {
    var list: [NSEntityDescription] = []
    for entity in source.entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.managedObjectClassName = entity.representedClassName.map(className) ?? "NSManagedObject"
      description.isAbstract = entity.isAbstract
      description.renamingIdentifier = entity.common.renamingIdentifier
      description.versionHashModifier = entity.common.versionHashModifier
      description.userInfo = entity.common.userInfo
      entities[entity.name] = description
      list.append(description)
    }
    try connectParents()
    for (entity, description) in zip(source.entities, list) {
      description.properties = try properties(of: entity)
      description.uniquenessConstraints = entity.uniquenessConstraints
      description.compoundIndexes = entity.compoundIndexes
      description.indexes = entity.indexes.map(index)
    }
    for entity in source.entities { connectInverses(of: entity) }
    model.entities = list
    model.versionIdentifiers = [source.versionIdentifier]
    for configuration in source.configurations {
      let members = try configuration.members.map { (name) throws(ModelFileError) in
        try entity(name, configuration.line, "configuration \(configuration.name)")
      }
      model.setEntities(members, forConfigurationName: configuration.name)
    }
    for request in source.requests { model.fetchRequestTemplates[request.name] = try template(request) }
  }

  private func entity(
    _ name: String, _ line: Int, _ user: String
  ) throws(ModelFileError) -> NSEntityDescription {
    guard let found = entities[name] else {
      throw error("The \(user) names the entity \(name), which is not in the model.", line, user)
    }
    return found
  }

  private func connectParents() throws(ModelFileError) {
    let parents = Dictionary(uniqueKeysWithValues: source.entities.map { ($0.name, $0.parentName) })
    var children: [String: [NSEntityDescription]] = [:]
    for entity in source.entities {
      guard let parent = entity.parentName else { continue }
      let user = "entity \(entity.name)"
      _ = try self.entity(parent, entity.common.line, user)
      children[parent, default: []].append(entities[entity.name]!)
      var (current, depth) = (parent, 1)
      while let next = parents[current] ?? nil {
        depth += 1
        guard depth <= Self.inheritanceLimit, current != entity.name else {
          throw error(
            "\(entity.name) inherits from itself, or over more than \(Self.inheritanceLimit) entities.",
            entity.common.line, user)
        }
        current = next
      }
      guard current != entity.name else {
        throw error("\(entity.name) inherits from itself.", entity.common.line, user)
      }
    }
    for (parent, list) in children { entities[parent]!.subentities = list }
  }

  // MARK: Properties

  private mutating func properties(
    of entity: ModelSource.Entity
  ) throws(ModelFileError) -> [NSPropertyDescription] {
    var made: [String: NSPropertyDescription] = [:]
    for attribute in entity.attributes {
      made[attribute.name] = try description(of: attribute, owner: entity.name, depth: 0)
    }
    for relationship in entity.relationships {
      let description = NSRelationshipDescription()
      apply(relationship.common, relationship.name, to: description)
      let user = "relationship \(entity.name).\(relationship.name)"
      description.destinationEntity = try self.entity(
        relationship.destination, relationship.common.line, user)
      description.minCount = relationship.minCount
      description.maxCount = relationship.maxCount
      description.isOrdered = relationship.isOrdered && relationship.isToMany
      description.deleteRule = relationship.deleteRule
      made[relationship.name] = description
      relationships[entity.name, default: [:]][relationship.name] = description
    }
    for property in entity.fetchedProperties {
      let description = NSFetchedPropertyDescription()
      apply(property.common, property.name, to: description)
      description.isTransient = true
      description.template = try property.request.map { (request) throws(ModelFileError) in
        try template(request)
      }
      made[property.name] = description
    }
    return entity.order.compactMap { made[$0] }
  }

  private func apply(
    _ common: ModelSource.Common, _ name: String, to description: NSPropertyDescription
  ) {
    description.name = name
    description.isOptional = common.isOptional
    description.isTransient = common.isTransient
    description.isIndexed = common.isIndexed
    description.isIndexedBySpotlight = common.isIndexedBySpotlight
    description.renamingIdentifier = common.renamingIdentifier
    description.versionHashModifier = common.versionHashModifier
    description.userInfo = common.userInfo
  }

  private mutating func description(
    of attribute: ModelSource.Attribute, owner: String, depth: Int
  ) throws(ModelFileError) -> NSAttributeDescription {
    let result: NSAttributeDescription
    if attribute.type == .compositeAttributeType {
      let composite = NSCompositeAttributeDescription()
      composite.elements = try elements(of: attribute, owner: owner, depth: depth)
      result = composite
    } else if attribute.isDerived {
      let derived = NSDerivedAttributeDescription()
      derived.derivation = attribute.derivation
      result = derived
    } else {
      result = NSAttributeDescription()
    }
    apply(attribute.common, attribute.name, to: result)
    result.attributeType = attribute.type
    if let name = attribute.className { result.attributeValueClassName = name }
    result.valueTransformerName = attribute.transformerName
    result.allowsExternalBinaryDataStorage = attribute.allowsExternalStorage
    result.preservesValueInHistoryOnDeletion = attribute.preservesValueOnDeletion
    result.allowsCloudEncryption = attribute.allowsCloudEncryption
    result.defaultValue = AttributeText.defaultValue(of: attribute)
    let validations = AttributeText.validations(of: attribute)
    if !validations.isEmpty { result.setValidations(validations) }
    return result
  }

  private mutating func elements(
    of attribute: ModelSource.Attribute, owner: String, depth: Int
  ) throws(ModelFileError) -> [NSAttributeDescription] {
    let user = "attribute \(owner).\(attribute.name)"
    guard let name = attribute.compositeName, let composite = composites[name] else {
      throw error(
        "The \(user) names the composite \(attribute.compositeName ?? ""), which is not in the model.",
        attribute.common.line, user)
    }
    budget -= composite.attributes.count
    guard depth < Self.compositeLimit, budget >= 0 else {
      throw ModelFileError(
        .tooLarge, "The composite \(name) contains itself, or expands to too many attributes.",
        file: source.file, line: composite.line, element: "composite \(name)")
    }
    var result: [NSAttributeDescription] = []
    for element in composite.attributes {
      result.append(try description(of: element, owner: name, depth: depth + 1))
    }
    return result
  }

  private func connectInverses(of entity: ModelSource.Entity) {
    for relationship in entity.relationships {
      guard let name = relationship.inverseName, let made = relationships[entity.name]?[relationship.name]
      else { continue }
      // The inverse may be inherited by the destination.
      var owner = relationship.inverseEntity.flatMap { entities[$0] } ?? made.destinationEntity
      while let current = owner {
        if let inverse = current.name.flatMap({ relationships[$0]?[name] }) {
          made.inverseRelationship = inverse
          break
        }
        owner = current.superentity
      }
    }
  }

  // MARK: Requests and indexes

  private func template(_ request: ModelSource.Request) throws(ModelFileError) -> FetchRequestTemplate {
    _ = try entity(request.entity, request.line, "fetch request \(request.name)")
    var result = FetchRequestTemplate(
      entityName: request.entity,
      predicate: request.predicate.map { NSPredicate(format: $0, argumentArray: nil) })
    result.resultType = request.resultType
    result.fetchLimit = request.fetchLimit
    result.fetchBatchSize = request.fetchBatchSize
    result.includesSubentities = request.includesSubentities
    result.includesPropertyValues = request.includesPropertyValues
    result.returnsObjectsAsFaults = request.returnsObjectsAsFaults
    result.includesPendingChanges = request.includesPendingChanges
    result.returnsDistinctResults = request.returnsDistinctResults
    return result
  }

  private func index(_ source: ModelSource.Index) -> NSFetchIndexDescription {
    let elements = source.elements.map { element in
      let type: NSFetchIndexElementType = element.isSpatial ? .rTree : .binary
      let result =
        if let property = element.property {
          NSFetchIndexElementDescription(propertyName: property, collationType: type)
        } else {
          NSFetchIndexElementDescription(
            expressionFormat: element.expression ?? "", collationType: type)
        }
      result.isAscending = element.isAscending
      return result
    }
    let result = NSFetchIndexDescription(name: source.name, elements: elements)
    if let format = source.partialPredicate {
      result.setPartial(NSPredicate(format: format, argumentArray: nil))
    }
    return result
  }
}

extension NSFetchIndexDescription {
  /// Sets the condition, and what the store applies of it.
  func setPartial(_ predicate: NSPredicate) {
    partialIndexPredicate = predicate
    partialNotNil = (try? predicate.predicateTree()).flatMap(Self.notNilNames) ?? []
  }

  /// The names in a conjunction of comparisons with nil; `nil` for any other condition.
  private static func notNilNames(_ tree: PredicateTree) -> [String]? {
    switch tree {
    case .and(let parts):
      let names = parts.map(notNilNames)
      return names.contains { $0 == nil } ? nil : names.flatMap { $0! }
    case .comparison(let comparison):
      guard comparison.op == .notEqual, comparison.modifier == .direct,
        case .keyPath(let path) = comparison.left, path.count == 1,
        comparison.right == .constant(.null)
      else { return nil }
      return path
    default: return nil
    }
  }
}
