import Synchronization

/// Transfers a value to an executor and back.
///
/// Sendable because only one side uses it at a time: the sender is suspended or blocked until the executor no longer
/// uses the value.
@usableFromInline
struct UncheckedTransfer<Value>: @unchecked Sendable {
  // Guard: the sending task or thread waits for the executor before it touches the value again.
  @usableFromInline let value: Value

  @usableFromInline
  @inline(__always)
  init(_ value: Value) { self.value = value }
}

/// When a run starts if its caller is already on the executor.
///
/// Core Data's `NSManagedObjectContext.ScheduledTaskType`.
public enum RunSchedule: Sendable {
  /// At once if the caller is on the executor; otherwise at the end of the queue.
  case immediate
  /// Always at the end of the queue.
  case enqueued
}

/// Receives a call on the executor at the beginning and at the end of a run.
///
/// An object and not a closure, so that passing it costs no allocation.
public protocol RunObserver: AnyObject, Sendable {
  /// Called on the executor before the body of a run.
  func runWillBegin()
  /// Called on the executor after the body of a run, whether it returned or threw.
  func runWillEnd()
}

extension ExecutorActor {
  /// Runs without exclusive access of the queue: the actor alone excludes other work.
  @inlinable
  func run<Value, Failure: Error>(
    _ executor: ContextExecutor, _ observer: (any RunObserver)?,
    _ body: UncheckedTransfer<() throws(Failure) -> Value>
  ) throws(Failure) -> UncheckedTransfer<Value> {
    executor.noteEntry()
    observer?.runWillBegin()
    defer { observer?.runWillEnd() }
    return UncheckedTransfer(try body.value())
  }

  /// Awaits access, runs, and releases the access. The caller has access already if the waiter is nil.
  @inlinable
  func run<Value, Failure: Error>(
    _ executor: ContextExecutor, _ observer: (any RunObserver)?, with waiter: Waiter?,
    _ body: UncheckedTransfer<() throws(Failure) -> Value>
  ) async throws(Failure) -> UncheckedTransfer<Value> {
    if let waiter { await waiter.wait() }
    defer { executor.releaseAccess() }
    return try run(executor, observer, body)
  }
}

/// Continues the task on its preferred task executor. An idle default actor is entered on the thread of the caller, whatever the
/// task prefers.
@usableFromInline
@concurrent
@inline(never)
func runOnPreferredThread() async {
  // The optimiser drops a change of threads that no access to memory follows.
  BlockingThreads.arrivals.add(1, ordering: .relaxed)
}

/// Whether code is isolated to no actor.
@inlinable
@inline(__always)
func isNonisolated(_ isolation: (any Actor)?) -> Bool {
  // Not `isolation == nil`: the optimiser of Swift 6.3 does not survive that for a caller's isolation.
  switch isolation {
  case nil: true
  case .some: false
  }
}

@inlinable
@MainActor
func runOnMain<Value, Failure: Error>(
  _ executor: ContextExecutor, _ observer: (any RunObserver)?, with waiter: Waiter?,
  _ body: UncheckedTransfer<() throws(Failure) -> Value>
) async throws(Failure) -> UncheckedTransfer<Value> {
  if let waiter { await waiter.wait() }
  executor.noteEntry()
  observer?.runWillBegin()
  defer {
    observer?.runWillEnd()
    executor.releaseAccess()
  }
  return UncheckedTransfer(try body.value())
}

// What `withTaskExecutorPreference` calls. Its closure would have to capture the caller's block, which then
// costs an allocation on every run, also if the executor is idle.
@_silgen_name("swift_task_pushTaskExecutorPreference")
private func pushTaskExecutorPreference(_ executor: UnownedTaskExecutor) -> UnsafeRawPointer

@_silgen_name("swift_task_popTaskExecutorPreference")
private func popTaskExecutorPreference(_ record: UnsafeRawPointer)

extension ContextExecutor {
  /// Runs a block on the executor later and returns at once, even when the caller is on the executor.
  ///
  /// Blocks run in the order in which they were enqueued, each alone on the executor. They are not part of the
  /// caller's task: they see none of its task-local values, its priority or its cancellation. Never blocks.
  public func enqueue(_ block: @escaping @Sendable () -> Void) {
    append(block)
  }

  /// Runs a block on the executor and returns its result to the caller's isolation.
  ///
  /// Runs and blocks have one order, first in, first out. The block is part of the caller's task: it sees
  /// its task-local values and its cancellation. The executor itself ignores cancellation. An idle executor is entered
  /// on the caller's thread, at about the cost of an actor call; an executor over the main actor costs a hop to the
  /// main actor.
  ///
  /// If the caller is isolated to another actor, the block runs on that actor, and the executor is reserved for it
  /// meanwhile: the block may use all state that the actor protects. The caller waits for the reservation without
  /// blocking a thread. This costs two changes of threads.
  ///
  /// Neither block nor result need be `Sendable`, as in Core Data's `perform(schedule:_:)`: the block runs on the
  /// caller's actor, or the caller is isolated to none and is suspended meanwhile.
  ///
  /// - Parameters:
  ///   - schedule: When the block runs if the caller is on the executor already.
  ///   - observer: Called on the executor before and after the block.
  ///   - body: The block.
  /// - Throws: What the block throws.
  @inlinable
  nonisolated(nonsending)
    public func run<Value, Failure: Error>(
      _ schedule: RunSchedule = .immediate, observer: (any RunObserver)? = nil,
      _ body: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    // This function only calls the block, so the optimiser needs no closure for it.
    if isNonisolated(#isolation) {
      if countInlineRun(), endsTurn() { await Task.yield() }
      if !blocksThreads.load(ordering: .relaxed), tryAcquireUnshared() {
        return try runUnshared(observer, body)
      }
      if isShared, let defaultActor, isFreeForCaller {
        return try await defaultActor.run(self, observer, UncheckedTransfer(body)).value
      }
    } else if let reservation = await reserve(schedule) {
      reservation.begin()
      observer?.runWillBegin()
      defer {
        observer?.runWillEnd()
        reservation.end()
      }
      return try body()
    }
    if schedule == .immediate, isCurrent {
      observer?.runWillBegin()
      defer { observer?.runWillEnd() }
      return try body()
    }
    let waiter = acquireOrEnqueue()
    guard let defaultActor else {
      return try await runOnMain(self, observer, with: waiter, UncheckedTransfer(body)).value
    }
    let preference = beginPreferringWaitingThreads()
    defer { endPreferringWaitingThreads(preference) }
    if mayBlock { await runOnPreferredThread() }
    if !isShared {
      // The task resumes on a thread that waits for the executor, or on one that tasks do not share. A thread of the pool may not be free.
      await waiter?.wait()
      if !isShared { return try runUnshared(observer, body) }
      return try await defaultActor.run(self, observer, with: nil, UncheckedTransfer(body)).value
    }
    return try await defaultActor.run(self, observer, with: waiter, UncheckedTransfer(body)).value
  }

  /// Makes the executor's waiting threads the task executor of the current task until the end of the preference.
  ///
  /// A thread that waits for this executor can then run a job that goes to the executor, even if all threads of the
  /// pool wait for it.
  @usableFromInline
  func beginPreferringWaitingThreads() -> UnsafeRawPointer {
    pushTaskExecutorPreference(waitingThreads.asUnownedTaskExecutor())
  }

  /// Ends a preference. Precondition: the same task began it, and has ended all preferences begun later.
  @usableFromInline
  func endPreferringWaitingThreads(_ record: UnsafeRawPointer) { popTaskExecutorPreference(record) }
}
