internal import CDETaskABI

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The executor whose block the thread runs.
///
/// The runtime knows the executor of the current job only. An executor that users write over a `ContextExecutor` runs its
/// jobs inside blocks of the `ContextExecutor`, and the runtime then names the user's. The holder of a reservation stays
/// on its own actor's executor. In both cases the thread is on the `ContextExecutor` too.
enum ThreadBlock {
  private static let key = makeThreadSpecificKey()

  static var current: ContextExecutor? {
    pthread_getspecific(key).map { Unmanaged<ContextExecutor>.fromOpaque($0).takeUnretainedValue() }
  }

  static func isIn(_ executor: ContextExecutor) -> Bool {
    guard let entered = pthread_getspecific(key) else { return false }
    if entered == Unmanaged.passUnretained(executor).toOpaque() { return true }
    // The main actor is one actor: reserved for one of its executors, it is reserved for all of them.
    return executor.isMain
      && Unmanaged<ContextExecutor>.fromOpaque(entered)._withUnsafeGuaranteedRef { $0.isMain }
  }

  /// Begins a block of an executor on the thread.
  ///
  /// - Returns: The argument for `leave(to:)`, on the same thread.
  static func enter(_ executor: ContextExecutor?) -> UnsafeMutableRawPointer? {
    let before = pthread_getspecific(key)
    pthread_setspecific(key, executor.map { Unmanaged.passUnretained($0).toOpaque() })
    return before
  }

  static func leave(to before: UnsafeMutableRawPointer?) { pthread_setspecific(key, before) }

  /// Runs a body as a block of an executor, or of none with nil: a waiting thread may run the work of other
  /// executors.
  static func run(as executor: ContextExecutor?, _ body: () -> Void) {
    let before = enter(executor)
    body()
    leave(to: before)
  }
}

/// The executor whose job the thread runs, by its address; zero if the code is isolated to no actor.
func currentExecutor() -> UInt { UInt(cde_current_executor()) }
