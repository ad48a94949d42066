public import Foundation

/// Resolves the conflicts of a save, as a context's ``NSManagedObjectContext/mergePolicy``.
///
/// A save passes its conflicts to the policy, on the context's isolation: objects that another writer changed
/// since they were read, and unique values that another object has. The policy changes the context's objects
/// so that they can be saved, or throws. The save then validates and tries again.
///
/// To decide for each conflict, override ``resolve(optimisticLockingConflicts:)`` or
/// ``resolve(constraintConflicts:)`` in a subclass. An override may set values and call `super`, which
/// resolves each conflict by ``mergeType``. If a version conflict was not passed to `super`, the object keeps
/// all its unsaved values.
nonisolated open class NSMergePolicy: NSObject, @unchecked Sendable {
  // Guard: immutable; a subclass guards its own state.

  /// Fails the save. The default of a context.
  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// Merges by property. If both sides changed a property, the store's value stays. Of two rows with one
  /// unique value, the row in the store stays.
  public static let mergeByPropertyStoreTrump = NSMergePolicy(
    merge: .mergeByPropertyStoreTrumpMergePolicyType)
  /// Merges by property. If both sides changed a property, the object's value is saved. A new object with a
  /// taken unique value becomes the row that has it, with the values that were set on the object.
  public static let mergeByPropertyObjectTrump = NSMergePolicy(
    merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// Saves all values of the object over the store's row. A new object with a taken unique value becomes the
  /// row that has it, with all values of the object.
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// Drops the object's unsaved changes. A new object with a taken unique value is replaced by the row that
  /// has it.
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

  /// How the policy resolves each conflict, unless a subclass overrides that.
  public let mergeType: NSMergePolicyType

  /// Makes a policy of a type. For subclasses; the static properties contain one policy of each type.
  public init(merge ty: NSMergePolicyType) {
    mergeType = ty
    super.init()
  }

  /// Resolves all conflicts of a save.
  ///
  /// - Parameter list: ``NSMergeConflict`` and ``NSConstraintConflict``; the former come first.
  /// - Throws: the error that fails the save; ``ManagedObjectError`` with all conflicts for
  ///   `.errorMergePolicyType`.
  open func resolve(mergeConflicts list: [Any]) throws {
    let versions = list.compactMap { $0 as? NSMergeConflict }
    let constraints = list.compactMap { $0 as? NSConstraintConflict }
    do {
      if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
      if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    } catch var error as ManagedObjectError
      where error.code == .saveConflict && error.constraintConflicts.isEmpty
    {
      // One error names all conflicts.
      error.constraintConflicts = constraints
      throw error
    }
  }

  /// Resolves conflicts with other writers of the same objects.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.saveConflict` for `.errorMergePolicyType`.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    if mergeType == .errorMergePolicyType { throw ManagedObjectError.conflict(list) }
    for conflict in list { try conflict.resolve(by: mergeType) }
  }

  /// Resolves conflicts over unique values.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.uniquenessConflict` for `.errorMergePolicyType`.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    if mergeType == .errorMergePolicyType { throw ManagedObjectError.conflict(list) }
    try NSConstraintConflict.resolve(list, by: mergeType)
  }
}

// Core Data's older spellings.
/// ``NSMergePolicy/error`` in Core Data's older spelling.
public let NSErrorMergePolicy = NSMergePolicy.error
/// ``NSMergePolicy/mergeByPropertyStoreTrump`` in Core Data's older spelling.
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// ``NSMergePolicy/mergeByPropertyObjectTrump`` in Core Data's older spelling.
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// ``NSMergePolicy/overwrite`` in Core Data's older spelling.
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// ``NSMergePolicy/rollback`` in Core Data's older spelling.
public let NSRollbackMergePolicy = NSMergePolicy.rollback

extension ManagedObjectError {
  static func conflict(_ conflicts: [NSMergeConflict]) -> ManagedObjectError {
    let ids = conflicts.map(\.objectID)
    let what: String
    if let first = conflicts.first, conflicts.count == 1 {
      what =
        "\(first.objectID.binding.name) \(first.objectID.uriRepresentation().absoluteString) was "
        + (first.newVersionNumber == 0 ? "deleted" : "changed")
        + " by another writer since it was read. Refresh it"
    } else {
      let names = Set(ids.map(\.binding.name)).sorted().joined(separator: ", ")
      what =
        "\(ids.count) objects (\(names)) were changed or deleted by another writer since they were read. Refresh them"
    }
    return ManagedObjectError(
      .saveConflict,
      "\(what) (refresh(_:mergeChanges: true)) and save again, roll back, or set a mergePolicy.",
      cause: conflicts.lazy.compactMap(\.refusal).first, entity: ids.first?.binding.name,
      objectID: ids.first, conflicts: ids, mergeConflicts: conflicts)
  }

  static func conflict(_ conflicts: [NSConstraintConflict]) -> ManagedObjectError {
    let first = conflicts.first
    let values = first?.constraint.map { name in
      "\(name) \(first?.constraintValues[name].map(described) ?? "nil")"
    }
    return ManagedObjectError(
      .uniquenessConflict,
      "Another \(first?.entityName ?? "object") has the same \(values?.joined(separator: ", ") ?? "value"). Change "
        + "the value, or set a mergePolicy."
        + (conflicts.count > 1
          ? " \(conflicts.count - 1) more \(conflicts.count == 2 ? "is" : "are") in the way; constraintConflicts lists all."
          : ""),
      cause: conflicts.lazy.compactMap(\.refusal).first, entity: first?.entityName,
      property: first?.constraint.first, objectID: first?.conflictingObjects.first?.objectID,
      constraintConflicts: conflicts)
  }

  /// A value in the form for a message: text in quotes, at most one line long.
  private static func described(_ value: Any) -> String {
    if value is NSNull { return "nil" }
    let text = "\(value)"
    let short = text.count > 80 ? "\(text.prefix(80))…" : text
    return value is String ? "\"\(short)\"" : short
  }
}
