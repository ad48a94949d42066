extension ContextExecutor {
  /// How many blocks run before the task that runs them yields once to the jobs of actors.
  static var blocksPerVisit: Int { 32 }

  /// Whether a run, a wait or a block has exclusive access.
  @usableFromInline
  @inline(__always)
  var isBusy: Bool { access.load(ordering: .acquiring) != AccessState.idle }

  /// Acquires exclusive access if it is free; false, and nothing changed, otherwise.
  @usableFromInline
  @inline(__always)
  func tryAcquire() -> Bool {
    access.compareExchange(
      expected: AccessState.idle, desired: AccessState.running, ordering: .acquiring
    ).exchanged
  }

  /// Acquires exclusive access if it is free and no actor can run jobs on the executor; false, and nothing changed, otherwise.
  @usableFromInline
  @inline(__always)
  func tryAcquireUnshared() -> Bool {
    guard !isShared, tryAcquire() else { return false }
    if isShared {
      releaseAccess()
      return false
    }
    return true
  }

  /// Runs on the calling thread, and releases the access.
  ///
  /// Precondition: the caller has access, and no actor can run jobs on the executor.
  @inlinable
  func runUnshared<Value, Failure: Error>(
    _ observer: (any RunObserver)?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    noteEntry()
    let before = enterBlock()
    observer?.runWillBegin()
    defer {
      observer?.runWillEnd()
      leaveBlock(to: before)
      releaseAccess()
    }
    return try body()
  }

  @usableFromInline
  func enterBlock() -> UnsafeMutableRawPointer? { ThreadBlock.enter(self) }

  @usableFromInline
  func leaveBlock(to before: UnsafeMutableRawPointer?) { ThreadBlock.leave(to: before) }

  /// Releases exclusive access.
  ///
  /// Precondition: the caller has access and runs on the executor.
  @usableFromInline
  @inline(__always)
  func releaseAccess() {
    let released = access.compareExchange(
      expected: AccessState.running, desired: AccessState.idle, ordering: .releasing
    ).exchanged
    if !released { handOver() }
  }

  /// Acquires exclusive access, or appends a waiter to the queue.
  ///
  /// - Returns: nil if access was acquired; otherwise the waiter, which the caller awaits on the executor.
  @usableFromInline
  func acquireOrEnqueue() -> Waiter? {
    queue.withLock { queue in
      if markContended() {
        access.store(AccessState.running, ordering: .relaxed)
        return nil
      }
      let waiter = Waiter()
      queue.append(.waiter(waiter))
      return waiter
    }
  }

  /// Appends a block to the queue, or to the suspended blocks while the executor is suspended.
  func append(_ block: @escaping @Sendable () -> Void) {
    let starts = queue.withLock { queue in
      if queue.suspended != nil {
        queue.suspended?.append(block)
        return false
      }
      return append(block, to: &queue)
    }
    if starts { scheduleDrain() }
  }

  /// Appends a block to the queue. Precondition: the caller has the queue's lock.
  ///
  /// - Returns: true if the caller must schedule the drain.
  func append(_ block: @escaping @Sendable () -> Void, to queue: inout ExecutorQueue) -> Bool {
    queue.append(.block(block))
    guard markContended() else { return false }
    queue.drain = .scheduled
    return true
  }

  /// Removes blocks from the queue to run them early.
  func takeBlocks(before waiter: Waiter) -> [@Sendable () -> Void] {
    queue.withLock { $0.takeBlocks(before: waiter) }
  }

  /// Makes the owner of the access read the queue before it releases the access.
  ///
  /// Precondition: the caller has the queue's lock. Code without the lock changes the state between idle and running
  /// only.
  ///
  /// - Returns: true if access was free; the caller has it then.
  private func markContended() -> Bool {
    access.exchange(AccessState.contended, ordering: .acquiringAndReleasing) == AccessState.idle
  }

  /// Hands the access over to the first entry of the queue, or releases it if the queue is empty.
  @usableFromInline
  func handOver() {
    var next: Waiter?
    let drains = queue.withLock { queue in
      if queue.startsWithBlock {
        queue.drain = .scheduled
        return true
      }
      next = popWaiter(&queue)
      return false
    }
    if drains { scheduleDrain() }
    next?.grantAccess()
  }

  private func popWaiter(_ queue: inout ExecutorQueue) -> Waiter? {
    let next = queue.popFirst()
    let empty = queue.isEmpty
    guard case .waiter(let waiter)? = next else {
      access.store(AccessState.idle, ordering: .releasing)
      return nil
    }
    if empty { access.store(AccessState.running, ordering: .releasing) }
    return waiter
  }

  /// Starts a task that runs the blocks at the head of the queue.
  ///
  /// Blocks run in a task of their own: they must not see the task-local values or the cancellation of the task that
  /// released the access.
  func scheduleDrain() {
    if let defaultActor {
      // The drain has access, so that no other code begins to share the executor before it ends.
      Task.detached(executorPreference: waitingThreads) {
        await self.drain(on: self.isShared ? defaultActor : nil)
      }
    } else {
      // Begins on the main queue, so that blocks keep their order with those that programs give to the queue itself.
      let drain: @Sendable @MainActor () async -> Void = { await self.drainOnMain() }
      Task.detached(operation: drain)
    }
  }

  @MainActor private func drainOnMain() async { await drain(on: MainActor.shared) }

  private func drain(on actor: isolated (any Actor)?) async {
    let claimed = queue.withLock { queue in
      guard queue.drain == .scheduled else { return false }
      queue.drain = .running
      return true
    }
    guard claimed else { return }
    noteEntry()
    var count = 0
    while let block = nextBlock() {
      ThreadBlock.run(as: self, block)
      count += 1
      if count.isMultiple(of: Self.blocksPerVisit) { await Task.yield() }
    }
  }

  /// The next block of the queue; nil after the access was handed over or released.
  private func nextBlock() -> (@Sendable () -> Void)? {
    var waiter: Waiter?
    let block: (@Sendable () -> Void)? = queue.withLock { queue in
      if queue.startsWithBlock, case .block(let block)? = queue.popFirst() { return block }
      queue.drain = .none
      waiter = popWaiter(&queue)
      return nil
    }
    waiter?.grantAccess()
    return block
  }
}
