@_spi(CDE) internal import CDEStore
internal import Foundation

/// The part of a transaction for one of several stores.
struct StorePart {
  let handle: StoreHandle
  var transaction: StoreTransaction
}

/// What has become of a save over several stores.
enum SeveralCommits {
  /// All stores have it. The results are in the order of the parts.
  case committed
  /// No store has it.
  case refused(StoreError, part: Int)
  /// Some stores have it, and the others have not: their commits failed when the first ones were done.
  ///
  /// - Parameters:
  ///   - save: the number of the save in the records of the first store.
  ///   - failures: the errors, by part.
  case incomplete(save: String, failures: [Int: StoreError])
}

// Saves over several stores, which can't commit at the same time.
extension NSPersistentStoreCoordinator {
  /// Writes a save to several stores: all statements first, then the commits one after the other.
  ///
  /// Until all have committed, the first store has a record of what the others lack, see ``completeSaves()``.
  ///
  /// - Parameters:
  ///   - parts: at least two, in the order of the stores' UUIDs.
  ///   - committed: called once with the results of the commits that were done, while the stores' writers are locked.
  func commit(_ parts: [StorePart], committed: ([CommitResult?]) -> Void) -> SeveralCommits {
    let save = UUID().uuidString
    var parts = parts
    var step = 0
    var outcome = SeveralCommits.committed
    var results = [CommitResult?](repeating: nil, count: parts.count)

    func write(_ writers: [any StoreWriting]) throws(StoreError) {
      let first = parts[0].handle.identifier
      for index in parts.indices.dropFirst() {
        step = index
        parts[index].transaction.pending.append(PendingSave(save: save, store: first, archive: nil))
        try writers[index].write(parts[index].transaction)
        let store = parts[index].handle.identifier
        parts[0].transaction.pending.append(
          PendingSave(save: save, store: store, archive: try writers[index].archive()))
      }
      step = 0
      try writers[0].write(parts[0].transaction)
      results[0] = try writers[0].commit()
      var failures: [Int: StoreError] = [:]
      // From here on each store may commit or fail by itself.
      for index in parts.indices.dropFirst() {
        do throws(StoreError) { results[index] = try writers[index].commit() } catch {
          failures[index] = error
        }
      }
      committed(results)
      for writer in writers { writer.didHandOn() }
      if failures.isEmpty {
        forget(parts, writers)
      } else {
        outcome = .incomplete(save: save, failures: failures)
      }
    }

    func hold(_ writers: [any StoreWriting]) throws(StoreError) {
      if writers.count == parts.count { return try write(writers) }
      step = writers.count
      try parts[step].handle.store.writing { (writer) throws(StoreError) in try hold(writers + [writer]) }
    }

    do throws(StoreError) { try hold([]) } catch {
      // After the first commit nothing is thrown, except by the end of a lock that is not needed any more.
      if results[0] == nil { outcome = .refused(error, part: step) }
    }
    for (part, result) in zip(parts, results) {
      if let result { noteCommit(to: part.handle, result.historyNumber) }
    }
    return outcome
  }

  /// Removes the record and then the marks. What can't be removed is removed when the stores are opened next.
  private func forget(_ parts: [StorePart], _ writers: [any StoreWriting]) {
    do throws(StoreError) {
      // The first store has the records, and its own part needs none.
      for (part, writer) in zip(parts, writers) {
        for save in part.transaction.pending { try writer.forget(save) }
      }
    } catch {
      return
    }
  }

  // MARK: Completing

  /// Completes saves over several stores in which a process died, or whose last commits failed, if all their stores are loaded.
  ///
  /// A store with the mark of the save has its part. Otherwise the part is written again, with all its checks. If its rows have
  /// changed meanwhile, it is dropped, and the reason reported to ``Diagnostics``.
  func completeSaves() {
    let handles = persistentStores.map(\.handle)
    if handles.count < 2 { return }
    var found: [(handle: StoreHandle, saves: [PendingSave])] = []
    for handle in handles where !handle.engine.isReadOnly {
      do throws(StoreError) {
        let saves = try handle.engine.pendingSaves()
        if !saves.isEmpty { found.append((handle, saves)) }
      } catch {
        Diagnostics.report("The store \(name(handle)) could not be searched for incomplete saves: \(error)")
      }
    }
    if found.isEmpty { return }
    for (handle, saves) in found {
      for save in saves {
        let others = handles.filter { $0 !== handle && $0.identifier == save.store && !$0.engine.isReadOnly }
        // Another loaded store may be needed. Then the record stays.
        guard let other = others.first else { continue }
        if save.isMark {
          dropMark(save, handle, other)
        } else {
          complete(save, from: handle, in: other)
        }
      }
    }
  }

