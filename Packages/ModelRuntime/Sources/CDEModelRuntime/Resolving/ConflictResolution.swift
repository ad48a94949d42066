@_spi(CDE) internal import CDEStore
internal import Foundation

/// The conflicts of one save, from the store's refusal until the save is over.
///
/// States, one round for each refusal: refused (the store refused the save, the context is unchanged) ->
/// found (the conflicts and their rows are known) -> decided (the policy changed the context's objects) ->
/// tried again. The save ends the resolution by ``announce()``, whether the save succeeds or not.
///
/// Used on the context's executor.
final class ConflictResolution: ConflictResolving {
  let context: NSManagedObjectContext
  private(set) var refusal: StoreError?
  /// Objects that adopted values from the store, with the properties whose values changed.
  private var refreshed: [ObjectIdentifier: (object: NSManagedObject, slots: PropertySet)] = [:]
  /// Objects that adopted values and whose hooks were not called yet.
  private var resolvedNow: [ObjectIdentifier: NSManagedObject] = [:]
  private var touched: [ObjectChange] = []
  private var vanished: [ObjectChange] = []
  /// Objects of rows that a round concerns in addition to its conflicts. They are retained until the
  /// resolution ends.
  private var kept: [NSManagedObject] = []
  /// One-to-one relationships whose value after a round differs from the store's.
  var partners: [(object: NSManagedObject, slot: SlotIndex)] = []
  /// Objects whose version conflict was resolved in this round.
  private var resolved: Set<ObjectIdentifier> = []

  init(in context: NSManagedObjectContext) { self.context = context }

  // MARK: One round

  /// Passes the conflicts behind a store's refusal of a save to the context's policy, which resolves them.
  ///
  /// - Parameter saves: the parts of the save, one for each store. The conflicts of all of them are resolved together.
  /// - Throws: the errors of the policy.
  func resolve(_ refusal: Refusal, of saves: [StoreSave]) throws {
    self.refusal = refusal.error
    resolved = []
    (kept, partners) = ([], [])
    if refusal.error.code == .danglingReference {
      try resolve(refusal.error.references, of: saves[refusal.part].save)
      return awakenResolved()
    }
    let source = try context.coordinator()
    var (versions, constraints): ([NSMergeConflict], [NSConstraintConflict]) = ([], [])
    for part in saves where !part.save.transaction.isEmpty {
      let found: TransactionConflicts
      do {
        found = try source.conflicts(of: part.save.transaction, in: part.handle)
      } catch {
        throw ManagedObjectError.store(error)
      }
      // Objects that only the ring of recent faults retains must not affect which object a row gets.
      if !found.uniqueness.isEmpty { context.recent.clear() }
      let rows = StoredRows(found.rows)
      versions += versionConflicts(found.versions, rows, source)
      constraints += constraintConflicts(found.uniqueness, rows, of: part.save, part.handle)
    }
    // If nothing is found, the conflicting change no longer exists. The save is then tried again.
    if versions.isEmpty, constraints.isEmpty { return }
    try context.policy.resolve(mergeConflicts: versions + constraints)
    for conflict in versions where !resolved.contains(ObjectIdentifier(conflict.sourceObject)) {
      try conflict.resolve(by: .mergeByPropertyObjectTrumpMergePolicyType)
    }
    try dropMissingDestinations(of: versions.map(\.sourceObject))
    try resolvePartners()
    awakenResolved()
  }

  /// Calls the hooks of objects that got other values since the last call.
  private func awakenResolved() {
    let objects = resolvedNow
    resolvedNow = [:]
    context.awaken(objects.values, from: .mergePolicy)
  }

  private func versionConflicts(
    _ found: [StoreError.RowConflict], _ rows: StoredRows, _ source: any RowSource
  ) -> [NSMergeConflict] {
    // A row that is read now has the current number of commits. Deleted rows have none. For them the
    // coordinator's own contexts are the more likely writers.
    let asOf = found.lazy.filter { $0.foundVersion != nil }.first.flatMap {
      (try? source.row(of: context.registry.model.entities[$0.entity], key: $0.key))?.batch.asOf
    }
    return found.compactMap { conflict -> NSMergeConflict? in
      let root = context.root(of: conflict.entity)
      guard let object = context.registry.object(root: root, key: conflict.key) else { return nil }
      return NSMergeConflict(
        object, old: conflict.expectedVersion, new: conflict.foundVersion,
        persisted: conflict.foundVersion == nil ? nil : rows[root, conflict.key],
        isCached: asOf.map { $0 > object._batch.asOf } ?? true, self)
    }
  }

  private func constraintConflicts(
    _ found: [TransactionConflicts.Uniqueness], _ rows: StoredRows, of save: BuiltSave, _ handle: StoreHandle
  ) -> [NSConstraintConflict] {
    if found.isEmpty { return [] }
    let model = context.registry.model
    let pending = save.objects.objectsByPendingKey()
    return found.map { conflict in
      let objects = conflict.rows.compactMap { row in
        let root = context.root(of: row.entity)
        return !row.isPending
          ? context.registry.object(root: root, key: row.key) : pending[.init(root: root, key: row.key)]
      }
      let stored = conflict.stored.flatMap { rows[context.root(of: $0.entity), $0.key] }
      let id = stored.map {
        NSManagedObjectID(binding: model.entities[$0.batch.layout.entity], key: $0.key, store: handle)
      }
      return NSConstraintConflict(
        conflict.properties, of: model.entities[conflict.entity].name, objects: objects, stored: stored, id,
        self)
    }
  }

