#if CDE_THREAD_SANITIZER
  #if canImport(Glibc)
    public import Glibc
  #elseif canImport(Musl)
    public import Musl
  #elseif canImport(Darwin)
    public import Darwin
  #endif

  /// The lock of every layer, in the form that Thread Sanitizer understands.
  ///
  /// The sanitizer does not see into the standard library's `Mutex`, which is built without it, and takes
  /// what that guards for racing. Built with `-D CDE_THREAD_SANITIZER` the lock is one it knows.
  @_spi(CDE) public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Guard: `value` is touched with `mutex` held only.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Makes a lock around a value.
    @inlinable
    public init(_ initial: consuming sending Value) {
      mutex = .allocate(capacity: 1)
      value = .allocate(capacity: 1)
      value.initialize(to: initial)
      pthread_mutex_init(mutex, nil)
    }

    @inlinable
    deinit {
      pthread_mutex_destroy(mutex)
      value.deinitialize(count: 1)
      value.deallocate()
      mutex.deallocate()
    }

    /// Runs a closure with the guarded value. No other thread has it meanwhile.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }

    /// Runs a closure with the guarded value; returns nil at once when another thread has it.
    @inlinable
    public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard pthread_mutex_trylock(mutex) == 0 else { return nil }
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  }
#else
  public import Synchronization

  /// The lock of every layer: the standard library's `Mutex` under a name of our own, so that its
  /// implementation is decided here. Not recursive.
  @_spi(CDE) public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Guard: the mutex itself.
    @usableFromInline let mutex: Mutex<Value>

    /// Makes a lock around a value.
    @inlinable
    public init(_ initial: consuming sending Value) {
      mutex = Mutex(initial)
    }

    /// Runs a closure with the guarded value, alone.
    @inlinable @inline(__always)
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }

    /// Runs a closure with the guarded value, alone; nil at once when another thread has it.
    @inlinable @inline(__always)
    public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      try mutex.withLockIfAvailable(body)
    }
  }
#endif
