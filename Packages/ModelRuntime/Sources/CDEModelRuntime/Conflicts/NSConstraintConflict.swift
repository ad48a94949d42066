internal import CDEStore
public import Foundation

/// Objects with the same values of a uniqueness constraint, which one object at most can have.
nonisolated public final class NSConstraintConflict: NSObject, @unchecked Sendable {
  // Guard: immutable; the objects belong to their context's isolation, which checks each use.

  /// The names of the properties that have to differ together.
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

  /// The object whose row has the values, made if it is not registered; nil when the context's own objects
  /// collide.
  ///
  /// Use it on the context's isolation. A policy that lets a new object have the values makes it the object
  /// of that row. If an object of the row is registered, that object takes over the new object's values
  /// instead.
  public var databaseObject: NSManagedObject? {
    stored.flatMap { resolution.object(for: $0) }
  }

  /// The values of the row in the store.
  public var databaseSnapshot: [String: Any]? {
    guard let stored, let storedID else { return nil }
    return stored.snapshot(of: storedID)
  }

  /// For each conflicting object the values it had when it was read; none for a new one.
  public var conflictingSnapshots: [[String: Any]] {
    zip(conflictingObjects, bases).map { object, row in row?.snapshot(of: object.objectID) ?? [:] }
  }

  var refusal: StoreError? { resolution.refusal }

  func resolve(by type: NSMergePolicyType) throws {
    let clash = UniquenessClash(constraint: constraint, objects: conflictingObjects, stored: stored)
    try resolution.resolve(clash, by: type)
  }
}
