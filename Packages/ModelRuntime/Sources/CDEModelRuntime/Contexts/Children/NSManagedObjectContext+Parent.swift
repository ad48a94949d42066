@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// A context as the child of another one.
extension NSManagedObjectContext {
  /// The parent as the source of rows; nil if the context is no child.
  var parentSource: ParentSource? {
    // becomeChild(of:) alone sets it.
    configuration.withLock { $0.parent }.map { unsafeDowncast($0, to: ParentSource.self) }
  }

  final func becomeChild(of parent: NSManagedObjectContext) {
    checkPrecondition(
      persistentStoreCoordinator == nil && parentSource == nil,
      "A context's parent must be set before the context is used, once, and instead of a persistentStoreCoordinator. Make "
        + "another context for another parent.")
    var ancestor: NSManagedObjectContext? = parent
    while let next = ancestor {
      checkPrecondition(next !== self, "A context can't be its own ancestor.")
      ancestor = next.parent
    }
    guard let coordinator = parent.persistentStoreCoordinator else {
      failPrecondition(
        "The parent context has no persistentStoreCoordinator. Give it one, or a parent, before it gets children."
      )
    }
    let source = ParentSource(parent, of: self)
    configuration.withLock { $0.parent = source }
    _ = setCoordinator(coordinator)
  }

  /// Gives the child's objects the permanent keys that their objects in the parent have got.
  ///
  /// Changes no value, so it may run in the middle of a read.
  final func takeNewKeys() {
    guard let registry, let keys = parentSource?.member.takeNewKeys(), !keys.isEmpty else { return }
    for new in keys {
      assignments[new.old.key] = nil
      if let object = registry.object(root: new.old.root, key: new.old.key) {
        registry.rekey([object]) { _ in new.key }
      }
    }
    replaceFormerKeys(keys)
    children.deliver(keys)
  }

  /// Replaces temporary keys in the references of rows that were read or saved before.
  private func replaceFormerKeys(_ keys: [ChildContexts.NewKey]) {
    let present = Dictionary(keys.map { ($0.old, $0.key) }) { _, last in last }
    for object in registry.all() where !object.isFault && object._batch !== object._binding.defaults {
      let (batch, row) = (object._batch, Int(object._row))
      let replaced = object._binding.properties.compactMap { info -> (CellIndex, Int64)? in
        guard info.kind == .toOne, let cell = info.cells.first, let key = batch.integer(row, cell), key < 0,
          let new = present[RowKey(root: registry.model.entities[info.destination].root, key: key)]
        else { return nil }
        return (cell, new)
      }
      if replaced.isEmpty { continue }
      var builder = RowBatchBuilder(layout: object._binding.layout, rows: 1)
      builder.beginRow(copying: batch, row, key: object._key, version: batch.version(row))
      for (cell, key) in replaced { builder.setInteger(cell, key) }
      object._batch = builder.finish()
      object._row = 0
    }
  }

  // MARK: Saving to the parent

  /// Applies a save to the parent's objects, and then to the context's own.
  final func commit(
    _ save: BuiltSave, to source: ParentSource, _ handle: StoreHandle
  ) throws -> CommittedSave {
    var committed = save.committed(
      CommitResult(keyBase: [], number: 0), of: registry.model, makeCommitTrace(), handle)
    committed.transaction.others = otherStores(than: handle)
    let changes = ChildChanges(save)
    let policy = policy
    let checked = detected.filter(\.isStored).map { (entity: $0._binding.index, row: $0.rowIdentity) }
    let chosen = save.objects.inserted.compactMap { object in
      assignments[object._key].map { (object._key, $0) }
    }
    let outcome = try source.onParentThrowing { parent in
      for (key, handle) in chosen { parent.assignments[key] = handle }
      let outcome = try parent.adopt(changes, committed.transaction, from: source.member, policy)
      parent.detectConflicts(ofChild: checked)
      return outcome
    }
    detected = []
    committed.transaction = outcome.commit
    committed.apply(to: registry)
    children.deliver(committed.transaction)
    if !outcome.deleted.isEmpty {
      forgetMerged(outcome.deleted.compactMap { registry.object(root: $0.root, key: $0.key) })
      // The parent left the references to them out.
      _ = reread(committed.objects.inserted + committed.objects.updated)
    }
    takeNewKeys()
    return committed
  }
}
