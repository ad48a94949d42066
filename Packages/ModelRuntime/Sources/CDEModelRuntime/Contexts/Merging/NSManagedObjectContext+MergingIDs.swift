internal import CDEStore

// Merges of changes that are known only by their objects' IDs.
extension NSManagedObjectContext {
  /// Merges changes without their rows. The rows of registered objects are read again.
  ///
  /// Observers get the changed properties from recent saves of the same container.
  ///
  /// - Parameter touched: objects whose to-many relationships changed on the other side only.
  func merge(
    inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID],
    touched: [ObjectChange] = []
  ) {
    guard let registry else { return }
    func local(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
      guard let source = rowSource else { return [] }
      return ids.compactMap { source.local($0, in: registry.model) }
    }
    let (inserted, updated, deleted) = (local(inserted), local(updated), local(deleted))
    if inserted.isEmpty, updated.isEmpty, deleted.isEmpty, touched.isEmpty { return }
    advanceGeneration()
    // The rows read here are newer than all waiting commits.
    mergeInbox(before: .max)
    let isNested = merging.isRunning
    merging.isRunning = true
    defer { merging.isRunning = isNested }
    processPendingChanges()
    func known(_ id: NSManagedObjectID) -> NSManagedObject? {
      registry.model.entity(named: id.binding.name).flatMap { registry.object(root: $0.root, key: id.key) }
    }
    let effects = BatchEffects(of: inserted + updated + deleted, in: self)
    let gone = unique(deleted.compactMap(known) + effects.deleted)
    let orphaned = ownersOfDeleted(gone)
    forgetMerged(gone)
    var changes = gone.map { ObjectChange(object: $0, kind: .deleted, properties: nil) }
    let objects = unique((inserted + updated).compactMap(known) + effects.updated).filter {
      $0._registry === registry
    }
    var recent = RecentMerge(objects, effects, in: self)
    let left = reread(objects)
    let former = unloadPairs(ofWrittenAgain: inserted.compactMap(known))
    recent?.finish()
    changes += objects.map {
      ObjectChange(object: $0, kind: .updated, properties: effects.properties[ObjectIdentifier($0)])
    }
    let arrived = inserted.filter { known($0) == nil }
    let joined = ownersOfInserted(arrived)
    for change in orphaned + effects.touched + joined + left + former + touched
    where change.object._registry === registry {
      change.properties?.forEach { unload(change.object, $0) }
      changes.append(change)
    }
    settleByReading(changes)
    releaseRivals()
    if PostedNames.objectsDidChange.isUsed { pending.appeared += arrived.map(object(with:)) }
    let ids = MergedIDs(
      inserted: Set(inserted), updated: Set(updated + effects.updated.map(\.objectID)),
      deleted: Set(deleted + effects.deleted.map(\.objectID)))
    // An update may bring a row into a fetched result that has no object here.
    let missed =
      trackers.isEmpty
      ? []
      : (updated + arrived).filter { id in
        known(id) == nil && registry.model.entity(named: id.binding.name).map { isTracked($0.index) } == true
      }.map(object(with:))
    finishMerge(changes, ids, .identities(recent?.changes ?? RecentChanges()), found: missed)
    deliverToChildren(ids)
  }

  /// Registered objects whose to-many relationships contain deleted objects.
  func ownersOfDeleted(_ objects: [NSManagedObject]) -> [ObjectChange] {
    var changes: [ObjectChange] = []
    for object in objects where !object.isFault {
      for info in object._binding.properties where info.kind == .toOne && info.inverseIsToMany {
        let destination = registry.model.entities[info.destination]
        guard let cell = info.cells.first, let key = object._batch.integer(Int(object._row), cell),
          let owner = registry.object(root: destination.root, key: key),
          let slot = owner._binding.layout.slot(named: destination.properties[info.inverseSlot!].name)
        else { continue }
        changes.append(ObjectChange(object: owner, kind: .touched, properties: [slot]))
      }
    }
    return changes
  }

  /// Registered objects whose to-many relationships got new members. The members' rows name these owners.
  private func ownersOfInserted(_ ids: [NSManagedObjectID]) -> [ObjectChange] {
    var changes: [ObjectChange] = []
    let bindings = ids.compactMap { id in registry.model.entity(named: id.binding.name).map { ($0, id.key) } }
    for (root, group) in Dictionary(grouping: bindings, by: { $0.0.root }) {
      guard let source = rowSource, source.handle(for: group[0].0) != nil else { continue }
      let rows: FetchedRows
      do {
        rows = try source.rows(of: registry.model.entities[root.entity], keys: group.map(\.1).sorted())
      } catch {
        reportUnread(group[0].0, error)
        changes += possibleOwners(ofMembersIn: root)
        continue
      }
      for batch in rows.batches {
        let binding = registry.model.entities[batch.layout.entity]
        for info in binding.properties where info.kind == .toOne && info.inverseIsToMany {
          let destination = registry.model.entities[info.destination]
          let name = destination.properties[info.inverseSlot!].name
          for row in 0..<batch.count {
            guard let key = info.cells.first.flatMap({ batch.integer(row, $0) }),
              let owner = registry.object(root: destination.root, key: key),
              let slot = owner._binding.layout.slot(named: name)
            else { continue }
            changes.append(ObjectChange(object: owner, kind: .touched, properties: [slot]))
          }
        }
      }
    }
    return changes
  }

  /// All registered objects that may have got members of an entity tree.
  private func possibleOwners(ofMembersIn root: RootIndex) -> [ObjectChange] {
    registry.all().compactMap { object in
      let slots = object._binding.properties.filter {
        $0.isToMany && registry.model.entities[$0.destination].root == root
      }
      if slots.isEmpty { return nil }
      return ObjectChange(object: object, kind: .touched, properties: PropertySet(slots.map(\.slot)))
    }
  }

  /// Reads the rows of merged objects.
  ///
  /// An object whose row can't be read becomes a fault, and the next access reads the row. An object with
  /// unsaved changes keeps its old row. The version of that row makes the next save a conflict.
  ///
  /// - Returns: the owners that the objects left or joined.
  func reread(_ objects: [NSManagedObject]) -> [ObjectChange] {
    var owners: [ObjectChange] = []
    for object in objects { object._overlay?.unloadMembers() }
    let realized = objects.filter { !$0.isFault && $0.isStored }
    for (root, group) in Dictionary(grouping: realized, by: { $0._binding.root }) {
      guard let source = rowSource, source.handle(for: group[0]._binding) != nil else {
        continue
      }
      let rows: FetchedRows
      do {
        rows = try source.rows(of: registry.model.entities[root.entity], keys: group.map { $0._key }.sorted())
      } catch {
        reportUnread(group[0]._binding, error)
        for object in group where !object.hasChanges { object.turnIntoFault() }
        continue
      }
      for batch in rows.batches {
        for row in 0..<batch.count {
          guard let object = registry.object(root: root, key: batch.key(row)),
            object._binding.index == batch.layout.entity
          else { continue }
          let known = RowReference(batch: object._batch, row: Int(object._row))
          object.takeNews(batch, row)
          noteMerged(object)
          noteRival(object, known, RowReference(batch: batch, row: row))
          owners += unloadOwners(of: object, known, RowReference(batch: batch, row: row))
        }
      }
    }
    return owners
  }

  private func reportUnread(_ binding: EntityBinding, _ error: any Error) {
    Diagnostics.report(
      "Merged changes of \(binding.name) could not be read: \(error). The objects are read again when they are used."
    )
  }

  private func unique(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    var seen = Set<ObjectIdentifier>()
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

/// Finds the recent saves whose changes a merge by IDs brings to the observed objects of a context.
private struct RecentMerge {
  private let context: NSManagedObjectContext
  private var found:
    [(object: NSManagedObject, version: Int64?, batches: Int, changes: [RecentChanges.Change])]
  private(set) var changes = RecentChanges()

  /// - Returns: nil when no observed object is concerned.
  init?(_ objects: [NSManagedObject], _ effects: BatchEffects, in context: NSManagedObjectContext) {
    guard context.observer != nil, let recent = context.persistentStoreCoordinator?.recentCommits else {
      return nil
    }
    self.context = context
    found = objects.lazy.filter(\.isTracked).map { object in
      let version = object.isFault ? nil : object._batch.version(Int(object._row))
      return (
        object, version, effects.batches[ObjectIdentifier(object)] ?? 0,
        recent.changes(of: object.rowIdentity)
      )
    }.filter { !$0.changes.isEmpty }
    if found.isEmpty { return nil }
  }

  /// - Precondition: the objects have their new rows.
  mutating func finish() {
    var traces: [CommitTrace] = []
    for (object, version, batches, known) in found {
      if let version, !object.isFault {
        // Each save and each batch raises the version by one. A version without a known save was written by
        // another process, or too long ago.
        let raised = object._batch.version(Int(object._row)) - version
        let explained = Set(known.compactMap(\.version).filter { $0 > version }).count + batches
        if raised > Int64(explained) { continue }
      }
      changes.changes[ObjectIdentifier(object)] = known
      traces += known.map(\.trace)
    }
    changes.repeated = context.merging.traces
    for trace in traces { _ = context.noteMerge(trace) }
  }
}
