@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Makes descriptions from a compiled model, and connects them.
///
/// Core Data's archives of models are the same in `.mom` files and in stores. In stores, entities repeat
/// what they inherit.
struct CompiledModelReader {
  typealias Fields = ModelArchive.Fields

  let archive: ModelArchive
  var predicates: PredicateArchiveReader
  private var entities: [(index: Int, fields: Fields, description: NSEntityDescription)] = []
  private var entityByIndex: [Int: NSEntityDescription] = [:]
  private var entityByName: [String: NSEntityDescription] = [:]
  private var properties: [Int: NSPropertyDescription] = [:]
  /// Relationships with the fields that name their other ends.
  private var relationships: [(NSRelationshipDescription, Fields)] = []
  /// The underlying properties of stand-ins for inherited ones.
  private var proxies: [Int: Int] = [:]
  private var propertyCount = 0

  private static let propertyClasses: Set<String> = [
    "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription",
    "NSRelationshipDescription", "NSFetchedPropertyDescription",
  ]
  private static let inheritanceLimit = 64
  private static let compositeLimit = 16

  init(_ data: Data, file: String) throws(ModelFileError) {
    archive = try ModelArchive(data, file: file)
    predicates = PredicateArchiveReader(archive: archive)
  }

  consuming func fill(_ model: NSManagedObjectModel, module: String?) throws(ModelFileError) {
    guard let root = archive.fields(archive.root), archive.className(root) == "NSManagedObjectModel" else {
      throw ModelFileError(
        .unsupportedFormat, "The archive contains no model.", file: archive.file)
    }
    try readEntities(root, module: module)
    try connectParents()
    try readProperties()
    for (relationship, fields) in relationships { try connect(relationship, fields) }
    readIndexes()
    if archive.isExhausted { throw archive.damaged("its objects share too much") }
    model.entities = entities.map(\.description)
    model.versionIdentifiers = Set(
      archive.members(root[.versionIdentifiers]).compactMap { index in
        archive.text(.reference(index)).map { AnyHashable($0) }
      })
    for (name, value) in archive.entries(root[.configurations]) {
      // Stores list all entities once more under this name.
      if name == NSManagedObjectModel.defaultConfigurationName { continue }
      let members = archive.members(.reference(value)).compactMap { entityByIndex[$0] }
      model.setEntities(members, forConfigurationName: name)
    }
    for (name, value) in archive.entries(root[.fetchRequestTemplates]) {
      model.fetchRequestTemplates[name] = template(.reference(value), entityName: nil)
    }
  }

  // MARK: Entities

  private mutating func readEntities(_ root: Fields, module: String?) throws(ModelFileError) {
    for (key, index) in archive.entries(root[.entities]) {
      guard let fields = archive.fields(index), entityByIndex[index] == nil,
        archive.className(fields, among: ["NSEntityDescription"]) == "NSEntityDescription"
      else { throw archive.damaged("\(key) is no entity") }
      let name = archive.text(fields[.entityName]) ?? key
      let entity = NSEntityDescription()
      guard entityByName.updateValue(entity, forKey: name) == nil else {
        throw archive.damaged("two entities are named \(name)")
      }
      entity.name = name
      entity.managedObjectClassName =
        archive.text(fields[.classNameForEntity]).map { ClassNames.resolved($0, module: module) }
        ?? "NSManagedObject"
      entity.isAbstract = archive.flag(fields[.isAbstract])
      entity.renamingIdentifier = archive.text(fields[.renamingIdentifier])
      entity.versionHashModifier = archive.text(fields[.versionHashModifier])
      entity.userInfo = archive.userInfo(fields)
      entity.uniquenessConstraints = lists(fields[.uniqueTuples])
      entity.compoundIndexes = lists(fields[.compoundIndexes])
      entityByIndex[index] = entity
      entities.append((index, fields, entity))
    }
  }

  private func lists(_ node: PropertyListNode?) -> [[String]] {
    archive.members(node).map { list in
      // Names, or the properties themselves.
      archive.members(.reference(list)).compactMap { member in
        archive.text(.reference(member)) ?? archive.text(archive.fields(member)?[.propertyName])
      }
    }.filter { !$0.isEmpty }
  }

