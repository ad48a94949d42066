public import CDEPredicates
public import Foundation

/// The direction of a sort order. Foundation's own `SortOrder` has other names.
public enum CDSortOrder: Equatable, Sendable { case asc, desc }

/// How a sort order compares texts.
public enum SortCollation: Equatable, Sendable {
  /// The store's comparison: by bytes.
  case storeDefault
  /// Foundation's `localizedCompare`.
  case localized
  /// Foundation's `localizedStandardCompare`.
  case localizedStandard
}

/// The part that applies a sort order.
public enum SortExecutionMode: Equatable, Sendable {
  /// The store, as part of the fetch.
  case storeCompatible
  /// The program, in memory.
  case inMemory
}

/// Why a sort order can't be made from a path.
public enum CDSortDescriptorError: Error, Equatable, LocalizedError, CustomStringConvertible {
  /// The model's table does not contain the path. Paths over two relationships are not in the table.
  case pathNotRegistered(String)
  /// The path's stored names differ from those in the model's table.
  case pathMismatch(expected: String, got: String)
  /// The path leads to many values of an object.
  case toManyRelationshipNotSupportedForSort(String)
  /// A store does not support locales.
  case collationRequiresInMemory(SortCollation)
  /// The stored values have no order: archives, JSON, whole compositions, values without a column.
  case pathNotStoreSortable(String, storageMethod: StorageMethod)

  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .pathNotRegistered(let path):
      "The model has no sortable path \(path). Sort by its own fields or those of a to-one relationship."
    case .pathMismatch(let expected, let got):
      "The path is stored as \(expected), not as \(got). Take paths from the model's `path`."
    case .toManyRelationshipNotSupportedForSort(let path):
      "\(path) lies behind a to-many relationship, which has many values. Sort by another path."
    case .collationRequiresInMemory(let collation):
      "The collation \(collation) follows a locale, which stores do not support. Sort with mode .inMemory."
    case .pathNotStoreSortable(let path, let storageMethod):
      "\(path) has \(storageMethod) storage, which a store can't sort by. Sort with mode .inMemory."
    }
  }
}

extension SortKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by a property that need not be comparable for Swift, such as a truth value, as on Apple's platforms.
  ///
  /// - Parameters:
  ///   - keyPath: a property of the model. Another one sorts in memory alone, by its value.
  ///   - ascending: whether lower values come first.
  @_disfavoredOverload
  public init<Object, Value>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
    if let naming = Object.self as? any PredicateKeyPathNaming.Type,
      let key = naming.predicateKey(for: keyPath)
    {
      self.init(key: key, ascending: ascending)
      return
    }
    let natural = SortTerm(keyPath: [])
    self.init(key: nil, ascending: ascending) { left, right in
      guard let left = left as? Object, let right = right as? Object else { return .orderedSame }
      return (try? natural.compare(left[keyPath: keyPath], right[keyPath: keyPath])) ?? .orderedSame
    }
  }

  /// Sorts by an attribute.
  public init<Object: CoreDataKeys>(_ type: Object.Type, key: Object.Keys, ascending: Bool) {
    self.init(key: key.rawValue, ascending: ascending)
  }

  /// Sorts by an attribute of a model in a hierarchy. The keys of a class that inherits are written with the
  /// name of the class, `key: Episode.Keys.number`, and those of its parents with their names.
  @_disfavoredOverload
  public init<Object: PersistentEntity, Key: RawRepresentable>(
    _ type: Object.Type, key: Key, ascending: Bool
  ) where Key.RawValue == String, Object.PathRoot == CDHierarchyPaths {
    self.init(key: key.rawValue, ascending: ascending)
  }

  /// Sorts by a path of a model.
  ///
  /// - Parameters:
  ///   - type: The model.
  ///   - path: The path to sort by.
  ///   - order: The direction.
  ///   - collation: How texts are compared. Localized collations work in memory only.
  ///   - mode: The part that sorts. This initialiser reports orders that a store can't apply, before the
  ///     fetch.
  /// - Throws: ``CDSortDescriptorError``.
  public init<Object: CoreDataPathTable, Value>(
    _ type: Object.Type, path: CDPath<Object, Value>, order: CDSortOrder,
    collation: SortCollation = .storeDefault, mode: SortExecutionMode = .storeCompatible
  ) throws(CDSortDescriptorError) {
    guard let meta = Object.__cdMeta(forSwiftPath: path.swiftPath) else {
      throw .pathNotRegistered(path.swiftPathKey)
    }
    guard meta.persistentPath == path.persistentPath else {
      throw .pathMismatch(
        expected: meta.persistentPath.joined(separator: "."), got: path.persistentPathKey)
    }
    if meta.isToManyRelationship { throw .toManyRelationshipNotSupportedForSort(path.swiftPathKey) }
    if mode == .storeCompatible {
      if collation != .storeDefault { throw .collationRequiresInMemory(collation) }
      if !meta.supportsStoreSort {
        throw .pathNotStoreSortable(path.swiftPathKey, storageMethod: meta.storageMethod)
      }
    }
    self.init(
      SortTerm(
        keyPath: path.persistentPath, ascending: order == .asc,
        collation: collation == .storeDefault
          ? .binary : collation == .localized ? .localized : .localizedStandard))
  }
}
