internal import Synchronization

/// A lock around a state, as in the module `os`. Copies are the same lock.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
  // Guard: the mutex of the box.
  private final class Box {
    let mutex: Mutex<Void>
    var state: State

    init(_ state: State) {
      mutex = Mutex(())
      self.state = state
    }
  }

  private let box: Box

  /// Makes a lock around a state that may not leave it.
  public init(uncheckedState state: State) { box = Box(state) }

  /// Runs a closure with the state, alone.
  public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try box.mutex.withLock { _ in try body(&box.state) }
  }

  /// Runs a closure with the state, alone.
  public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result
  {
    try withLockUnchecked(body)
  }

  /// Runs a closure with the state, alone; nil at once if another thread has it.
  public func withLockIfAvailableUnchecked<Result>(
    _ body: (inout State) throws -> Result
  ) rethrows -> Result? {
    try box.mutex.withLockIfAvailable { _ in try body(&box.state) }
  }

  /// Runs a closure with the state, alone; nil at once if another thread has it.
  public func withLockIfAvailable<Result: Sendable>(
    _ body: @Sendable (inout State) throws -> Result
  ) rethrows -> Result? {
    try withLockIfAvailableUnchecked(body)
  }
}

extension OSAllocatedUnfairLock where State: Sendable {
  /// Makes a lock around a state.
  public init(initialState state: State) { self.init(uncheckedState: state) }
}

extension OSAllocatedUnfairLock where State == () {
  /// Makes a lock around nothing.
  public init() { self.init(uncheckedState: ()) }

  /// Runs a closure, alone.
  public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
    try withLockUnchecked { _ in try body() }
  }

  /// Runs a closure, alone.
  public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withLockUnchecked { _ in try body() }
  }
}
