@_spi(CDE) public import CDEExecutors
@_spi(CDE) public import CDEModelRuntime

/// Suspends a context's queued work, so that a test runs it one piece at a time.
///
/// Queued work is what other code enqueues on the context without waiting for it: merges of other contexts' saves if
/// `automaticallyMergesChangesFromParent` is set, blocks of `perform(_:)`, and the announcement of changes at the
/// end of a job of the executor. Awaited `perform`, `performAndWait` and calls of model actors are not suspended: they
/// run before suspended work.
///
/// ```swift
/// container.viewContext.automaticallyMergesChangesFromParent = true
/// let merges = SuspendedExecutor(of: container.viewContext)
/// try await editor.save()     // the view context has not merged the save
/// await merges.step()         // now it has
/// ```
///
/// The suspension ends with ``resume()``, or with the lifetime of the `SuspendedExecutor`. Swift may release it after its
/// last use: if that is too early, write `defer { merges.resume() }`. Work that was queued before the suspension is not
/// suspended. An actor over an executor of your own, which runs its jobs in `perform(_:)`, is suspended as well: its
/// calls return after they have been stepped.
public final class SuspendedExecutor: Sendable {
  private let executor: ContextExecutor

  /// Suspends a context's queued work from now on.
  ///
  /// - Precondition: the context is not suspended already.
  public convenience init(of context: NSManagedObjectContext) { self.init(context.executor) }

  /// Suspends the blocks that are enqueued on an executor from now on.
  ///
  /// - Precondition: the executor is not suspended already.
  public init(_ executor: ContextExecutor) {
    guard executor.suspend() else {
      failPrecondition(
        "The executor \(executor) is suspended already. Suspend a context once, and step or resume it there.")
    }
    self.executor = executor
  }

  deinit { executor.resume() }

  /// How many pieces of work are suspended.
  public var count: Int { executor.suspendedBlockCount }

  /// Runs the first suspended piece of work, and returns when it is done.
  ///
  /// Work that it queues on the same context is suspended as well.
  ///
  /// - Returns: false if there was none.
  @discardableResult
  public nonisolated(nonsending) func step() async -> Bool {
    guard executor.resumeNext() else { return false }
    await executor.run(.enqueued) {}
    return true
  }

  /// Runs the work that is suspended now, in order, and returns when it is done. Work that it queues is suspended.
  ///
  /// - Returns: how many pieces there were.
  @discardableResult
  public nonisolated(nonsending) func stepAll() async -> Int {
    let count = self.count
    var done = 0
    while done < count, await step() { done += 1 }
    return done
  }

  /// Ends the suspension: suspended work runs soon, in order, before work that is queued later. Returns at once.
  public func resume() { executor.resume() }
}
