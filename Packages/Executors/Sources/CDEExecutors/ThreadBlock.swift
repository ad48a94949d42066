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
/// lane runs its jobs inside the lane's blocks, and names itself; the thread is on the lane all the same.
enum ThreadBlock {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else {
      fatalError("The process has no room for another thread-specific value.")
    }
    return key
  }()

  static func isIn(_ lane: ContextLane) -> Bool {
    pthread_getspecific(key) == UnsafeMutableRawPointer(Unmanaged.passUnretained(lane).toOpaque())
  }

  /// Runs a body as a block of a lane, or, with nil, as nobody's: a thread that waits may do other lanes' work.
  static func run(as lane: ContextLane?, _ body: () -> Void) {
    let before = pthread_getspecific(key)
    pthread_setspecific(key, lane.map { Unmanaged.passUnretained($0).toOpaque() })
    body()
    pthread_setspecific(key, before)
  }
}
