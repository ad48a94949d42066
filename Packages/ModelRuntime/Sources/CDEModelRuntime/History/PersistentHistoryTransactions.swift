internal import CDEStore
internal import Foundation

/// The transactions of a history, those of the past and those to come, for as long as a task reads them.
///
/// See ``NSManagedObjectContext/changes(after:)``.
public nonisolated struct PersistentHistoryTransactions: AsyncSequence, Sendable {
  let context: NSManagedObjectContext
  let token: NSPersistentHistoryToken?

  /// Reads the transactions. Ends with its task, and stops following when it is freed.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: HistoryStreamReader

    /// Waits for the next transaction.
    ///
    /// - Returns: nil when the task is cancelled.
    /// - Throws: `NSError` of ``ManagedObjectError``, as described for ``NSManagedObjectContext/changes(after:)``. A later call
    ///   tries again.
    public mutating func next() async throws -> NSPersistentHistoryTransaction? { try await reader.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reader: HistoryStreamReader(context, token))
  }
}

extension NSManagedObjectContext {
  /// The transactions in the history of the context's stores after a place, and those that will be committed, by any context and
  /// any process.
  ///
  /// ```swift
  /// for try await transaction in context.changes(after: savedToken) {
  ///   for change in transaction.changes ?? [] { upload(change) }
  ///   savedToken = transaction.token
  /// }
  /// ```
  ///
  /// Each transaction comes once, with its changes. Those of one store come in the order of their commits. A transaction's
  /// ``NSPersistentHistoryTransaction/token`` names the place that the sequence has reached in all stores, so a sequence that is
  /// made with it later, also by another run of the program, continues with the next transaction. Commits of other processes
  /// are noticed without ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``, too.
  ///
  /// May be called and read on any isolation; the history is read on the context's, at most 256 transactions at a time. The
  /// sequence ends when its task is cancelled. The context is kept alive while an iterator exists. Core Data has no such method.
  ///
  /// - Parameter token: the last place that is known; nil for the whole history.
  ///
  /// Reading throws ``ManagedObjectError`` with code `.historyTokenExpired` if transactions after the place were purged or the
  /// place is in no history of the context's stores, for example because a backup was restored, `.unsupportedRequest` if no store records a history, and the errors of reading.
  public nonisolated func changes(after token: NSPersistentHistoryToken?) -> PersistentHistoryTransactions {
    PersistentHistoryTransactions(context: self, token: token)
  }
}

/// One reader of a history.
///
/// Commits wake it by an element of a stream that keeps one. It is registered before it reads for the first time, so that no
/// commit falls between.
private nonisolated final class HistoryStreamReader: @unchecked Sendable {
  // Guard: one task at a time calls `next()`; `step` runs within that call.
  private let context: NSManagedObjectContext
  /// For each store the last transaction that was returned.
  private var place: [String: HistoryPlace]
  /// The place where the reader begins, until the first read has checked it.
  private var token: NSPersistentHistoryToken?
  /// Transactions that were read and not returned, the next one last.
  private var waiting: [NSPersistentHistoryTransaction] = []
  private let wakeUps: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private var registration: (coordinator: NSPersistentStoreCoordinator, number: Int)?

  private static let readAtOnce = 256

  init(_ context: NSManagedObjectContext, _ token: NSPersistentHistoryToken?) {
    self.context = context
    place = token?.places ?? [:]
    self.token = token
    (wakeUps, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    signal.yield()
  }

  deinit { registration?.coordinator.removeHistoryReader(registration!.number) }

  @concurrent func next() async throws -> NSPersistentHistoryTransaction? {
    if Task.isCancelled { return nil }
    if let transaction = waiting.popLast() { return returned(transaction) }
    for await _ in wakeUps {
      do { try await context.perform { try self.read() } } catch {
        signal.yield()
        throw nsError(error)
      }
      if let transaction = waiting.popLast() { return returned(transaction) }
    }
    return nil
  }

  private func returned(_ transaction: NSPersistentHistoryTransaction) -> NSPersistentHistoryTransaction {
    place[transaction.store.identifier] = HistoryPlace(transaction.record)
    return transaction.at(NSPersistentHistoryToken(place))
  }

  /// On the context's executor.
  private func read() throws {
    let coordinator = try context.coordinator()
    if registration == nil { registration = (coordinator, coordinator.addHistoryReader(signal)) }
    let handles = coordinator.persistentStores.map(\.handle).filter(\.store.recordsHistory)
    guard !handles.isEmpty else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "No store of the context records a history. Set the option NSPersistentHistoryTrackingKey before the stores are "
          + "loaded.")
    }
    if let token { try coordinator.check(token) }
    token = nil
    var found: [NSPersistentHistoryTransaction] = []
    for handle in handles {
      let query = StoreHistoryQuery(limit: Self.readAtOnce)
      let read = try coordinator.transactions(query, after: place[handle.identifier], of: handle)
      // There may be more, for which no commit will wake this reader.
      if read.count == Self.readAtOnce { signal.yield() }
      found += read.map {
        NSPersistentHistoryTransaction($0, coordinator.modelBinding, handle, hasChanges: true)
      }
    }
    waiting = found.reversed()
  }
}
