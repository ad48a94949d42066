@_spi(CDE) internal import CDEExecutors
internal import CDEStore

// States of an object's image: none (its row has its values) -> kept at each announcement while it has unsaved changes
// -> none after a save. An announcement compares the object with its image, or with its row, and registers the
// difference with the undo manager. An undo writes the former values by the functions that all changes use, so the
// announcement at its end registers the redo.
extension NSManagedObjectContext: UndoClient {
  /// Registers what happened so far, before the manager opens, closes or undoes a group.
  func registerPendingUndo() {
    if executor.isCurrent || !executor.wasEntered { announcePending() }
  }

  var currentUndoManager: UndoManager? {
    preconditionIsolated("undoManager")
    return undoRecorder?.manager
  }

  final func setUndoManager(_ manager: UndoManager?) {
    preconditionIsolated("undoManager")
    if manager === undoRecorder?.manager { return }
    // What happened before is not for the new manager.
    announcePending()
    undoRecorder?.manager.removeClient(self)
    undoRecorder = manager.map { UndoRecorder(manager: $0) }
    manager?.addClient(self)
    configuration.withLock { $0.hasUndoManager = manager != nil }
    if manager == nil { return }
    for object in changed { undoRecorder?.note(object) }
  }

  /// Closes the group of the event that ends with the current block or job.
  func endUndoEvent() { undoRecorder?.manager.endEvent() }

  /// Drops the actions of this context, because they are about objects and values that it has dropped.
  func dropUndoActions() {
    guard let manager = undoRecorder?.manager else { return }
    undoRecorder?.dropAll()
    manager.removeAllActions(withTarget: self)
  }

  // MARK: Recording

  /// Registers what happened since the last announcement.
  func recordUndo(_ pending: PendingChanges) {
    guard var recorder = undoRecorder else { return }
    var changes: [UndoChange] = []
    var seen = Set<ObjectIdentifier>()
    for object in pending.refreshed where !object.hasChanges {
      // A refresh that drops changes cannot be undone, and neither can another writer's save.
      recorder[object] = nil
      seen.insert(ObjectIdentifier(object))
    }
    for object in pending.deletedByMerge {
      recorder[object] = nil
      seen.insert(ObjectIdentifier(object))
    }
    for object in pending.objects + pending.forgotten where seen.insert(ObjectIdentifier(object)).inserted {
      let image = UndoImage(object)
      if let change = UndoChange(from: recorder[object], to: image) { changes.append(change) }
      recorder[object] = image.presence == .absent ? nil : image
    }
    undoRecorder = recorder
    guard !changes.isEmpty, recorder.manager.isUndoRegistrationEnabled else { return }
    let opensGroup = !recorder.manager.groupsByEvent && recorder.manager.groupingLevel == 0
    if opensGroup { recorder.manager.beginUndoGrouping() }
    recorder.manager.registerUndo(withTarget: self) { $0.takeBack(changes) }
    if opensGroup { recorder.manager.endUndoGrouping() }
  }

  // MARK: Undoing

  /// Undoes the changes of one announcement, and announces that.
  private func takeBack(_ changes: [UndoChange]) {
    guard registry != nil else { return }
    // Changes that are not recorded yet would become part of this one.
    announcePending()
    dropPendingIndex()
    bringBack(changes)
    for change in changes where change.isAtHome(in: registry) { change.dropUnsavedMembers() }
    for change in changes where change.isAtHome(in: registry) { change.restoreValues() }
    for change in changes where change.isAtHome(in: registry) { change.restoreMembers() }
    for change in changes where change.isAtHome(in: registry) { change.restoreOrders() }
    for change in changes where change.presence.before == .absent || change.presence.before == .deleted {
      if change.object._registry === registry { delete(change.object) }
    }
    awaken(changes)
    if registry.hasKeyObservers { registry.tellKeyChanges() }
    // Other objects changed as the other sides of relationships.
    let changed = pending.objects
    announcePending()
    for object in changed where object._registry === registry { settleUndone(object) }
  }

  /// Calls the hook of objects that an undo or redo changed or brought back.
  private func awaken(_ changes: [UndoChange]) {
    for change in changes where !change.object.isDeletedOrGone {
      let cameBack = change.presence.after == .absent || change.presence.after == .deleted
      awaken(CollectionOfOne(change.object), from: cameBack ? .undoDeletion : .undoUpdate)
    }
  }

  /// Takes back deletions: of objects that are still marked as deleted, and of objects that have left the context.
  private func bringBack(_ changes: [UndoChange]) {
    var hasFormerRows = false
    // Objects that were made for a key after its object had gone, and the object that has the key again.
    var replaced: [(old: NSManagedObject, new: NSManagedObject)] = []
    for change in changes where change.presence.before == .saved || change.presence.before == .inserted {
      let object = change.object
      if object._registry === registry {
        guard object.isMarkedDeleted else { continue }
        withdrawDeletion(of: object)
        hasFormerRows = true
      } else if object._home == nil, change.presence.after == .deleted || change.presence.after == .absent {
        let key = key(for: change)
        if let other = registry.object(root: object._binding.root, key: key) {
          replaced.append((other, object))
          other.becomeGone(.deletedByOthers)
          other.detach()
        }
        object.returnToContext(registry, key: key, flags: baseFlags.union(.inserted))
        noteChange(object)
      }
    }
    if !replaced.isEmpty { replaceDestinations(replaced) }
    if hasFormerRows { unloadMembers() }
  }