  private mutating func connectParents() throws(ModelFileError) {
    var parents: [Int: Int] = [:]
    for (index, fields, entity) in entities {
      guard let parent = archive.reference(fields[.superentity]) else { continue }
      guard entityByIndex[parent] != nil else {
        throw archive.damaged("the parent of \(entity.name ?? "") is not in the model")
      }
      parents[index] = parent
    }
    var depths: [Int: Int] = [:]
    for (index, _, entity) in entities {
      var (current, depth) = (index, 0)
      while let next = parents[current] {
        (current, depth) = (next, depth + 1)
        guard depth <= Self.inheritanceLimit else {
          throw archive.damaged(
            "\(entity.name ?? "") inherits from itself, or over more than \(Self.inheritanceLimit) entities")
        }
      }
      depths[index] = depth
    }
    var children: [Int: [NSEntityDescription]] = [:]
    for (index, _, entity) in entities {
      if let parent = parents[index] { children[parent, default: []].append(entity) }
    }
    for (parent, list) in children { entityByIndex[parent]!.subentities = list }
    readingOrder = entities.indices.sorted {
      (depths[entities[$0].index]!, $0) < (depths[entities[$1].index]!, $1)
    }
  }

  /// Positions of the entities, parents before their children.
  private var readingOrder: [Int] = []

  // MARK: Properties

  private mutating func readProperties() throws(ModelFileError) {
    // Names by entity, with the inherited ones.
    var names: [ObjectIdentifier: Set<String>] = [:]
    for position in readingOrder {
      let (_, fields, entity) = entities[position]
      var known = entity.superentity.flatMap { names[ObjectIdentifier($0)] } ?? []
      var own: [NSPropertyDescription] = []
      for (name, index) in archive.entries(fields[.properties]) {
        guard let fields = archive.fields(index) else { throw archive.damaged("\(name) is no property") }
        if archive.className(fields) == "_NSPropertyDescriptionProxy" {
          proxies[index] = archive.reference(fields[.underlyingProperty])
          continue
        }
        guard known.insert(name).inserted else { continue }
        let property = try property(fields, name, owner: entity.name ?? "", depth: 0)
        if properties[index] == nil { properties[index] = property }
        own.append(property)
      }
      entity.properties = own
      names[ObjectIdentifier(entity)] = known
    }
  }

  private mutating func property(
    _ fields: Fields, _ key: String, owner: String, depth: Int
  ) throws(ModelFileError) -> NSPropertyDescription {
    // Each property has an object of its own.
    propertyCount += 1
    guard propertyCount <= archive.count else {
      throw archive.damaged("\(owner).\(key) is a property of too many entities")
    }
    let result: NSPropertyDescription
    switch archive.className(fields, among: Self.propertyClasses) {
    case "NSAttributeDescription": result = try attribute(NSAttributeDescription(), fields, owner, key)
    case "NSDerivedAttributeDescription":
      let derived = NSDerivedAttributeDescription()
      derived.derivation = predicates.derivation(fields[.derivationExpression])
      result = try attribute(derived, fields, owner, key)
    case "NSCompositeAttributeDescription":
      let composite = NSCompositeAttributeDescription()
      let members = archive.members(fields[.compositeElements])
      guard depth < Self.compositeLimit else {
        throw archive.damaged("the composite \(owner).\(key) contains itself")
      }
      for member in members {
        guard let fields = archive.fields(member),
          let element = try property(fields, "", owner: "\(owner).\(key)", depth: depth + 1)
            as? NSAttributeDescription
        else { throw archive.damaged("the composite \(owner).\(key) has something else than attributes") }
        composite.elements.append(element)
      }
      result = try attribute(composite, fields, owner, key)
    case "NSRelationshipDescription":
      let relationship = NSRelationshipDescription()
      func count(_ key: ArchiveKey) -> Int { Int(Int32(clamping: archive.integer(fields[key]) ?? 0)) }
      relationship.minCount = count(.minCount)
      relationship.maxCount = count(.maxCount)
      relationship.isOrdered = archive.flag(fields[.isOrdered])
      relationship.deleteRule =
        archive.integer(fields[.deleteRule]).flatMap { UInt(exactly: $0) }
        .flatMap { NSDeleteRule(rawValue: $0) } ?? .nullifyDeleteRule
      relationships.append((relationship, fields))
      result = relationship
    case "NSFetchedPropertyDescription":
      let fetched = NSFetchedPropertyDescription()
      fetched.template = template(
        fields[.fetchRequest], entityName: archive.text(fields[.fetchRequestEntityName]))
      result = fetched
    case let other:
      throw ModelFileError(
        .unsupportedFormat, "\(owner).\(key) is of the class \(other), which is unknown.",
        file: archive.file, element: "\(owner).\(key)")
    }
    result.name = archive.text(fields[.propertyName]) ?? key
    result.isOptional = archive.flag(fields[.isOptional])
    result.isTransient = archive.flag(fields[.isTransient])
    result.isIndexed = archive.flag(fields[.isIndexed])
    result.renamingIdentifier = archive.text(fields[.renamingIdentifier])
    result.versionHashModifier = archive.text(fields[.versionHashModifier])
    result.userInfo = archive.userInfo(fields)
    let rules = archive.members(fields[.validationPredicates])
    if !rules.isEmpty {
      let warnings = archive.members(fields[.validationWarnings])
      var validations: [(NSPredicate, Any)] = []
      for (position, rule) in rules.enumerated() {
        guard let predicate = predicates.predicate(.reference(rule)) else { continue }
        let warning = warnings.indices.contains(position) ? warnings[position] : 0
        validations.append((predicate, archive.constant(.reference(warning))?.described ?? ""))
      }
      result.setValidations(validations)
    }
    return result
  }