  private struct StoredRows {
    private var rows: [RowKey: RowReference] = [:]

    init(_ batches: [RowBatch]) {
      for batch in batches {
        for row in 0..<batch.count {
          rows[.init(root: batch.layout.root, key: batch.key(row))] = RowReference(batch: batch, row: row)
        }
      }
    }

    subscript(root: RootIndex, key: Int64) -> RowReference? { rows[.init(root: root, key: key)] }
  }

  /// Clears to-one relationships to be written whose destinations another writer deleted.
  private func dropMissingDestinations(of objects: [NSManagedObject]) throws {
    var references: [RootIndex: [(object: NSManagedObject, slot: SlotIndex, key: Int64)]] = [:]
    for object in objects where object.hasChanges && !object.isMarkedDeleted {
      guard object._registry === context.registry, let overlay = object._overlay else { continue }
      for slot in overlay.changed {
        guard case .toOne(let other) = overlay.values[slot], other.isStored, !other.isGone
        else { continue }
        references[other._binding.root, default: []].append((object, slot, other._key))
      }
    }
    for (root, references) in references {
      let source = try context.source()
      let binding = context.registry.model.entities[root.entity]
      _ = try source.requiredHandle(for: binding)
      var present: Set<Int64> = []
      do {
        let keys = Array(Set(references.map(\.key))).sorted()
        for batch in try source.rows(of: binding, keys: keys).batches {
          for row in 0..<batch.count { present.insert(batch.key(row)) }
        }
      } catch {
        throw ManagedObjectError.store(error)
      }
      for (object, slot, key) in references where !present.contains(key) {
        object.setUnsaved(slot, to: .null)
        note(object, [slot])
      }
    }
  }

  // MARK: Records

  func note(_ object: NSManagedObject, _ slots: PropertySet) {
    if slots.isEmpty { return }
    resolvedNow[ObjectIdentifier(object)] = object
    refreshed[ObjectIdentifier(object), default: (object, PropertySet())].slots.formUnion(slots)
  }

  func keep(_ object: NSManagedObject) { kept.append(object) }

  func noteResolved(_ object: NSManagedObject) { resolved.insert(ObjectIdentifier(object)) }

  func noteTouched(_ owners: [ObjectChange]) { touched += owners }

  /// Removes an object whose row no longer exists.
  func forget(_ object: NSManagedObject) {
    touched += context.ownersOfDeleted([object])
    vanished.append(ObjectChange(object: object, kind: .deleted, properties: nil))
    refreshed[ObjectIdentifier(object)] = nil
    context.forgetMerged([object])
  }

  /// The object of a row. It is made if necessary.
  func object(for row: RowReference) -> NSManagedObject {
    let object = context.object(entity: row.batch.layout.entity, key: row.key)
    if object.isFault {
      object.take(row.batch, row.row)
      context.awaken(object)
    }
    return object
  }

  // MARK: Announcing

  /// Whether another writer's changes were applied to objects of the context.
  private var hasNews: Bool { !refreshed.isEmpty || !touched.isEmpty || !vanished.isEmpty }

  /// Adds to a commit the properties that its objects adopted from the store.
  func mark(_ commit: inout CommittedTransaction) {
    if refreshed.isEmpty { return }
    for (index, change) in commit.changes.enumerated() where change.kind != .deleted {
      guard let object = context.registry.object(root: context.root(of: change.entity), key: change.key),
        let slots = refreshed[ObjectIdentifier(object)]?.slots
      else { continue }
      commit.changes[index].adopted = slots
    }
  }

  /// Announces the resolved changes when no commit announces them.
  func announceAlone() {
    guard hasNews else { return }
    let changes = announce()
    if !changes.isEmpty { context.observer?.contextDidMerge(changes, .identities(RecentChanges())) }
  }

  /// Announces the changes that the context's objects adopted from the store.
  ///
  /// - Returns: the changes of objects that stay, for the context's observer. Changes of deleted objects are
  ///   reported at once, as by a merge.
  func announce() -> [ObjectChange] {
    // A policy may have thrown after it had resolved some of the conflicts.
    awakenResolved()
    var changes = refreshed.values
      .filter { $0.object._registry === context.registry }
      .map { ObjectChange(object: $0.object, kind: .updated, properties: $0.slots) }
    context.pending.refreshed += changes.map(\.object)
    changes += touched.filter { $0.object._registry === context.registry }
    context.announcePending()
    if !vanished.isEmpty { context.observer?.contextDidMerge(vanished, .identities(RecentChanges())) }
    refreshed = [:]
    (touched, vanished) = ([], [])
    return changes
  }
}
