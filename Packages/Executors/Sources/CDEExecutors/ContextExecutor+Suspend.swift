/// Suspending an executor's blocks, for tests that decide when queued work runs.
extension ContextExecutor {
  /// Suspends the execution of blocks that are enqueued from now on.
  ///
  /// Blocks that are in the queue already still run. Runs, waits and the jobs of actors that share the executor are
  /// not suspended: they run before suspended blocks.
  ///
  /// - Returns: false if the executor was suspended already; the call then changes nothing.
  @_spi(CDE) public func suspend() -> Bool {
    queue.withLock { queue in
      guard queue.suspended == nil else { return false }
      queue.suspended = []
      return true
    }
  }

  /// How many blocks are suspended.
  @_spi(CDE) public var suspendedBlockCount: Int { queue.withLock { $0.suspended?.count ?? 0 } }

  /// Moves the first suspended block to the end of the queue.
  ///
  /// - Returns: false if no block was suspended.
  @_spi(CDE) public func resumeNext() -> Bool {
    let (found, starts) = queue.withLock { queue in
      guard let suspended = queue.suspended, let block = suspended.first else { return (false, false) }
      queue.suspended?.removeFirst()
      return (true, append(block, to: &queue))
    }
    if starts { scheduleDrain() }
    return found
  }

  /// Ends the suspension, and moves all suspended blocks to the queue in their order.
  @_spi(CDE) public func resume() {
    let starts = queue.withLock { queue in
      let suspended = queue.suspended ?? []
      queue.suspended = nil
      return suspended.reduce(false) { starts, block in append(block, to: &queue) || starts }
    }
    if starts { scheduleDrain() }
  }
}
