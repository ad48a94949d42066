import Foundation

/// How a model's Swift sources are generated and validated: the contents of a configuration file.
public struct SourceConfiguration: Sendable {
  /// One of the sections `generate` and `validate`.
  public struct Section: Sendable {
    public var modelPath: String?
    public var modelVersion: String?
    public var moduleName: String?
    public var accessLevel: AccessLevel?
    public var kind: ClassKind?
    /// The folder of generated files; of `generate` only.
    public var outputDir: String?
    /// The folder of the sources; of `validate` only.
    public var sourceDir: String?
    public var singleFile: Bool?
    public var splitByEntity: Bool?
    public var headerTemplate: String?
    public var generateInit: Bool?
    public var emitExtensionStubs: Bool?
    public var mode: ValidationMode?
    /// Swift types by the names that Xcode's editor has for attribute types.
    var typeMappings: [String: String] = [:]
    /// Rules by entity and persistent name.
    var attributeRules: [String: [String: AttributeRule]] = [:]
    var relationshipRules: [String: [String: RelationshipRule]] = [:]
    /// Rules by the Swift type of a composition and the persistent names of its fields.
    var compositionRules: [String: [String: CompositionFieldRule]] = [:]

    public init() {}
  }

  public var generate = Section()
  public var validate = Section()
  var proposals = Proposals()
  /// The file; its folder is the base of relative paths. Nil without a file.
  public var file: URL?

  public init() {}

  /// The rules of `validate`, and where it says nothing, those of `generate`.
  public var effectiveValidation: Section {
    var result = validate
    result.modelPath = validate.modelPath ?? generate.modelPath
    result.modelVersion = validate.modelVersion ?? generate.modelVersion
    result.moduleName = validate.moduleName ?? generate.moduleName
    result.accessLevel = validate.accessLevel ?? generate.accessLevel
    result.kind = validate.kind ?? generate.kind
    result.sourceDir = validate.sourceDir ?? generate.outputDir
    if validate.typeMappings.isEmpty { result.typeMappings = generate.typeMappings }
    if validate.attributeRules.isEmpty { result.attributeRules = generate.attributeRules }
    if validate.relationshipRules.isEmpty { result.relationshipRules = generate.relationshipRules }
    if validate.compositionRules.isEmpty { result.compositionRules = generate.compositionRules }
    return result
  }

  /// The file that a path of the configuration names.
  public func url(_ path: String) -> URL {
    guard let file, !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
    return file.deletingLastPathComponent().appendingPathComponent(path).standardizedFileURL
  }
}

/// The access level of generated declarations.
public enum AccessLevel: String, CaseIterable, Sendable {
  case `internal`, `public`, `package`

  /// The modifier, with a space behind it.
  var prefix: String { self == .internal ? "" : "\(rawValue) " }
}

/// The macro that classes are written for.
public enum ClassKind: String, CaseIterable, Sendable {
  case persistentModel = "persistent-model"
  case swiftData = "swiftdata"

  /// The name of the macro that makes a class a model.
  var macro: String { self == .persistentModel ? "PersistentModel" : "Model" }
}

/// What a validation of sources compares.
public enum ValidationMode: String, CaseIterable, Sendable {
  /// Rules, model and sources agree.
  case conformance
  /// Managed files equal what would be generated.
  case exact
}

/// How an attribute's Swift value is stored, as `@Attribute(storageMethod:)` says it.
public enum StorageMethod: String, CaseIterable, Sendable {
  case `default`, raw, codable, composition, transformed

  /// Whether what is stored may not be decodable.
  var decodes: Bool { self == .raw || self == .codable || self == .transformed }
}

public enum DecodeFailurePolicy: String, CaseIterable, Sendable {
  case fallbackToDefaultValue, debugAssertNil
}

struct AttributeRule: Sendable, Hashable {
  var swiftName: String?
  var swiftType: String?
  var storageMethod: StorageMethod?
  var transformerName: String?
  var decodeFailurePolicy: DecodeFailurePolicy?
  var ignoreOptionality = false
}

struct RelationshipRule: Sendable, Hashable {
  var swiftName: String?
}

struct CompositionFieldRule: Sendable, Hashable {
  var swiftName: String?
  var swiftType: String?
}

/// Enumerations and compositions that the data of a store suggests. One has an effect once it is accepted.
struct Proposals: Sendable, Hashable {
  struct Enumeration: Sendable, Hashable {
    var entity: String
    /// The attribute's persistent name.
    var attribute: String
    var swiftType: String
    /// The raw values: all texts or all numbers.
    var values: [JSONValue]
    var accepted = false
  }

  struct Composition: Sendable, Hashable {
    var entity: String
    /// The name of the property in Swift.
    var swiftName: String
    var swiftType: String
    /// The persistent names of the attributes, by the names of the fields.
    var fields: [Field]
    var accepted = false

    struct Field: Sendable, Hashable {
      var name: String
      var attribute: String
    }
  }

  var enumerations: [Enumeration] = []
  var compositions: [Composition] = []
}
