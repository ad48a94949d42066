@_spi(CDE) internal import CDEModelRuntime

extension ModelContext {
  /// Fetches transactions of the history of the container's stores, by any context, container and process.
  ///
  /// ```swift
  /// let others = HistoryDescriptor<DefaultHistoryTransaction>(
  ///   predicate: #Predicate { $0.token > lastToken && $0.author != "app" })
  /// for transaction in try context.fetchHistory(others) {
  ///   for change in transaction.changes { print(change.changedPersistentIdentifier) }
  /// }
  /// ```
  ///
  /// Without an order the transactions come in the order of their commits. Conditions on `token`, `transactionIdentifier`,
  /// `timestamp` and `storeIdentifier` that are joined by `&&` limit what is read. Others, such as those on `author` and `changes`, are
  /// evaluated for each transaction that was read. Call it on the context's isolation. As in SwiftData.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the predicate asks for transactions after a token, and some of them were
  ///   deleted, or the token is of another history. ``SwiftDataError/invalidTransactionFetchRequest`` for a predicate that can't be
  ///   evaluated, and for transactions of a kind that none of the stores has. Otherwise the error of reading.
  public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
    try checkIsolation("fetchHistory(_:)")
    let reader = try historyReader(descriptor, wantsChanges: true)
    let found = try Self.translatingHistory { try reader.transactions() }
    return found as? [T] ?? []
  }

  /// Removes transactions from the history of the container's stores. Their tokens, and earlier ones, expire.
  ///
  /// ```swift
  /// try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < lastToken }))
  /// ```
  ///
  /// The oldest transactions of a store can be removed: those before a token, before a time, or all. Differs from SwiftData: a
  /// descriptor that leaves older transactions beside those that it finds is refused, because readers of the history could not
  /// notice the gap.
  ///
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` for such a descriptor, the errors of ``fetchHistory(_:)``, and those
  ///   of writing. Of several stores some may be done then.
  public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
    try checkIsolation("deleteHistory(_:)")
    let reader = try historyReader(descriptor, wantsChanges: false)
    try Self.translatingHistory { try reader.delete() }
  }

  private func historyReader<T: HistoryTransaction>(
    _ descriptor: HistoryDescriptor<T>, wantsChanges: Bool
  ) throws -> HistoryReader {
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      throw SwiftDataError.invalidTransactionFetchRequest.about(
        "The container's stores have no transactions of \(T.self). Ask for DefaultHistoryTransaction.")
    }
    return HistoryReader(
      core.coordinator.persistentStores, core.prepared, descriptor, wantsChanges: wantsChanges)
  }

  private static func translatingHistory<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ManagedObjectError where error.code == .historyTokenExpired {
      throw SwiftDataError.historyTokenExpired.about(error.message, cause: error)
    }
  }
}
