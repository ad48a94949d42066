/// The block of a waiting thread, and its result.
final class WaitingBlock<Value, Failure: Error>: @unchecked Sendable {
  // Guard: written by the waiting thread before the task starts and read after it finished; between, only
  // the task touches it.
  private var body: (() throws(Failure) -> Value)?
  private(set) var result: Result<Value, Failure>?

  init(_ body: @escaping () throws(Failure) -> Value) { self.body = body }

  /// Runs the block and releases it first: the block must not outlive the waiting call.
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
  /// If the caller is on the executor, the block runs at once. Otherwise it runs in order with blocks and runs.
  ///
  /// If the caller is isolated to another actor, the block runs on the calling thread as part of that actor's job, and
  /// the executor is reserved for it meanwhile. This costs two changes of threads. In all other cases the waiting
  /// thread itself runs the executor's jobs, so waits from all threads of the pool do not block each other. Without
  /// contention that costs about a microsecond. For an executor over the main actor the thread waits for the main actor.
  ///
  /// The block sees the caller's task-local values, and the caller's cancellation at the time of the call.
  ///
  /// Traps if executors wait for each other in a cycle, with a message that names them.
  ///
  /// - Throws: What the block throws.
  public func runAndWait<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if isCurrent { return try body() }
    let callerHasActor = callerHasActor
    // The thread of a block that runs on its executor's actor would stay on that executor.
    if callerHasActor || currentExecutor() == 0, tryAcquireUnshared() {
      return try runUnshared(waitingBy: body)
    }
    if callerHasActor {
      let reservation = reserveAndWait()
      reservation.begin()
      defer { reservation.end() }
      return try body()
    }
    let waiter = tryAcquire() ? nil : acquireOrEnqueue()
    let result = withoutActuallyEscaping(body) { body in
      let block = WaitingBlock(body)
      wait(for: waiter) { block.run() }
      return block.result
    }
    guard let result else { fatalError("An executor ended a wait before its block had run.") }
    return try result.get()
  }

  /// Runs a block on the calling thread, which waits for nothing, and releases the access.
  ///
  /// Precondition: the caller has access, and no actor can run jobs on the executor.
  func runUnshared<Value, Failure: Error>(
    waitingBy body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // Code of this executor that waits for the caller's would wait for ever.
    let edge = WaitGraph.begin(waitingFor: self)
    return try runUnshared(nil) { () throws(Failure) -> Value in
      // The caller no longer waits for this executor, so this executor may now wait for the caller's.
      defer { WaitGraph.end(edge) }
      return try body()
    }
  }

  func wait(for waiter: Waiter?, _ work: @escaping @Sendable () -> Void) {
    let edge = WaitGraph.begin(waitingFor: self)
    let thread = WaitingThread()
    let run: @Sendable () -> Void = {
      ThreadBlock.run(as: self, work)
      // The caller no longer waits for this executor, so this executor may now wait for the caller's.
      WaitGraph.end(edge)
    }
    let listed =
      mayMeetReservation(waiter)
      ? BlockedWait(for: self, with: waiter) {
        self.noteEntry()
        run()
      } finish: {
        self.waitingThreads.finish(thread)
      } : nil
    let transfer = UncheckedTransfer {
      guard let listed else { return run() }
      guard listed.claim() else { return }
      self.reservations.remove(listed)
      run()
    }
    waitingThreads.announce()
    if let listed { reservations.add(listed) }
    let task: Task<Void, Never>
    if let defaultActor {
      task = Task(executorPreference: waitingThreads) {
        _ = await defaultActor.run(self, nil, with: waiter, transfer)
        self.waitingThreads.finish(thread)
      }
    } else {
      task = Task { @MainActor in
        _ = await runOnMain(self, nil, with: waiter, transfer)
        self.waitingThreads.finish(thread)
      }
    }
    if Task.isCancelled { task.cancel() }
    StackedWait.run(from: WaitGraph.callerIdentity, for: self) {
      ThreadBlock.run(as: nil) {
        waitingThreads.runJobs(until: thread) { job in
          job.runSynchronously(on: self.waitingThreads.asUnownedTaskExecutor())
        }
      }
    }
  }
}
