internal import CDEStore
public import Foundation

/// Objects with the same values of a uniqueness constraint, which at most one object can have.
nonisolated public final class NSConstraintConflict: NSObject, @unchecked Sendable {
  // Guard: immutable; the objects belong to their context's isolation, which checks each use.

  /// The names of the properties whose combined values must be unique.
  public let constraint: [String]
  /// Their values.
  public let constraintValues: [String: Any]
  /// The objects of the context that have the values, in the order of their changes.
  public let conflictingObjects: [NSManagedObject]

  let entityName: String
  let stored: RowReference?
  private let storedID: NSManagedObjectID?
  private let bases: [RowReference?]
  private let resolution: any ConflictResolving

  init(
    _ constraint: [String], of entity: String, objects: [NSManagedObject], stored: RowReference?,
    _ storedID: NSManagedObjectID?, _ resolution: any ConflictResolving
  ) {
    self.constraint = constraint
    entityName = entity
    conflictingObjects = objects
    bases = objects.map {
      $0.isInserted ? nil : RowReference(batch: $0._batch, row: Int($0._row))
    }
    constraintValues = objects.first?.snapshot(of: constraint) ?? [:]
    self.stored = stored
    self.storedID = storedID
    self.resolution = resolution
  }

  /// The object of the stored row with the values, made if it is not registered; nil when only the context's
  /// own objects have the same values.
  ///
  /// Use it on the context's isolation. If a policy keeps the values of a new object, the new object becomes
  /// the object of that row. If the row already has a registered object, that object takes the new object's
  /// values instead.
  public var databaseObject: NSManagedObject? {
    stored.flatMap { resolution.object(for: $0) }
  }

  /// The values of the row in the store.
  public var databaseSnapshot: [String: Any]? {
    guard let stored, let storedID else { return nil }
    return stored.snapshot(of: storedID)
  }

  /// For each conflicting object its values when it was read; an empty dictionary for a new object.
  public var conflictingSnapshots: [[String: Any]] {
    zip(conflictingObjects, bases).map { object, row in row?.snapshot(of: object.objectID) ?? [:] }
  }

  var refusal: StoreError? { resolution.refusal }

  /// Resolves conflicts of one save.
  static func resolve(_ list: [NSConstraintConflict], by type: NSMergePolicyType) throws {
    let clashes = list.map {
      UniquenessClash(constraint: $0.constraint, objects: $0.conflictingObjects, stored: $0.stored)
    }
    try list.first?.resolution.resolve(clashes, by: type)
  }
}
