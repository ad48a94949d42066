public import CDEExecutors
internal import Foundation

extension NSManagedObjectContext: RunObserver {
  /// When an awaited block starts.
  public enum ScheduledTaskType: Sendable {
    /// At once if the caller is on the context's isolation already; otherwise in order.
    case immediate
    /// Always after the blocks that were enqueued before.
    case enqueued
  }

  /// Runs a block on the context's isolation, later: never inline, in the order of the calls. Returns at
  /// once.
  ///
  /// The block belongs to no actor, even if its caller does. It may capture values that its caller gives
  /// away.
  ///
  /// At the top level of `main.swift` the compiler chooses as in a synchronous function and takes
  /// `await context.perform { … }` for this call if the block neither throws nor returns anything. It then warns that
  /// nothing is awaited: write the statement into an `async` function.
  public func perform(_ block: sending @escaping () -> Void) {
    let carried = Carrier(block)
    executor.enqueue {
      self.runWillBegin()
      carried.value()
      self.runWillEnd()
    }
  }

  /// Runs a block on the context's isolation and returns its result.
  ///
  /// A block belongs to the isolation that it was written in. If the caller belongs to an actor other than
  /// the context's, for example the main actor, the block runs on that actor while nothing else runs on the
  /// context: it may use all that the actor protects and all that the context protects. It waits for the
  /// context's turn without blocking a thread, and costs two changes of threads. If the caller belongs to no
  /// actor (a `@concurrent` function, a detached task), the block runs on the context, at about the cost of
  /// an actor call when the context is idle.
  ///
  /// The block need not be `Sendable`.
  @inlinable
  nonisolated(nonsending)
    public func perform<Value, Failure: Error>(
      schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    try await _executor.run(schedule == .immediate ? .immediate : .enqueued, observer: self, block)
  }

  /// Runs a block on the calling thread while nothing else runs on the context; inline when called there already.
  ///
  /// The block stays on the actor of its caller.
  ///
  /// - Precondition: contexts do not wait for each other in a circle. A circle traps, and the message names
  ///   them.
  public func performAndWait<Value, Failure: Error>(
    _ block: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try executor.runAndWait { () throws(Failure) -> Value in
      runWillBegin()
      defer { runWillEnd() }
      return try block()
    }
  }

  /// The end of a block announces its changes, so they need no turn of their own.
  public func runWillBegin() { announcing.blockDepth += 1 }

  /// Announces what a block changed, as the end of a turn does.
  public func runWillEnd() {
    announcing.blockDepth -= 1
    if pending.isEmpty { return }
    if isSaving { announceSoon() } else { processPendingChanges() }
  }
}
