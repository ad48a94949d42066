internal import CDEStore

// Places in histories that no longer are what they were: transactions were purged, or a store was replaced by a copy or by another
// store. A place that is taken for valid then would skip transactions, or purge those of other readers.
extension NSPersistentStoreCoordinator {
  /// Reads transactions of a store, and makes sure that none after a place was purged.
  func transactions(
    _ query: StoreHistoryQuery, after place: HistoryPlace?, of handle: StoreHandle
  ) throws -> [StoreHistoryTransaction] {
    var query = query
    query.after = place?.number ?? 0
    let read: [StoreHistoryTransaction]
    do { read = try handle.store.history(query) } catch { throw ManagedObjectError.store(error) }
    // Checked afterwards, so that a purge in between is noticed.
    if let place { try checkUnpurged(after: place, of: handle) }
    return read
  }

  /// Makes sure that a store's history knows a place, and that none of the later transactions was purged.
  func checkUnpurged(after place: HistoryPlace, of handle: StoreHandle) throws {
    guard let extent = try check(place, of: handle), extent.isPurged(after: place.number) else { return }
    throw ManagedObjectError(
      .historyTokenExpired,
      "The token names transaction \(place.number) of the store \(handle.identifier), and later ones were purged: its history "
        + "begins at \(extent.first.map { "\($0)" } ?? "\(extent.last + 1)"). \(Self.remedy)")
  }

  /// Makes sure that a token names a store of this coordinator.
  ///
  /// A store that the token does not name was added later, and is read from its beginning.
  func check(_ token: NSPersistentHistoryToken) throws {
    let known = persistentStores.map(\.identifier)
    if token.places.isEmpty || known.contains(where: { token.places[$0] != nil }) { return }
    throw ManagedObjectError(
      .historyTokenExpired,
      "The token names the history of the store \(token.places.keys.sorted().joined(separator: ", ")), and the coordinator has "
        + "\(known.isEmpty ? "no store" : known.joined(separator: ", ")): the file was replaced, or the token is another store's. "
        + Self.remedy)
  }

  /// Makes sure that a store's history has had the transaction of a place.
  ///
  /// - Returns: the extent of the history; nil without one.
  @discardableResult
  func check(_ place: HistoryPlace, of handle: StoreHandle) throws -> StoreHistoryExtent? {
    let (extent, found): (StoreHistoryExtent?, HistoryPlace?)
    do {
      found = place.time == nil ? nil : try handle.recordedPlace(place.number)
      extent = try handle.store.historyExtent()
    } catch {
      throw ManagedObjectError.store(error)
    }
    let last = extent?.last ?? 0
    let reason: String
    if place.number > last {
      reason = "its history ends with \(last)"
    } else if let found, !found.isSame(as: place) {
      reason = "its transaction of this number is another one"
    } else {
      return extent
    }
    throw ManagedObjectError(
      .historyTokenExpired,
      "The token names transaction \(place.number) of the store \(handle.identifier), and \(reason): an older copy of the store was "
        + "restored. \(Self.remedy)")
  }

  private static var remedy: String {
    "Fetch the objects again, and continue with currentPersistentHistoryToken(fromStores:)."
  }
}
