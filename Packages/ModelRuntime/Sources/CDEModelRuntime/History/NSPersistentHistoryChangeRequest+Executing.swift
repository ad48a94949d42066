@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension NSPersistentHistoryChangeRequest: ContextRequest {
  func execute(by context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.coordinator()
    let stores = try coordinator.stores(of: self)
    switch operation {
    case .fetch(let place): return try fetch(after: place, coordinator, stores)
    case .delete(let place): return try purge(before: place, coordinator, stores)
    }
  }

  // MARK: Reading

  private func fetch(
    after place: Place, _ coordinator: NSPersistentStoreCoordinator, _ stores: [StoreHandle]
  ) throws -> NSPersistentHistoryResult {
    let filter = try HistoryFilter(fetchRequest)
    let readsChanges = resultType != .transactionsOnly || filter.isForChanges
    var transactions: [NSPersistentHistoryTransaction] = []
    if case .token(let token) = place { try coordinator.check(token) }
    for handle in stores {
      var query = StoreHistoryQuery(includesChanges: readsChanges)
      var known: HistoryPlace?
      switch place {
      case .start: break
      case .date(let date): query.since = date.timeIntervalSinceReferenceDate
      case .token(let token): known = token.places[handle.identifier]
      }
      transactions += try coordinator.transactions(query, after: known, of: handle).map {
        NSPersistentHistoryTransaction(
          $0, coordinator.modelBinding, handle, hasChanges: resultType != .transactionsOnly)
      }
    }
    return NSPersistentHistoryResult(try result(transactions, filter), resultType)
  }

  private func result(_ transactions: [NSPersistentHistoryTransaction], _ filter: HistoryFilter) throws -> Any
  {
    if filter.isForChanges {
      let changes = try filter.apply(
        to: transactions.flatMap { owner in
          owner.record.changes.map { NSPersistentHistoryChange($0, of: owner) }
        })
      switch resultType {
      case .statusOnly: return NSNumber(value: true)
      case .objectIDs: return changes.map(\.changedObjectID)
      case .count: return NSNumber(value: changes.count)
      case .changesOnly: return changes
      case .transactionsOnly, .transactionsAndChanges:
        let kept = Dictionary(grouping: changes) { ObjectIdentifier($0.transaction!) }
        return transactions.compactMap { transaction -> NSPersistentHistoryTransaction? in
          guard let changes = kept[ObjectIdentifier(transaction)] else { return nil }
          var record = transaction.record
          let numbers = Set(changes.map(\.changeID))
          record.changes.removeAll { !numbers.contains($0.number) }
          return NSPersistentHistoryTransaction(
            record, transaction.model, transaction.store, hasChanges: resultType == .transactionsAndChanges)
        }
      }
    }
    let found = try filter.apply(to: transactions)
    switch resultType {
    case .statusOnly: return NSNumber(value: true)
    case .objectIDs: return found.flatMap { ($0.changes ?? []).map(\.changedObjectID) }
    case .count: return NSNumber(value: found.count)
    case .changesOnly: return found.flatMap { $0.changes ?? [] }
    case .transactionsOnly, .transactionsAndChanges: return found
    }
  }

  // MARK: Purging

  private func purge(
    before place: Place, _ coordinator: NSPersistentStoreCoordinator, _ stores: [StoreHandle]
  ) throws -> NSPersistentHistoryResult {
    var removed = 0
    if case .token(let token) = place {
      try coordinator.check(token)
      // Before any store is purged.
      for handle in stores {
        if let known = token.places[handle.identifier] { try coordinator.check(known, of: handle) }
      }
    }
    for handle in stores {
      let limit: StoreHistoryLimit
      switch place {
      case .start: continue
      case .date(let date): limit = .beforeTime(date.timeIntervalSinceReferenceDate)
      case .token(let token):
        guard let known = token.places[handle.identifier] else { continue }
        limit = .before(number: known.number)
      }
      do { removed += try handle.store.purgeHistory(limit) } catch { throw ManagedObjectError.store(error) }
    }
    switch resultType {
    case .count: return NSPersistentHistoryResult(NSNumber(value: removed), resultType)
    case .statusOnly: return NSPersistentHistoryResult(NSNumber(value: true), resultType)
    case .objectIDs, .transactionsOnly, .changesOnly, .transactionsAndChanges:
      return NSPersistentHistoryResult([Any](), resultType)
    }
  }
}

