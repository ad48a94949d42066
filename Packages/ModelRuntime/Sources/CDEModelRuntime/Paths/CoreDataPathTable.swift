/// A type with a table of its fields by their paths in code.
///
/// `@PersistentModel` and `@Composition` conform; a type may also conform by hand.
public nonisolated protocol CoreDataPathTable {
  /// All fields by their Swift path joined by dots: attributes, fields of compositions, relationships, and
  /// the fields one relationship away.
  static var __cdFieldTable: [String: CDFieldMeta] { get }
  /// The fields that another type's table contains for a relationship to this type: only attributes and
  /// fields of compositions. Otherwise tables of models that refer to each other would be infinite.
  static var __cdRelationshipProjectionTable: [String: CDFieldMeta] { get }
}

extension CoreDataPathTable {
  public static var __cdRelationshipProjectionTable: [String: CDFieldMeta] { __cdFieldTable }

  /// The entry of a field, or nil.
  public static func __cdMeta(forSwiftPath path: [String]) -> CDFieldMeta? {
    __cdFieldTable[path.joined(separator: ".")]
  }

  /// The entry of a field, or nil.
  ///
  /// - Parameter path: the Swift path joined by dots.
  public static func __cdMeta(forSwiftPath path: String) -> CDFieldMeta? { __cdFieldTable[path] }

  /// The stored names of a field joined by dots, or nil.
  public static func __cdPersistentPath(forSwiftPath path: String) -> String? {
    __cdFieldTable[path]?.persistentPath.joined(separator: ".")
  }
}

/// A type with an enumeration of its attributes' stored names.
public nonisolated protocol CoreDataKeys: CoreDataPathTable {
  /// The persistent names of the attributes.
  associatedtype Keys: RawRepresentable where Keys.RawValue == String
}

/// A type whose fields are available as paths: `Item.path.title`.
public nonisolated protocol CoreDataPathDSLProviding: CoreDataPathTable {
  /// A type with one path for each field.
  associatedtype PathRoot
  /// The paths of the type's fields, for example `Item.path.title`.
  static var path: PathRoot { get }
}
