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
    let ofRows = try historyReader(descriptor, wantsChanges: true).map { reader in
      try Self.translatingHistory { try reader.transactions() } as? [T] ?? []
    }
    let ofStores = try core.custom.compactMap { store in
      try Self.translating { try store.taking { try store.source.fetchHistory(descriptor) } }
    }
    try Self.checkKnown(T.self, ofRows != nil || !ofStores.isEmpty)
    var found = (ofRows ?? []) + ofStores.joined()
    // Each store has ordered its own, and given as many as are wanted.
    if !descriptor.sortBy.isEmpty, !ofStores.isEmpty { found.sort(using: descriptor.sortBy) }
    return descriptor.fetchLimit == 0 ? found : Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
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
    let reader = historyReader(descriptor, wantsChanges: false)
    if let reader { try Self.translatingHistory { try reader.delete() } }
    let areDeleted = try core.custom.map { store in
      try Self.translating { try store.taking { try store.source.deleteHistory(descriptor) } }
    }
    try Self.checkKnown(T.self, reader != nil || areDeleted.contains(true))
  }

  /// What reads the history of stores of rows; nil for transactions of another type, which a store of the application's may have.
  private func historyReader<T: HistoryTransaction>(
    _ descriptor: HistoryDescriptor<T>, wantsChanges: Bool
  ) -> HistoryReader? {
    (descriptor as? HistoryDescriptor<DefaultHistoryTransaction>).map {
      HistoryReader(core.coordinator.persistentStores, core.prepared, $0, wantsChanges: wantsChanges)
    }
  }

  private static func checkKnown<T: HistoryTransaction>(_ type: T.Type, _ isKnown: Bool) throws {
    if isKnown { return }
    throw SwiftDataError.invalidTransactionFetchRequest.about(
      "No store of the container has transactions of \(T.self). Ask for DefaultHistoryTransaction, or add the store that conforms to "
        + "HistoryProviding with that type.")
  }

  private static func translatingHistory<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ManagedObjectError where error.code == .historyTokenExpired {
      throw SwiftDataError.historyTokenExpired.about(error.message, cause: error)
    }
  }
}
