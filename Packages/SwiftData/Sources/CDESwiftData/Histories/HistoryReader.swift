internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// Reads the history of a container's stores for one descriptor.
///
/// What the predicate says of tokens, numbers, times and the store decides which rows are read. Everything is read in pages, and the
/// predicate is evaluated page by page, so that transactions which are not wanted need no memory.
struct HistoryReader {
  private let stores: [NSPersistentStore]
  private let schema: PreparedSchema
  private let descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  private let bounds: HistoryBounds
  private let limit: Int?
  private let hasSeveralStores: Bool
  /// Whether the caller gets the changes of the transactions.
  private let wantsChanges: Bool

  private static let pageSize = 1_024

  /// One store's transactions that were read, in the order of their commits.
  private struct Part {
    /// The last transaction that was not read.
    var base: DefaultHistoryToken.Place
    var entries: [Entry] = []
    /// The place of the last transaction that the predicate has left out.
    var next = 0
  }

  private struct Entry {
    let number: Int64
    let time: Double
    /// Nil if the predicate is false.
    let record: NSPersistentHistoryTransaction?
  }

  init(
    _ stores: [NSPersistentStore], _ schema: PreparedSchema,
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, wantsChanges: Bool
  ) {
    self.stores = stores
    self.schema = schema
    self.descriptor = descriptor
    bounds = HistoryBounds(descriptor.predicate)
    limit = descriptor.fetchLimit == 0 ? nil : Int(clamping: descriptor.fetchLimit)
    hasSeveralStores = stores.count > 1
    self.wantsChanges = wantsChanges
  }

  // MARK: Fetching

  func transactions() throws -> [DefaultHistoryTransaction] {
    try checkStores()
    var parts: [String: Part] = [:]
    for store in stores {
      if let part = try read(store) { parts[store.identifier] = part }
      try checkTokens(store)
    }
    var found = Self.merged(parts).map { record, places in
      DefaultHistoryTransaction(record, schema, token: DefaultHistoryToken(places))
    }
    if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
    if let limit, found.count > limit { found.removeLast(found.count - limit) }
    return try found.compactMap(withChanges)
  }

  /// The transactions of all stores in the order of their commits, each with the places that are reached with it.
  private static func merged(
    _ parts: [String: Part]
  ) -> [(NSPersistentHistoryTransaction, [String: DefaultHistoryToken.Place])] {
    if parts.count == 1, let (store, part) = parts.first {
      return part.entries.compactMap { entry in
        entry.record.map { ($0, [store: DefaultHistoryToken.Place(number: entry.number, time: entry.time)]) }
      }
    }
    var parts = parts
    var places = parts.mapValues(\.base)
    var result: [(NSPersistentHistoryTransaction, [String: DefaultHistoryToken.Place])] = []
    while true {
      // The earliest of the stores' next ones. Those of one store keep their order, whatever their times are.
      let next = parts.filter { $0.value.next < $0.value.entries.count }
        .min {
          ($0.value.entries[$0.value.next].time, $0.key) < ($1.value.entries[$1.value.next].time, $1.key)
        }
      guard let (store, part) = next else { return result }
      let entry = part.entries[part.next]
      parts[store]?.next += 1
      places[store] = DefaultHistoryToken.Place(number: entry.number, time: entry.time)
      if let record = entry.record { result.append((record, places)) }
    }
  }

  // MARK: One store

  /// - Returns: nil for a store without a history.
  private func read(_ store: NSPersistentStore) throws -> Part? {
    guard let extent = try store._historyExtent() else { return nil }
    if let wanted = bounds.store, wanted != store.identifier { return Part(base: place(extent.last, store)) }
    let after = bounds.after(in: store.identifier)
    return readsBackwards
      ? try readBackwards(store, after: after, last: extent.last)
      : try readForwards(store, after: after, last: extent.last)
  }

  private func readForwards(_ store: NSPersistentStore, after: Int64, last: Int64) throws -> Part {
    var part: Part?
    var (after, matches) = (after, 0)
    // The first page is read after a place that a token names. So is each later one, after the page before.
    let isChecked = bounds.required.contains { $0.token.place(in: store.identifier) != nil }
    var known: (number: Int64, time: Double?)?
    while true {
      let size = isEnoughInOrder ? min(limit ?? Self.pageSize, Self.pageSize) : Self.pageSize
      let page = try store._history(
        after: after, checking: isChecked ? known : nil, since: since, limit: size,
        includesChanges: readsChanges)
      if part == nil { part = Part(base: place(page.first.map { $0.transactionNumber - 1 } ?? last, store)) }
      for record in page {
        let entry = try entry(record)
        if entry.record != nil { matches += 1 }
        if entry.record != nil || hasSeveralStores { part?.entries.append(entry) }
        if isEnoughInOrder, let limit, matches >= limit { return part! }
      }
      guard page.count == size, let end = page.last else { return part! }
      after = end.transactionNumber
      known = (after, end.timestamp.timeIntervalSinceReferenceDate)
    }
  }

