/// The members of a to-many relationship that a comparison concerns.
public enum CDCollectionQuantifier: String, Sendable {
  /// At least one member; false for an empty collection.
  case any = "ANY"
  /// All members; true for an empty collection.
  case all = "ALL"
  /// No member; true for an empty collection.
  case none = "NONE"
}

/// A field that a predicate compares. A field of a to-many relationship has a quantifier.
///
/// Its methods make the predicates. `CDPath` has the same methods.
public struct CDFilterField<Root: CoreDataPathTable, Value>: Sendable {
  /// The names in code, from the model to the field.
  public let swiftPath: [String]
  /// The members that the comparison concerns, if the path starts with a to-many relationship; otherwise nil.
  public let quantifier: CDCollectionQuantifier?
  private let explicitPersistentPath: [String]?
  private let explicitStorageMethod: StorageMethod?

  /// - Parameters:
  ///   - swiftPath: The names of the properties in code.
  ///   - persistentPath: The stored names; by default those in the table of `Root`, or the Swift names if the
  ///     table does not contain the path.
  ///   - storageMethod: How the value is stored; by default as in the table of `Root`.
  ///   - quantifier: For a path whose first step is a to-many relationship.
  public init(
    swiftPath: [String], persistentPath: [String]? = nil, storageMethod: StorageMethod? = nil,
    quantifier: CDCollectionQuantifier? = nil
  ) {
    self.swiftPath = swiftPath
    self.quantifier = quantifier
    explicitPersistentPath = persistentPath
    explicitStorageMethod = storageMethod
  }

  /// The Swift path joined by dots.
  public var swiftPathKey: String { swiftPath.joined(separator: ".") }

  /// The names in the store and in predicates: the given ones, otherwise those in the table of `Root`,
  /// otherwise the Swift names.
  public var persistentPath: [String] {
    explicitPersistentPath ?? Root.__cdMeta(forSwiftPath: swiftPath)?.persistentPath ?? swiftPath
  }

  /// The persistent path joined by dots.
  public var persistentPathKey: String { persistentPath.joined(separator: ".") }

  /// The key path for format strings.
  public var raw: String { persistentPathKey }

  /// How the value is stored: as given, otherwise as in the table of `Root`.
  public var storageMethod: StorageMethod {
    explicitStorageMethod ?? Root.__cdMeta(forSwiftPath: swiftPath)?.storageMethod ?? .default
  }
}
