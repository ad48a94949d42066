/// A block on its way to the executor while its thread waits, and its result on the way back.
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

extension ContextExecutor {
  /// Runs a block on the executor while the calling thread waits, and returns its result.
  ///
  /// A caller that is on the executor runs the block at once. Otherwise the block takes its turn in line with
  /// blocks and runs. Code that belongs to another actor stays on it: the block runs on the calling thread as part of
  /// the actor's job, and the executor is kept for it meanwhile, at the price of two changes of threads. Elsewhere the
  /// waiting thread itself does the work that the block takes, so waits from all threads of the pool do not starve it;
  /// uncontended that costs about a microsecond. For an executor over the main actor the thread waits for the main actor.
  ///
  /// The block sees the caller's task-local values, and its cancellation as of the call.
  ///
  /// Traps when executors wait for each other in a circle, with a message that names them.
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
    guard let result else { fatalError("An executor ended a wait before its block had run.") }
    return try result.get()
  }

  private func wait(for ticket: Ticket?, _ work: @escaping @Sendable () -> Void) {
    let edge = WaitGraph.begin(waitingFor: self)
    let waiter = ThreadWaiter()
    let run: @Sendable () -> Void = {
      ThreadBlock.run(as: self, work)
      // The caller no longer waits for this executor, so this executor may now wait for the caller's.
      WaitGraph.end(edge)
    }
    let listed =
      mustList(ticket)
      ? BlockedWait(for: self, with: ticket) {
        self.noteEntry()
        run()
      } finish: {
        self.waitingThreads.finish(waiter)
      } : nil
    let carried = Carried {
      guard let listed else { return run() }
      guard listed.take() else { return }
      self.lender.remove(listed)
      run()
    }
    waitingThreads.arrive()
    if let listed { lender.add(listed) }
    let task: Task<Void, Never>
    if let core {
      task = Task(executorPreference: waitingThreads) {
        _ = await core.run(self, nil, with: ticket, carried)
        self.waitingThreads.finish(waiter)
      }
    } else {
      task = Task { @MainActor in
        _ = await runOnMain(self, nil, with: ticket, carried)
        self.waitingThreads.finish(waiter)
      }
    }
    if Task.isCancelled { task.cancel() }
    ThreadBlock.run(as: nil) { waitingThreads.serve(waiter) }
  }
}