  /// Reads from the last transaction on, in growing pages, until there are enough.
  private func readBackwards(_ store: NSPersistentStore, after: Int64, last: Int64) throws -> Part {
    var part = Part(base: place(after, store))
    var end = Int64.max
    var size = Int64(min(limit ?? Self.pageSize, Self.pageSize))
    while end > after {
      let start = max(after, min(end, last) - size)
      // The newest page has what was committed meanwhile.
      let page = try store._history(
        after: start, since: since, limit: end == .max ? nil : Int(min(end, last) - start),
        includesChanges: readsChanges
      ).filter { $0.transactionNumber <= end }
      part.entries.insert(contentsOf: try page.map(entry).filter { $0.record != nil }, at: 0)
      if let limit, part.entries.count >= limit { break }
      end = start
      size = min(size * 2, Int64(Self.pageSize))
    }
    return part
  }

  private func entry(_ record: NSPersistentHistoryTransaction) throws -> Entry {
    Entry(
      number: record.transactionNumber, time: record.timestamp.timeIntervalSinceReferenceDate,
      record: try satisfies(record) ? record : nil)
  }

  private func satisfies(_ record: NSPersistentHistoryTransaction) throws -> Bool {
    guard let predicate = descriptor.predicate else { return true }
    let place = DefaultHistoryToken(record.transactionNumber, in: record.storeID)
    do { return try predicate.evaluate(DefaultHistoryTransaction(record, schema, token: place)) } catch {
      throw SwiftDataError.invalidTransactionFetchRequest.about(
        "The predicate can't be evaluated for transaction \(record.transactionNumber) of the history: \(error). Use properties of "
          + "transactions and of their changes, and unwrap no nil.", cause: error)
    }
  }

  private var since: Date? { bounds.since.map { Date(timeIntervalSinceReferenceDate: $0) } }

  private func place(_ number: Int64, _ store: NSPersistentStore) -> DefaultHistoryToken.Place {
    let known = bounds.tokens.compactMap { $0.place(in: store.identifier) }.first { $0.number == number }
    return known ?? DefaultHistoryToken.Place(number: number, time: nil)
  }

  // MARK: How much is read

  /// Whether the limit counts in the order of one store's commits, so that reading ends with it.
  private var isEnoughInOrder: Bool { limit != nil && descriptor.sortBy.isEmpty }

  /// Whether the last transactions of one store come first, and only some of them are wanted.
  private var readsBackwards: Bool {
    guard !hasSeveralStores, limit != nil, let first = descriptor.sortBy.first, first.order == .reverse else {
      return false
    }
    return first.keyPath == \DefaultHistoryTransaction.transactionIdentifier
      || first.keyPath == \DefaultHistoryTransaction.token
  }

  /// Changes are read with the transactions, unless the caller does without them, or only some of the transactions are left in the end.
  private var readsChanges: Bool {
    bounds.readsChanges || wantsChanges && (limit == nil || descriptor.sortBy.isEmpty)
  }

  /// - Returns: nil for a transaction that was purged meanwhile.
  private func withChanges(_ transaction: DefaultHistoryTransaction) throws -> DefaultHistoryTransaction? {
    guard wantsChanges, !readsChanges,
      let store = stores.first(where: { $0.identifier == transaction.storeIdentifier })
    else { return transaction }
    let record = try store._history(after: transaction.transactionIdentifier - 1, limit: 1).first
    guard let record, record.transactionNumber == transaction.transactionIdentifier else { return nil }
    return DefaultHistoryTransaction(record, schema, token: transaction.token)
  }

  // MARK: Tokens

  /// Makes sure that each token names one of the stores.
  private func checkStores() throws {
    let known = stores.map(\.identifier)
    for token in bounds.tokens {
      let named = token.tokenValue ?? [:]
      if named.isEmpty || known.contains(where: { named[$0] != nil }) { continue }
      throw SwiftDataError.historyTokenExpired.about(
        "The token names the history of the store \(named.keys.sorted().joined(separator: ", ")), and the container has "
          + "\(known.joined(separator: ", ")): the file was replaced, or the token is another store's. Fetch the models again, and "
          + "continue with the token of the last transaction.")
    }
  }

  /// Makes sure that the history has what follows each token. Done after reading, so that a purge in between is noticed.
  private func checkTokens(_ store: NSPersistentStore) throws {
    for place in bounds.tokens.compactMap({ $0.place(in: store.identifier) }) {
      _ = try store._history(
        after: place.number, checking: (place.number, place.time), limit: 0, includesChanges: false)
    }
  }
}

// MARK: Deleting

extension HistoryReader {
  /// Removes the transactions that the descriptor finds.
  ///
  /// - Throws: `invalidTransactionFetchRequest` if the history of a store would have a gap. Then nothing is removed.
  func delete() throws {
    let found = Dictionary(grouping: try transactions(), by: \.storeIdentifier)
    var ends: [(store: NSPersistentStore, end: Int64)] = []
    for store in stores {
      let numbers = (found[store.identifier] ?? []).map(\.transactionIdentifier).sorted()
      guard let last = numbers.last else { continue }
      // One more tells whether older ones are left over.
      let oldest = try store._history(after: 0, limit: numbers.count, includesChanges: false)
      guard oldest.last?.transactionNumber == last else {
        let kept = oldest.first { !numbers.contains($0.transactionNumber) }
        throw SwiftDataError.invalidTransactionFetchRequest.about(
          "The history of the store \(store.identifier) can't be deleted in part: transaction \(last) is to go, and the older "
            + "transaction \(kept?.transactionNumber ?? 0) is to stay. Readers of the history could not notice the gap. Delete "
            + "the transactions before a token or a time.")
      }
      ends.append((store, last))
    }
    for (store, end) in ends { try store._purgeHistory(before: end + 1) }
  }
}
