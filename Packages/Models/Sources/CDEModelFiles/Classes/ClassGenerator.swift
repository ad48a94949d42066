@_spi(CDE) internal import CDEManagedModel

/// Generates the classes of a model's entities, as Xcode does.
///
/// The text is the same for the same model: properties stand in the order of their names, attributes before
/// relationships.
public struct ClassGenerator: Sendable {
  /// Which entities get files.
  public enum Selection: Sendable {
    /// Those for which the editor says so.
    case asSpecified
    /// All entities with a class of their own, as Xcode's menu “Create NSManagedObject Subclass” does.
    case all
  }

  /// A generated source file.
  public struct File: Sendable, Equatable {
    /// The name of the file, such as `Item+CoreDataProperties.swift`.
    public let name: String
    /// The contents.
    public let text: String
  }

  /// The modules that the files import after Foundation.
  public var imports = ["CoreData"]
  /// Which entities get files.
  public var selection = Selection.asSpecified

  private let source: ModelSource
  private let entities: [String: ModelSource.Entity]

  /// Prepares the generation. Reads no file.
  ///
  /// - Parameter source: The model.
  public init(_ source: ModelSource) {
    self.source = source
    entities = Dictionary(source.entities.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The files of the model, by name.
  ///
  /// - Throws: ``ModelFileError`` that names the entity when a name in the model is no name in Swift, so that
  ///   a model can't bring other code into a program.
  public func files() throws(ModelFileError) -> [File] {
    var result: [String: String] = [:]
    for entity in source.entities {
      let generation = selection == .all ? .class : entity.codeGeneration
      guard generation != .none, let name = try className(of: entity) else { continue }
      let properties = "\(name)+CoreDataProperties.swift"
      // Entities may share a class. The first one makes it.
      if result[properties] != nil { continue }
      if generation == .class { result["\(name)+CoreDataClass.swift"] = try classText(of: entity, name) }
      result[properties] = try propertiesText(of: entity, name)
    }
    return result.sorted { $0.key < $1.key }.map { File(name: $0.key, text: $0.value) }
  }

  // MARK: Names

  /// The name of an entity's class in its module; `nil` if it has none of its own.
  private func className(of entity: ModelSource.Entity) throws(ModelFileError) -> String? {
    guard let written = entity.representedClassName, written != "NSManagedObject" else { return nil }
    let name = written.split(separator: ".").last.map(String.init) ?? ""
    return try checked(name, entity)
  }

  private func checked(_ name: String, _ entity: ModelSource.Entity) throws(ModelFileError) -> String {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ SwiftNames.isName(String($0)) }) else {
      throw ModelFileError(
        .invalidModel, "“\(name)” is no name in Swift, so no class can be generated for \(entity.name).",
        file: source.file, line: entity.common.line, element: "entity \(entity.name)")
    }
    return name
  }

  /// The type of an entity's objects.
  private func objectType(of name: String, in entity: ModelSource.Entity) throws(ModelFileError) -> String {
    guard let other = entities[name] else { return "NSManagedObject" }
    return try className(of: other) ?? "NSManagedObject"
  }

  // MARK: Files

  private var head: String { (["Foundation"] + imports).map { "import \($0)\n" }.joined() }

  private func classText(of entity: ModelSource.Entity, _ name: String) throws(ModelFileError) -> String {
    let parent = try entity.parentName.map { (parent) throws(ModelFileError) in
      try objectType(of: parent, in: entity)
    }
    return """
      \(head)
      @objc(\(name))
      public class \(name): \(parent ?? "NSManagedObject") {

      }

      """
  }

