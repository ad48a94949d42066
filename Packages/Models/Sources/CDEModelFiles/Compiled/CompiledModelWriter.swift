@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Writes a model as the archive that Core Data's compiler makes of it: the same classes and keys.
struct CompiledModelWriter {
  private var archive = ArchiveBuilder()
  private let file: String
  private let model: NSManagedObjectModel
  private var entities: [ObjectIdentifier: Int] = [:]
  private var properties: [ObjectIdentifier: Int] = [:]

  /// The bytes of a `.mom`. Equal models give equal bytes.
  ///
  /// - Parameters:
  ///   - model: The model. Its relationships must have destinations in it.
  ///   - file: The path of the model, for errors.
  static func data(of model: NSManagedObjectModel, file: String) throws(ModelFileError) -> Data {
    var writer = Self(model, file)
    return try writer.write()
  }

  private init(_ model: NSManagedObjectModel, _ file: String) {
    self.model = model
    self.file = file
  }

  private mutating func write() throws(ModelFileError) -> Data {
    let root = archive.reserve()
    for entity in model.entities {
      entities[ObjectIdentifier(entity)] = archive.reserve()
      for property in entity.ownProperties { properties[ObjectIdentifier(property)] = archive.reserve() }
    }
    for entity in model.entities { try write(entity, root) }
    var fields: ArchiveBuilder.Fields = [:]
    fields["NSEntities"] = archive.dictionary(model.entities.map { ($0.name ?? "", reference($0)) })
    let identifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    fields["NSVersionIdentifiers"] = archive.array(identifiers.map { archive.string($0) }, class: "NSSet")
    fields["NSFetchRequestTemplates"] = ArchiveBuilder.null
    if !model.fetchRequestTemplates.isEmpty {
      var entries: [(String, PropertyListNode)] = []
      for (name, template) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
        entries.append((name, try request(template, "the fetch request \(name)")))
      }
      fields["NSFetchRequestTemplates"] = archive.dictionary(entries)
    }
    if !model.configurations.isEmpty {
      var entries: [(String, PropertyListNode)] = []
      for name in model.configurations {
        let members = model.entities(forConfigurationName: name) ?? []
        entries.append((name, archive.array(members.map(reference), class: "NSSet")))
      }
      fields["NSConfigurations"] = archive.dictionary(entries)
    }
    archive.set(root, "NSManagedObjectModel", fields)
    return archive.data(root: root)
  }

  private func reference(_ entity: NSEntityDescription?) -> PropertyListNode {
    entity.flatMap { entities[ObjectIdentifier($0)] }.map { .reference($0) } ?? ArchiveBuilder.null
  }

  private func unsupported(_ what: String, _ cause: PredicateTreeError) -> ModelFileError {
    ModelFileError(
      .unsupportedExpression, "The condition of \(what) can't be compiled: \(cause.message).", file: file,
      element: what, cause: cause)
  }

  private mutating func predicate(
    _ predicate: NSPredicate?, _ what: String
  ) throws(ModelFileError) -> PropertyListNode {
    guard let predicate else { return ArchiveBuilder.null }
    do throws(PredicateTreeError) { return try archive.predicate(predicate) } catch {
      throw unsupported(what, error)
    }
  }

  private mutating func expression(_ text: String?, _ what: String) throws(ModelFileError) -> PropertyListNode
  {
    do throws(PredicateTreeError) {
      return try archive.expression(try ExpressionTree(format: text ?? ""))
    } catch {
      throw unsupported(what, error)
    }
  }

  // MARK: Entities

  private mutating func write(_ entity: NSEntityDescription, _ root: Int) throws(ModelFileError) {
    let name = entity.name ?? ""
    var fields: ArchiveBuilder.Fields = [
      "NSEntityName": archive.string(name),
      "NSClassNameForEntity": archive.string(entity.managedObjectClassName ?? "NSManagedObject"),
      "NSRenamingIdentifier": archive.string(entity.renamingIdentifier),
      "NSVersionHashModifier": archive.string(entity.versionHashModifier),
      "NSManagedObjectModel": .reference(root), "NSSuperentity": reference(entity.superentity),
    ]
    if entity.isAbstract { fields["NSIsAbstract"] = .bool(true) }
    fields["NSUserInfo"] = archive.userInfo(entity.userInfo ?? [:])
    fields["NSSubentities"] = archive.dictionary(
      entity.subentities.map { ($0.name ?? "", reference($0)) })
    for property in entity.ownProperties { try write(property, of: entity) }
    fields["NSProperties"] = archive.dictionary(
      entity.ownProperties.map { ($0.name, .reference(properties[ObjectIdentifier($0)]!)) })
    let constraints = entity.uniquenessConstraints.map { $0.compactMap { $0 as? String } }
    let compounds = entity.compoundIndexes.map { $0.compactMap { $0 as? String } }
    if !constraints.isEmpty { fields["NSUniqueTuples"] = lists(constraints) }
    if !entity.indexes.isEmpty {
      var list: [PropertyListNode] = []
      for index in entity.indexes { list.append(try self.index(index, of: entity)) }
      fields["NSFetchIndexDescriptions"] = archive.array(list, class: "NSMutableArray")
    }
    if !compounds.isEmpty || !entity.indexes.isEmpty { fields["NSCompoundIndexes"] = lists(compounds) }
    archive.set(entities[ObjectIdentifier(entity)]!, "NSEntityDescription", fields)
  }

  private mutating func lists(_ lists: [[String]]) -> PropertyListNode {
    let members = lists.map { list in
      archive.array(list.map { archive.string($0) }, class: "NSMutableArray")
    }
    return archive.array(members, class: "NSMutableArray")
  }

  private mutating func index(
    _ index: NSFetchIndexDescription, of entity: NSEntityDescription
  ) throws(ModelFileError) -> PropertyListNode {
    let what = "the index \(entity.name ?? "").\(index.name)"
    let place = archive.reserve()
    var elements: [PropertyListNode] = []
    for element in index.elements {
      var fields: ArchiveBuilder.Fields = [
        "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)),
        "NSAscending": .bool(element.isAscending), "NSFetchIndexDescription": .reference(place),
        "NSPropertyName": archive.string(element.propertyName),
      ]
      if let text = element.expressionFormat { fields["NSExpression"] = try expression(text, what) }
      elements.append(archive.object("NSFetchIndexElementDescription", fields))
    }
    let fields: ArchiveBuilder.Fields = [
      "NSIndexName": archive.string(index.name), "NSEntity": reference(entity),
      "NSPartialIndexPredicate": try predicate(index.partialIndexPredicate, what),
      "NSIndexElements": archive.array(elements),
    ]
    archive.set(place, "NSFetchIndexDescription", fields)
    return .reference(place)
  }

  // MARK: Properties

  private mutating func write(
    _ property: NSPropertyDescription, of entity: NSEntityDescription
  ) throws(ModelFileError) {
    let what = "\(entity.name ?? "").\(property.name)"
    let place = properties[ObjectIdentifier(property)]!
    var fields = try common(property, what)
    fields["NSEntity"] = reference(entity)
    switch property {
    case let attribute as NSAttributeDescription:
      try archiveAttribute(attribute, place, fields, what)
    case let relationship as NSRelationshipDescription:
      let destination = relationship.destinationEntity
      fields["NSDestinationEntity"] = reference(destination)
      fields["_NSDestinationEntityName"] = archive.string(destination?.name)
      let inverse = relationship.inverseRelationship
      fields["NSInverseRelationship"] =
        inverse.flatMap { properties[ObjectIdentifier($0)] }.map { .reference($0) } ?? ArchiveBuilder.null
      fields["_NSInverseRelationshipName"] = archive.string(inverse?.name)
      fields["NSMinCount"] = .integer(Int64(relationship.minCount))
      fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
      fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
      if relationship.isOrdered { fields["NSIsOrdered"] = .bool(true) }
      archive.set(place, "NSRelationshipDescription", fields)
    case let fetched as NSFetchedPropertyDescription:
      fields["_NSFetchRequestEntityName"] = archive.string(fetched.template?.entityName)
      fields["NSFetchRequest"] = ArchiveBuilder.null
      if let template = fetched.template { fields["NSFetchRequest"] = try request(template, what) }
      archive.set(place, "NSFetchedPropertyDescription", fields)
    default: archive.set(place, "NSPropertyDescription", fields)
    }
  }

  private mutating func common(
    _ property: NSPropertyDescription, _ what: String
  ) throws(ModelFileError) -> ArchiveBuilder.Fields {
    var fields: ArchiveBuilder.Fields = [
      "NSPropertyName": archive.string(property.name),
      "NSRenamingIdentifier": archive.string(property.renamingIdentifier),
    ]
    let isReadOnly = property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
    // Core Data's own summary of the fields, with the bits as they are in its archives.
    var summary: Int64 = 0b1111_0001
    if property.isOptional {
      fields["NSIsOptional"] = .bool(true)
      summary |= 2
    }
    if isReadOnly {
      fields["NSIsReadOnly"] = .bool(true)
      summary |= 4
    }
    if property.isTransient {
      fields["NSIsTransient"] = .bool(true)
      summary |= 8
    }
    if property.isIndexed { fields["NSIsIndexed"] = .bool(true) }
    if let modifier = property.versionHashModifier {
      fields["NSVersionHashModifier"] = archive.string(modifier)
    }
    if let info = property.userInfo, !info.isEmpty {
      fields["NSUserInfo"] = archive.userInfo(info)
      summary &= ~64
    }
    if (property as? NSRelationshipDescription)?.isOrdered == true { summary |= 1024 }
    fields["_P"] = .integer(summary)
    if !property.validationPredicates.isEmpty {
      var rules: [PropertyListNode] = []
      var warnings: [PropertyListNode] = []
      for (rule, warning) in zip(property.validationPredicates, property.validationWarnings) {
        rules.append(try predicate(rule, what))
        let constant = PredicateConstant(described: warning) ?? .string("")
        warnings.append(archive.constant(constant) ?? ArchiveBuilder.null)
      }
      fields["NSValidationPredicates"] = archive.array(rules)
      fields["NSValidationWarnings"] = archive.array(warnings)
    }
    return fields
  }

  private mutating func archiveAttribute(
    _ attribute: NSAttributeDescription, _ place: Int, _ fields: ArchiveBuilder.Fields, _ what: String
  ) throws(ModelFileError) {
    var fields = fields
    fields["NSAttributeType"] = .integer(Int64(attribute.attributeType.rawValue))
    fields["NSAttributeValueClassName"] = archive.string(attribute.attributeValueClassName)
    fields["NSValueTransformerName"] = archive.string(attribute.valueTransformerName)
    fields["NSFlagsKey"] = .integer(
      (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
        + (attribute.preservesValueInHistoryOnDeletion ? 16 : 0))
    var value: PropertyListNode? = ArchiveBuilder.null
    if let given = attribute.defaultValue {
      value = PredicateConstant(described: given).flatMap { archive.constant($0) }
      // Archives have neither dictionaries nor values of the application. A default value is no part of a version, so a copy of the
      // model is as good without it.
      let isOfAnyClass =
        attribute.attributeType == .compositeAttributeType
        || attribute.attributeType == .transformableAttributeType
      if value == nil, isOfAnyClass { value = ArchiveBuilder.null }
    }
    guard let value else {
      throw ModelFileError(
        .invalidModel, "The default value of \(what) is of a type that models can't contain.", file: file,
        element: what)
    }
    fields["NSDefaultValue"] = value
    var name = "NSAttributeDescription"
    if let derived = attribute as? NSDerivedAttributeDescription {
      name = "NSDerivedAttributeDescription"
      fields["NSDerivationExpression"] = try expression(derived.derivation, what)
      fields["NSFilteringPredicate"] = ArchiveBuilder.null
    } else if let composite = attribute as? NSCompositeAttributeDescription {
      name = "NSCompositeAttributeDescription"
      var members: [PropertyListNode] = []
      for element in composite.elements {
        let index = archive.reserve()
        let inner = "\(what).\(element.name)"
        try archiveAttribute(element, index, try common(element, inner), inner)
        members.append(.reference(index))
      }
      fields["NSCompositeElements"] = archive.array(members)
    }
    archive.set(place, name, fields)
  }

  // MARK: Requests

  private mutating func request(
    _ template: FetchRequestTemplate, _ what: String
  ) throws(ModelFileError) -> PropertyListNode {
    let entity = model.entitiesByName[template.entityName]
    var fields: ArchiveBuilder.Fields = [
      "NSEntity": reference(entity), "NSPredicate": try predicate(template.predicate, what),
      "NSResultType": .integer(Int64(clamping: template.resultType)),
      "NSFetchLimit": .integer(Int64(template.fetchLimit)),
      "NSFetchOffset": .integer(Int64(template.fetchOffset)),
      "NSBatchSize": .integer(Int64(template.fetchBatchSize)), "NSHasFetchRequestFlags": .bool(true),
      "NSFetchRequestFlags": .integer(Int64(FetchRequestFlags.flags(of: template))),
      "NSAllocationType": .integer(0),
    ]
    for key in [
      "NSSortDescriptors", "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate",
      "NSRelationshipKeyPathsForPrefetching",
    ] { fields[key] = ArchiveBuilder.null }
    if !template.sortKeys.isEmpty {
      let keys = template.sortKeys.map { sort in
        archive.object(
          "NSSortDescriptor",
          [
            "NSKey": archive.string(sort.key), "NSAscending": .bool(sort.ascending),
            "NSSelector": archive.string(sort.selector ?? "compare:"),
          ])
      }
      fields["NSSortDescriptors"] = archive.array(keys)
    }
    return archive.object("NSFetchRequest", fields)
  }
}

extension PredicateConstant {
  /// A value of a description as a constant; nil for what compiled models can't hold.
  init?(described value: Any) {
    if let values = value as? [Any] {
      let members = values.compactMap { PredicateConstant(described: $0) }
      guard members.count == values.count else { return nil }
      self = .list(members)
    } else if let constant = PredicateConstant(value), constant.scalar != nil {
      self = constant
    } else {
      return nil
    }
  }
}
