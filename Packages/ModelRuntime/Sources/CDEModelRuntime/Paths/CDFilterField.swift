/// Which members of a to-many relationship a comparison is about.
public enum CDCollectionQuantifier: String, Sendable {
  /// Some member; false over an empty collection.
  case any = "ANY"
  /// Every member; true over an empty collection.
  case all = "ALL"
  /// No member; true over an empty collection.
  case none = "NONE"
}

/// A field that a predicate compares, with the quantifier where it lies behind a to-many relationship.
///
/// Its methods make the predicates; `CDPath` has the same ones.
public struct CDFilterField<Root: CoreDataPathTable, Value>: Sendable {
  /// Names as the code spells them, from the model to the field.
  public let swiftPath: [String]
  /// Which members of the to-many relationship at the start of the path the comparison is about; nil where
  /// there is none.
  public let quantifier: CDCollectionQuantifier?
  private let explicitPersistentPath: [String]?
  private let explicitStorageMethod: StorageMethod?

  /// - Parameters:
  ///   - swiftPath: The names of the properties on the way, as Swift knows them.
  ///   - persistentPath: The stored names; without them `Root`'s table says, and where it does not know the
  ///     path, the Swift names are the stored ones.
  ///   - storageMethod: How the value is stored; without it `Root`'s table says.
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

  /// Names as the store and predicates have them: as given, else as `Root`'s table says, else the Swift
  /// names.
  public var persistentPath: [String] {
    explicitPersistentPath ?? Root.__cdMeta(forSwiftPath: swiftPath)?.persistentPath ?? swiftPath
  }

  /// The persistent path joined by dots.
  public var persistentPathKey: String { persistentPath.joined(separator: ".") }

  /// The key path that format strings take.
  public var raw: String { persistentPathKey }

  /// How the value is stored: as given, else as `Root`'s table says.
  public var storageMethod: StorageMethod {
    explicitStorageMethod ?? Root.__cdMeta(forSwiftPath: swiftPath)?.storageMethod ?? .default
  }
}
