import CDECoreData
import Testing

private final class OverriddenPolicy: NSMergePolicy, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  var calls: [String] = []

  override init(merge type: NSMergePolicyType) { super.init(merge: type) }

  override func resolve(mergeConflicts list: [Any]) throws {
    calls.append("mergeConflicts")
    try super.resolve(mergeConflicts: list)
  }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    calls.append("optimisticLockingConflicts")
    try super.resolve(optimisticLockingConflicts: list)
  }

  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    calls.append("constraintConflicts")
    try super.resolve(constraintConflicts: list)
  }
}

@Suite("The interface of conflicts")
struct ConflictInterfaceTests {
  @Test("Policies have Core Data's types and numbers")
  func policies() {
    typealias Policy = NSMergePolicy
    let _: (NSMergePolicyType) -> NSMergePolicy = NSMergePolicy.init(merge:)
    let _: KeyPath<Policy, NSMergePolicyType> = \NSMergePolicy.mergeType
    let _: (Policy) -> ([Any]) throws -> Void = NSMergePolicy.resolve(mergeConflicts:)
    let _: (Policy) -> ([NSMergeConflict]) throws -> Void = NSMergePolicy.resolve(optimisticLockingConflicts:)
    let _: (Policy) -> ([NSConstraintConflict]) throws -> Void = NSMergePolicy.resolve(constraintConflicts:)
    let types: [NSMergePolicyType] = [
      NSMergePolicyType.errorMergePolicyType, NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType,
      NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType,
      NSMergePolicyType.overwriteMergePolicyType, NSMergePolicyType.rollbackMergePolicyType,
    ]
    let members: [NSMergePolicy] = [
      NSMergePolicy.error, NSMergePolicy.mergeByPropertyStoreTrump, NSMergePolicy.mergeByPropertyObjectTrump,
      NSMergePolicy.overwrite, NSMergePolicy.rollback,
    ]
    let constants: [Any] = [
      NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
      NSOverwriteMergePolicy, NSRollbackMergePolicy,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4] && members.map(\.mergeType) == types)
    #expect(constants.map { ($0 as? NSMergePolicy)?.mergeType } == types)
  }

  @Test("A save asks what a policy overrides, with Core Data's members of a conflict")
  func overriding() throws {
    typealias Conflict = NSMergeConflict
    let _: (NSManagedObject, Int, Int, [String: Any]?, [String: Any]?) -> NSMergeConflict =
      NSMergeConflict.init(source:newVersion:oldVersion:cachedSnapshot:persistedSnapshot:)
    let _: KeyPath<Conflict, NSManagedObject> = \NSMergeConflict.sourceObject
    let _: KeyPath<Conflict, [String: Any]?> = \NSMergeConflict.objectSnapshot
    let _: KeyPath<Conflict, [String: Any]?> = \NSMergeConflict.cachedSnapshot
    let _: KeyPath<Conflict, [String: Any]?> = \NSMergeConflict.persistedSnapshot
    let _: KeyPath<Conflict, Int> = \NSMergeConflict.newVersionNumber
    let _: KeyPath<Conflict, Int> = \NSMergeConflict.oldVersionNumber
    let stack = try Stack()
    let (first, second) = (stack.container.newBackgroundContext(), stack.container.newBackgroundContext())
    let policy = OverriddenPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    second.mergePolicy = policy
    let id = try first.performAndWait {
      let note = stack.insertNote("A", in: first)
      try first.save()
      return note.objectID
    }
    // The context forgets the row with its last object.
    let kept = try second.performAndWait {
      let note = try second.existingObject(with: id)
      #expect(note.value(forKey: "title") as? String == "A")
      return note
    }
    try first.performAndWait {
      try first.existingObject(with: id).setValue("B", forKey: "title")
      try first.save()
    }
    try second.performAndWait {
      kept.setValue("C", forKey: "title")
      try second.save()
    }
    #expect(policy.calls == ["mergeConflicts", "optimisticLockingConflicts"])
  }

  @Test("A conflict of a constraint has Core Data's members")
  func constraints() {
    typealias Conflict = NSConstraintConflict
    let _: KeyPath<Conflict, [String]> = \NSConstraintConflict.constraint
    let _: KeyPath<Conflict, [String: Any]> = \NSConstraintConflict.constraintValues
    let _: KeyPath<Conflict, NSManagedObject?> = \NSConstraintConflict.databaseObject
    let _: KeyPath<Conflict, [String: Any]?> = \NSConstraintConflict.databaseSnapshot
    let _: KeyPath<Conflict, [NSManagedObject]> = \NSConstraintConflict.conflictingObjects
    let _: KeyPath<Conflict, [[String: Any]]> = \NSConstraintConflict.conflictingSnapshots
    #expect(throws: Never.self) { try NSMergePolicy.rollback.resolve(constraintConflicts: []) }
  }
}
