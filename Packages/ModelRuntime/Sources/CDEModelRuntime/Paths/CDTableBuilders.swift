/// One field of a composition, named within it.
public struct CDCompositionFieldMeta: Equatable, Sendable {
  /// The names in code, from the composition to the field.
  public let swiftPath: [String]
  /// The names in the store, from the composition to the field.
  public let persistentPath: [String]
  /// How the field's value is stored.
  public let storageMethod: StorageMethod

  /// Makes an entry of a composition's table; see the properties. Called by expansions of the macros.
  public init(swiftPath: [String], persistentPath: [String], storageMethod: StorageMethod = .default) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
    self.storageMethod = storageMethod
  }
}

/// A composition with a table of its fields. `@Composition` conforms.
public nonisolated protocol CDCompositionPathProviding {
  /// The fields by their Swift path joined by dots.
  static var __cdCompositionFieldTable: [String: CDCompositionFieldMeta] { get }
}

extension CDCompositionPathProviding where Self: CoreDataPathTable {
  public static var __cdCompositionFieldTable: [String: CDCompositionFieldMeta] {
    __cdFieldTable.mapValues {
      CDCompositionFieldMeta(
        swiftPath: $0.swiftPath, persistentPath: $0.persistentPath, storageMethod: $0.storageMethod)
    }
  }
}

/// Makes the entries that a composition adds to a model's table.
public enum CDCompositionTableBuilder {
  /// One entry for each field of the composition, as an attribute that a store can sort by.
  public static func makeModelFieldEntries<Composition: CDCompositionPathProviding>(
    modelSwiftPathPrefix: [String], modelPersistentPathPrefix: [String], composition: Composition.Type
  ) -> [String: CDFieldMeta] {
    var entries: [String: CDFieldMeta] = [:]
    for field in Composition.__cdCompositionFieldTable.values {
      let meta = CDFieldMeta(
        kind: .attribute, swiftPath: modelSwiftPathPrefix + field.swiftPath,
        persistentPath: modelPersistentPathPrefix + field.persistentPath, storageMethod: field.storageMethod,
        supportsStoreSort: true)
      entries[meta.swiftPath.joined(separator: ".")] = meta
    }
    return entries
  }
}

/// Makes the entries that a relationship adds to a model's table: the target's own fields, reached in one
/// step.
public enum CDRelationshipTableBuilder {
  /// One entry for each attribute of the target and each field of its compositions, by Swift path joined by
  /// dots.
  ///
  /// A store can sort by a field if it can sort by the field in the target itself.
  ///
  /// - Parameters:
  ///   - modelSwiftPathPrefix: The relationship's name in code.
  ///   - modelPersistentPathPrefix: The relationship's name in the store.
  ///   - target: The model that the relationship points at.
  public static func makeToOneFieldEntries<Target: CoreDataPathTable>(
    modelSwiftPathPrefix: [String], modelPersistentPathPrefix: [String], target: Target.Type
  ) -> [String: CDFieldMeta] {
    entries(modelSwiftPathPrefix, modelPersistentPathPrefix, target, isToMany: false)
  }

  /// As the to-one entries, but a store can't sort by them.
  public static func makeToManyFieldEntries<Target: CoreDataPathTable>(
    modelSwiftPathPrefix: [String], modelPersistentPathPrefix: [String], target: Target.Type
  ) -> [String: CDFieldMeta] {
    entries(modelSwiftPathPrefix, modelPersistentPathPrefix, target, isToMany: true)
  }

  private static func entries<Target: CoreDataPathTable>(
    _ swiftPrefix: [String], _ persistentPrefix: [String], _ target: Target.Type, isToMany: Bool
  ) -> [String: CDFieldMeta] {
    var entries: [String: CDFieldMeta] = [:]
    for field in Target.__cdRelationshipProjectionTable.values {
      let meta = field.behind(swiftPrefix, persistentPrefix, isToMany: isToMany)
      entries[meta.swiftPath.joined(separator: ".")] = meta
    }
    return entries
  }
}

/// Collects a table's fields one statement at a time, because this takes the type checker less time than one
/// literal. Called by expansions of the macros.
public struct CDFieldTableBuilder {
  /// The fields collected so far, by Swift path joined by dots.
  public private(set) var entries: [String: CDFieldMeta]

  /// Makes a builder that adds to these entries. Of two entries for one path the later one is kept.
  public init(_ entries: [String: CDFieldMeta] = [:]) { self.entries = entries }

  /// Adds an attribute of a model, or a field of a composition.
  public mutating func attribute(
    _ name: String, _ persistentName: String, _ storageMethod: StorageMethod = .default,
    isStored: Bool = true
  ) {
    let isSortable = isStored && (storageMethod == .default || storageMethod == .raw)
    entries[name] = CDFieldMeta(
      kind: .attribute, swiftPath: [name], persistentPath: [persistentName], storageMethod: storageMethod,
      supportsStoreSort: isSortable)
  }

  /// Adds a composition and its fields.
  public mutating func composition<Composition: CDCompositionPathProviding>(
    _ name: String, _ persistentName: String, _ type: Composition.Type
  ) {
    entries[name] = CDFieldMeta(
      kind: .composition, swiftPath: [name], persistentPath: [persistentName], storageMethod: .composition,
      supportsStoreSort: false)
    add(
      CDCompositionTableBuilder.makeModelFieldEntries(
        modelSwiftPathPrefix: [name], modelPersistentPathPrefix: [persistentName], composition: type))
  }

  /// Adds a to-one relationship and the target's fields.
  public mutating func toOne<Target: CoreDataPathTable>(
    _ name: String, _ persistentName: String, _ target: Target.Type
  ) {
    addRelationship(name, persistentName, isToMany: false)
    add(
      CDRelationshipTableBuilder.makeToOneFieldEntries(
        modelSwiftPathPrefix: [name], modelPersistentPathPrefix: [persistentName], target: target))
  }

  /// Adds a to-many relationship and the target's fields.
  public mutating func toMany<Target: CoreDataPathTable>(
    _ name: String, _ persistentName: String, _ target: Target.Type
  ) {
    addRelationship(name, persistentName, isToMany: true)
    add(
      CDRelationshipTableBuilder.makeToManyFieldEntries(
        modelSwiftPathPrefix: [name], modelPersistentPathPrefix: [persistentName], target: target))
  }

  private mutating func addRelationship(_ name: String, _ persistentName: String, isToMany: Bool) {
    entries[name] = CDFieldMeta(
      kind: .relationship, swiftPath: [name], persistentPath: [persistentName], storageMethod: .default,
      supportsStoreSort: false, isToManyRelationship: isToMany)
  }

  private mutating func add(_ more: [String: CDFieldMeta]) { entries.merge(more) { _, new in new } }
}
