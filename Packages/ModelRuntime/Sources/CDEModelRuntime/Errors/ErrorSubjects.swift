/// The objects, conflicts and stores that an error concerns.
///
/// Their types are in higher folders. Each of those folders gives an error its properties.
struct ErrorSubjects: Sendable {
  enum Kind: Sendable {
    case objectID, object, conflicts, mergeConflicts, constraintConflicts, affectedStores, path, metadata,
      migratedStore
  }

  private var values: [Kind: any Sendable] = [:]

  subscript<Value: Sendable>(kind: Kind, as type: Value.Type = Value.self) -> Value? {
    get { values[kind] as? Value }
    set { values[kind] = newValue }
  }

  /// The elements of a list; none if there is no list.
  func list(_ kind: Kind) -> [Any] { values[kind] as? [Any] ?? [] }
}

/// Carries an object with an error.
struct ConcernedObject: @unchecked Sendable {
  // Guard: the object belongs to its context's isolation, which checks each use.
  let object: AnyObject
}

/// Carries the metadata of a store with an error.
struct ConcernedMetadata: @unchecked Sendable {
  // Guard: the values are those of a property list, which nothing changes.
  let values: [String: Any]
}
