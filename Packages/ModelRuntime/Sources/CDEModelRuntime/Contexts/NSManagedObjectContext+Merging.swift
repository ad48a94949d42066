internal import CDEStore
public import Foundation

extension NSManagedObjectContext {
  /// Merges another context's save, given by its didSave notification.
  ///
  /// Registered objects take the saved values, without asking the store; unsaved changes stay. Deleted
  /// objects go.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    preconditionIsolated("mergeChanges(fromContextDidSave:)")
    if let commit = notification.userInfo?[CommittedTransaction.userInfoKey] as? CommittedTransaction {
      let source = notification.object as? NSManagedObjectContext
      if source == nil || source?.persistentStoreCoordinator === persistentStoreCoordinator {
        merge(commit)
      } else if let source, let model = source.modelBinding {
        // Rows of another container's layout mean nothing here, but its IDs do where it has the same stores.
        func ids(_ kind: CommittedTransaction.Change.Kind) -> [NSManagedObjectID] {
          commit.changes.filter { $0.kind == kind }.map {
            let binding = model.entities[$0.entity]
            return NSManagedObjectID(binding: binding, key: $0.key, store: source.storeHandle(for: binding))
          }
        }
        merge(inserted: ids(.inserted), updated: ids(.updated), deleted: ids(.deleted))
      }
      return
    }
    func ids(_ key: String, _ idKey: String) -> [NSManagedObjectID] {
      let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
      let given = notification.userInfo?[idKey] as? Set<NSManagedObjectID> ?? []
      return objects.map(\.objectID) + given
    }
    merge(
      inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
      updated: ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
      deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
  }

