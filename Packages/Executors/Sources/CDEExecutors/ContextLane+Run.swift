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

/// Whoever wants to know, on the lane, that a run is over.
///
/// An object and not a closure, so that passing it costs no allocation.
public protocol LaneTurnObserver: AnyObject, Sendable {
  /// Called on the lane after the body of a run, whether it returned or threw.
  func laneTurnWillEnd()
}

extension LaneActor {
  @inlinable
  func run<Value, Failure: Error>(
    _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, _ body: Carried<() throws(Failure) -> Value>
  ) throws(Failure) -> Carried<Value> {
    lane.noteEntry()
    defer {
      observer?.laneTurnWillEnd()
      lane.endTurn()
    }
    return Carried(try body.value())
  }

  @usableFromInline
  func run<Value, Failure: Error>(
    _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, with ticket: Ticket,
    _ body: Carried<() throws(Failure) -> Value>
  ) async throws(Failure) -> Carried<Value> {
    await ticket.turn()
    return try run(lane, observer, body)
  }
}

@usableFromInline
@MainActor
func runOnMain<Value, Failure: Error>(
  _ lane: ContextLane, _ observer: (any LaneTurnObserver)?, with ticket: Ticket?,
  _ body: Carried<() throws(Failure) -> Value>
) async throws(Failure) -> Carried<Value> {
  await ticket?.turn()
  lane.noteEntry()
  defer {
    observer?.laneTurnWillEnd()
    lane.endTurn()
  }
  return Carried(try body.value())
}

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
  /// Neither block nor result need be `Sendable`, as in Core Data's `perform(schedule:_:)`: the caller is
  /// suspended while the block runs. What other tasks may touch meanwhile is the caller's business.
  ///
  /// - Parameters:
  ///   - schedule: What a caller that is on the lane already gets.
  ///   - observer: Told on the lane when the block is over.
  /// - Throws: What the block throws.
  @inlinable
  nonisolated(nonsending)
    public func run<Value, Failure: Error>(
      _ schedule: LaneSchedule = .immediate, observer: (any LaneTurnObserver)? = nil,
      _ body: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    if let core, takeTurnIfFree() {
      return try await core.run(self, observer, Carried(body)).value
    }
    return try await runInLine(schedule, observer, body)
  }

  @usableFromInline
  nonisolated(nonsending)
    func runInLine<Value, Failure: Error>(
      _ schedule: LaneSchedule, _ observer: (any LaneTurnObserver)?,
      _ body: @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    if schedule == .immediate, isCurrent {
      defer { observer?.laneTurnWillEnd() }
      return try body()
    }
    let ticket = takeTurnOrTicket()
    let carried = Carried(body)
    guard let core else { return try await runOnMain(self, observer, with: ticket, carried).value }
    guard let ticket else { return try await core.run(self, observer, carried).value }
    // With the crew as executor the job can be picked up by a thread that waits for this lane, should all
    // threads of the pool be doing so.
    let result = await withTaskExecutorPreference(crew) {
      () async -> Carried<Result<Carried<Value>, Failure>> in
      do throws(Failure) {
        return Carried(.success(try await core.run(self, observer, with: ticket, carried)))
      } catch {
        return Carried(.failure(error))
      }
    }
    return try result.value.get().value
  }
}
