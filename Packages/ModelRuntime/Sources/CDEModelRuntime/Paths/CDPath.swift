/// The way from a model to a value: an attribute, a field of a composition, or one behind to-one
/// relationships.
///
/// Paths come from `Item.path` and `Item.Paths`. They name the property twice, as code and as the store spell
/// it, so that filters and sort orders survive a renaming on either side.
public struct CDPath<Root, Value>: Sendable {
  /// Names as the code spells them.
  public let swiftPath: [String]
  /// Names as the store and predicates have them.
  public let persistentPath: [String]
  /// How the value at the end of the path is kept in the store.
  public let storageMethod: StorageMethod

  /// Makes a path by hand. Nothing checks that the model has such a property; a fetch that uses an unknown
  /// name throws.
  ///
  /// - Parameters:
  ///   - swiftPath: Names as the code spells them, from the model to the value.
  ///   - persistentPath: Names as the store and predicates have them.
  ///   - storageMethod: How the value is kept in the store.
  public init(swiftPath: [String], persistentPath: [String], storageMethod: StorageMethod = .default) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
    self.storageMethod = storageMethod
  }

  /// The Swift path joined by dots.
  public var swiftPathKey: String { swiftPath.joined(separator: ".") }
  /// The persistent path joined by dots.
  public var persistentPathKey: String { persistentPath.joined(separator: ".") }
  /// The key path that format strings and key-value coding take.
  public var raw: String { persistentPathKey }
}

/// The way from a model to a value that is stored field by field; its dynamic members are these fields.
@dynamicMemberLookup
public struct CDCompositionPath<Root: CoreDataPathTable, Value, Composition: CoreDataPathDSLProviding>:
  Sendable
{
  /// The path to the value as a whole.
  public let root: CDPath<Root, Value>

  /// Makes the path to a composition from the path to its attribute. Expansions of the macros call it.
  public init(root: CDPath<Root, Value>) { self.root = root }

  /// Names as the code spells them, from the model to the composition.
  public var swiftPath: [String] { root.swiftPath }
  /// Names as the store and predicates have them, from the model to the composition.
  public var persistentPath: [String] { root.persistentPath }
  /// How the composition as a whole is kept in the store.
  public var storageMethod: StorageMethod { root.storageMethod }
  /// The Swift path joined by dots.
  public var swiftPathKey: String { root.swiftPathKey }
  /// The persistent path joined by dots.
  public var persistentPathKey: String { root.persistentPathKey }
  /// The key path that format strings and key-value coding take.
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

/// What all paths of a model have: the names of the property they lead to, on both sides.
public protocol CDNamedPath: Sendable {
  /// Names as the code spells them.
  var swiftPath: [String] { get }
  /// Names as the store and predicates have them.
  var persistentPath: [String] { get }
}

extension CDPath: CDNamedPath {}
extension CDCompositionPath: CDNamedPath {}
