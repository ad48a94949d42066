@_spi(CDE) internal import CDEModelRuntime
@_spi(CDE) internal import CDEExecutors

/// Makes the saves of one context exact for one domain, until it is invalidated.
///
/// The domain keeps it; hold it yourself only to end it before the domain ends. It does not keep the context
/// alive.
public final class CDEObservationProducerRegistration: Sendable {
  private struct Tie {
    weak var context: NSManagedObjectContext?
    let listener: CommitListener
    let book: ProducerBook
  }

  private let tie: Lock<Tie?>

  /// A registration with an ended domain ends nothing and makes nothing exact.
  init() { tie = Lock(nil) }

  init(context: NSManagedObjectContext, listener: CommitListener, book: ProducerBook) {
    tie = Lock(Tie(context: context, listener: listener, book: book))
    context.addCommitListener(listener)
  }

  deinit { invalidate() }

  /// Ends the registration: later saves of the context count as those of any unregistered context.
  ///
  /// A save that has been committed stays exact, even if it is merged later. From any thread; further calls
  /// do nothing.
  public func invalidate() {
    guard let tie = tie.withLock({ $0.take() }) else { return }
    tie.context?.removeCommitListener(tie.listener)
    tie.book.remove(self)
  }

  var isContextGone: Bool { tie.withLock { $0.map { $0.context == nil } ?? true } }
}

/// A domain's registrations, kept until they are invalidated or their context is gone.
final class ProducerBook: Sendable {
  private struct Entries {
    var byID: [ObjectIdentifier: CDEObservationProducerRegistration] = [:]
    var isClosed = false
    var pruneAt = 16
  }

  private let entries = Lock(Entries())

  func register(
    _ context: NSManagedObjectContext, _ listener: CommitListener
  ) -> CDEObservationProducerRegistration {
    prune()
    let made = CDEObservationProducerRegistration(context: context, listener: listener, book: self)
    let isKept = entries.withLock { entries in
      if entries.isClosed { return false }
      entries.byID[ObjectIdentifier(made)] = made
      return true
    }
    if !isKept { made.invalidate() }
    return made
  }

  func remove(_ registration: CDEObservationProducerRegistration) {
    // Released by the caller's own reference, never under the lock.
    _ = entries.withLock { $0.byID.removeValue(forKey: ObjectIdentifier(registration)) }
  }

  /// Ends all registrations, and every later one at once.
  func close() {
    let all = entries.withLock { entries in
      entries.isClosed = true
      return Array(entries.byID.values)
    }
    for registration in all { registration.invalidate() }
  }

  var count: Int { entries.withLock { $0.byID.count } }

  /// Forgets registrations of contexts that are gone; now and then, so that each costs a constant on average.
  private func prune() {
    let candidates = entries.withLock { entries in
      entries.byID.count >= entries.pruneAt ? Array(entries.byID.values) : []
    }
    if candidates.isEmpty { return }
    for registration in candidates where registration.isContextGone { registration.invalidate() }
    entries.withLock { $0.pruneAt = max(16, 2 * $0.byID.count) }
  }
}
