@_spi(CDE) public import CDEExecutors
@_spi(CDE) internal import CDEProfiling
internal import Foundation

/// The form of `performAndWait` without a result, which a subclass may override. A call of it by its name would be one of the other form.
private protocol BlockWaiting {
  func performAndWait(_ block: () -> Void)
}

extension NSManagedObjectContext: BlockWaiting {}

extension NSManagedObjectContext: RunObserver {
  /// When an awaited block starts.
  public enum ScheduledTaskType: Sendable {
    /// At once if the caller is on the context's isolation already; otherwise in the order of the calls.
    case immediate
    /// Always after the blocks that were enqueued before.
    case enqueued
  }

  /// Makes a private context with the isolation of another one, so that the same code may use the objects of both.
  convenience init(sharingExecutorOf other: NSManagedObjectContext) {
    self.init(concurrencyType: .privateQueue)
    _executor = other._executor
  }

  final func enqueue(_ carried: Carrier<() -> Void>) {
    executor.enqueue {
      self.runWillBegin()
      carried.value()
      self.runWillEnd()
    }
  }

  /// Runs a block on the context's isolation and returns its result.
  ///
  /// A block belongs to the isolation in which it was written. If the caller belongs to another actor than
  /// the context's, for example the main actor, the block runs on that actor while nothing else runs on the
  /// context. The block may use the state of both. It waits for the context without blocking a thread, and
  /// costs two changes of threads. If the caller belongs to no actor (a `@concurrent` function, a detached
  /// task), the block runs on the context. When the context is idle this costs about as much as an actor
  /// call.
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

  /// Runs a block on the calling thread while nothing else runs on the context. Runs it inline when the
  /// caller is already on the context.
  ///
  /// The block stays on the actor of its caller.
  ///
  /// - Precondition: contexts do not wait for each other in a circle. A circle traps with a message that
  ///   names the contexts.
  public func performAndWait<Value, Failure: Error>(
    _ block: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if type(of: self) == NSManagedObjectContext.self { return try runAndWait(block) }
    var result: Result<Value, Failure>?
    (self as any BlockWaiting).performAndWait { result = Result(catching: block) }
    guard let result else {
      failPrecondition("An override of performAndWait(_:) runs the block before it returns.")
    }
    return try result.get()
  }

  final func runAndWait<Value, Failure: Error>(
    _ block: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try executor.runAndWait { () throws(Failure) -> Value in
      runWillBegin()
      defer { runWillEnd() }
      return try block()
    }
  }

  /// Called when a block begins. The end of the block announces its changes, so they need no job of their
  /// own.
  public func runWillBegin() {
    announcing.blockDepth += 1
    if announcing.blockDepth == 1, ProfileRecorder.timesBlocks { profile.beginBlock() }
  }

  /// Called when a block ends. Announces the changes of the block.
  public func runWillEnd() {
    announcing.blockDepth -= 1
    if !pending.isEmpty {
      if isSaving { announceSoon() } else { processPendingChanges() }
    }
    guard announcing.blockDepth == 0 else { return }
    if undoRecorder != nil { endUndoEvent() }
    if ProfileRecorder.timesBlocks, let recorder = ProfileRecorder.active {
      profile.endBlock(in: activity(recorder))
    }
  }
}
