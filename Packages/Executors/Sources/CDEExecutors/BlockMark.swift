#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which lane's block a thread is executing.
///
/// The runtime knows which executor a job is on, and no more. A block may itself run a job of an executor that somebody wrote
/// over a context (`perform` in its `enqueue`): the runtime then names that executor, and only this mark
/// still says that the lane is held.
enum BlockMark {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    precondition(code == 0, "The process has no thread-specific key left; a lane needs one.")
    return key
  }()

  /// Whether the thread is in a block of the lane that has this actor.
  static func isOn(_ actor: AnyObject) -> Bool {
    pthread_getspecific(key) == UnsafeMutableRawPointer(Unmanaged.passUnretained(actor).toOpaque())
  }

  /// Executes a block of the lane that has this actor; nil while a thread does other lanes' work.
  static func during<Result>(_ actor: AnyObject?, _ block: () -> Result) -> Result {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, actor.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
    defer { pthread_setspecific(key, outer) }
    return block()
  }
}
