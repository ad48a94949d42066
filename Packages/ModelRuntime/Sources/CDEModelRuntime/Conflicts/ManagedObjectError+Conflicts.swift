extension ManagedObjectError {
  /// The version conflicts of a save that failed. Their objects belong to the context.
  public var mergeConflicts: [NSMergeConflict] {
    get { subjects[.mergeConflicts] ?? [] }
    set { subjects[.mergeConflicts] = newValue }
  }

  /// The conflicts over unique values of a save that failed. Their objects belong to the context.
  public var constraintConflicts: [NSConstraintConflict] {
    get { subjects[.constraintConflicts] ?? [] }
    set { subjects[.constraintConflicts] = newValue }
  }

  /// Makes an error, for an application's own validation and for tests. The parameters set the properties.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil,
    property: String? = nil, objectID: NSManagedObjectID? = nil, rule: String? = nil,
    value: (any Sendable)? = nil, failures: [ManagedObjectError] = [], conflicts: [NSManagedObjectID] = [],
    mergeConflicts: [NSMergeConflict] = [], constraintConflicts: [NSConstraintConflict] = [],
    object: NSManagedObject? = nil, affectedStores: [NSPersistentStore] = []
  ) {
    self.init(
      code, message, cause: cause, entity: entity, property: property, rule: rule, value: value,
      failures: failures)
    self.objectID = objectID
    self.object = object
    self.conflicts = conflicts
    self.mergeConflicts = mergeConflicts
    self.constraintConflicts = constraintConflicts
    self.affectedStores = affectedStores
  }
}
