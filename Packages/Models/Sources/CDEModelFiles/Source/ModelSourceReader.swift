@_spi(CDE) internal import CDEManagedModel
public import Foundation

extension ModelSource {
  /// Reads the bytes of a `contents` file.
  ///
  /// - Parameters:
  ///   - data: The file, in XML.
  ///   - file: The path of the file, for errors.
  /// - Throws: ``ModelFileError`` that names the element and the line.
  public init(xml data: Data, file: String) throws(ModelFileError) {
    self.init(file: file)
    var reader = ModelSourceReader(xml: try XMLReader(data, file: file))
    while true {
      switch try reader.xml.next() {
      case .start(let tag):
        guard tag.name == "model" else {
          throw reader.xml.error(
            .unsupportedFormat, "The file is no model: its root element is <\(tag.name)>.", in: tag)
        }
        versionIdentifier = tag["userDefinedModelVersionIdentifier"] ?? ""
        try reader.readModel(into: &self)
        warnings = (reader.warnings + inverseWarnings() + textWarnings()).sorted { $0.line < $1.line }
      case .finished: return
      case .end, .text: break
      }
    }
  }
}

/// Reads the elements of a `contents` file, one function for each kind of element.
private struct ModelSourceReader {
  var xml: XMLReader
  private(set) var warnings: [ModelSource.Warning] = []

  init(xml: XMLReader) { self.xml = xml }

  /// What was read of an element.
  private enum Part {
    case all
    /// The attributes; or nothing, of an element that means nothing to programs.
    case start
    /// Nothing. A later version of the editor may have written it.
    case none
  }

  /// Calls `body` with each child of the element that was started last. What `body` does not read is left out. A warning says so
  /// of a child that is unknown.
  private mutating func children(
    of owner: String, _ body: (inout Self, XMLTag) throws(ModelFileError) -> Part
  ) throws(ModelFileError) {
    while true {
      switch try xml.next() {
      case .start(let tag):
        let part = try body(&self, tag)
        if part == .all { continue }
        if part == .none {
          warnings.append(
            .init(
              file: xml.file, line: tag.line,
              text: "The \(owner) has an element <\(tag.name)>, which is unknown there. It is left out."))
        }
        try xml.skipElement()
      case .end, .finished: return
      case .text: break
      }
    }
  }

  private func required(_ name: String, of tag: XMLTag) throws(ModelFileError) -> String {
    guard let value = tag[name], !value.isEmpty else {
      throw xml.error(.invalidModel, "<\(tag.name)> has no \(name). Give it one.", in: tag)
    }
    return value
  }

  // MARK: The model

  mutating func readModel(into source: inout ModelSource) throws(ModelFileError) {
    var names: Set<String> = []
    try children(of: "model") { (reader, tag) throws(ModelFileError) in
      switch tag.name {
      case "entity":
        let entity = try reader.entity(tag)
        guard names.insert(entity.name).inserted else {
          throw reader.xml.error(
            .invalidModel, "Two entities are named \(entity.name). Rename one of them.", in: tag)
        }
        source.entities.append(entity)
      case "fetchRequest": source.requests.append(try reader.request(tag))
      case "configuration":
        var configuration = ModelSource.Configuration(
          name: try reader.required("name", of: tag), line: tag.line)
        try reader.children(of: "configuration \(configuration.name)") {
          (reader, tag) throws(ModelFileError) in
          guard tag.name == "memberEntity" else { return Self.unread(tag) }
          configuration.members.append(try reader.required("name", of: tag))
          return .start
        }
        source.configurations.append(configuration)
      case "composite":
        var composite = ModelSource.Composite(name: try reader.required("name", of: tag), line: tag.line)
        var elements: Set<String> = []
        try reader.children(of: "composite \(composite.name)") { (reader, tag) throws(ModelFileError) in
          guard tag.name == "attribute" else { return Self.unread(tag) }
          let attribute = try reader.attribute(tag)
          guard elements.insert(attribute.name).inserted else {
            throw reader.xml.error(
              .invalidModel,
              "Two attributes of the composite \(composite.name) are named \(attribute.name). Rename one.",
              in: tag)
          }
          composite.attributes.append(attribute)
          return .all
        }
        source.composites.append(composite)
      // The picture in the editor.
      case "elements": return .start
      default: return Self.unread(tag)
      }
      return .all
    }
  }

  /// Compiled models have user info of entities and properties alone.
  private static func unread(_ tag: XMLTag) -> Part { tag.name == "userInfo" ? .start : .none }

  // MARK: Entities

