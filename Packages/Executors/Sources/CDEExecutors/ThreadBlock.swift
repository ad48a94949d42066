internal import CDETaskABI

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Which lane's block the thread is in the middle of.
///
/// The runtime's answer names the executor that is active now. An executor that users write over a plain
/// lane runs its jobs inside the lane's blocks, and names itself; the borrower of a lane stays on its own. The thread
/// is on the lane all the same.
enum ThreadBlock {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else {
      fatalError("The process has no room for another thread-specific value.")
    }
    return key
  }()

  static var current: ContextLane? {
    pthread_getspecific(key).map { Unmanaged<ContextLane>.fromOpaque($0).takeUnretainedValue() }
  }

  static func isIn(_ lane: ContextLane) -> Bool {
    guard let entered = pthread_getspecific(key) else { return false }
    if entered == Unmanaged.passUnretained(lane).toOpaque() { return true }
    // The main actor that was lent for one of its lanes is kept for all of them.
    return lane.isMain && Unmanaged<ContextLane>.fromOpaque(entered)._withUnsafeGuaranteedRef { $0.isMain }
  }

  /// Begins a block of a lane on the thread.
  ///
  /// - Returns: What to hand to `leave(to:)`, on the same thread.
  static func enter(_ lane: ContextLane?) -> UnsafeMutableRawPointer? {
    let before = pthread_getspecific(key)
    pthread_setspecific(key, lane.map { Unmanaged.passUnretained($0).toOpaque() })
    return before
  }

  static func leave(to before: UnsafeMutableRawPointer?) { pthread_setspecific(key, before) }

  /// Runs a body as a block of a lane, or of none with nil: a waiting thread may run the work of other
  /// lanes.
  static func run(as lane: ContextLane?, _ body: () -> Void) {
    let before = enter(lane)
    body()
    leave(to: before)
  }
}

/// The executor whose job the thread runs, by its address; zero if it belongs to no actor.
func currentExecutor() -> UInt { UInt(cde_current_executor()) }
