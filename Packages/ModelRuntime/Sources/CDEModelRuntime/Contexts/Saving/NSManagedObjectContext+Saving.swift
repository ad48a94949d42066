@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEProfiling
@_spi(CDE) internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  final func saveChanges() throws {
    preconditionIsolated("save()")
    guard !isSaving else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "save() was called while the context saves, from a notification or a hook. Save afterwards.")
    }
    if changed.isEmpty && pending.isEmpty { return }
    if parentSource == nil { try requireWritable("save()") }
    guard let recorder = ProfileRecorder.active else { return try writeChanges() }
    let (start, count) = (ContinuousClock.now, changed.count(where: \.hasChanges))
    do { try writeChanges() } catch {
      recorder.noteSave(from: start, objects: count, in: activity(recorder), failed: true)
      throw error
    }
    recorder.noteSave(from: start, objects: count, in: activity(recorder), failed: false)
  }

  private func writeChanges() throws {
    isSaving = true
    failedReads.areRepeated = true
    defer {
      isSaving = false
      failedReads.areRepeated = false
    }
    failedReads.last = nil
    if !deletions.deferred.isEmpty { applyDeferredDeletions() }
    if !failedReads.unfinishedDeletions.isEmpty { try finishDeletions() }
    // Hooks and observers may change further objects. These changes must also be announced before willSave.
    var announced = try runHooks()
    let announcements = announcing.count
    if !changed.contains(where: \.hasChanges) {
      forgetChanges()
      return
    }
    PostedNames.willSave.post(self)

    let objects: CollectedSave
    do { objects = try collectValidated() } catch {
      // A read that failed may have caused the validation failure.
      if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
      throw error
    }
    if objects.isEmpty {
      // An observer or a hook rolled back all changes.
      forgetChanges()
      return
    }
    // Observers and hooks may have inserted and deleted objects since the announcement.
    if !pending.isEmpty || announcing.count != announcements { announced = Announced() }
    switch try commit(objects) {
    case .committed(let save):
      forgetChanges()
      // The save is complete, so observers and hooks may save again.
      isSaving = false
      failedReads.areRepeated = false
      withExtendedLifetime(save) {
        announce(save, announced)
        announced.letGo()
      }
    case .refused(let saves, let refusal): try resolveAndSave(saves, refusal)
    }
  }

  /// Collects the changed objects and validates them. Validation may change further objects, which are
  /// validated and saved as well.
  func collectValidated() throws -> CollectedSave {
    let isRoot = parentSource == nil
    let objects = CollectedSave(changed[...], numberingNew: isRoot)
    var validated = changed.count
    try objects.validate(areRestored: writes.areRestored)
    if changed.count == validated, pending.isEmpty { return objects }
    while validated < changed.count {
      let further = CollectedSave(changed[validated...], numberingNew: isRoot)
      validated = changed.count
      try further.validate(areRestored: writes.areRestored)
    }
    return CollectedSave(changed[...], numberingNew: isRoot)
  }

  func forgetChanges() {
    dropPendingIndex()
    changed[...].forEachBorrowed { $0.leaveChanged() }
    merging.hasUnsavedPartners = false
    event.drop()
    changed.removeAll(keepingCapacity: changed.count <= 4096)
    undoRecorder?.dropSaved()
  }

  /// The store's result for a save.
  enum CommitOutcome {
    /// The store wrote the save, and the commit was applied to the context's objects.
    case committed(CommittedSave)
    /// A store refused its part of the save, and a merge policy may resolve the conflict.
    case refused([StoreSave], Refusal)
  }

  /// Builds a save, writes it, delivers the commit to other contexts and applies it to the context's objects.
  ///
  /// - Parameter complete: adds to the commit before other contexts get it.
  func commit(
    _ objects: consuming CollectedSave, completing complete: (inout CommittedTransaction) -> Void = { _ in }
  ) throws -> CommitOutcome {
    let coordinator = try coordinator()
    if let parentSource {
      for binding in objects.bindings { _ = try coordinator.requiredHandle(for: binding) }
      let save = SaveBuilder.build(objects, author: transactionAuthor, contextName: name)
      if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
      return .committed(
        try commit(save, to: parentSource, coordinator.requiredHandle(for: save.objects.bindings[0])))
    }
    let parts = try parts(of: objects, coordinator)
    if parts.count > 1 { return try commit(parts, completing: complete) }
    let handle = parts[0].handle
    var save = SaveBuilder.build(objects, author: transactionAuthor, contextName: name)
    if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
    if save.transaction.isEmpty { return .committed(applyUnwritten(save, handle, complete)) }
    save.transaction.checked += rowChecks(besides: [save], in: handle)
    if handle.store.recordsHistory { save.nameTouchedOwners() }
    if handle.store.mayWaitForNetwork {
      // Observers of saves compare the numbers of commits.
      save.transaction.hasRecipients = { [inbox] in
        PostedNames.didSave.isUsed || coordinator.hasRecipients(besides: inbox)
      }
    }
    if !unfinished.isEmpty { save.transaction.pending = unfinished[ObjectIdentifier(handle)] ?? [] }
    var delivery = CommitDelivery()
    var committed: CommittedSave?
    do {
      _ = try coordinator.commit(save.transaction, to: handle) { result in
        var written = save.committed(result, of: registry.model, makeCommitTrace(), handle)
        complete(&written.transaction)
        delivery = coordinator.handOn(&written.transaction, from: inbox, isOvertaken: result.isOvertaken)
        committed = written
      }
      guard let committed else {
        failPrecondition("A store has to report each transaction that it commits.")
      }
      forgetDetected(in: handle)
      finish(committed, delivery, coordinator)
      if !unfinished.isEmpty { endUnfinished([handle], coordinator) }
      return .committed(committed)
    } catch  where [.conflict, .uniqueness, .danglingReference].contains(error.code) {
      return .refused([StoreSave(handle: handle, save: save)], Refusal(error: error, part: 0))
    } catch {
      throw ManagedObjectError.store(error)
    }
  }

  /// Notifies the other contexts of a commit, and applies it to this context's objects.
  func finish(
    _ committed: CommittedSave, _ delivery: CommitDelivery, _ coordinator: NSPersistentStoreCoordinator
  ) {
    delivery.start(committed.transaction.sequence)
    coordinator.recentCommits.record(committed.transaction)
    advanceGeneration()
    writes.count += 1
    if !assignments.isEmpty { forgetAssignments(committed.objects.inserted.map { $0._key }) }
    apply(committed)
  }

  /// Applies a save without changed values to the objects. The store has all values already, and other
  /// contexts have nothing to merge.
  private func applyUnwritten(
    _ save: BuiltSave, _ handle: StoreHandle, _ complete: (inout CommittedTransaction) -> Void
  ) -> CommittedSave {
    var committed = save.committed(
      CommitResult(keyBase: [], number: 0), of: registry.model, makeCommitTrace(), handle)
    complete(&committed.transaction)
    apply(committed)
    return committed
  }

  /// - Parameters:
  ///   - announced: the objects last announced. Mostly these are all the saved objects, and the sets are used
  ///     again.
  ///   - taken: changes that the save adopted from the store.
  func announce(_ save: CommittedSave, _ announced: Announced, taken: [ObjectChange] = []) {
    let (objects, committed) = (save.objects, save.transaction)
    let userInfo: [AnyHashable: Any] = [
      CommittedTransaction.userInfoKey: committed,
      NSInsertedObjectsKey:
        announced.inserted.count == objects.inserted.count ? announced.inserted : Set(objects.inserted),
      NSUpdatedObjectsKey:
        announced.updated.count == objects.updated.count ? announced.updated : Set(objects.updated),
      NSDeletedObjectsKey:
        announced.deleted.count == objects.deleted.count ? announced.deleted : Set(objects.deleted),
    ]
    PostedNames.didSave.post(self, userInfo)
    if PostedNames.didSaveObjectIDs.isUsed { announceIDs(of: objects, committed) }
    for object in objects.deleted { object.showDeletion(true) }
    for saved in [objects.inserted, objects.updated, objects.deleted] {
      saved[...].forEachBorrowed { $0.didSave() }
      if registry.hasKeyObservers {
        for object in saved where object.isKeyObserved { object.tellDifferences() }
      }
    }
    for object in objects.deleted { object.showDeletion(false) }
    if !trackers.isEmpty { tellTrackersOfSave(committed, objects.updated) }
    // Observation reports changes that are in the store.
    if let observer, parentSource == nil {
      tellUnlinked()
      observer.contextDidSave(changes(of: committed, objects) + taken, commit: committed)
    }
  }

  /// Posts the IDs of a save's objects.
  private func announceIDs(of objects: CollectedSave, _ committed: CommittedTransaction) {
    func ids(_ objects: [NSManagedObject]) -> Set<NSManagedObjectID> { Set(objects.map(\.objectID)) }
    PostedNames.didSaveObjectIDs.post(
      self,
      [
        CommittedTransaction.userInfoKey: committed, NSInsertedObjectIDsKey: ids(objects.inserted),
        NSUpdatedObjectIDsKey: ids(objects.updated), NSDeletedObjectIDsKey: ids(objects.deleted),
      ])
  }

  /// The changes of a save to this context's own objects, touched owners included.
  private func changes(of committed: CommittedTransaction, _ objects: CollectedSave) -> [ObjectChange] {
    var changes: [ObjectChange] = objects.deleted.map {
      ObjectChange(object: $0, kind: .deleted, properties: nil)
    }
    for change in committed.changes where change.kind != .deleted {
      let binding = registry.model.entities[change.entity]
      guard let object = registry.object(root: binding.root, key: change.key) else { continue }
      changes.append(
        ObjectChange(
          object: object, kind: change.kind == .inserted ? .inserted : .updated, properties: change.properties
        ))
    }
    return changes + touchedObjects(committed)
  }

  func touchedObjects(_ committed: CommittedTransaction) -> [ObjectChange] {
    if committed.touched.isEmpty { return [] }
    var reported: [KeyedEntity: PropertySet] = [:]
    for change in committed.changes where change.kind != .deleted {
      reported[KeyedEntity(root(of: change.entity), change.key)] = change.properties
    }
    return committed.touched.compactMap { touch in
      let root = root(of: touch.entity)
      guard let object = registry.object(root: root, key: touch.key) else { return nil }
      let name = registry.model.entities[touch.entity].properties[touch.slot].name
      guard let slot = object._binding.layout.slot(named: name) else { return nil }
      // If the owner was saved too, its own changes include the relationship.
      if reported[KeyedEntity(root, touch.key)]?.contains(slot) == true { return nil }
      return ObjectChange(object: object, kind: .touched, properties: [slot])
    }
  }

  private struct KeyedEntity: Hashable {
    var root: RootIndex
    var key: Int64
    init(_ root: RootIndex, _ key: Int64) {
      self.root = root
      self.key = key
    }
  }

  func root(of entity: EntityIndex) -> RootIndex { registry.model.entities[entity].root }

  // MARK: Dropping changes

  final func dropChanges() {
    preconditionIsolated("rollback()")
    let objects = changed
    forgetChanges()
    dropUndoActions()
    failedReads.unfinishedDeletions = []
    deletions.deferred = []
    for object in pending.objects {
      object.leavePending()
      object.leaveEvent()
    }
    pending.objects = []
    detected = []
    var restored: [NSManagedObject] = []
    var revivesDeleted = false
    for object in objects {
      if object.isInserted {
        if object.isAnnounced { pending.forgotten.append(object) }
        discardInserted(object)
      } else if object.hasChanges {
        if object.isMarkedDeleted { revivesDeleted = true }
        object.dropMarks()
        unloadOwners(ofRolledBack: object)
        object._overlay?.rollBack()
        object.forgetProblems()
        restored.append(object)
      }
    }
    forgetUnreadObjects()
    if revivesDeleted {
      // Members that were loaded meanwhile do not include the deleted objects.
      for object in registry.all() { object._overlay?.unloadMembers() }
    }
    awaken(restored, from: .rollback)
    pending.refreshed += restored
    if pending.isEmpty, !objects.isEmpty {
      PostedNames.objectsDidChange.post(self, [:])
    }
    processPendingChanges()
    if !restored.isEmpty { observer?.contextDidRefresh(restored) }
  }

  /// Unloads the members of the owners in the row of an object whose unsaved references are about to be dropped.
  ///
  /// Members that were loaded meanwhile do not include the object, whether the owner records its removal or not.
  private func unloadOwners(ofRolledBack object: NSManagedObject) {
    guard object.isStored else { return }
    for slot in object.changedSlots.intersection(object.withBinding(\.savedSlots.owned)) {
      let info = object._binding.properties[slot]
      guard let inverse = info.inverseSlot, let key = object.storedKey(info),
        let owner = registry.object(root: root(of: info.destination), key: key),
        info.destinations.contains(owner._binding.index)
      else { continue }
      unload(owner, owner.slot(of: info, inverse))
    }
  }

  final func dropObjects() {
    preconditionIsolated("reset()")
    forgetChanges()
    dropUndoActions()
    failedReads.unfinishedDeletions = []
    deletions.deferred = []
    for object in pending.objects {
      object.leavePending()
      object.leaveEvent()
    }
    detected = []
    assignments = [:]
    pending = PendingChanges()
    recent.clear()
    forgetUnreadObjects()
    for object in registry?.all() ?? [] {
      object.forgetContext()
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    PostedNames.objectsDidChange.post(self, [NSInvalidatedAllObjectsKey: true])
    if !trackers.isEmpty { tellTrackersOfReset() }
    observer?.contextDidReset()
  }
}
