/// How readers of a class's own properties are woken, for the lineage of an observed model in a hierarchy.
public nonisolated struct CDModelObservation: Sendable {
  /// For each property the names that readers read: its own, and that of a to-many relationship's count.
  let paths: [[String]]
  /// The persistent names of properties that no save announces.
  let transient: Set<String>
  /// Wakes readers of some of the class's own fields, or of all of them for nil.
  let wake: @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void

  /// Says how readers of a class's own properties are woken. Expansions of the macros call it.
  ///
  /// - Parameters:
  ///   - paths: For each property of the class, in the order of declaration, the names that readers read.
  ///   - transient: The persistent names of properties that no save announces.
  ///   - wake: Wakes readers of some of the class's own fields, or of all of them for nil.
  public init(
    paths: [[String]], transient: Set<String>,
    wake: @escaping @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void
  ) {
    self.paths = paths
    self.transient = transient
    self.wake = wake
  }
}

nonisolated extension CDModelLineage {
  func wake(_ object: NSManagedObject, _ fields: CDEObservationFieldSet?) {
    parent?.wake(object, fields)
    observation?.wake(object, fields)
  }

  /// The names behind fields, from the lowest on.
  func observedPaths(_ fields: CDEObservationFieldSet) -> [String] {
    observedFields.flatMap { field in fields.contains(field.ordinal) ? field.paths : [] }
  }

  var fieldMap: CDEObservationFieldMap {
    CDEObservationFieldMap(
      fieldsByCoreDataKey: Dictionary(
        observedFields.filter { !$0.isTransient }.map { field in
          (propertyNames[field.ordinal], CDEObservationFieldSet([field.ordinal]))
        }, uniquingKeysWith: { $1 }))
  }

  private var observedFields: [(ordinal: Int, paths: [String], isTransient: Bool)] {
    levels.flatMap { level in
      let start = level.parent?.propertyNames.count ?? 0
      return (level.observation?.paths ?? []).enumerated().map { place, paths in
        let name = level.propertyNames[start + place]
        return (start + place, paths, level.observation?.transient.contains(name) == true)
      }
    }
  }
}

nonisolated extension CDEObservationFieldMapProviding
where Self: PersistentEntity, Self.PathRoot == CDHierarchyPaths {
  public static var __cdObservationFieldMap: CDEObservationFieldMap { lineage.fieldMap }
}

nonisolated extension CDEObservationInvalidationDispatching
where Self: PersistentEntity, Self.PathRoot == CDHierarchyPaths {
  public static func __cdObservationSwiftPaths(for fieldSet: CDEObservationFieldSet) -> [String] {
    lineage.observedPaths(fieldSet)
  }

  public func __cdObservationInvalidate(fieldSet: CDEObservationFieldSet) {
    type(of: self).__cdLineage?.wake(self, fieldSet)
  }

  public func __cdObservationInvalidateAllObservableKeyPaths() {
    type(of: self).__cdLineage?.wake(self, nil)
  }
}
