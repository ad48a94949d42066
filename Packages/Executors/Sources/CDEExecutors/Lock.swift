#if canImport(Glibc)
  public import Glibc
#elseif canImport(Musl)
  public import Musl
#elseif canImport(Darwin)
  public import Darwin
#endif

/// The lock of every layer: a POSIX mutex and what it guards, in one block of memory. Not recursive.
///
/// The standard library's `Mutex` is slow where threads outnumber processors. On Linux its waiters spin for many microseconds, also while
/// the thread that has it does not run. Then it is handed to the first waiter, and is taken until that thread has been woken. So threads
/// that wait for it once keep waiting: eight that saved over a server took twice the time. Thread Sanitizer does not see into it, either.
@_spi(CDE) public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Guard: `value` is touched with `mutex` held only.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// Makes a lock around a value. Costs an allocation.
  @inlinable
  public init(_ initial: consuming sending Value) {
    let alignment = max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<Value>.alignment)
    let offset = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) & ~(alignment - 1)
    // A value without a size has a byte as well: Thread Sanitizer notes accesses to it, which would be to another block.
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: offset + max(1, MemoryLayout<Value>.size), alignment: alignment)
    mutex = block.bindMemory(to: pthread_mutex_t.self, capacity: 1)
    value = (block + offset).bindMemory(to: Value.self, capacity: 1)
    value.initialize(to: initial)
    pthread_mutex_init(mutex, nil)
  }

  @inlinable
  deinit {
    pthread_mutex_destroy(mutex)
    value.deinitialize(count: 1)
    UnsafeMutableRawPointer(mutex).deallocate()
  }

  /// Runs a closure with the guarded value. No other thread has it meanwhile.
  @inlinable @inline(__always)
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }

  /// Runs a closure with the guarded value; returns nil at once when another thread has it.
  @inlinable @inline(__always)
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }

  /// Runs a closure with the guarded value; returns nil if another thread has it at each of 20 attempts.
  ///
  /// The calling thread lets others run between the attempts, and does not fall asleep. Falling asleep and waking up takes longer, for locks that are
  /// mostly taken for microseconds.
  @inlinable
  public borrowing func withLockIfSoonAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    var attempts = 20
    while pthread_mutex_trylock(mutex) != 0 {
      attempts -= 1
      if attempts == 0 { return nil }
      sched_yield()
    }
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