  /// Merges changes known by their IDs alone, such as those of a batch request.
  ///
  /// - Parameters:
  ///   - changeNotificationData: arrays or sets of IDs (or their URIs) under the inserted, updated and
  ///     deleted keys.
  ///   - contexts: the contexts to merge into; each does so on its own isolation, before the call returns.
  public static func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      let data = Carrier(changeNotificationData)
      context.performAndWait {
        context.merge(
          inserted: context.ids(in: data.value, NSInsertedObjectIDsKey, NSInsertedObjectsKey),
          updated: context.ids(in: data.value, NSUpdatedObjectIDsKey, NSUpdatedObjectsKey),
          deleted: context.ids(in: data.value, NSDeletedObjectIDsKey, NSDeletedObjectsKey))
      }
    }
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

  // MARK: By commit

  /// Adopts another context's save.
  ///
  /// Costs by the changed objects that are registered here.
  func merge(_ commit: CommittedTransaction) {
    guard let registry else { return }
    processPendingChanges()
    var changes: [ObjectChange] = []
    var forgotten: [NSManagedObject] = []
    var ids = MergedIDs()
    let handle = { (entity: Int) in self.storeHandle(for: registry.model.entities[entity]) }
    for change in commit.changes {
      let binding = registry.model.entities[change.entity]
      let object = registry.object(root: binding.root, key: change.key)
      ids.add(
        change.kind,
        object?.objectID ?? NSManagedObjectID(binding: binding, key: change.key, store: handle(change.entity))
      )
      guard let object else { continue }
      switch change.kind {
      case .deleted:
        forgotten.append(object)
        changes.append(ObjectChange(object: object, kind: .deleted, properties: nil))
      case .inserted, .updated:
        let missed = adopt(change, into: object, &changes)
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
    finishMerge(changes, ids, commit)
  }

  /// - Returns: properties beside the commit's own that the row brings news of: the save adopted them from another
  ///   writer. What a commit that is merged late changed is told when it comes, though the row has it already.
  private func adopt(
    _ change: CommittedTransaction.Change, into object: NSManagedObject, _ changes: inout [ObjectChange]
  ) -> PropertySet {
    for slot in change.properties where object._binding.properties[slot].isToMany { unload(object, slot) }
    guard let row = change.row, !object._flags.contains(.fault), row.batch.layout === object._binding.layout,
      isNews(row, for: object)
    else { return [] }
    let known = RowReference(batch: object._batch, row: Int(object._row))
    object.take(row.batch, row.row)
    if change.adopted.isEmpty { return [] }
    changes += unloadOwners(of: object, known, row)
    return object.slotsThatDiffer(known, row).intersection(change.adopted)
  }

  /// Values that the store derives change without a new version; commits are merged in their order.
  private func isNews(_ row: RowReference, for object: NSManagedObject) -> Bool {
    let known = object._batch.version(Int(object._row))
    return row.version > known || (row.version == known && !object._binding.storedDerivations.isEmpty)
  }

  func unload(_ object: NSManagedObject, _ slot: Int) {
    if case .toMany(let members)? = object._overlay?.values[slot] { members.unload() }
  }

  /// Another writer deleted the rows.
  func forgetMerged(_ objects: [NSManagedObject]) {
    if objects.isEmpty { return }
    let listed = objects.filter { !$0._flags.isDisjoint(with: [.listed, .pending]) }
    if !listed.isEmpty { removeListed(listed) }
    for object in objects {
      object._flags.subtract([.updated, .deleted, .inserted, .listed, .pending])
      object._flags.insert(.gone)
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    registry.vanished += 1
    pending.deletedByMerge += objects
  }

  private func finishMerge(_ changes: [ObjectChange], _ ids: MergedIDs, _ commit: CommittedTransaction?) {
    for change in changes where change.kind != .deleted {
      if change.kind == .inserted {
        pending.insertedByMerge.append(change.object)
      } else {
        pending.refreshed.append(change.object)
      }
    }
    pending.isMerge = true
    processPendingChanges()
    pending.isMerge = false
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: ids.userInfo(commit))
    observer?.contextDidMerge(changes, commit: commit)
  }

  private struct MergedIDs {
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

    func userInfo(_ commit: CommittedTransaction?) -> [AnyHashable: Any] {
      var info: [AnyHashable: Any] = [:]
      if !inserted.isEmpty { info[NSInsertedObjectIDsKey] = inserted }
      if !updated.isEmpty { info[NSUpdatedObjectIDsKey] = updated }
      if !deleted.isEmpty { info[NSDeletedObjectIDsKey] = deleted }
      if let commit { info[CommittedTransaction.userInfoKey] = commit }
      return info
    }
  }

  // MARK: By ID

  /// Merges changes without their rows: the registered ones are read again.
  private func merge(
    inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]
  ) {
    guard let registry else { return }
    func local(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
      ids.filter { id in
        guard let binding = registry.model.entity(named: id.binding.name) else { return false }
        return id.store == nil || id.store?.identifier == storeHandle(for: binding)?.identifier
      }
    }
    let (inserted, updated, deleted) = (local(inserted), local(updated), local(deleted))
    if inserted.isEmpty && updated.isEmpty && deleted.isEmpty { return }
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
    reread(objects)
    changes += objects.map {
      ObjectChange(object: $0, kind: .updated, properties: effects.properties[ObjectIdentifier($0)])
    }
    let touched = orphaned + effects.touched + ownersOfInserted(inserted.filter { known($0) == nil })
    for change in touched where change.object._registry === registry {
      change.properties?.forEach { unload(change.object, $0) }
      changes.append(change)
    }
    let ids = MergedIDs(
      inserted: Set(inserted), updated: Set(updated + effects.updated.map(\.objectID)),
      deleted: Set(deleted + effects.deleted.map(\.objectID)))
    finishMerge(changes, ids, nil)
  }

  /// Registered objects whose to-many relationships hold objects that are gone.
  func ownersOfDeleted(_ objects: [NSManagedObject]) -> [ObjectChange] {
    var changes: [ObjectChange] = []
    for object in objects where !object._flags.contains(.fault) {
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

  private func unique(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    var seen = Set<ObjectIdentifier>()
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  /// Registered objects whose to-many relationships got new members, known by the members' rows alone.
  private func ownersOfInserted(_ ids: [NSManagedObjectID]) -> [ObjectChange] {
    var changes: [ObjectChange] = []
    let bindings = ids.compactMap { id in registry.model.entity(named: id.binding.name).map { ($0, id.key) } }
    for (root, group) in Dictionary(grouping: bindings, by: { $0.0.root }) {
      guard let handle = storeHandle(for: group[0].0),
        let rows = try? handle.store.rows(entity: root, keys: group.map(\.1).sorted())
      else { continue }
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

  private func reread(_ objects: [NSManagedObject]) {
    for object in objects { object._overlay?.unloadMembers() }
    let realized = objects.filter { !$0._flags.contains(.fault) && $0._key > 0 }
    for (root, group) in Dictionary(grouping: realized, by: { $0._binding.root }) {
      guard let handle = storeHandle(for: group[0]._binding),
        let rows = try? handle.store.rows(entity: root, keys: group.map(\._key).sorted())
      else { continue }
      for batch in rows.batches {
        for row in 0..<batch.count {
          guard let object = registry.object(root: root, key: batch.key(row)),
            object._binding.index == batch.layout.entity
          else { continue }
          object.take(batch, row)
        }
      }
    }
  }
}
