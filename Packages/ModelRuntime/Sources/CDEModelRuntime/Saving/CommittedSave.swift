internal import CDEStore

/// The third phase of a save: the result of the store. ``apply(to:)`` ends the save.
struct CommittedSave {
  private(set) var objects: CollectedSave
  /// Updated objects with a new row.
  private(set) var rewritten: [NSManagedObject]
  /// Updated objects without one.
  private(set) var unwritten: [NSManagedObject]
  private(set) var rows: WrittenRows
  /// The written transaction in the form for other contexts.
  var transaction: CommittedTransaction

  init(
    objects: CollectedSave, rewritten: [NSManagedObject], unwritten: [NSManagedObject], rows: WrittenRows,
    transaction: CommittedTransaction
  ) {
    self.objects = objects
    self.rewritten = rewritten
    self.unwritten = unwritten
    self.rows = rows
    self.transaction = transaction
  }

  /// One save of the parts that several stores have written.
  ///
  /// - Precondition: there is at least one part.
  init(uniting parts: [CommittedSave]) {
    self = parts[0]
    for part in parts.dropFirst() {
      objects = CollectedSave(uniting: objects, part.objects)
      rewritten += part.rewritten
      unwritten += part.unwritten
      rows.add(part.rows)
      transaction = CommittedTransaction(uniting: transaction, part.transaction)
    }
  }

  /// Applies the commit to the objects: they point at the new rows and have no unsaved changes.
  func apply(to registry: ObjectRegistry) {
    let oneWay = oneWaySlots
    let (inserted, deleted) = (objects.inserted, objects.deleted)
    registry.rekey(inserted) { rows.inserted[$0].key }
    var index = 0
    inserted[...].forEachBorrowed { object in
      object.takeSaved(rows.inserted[index])
      object.becomeSaved()
      index += 1
    }
    for object in unwritten { object.takeSaved(nil) }
    index = 0
    rewritten[...].forEachBorrowed { object in
      object.takeSaved(rows.rewritten[index])
      index += 1
    }
    for object in deleted {
      object.becomeGone(.deletionSaved)
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    if !deleted.isEmpty { registry.vanished += 1 }
    rows.apply(to: registry)
    unload(oneWay, in: registry)
  }

  /// Names of changed to-many relationships without an inverse, by root entity.
  ///
  /// The member's row may store the owner of such a relationship. It has room for one owner, so an owner that
  /// had the member before must read its members again.
  private var oneWaySlots: [RootIndex: Set<String>] {
    var names: [RootIndex: Set<String>] = [:]
    objects.visitChanged({ $0.oneWay }) { owner, slots in
      for slot in slots {
        names[owner._binding.root, default: []].insert(owner._binding.properties[slot].name)
      }
    }
    return names
  }

  private func unload(_ slots: [RootIndex: Set<String>], in registry: ObjectRegistry) {
    if slots.isEmpty { return }
    for object in registry.all() {
      for name in slots[object._binding.root] ?? [] {
        guard let slot = object._binding.layout.slot(named: name),
          case .toMany(let members)? = object._overlay?.values[slot]
        else { continue }
        members.unload()
      }
    }
  }
}
