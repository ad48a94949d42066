internal import CDEStore

/// The save that a conflict belongs to, as far as the conflict needs it.
protocol ConflictResolving: AnyObject {
  /// The store's refusal that led to the conflict.
  var refusal: StoreError? { get }

  /// Makes an object use the store's current row, with the unsaved values that the policy keeps.
  func resolve(_ object: NSManagedObject, _ row: RowReference?, by type: NSMergePolicyType)

  /// Lets one object keep the values of a constraint.
  func resolve(_ clash: UniquenessClash, by type: NSMergePolicyType) throws

  /// The object of a row, made if necessary.
  func object(for row: RowReference) -> NSManagedObject
}

/// Objects with the same values of a uniqueness constraint.
struct UniquenessClash {
  /// The names of the properties that have to differ together.
  var constraint: [String]
  /// The objects of the context, in the order of their changes.
  var objects: [NSManagedObject]
  /// The row in the store with the values.
  var stored: RowReference?
}
