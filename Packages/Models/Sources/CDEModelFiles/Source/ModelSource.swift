internal import CDEManagedModel

/// The contents of one `.xcdatamodel`, as values: what the editor shows, with the settings that only code
/// generation needs and that a model in use does not have.
///
/// Elements and attributes of later formats are left out. ``warnings`` names such elements.
public struct ModelSource: Sendable {
  /// How Xcode makes the class of an entity.
  public enum CodeGeneration: String, Sendable {
    /// The class is written by hand.
    case none
    /// The properties are generated, as an extension of a class that is written by hand.
    case category
    /// The class and its properties are generated.
    case `class`
  }

  /// An entity and its properties.
  public struct Entity: Sendable {
    /// The entity's name.
    public internal(set) var name: String
    /// The class as it is written: `Name`, `Module.Name`, or `.Name` for the module that contains the model;
    /// `nil` for `NSManagedObject`.
    public internal(set) var representedClassName: String?
    /// The name of the parent entity; `nil` for a root.
    public internal(set) var parentName: String?
    /// Whether only sub-entities have objects.
    public internal(set) var isAbstract = false
    /// How the class is made.
    public internal(set) var codeGeneration = CodeGeneration.none
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var fetchedProperties: [FetchedProperty] = []
    /// The names of all properties, in the order of the file.
    var order: [String] = []
    var indexes: [Index] = []
    var compoundIndexes: [[String]] = []
    var uniquenessConstraints: [[String]] = []
    var common: Common
  }

  /// What entities and properties have in common.
  struct Common: Sendable {
    var line: Int
    var isOptional = false
    var isTransient = false
    var isIndexed = false
    var isIndexedBySpotlight = false
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]?
  }

  struct Attribute: Sendable {
    var name: String
    var type = NSAttributeType.undefinedAttributeType
    var className: String?
    var transformerName: String?
    var compositeName: String?
    var derivation: String?
    var isDerived = false
    var allowsExternalStorage = false
    var preservesValueOnDeletion = false
    var allowsCloudEncryption = false
    var usesScalar = false
    var defaultText: String?
    var defaultSeconds: String?
    var minimum: String?
    var maximum: String?
    var minimumSeconds: String?
    var maximumSeconds: String?
    var pattern: String?
    var common: Common
  }

  struct Relationship: Sendable {
    var name: String
    var destination: String
    var inverseName: String?
    var inverseEntity: String?
    var minCount = 0
    var maxCount = 1
    var isOrdered = false
    var deleteRule = NSDeleteRule.nullifyDeleteRule
    var common: Common

    var isToMany: Bool { maxCount != 1 }
  }

  struct FetchedProperty: Sendable {
    var name: String
    var request: Request?
    var common: Common
  }

  struct Request: Sendable {
    var name: String
    var entity: String
    var predicate: String?
    var resultType: UInt = 0
    var fetchLimit = 0
    var fetchBatchSize = 0
    var includesSubentities = true
    var includesPropertyValues = true
    var returnsObjectsAsFaults = true
    var includesPendingChanges = true
    var returnsDistinctResults = false
    var line: Int
  }

  struct Index: Sendable {
    struct Element: Sendable {
      var property: String?
      var expression: String?
      var isSpatial = false
      var isAscending = true
    }
    var name: String
    var elements: [Element] = []
    var partialPredicate: String?
  }

  struct Composite: Sendable {
    var name: String
    var attributes: [Attribute] = []
    var line: Int
  }

  struct Configuration: Sendable {
    var name: String
    var members: [String] = []
    var line: Int
  }

  /// A part of the file that has no effect.
  public struct Warning: Hashable, Sendable {
    /// The path of the file.
    public var file: String
    /// The line in the file, counted from 1.
    public var line: Int
    /// What has no effect, and why, for people.
    public var text: String
  }

  /// What has no effect: unknown elements, inverses that the destination does not have, and texts that are no values. In the order of the
  /// file.
  public internal(set) var warnings: [Warning] = []
  /// The entities, in the order of the file.
  public internal(set) var entities: [Entity] = []
  /// The version's name for people; empty if the editor was given none.
  public internal(set) var versionIdentifier = ""
  var composites: [Composite] = []
  var requests: [Request] = []
  var configurations: [Configuration] = []
  let file: String
}