  /// The key with which an object returns to the context.
  private func key(for change: UndoChange) -> Int64 {
    let wasSaved = change.presence.before == .saved
    // The parent may have an object that it deleted under this key.
    return wasSaved && (parentSource != nil || change.key < 0) ? nextTemporaryKey() : change.key
  }

  /// Makes relationships lead to the objects that have returned.
  private func replaceDestinations(_ replaced: [(old: NSManagedObject, new: NSManagedObject)]) {
    let objects = Dictionary(
      replaced.map { (ObjectIdentifier($0.old), $0.new) }, uniquingKeysWith: { first, _ in first })
    for object in registry.all() {
      guard let overlay = object._overlay else { continue }
      for slot in overlay.slots {
        guard case .toOne(let old) = overlay.values[slot], let new = objects[ObjectIdentifier(old)] else {
          continue
        }
        overlay.values[slot] = .toOne(new)
      }
    }
    registry.vanished += 1
  }

  /// Unmarks values that equal the row's again.
  private func settleUndone(_ object: NSManagedObject) {
    defer { undoRecorder?.note(object) }
    guard !object.isInserted, !object.isDeletedOrGone, object.isMarkedUpdated else { return }
    for slot in object.changedSlots {
      let info = object._binding.properties[slot]
      if info.isToMany {
        object.settleMembers(info)
      } else if !info.isTransient, !object.differsFromRow(slot) {
        object.clearUnsaved(slot)
      }
    }
    if object.changedSlots.isEmpty, !object.hasProblems { object.unmarkUpdated() }
  }
}

extension UndoChange {
  /// Whether the object is in a context and has values to restore.
  fileprivate func isAtHome(in registry: ObjectRegistry) -> Bool {
    if presence.before == .absent || object._registry !== registry { return false }
    if object.isFault { object.fire() }
    return !object.isDeletedOrGone
  }

  /// Drops members that the object got in the step that deleted it. The delete rules changed only the members.
  fileprivate func dropUnsavedMembers() {
    guard object.isStored else { return }
    for (slot, added, removed) in unsaved {
      guard case .toMany(let members)? = object._overlay?.values[slot] else { continue }
      members.resetChanges(added: added.filter(isUsable), removed: removed.filter(isUsable))
    }
  }

  fileprivate func restoreValues() {
    for (slot, value) in values {
      let info = object._binding.properties[slot]
      if info.kind == .toOne {
        restoreToOne(info, value)
      } else if !object.attributeValue(info).isSame(as: value) {
        object.change(slot, to: value)
      }
    }
  }

  private func restoreToOne(_ info: PropertyInfo, _ value: _PropertyValue) {
    var former: NSManagedObject?
    if case .toOne(let object) = value, isUsable(object), info.inverseSlot != nil || object.hasRow {
      former = object
    }
    if object.toOne(info.slot) !== former { return object.setToOne(info.slot, former) }
    // An object whose deletion is undone kept its reference, and the other side did not.
    guard let former, let inverse = info.inverseSlot else { return }
    let theirs = former.slot(of: info, inverse)
    if !info.inverseIsToMany {
      if former.toOne(theirs) !== object { former.writeToOne(theirs, object) }
    } else {
      // Members that are not loaded contain the object if its row refers to their owner.
      let isMember = former.members(theirs).knows(object) ?? !object.changedSlots.contains(info.slot)
      if !isMember { former.writeAdd(theirs, object) }
    }
  }

  fileprivate func restoreMembers() {
    for (slot, change) in members where !object._binding.properties[slot].isOtherSideOfToOne {
      // Loaded members take a change back that unloaded ones would keep twice.
      _ = object.loadedMembers(slot)
      for member in change.added where isUsable(member) { object.removeMember(slot, member) }
      for member in change.removed where isUsable(member) { object.addMember(slot, member) }
      guard presence.after == .deleted || presence.after == .absent else { continue }
      for member in change.former ?? [] where isUsable(member) { object.addMember(slot, member) }
    }
  }

  fileprivate func restoreOrders() {
    for (slot, change) in members where object._binding.properties[slot].isOrdered {
      if let former = change.former { object.setOrder(slot, former) }
    }
  }

  private func isUsable(_ other: NSManagedObject) -> Bool {
    !other.isDeletedOrGone && other._home?.address == object._home?.address
  }
}

extension NSManagedObject {
  /// Whether the object exists. A relationship without an inverse may refer to a row that was deleted.
  fileprivate final var hasRow: Bool {
    if isFault { fire() }
    return !isDeletedOrGone
  }

  /// Becomes a new object of the context again that it left, without values.
  fileprivate final func returnToContext(_ registry: ObjectRegistry, key: Int64, flags: Flags) {
    dropOverlay()
    _batch = _binding.defaults
    _row = 0
    _flags.subtract([.pending, .listed])
    attach(to: registry, key: key, flags: flags)
  }

  /// Unmarks a to-many relationship whose members are the stored ones again.
  fileprivate final func settleMembers(_ info: PropertyInfo) {
    guard case .toMany(let members)? = _overlay?.values[info.slot] else { return keepUnchanged(info.slot) }
    if members.hasChanges, !members.isReordered, !hasChangedMembers(info.slot) { members.clearChanges() }
    if members.isLoaded, members.isReordered, members.added.isEmpty, members.removed.isEmpty,
      let stored = _registry?.context?.storedMembers(of: self, slot: info.slot),
      stored.filter({ !$0.isDeletedOrGone }).elementsEqual(members.objects, by: ===)
    {
      members.clearChanges()
    }
    if !members.hasChanges { keepUnchanged(info.slot) }
  }
}
