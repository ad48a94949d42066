#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The wait of code that is below on the calling thread's stack, while the thread runs jobs of the executor that the
/// code waits for.
///
/// The code can't go on before the job ends, even if its own wait is over. No other thread depends on that unless the
/// job itself waits. Therefore the wait graph contains these waits only during waits of the jobs above: the thread
/// learns that a job has ended after the executor was left, and until then an edge would describe a wait that is
/// over.
final class StackedWait {
  /// The identity of the executor of the code that waits.
  let source: UInt
  let target: ContextExecutor
  let below: StackedWait?

  private init(from source: UInt, for target: ContextExecutor, above below: StackedWait?) {
    self.source = source
    self.target = target
    self.below = below
  }

  private static let key = makeThreadSpecificKey()

  /// The topmost such wait of the calling thread.
  static var current: StackedWait? {
    pthread_getspecific(key).map { Unmanaged<StackedWait>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs a body that runs jobs of an executor.
  ///
  /// - Parameter source: the executor of the caller's code; zero if it is on none: then no other wait depends on it.
  static func run<Value>(from source: UInt, for target: ContextExecutor, _ body: () -> Value) -> Value {
    if source == 0 { return body() }
    let before = pthread_getspecific(key)
    let wait = StackedWait(from: source, for: target, above: current)
    pthread_setspecific(key, Unmanaged.passUnretained(wait).toOpaque())
    return withExtendedLifetime(wait) {
      let value = body()
      pthread_setspecific(key, before)
      return value
    }
  }
}
