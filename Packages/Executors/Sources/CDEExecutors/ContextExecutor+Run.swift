/// Carries a value onto an executor and back.
///
/// Sendable because only one side uses it at a time: the sender is suspended or blocked until the executor is
/// done with it.
@usableFromInline
struct Carried<Value>: @unchecked Sendable {
  // Guard: the sending task or thread waits for the executor before it touches the value again.
  @usableFromInline let value: Value

  @usableFromInline
  @inline(__always)
  init(_ value: Value) { self.value = value }
}

/// When a run starts, seen from a caller that is already on the executor.
///
/// Core Data's `NSManagedObjectContext.ScheduledTaskType`.
public enum RunSchedule: Sendable {
  /// At once when the caller is on the executor; otherwise at the end of the line.
  case immediate
  /// Always at the end of the line.
  case enqueued
}

/// Is told, on the executor, of the beginning and the end of a run.
///
/// An object and not a closure, so that passing it costs no allocation.
public protocol RunObserver: AnyObject, Sendable {
  /// Called on the executor before the body of a run.
  func runWillBegin()
  /// Called on the executor after the body of a run, whether it returned or threw.
  func runWillEnd()
}

extension ExecutorActor {
  /// A run that has no turn to give back: the actor alone excludes other work.
  @inlinable
  func run<Value, Failure: Error>(
    _ executor: ContextExecutor, _ observer: (any RunObserver)?, _ body: Carried<() throws(Failure) -> Value>
  ) throws(Failure) -> Carried<Value> {
    executor.noteEntry()
    observer?.runWillBegin()
    defer { observer?.runWillEnd() }
    return Carried(try body.value())
  }

  /// A run that has its place in line, or nil with the turn itself, and gives the turn back.
  @inlinable
  func run<Value, Failure: Error>(
    _ executor: ContextExecutor, _ observer: (any RunObserver)?, with ticket: Ticket?,
    _ body: Carried<() throws(Failure) -> Value>
  ) async throws(Failure) -> Carried<Value> {
    if let ticket { await ticket.turn() }
    defer { executor.endTurn() }
    return try run(executor, observer, body)
  }
}

/// Whether code belongs to no actor.
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
  _ executor: ContextExecutor, _ observer: (any RunObserver)?, with ticket: Ticket?,
  _ body: Carried<() throws(Failure) -> Value>
) async throws(Failure) -> Carried<Value> {
  if let ticket { await ticket.turn() }
  executor.noteEntry()
  observer?.runWillBegin()
  defer {
    observer?.runWillEnd()
    executor.endTurn()
  }
  return Carried(try body.value())
}

// What `withTaskExecutorPreference` calls. Its closure would have to capture the caller's block, which then
// costs an allocation on every run, also on the one that meets no line.
@_silgen_name("swift_task_pushTaskExecutorPreference")
private func pushTaskExecutorPreference(_ executor: UnownedTaskExecutor) -> UnsafeRawPointer

@_silgen_name("swift_task_popTaskExecutorPreference")
private func popTaskExecutorPreference(_ record: UnsafeRawPointer)

extension ContextExecutor {
  /// Runs a block on the executor later and returns at once, even when the caller is on the executor.
  ///
  /// Blocks run in the order in which they were enqueued, each alone on the executor, outside of any task that
  /// the caller may be part of: without its task-local values, priority and cancellation. Never blocks.
  public func enqueue(_ block: @escaping @Sendable () -> Void) {
    standInLine(block)
  }

  /// Runs a block on the executor and returns its result to the caller's isolation.
  ///
  /// Runs take turns with blocks, first come first served. The block is part of the caller's task: it sees
  /// its task-local values and its cancellation, which the executor itself ignores. An idle executor is entered on
  /// the caller's thread, at about the price of an actor call; an executor over the main actor at that of a hop
  /// to the main actor.
  ///
  /// A caller that belongs to another actor gets the block run there, on that actor, while the executor is kept for it:
  /// the block is the caller's code and may touch all that the actor protects. The block waits for the executor's
  /// turn without blocking a thread, and costs what a call of the executor and back costs, two changes of threads.
  ///
  /// Neither block nor result need be `Sendable`, as in Core Data's `perform(schedule:_:)`: the block runs on the
  /// caller's actor, or the caller belongs to none and is suspended meanwhile.
  ///
  /// - Parameters:
  ///   - schedule: What a caller that is on the executor already gets.
  ///   - observer: Told on the executor when the block begins and when it is over.
  ///   - body: The block.
  /// - Throws: What the block throws.
  @inlinable
  nonisolated(nonsending)
    public func run<Value, Failure: Error>(
      _ schedule: RunSchedule = .immediate, observer: (any RunObserver)? = nil,
      _ body: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    // Every use of the block is a call of it in here: the optimiser then needs no closure.
    if isNonisolated(#isolation) {
      if let core, !hasLine { return try await core.run(self, observer, Carried(body)).value }
    } else if let loan = await borrow(schedule) {
      loan.begin()
      observer?.runWillBegin()
      defer {
        observer?.runWillEnd()
        loan.end()
      }
      return try body()
    }
    if schedule == .immediate, isCurrent {
      observer?.runWillBegin()
      defer { observer?.runWillEnd() }
      return try body()
    }
    let ticket = takeTurnOrTicket()
    guard let core else { return try await runOnMain(self, observer, with: ticket, Carried(body)).value }
    let preference = beginPreferringWaitingThreads()
    defer { endPreferringWaitingThreads(preference) }
    return try await core.run(self, observer, with: ticket, Carried(body)).value
  }

  /// Makes the executor's waitingThreads the executor of the current task until the end of the preference.
  ///
  /// With the waitingThreads as executor a job on its way to the executor can be picked up by a thread that waits for this
  /// executor, should all threads of the pool be doing so.
  @usableFromInline
  func beginPreferringWaitingThreads() -> UnsafeRawPointer {
    pushTaskExecutorPreference(waitingThreads.asUnownedTaskExecutor())
  }

  /// In the task that began it, and after every preference begun later.
  @usableFromInline
  func endPreferringWaitingThreads(_ record: UnsafeRawPointer) { popTaskExecutorPreference(record) }
}
