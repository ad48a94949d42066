/// Carries a value onto a lane and back.
///
/// Sendable because only one side uses it at a time: the sender is suspended or blocked until the lane is
/// done with it.
@usableFromInline
struct Carried<Value>: @unchecked Sendable {
  // Guard: the sending task or thread waits for the lane before it touches the value again.
  @usableFromInline let value: Value

  @usableFromInline
  @inline(__always)
  init(_ value: Value) { self.value = value }
}

/// When a run starts, seen from a caller that is already on the lane.
///
/// Core Data's `NSManagedObjectContext.ScheduledTaskType`.
public enum LaneSchedule: Sendable {
  /// At once when the caller is on the lane; otherwise at the end of the line.
  case immediate
  /// Always at the end of the line.
  case enqueued
}

/// Is told, on the lane, of the beginning and the end of a run.
///
/// An object and not a closure, so that passing it costs no allocation.
public protocol LaneTurnObserver: AnyObject, Sendable {
  /// Called on the lane before the body of a run.
  func laneTurnWillBegin()
  /// Called on the lane after the body of a run, whether it returned or threw.
  func laneTurnWillEnd()
}

extension LaneActor {
  /// A run that has no turn to give back: the actor alone excludes other work.
  @inlinable
  func run<Value, Failure: Error>(
    _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, _ body: Carried<() throws(Failure) -> Value>
  ) throws(Failure) -> Carried<Value> {
    lane.noteEntry()
    observer?.laneTurnWillBegin()
    defer { observer?.laneTurnWillEnd() }
    return Carried(try body.value())
  }

  /// A run that has its place in line, or nil with the turn itself, and gives the turn back.
  @inlinable
  func run<Value, Failure: Error>(
    _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, with ticket: Ticket?,
    _ body: Carried<() throws(Failure) -> Value>
  ) async throws(Failure) -> Carried<Value> {
    if let ticket { await ticket.turn() }
    defer { lane.endTurn() }
    return try run(lane, observer, body)
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
  _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, with ticket: Ticket?,
  _ body: Carried<() throws(Failure) -> Value>
) async throws(Failure) -> Carried<Value> {
  if let ticket { await ticket.turn() }
  lane.noteEntry()
  observer?.laneTurnWillBegin()
  defer {
    observer?.laneTurnWillEnd()
    lane.endTurn()
  }
  return Carried(try body.value())
}

// What `withTaskExecutorPreference` calls. Its closure would have to capture the caller's block, which then
// costs an allocation on every run, also on the one that meets no line.
@_silgen_name("swift_task_pushTaskExecutorPreference")
private func pushTaskExecutorPreference(_ executor: UnownedTaskExecutor) -> UnsafeRawPointer

@_silgen_name("swift_task_popTaskExecutorPreference")
private func popTaskExecutorPreference(_ record: UnsafeRawPointer)

extension ContextLane {
  /// Runs a block on the lane later and returns at once, even when the caller is on the lane.
  ///
  /// Blocks run in the order in which they were enqueued, each alone on the lane, outside of any task that
  /// the caller may be part of: without its task-local values, priority and cancellation. Never blocks.
  public func enqueue(_ block: @escaping @Sendable () -> Void) {
    standInLine(block)
  }

  /// Runs a block on the lane and returns its result to the caller's isolation.
  ///
  /// Runs take turns with blocks, first come first served. The block is part of the caller's task: it sees
  /// its task-local values and its cancellation, which the lane itself ignores. An idle lane is entered on
  /// the caller's thread, at about the price of an actor call; a lane over the main actor at that of a hop
  /// to the main actor.
  ///
  /// A caller that belongs to another actor gets the block run there, on that actor, while the lane is kept for it:
  /// the block is the caller's code and may touch all that the actor protects. The block waits for the lane's
  /// turn without blocking a thread, and costs what a call of the lane and back costs, two changes of threads.
  ///
  /// Neither block nor result need be `Sendable`, as in Core Data's `perform(schedule:_:)`: the block runs on the
  /// caller's actor, or the caller belongs to none and is suspended meanwhile.
  ///
  /// - Parameters:
  ///   - schedule: What a caller that is on the lane already gets.
  ///   - observer: Told on the lane when the block begins and when it is over.
  ///   - body: The block.
  /// - Throws: What the block throws.
  @inlinable
  nonisolated(nonsending)
    public func run<Value, Failure: Error>(
      _ schedule: LaneSchedule = .immediate, observer: (any LaneTurnObserver)? = nil,
      _ body: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    // Every use of the block is a call of it in here: the optimiser then needs no closure.
    if isNonisolated(#isolation) {
      if let core, !hasLine { return try await core.run(self, observer, Carried(body)).value }
    } else if let loan = await borrow(schedule) {
      loan.begin()
      observer?.laneTurnWillBegin()
      defer {
        observer?.laneTurnWillEnd()
        loan.end()
      }
      return try body()
    }
    if schedule == .immediate, isCurrent {
      observer?.laneTurnWillBegin()
      defer { observer?.laneTurnWillEnd() }
      return try body()
    }
    let ticket = takeTurnOrTicket()
    guard let core else { return try await runOnMain(self, observer, with: ticket, Carried(body)).value }
    let preference = beginPreferringCrew()
    defer { endPreferringCrew(preference) }
    return try await core.run(self, observer, with: ticket, Carried(body)).value
  }

  /// Makes the lane's crew the executor of the current task until the end of the preference.
  ///
  /// With the crew as executor a job on its way to the lane can be picked up by a thread that waits for this
  /// lane, should all threads of the pool be doing so.
  @usableFromInline
  func beginPreferringCrew() -> UnsafeRawPointer { pushTaskExecutorPreference(crew.asUnownedTaskExecutor()) }

  /// In the task that began it, and after every preference begun later.
  @usableFromInline
  func endPreferringCrew(_ record: UnsafeRawPointer) { popTaskExecutorPreference(record) }
}
