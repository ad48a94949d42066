public import CDEExecutors
internal import Foundation

extension NSManagedObjectContext: LaneTurnObserver {
  /// When an awaited block starts.
  public enum ScheduledTaskType: Sendable {
    /// At once when the caller is on the context's isolation already; otherwise in turn.
    case immediate
    /// Always after what was given before.
    case enqueued
  }

  /// Runs a block on the context's isolation, later: never inline, in the order of the calls. Returns at
  /// once.
  public func perform(_ block: sending @escaping () -> Void) {
    let carried = Carrier(block)
    lane.enqueue {
      self.laneTurnWillBegin()
      carried.value()
      self.laneTurnWillEnd()
    }
  }

  /// Runs a block on the context's isolation and returns its result.
  ///
  /// About the cost of an actor call when the context is idle. The block need not be `Sendable`: the caller
  /// waits.
  @inlinable
  nonisolated(nonsending)
    public func perform<Value, Failure: Error>(
      schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    try await _lane.run(schedule == .immediate ? .immediate : .enqueued, observer: self, block)
  }

  /// Runs a block on the context's isolation and waits for it; inline when called there already.
  ///
  /// - Precondition: no circle of contexts waits for each other; one traps and names them.
  public func performAndWait<Value, Failure: Error>(
    _ block: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try lane.runAndWait { () throws(Failure) -> Value in
      laneTurnWillBegin()
      defer { laneTurnWillEnd() }
      return try block()
    }
  }

  /// A block's changes need no turn of their own to be announced: its end does it.
  public func laneTurnWillBegin() { blockDepth += 1 }

  /// Announces what a block changed, as the end of a turn does.
  public func laneTurnWillEnd() {
    blockDepth -= 1
    if pending.isEmpty { return }
    if isSaving { announceSoon() } else { processPendingChanges() }
  }
}
