import CDEManagedModel

/// A model with the Swift names, types and storage that rules give it: what is generated, and what sources are
/// compared with.
public struct ResolvedModel: Sendable {
  /// The name of the model without the extension.
  public var name: String
  public var versionChecksum: String
  public var kind: ClassKind
  var moduleName: String?
  var accessLevel: AccessLevel
  var entities: [ResolvedEntity] = []
  var enumerations: [ResolvedEnumeration] = []
  var compositions: [ResolvedComposition] = []
  /// What the classes do not express.
  var remarks: [Remark] = []
  /// Rules that contradict the model or each other.
  var problems: [RuleProblem] = []

  /// Whether a model made of the classes has the version hashes of this model.
  public var keepsVersion: Bool { remarks.allSatisfy { !$0.changesVersion } }

  struct Remark: Sendable, Hashable {
    var entity: String
    var property: String?
    var text: String
    var changesVersion: Bool

    var sentence: String { "\(property.map { "\(entity).\($0)" } ?? entity) \(text)." }
  }

  /// A rule that can't be kept.
  struct RuleProblem: Sendable, Hashable {
    /// The keys below the section, such as `attributeRules.Item.title`.
    var place: String
    var text: String
  }

  func entity(_ name: String) -> ResolvedEntity? { entities.first { $0.name == name } }
}

struct ResolvedEntity: Sendable {
  var name: String
  var className: String
  var parentName: String?
  var parentClass: String?
  var isAbstract: Bool
  /// Whether no other class inherits from it.
  var isFinal: Bool
  /// Whether the generated counts of to-many relationships have names of their own.
  var generatesCounts = true
  var attributes: [ResolvedAttribute] = []
  var relationships: [ResolvedRelationship] = []
  /// Attributes that stand as one structure, too.
  var groups: [ResolvedGroup] = []
  /// Constraints of several attributes.
  var compoundConstraints: [[String]] = []
  /// Persistent names that the class can't have.
  var omitted: Set<String> = []
}

struct ResolvedAttribute: Sendable {
  var persistentName: String
  var swiftName: String
  /// The attribute type as Xcode's editor names it.
  var typeName: String
  var swiftType: String
  var isOptional: Bool
  var storage: StorageMethod
  var transformerName: String?
  var decodeFailurePolicy: DecodeFailurePolicy?
  var isUnique = false
  var isTransient = false
  var isPreserved = false
  /// `.range(…)`, `.length(…)` and `.matching(…)`.
  var rules: [String] = []
  /// The default as Swift text.
  var defaultText: String?
  /// The model's default of a raw value, as a literal.
  var rawDefault: String?
  var formerName: String?
  /// Whether a rule says the name, a rule or a mapping the type, a rule or the model the transformer.
  var hasChosenName = false
  var hasChosenType = false
  var hasChosenStorage = false
  var hasChosenTransformer = false
  var ignoresOptionality = false
  /// The elements of a composite attribute.
  var elements: [Element] = []

  struct Element: Sendable, Hashable {
    var name: String
    var typeName: String
  }

  var declaredType: String { isOptional ? "\(swiftType)?" : swiftType }
}

struct ResolvedRelationship: Sendable {
  var persistentName: String
  var swiftName: String
  var destination: String
  var destinationClass: String
  var isToMany: Bool
  var isOrdered: Bool
  var isOptional: Bool
  /// The persistent name of the inverse; empty if there is none.
  var inverse: String
  var deleteRule: String
  var minimumCount: Int?
  var maximumCount: Int?
  var formerName: String?
  /// Whether a rule says the name.
  var hasChosenName = false

  var declaredType: String {
    isToMany ? isOrdered ? "[\(destinationClass)]" : "Set<\(destinationClass)>" : "\(destinationClass)?"
  }
}

/// An enumeration that an accepted proposal makes.
struct ResolvedEnumeration: Sendable, Hashable {
  struct Case: Sendable, Hashable {
    var name: String
    /// The raw value as a literal.
    var literal: String
  }

  var name: String
  var rawType: String
  var cases: [Case]
  /// The entity in whose file it stands.
  var owner: String
}

/// A structure with `@Composition`.
struct ResolvedComposition: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    var persistentName: String
    var swiftName: String
    var declaredType: String
  }

  var name: String
  var fields: [Field]
  var owner: String
}

/// A structure over attributes that stay as they are.
struct ResolvedGroup: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    var name: String
    var property: String
    var declaredType: String
  }

  var swiftName: String
  var swiftType: String
  var fields: [Field]
}
