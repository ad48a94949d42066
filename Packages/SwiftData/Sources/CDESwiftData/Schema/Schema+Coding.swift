public import Foundation

extension Schema {
  /// Writes the schema to a file, as JSON.
  ///
  /// - Throws: an error of the file system, or of a default value that can't be encoded.
  public func save(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  /// Reads a schema from a file that ``save(to:)`` wrote. Its classes need not be in this program.
  ///
  /// - Throws: ``SwiftDataError`` with code `.unreadable` for other files.
  public static func load(from url: URL) throws -> Schema {
    do { return try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url)) } catch {
      throw SwiftDataError(
        .unreadable, "The file \(url.lastPathComponent) can't be read as a schema. Save the schema again.",
        cause: error)
    }
  }
}

/// A type as text, for files. Types that are private, or in no module of this program, are not found again.
private enum TypeText {
  static func make(_ type: any Any.Type) -> String? { _mangledTypeName(type) }

  static func find(_ text: String?, isOptional: Bool) -> any Any.Type {
    text.flatMap { _typeByName($0) } ?? (isOptional ? Any?.self : Any.self)
  }
}

/// An attribute in files.
struct StoredAttribute: Codable {
  var name: String
  var originalName: String
  var options: [Schema.Attribute.Option]
  var hashModifier: String?
  var shape: ValueShape?
  var isOptional: Bool
  private var typeName: String?
  private var defaultJSON: Data?
  var type: any Any.Type
  var defaultValue: Any?

  private enum CodingKeys: String, CodingKey {
    case name, originalName, options, hashModifier, shape, isOptional, typeName = "valueType",
      defaultJSON = "defaultValue"
  }

  init(_ attribute: Schema.Attribute) {
    name = attribute.name
    originalName = attribute.originalName
    options = attribute.options
    hashModifier = attribute.hashModifier
    shape = attribute.shape
    isOptional = attribute.isOptional
    type = attribute.valueType
    defaultValue = attribute.defaultValue
  }

  /// A part of a composite.
  init(name: String, type: any Any.Type, shape: ValueShape) {
    self.name = name
    originalName = name
    options = []
    self.shape = shape
    isOptional = true
    self.type = type
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    originalName = try values.decode(String.self, forKey: .originalName)
    options = try values.decode([Schema.Attribute.Option].self, forKey: .options)
    hashModifier = try values.decodeIfPresent(String.self, forKey: .hashModifier)
    shape = try values.decodeIfPresent(ValueShape.self, forKey: .shape)
    isOptional = try values.decode(Bool.self, forKey: .isOptional)
    typeName = try values.decodeIfPresent(String.self, forKey: .typeName)
    defaultJSON = try values.decodeIfPresent(Data.self, forKey: .defaultJSON)
    type = TypeText.find(typeName, isOptional: isOptional)
    if let defaultJSON, let decodable = ValueShape.unwrapped(type) as? any Decodable.Type {
      defaultValue = try JSONForm.value(decodable, of: defaultJSON)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(originalName, forKey: .originalName)
    try values.encode(options, forKey: .options)
    try values.encodeIfPresent(hashModifier, forKey: .hashModifier)
    try values.encodeIfPresent(shape, forKey: .shape)
    try values.encode(isOptional, forKey: .isOptional)
    try values.encodeIfPresent(TypeText.make(type), forKey: .typeName)
    if let value = defaultValue as? any Encodable {
      try values.encode(JSONForm.data(of: value), forKey: .defaultJSON)
    }
  }
}

/// A relationship in files.
struct StoredRelationship: Codable, Equatable {
  var name: String
  var originalName: String
  var options: [Schema.Relationship.Option]
  var hashModifier: String?
  var destination: String
  var inverseName: String?
  var deleteRule: Schema.Relationship.DeleteRule
  var minimumModelCount: Int?
  var maximumModelCount: Int?
  var isToOne: Bool
  var isOptional: Bool
  private var typeName: String?

  init(_ relationship: Schema.Relationship) {
    name = relationship.name
    originalName = relationship.originalName
    options = relationship.options
    hashModifier = relationship.hashModifier
    destination = relationship.destination
    inverseName = relationship.inverseName
    deleteRule = relationship.deleteRule
    minimumModelCount = relationship.minimumModelCount
    maximumModelCount = relationship.maximumModelCount
    isToOne = relationship.isToOneRelationship
    isOptional = relationship.isOptional
    typeName = TypeText.make(relationship.valueType)
  }

  var type: any Any.Type { TypeText.find(typeName, isOptional: isOptional) }

  static func == (first: StoredRelationship, second: StoredRelationship) -> Bool {
    first.name == second.name && first.originalName == second.originalName && first.options == second.options
      && first.hashModifier == second.hashModifier && first.destination == second.destination
      && first.inverseName == second.inverseName && first.deleteRule == second.deleteRule
      && (first.minimumModelCount ?? 0) == (second.minimumModelCount ?? 0)
      && (first.maximumModelCount ?? 0) == (second.maximumModelCount ?? 0) && first.isToOne == second.isToOne
      && first.isOptional == second.isOptional
  }
}

/// A property in files.
enum StoredProperty: Codable {
  case attribute(StoredAttribute)
  case relationship(StoredRelationship)

  init?(_ property: any SchemaProperty) {
    switch property {
    case let attribute as Schema.Attribute: self = .attribute(StoredAttribute(attribute))
    case let relationship as Schema.Relationship: self = .relationship(StoredRelationship(relationship))
    default: return nil
    }
  }

  var property: any SchemaProperty {
    switch self {
    case .attribute(let stored): Schema.Attribute(stored: stored)
    case .relationship(let stored): Schema.Relationship(stored: stored)
    }
  }
}

/// An entity in files. The entity above is in it by name.
struct StoredEntity: Codable {
  var name: String
  var superentity: String?
  var properties: [StoredProperty]
  var constraints: [[String]]
  var indexes: [Schema.IndexNames]

  init(_ entity: Schema.Entity) {
    name = entity.name
    superentity = entity.superentityName
    properties = entity.storedProperties.compactMap { StoredProperty($0) }
    constraints = entity.uniquenessConstraints
    indexes = entity.indexNames
  }
}
