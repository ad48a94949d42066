@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// Writes all changes in one transaction, or none.
  ///
  /// In order: the objects' `willSave()` is called and changes are announced until nothing changes any more,
  /// `NSManagedObjectContextWillSave` is posted, values are validated, the store writes and hands the commit
  /// to the contexts that merge automatically, IDs become permanent, `didSave` is posted. So slow observers
  /// and hooks keep no other context from merging. Without changes nothing happens.
  ///
  /// Costs one row for each changed object, written in the order of their keys; only changed columns are
  /// written.
  ///
  /// The ``mergePolicy`` settles two kinds of conflicts: objects that another writer changed since they were
  /// read, and unique values that another object has. The save is then tried again.
  ///
  /// - Throws: ``ManagedObjectError``: hooks that go on changing objects, validation failures (all of them),
  ///   conflicts that the merge policy does not settle, store errors. Everything stays as it was, except for
  ///   what a policy settled: the same save can be tried again, or rolled back.
  public func save() throws {
    preconditionIsolated("save()")
    guard !isSaving else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "save() was called while the context saves, from a notification or a hook. Save afterwards.")
    }
    if changed.isEmpty && pending.isEmpty { return }
    isSaving = true
    failedReads.areRepeated = true
    defer {
      isSaving = false
      failedReads.areRepeated = false
    }
    failedReads.last = nil
    if !failedReads.unfinishedDeletions.isEmpty { try finishDeletions() }
    // Hooks and observers may change further objects, whose announcement must come before willSave as well.
    var announced = try settleChanges()
    let announcements = announcing.count
    if !changed.contains(where: \.hasChanges) {
      forgetChanges()
      return
    }
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)

    let objects: CollectedSave
    do { objects = try collectValidated() } catch {
      // A read that failed may have caused the validation failure.
      if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
      throw error
    }
    if objects.isEmpty {
      // An observer or a hook rolled everything back.
      forgetChanges()
      return
    }
    // Observers and hooks may have inserted and deleted since.
    if !pending.isEmpty || announcing.count != announcements { announced = Announced() }
    switch try commit(objects) {
    case .committed(let save):
      forgetChanges()
      // Everything is settled, so observers and hooks may save again.
      isSaving = false
      failedReads.areRepeated = false
      withExtendedLifetime(save) {
        announce(save, announced)
        announced.letGo()
      }
    case .refused(let save, let refusal): try resolveAndSave(save, refusal)
    }
  }

  /// Validation may change further objects, which are validated and saved as well.
  func collectValidated() throws -> CollectedSave {
    let objects = CollectedSave(changed[...])
    var validated = changed.count
    try objects.validate()
    if changed.count == validated, pending.isEmpty { return objects }
    while validated < changed.count {
      let further = CollectedSave(changed[validated...])
      validated = changed.count
      try further.validate()
    }
    return CollectedSave(changed[...])
  }

  func forgetChanges() {
    changed[...].forEachBorrowed { $0.leaveChanged() }
    changed.removeAll(keepingCapacity: changed.count <= 4096)
  }

  /// What the store made of a save.
  enum CommitOutcome {
    /// The store wrote it, and the context's objects are settled.
    case committed(CommittedSave)
    /// The store refused it, where a merge policy may help.
    case refused(BuiltSave, StoreError)
  }

  /// Builds a save, writes it, hands the commit on and settles the context's objects.
  ///
  /// - Parameter complete: adds to the commit before other contexts get it.
  func commit(
    _ objects: consuming CollectedSave, completing complete: (inout CommittedTransaction) -> Void = { _ in }
  ) throws -> CommitOutcome {
    let coordinator = try coordinator()
    let handle = try coordinator.handle(for: objects.bindings)
    let save = SaveBuilder.build(objects, author: transactionAuthor, contextName: name)
    if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
    if save.transaction.isEmpty { return .committed(settleUnwritten(save, handle, complete)) }
    var delivery = CommitDelivery()
    var committed: CommittedSave?
    do {
      _ = try coordinator.commit(save.transaction, of: save.objects.bindings[0]) { result in
        var written = save.committed(result, of: registry.model, makeCommitTrace(), handle)
        complete(&written.transaction)
        delivery = coordinator.handOn(&written.transaction, from: inbox)
        committed = written
      }
      guard let committed else {
        failPrecondition("A store has to report each transaction that it commits.")
      }
      delivery.start(committed.transaction.sequence)
      coordinator.recentCommits.record(committed.transaction)
      committed.settle(in: registry)
      return .committed(committed)
    } catch  where [.conflict, .uniqueness, .danglingReference].contains(error.code) {
      return .refused(save, error)
    } catch {
      throw ManagedObjectError.store(error)
    }
  }

  /// Settles objects that were given the values they had: the store has all values, and other contexts have
  /// nothing to merge.
  private func settleUnwritten(
    _ save: BuiltSave, _ handle: StoreHandle, _ complete: (inout CommittedTransaction) -> Void
  ) -> CommittedSave {
    var committed = save.committed(
      CommitResult(keyBase: [], sequence: 0), of: registry.model, makeCommitTrace(), handle)
    complete(&committed.transaction)
    committed.settle(in: registry)
    return committed
  }

  /// - Parameters:
  ///   - announced: what was announced last. Mostly these are all the objects that were saved; the sets are
  ///     then used again.
  ///   - taken: what the save took over from the store.
  func announce(_ save: CommittedSave, _ announced: Announced, taken: [ObjectChange] = []) {
    let (objects, committed) = (save.objects, save.transaction)
    let userInfo: [AnyHashable: Any] = [
      CommittedTransaction.userInfoKey: committed,
      NSInsertedObjectsKey:
        announced.inserted.count == objects.inserted.count ? announced.inserted : Set(objects.inserted),
      NSUpdatedObjectsKey:
        announced.updated.count == objects.updated.count ? announced.updated : Set(objects.updated),
      NSDeletedObjectsKey: Set(objects.deleted),
    ]
    NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: self, userInfo: userInfo)
    for saved in [objects.inserted, objects.updated, objects.deleted] {
      saved[...].forEachBorrowed { $0.didSave() }
    }
    if let observer {
      observer.contextDidSave(changes(of: committed, objects) + taken, commit: committed)
    }
  }

  /// What a save changed in this context's own objects, the touched owners included.
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
      // An owner in memory has the relationship among its own changes.
      if reported[KeyedEntity(root, touch.key)]?.contains(slot) == true { return nil }
      return ObjectChange(object: object, kind: .touched, properties: [slot])
    }
  }

  private struct KeyedEntity: Hashable {
    var root: Int
    var key: Int64
    init(_ root: Int, _ key: Int64) {
      self.root = root
      self.key = key
    }
  }

  func root(of entity: Int) -> Int { registry.model.entities[entity].root }

  // MARK: Giving up

  /// Drops all unsaved changes: values return to the last saved ones, new objects leave the context, deleted
  /// ones stay.
  public func rollback() {
    preconditionIsolated("rollback()")
    let objects = changed
    forgetChanges()
    failedReads.unfinishedDeletions = []
    for object in pending.objects { object.leavePending() }
    pending.objects = []
    var restored: [NSManagedObject] = []
    var revivesDeleted = false
    for object in objects {
      if object.isInserted {
        if object.isAnnounced { pending.forgotten.append(object) }
        discardInserted(object)
      } else if object.hasChanges {
        if object.isMarkedDeleted { revivesDeleted = true }
        object.dropMarks()
        object._overlay?.rollBack()
        object.forgetProblems()
        restored.append(object)
      }
    }
    forgetUnreadObjects()
    if revivesDeleted {
      // Members loaded meanwhile were loaded without the deleted ones.
      for object in registry.all() { object._overlay?.unloadMembers() }
    }
    pending.refreshed += restored
    if pending.isEmpty, !objects.isEmpty {
      NotificationCenter.default.post(
        name: PostedNames.objectsDidChange, object: self, userInfo: [:])
    }
    processPendingChanges()
    if !restored.isEmpty { observer?.contextDidRefresh(restored) }
  }

  /// Forgets everything: changes, objects, values. Objects that are still retained elsewhere belong to no
  /// context any more.
  public func reset() {
    preconditionIsolated("reset()")
    forgetChanges()
    failedReads.unfinishedDeletions = []
    for object in pending.objects { object.leavePending() }
    pending = PendingChanges()
    recent.clear()
    forgetUnreadObjects()
    for object in registry?.all() ?? [] {
      object.forgetContext()
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    NotificationCenter.default.post(
      name: PostedNames.objectsDidChange, object: self,
      userInfo: [NSInvalidatedAllObjectsKey: true])
    observer?.contextDidReset()
  }
}