  private mutating func entity(_ tag: XMLTag) throws(ModelFileError) -> ModelSource.Entity {
    var entity = ModelSource.Entity(name: try required("name", of: tag), common: common(tag))
    entity.representedClassName = tag["representedClassName"].flatMap { $0.isEmpty ? nil : $0 }
    entity.parentName = tag["parentEntity"].flatMap { $0.isEmpty ? nil : $0 }
    entity.isAbstract = flag(tag["isAbstract"])
    entity.codeGeneration = tag["codeGenerationType"].flatMap { .init(rawValue: $0) } ?? .none
    var names: Set<String> = []
    try children(of: "entity \(entity.name)") { (reader, tag) throws(ModelFileError) in
      switch tag.name {
      case "attribute": entity.attributes.append(try reader.attribute(tag))
      case "relationship": entity.relationships.append(try reader.relationship(tag))
      case "fetchedProperty": entity.fetchedProperties.append(try reader.fetchedProperty(tag))
      case "fetchIndex":
        entity.indexes.append(try reader.index(tag))
        return .all
      case "uniquenessConstraints":
        entity.uniquenessConstraints += try reader.lists("uniquenessConstraint", of: "constraint")
        return .all
      case "compoundIndexes":
        entity.compoundIndexes += try reader.lists("compoundIndex", of: "index")
        return .all
      case "userInfo":
        entity.common.userInfo = try reader.userInfo()
        return .all
      default: return .none
      }
      let name = tag["name"] ?? ""
      guard names.insert(name).inserted else {
        throw reader.xml.error(
          .invalidModel, "\(entity.name) has two properties named \(name). Rename one of them.", in: tag)
      }
      entity.order.append(name)
      return .all
    }
    return entity
  }

  private func common(_ tag: XMLTag) -> ModelSource.Common {
    ModelSource.Common(
      line: tag.line, isOptional: flag(tag["optional"]), isTransient: flag(tag["transient"]),
      isIndexed: flag(tag["indexed"]), isIndexedBySpotlight: flag(tag["spotlightIndexingEnabled"]),
      renamingIdentifier: tag["elementID"].flatMap { $0.isEmpty ? nil : $0 },
      versionHashModifier: tag["versionHashModifier"].flatMap { $0.isEmpty ? nil : $0 })
  }

  /// The user info of the element that was started last.
  private mutating func userInfo() throws(ModelFileError) -> [String: String] {
    var result: [String: String] = [:]
    try children(of: "user info") { (_, tag) in
      guard tag.name == "entry" else { return .none }
      if let key = tag["key"] { result[key] = tag["value"] ?? "" }
      return .start
    }
    return result
  }

  /// Reads the user info among the children of the element that was started last.
  private mutating func readUserInfo(
    of owner: String, into common: inout ModelSource.Common
  ) throws(ModelFileError) {
    var found: [String: String]?
    try children(of: owner) { (reader, tag) throws(ModelFileError) in
      guard tag.name == "userInfo" else { return .none }
      found = try reader.userInfo()
      return .all
    }
    common.userInfo = found
  }

  private mutating func lists(
    _ list: String, of member: String
  ) throws(ModelFileError) -> [[String]] {
    var result: [[String]] = []
    try children(of: "list \(list)s") { (reader, tag) throws(ModelFileError) in
      guard tag.name == list else { return .none }
      var members: [String] = []
      try reader.children(of: list) { (_, tag) in
        guard tag.name == member else { return .none }
        if let value = tag["value"] { members.append(value) }
        return .start
      }
      if !members.isEmpty { result.append(members) }
      return .all
    }
    return result
  }

  // MARK: Properties

  private mutating func attribute(_ tag: XMLTag) throws(ModelFileError) -> ModelSource.Attribute {
    var result = ModelSource.Attribute(name: try required("name", of: tag), common: common(tag))
    if let type = tag["attributeType"] {
      guard let known = AttributeTypeNames.type(named: type) else {
        throw xml.error(
          .unsupportedFormat, "The attribute \(result.name) has the type “\(type)”, which is unknown.",
          in: tag)
      }
      result.type = known
    }
    func text(_ name: String) -> String? { tag[name].flatMap { $0.isEmpty ? nil : $0 } }
    result.className = text("customClassName")
    result.transformerName = text("valueTransformerName")
    result.compositeName = text("composite")
    result.derivation = text("derivationExpression")
    result.isDerived = flag(tag["derived"]) || result.derivation != nil
    result.allowsExternalStorage = flag(tag["allowsExternalBinaryDataStorage"])
    result.preservesValueOnDeletion = flag(tag["preserveAfterDeletion"])
    result.allowsCloudEncryption = flag(tag["allowsCloudEncryption"])
    result.usesScalar = flag(tag["usesScalarValueType"])
    result.defaultText = tag["defaultValueString"]
    result.defaultSeconds = text("defaultDateTimeInterval")
    result.minimum = text("minValueString")
    result.maximum = text("maxValueString")
    result.minimumSeconds = text("minDateTimeInterval")
    result.maximumSeconds = text("maxDateTimeInterval")
    result.pattern = text("regularExpressionString")
    try readUserInfo(of: "attribute \(result.name)", into: &result.common)
    return result
  }

