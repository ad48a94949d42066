/// A path from a model to a value: an attribute, a field of a composition, or a value reached through to-one
/// relationships.
///
/// Paths come from `Item.path` and `Item.Paths`. They contain the names in code and in the store, so filters
/// and sort orders stay valid when one of the names changes.
public struct CDPath<Root, Value>: Sendable {
  /// The names in code.
  public let swiftPath: [String]
  /// The names in the store and in predicates.
  public let persistentPath: [String]
  /// How the value at the end of the path is stored.
  public let storageMethod: StorageMethod

  /// Makes a path by hand. It is not checked whether the model has such a property. A fetch with an unknown
  /// name throws.
  ///
  /// - Parameters:
  ///   - swiftPath: The names in code, from the model to the value.
  ///   - persistentPath: The names in the store and in predicates.
  ///   - storageMethod: How the value is stored.
  public init(swiftPath: [String], persistentPath: [String], storageMethod: StorageMethod = .default) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
    self.storageMethod = storageMethod
  }

  /// The Swift path joined by dots.
  public var swiftPathKey: String { swiftPath.joined(separator: ".") }
  /// The persistent path joined by dots.
  public var persistentPathKey: String { persistentPath.joined(separator: ".") }
  /// The key path for format strings and key-value coding.
  public var raw: String { persistentPathKey }
}

/// A path from a model to a value that is stored as separate fields. Its dynamic members are these fields.
@dynamicMemberLookup
public struct CDCompositionPath<Root: CoreDataPathTable, Value, Composition: CoreDataPathDSLProviding>:
  Sendable
{
  /// The path to the whole value.
  public let root: CDPath<Root, Value>

  /// Makes the path to a composition from the path to its attribute. Called by expansions of the macros.
  public init(root: CDPath<Root, Value>) { self.root = root }

  /// The names in code, from the model to the composition.
  public var swiftPath: [String] { root.swiftPath }
  /// The names in the store and in predicates, from the model to the composition.
  public var persistentPath: [String] { root.persistentPath }
  /// How the whole composition is stored.
  public var storageMethod: StorageMethod { root.storageMethod }
  /// The Swift path joined by dots.
  public var swiftPathKey: String { root.swiftPathKey }
  /// The persistent path joined by dots.
  public var persistentPathKey: String { root.persistentPathKey }
  /// The key path for format strings and key-value coding.
  public var raw: String { root.raw }

  /// The path to one field.
  public subscript<Leaf>(
    dynamicMember field: KeyPath<Composition.PathRoot, CDPath<Composition, Leaf>>
  ) -> CDPath<Root, Leaf> {
    let leaf = Composition.path[keyPath: field]
    return CDPath(
      swiftPath: root.swiftPath + leaf.swiftPath, persistentPath: root.persistentPath + leaf.persistentPath,
      storageMethod: leaf.storageMethod)
  }
}

/// The names of the property at the end of a path, in code and in the store. All paths of a model conform.
public protocol CDNamedPath: Sendable {
  /// The names in code.
  var swiftPath: [String] { get }
  /// The names in the store and in predicates.
  var persistentPath: [String] { get }
}

extension CDPath: CDNamedPath {}
extension CDCompositionPath: CDNamedPath {}