  private func propertiesText(
    of entity: ModelSource.Entity, _ name: String
  ) throws(ModelFileError) -> String {
    var lines: [String] = []
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      let property = try SwiftNames.escaped(checked(attribute.name, entity))
      lines.append("    @NSManaged public var \(property): \(try type(of: attribute, entity))")
    }
    for property in entity.fetchedProperties.sorted(by: { $0.name < $1.name }) {
      let name = try SwiftNames.escaped(checked(property.name, entity))
      lines.append("    @NSManaged public var \(name): [NSManagedObject]")
    }
    let relationships = entity.relationships.sorted { $0.name < $1.name }
    for relationship in relationships {
      let type =
        relationship.isToMany
        ? (relationship.isOrdered ? "NSOrderedSet" : "NSSet")
        : try objectType(of: relationship.destination, in: entity)
      let property = try SwiftNames.escaped(checked(relationship.name, entity))
      lines.append("    @NSManaged public var \(property): \(type)?")
    }
    let entityName = entity.name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    var text = """
      \(head)

      extension \(name) {

          @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {
              return NSFetchRequest<\(name)>(entityName: "\(entityName)")
          }

      \(lines.joined(separator: "\n"))\(lines.isEmpty ? "" : "\n")
      }

      """
    for relationship in relationships where relationship.isToMany {
      text += try accessors(of: relationship, entity, name)
    }
    // A class whose parent is in the model inherits the conformance.
    let inherits = try entity.parentName.flatMap { entities[$0] }.map { (parent) throws(ModelFileError) in
      try className(of: parent) != nil
    }
    if inherits != true { text += "\nextension \(name) : Identifiable {\n\n}\n" }
    return text
  }

  // MARK: Types

  private func type(
    of attribute: ModelSource.Attribute, _ entity: ModelSource.Entity
  ) throws(ModelFileError) -> String {
    if attribute.usesScalar, let scalar = Self.scalars[attribute.type] { return scalar }
    if let name = attribute.type.keyedTypeName { return name + "?" }
    guard let name = attribute.className else { return "NSObject?" }
    return try typeName(name, entity) + "?"
  }

  /// A class that the editor was given, which may be written with a dot, as an array, or as a protocol.
  private func typeName(_ written: String, _ entity: ModelSource.Entity) throws(ModelFileError) -> String {
    let name = written.hasPrefix(".") ? String(written.dropFirst()) : written
    let allowed = name.unicodeScalars.allSatisfy {
      SwiftNames.isNamePart($0) || "[]<>.,:?& ".unicodeScalars.contains($0)
    }
    guard allowed, !name.isEmpty else { return try checked(name, entity) }
    return name
  }

  private static let scalars: [NSAttributeType: String] = [
    .integer16AttributeType: "Int16", .integer32AttributeType: "Int32", .integer64AttributeType: "Int64",
    .doubleAttributeType: "Double", .floatAttributeType: "Float", .booleanAttributeType: "Bool",
    .dateAttributeType: "TimeInterval",
  ]
}

// MARK: Accessors

extension ClassGenerator {
  private func accessors(
    of relationship: ModelSource.Relationship, _ entity: ModelSource.Entity, _ className: String
  ) throws(ModelFileError) -> String {
    let name = relationship.name
    let capital = name.prefix(1).uppercased() + name.dropFirst()
    let member = try objectType(of: relationship.destination, in: entity)
    let collection = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
    var methods: [(selector: String, method: String)] = []
    if relationship.isOrdered {
      methods = [
        ("insertObject:in\(capital)AtIndex:", "insertInto\(capital)(_ value: \(member), at idx: Int)"),
        ("removeObjectFrom\(capital)AtIndex:", "removeFrom\(capital)(at idx: Int)"),
        (
          "insert\(capital):atIndexes:", "insertInto\(capital)(_ values: [\(member)], at indexes: NSIndexSet)"
        ),
        ("remove\(capital)AtIndexes:", "removeFrom\(capital)(at indexes: NSIndexSet)"),
        (
          "replaceObjectIn\(capital)AtIndex:withObject:",
          "replace\(capital)(at idx: Int, with value: \(member))"
        ),
        (
          "replace\(capital)AtIndexes:with\(capital):",
          "replace\(capital)(at indexes: NSIndexSet, with values: [\(member)])"
        ),
      ]
    }
    methods += [
      ("add\(capital)Object:", "addTo\(capital)(_ value: \(member))"),
      ("remove\(capital)Object:", "removeFrom\(capital)(_ value: \(member))"),
      ("add\(capital):", "addTo\(capital)(_ values: \(collection))"),
      ("remove\(capital):", "removeFrom\(capital)(_ values: \(collection))"),
    ]
    let bodies = methods.map { "    @objc(\($0.selector))\n    @NSManaged public func \($0.method)\n" }
    return """

      // MARK: Generated accessors for \(name)
      extension \(className) {

      \(bodies.joined(separator: "\n"))
      }

      """
  }
}

/// What may be a name in Swift.
enum SwiftNames {
  static func isName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else {
      return false
    }
    return text.unicodeScalars.allSatisfy(isNamePart)
  }

  static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isXIDContinue
  }

  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
    "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol",
    "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw",
    "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
