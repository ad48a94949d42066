public import CDEPredicates
public import Foundation

/// The direction of a sort order; Foundation's own `SortOrder` has other names.
public enum CDSortOrder: Equatable, Sendable { case asc, desc }

/// How a sort order compares texts.
public enum SortCollation: Equatable, Sendable {
  /// As the store does: by bytes.
  case storeDefault
  /// As Foundation's `localizedCompare`.
  case localized
  /// As Foundation's `localizedStandardCompare`.
  case localizedStandard
}

/// Who is to apply a sort order.
public enum SortExecutionMode: Equatable, Sendable {
  /// The store, as a part of the fetch.
  case storeCompatible
  /// The program, over objects that it has.
  case inMemory
}

/// Why a path makes no sort order.
public enum CDSortDescriptorError: Error, Equatable, LocalizedError, CustomStringConvertible {
  /// The model's table has no such path; paths over two relationships are not in it.
  case pathNotRegistered(String)
  /// The path's stored names are not those of the model's table.
  case pathMismatch(expected: String, got: String)
  /// An object has many values there.
  case toManyRelationshipNotSupportedForSort(String)
  /// A store knows no locale.
  case collationRequiresInMemory(SortCollation)
  /// What is stored has no order: archives, JSON, compositions as a whole, values that have no column.
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
      "The collation \(collation) follows a locale, which a store does not know. Sort with mode .inMemory."
    case .pathNotStoreSortable(let path, let storageMethod):
      "\(path) has \(storageMethod) storage, which a store can't sort by. Sort with mode .inMemory."
    }
  }
}

extension SortKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by an attribute.
  public init<Object: CoreDataKeys>(_ type: Object.Type, key: Object.Keys, ascending: Bool) {
    self.init(key: key.rawValue, ascending: ascending)
  }

  /// Sorts by an attribute of a model in a hierarchy: the keys of a class that inherits are written with its
  /// name, `key: Episode.Keys.number`, and those of its parents with theirs.
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
  ///   - path: What to sort by.
  ///   - order: Which end comes first.
  ///   - collation: How texts compare; those of a locale work in memory alone.
  ///   - mode: Who sorts. What a store can't do is found out here and not by the fetch.
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
