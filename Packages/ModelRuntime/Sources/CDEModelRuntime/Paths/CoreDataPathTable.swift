/// A type that knows its fields by the paths that code spells them with.
///
/// `@PersistentModel` and `@Composition` conform; a type may also conform by hand.
public nonisolated protocol CoreDataPathTable {
  /// All fields by their Swift path joined by dots: attributes, fields of compositions, relationships, and
  /// the fields one relationship away.
  static var __cdFieldTable: [String: CDFieldMeta] { get }
  /// The fields that another type's table lists behind a relationship: attributes and fields of compositions
  /// alone, so that models that refer to each other have tables that end.
  static var __cdRelationshipProjectionTable: [String: CDFieldMeta] { get }
}

extension CoreDataPathTable {
  public static var __cdRelationshipProjectionTable: [String: CDFieldMeta] { __cdFieldTable }

  /// What is known about a field, or nil.
  public static func __cdMeta(forSwiftPath path: [String]) -> CDFieldMeta? {
    __cdFieldTable[path.joined(separator: ".")]
  }

  /// What is known about a field, or nil.
  ///
  /// - Parameter path: the Swift path joined by dots.
  public static func __cdMeta(forSwiftPath path: String) -> CDFieldMeta? { __cdFieldTable[path] }

  /// The stored names of a field joined by dots, or nil.
  public static func __cdPersistentPath(forSwiftPath path: String) -> String? {
    __cdFieldTable[path]?.persistentPath.joined(separator: ".")
  }
}

/// A type whose attributes have an enumeration of stored names.
public nonisolated protocol CoreDataKeys: CoreDataPathTable {
  /// The persistent names of the attributes.
  associatedtype Keys: RawRepresentable where Keys.RawValue == String
}

/// A type whose fields are written as paths: `Item.path.title`.
public nonisolated protocol CoreDataPathDSLProviding: CoreDataPathTable {
  /// Has one path for each field.
  associatedtype PathRoot
  /// The paths of the type's fields: `Item.path.title` is one.
  static var path: PathRoot { get }
}
