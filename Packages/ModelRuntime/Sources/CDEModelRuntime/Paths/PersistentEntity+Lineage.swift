nonisolated extension PersistentEntity where PathRoot == CDHierarchyPaths {
  /// The lineage of a model in a hierarchy.
  static var lineage: CDModelLineage {
    guard let lineage = __cdLineage else {
      fatalError("\(Self.self) is no @PersistentModel class. Mark it, or use a class that is.")
    }
    return lineage
  }

  /// The field that a key path into the class names.
  static func field(at keyPath: PartialKeyPath<Self>) -> CDFieldMeta {
    let lineage = lineage
    guard let key = lineage.predicateKey(keyPath),
      let ordinal = lineage.propertyNames.firstIndex(of: key),
      let field = lineage.fields[lineage.swiftNames[ordinal]]
    else {
      fatalError(
        "A key path of \(Self.self) to \(Swift.type(of: keyPath).valueType) is none of its persisted properties. Paths "
          + "and snapshots have those alone.")
    }
    return field
  }
}
