/// Holding an executor's blocks back, for tests that say when queued work happens.
extension ContextExecutor {
  /// Keeps blocks that are enqueued from now on out of the line until they are released.
  ///
  /// Blocks that stand in line already still run. Runs, waits and the jobs of actors that share the executor
  /// are not held: they overtake what is.
  ///
  /// - Returns: false when the executor was held before, and nothing is different now.
  @_spi(CDE) public func hold() -> Bool {
    line.withLock { line in
      guard line.held == nil else { return false }
      line.held = []
      return true
    }
  }

  /// How many blocks are held.
  @_spi(CDE) public var heldBlocks: Int { line.withLock { $0.held?.count ?? 0 } }

  /// Puts the held block that was enqueued first into the line, where it runs in turn.
  ///
  /// - Returns: false when there was none.
  @_spi(CDE) public func releaseNext() -> Bool {
    let (found, starts) = line.withLock { line in
      guard let held = line.held, let block = held.first else { return (false, false) }
      line.held?.removeFirst()
      return (true, admit(block, to: &line))
    }
    if starts { scheduleDrain() }
    return found
  }

  /// Ends the holding, and puts all held blocks into the line in their order.
  @_spi(CDE) public func release() {
    let starts = line.withLock { line in
      let held = line.held ?? []
      line.held = nil
      return held.reduce(false) { starts, block in admit(block, to: &line) || starts }
    }
    if starts { scheduleDrain() }
  }
}