/// The filter of a request for the history.
private struct HistoryFilter {
  let isForChanges: Bool
  private let request: NSFetchRequest<any NSFetchRequestResult>?

  init(_ request: NSFetchRequest<any NSFetchRequestResult>?) throws {
    self.request = request
    switch request?.entityName ?? request?.entity?.name {
    case HistoryEntities.changeName: isForChanges = true
    case nil, HistoryEntities.transactionName: isForChanges = false
    case let name?:
      throw ManagedObjectError(
        .unsupportedRequest,
        "A request for the history can't be filtered by a request for \(name). Begin with "
          + "NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.",
        entity: name)
    }
  }

  func apply<Element: PredicateValueProviding>(to elements: [Element]) throws -> [Element] {
    guard let request else { return elements }
    var result = elements
    if let predicate = request.predicate {
      do {
        let tree = try predicate.predicateTree()
        result = try result.filter { try tree.evaluate(with: .object($0), cache: nil) }
      } catch let error as ManagedObjectError {
        throw error
      } catch {
        throw ManagedObjectError(
          .predicate, "The filter of the history can't be evaluated: \(error)", cause: error)
      }
    }
    for descriptor in (request.sortDescriptors ?? []).reversed() { result = try sorted(result, descriptor) }
    if request.fetchOffset > 0 { result.removeFirst(min(request.fetchOffset, result.count)) }
    if request.fetchLimit > 0 { result.removeLast(max(0, result.count - request.fetchLimit)) }
    return result
  }

  /// A stable order by one key. Elements without a value come first.
  private func sorted<Element: PredicateValueProviding>(
    _ elements: [Element], _ descriptor: NSSortDescriptor
  ) throws -> [Element] {
    guard let key = descriptor.key else { return elements }
    let keyed = try elements.enumerated().map { index, element in
      (index, element, HistorySortKey(try element.predicateValue(forKey: key)))
    }
    return keyed.sorted { left, right in
      if left.2 == right.2 { return left.0 < right.0 }
      return descriptor.ascending ? left.2 < right.2 : right.2 < left.2
    }.map(\.1)
  }
}

/// A value of the history in an order: none, numbers and times, text.
private enum HistorySortKey: Comparable {
  case none
  case integer(Int64)
  case real(Double)
  case text(String)

  init(_ value: PredicateValue) {
    guard case .constant(let constant) = value else {
      self = .none
      return
    }
    switch constant.plainValue {
    case let text as String: self = .text(text)
    case let date as Date: self = .real(date.timeIntervalSinceReferenceDate)
    case let number as NSNumber: self = .integer(number.int64Value)
    case let number as Int64: self = .integer(number)
    case let number as Int: self = .integer(Int64(number))
    default: self = .none
    }
  }
}

extension NSPersistentStoreCoordinator {
  /// The stores that a request applies to.
  fileprivate func stores(of request: NSPersistentStoreRequest) throws -> [StoreHandle] {
    let loaded = persistentStores
    guard let asked = request.affectedStores else { return loaded.map(\.handle) }
    for store in asked where !loaded.contains(where: { $0 === store }) {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The request names the store \(store.url?.lastPathComponent ?? "in memory"), which its coordinator does not have. "
          + "Name stores out of persistentStores, or leave affectedStores nil.")
    }
    return asked.map(\.handle)
  }

  /// The place after the last transaction in the history of stores.
  ///
  /// - Parameter stores: Stores of this coordinator; nil for all.
  /// - Returns: Nil if no store has a history, or none can be read.
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    var places: [String: HistoryPlace] = [:]
    for store in stores.map({ $0.compactMap { $0 as? NSPersistentStore } }) ?? persistentStores {
      do {
        guard let extent = try store.handle.store.historyExtent() else { continue }
        places[store.identifier] = store.handle.historyPlace(extent.last)
      } catch {
        Diagnostics.report("The history of the store \(store.identifier) could not be read: \(error)")
      }
    }
    return places.isEmpty ? nil : NSPersistentHistoryToken(places)
  }
}
