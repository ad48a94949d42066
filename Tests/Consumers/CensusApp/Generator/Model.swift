/// How Xcode is to treat an entity's class.
enum CodeGeneration {
  case manual
  case category
  case definition
}

/// How `representedClassName` spells the class.
enum ClassNameForm {
  /// `Order`
  case plain
  /// `.Order`, in the current module
  case dot
  /// `Large.Order`
  case module
}

/// What an attribute holds.
enum AttributeKind: CaseIterable {
  case string, int16, int32, int64, float, double, decimal, boolean, date, binary, uuid, uri
  /// A list of strings with a transformer of the app.
  case strings
  /// A dictionary, by the secure archive.
  case archive
  /// An `@objc` enumeration as the property's type.
  case state
  /// A raw value behind a computed property, with primitive accessors.
  case level
  /// An enumeration of strings behind a computed property.
  case mode

  var isNumber: Bool {
    switch self {
    case .int16, .int32, .int64, .float, .double, .boolean: true
    default: false
    }
  }

  var xml: String {
    switch self {
    case .string, .mode: "String"
    case .int16, .state, .level: "Integer 16"
    case .int32: "Integer 32"
    case .int64: "Integer 64"
    case .float: "Float"
    case .double: "Double"
    case .decimal: "Decimal"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .strings, .archive: "Transformable"
    }
  }
}

struct Attribute {
  var name: String
  var kind: AttributeKind
  var isOptional = true
  var isScalar = false
  var isTransient = false
  /// The default as the model file spells it.
  var standard: String?
  /// Further attributes of the XML element, such as bounds.
  var extra: [(String, String)] = []
  var userInfo: [(String, String)] = []
}

struct Relationship {
  enum Form { case toOne, set, ordered }
  /// How a class written by hand declares a to-many relationship.
  enum Spelling { case foundationSet, optionalFoundationSet, typedSet, optionalTypedSet }

  var name: String
  var form: Form
  var destination: Int
  var inverse: String?
  var rule = "Nullify"
  var spelling = Spelling.optionalFoundationSet
}

/// An entity, by its place in the model.
struct Entity {
  var name: String
  var className: String
  var form = ClassNameForm.plain
  var generation = CodeGeneration.manual
  var parent: Int?
  var isAbstract = false
  /// Whether the class stands inside an enumeration that serves as a namespace.
  var isNested = false
  var attributes: [Attribute] = []
  var relationships: [Relationship] = []
  var uniqueness: [[String]] = []
  var indexes: [[String]] = []

  var special: Special?

  /// Attributes that few models have.
  enum Special {
    /// Computed from the key.
    case derived
    /// Two numbers under one name.
    case composite
  }

  /// The class as other files spell it.
  var swiftName: String { isNested ? "Namespace.\(className)" : className }
}

/// The whole model.
struct Model {
  var entities: [Entity] = []

  /// The attributes of an entity and of its parents, the parents' first.
  func attributes(of entity: Entity) -> [Attribute] {
    (entity.parent.map { attributes(of: entities[$0]) } ?? []) + entity.attributes
  }

  func depth(of entity: Entity) -> Int { entity.parent.map { depth(of: entities[$0]) + 1 } ?? 0 }
}
