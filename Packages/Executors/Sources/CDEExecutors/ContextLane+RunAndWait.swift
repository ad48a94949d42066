/// A block on its way to the lane while its thread waits, and its result on the way back.
private final class WaitingBlock<Value, Failure: Error>: @unchecked Sendable {
  // Guard: written by the waiting thread before the task starts and read after it finished; between, only
  // the task touches it.
  private var body: (() throws(Failure) -> Value)?
  private(set) var result: Result<Value, Failure>?

  init(_ body: @escaping () throws(Failure) -> Value) { self.body = body }

  /// Lets go of the block before it returns: the block ends with the waiting call.
  func run() {
    guard let body else { return }
    self.body = nil
    do throws(Failure) {
      result = .success(try body())
    } catch {
      result = .failure(error)
    }
  }
}

extension ContextLane {
  /// Runs a block on the lane while the calling thread waits, and returns its result.
  ///
  /// A caller that is on the lane runs the block at once. Otherwise the block takes its turn in line with
  /// blocks and runs. Code that belongs to another actor stays on it: the block runs on the calling thread as part of
  /// the actor's job, and the lane is kept for it meanwhile, at the price of two changes of threads. Elsewhere the
  /// waiting thread itself does the work that the block takes, so waits from all threads of the pool do not starve it;
  /// uncontended that costs about a microsecond. For a lane over the main actor the thread waits for the main actor.
  ///
  /// The block sees the caller's task-local values, and its cancellation as of the call.
  ///
  /// Traps when lanes wait for each other in a circle, with a message that names them.
  ///
  /// - Throws: What the block throws.
  public func runAndWait<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if isCurrent { return try body() }
    if callerHasActor {
      let loan = borrowAndWait()
      loan.begin()
      defer { loan.end() }
      return try body()
    }
    let ticket = takeTurnIfFree() ? nil : takeTurnOrTicket()
    let result = withoutActuallyEscaping(body) { body in
      let block = WaitingBlock(body)
      wait(for: ticket) { block.run() }
      return block.result
    }
    guard let result else { fatalError("A lane ended a wait before its block had run.") }
    return try result.get()
  }

  private func wait(for ticket: Ticket?, _ work: @escaping @Sendable () -> Void) {
    let edge = WaitGraph.begin(waitingFor: self)
    let waiter = LaneWaiter()
    let run: @Sendable () -> Void = {
      ThreadBlock.run(as: self, work)
      // The caller no longer waits for this lane, so this lane may now wait for the caller's.
      WaitGraph.end(edge)
    }
    let listed =
      mustList(ticket)
      ? BlockedWait(for: self, with: ticket) {
        self.noteEntry()
        run()
      } finish: {
        self.crew.finish(waiter)
      } : nil
    let carried = Carried {
      guard let listed else { return run() }
      guard listed.take() else { return }
      self.lender.remove(listed)
      run()
    }
    crew.arrive()
    if let listed { lender.add(listed) }
    let task: Task<Void, Never>
    if let core {
      task = Task(executorPreference: crew) {
        _ = await core.run(self, nil, with: ticket, carried)
        self.crew.finish(waiter)
      }
    } else {
      task = Task { @MainActor in
        _ = await runOnMain(self, nil, with: ticket, carried)
        self.crew.finish(waiter)
      }
    }
    if Task.isCancelled { task.cancel() }
    ThreadBlock.run(as: nil) { crew.serve(waiter) }
  }
}
