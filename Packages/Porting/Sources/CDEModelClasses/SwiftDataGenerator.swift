@_spi(CDE) public import CDEManagedModel
internal import Foundation

/// Writes classes with `@Model` for a model, so that a container over them opens the model's stores in place.
///
/// What SwiftData can't express stands as a comment at its place, and in ``remarks``.
public struct SwiftDataGenerator {
  private let model: NSManagedObjectModel
  private let stored: StoredValues
  /// What the classes do not express, with entity and property.
  public private(set) var remarks: [String] = []

  /// Prepares the generation. Nothing is read.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - stored: What the rows of a store of the model tell.
  public init(_ model: NSManagedObjectModel, _ stored: StoredValues = StoredValues()) {
    self.model = model
    self.stored = stored
  }

  /// The source of all classes.
  ///
  /// - Throws: ``ModelClassError`` for a name that is none in Swift.
  public mutating func source() throws -> String {
    var text = "import CDESwiftData\nimport Foundation\n"
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      text += "\n" + (try declaration(of: entity))
    }
    return text
  }

  // MARK: Classes

  private mutating func declaration(of entity: NSEntityDescription) throws -> String {
    let name = try checked(entity.name ?? "", "entity")
    let parent = entity.superentity?.name
    var lines: [String] = []
    if entity.isAbstract {
      lines.append(remark(name, nil, "is abstract, and a class with @Model has instances"))
    }
    lines.append("@Model")
    let isFinal = entity.subentities.isEmpty
    lines.append("\(isFinal ? "final " : "")class \(name)\(parent.map { ": \($0)" } ?? "") {")
    lines += try macros(of: entity, name).map { "  " + $0 }
    var nested: [String] = []
    let own = entity.properties.filter { entity.superentity?.propertiesByName[$0.name] == nil }
    var kept: [NSPropertyDescription] = []
    for property in own.sorted(by: { $0.name < $1.name }) {
      let found: Declared?
      switch property {
      case let attribute as NSAttributeDescription: found = try declare(attribute, name, &nested)
      case let relationship as NSRelationshipDescription: found = try declare(relationship, name)
      default: found = Declared(lines: [remark(name, property.name, "is a fetched property")], isKept: false)
      }
      guard let found else { continue }
      lines += found.lines.map { "  " + $0 }
      if found.isKept { kept.append(property) }
    }
    lines.append("")
    lines += try initialiser(of: entity, name, kept).map { "  " + $0 }
    lines += nested.flatMap { [""] + Self.indented($0) }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private struct Declared {
    var lines: [String]
    var isKept = true
  }

  private mutating func remark(_ entity: String, _ property: String?, _ text: String) -> String {
    let place = property.map { "\(entity).\($0)" } ?? entity
    remarks.append("\(place) \(text).")
    return "// \(place) \(text)."
  }

  private func checked(_ name: String, _ kind: String) throws -> String {
    let isName =
      name.first.map { $0 == "_" || $0.isLetter } == true
      && name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    guard isName else {
      throw ModelClassError(
        .invalidName, "The \(kind) \"\(name)\" has a name that is none in Swift. Rename it in the model.")
    }
    return Self.keywords.contains(name) ? "`\(name)`" : name
  }

  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
    "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal",
    "is", "let", "nil", "operator", "private", "protocol", "public", "repeat", "rethrows", "return", "self",
    "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
    "while",
  ]

  private mutating func macros(of entity: NSEntityDescription, _ name: String) throws -> [String] {
    var lines: [String] = []
    let inherited = entity.superentity?.uniquenessConstraints.map(Self.names) ?? []
    let compound = entity.uniquenessConstraints.map(Self.names).filter {
      !inherited.contains($0) && $0.count > 1
    }
    if !compound.isEmpty { lines.append("#Unique<\(name)>(\(paths(compound)))") }
    var plain: [[String]] = []
    var spatial: [[String]] = []
    for index in entity.indexes {
      let names = index.elements.compactMap(\.propertyName)
      if index.elements.contains(where: { !$0.isAscending }) || index.partialIndexPredicate != nil
        || names.count < index.elements.count
      {
        lines.append(
          remark(name, nil, "has the index \(index.name), whose order or condition #Index can't say"))
      } else if index.elements.contains(where: { $0.collationType == .rTree }) {
        spatial.append(names)
      } else {
        plain.append(names)
      }
    }
    if !spatial.isEmpty {
      let parts = plain.map { ".binary(\(paths([$0])))" } + spatial.map { ".rtree(\(paths([$0])))" }
      lines.append("#Index<\(name)>(\(parts.joined(separator: ", ")))")
    } else if !plain.isEmpty {
      lines.append("#Index<\(name)>(\(paths(plain)))")
    }
    return lines
  }

  private static func names(_ constraint: [Any]) -> [String] {
    constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
  }

  private func paths(_ lists: [[String]]) -> String {
    lists.map { "[" + $0.map { "\\.\($0)" }.joined(separator: ", ") + "]" }.joined(separator: ", ")
  }

  // MARK: Properties

  private mutating func declare(
    _ attribute: NSAttributeDescription, _ entity: String, _ nested: inout [String]
  ) throws -> Declared? {
    let name = try checked(attribute.name, "attribute")
    if attribute is NSDerivedAttributeDescription {
      return Declared(
        lines: [remark(entity, attribute.name, "is derived, and SwiftData derives nothing")], isKept: false)
    }
    var options = Self.options(of: attribute)
    guard let type = try type(of: attribute, entity, &nested, &options) else {
      return Declared(
        lines: [remark(entity, attribute.name, "has a type that SwiftData does not have")], isKept: false)
    }
    if attribute.entity.uniquenessConstraints.map(Self.names).contains([attribute.name]) {
      options.insert(".unique", at: 0)
    }
    if let former = attribute.renamingIdentifier, former != attribute.name {
      options.append("originalName: \"\(former)\"")
    }
    if let modifier = attribute.versionHashModifier {
      options.append("hashModifier: \(Self.literal(modifier))")
    }
    let macro = options.isEmpty ? "" : "@Attribute(\(options.joined(separator: ", "))) "
    let value = Self.literal(of: attribute).map { " = \($0)" } ?? ""
    return Declared(lines: ["\(macro)var \(name): \(type)\(attribute.isOptional ? "?" : "")\(value)"])
  }

  private static func options(of attribute: NSAttributeDescription) -> [String] {
    var options: [String] = []
    if attribute.isTransient { options.append(".ephemeral") }
    if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
    if attribute.preservesValueInHistoryOnDeletion { options.append(".preserveValueOnDeletion") }
    return options
  }

  private mutating func type(
    of attribute: NSAttributeDescription, _ entity: String, _ nested: inout [String],
    _ options: inout [String]
  ) throws -> String? {
    if let composite = attribute as? NSCompositeAttributeDescription {
      return try type(of: composite, entity, "\(entity).\(composite.name)", &nested)
    }
    guard attribute.attributeType == .transformableAttributeType else {
      return Self.name(of: attribute.attributeType)
    }
    let transformer = attribute.valueTransformerName
    let written = attribute.attributeValueClassName
    // A collection as a property of its own is stored in this form.
    if transformer == NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue,
      let written, ["Array<", "Set<", "Dictionary<"].contains(where: written.hasPrefix)
    {
      return written
    }
    options.append(".transformable(by: \(Self.literal(transformer ?? "NSSecureUnarchiveFromData")))")
    return written ?? "NSObject"
  }

  /// The Swift type of an attribute. SwiftData's own models say `Int` for integers of 64 bits.
  private static func name(of type: NSAttributeType) -> String? {
    type == .integer64AttributeType ? "Int" : type.swiftTypeName
  }

  /// The type of a composite: an enumeration if Apple's mark says so, otherwise a struct.
  private mutating func type(
    of composite: NSCompositeAttributeDescription, _ entity: String, _ path: String, _ nested: inout [String]
  ) throws -> String {
    let name = try checked(composite.name.prefix(1).uppercased() + composite.name.dropFirst(), "attribute")
    let isEnumeration = composite.userInfo?["EnumType"] != nil
    if StoredValues.isRawEnumeration(composite) {
      nested.append(try rawEnumeration(composite, name, entity, path))
      return name
    }
    var lines: [String] = []
    var inner: [String] = []
    if isEnumeration {
      lines.append("enum \(name): Codable {")
      for element in composite.elements {
        let label = try checked(element.name, "case")
        if element.attributeType == .stringAttributeType {
          lines.append("  case \(label)")
        } else {
          lines.append(
            "  "
              + remark(
                entity, composite.name,
                "has the case \(element.name) with values, whose types the model lacks"))
          lines.append("  case \(label)")
        }
      }
    } else {
      lines.append("struct \(name): Codable {")
      for element in composite.elements {
        let label = try checked(element.name, "element")
        let place = "\(path).\(element.name)"
        let type: String
        if let composite = element as? NSCompositeAttributeDescription {
          type = try self.type(of: composite, entity, place, &inner)
        } else if let shape = stored.shapes[place], let known = try self.type(of: shape, element.name, &inner)
        {
          type = known
        } else {
          var options: [String] = []
          type = try self.type(of: element, entity, &inner, &options) ?? "Data"
          if element.attributeType == .binaryDataAttributeType {
            lines.append("  " + remark(entity, String(place.dropFirst(entity.count + 1)), Self.unknownBytes))
          }
        }
        lines.append("  var \(label): \(type)?")
      }
    }
    lines += inner.flatMap { [""] + Self.indented($0) }
    lines.append("}")
    nested.append(lines.joined(separator: "\n"))
    return name
  }

  private static let unknownBytes =
    "holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type"

  /// The type that decodes values of a shape; nil if there is none. Objects get a structure of their own.
  private func type(of shape: StoredShape?, _ name: String, _ nested: inout [String]) throws -> String? {
    switch shape {
    case .flag: return "Bool"
    case .whole: return "Int"
    case .number: return "Double"
    case .uuid: return "UUID"
    case .text, nil: return "String"
    case .mixed: return nil
    case .array(let element):
      let singular = name.count > 1 && name.hasSuffix("s") ? String(name.dropLast()) : name + "Item"
      return try type(of: element, singular, &nested).map { "[\($0)]" }
    case .object(let values):
      guard values.keys.allSatisfy({ (try? checked($0, "element")) != nil }) else {
        let common = values.values.reduce(nil as StoredShape?) { joined, value in
          guard let shape = value.shape else { return joined }
          return joined?.joined(to: shape) ?? shape
        }
        return try type(of: common, name, &nested).map { "[String: \($0)]" }
      }
      let structure = try checked(name.prefix(1).uppercased() + name.dropFirst(), "element")
      var lines = ["struct \(structure): Codable {"]
      var inner: [String] = []
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        guard let type = try type(of: value.shape, key, &inner) else { return nil }
        lines.append("  var \(try checked(key, "element")): \(type)\(value.isOptional ? "?" : "")")
      }
      lines += inner.flatMap { [""] + Self.indented($0) }
      nested.append((lines + ["}"]).joined(separator: "\n"))
      return structure
    }
  }

  private static func indented(_ type: String) -> [String] {
    type.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  " + $0 }
  }

  private mutating func rawEnumeration(
    _ composite: NSCompositeAttributeDescription, _ name: String, _ entity: String, _ path: String
  ) throws -> String {
    let isText = composite.elements[0].attributeType == .stringAttributeType
    let raw = isText ? "String" : "Int"
    var lines = ["enum \(name): \(raw), Codable {"]
    let values = stored.rawValues[path] ?? []
    let text = "is an enumeration, of which the model has no cases. These are the values that the store has"
    lines.append("  " + remark(entity, composite.name, text))
    if values.isEmpty { lines.append("  case none = \(isText ? "\"\"" : "0")") }
    var labels: Set<String> = []
    for value in values.map({ "\($0)" }).sorted() {
      var label = isText ? try caseName(value) : "value\(value.replacingOccurrences(of: "-", with: "Minus"))"
      if !labels.insert(label).inserted {
        label = (2...).lazy.map { "\(label)\($0)" }.first { labels.insert($0).inserted }!
      }
      lines.append(
        "  case \(label)\(isText && label == value ? "" : " = \(isText ? Self.literal(value) : value)")")
    }
    lines.append("}")
    return lines.joined(separator: "\n")
  }

  /// A name in Swift for a raw value.
  private func caseName(_ value: String) throws -> String {
    let words = value.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    guard let first = words.first else { return "none" }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let isNumber = first.first?.isNumber == true
    let start =
      isNumber
      ? "value" + first
      : first == first.uppercased() ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
    return try checked(start + rest, "case")
  }

  private mutating func declare(_ relationship: NSRelationshipDescription, _ entity: String) throws
    -> Declared?
  {
    let name = try checked(relationship.name, "relationship")
    guard let destination = relationship.destinationEntity?.name else {
      return Declared(lines: [remark(entity, relationship.name, "leads to no entity")], isKept: false)
    }
    var lines: [String] = []
    if relationship.isOrdered {
      lines.append(remark(entity, relationship.name, "is ordered, and arrays of models have no stored order"))
    }
    if relationship.isTransient {
      lines.append(remark(entity, relationship.name, "is transient, and a relationship of models is stored"))
    }
    var options: [String] = []
    switch relationship.deleteRule {
    case .cascadeDeleteRule: options.append("deleteRule: .cascade")
    case .denyDeleteRule: options.append("deleteRule: .deny")
    case .noActionDeleteRule: options.append("deleteRule: .noAction")
    default: break
    }
    if relationship.isToMany {
      if relationship.minCount > 0 { options.append("minimumModelCount: \(relationship.minCount)") }
      if relationship.maxCount > 0 { options.append("maximumModelCount: \(relationship.maxCount)") }
    }
    if let former = relationship.renamingIdentifier, former != relationship.name {
      options.append("originalName: \"\(former)\"")
    }
    if let inverse = relationship.inverseRelationship, isWriting(relationship, inverse) {
      options.append("inverse: \\\(inverse.entity?.name ?? destination).\(inverse.name)")
    } else if relationship.inverseRelationship == nil {
      lines.append(remark(entity, relationship.name, "has no inverse; SwiftData takes one that can be it"))
    }
    if let modifier = relationship.versionHashModifier {
      options.append("hashModifier: \(Self.literal(modifier))")
    }
    let macro = options.isEmpty ? "" : "@Relationship(\(options.joined(separator: ", "))) "
    let type =
      relationship.isToMany
      ? "[\(destination)]\(relationship.isOptional ? "?" : "") = []"
      : "\(destination)\(relationship.isOptional ? "?" : "")"
    lines.append("\(macro)var \(name): \(type)")
    return Declared(lines: lines)
  }

  /// One side of a relationship names the other: macros of both would need each other.
  private func isWriting(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) -> Bool {
    let (mine, theirs) = (one.entity?.name ?? "", other.entity?.name ?? "")
    // The side with many writes, as people write it.
    if one.isToMany != other.isToMany { return one.isToMany }
    return (mine, one.name) <= (theirs, other.name)
  }

  // MARK: Values

  private static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 32 || scalar.value == 127:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func literal(of attribute: NSAttributeDescription) -> String? {
    guard let constant = AttributeConstant(attribute.defaultValue, as: attribute.attributeType) else {
      return nil
    }
    switch constant {
    case .bool(let value): return value ? "true" : "false"
    case .integer(let value): return "\(value)"
    case .double(let value) where attribute.attributeType == .floatAttributeType:
      return value.isFinite ? "\(Float(value))" : nil
    case .double(let value): return value.isFinite ? "\(value)" : nil
    case .decimal(let value): return "Decimal(string: \"\(value)\")!"
    case .string(let value): return literal(value)
    case .date(let value):
      return "Date(timeIntervalSinceReferenceDate: \(value.timeIntervalSinceReferenceDate))"
    case .uuid(let value): return "UUID(uuidString: \"\(value.uuidString)\")!"
    case .url(let value): return "URL(string: \(literal(value.absoluteString)))!"
    case .data(let value): return "Data(base64Encoded: \"\(value.base64EncodedString())\")!"
    case .null, .object, .list: return nil
    }
  }

  // MARK: Initialisers

  private struct Parameter {
    let name: String
    let type: String
    let value: String?
  }

  private func initialiser(
    of entity: NSEntityDescription, _ name: String, _ kept: [NSPropertyDescription]
  ) throws -> [String] {
    let own = try kept.compactMap(parameter)
    var inherited: [Parameter] = []
    var level = entity.superentity
    while let above = level {
      let properties = above.properties.filter { property in
        above.superentity?.propertiesByName[property.name] == nil
          && !(property is NSDerivedAttributeDescription)
          && !(property is NSFetchedPropertyDescription)
      }
      inherited = try properties.sorted { $0.name < $1.name }.compactMap(parameter) + inherited
      level = above.superentity
    }
    let all = (inherited + own).map { "\($0.name): \($0.type)\($0.value.map { " = \($0)" } ?? "")" }
    var lines = ["init(\(all.joined(separator: ", "))) {"]
    lines += own.map { "  self.\($0.name) = \($0.name)" }
    if entity.superentity != nil {
      lines.append("  super.init(\(inherited.map { "\($0.name): \($0.name)" }.joined(separator: ", ")))")
    }
    lines.append("}")
    return lines
  }

  /// What an initialiser is given for a property; nil for one that has its value already.
  private func parameter(_ property: NSPropertyDescription) throws -> Parameter? {
    let name = try checked(property.name, "property")
    if let relationship = property as? NSRelationshipDescription {
      guard !relationship.isToMany, let destination = relationship.destinationEntity?.name else { return nil }
      return relationship.isOptional
        ? Parameter(name: name, type: "\(destination)?", value: "nil")
        : Parameter(name: name, type: destination, value: nil)
    }
    guard let attribute = property as? NSAttributeDescription, Self.literal(of: attribute) == nil else {
      return nil
    }
    let capital = property.name.prefix(1).uppercased() + property.name.dropFirst()
    let type: String
    if attribute is NSCompositeAttributeDescription {
      type = try checked(capital, "attribute")
    } else if attribute.attributeType == .transformableAttributeType {
      type = attribute.attributeValueClassName ?? "NSObject"
    } else if let plain = Self.name(of: attribute.attributeType) {
      type = plain
    } else {
      return nil
    }
    return attribute.isOptional
      ? Parameter(name: name, type: "\(type)?", value: "nil") : Parameter(name: name, type: type, value: nil)
  }
}
