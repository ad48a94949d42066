import Foundation

extension SourceConfiguration {
  /// Reads a configuration file.
  ///
  /// - Throws: ``ToolError`` in one sentence that names the key and its place.
  public init(contentsOf url: URL) throws {
    let data: Data
    do { data = try Data(contentsOf: url) } catch {
      throw ToolError(
        "There is no configuration \(url.path). `cde model init-config` and `cde model bootstrap-config` write one."
      )
    }
    do { try self.init(data, named: url.lastPathComponent) } catch let error as ToolError {
      throw error.message.hasPrefix("Line ") ? ToolError("\(url.lastPathComponent): \(error.message)") : error
    }
    file = url
  }

  init(_ data: Data, named name: String) throws {
    let root = ConfigurationCursor(value: try JSONValue(reading: data), place: "", file: name)
    let members = try root.members(of: ["$schemaVersion", "generate", "validate", "proposals"])
    if let version = members["$schemaVersion"], version.value != .number("1") {
      throw version.fail("must be 1, the only version that this program knows.")
    }
    if let section = members["generate"] { generate = try Section(section, Self.generateKeys) }
    if let section = members["validate"] { validate = try Section(section, Self.validateKeys) }
    if let list = members["proposals"] { proposals = try Proposals(list) }
  }

  private static let commonKeys = [
    "modelPath", "modelVersion", "moduleName", "accessLevel", "kind", "typeMappings", "attributeRules",
    "relationshipRules", "compositionRules",
  ]
  static let generateKeys =
    commonKeys + [
      "outputDir", "singleFile", "splitByEntity", "headerTemplate", "generateInit", "emitExtensionStubs",
    ]
  static let validateKeys = commonKeys + ["sourceDir", "mode"]
}

extension SourceConfiguration.Section {
  init(_ cursor: ConfigurationCursor, _ keys: [String]) throws {
    let members = try cursor.members(of: keys)
    let isValidation = keys.contains("sourceDir")
    modelPath = try members["modelPath"]?.string()
    modelVersion = try members["modelVersion"]?.string()
    moduleName = try members["moduleName"]?.name()
    accessLevel = try members["accessLevel"]?.choice(AccessLevel.self)
    kind = try members["kind"]?.choice(ClassKind.self)
    outputDir = try members["outputDir"]?.string()
    sourceDir = try members["sourceDir"]?.string()
    singleFile = try members["singleFile"]?.bool()
    splitByEntity = try members["splitByEntity"]?.bool()
    headerTemplate = try members["headerTemplate"]?.string()
    generateInit = try members["generateInit"]?.bool()
    emitExtensionStubs = try members["emitExtensionStubs"]?.bool()
    mode = try members["mode"]?.choice(ValidationMode.self)
    if singleFile == true, splitByEntity == true, let second = members["splitByEntity"] {
      throw second.fail("contradicts “singleFile”; set one of them to false.")
    }
    for (type, mapping) in try members["typeMappings"]?.members() ?? [] {
      guard let canonical = AttributeTypes.canonicalName(type) else {
        throw mapping.fail(
          "is no attribute type; the types are \(AttributeTypes.names.joined(separator: ", ")).")
      }
      guard let name = try mapping.members(of: ["swiftType"])["swiftType"] else {
        throw mapping.fail("lacks “swiftType”.")
      }
      let swiftType = try name.type()
      guard AttributeTypes.swiftTypes[canonical]?.contains(swiftType) == true else {
        let fitting = (AttributeTypes.swiftTypes[canonical] ?? []).joined(separator: " or ")
        throw name.fail("must be \(fitting), because \(swiftType) would be another attribute type.")
      }
      typeMappings[canonical] = swiftType
    }
    attributeRules = try Self.rules(members["attributeRules"]) { rule in
      try AttributeRule(rule, allowsIgnoring: isValidation)
    }
    relationshipRules = try Self.rules(members["relationshipRules"]) { rule in
      RelationshipRule(swiftName: try rule.members(of: ["swiftName"])["swiftName"]?.name())
    }
    compositionRules = try Self.rules(members["compositionRules"]) { rule in
      let members = try rule.members(of: ["swiftName", "swiftType"])
      return CompositionFieldRule(
        swiftName: try members["swiftName"]?.name(), swiftType: try members["swiftType"]?.type())
    }
  }

