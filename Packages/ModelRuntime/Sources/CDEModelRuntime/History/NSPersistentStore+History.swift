internal import CDEStore
public import Foundation

// The history of one store in parts, for layers with requests of their own.
@_spi(CDE) extension NSPersistentStore {
  /// The oldest and the last transaction of the history; nil without one. The last one counts also if it was purged.
  public func _historyExtent() throws -> (first: Int64?, last: Int64)? {
    do throws(StoreError) {
      return try handle.store.historyExtent().map { ($0.first, $0.last) }
    } catch {
      throw ManagedObjectError.store(error)
    }
  }

  /// The transactions after a number, in the order of their commits.
  ///
  /// - Parameters:
  ///   - number: the last transaction that is not wanted.
  ///   - place: a place that the history must still know, with the time of its transaction, if that is known.
  ///   - date: only transactions of later times; nil for all.
  ///   - limit: at most so many; nil for all.
  ///   - includesChanges: whether the transactions have their changes.
  /// - Throws: ``ManagedObjectError`` with code `.historyTokenExpired` if transactions after the place were purged, or the place is
  ///   another history's, and the errors of reading.
  public func _history(
    after number: Int64, checking place: (number: Int64, time: Double?)? = nil, since date: Date? = nil,
    limit: Int? = nil, includesChanges: Bool = true
  ) throws -> [NSPersistentHistoryTransaction] {
    guard let coordinator = persistentStoreCoordinator else { return [] }
    let query = StoreHistoryQuery(
      after: number, since: date?.timeIntervalSinceReferenceDate, limit: limit,
      includesChanges: includesChanges)
    let read: [StoreHistoryTransaction]
    do throws(StoreError) { read = try handle.store.history(query) } catch {
      throw ManagedObjectError.store(error)
    }
    // Checked afterwards, so that a purge in between is noticed.
    if let place {
      try coordinator.checkUnpurged(after: HistoryPlace(number: place.number, time: place.time), of: handle)
    }
    return read.map {
      NSPersistentHistoryTransaction($0, coordinator.modelBinding, handle, hasChanges: includesChanges)
    }
  }

  /// Purges the transactions with lower numbers.
  ///
  /// - Returns: the number of purged transactions.
  @discardableResult
  public func _purgeHistory(before number: Int64) throws -> Int {
    do throws(StoreError) { return try handle.store.purgeHistory(.before(number: number)) } catch {
      throw ManagedObjectError.store(error)
    }
  }
}
