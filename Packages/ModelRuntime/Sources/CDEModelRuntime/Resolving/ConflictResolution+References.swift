internal import CDEStore

// References to an object that one writer deleted while another writer referred to it.
extension ConflictResolution {
  /// Removes all references to rows that do not exist.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.saveConflict` if the save refers to objects that another
  ///   writer deleted, and the context's policy is to fail.
  func resolve(_ references: [ReferenceConflict], of save: BuiltSave) throws {
    let missing = references.filter { !$0.isDeletedHere }
    if !missing.isEmpty { try dropMissingTargets(missing, of: save) }
    let left = references.filter(\.isDeletedHere)
    if !left.isEmpty { try applyDeleteRules(left) }
  }

  // MARK: Rows that other writers deleted

  private func dropMissingTargets(_ references: [ReferenceConflict], of save: BuiltSave) throws {
    let new = references.contains { $0.row.isPending } ? save.objects.objectsByPendingKey() : [:]
    let owners = references.map { reference in
      !reference.row.isPending
        ? object(of: reference.row)
        : new[.init(root: context.root(of: reference.row.entity), key: reference.row.key)]
    }
    if context.policy.mergeType == .errorMergePolicyType {
      throw missing(references, owners.compactMap { $0?.objectID })
    }
    for (reference, owner) in zip(references, owners) {
      guard let owner, let slot = reference.slot, !owner._binding.properties[slot].isToMany else { continue }
      owner.setUnsaved(slot, to: .null)
      note(owner, [slot])
    }
    for reference in references {
      // If the target was to be saved, its version conflict was found before.
      if let target = object(of: reference.target) { forget(target) }
    }
  }

  private func missing(_ references: [ReferenceConflict], _ ids: [NSManagedObjectID]) -> ManagedObjectError {
    let model = context.registry.model
    let first = references.first { $0.slot != nil } ?? references[0]
    let binding = model.entities[first.row.entity]
    let property = first.slot.map { binding.properties[$0].name }
    let what = property.map { "\(binding.name).\($0)" } ?? "A relationship of \(binding.name)"
    return ManagedObjectError(
      .saveConflict,
      "\(what) refers to an object of \(model.entities[first.target.entity].name) that another writer deleted"
        + (references.count > 1 ? ", and so do \(references.count - 1) more references. " : ". ")
        + "Give it another object or none and save again, roll back, or set a mergePolicy.",
      cause: refusal, entity: binding.name, property: property, objectID: ids.first, conflicts: ids)
  }

  /// The object of a row in the store, if it is registered.
  private func object(of row: ReferenceConflict.Row) -> NSManagedObject? {
    context.registry.object(root: context.root(of: row.entity), key: row.key)
  }

  // MARK: Rows that other writers refer to

  /// Applies the delete rules of objects to be deleted to the references that other writers made to them.
  private func applyDeleteRules(_ references: [ReferenceConflict]) throws {
    try read(references.map(\.row))
    var deleted: [NSManagedObject] = []
    var seen: Set<ObjectIdentifier> = []
    for reference in references {
      guard let target = object(of: reference.target), target.isMarkedDeleted,
        seen.insert(ObjectIdentifier(target)).inserted
      else { continue }
      deleted.append(target)
    }
    for target in deleted {
      target._overlay?.unloadMembers()
      context.spreadDeletion(of: target)
    }
    for reference in references {
      guard let slot = reference.slot, let referrer = object(of: reference.row),
        !referrer.isMarkedDeleted, let target = referrer.toOne(slot),
        target.isMarkedDeleted, !denies(referrer._binding.properties[slot], target)
      else { continue }
      // Without an inverse there is no delete rule, but the reference would lead to no row.
      referrer.writeToOne(slot, nil)
    }
  }

  /// Whether a delete rule forbids the deletion because of a reference. Validation then reports it.
  private func denies(_ info: PropertyInfo, _ target: NSManagedObject) -> Bool {
    guard let inverse = info.inverseSlot else { return false }
    return target._binding.properties[target.slot(of: info, inverse)].deleteRule == .deny
  }
}