  private static func rules<Rule>(
    _ cursor: ConfigurationCursor?, _ read: (ConfigurationCursor) throws -> Rule
  ) throws -> [String: [String: Rule]] {
    var result: [String: [String: Rule]] = [:]
    for (owner, list) in try cursor?.members() ?? [] {
      for (name, rule) in try list.members() { result[owner, default: [:]][name] = try read(rule) }
    }
    return result
  }
}

extension AttributeRule {
  fileprivate init(_ cursor: ConfigurationCursor, allowsIgnoring: Bool) throws {
    var keys = ["swiftName", "swiftType", "storageMethod", "transformerName", "decodeFailurePolicy"]
    if allowsIgnoring { keys.append("ignoreOptionality") }
    let members = try cursor.members(of: keys)
    swiftName = try members["swiftName"]?.name()
    swiftType = try members["swiftType"]?.type()
    storageMethod = try members["storageMethod"]?.choice(StorageMethod.self)
    transformerName = try members["transformerName"]?.string()
    decodeFailurePolicy = try members["decodeFailurePolicy"]?.choice(DecodeFailurePolicy.self)
    ignoreOptionality = try members["ignoreOptionality"]?.bool() ?? false
    if transformerName != nil, let method = storageMethod, method != .transformed,
      let name = members["transformerName"]
    {
      throw name.fail("goes with the storage method transformed only; remove one of the two.")
    }
  }
}

extension Proposals {
  fileprivate init(_ cursor: ConfigurationCursor) throws {
    let members = try cursor.members(of: ["enumerations", "compositions"])
    enumerations = try members["enumerations"]?.elements().map(Enumeration.init) ?? []
    compositions = try members["compositions"]?.elements().map(Composition.init) ?? []
  }
}

extension ConfigurationCursor {
  fileprivate func required(_ key: String, _ members: [String: ConfigurationCursor]) throws
    -> ConfigurationCursor
  {
    guard let found = members[key] else { throw fail("lacks “\(key)”.") }
    return found
  }
}

extension Proposals.Enumeration {
  fileprivate init(_ cursor: ConfigurationCursor) throws {
    let members = try cursor.members(of: ["entity", "attribute", "swiftType", "values", "accepted"])
    entity = try cursor.required("entity", members).string()
    attribute = try cursor.required("attribute", members).string()
    swiftType = try cursor.required("swiftType", members).name()
    values = try cursor.required("values", members).elements().map { try $0.rawValue() }
    accepted = try members["accepted"]?.bool() ?? false
    guard !values.isEmpty, Set(values).count == values.count else {
      throw cursor.fail("must have “values” that are not empty and not there twice.")
    }
  }
}

extension Proposals.Composition {
  fileprivate init(_ cursor: ConfigurationCursor) throws {
    let members = try cursor.members(of: ["entity", "swiftName", "swiftType", "fields", "accepted"])
    entity = try cursor.required("entity", members).string()
    swiftName = try cursor.required("swiftName", members).name()
    swiftType = try cursor.required("swiftType", members).name()
    fields = try cursor.required("fields", members).members().map { name, attribute in
      guard SwiftNaming.isName(name) else { throw attribute.fail("must have a name in Swift as its key.") }
      return Field(name: name, attribute: try attribute.string())
    }
    accepted = try members["accepted"]?.bool() ?? false
    guard !fields.isEmpty else { throw cursor.fail("must have “fields” that are not empty.") }
  }
}