  private mutating func attribute(
    _ attribute: NSAttributeDescription, _ fields: Fields, _ owner: String, _ name: String
  ) throws(ModelFileError) -> NSAttributeDescription {
    let code = archive.integer(fields[.attributeType]) ?? 0
    guard let type = UInt(exactly: code).flatMap({ NSAttributeType(rawValue: $0) }) else {
      throw ModelFileError(
        .unsupportedFormat, "\(owner).\(name) has the type \(code), which is unknown.", file: archive.file,
        element: "\(owner).\(name)")
    }
    attribute.attributeType = type
    if let className = archive.text(fields[.attributeValueClassName]) {
      attribute.attributeValueClassName = className
    }
    attribute.valueTransformerName = archive.text(fields[.valueTransformerName])
    let flags = archive.integer(fields[.flagsKey]) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
    attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
    let constant = archive.constant(fields[.defaultValue])
    if type == .floatAttributeType, case .double(let value)? = constant {
      // Archives have one size of real numbers.
      attribute.defaultValue = NSNumber(value: Float(value))
    } else {
      attribute.defaultValue = constant?.described
    }
    return attribute
  }

  private func connect(_ relationship: NSRelationshipDescription, _ fields: Fields) throws(ModelFileError) {
    let name = archive.text(fields[.destinationEntityName])
    let destination =
      archive.reference(fields[.destinationEntity]).flatMap { entityByIndex[$0] }
      ?? name.flatMap { entityByName[$0] }
    guard let destination else {
      throw archive.damaged("the relationship \(relationship.name) has no destination")
    }
    relationship.destinationEntity = destination
    var inverseName = archive.text(fields[.inverseRelationshipName])
    if var index = archive.reference(fields[.inverseRelationship]) {
      var depth = 0
      while let underlying = proxies[index], depth < Self.inheritanceLimit {
        (index, depth) = (underlying, depth + 1)
      }
      if let inverse = properties[index] as? NSRelationshipDescription {
        relationship.inverseRelationship = inverse
        return
      }
      // A store repeats inherited relationships in the sub-entities. The one that is meant has the same name.
      inverseName = inverseName ?? archive.text(archive.fields(index)?[.propertyName])
    }
    guard let name = inverseName else { return }
    var owner: NSEntityDescription? = destination
    while let entity = owner {
      if let inverse = entity.ownProperties.first(where: { $0.name == name }) {
        relationship.inverseRelationship = inverse as? NSRelationshipDescription
        return
      }
      owner = entity.superentity
    }
  }
}