  /// Removes a mark whose record is gone.
  private func dropMark(_ mark: PendingSave, _ handle: StoreHandle, _ origin: StoreHandle) {
    do throws(StoreError) {
      if try origin.engine.pendingSaves().contains(where: { $0.save == mark.save && !$0.isMark }) { return }
      try handle.engine.writing { (writer) throws(StoreError) in try writer.forget(mark) }
    } catch {
      // The next opening tries again.
    }
  }

  private func complete(_ save: PendingSave, from origin: StoreHandle, in target: StoreHandle) {
    var isWritten = false
    do throws(StoreError) {
      try holding(origin, target) { (first, second) throws(StoreError) in
        // Another process may have completed it meanwhile.
        guard let archive = save.archive,
          try first.pendingSaves().contains(where: { $0.save == save.save && $0.store == save.store })
        else { return }
        let mark = PendingSave(save: save.save, store: origin.identifier, archive: nil)
        let hasPart = try second.pendingSaves().contains(mark)
        if !hasPart {
          do throws(StoreError) {
            try second.repeatWriting(archive, mark: mark)
            _ = try second.commit()
            isWritten = true
          } catch {
            guard Self.isFinal(error) else { throw error }
            reportLost(save, origin, target, error)
          }
        }
        try first.forget(save)
        // A mark that stays is removed when the stores are opened next.
        if hasPart || isWritten { try? second.forget(mark) }
      }
    } catch {
      Diagnostics.report(
        "A save over the stores \(name(origin)) and \(name(target)) is not complete: \(name(target)) could not be written. "
          + "It is completed when both are opened next. \(error)")
    }
    // Contexts that were made before may have objects of the store.
    if isWritten { deliverUnknown(to: target) }
  }

  /// Locks two stores in the order in which saves lock them.
  private func holding(
    _ one: StoreHandle, _ other: StoreHandle,
    _ body: (any StoreWriting, any StoreWriting) throws(StoreError) -> Void
  ) throws(StoreError) {
    if one.identifier < other.identifier {
      try one.engine.writing { (first) throws(StoreError) in
        try other.engine.writing { (second) throws(StoreError) in try body(first, second) }
      }
    } else {
      try other.engine.writing { (second) throws(StoreError) in
        try one.engine.writing { (first) throws(StoreError) in try body(first, second) }
      }
    }
  }

  /// Whether writing again would fail in the same way each time.
  private static func isFinal(_ error: StoreError) -> Bool {
    [
      .conflict, .uniqueness, .constraint, .danglingReference, .incompatibleSchema, .unreadable, .tooBig,
      .unsupportedQuery,
    ].contains(error.code)
  }

  private func reportLost(
    _ save: PendingSave, _ origin: StoreHandle, _ target: StoreHandle, _ error: StoreError
  ) {
    var lost = ManagedObjectError(
      .incompleteSave,
      "A save over the stores \(name(origin)) and \(name(target)) was interrupted. \(name(origin)) has its part. The part of "
        + "\(name(target)) can't be written any more, because its rows or entities have changed since, and is dropped: "
        + error.message, cause: error)
    lost.affectedStores = [target.persistentStore].compactMap { $0 }
    Diagnostics.report("\(lost)")
  }

  func name(_ handle: StoreHandle) -> String {
    handle.persistentStore?.url?.lastPathComponent ?? handle.identifier
  }

  /// Makes contexts compare their objects with a store, as after a commit of another process without a history.
  private func deliverUnknown(to handle: StoreHandle) {
    var commit = CommittedTransaction.unknown(of: handle, modelBinding)
    let delivery = handOn(&commit, from: nil)
    delivery.start(commit.sequence)
  }
}
