@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEStore

/// The part of a save that one store writes.
struct StoreSave {
  let handle: StoreHandle
  var save: BuiltSave
}

/// Why a store did not write its part of a save.
struct Refusal {
  let error: StoreError
  /// The place of the part that was refused.
  let part: Int
}

// Saves of objects in several stores.
extension NSManagedObjectContext {
  /// The objects of a save by store. The stores' order is that of their UUIDs, in which all coordinators lock them.
  ///
  /// - Throws: ``ManagedObjectError``: no store for an object, or a relationship between objects of two stores.
  func parts(
    of objects: CollectedSave, _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [(handle: StoreHandle, objects: CollectedSave)] {
    if !coordinator.hasSharedEntities {
      let first = try coordinator.requiredHandle(for: objects.bindings[0])
      if try objects.bindings.allSatisfy({ try coordinator.requiredHandle(for: $0) === first }) {
        return [(first, objects)]
      }
    } else {
      try requireOneStore(objects)
    }
    let groups = try byHome(objects.inserted + objects.updated + objects.deleted)
    if groups.count == 1 { return [(groups[0].handle, objects)] }
    return groups.sorted { $0.handle.identifier < $1.handle.identifier }.map {
      ($0.handle, CollectedSave($0.objects[...]))
    }
  }

  /// A relationship of one object to another.
  private struct Reference: Hashable {
    let slot: SlotIndex
    let object, other: ObjectIdentifier
  }

  /// - Throws: ``ManagedObjectError`` with code `.relationshipBetweenStores` for each pair of objects of two stores that this save
  ///   relates; both sides of a relationship count once.
  private func requireOneStore(_ objects: CollectedSave) throws {
    var failures: [ManagedObjectError] = []
    var reported: Set<Reference> = []
    objects.visitChanged({ $0.relationships }) { object, slots in
      let home = homeStore(of: object)
      for slot in slots {
        let others: [NSManagedObject]
        let info = object._binding.properties[slot]
        switch object._overlay?.values[slot] {
        case .toOne(let other): others = [other]
        case .toMany(let members): others = members.added.objects
        default: continue
        }
        for other in others where other.hasRowAfterSave && !other.isMarkedDeleted {
          let theirs = homeStore(of: other)
          guard let home, let theirs, home !== theirs else { continue }
          let (one, two) = (ObjectIdentifier(object), ObjectIdentifier(other))
          if let inverse = info.inverseSlot,
            reported.contains(Reference(slot: inverse, object: two, other: one))
          {
            continue
          }
          reported.insert(Reference(slot: slot, object: one, other: two))
          failures.append(crossing(object, info.name, home, other, theirs))
        }
      }
    }
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first }
    throw ManagedObjectError(
      .multipleValidationErrors,
      "\(failures.count) relationships lead to objects of another store. " + first.message,
      entity: first.entity, property: first.property, failures: failures)
  }

