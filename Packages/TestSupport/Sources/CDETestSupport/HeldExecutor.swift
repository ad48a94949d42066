@_spi(CDE) public import CDEExecutors
@_spi(CDE) public import CDEModelRuntime

/// A context whose queued work waits until the test lets it happen, one piece at a time.
///
/// Queued work is what others hand to the context without waiting for it: merges of other contexts' saves when
/// `automaticallyMergesChangesFromParent` is set, blocks of `perform(_:)`, and the announcement of changes at the
/// end of a turn. Awaited `perform`, `performAndWait` and calls of model actors are not held: they overtake what
/// is.
///
/// ```swift
/// container.viewContext.automaticallyMergesChangesFromParent = true
/// let merges = HeldExecutor(of: container.viewContext)
/// try await editor.save()     // the view context has yet to hear of it
/// await merges.step()         // now it has
/// ```
///
/// Holding ends with ``release()``, or with the held executor itself, which Swift may free after its last use: where
/// that comes early, write `defer { merges.release() }`. Work that was queued before it began runs by itself. An
/// actor over an executor of your own, which runs its jobs in `perform(_:)`, is held as well: its calls return
/// when they have been stepped.
public final class HeldExecutor: Sendable {
  private let executor: ContextExecutor

  /// Holds a context's queued work back from now on.
  ///
  /// - Precondition: the context is not held already.
  public convenience init(of context: NSManagedObjectContext) { self.init(context.executor) }

  /// Holds back the blocks that are enqueued on an executor from now on.
  ///
  /// - Precondition: the executor is not held already.
  public init(_ executor: ContextExecutor) {
    guard executor.hold() else {
      failPrecondition(
        "The executor \(executor) is held already. Hold a context once, and step or release it there.")
    }
    self.executor = executor
  }

  deinit { executor.release() }

  /// How many pieces of work wait.
  public var count: Int { executor.heldBlocks }

  /// Lets the first piece of work happen, and returns when it is done.
  ///
  /// What it queues on the same context in its turn waits as well.
  ///
  /// - Returns: false when there was none.
  @discardableResult
  public nonisolated(nonsending) func step() async -> Bool {
    guard executor.releaseNext() else { return false }
    await executor.run(.enqueued) {}
    return true
  }

  /// Lets the work that waits now happen, in order, and returns when it is done. What it queues waits.
  ///
  /// - Returns: how many pieces there were.
  @discardableResult
  public nonisolated(nonsending) func stepAll() async -> Int {
    let count = self.count
    var done = 0
    while done < count, await step() { done += 1 }
    return done
  }

  /// Ends the holding: what waits happens soon, in order, as does everything queued later. Returns at once.
  public func release() { executor.release() }
}
