nonisolated extension CDModelLineage {
  func wake(_ object: NSManagedObject, _ fields: CDEObservationFieldSet?) {
    parent?.wake(object, fields)
    observation?.wake(object, fields)
  }

  /// The names of fields, in ascending order of their numbers.
  func observedPaths(_ fields: CDEObservationFieldSet) -> [String] {
    observedFields.flatMap { field in fields.contains(field.ordinal) ? field.paths : [] }
  }

  var fieldMap: CDEObservationFieldMap {
    CDEObservationFieldMap(
      fieldsByCoreDataKey: Dictionary(
        observedFields.filter { !$0.isTransient }.map { field in
          (propertyNames[field.ordinal.rawValue], CDEObservationFieldSet([field.ordinal]))
        }, uniquingKeysWith: { $1 }))
  }

  private var observedFields: [(ordinal: CDOrdinal, paths: [String], isTransient: Bool)] {
    levels.flatMap { level in
      let start = level.parent?.propertyNames.count ?? 0
      return (level.observation?.paths ?? []).enumerated().map { place, paths in
        let name = level.propertyNames[start + place]
        return (CDOrdinal(start + place), paths, level.observation?.transient.contains(name) == true)
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
