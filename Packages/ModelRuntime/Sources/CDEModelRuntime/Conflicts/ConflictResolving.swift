internal import CDEStore

/// The part of a save's conflict resolution that a conflict needs.
protocol ConflictResolving: AnyObject {
  /// The store's refusal that led to the conflict.
  var refusal: StoreError? { get }

  /// Makes an object use the store's current row, with the unsaved values that the policy keeps.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unreadValue` if the row was deleted, and with it a file that the object's values need.
  func resolve(_ object: NSManagedObject, _ row: RowReference?, by type: NSMergePolicyType) throws

  /// Chooses for each clash the one object that keeps the values of a constraint, in the order of the objects.
  func resolve(_ clashes: [UniquenessClash], by type: NSMergePolicyType) throws

  /// The object of a row. It is made if necessary.
  func object(for row: RowReference) -> NSManagedObject
}

/// Objects with the same values of a uniqueness constraint.
struct UniquenessClash {
  /// The names of the properties whose combined values must be unique.
  var constraint: [String]
  /// The objects of the context, in the order of their changes.
  var objects: [NSManagedObject]
  /// The row in the store that has the values.
  var stored: RowReference?
}
