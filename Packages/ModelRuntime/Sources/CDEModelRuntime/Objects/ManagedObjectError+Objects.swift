extension ManagedObjectError {
  /// The object concerned.
  public var objectID: NSManagedObjectID? {
    get { subjects[.objectID] }
    set { subjects[.objectID] = newValue }
  }

  /// The object itself, for a validation failure. Use it on its context's isolation.
  public var object: NSManagedObject? {
    get { subjects[.object, as: ConcernedObject.self]?.object as? NSManagedObject }
    set { subjects[.object] = newValue.map(ConcernedObject.init) }
  }

  /// The objects whose rows changed, for `.saveConflict`.
  public var conflicts: [NSManagedObjectID] {
    get { subjects[.conflicts] ?? [] }
    set { subjects[.conflicts] = newValue }
  }

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil,
    property: String? = nil, objectID: NSManagedObjectID?, rule: String? = nil,
    value: (any Sendable)? = nil, object: NSManagedObject? = nil
  ) {
    self.init(
      code, message, cause: cause, entity: entity, property: property, rule: rule, value: value)
    self.objectID = objectID
    self.object = object
  }
}