  private mutating func relationship(_ tag: XMLTag) throws(ModelFileError) -> ModelSource.Relationship {
    var result = ModelSource.Relationship(
      name: try required("name", of: tag), destination: try required("destinationEntity", of: tag),
      common: common(tag))
    result.inverseName = tag["inverseName"].flatMap { $0.isEmpty ? nil : $0 }
    result.inverseEntity = tag["inverseEntity"].flatMap { $0.isEmpty ? nil : $0 }
    func count(_ name: String) -> Int { max(0, tag[name].flatMap { Int32($0) }.map(Int.init) ?? 0) }
    result.minCount = count("minCount")
    result.maxCount = flag(tag["toMany"]) ? count("maxCount") : 1
    result.isOrdered = flag(tag["ordered"])
    switch tag["deletionRule"] {
    case "No Action": result.deleteRule = .noActionDeleteRule
    case "Cascade": result.deleteRule = .cascadeDeleteRule
    case "Deny": result.deleteRule = .denyDeleteRule
    default: result.deleteRule = .nullifyDeleteRule
    }
    try readUserInfo(of: "relationship \(result.name)", into: &result.common)
    return result
  }

  private mutating func fetchedProperty(
    _ tag: XMLTag
  ) throws(ModelFileError) -> ModelSource.FetchedProperty {
    var result = ModelSource.FetchedProperty(name: try required("name", of: tag), common: common(tag))
    try children(of: "fetched property \(result.name)") { (reader, tag) throws(ModelFileError) in
      switch tag.name {
      case "fetchRequest": result.request = try reader.request(tag)
      case "userInfo": result.common.userInfo = try reader.userInfo()
      default: return .none
      }
      return .all
    }
    return result
  }

  private mutating func request(_ tag: XMLTag) throws(ModelFileError) -> ModelSource.Request {
    func flag(_ name: String, _ other: Bool) -> Bool { tag[name].map(ModelFiles.flag) ?? other }
    func count(_ name: String) -> Int { max(0, tag[name].flatMap { Int32($0) }.map(Int.init) ?? 0) }
    var result = ModelSource.Request(
      name: try required("name", of: tag), entity: try required("entity", of: tag), line: tag.line)
    result.predicate = tag["predicateString"].flatMap { $0.isEmpty ? nil : $0 }
    result.resultType = UInt(count("resultType"))
    result.fetchLimit = count("fetchLimit")
    result.fetchBatchSize = count("fetchBatchSize")
    result.includesSubentities = flag("includeSubentities", true)
    result.includesPropertyValues = flag("includePropertyValues", true)
    result.returnsObjectsAsFaults = flag("returnObjectsAsFaults", true)
    result.includesPendingChanges = flag("includesPendingChanges", true)
    result.returnsDistinctResults = flag("returnDistinctResults", false)
    try children(of: "fetch request \(result.name)") { (_, tag) in Self.unread(tag) }
    return result
  }

  private mutating func index(_ tag: XMLTag) throws(ModelFileError) -> ModelSource.Index {
    var result = ModelSource.Index(name: try required("name", of: tag))
    result.partialPredicate = tag["partialIndexPredicate"].flatMap { $0.isEmpty ? nil : $0 }
    try children(of: "index \(result.name)") { (reader, tag) throws(ModelFileError) in
      guard tag.name == "fetchIndexElement" else { return Self.unread(tag) }
      var element = ModelSource.Index.Element()
      element.property = tag["property"].flatMap { $0.isEmpty ? nil : $0 }
      element.expression = tag["expression"].flatMap { $0.isEmpty ? nil : $0 }
      guard element.property != nil || element.expression != nil else {
        throw reader.xml.error(
          .invalidModel, "An element of the index \(result.name) names no property. Give it one.", in: tag)
      }
      element.isSpatial = tag["type"]?.lowercased() == "rtree"
      element.isAscending = tag["order"]?.lowercased() != "descending"
      result.elements.append(element)
      return .start
    }
    return result
  }

  private func flag(_ text: String?) -> Bool { text.map(ModelFiles.flag) ?? false }
}

enum ModelFiles {
  /// The date that many seconds after 2001; `nil` for numbers that are no date. Foundation ends the process
  /// when it prints dates far outside of the calendar.
  static func date(_ seconds: Double) -> Date? {
    abs(seconds) <= 1e11 ? Date(timeIntervalSinceReferenceDate: seconds) : nil
  }

  /// Whether an attribute of a model file says yes.
  static func flag(_ text: String) -> Bool { text == "YES" || text == "true" || text == "1" }
}

/// The names of attribute types in model files.
enum AttributeTypeNames {
  private static let types = Dictionary(
    uniqueKeysWithValues: NSAttributeType.allCases.flatMap { type in type.sourceNames.map { ($0, type) } })

  static func type(named name: String) -> NSAttributeType? { types[name] }
}
