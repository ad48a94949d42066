@_spi(CDE) internal import CDEProfiling
@_spi(CDE) internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  final func mergeCommit(named notification: Notification) {
    preconditionIsolated("mergeChanges(fromContextDidSave:)")
    merge(notification.userInfo ?? [:])
  }

  /// Merges changes known only by their IDs, such as those of a batch request, or another context's save.
  ///
  /// - Parameters:
  ///   - changeNotificationData: the `userInfo` of a save's notification, or arrays or sets of IDs (or their URIs)
  ///     under the inserted, updated and deleted keys.
  ///   - contexts: the contexts to merge into. Each merges on its own isolation, before the call returns.
  public static func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      let data = Carrier(changeNotificationData)
      context.performAndWait { context.merge(data.value) }
    }
  }

  private func merge(_ data: [AnyHashable: Any]) {
    dropTracesSoon()
    if let commit = data[CommittedTransaction.userInfoKey] as? CommittedTransaction {
      if isOfOwnStores(commit), commit.order == nil || commit.order === ownOrder {
        mergeInbox(before: commit.sequence)
        merge(commit)
      } else {
        // Rows of another container's layout can't be used here. Its IDs can, if it has the same stores.
        merge(
          inserted: commit.ids(.inserted), updated: commit.ids(.updated), deleted: commit.ids(.deleted))
      }
      return
    }
    merge(
      inserted: ids(in: data, NSInsertedObjectIDsKey, NSInsertedObjectsKey),
      updated: ids(in: data, NSUpdatedObjectIDsKey, NSUpdatedObjectsKey),
      deleted: ids(in: data, NSDeletedObjectIDsKey, NSDeletedObjectsKey))
  }

  /// The order of the commits in this context's inbox.
  private var ownOrder: CommitOrder? {
    parentSource?.parent.children.order ?? persistentStoreCoordinator?.commitOrder
  }

  private func isOfOwnStores(_ commit: CommittedTransaction) -> Bool {
    guard let model = modelBinding, model === commit.model, !commit.changes.isEmpty else { return false }
    let loaded = persistentStoreCoordinator?.persistentStores.map(\.handle) ?? []
    return commit.stores.allSatisfy { store in loaded.contains { $0 === store } }
  }

  private func ids(in data: [AnyHashable: Any], _ keys: String...) -> [NSManagedObjectID] {
    keys.flatMap { key -> [NSManagedObjectID] in
      switch data[key] {
      case let ids as [NSManagedObjectID]: ids
      case let ids as Set<NSManagedObjectID>: Array(ids)
      case let uris as [URL]:
        uris.compactMap { persistentStoreCoordinator?.managedObjectID(forURIRepresentation: $0) }
      case let objects as Set<NSManagedObject>: objects.map(\.objectID)
      default: []
      }
    }
  }

  // MARK: In order

  /// Merges the waiting commits of the inbox up to a number. These merges share no traces with merges before
  /// or after.
  func mergeInbox(through number: UInt64) {
    merging.traces.removeAll()
    drainInbox(through: number)
    merging.traces.removeAll()
  }

  /// Accepts other contexts' commits, and merges them at each call of ``mergeWaiting()`` instead of soon after the save.
  ///
  /// For a context that belongs to the isolation of its creator, where no job of an executor may use it.
  @_spi(CDE) public final func acceptCommitsUntilAsked() { inbox.open { _ in } }

  /// Merges the commits that the context accepted since the last call.
  @_spi(CDE) public final func mergeWaiting() {
    if !merging.isRunning, !isSaving { mergeInbox(through: .max) }
  }

  /// Merges the commits in the inbox that are older than a commit to be merged by hand.
  func mergeInbox(before number: UInt64) {
    // An observer of a merge or of a save may call this while another commit is merged or saved.
    if number > 0, !merging.isRunning, !isSaving { drainInbox(through: number - 1) }
  }

  private func drainInbox(through number: UInt64) {
    while let commit = inbox.popFirst(through: number) { merge(commit) }
  }

  /// Enqueues a block that drops the traces of the commits merged so far.
  private func dropTracesSoon() {
    guard observer != nil, !merging.isEndScheduled else { return }
    merging.isEndScheduled = true
    executor.enqueue { [weak self] in
      self?.merging.isEndScheduled = false
      self?.merging.traces.removeAll()
    }
  }

  /// - Returns: whether the observed context has merged the commit, or a part of it, and still has its trace.
  func noteMerge(_ trace: CommitTrace) -> Bool {
    if observer == nil { return false }
    if merging.traces.contains(where: { $0 === trace }) { return true }
    merging.traces.append(trace)
    return false
  }

  // MARK: By commit

  /// Adopts another context's save.
  ///
  /// The cost grows with the number of changed objects that are registered here.
  func merge(_ commit: CommittedTransaction) {
    guard let recorder = ProfileRecorder.active else { return take(commit) }
    let start = ContinuousClock.now
    take(commit)
    recorder.noteMerge(from: start, objects: commit.changes.count, in: activity(recorder))
  }

  private func take(_ commit: CommittedTransaction) {
    guard let registry else { return }
    advanceGeneration()
    if commit.isUnknown {
      if parentSource == nil { merge(differences(to: commit.store)) }
      return
    }
    let isNested = merging.isRunning
    merging.isRunning = true
    defer { merging.isRunning = isNested }
    if parentSource != nil {
      // The rows are the parent's, which may have changed since.
      return merge(
        inserted: commit.ids(.inserted), updated: commit.ids(.updated), deleted: commit.ids(.deleted),
        touched: touchedObjects(commit))
    }
    defer { children.deliver(commit) }
    processPendingChanges()
    let commit = commit.lacksRows ? withRows(commit) : commit
    var changes: [ObjectChange] = []
    var forgotten: [NSManagedObject] = []
    var writtenAgain: [NSManagedObject] = []
    let namesIDs = PostedNames.didMergeObjectIDs.isUsed || !trackers.isEmpty
    var ids = namesIDs ? MergedIDs(expecting: commit.changes) : MergedIDs()
    var arrived: [CommittedTransaction.Change] = []
    var missed: [CommittedTransaction.Change] = []
    let namesArrivals = PostedNames.objectsDidChange.isUsed
    let isTracked = !trackers.isEmpty
    for change in commit.changes {
      let binding = registry.model.entities[change.entity]
      let object = registry.object(root: binding.root, key: change.key)
      if namesIDs {
        ids.add(
          change.kind,
          object?.objectID
            ?? NSManagedObjectID(binding: binding, key: change.key, store: commit.store(of: change.key)))
      }
      guard let object else {
        if change.kind == .deleted { continue }
        if namesArrivals, change.kind == .inserted {
          arrived.append(change)
        } else if isTracked, self.isTracked(change.entity) {
          missed.append(change)
        }
        continue
      }
      switch change.kind {
      case .deleted:
        // The row was saved again under the same key later, and without the pairs that the deletion removed.
        if !object.isFault, object._batch.asOf > commit.asOf(change.key) {
          writtenAgain.append(object)
          continue
        }
        forgotten.append(object)
        changes.append(ObjectChange(object: object, kind: .deleted, properties: nil))
      case .inserted, .updated:
        if change.kind == .inserted { writtenAgain.append(object) }
        let missed = adopt(change, into: object, isCurrent: commit.isForeign, &changes)
        changes.append(
          ObjectChange(
            object: object, kind: change.kind == .inserted ? .inserted : .updated,
            properties: missed.isEmpty ? change.properties : change.properties.union(missed)))
      }
    }
    forgetMerged(forgotten)
    for change in touchedObjects(commit) {
      change.properties?.forEach { unload(change.object, $0) }
      changes.append(change)
    }
    changes += unloadPairs(ofWrittenAgain: writtenAgain)
    settle(commit, changes)
    if !arrived.isEmpty { pending.appeared += arrived.map(objectOfArrival) }
    let source = MergeSource.commit(commit, isRepeated: noteMerge(commit.trace))
    finishMerge(changes, ids, source, found: missed.map(objectOfArrival))
  }

  /// The object for a row that another context inserted or changed, made from the saved row.
  func objectOfArrival(_ change: CommittedTransaction.Change) -> NSManagedObject {
    let binding = registry.model.entities[change.entity]
    if let known = registry.object(root: binding.root, key: change.key) { return known }
    guard let row = change.row, row.batch.layout === binding.layout else {
      return object(entity: change.entity, key: change.key)
    }
    let made = materialize(
      binding, binding.objectClass, key: change.key, batch: row.batch,
      row: Int32(truncatingIfNeeded: row.row),
      flags: baseFlags)
    registry.register(made)
    awaken(made)
    return made
  }

  /// - Parameter isCurrent: whether the row was read for this merge. It is then at least as new as the known one.
  /// - Returns: properties outside the commit's own changes whose values in the row are new here. The save
  ///   adopted them from another writer. That writer's commit is still announced when it is merged, although
  ///   the row has its values already.
  private func adopt(
    _ change: CommittedTransaction.Change, into object: NSManagedObject, isCurrent: Bool,
    _ changes: inout [ObjectChange]
  ) -> PropertySet {
    if change.kind == .updated {
      for slot in change.properties where object._binding.properties[slot].isToMany { unload(object, slot) }
    }
    guard let row = change.row, !object.isFault, row.batch.layout === object._binding.layout
    else { return [] }
    let known = RowReference(batch: object._batch, row: Int(object._row))
    guard isNews(row, over: known, of: object, isCurrent) else { return [] }
    if row.version > known.version, !object._binding.storedDerivations.isEmpty,
      known.batch.asOf > row.batch.asOf
    {
      object.take(row, derivedFrom: known)
    } else {
      object.takeNews(row.batch, row.row)
    }
    noteMerged(object)
    noteRival(object, known, row)
    // The commit names the owners in the row that its writer knew.
    if change.adopted.isEmpty, row.version == known.version &+ 1 { return [] }
    changes += unloadOwners(of: object, known, row)
    return object.slotsThatDiffer(known, row).intersection(change.adopted)
  }

  /// The store changes derived values without a new version. The later commit then has the newer values. Commits of other
  /// processes are not counted here, so a row that was read for the merge is compared by its values.
  private func isNews(
    _ row: RowReference, over known: RowReference, of object: NSManagedObject, _ isCurrent: Bool
  ) -> Bool {
    if row.version != known.version { return row.version > known.version }
    if object._binding.storedDerivations.isEmpty { return false }
    return isCurrent ? !object.slotsThatDiffer(known, row).isEmpty : row.batch.asOf > known.batch.asOf
  }

  func unload(_ object: NSManagedObject, _ slot: SlotIndex) {
    if case .toMany(let members)? = object._overlay?.values[slot] { members.unload() }
  }

  /// Removes objects whose rows another writer deleted.
  func forgetMerged(_ objects: [NSManagedObject]) {
    if objects.isEmpty { return }
    let listed = objects.filter(\.isListed)
    if !listed.isEmpty { removeListed(listed) }
    for object in objects {
      object.becomeGone(.deletedByOthers)
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    registry.vanished += 1
    pending.deletedByMerge += objects
  }

  /// - Parameter found: objects made for changed rows that had none, for trackers.
  func finishMerge(
    _ changes: [ObjectChange], _ ids: MergedIDs, _ source: MergeSource, found: [NSManagedObject] = []
  ) {
    awakenMerged()
    for change in changes where change.kind != .deleted {
      if change.kind == .inserted {
        pending.appeared.append(change.object)
      } else {
        pending.refreshed.append(change.object)
      }
    }
    pending.isMerge = true
    noteNews(changes, ids, found: found)
    processPendingChanges()
    tellRemainingNews()
    pending.isMerge = false
    tellChildrenOfEnded()
    if PostedNames.didMergeObjectIDs.isUsed { PostedNames.didMergeObjectIDs.post(self, ids.userInfo(source)) }
    observer?.contextDidMerge(changes, source)
  }

  struct MergedIDs {
    var inserted: Set<NSManagedObjectID> = []
    var updated: Set<NSManagedObjectID> = []
    var deleted: Set<NSManagedObjectID> = []

    mutating func add(_ kind: CommittedTransaction.Change.Kind, _ id: NSManagedObjectID) {
      switch kind {
      case .inserted: inserted.insert(id)
      case .updated: updated.insert(id)
      case .deleted: deleted.insert(id)
      }
    }

    func userInfo(_ source: MergeSource) -> [AnyHashable: Any] {
      var info: [AnyHashable: Any] = [:]
      if !inserted.isEmpty { info[NSInsertedObjectIDsKey] = inserted }
      if !updated.isEmpty { info[NSUpdatedObjectIDsKey] = updated }
      if !deleted.isEmpty { info[NSDeletedObjectIDsKey] = deleted }
      if case .commit(let commit, _) = source { info[CommittedTransaction.userInfoKey] = commit }
      return info
    }
  }
}

extension NSManagedObjectContext.MergedIDs {
  /// Makes room for the IDs of changes. A set that grows step by step compares most of its members again.
  init(expecting changes: [CommittedTransaction.Change]) {
    var counts = (inserted: 0, updated: 0, deleted: 0)
    for change in changes {
      switch change.kind {
      case .inserted: counts.inserted += 1
      case .updated: counts.updated += 1
      case .deleted: counts.deleted += 1
      }
    }
    inserted.reserveCapacity(counts.inserted)
    updated.reserveCapacity(counts.updated)
    deleted.reserveCapacity(counts.deleted)
  }
}