  /// Writes a save to several stores, see `NSPersistentStoreCoordinator.commit(_:committed:)`.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.incompleteSave` if some stores have their part and others have not. The objects of
  ///   the latter keep their changes.
  func commit(
    _ parts: [(handle: StoreHandle, objects: CollectedSave)],
    completing complete: (inout CommittedTransaction) -> Void
  ) throws -> CommitOutcome {
    let coordinator = try coordinator()
    coordinator.completeSaves()
    var saves = parts.map { part in
      StoreSave(
        handle: part.handle,
        save: SaveBuilder.build(part.objects, author: transactionAuthor, contextName: name))
    }
    if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
    for index in saves.indices where !saves[index].save.transaction.isEmpty {
      let handle = saves[index].handle
      saves[index].save.transaction.checked += rowChecks(besides: saves.map(\.save), in: handle)
      if handle.store.recordsHistory { saves[index].save.nameTouchedOwners() }
      saves[index].save.transaction.pending = unfinished[ObjectIdentifier(handle)] ?? []
    }
    let written = saves.indices.filter { !saves[$0].save.transaction.isEmpty }
    let trace = makeCommitTrace()
    var delivery = CommitDelivery()
    var done: CommittedSave?
    /// Makes one commit of the parts that were written, and of those that have nothing to write.
    func unite(_ results: [CommitResult?]) {
      var committed: [CommittedSave] = []
      for (index, part) in saves.enumerated() {
        let result =
          written.firstIndex(of: index).map { results[$0] } ?? CommitResult(keyBase: [], number: 0)
        guard let result else { continue }
        committed.append(part.save.committed(result, of: registry.model, trace, part.handle))
      }
      var united = CommittedSave(uniting: committed)
      complete(&united.transaction)
      if !written.isEmpty {
        let questions = results.compactMap { $0?.isOvertaken }
        delivery = coordinator.handOn(&united.transaction, from: inbox) { questions.contains { $0() } }
      }
      done = united
    }

    var outcome = SeveralCommits.committed
    switch written.count {
    case 0: unite([])
    case 1:
      do {
        _ = try coordinator.commit(saves[written[0]].save.transaction, to: saves[written[0]].handle) {
          unite([$0])
        }
      } catch {
        outcome = .refused(error, part: 0)
      }
    default:
      let parts = written.map {
        StorePart(handle: saves[$0].handle, transaction: saves[$0].save.transaction)
      }
      outcome = coordinator.commit(parts, committed: unite)
    }
    if case .refused(let error, let part) = outcome {
      guard [.conflict, .uniqueness, .danglingReference].contains(error.code) else {
        throw ManagedObjectError.store(error)
      }
      return .refused(saves, Refusal(error: error, part: written[part]))
    }
    guard let done else { failPrecondition("A store has to report each transaction that it commits.") }
    if written.isEmpty {
      done.apply(to: registry)
    } else {
      for part in saves where done.transaction.stores.contains(where: { $0 === part.handle }) {
        forgetDetected(in: part.handle)
      }
      finish(done, delivery, coordinator)
      if !unfinished.isEmpty { endUnfinished(done.transaction.stores, coordinator) }
    }
    if case .incomplete(let save, let failures) = outcome {
      throw incomplete(
        done, save, failures.map { (saves[written[$0]].handle, $1) }, saves[written[0]].handle, coordinator)
    }
    return .committed(done)
  }

  /// Forgets earlier saves whose parts the last save has written, and removes their records.
  func endUnfinished(_ handles: [StoreHandle], _ coordinator: NSPersistentStoreCoordinator) {
    let count = unfinished.count
    for handle in handles { unfinished[ObjectIdentifier(handle)] = nil }
    if unfinished.count < count { coordinator.completeSaves() }
  }

  /// Ends a save of which some stores lack their part.
  private func incomplete(
    _ done: CommittedSave, _ save: String, _ failures: [(handle: StoreHandle, error: StoreError)],
    _ first: StoreHandle, _ coordinator: NSPersistentStoreCoordinator
  ) -> ManagedObjectError {
    for (handle, _) in failures {
      unfinished[ObjectIdentifier(handle), default: []].append(
        PendingSave(save: save, store: first.identifier, archive: nil))
    }
    let saved = done.objects.inserted + done.objects.updated + done.objects.deleted
    for object in saved { object.leaveChanged() }
    let gone = Set(saved.map(ObjectIdentifier.init))
    dropPendingIndex()
    changed.removeAll { gone.contains(ObjectIdentifier($0)) }
    isSaving = false
    withExtendedLifetime(done) { announce(done, Announced()) }
    let names = failures.map { coordinator.name($0.handle) }.joined(separator: ", ")
    let others = done.transaction.stores.map(coordinator.name).joined(separator: ", ")
    return ManagedObjectError(
      .incompleteSave,
      "The save is in \(others), and not in \(names), whose commit failed. Save the context again: the objects of \(names) have "
        + "kept their changes. If the process ends before, the save is completed when the stores are opened next, unless "
        + "their rows have changed.",
      cause: failures.first?.error, affectedStores: failures.compactMap(\.handle.persistentStore))
  }

  private func crossing(
    _ object: NSManagedObject, _ property: String, _ home: StoreHandle, _ other: NSManagedObject,
    _ theirs: StoreHandle
  ) -> ManagedObjectError {
    func name(_ handle: StoreHandle) -> String {
      handle.persistentStore?.url?.lastPathComponent ?? handle.identifier
    }
    return ManagedObjectError(
      .relationshipBetweenStores,
      "\(object._binding.name).\(property) of \(object.objectID.uriRepresentation().absoluteString) in the store "
        + "\(name(home)) leads to \(other.objectID.uriRepresentation().absoluteString) in the store \(name(theirs)). "
        + "Related objects must be in one store: assign(_:to:) chooses it for a new object.",
      entity: object._binding.name, property: property, objectID: object.objectID, object: object)
  }
}