// MARK: Indexes and requests

extension CompiledModelReader {
  fileprivate mutating func readIndexes() {
    for (_, fields, entity) in entities {
      var indexes: [NSFetchIndexDescription] = []
      for index in archive.members(fields[.fetchIndexDescriptions]) {
        guard let fields = archive.fields(index), let name = archive.text(fields[.indexName]) else {
          continue
        }
        let elements = archive.members(fields[.indexElements]).compactMap { archive.fields($0) }
          .compactMap { element($0) }
        // Core Data's own models also index what is no property, such as the entity. A fetch gives the same result.
        guard !elements.isEmpty, elements.allSatisfy({ isStored($0, in: entity) }) else { continue }
        let description = NSFetchIndexDescription(name: name, elements: elements)
        if let predicate = predicates.predicate(fields[.partialIndexPredicate]) {
          description.setPartial(predicate)
        }
        indexes.append(description)
      }
      entity.indexes = indexes
    }
  }

  private func isStored(_ element: NSFetchIndexElementDescription, in entity: NSEntityDescription) -> Bool {
    if element.expressionFormat != nil { return true }
    let name = element.propertyName?.split(separator: ".").first.map(String.init)
    guard let name, let property = entity.propertiesByName[name] else { return false }
    return !property.isTransient && !(property is NSFetchedPropertyDescription)
  }

  private mutating func element(_ fields: Fields) -> NSFetchIndexElementDescription? {
    let type: NSFetchIndexElementType =
      archive.integer(fields[.fetchIndexElementType]) == 1 ? .rTree : .binary
    let result: NSFetchIndexElementDescription
    if let expression = predicates.derivation(fields[.expression]) {
      result = NSFetchIndexElementDescription(expressionFormat: expression, collationType: type)
    } else if let name = archive.text(fields[.propertyName]) {
      result = NSFetchIndexElementDescription(propertyName: name, collationType: type)
    } else {
      return nil
    }
    result.isAscending = fields[.ascending].map { archive.flag($0) } ?? true
    return result
  }

  fileprivate mutating func template(
    _ node: PropertyListNode?, entityName: String?
  ) -> FetchRequestTemplate? {
    guard let fields = archive.fields(node) else { return nil }
    let entity = archive.reference(fields[.entity]).flatMap { archive.fields($0) }
    guard
      let name = entity.flatMap({ archive.text($0[.entityName]) })
        ?? archive.text(fields[.entityName]) ?? entityName
    else { return nil }
    var result = FetchRequestTemplate(
      entityName: name, predicate: predicates.predicate(fields[.predicate]))
    for index in archive.members(fields[.sortDescriptors]) {
      guard let sort = archive.fields(index), let key = archive.text(sort[.key]) else { continue }
      result.sortKeys.append(
        .init(
          key: key, ascending: archive.flag(sort[.ascending]), selector: archive.text(sort[.selector])))
    }
    func count(_ key: ArchiveKey) -> Int { max(0, archive.integer(fields[key]) ?? 0) }
    result.resultType = UInt(count(.resultType))
    result.fetchLimit = count(.fetchLimit)
    result.fetchOffset = count(.fetchOffset)
    result.fetchBatchSize = count(.batchSize)
    if archive.flag(fields[.hasFetchRequestFlags]),
      let flags = archive.integer(fields[.fetchRequestFlags])
    {
      FetchRequestFlags.apply(flags, to: &result)
    }
    return result
  }
}

/// The settings of an archived fetch request that are one bit each.
enum FetchRequestFlags {
  private static var bits: [(Int, WritableKeyPath<FetchRequestTemplate, Bool>)] {
    [
      (1, \.returnsDistinctResults), (2, \.includesSubentities), (4, \.includesPropertyValues),
      (8, \.returnsObjectsAsFaults), (16, \.includesPendingChanges),
    ]
  }

  static func apply(_ flags: Int, to template: inout FetchRequestTemplate) {
    for (bit, path) in bits { template[keyPath: path] = flags & bit != 0 }
  }

  static func flags(of template: FetchRequestTemplate) -> Int {
    bits.reduce(0) { template[keyPath: $1.1] ? $0 | $1.0 : $0 }
  }
}
