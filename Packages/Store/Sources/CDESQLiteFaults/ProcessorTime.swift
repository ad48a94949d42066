internal import Foundation

/// The time that processors spent on code, which other processes do not lengthen much.
///
/// A test that compares it does not depend on how busy the machine is.
@_spi(CDE) public enum ProcessorTime {
  /// The time spent on the calling thread since it started.
  public static var ofThread: Duration { read(CLOCK_THREAD_CPUTIME_ID) }

  /// The time spent on all threads of the process since it started.
  public static var ofProcess: Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The least time that a body took in three runs on the calling thread.
  public static func least(_ body: () throws -> Void) rethrows -> Duration {
    var best: Duration?
    for _ in 0..<3 {
      let start = ofThread
      try body()
      let time = ofThread - start
      best = best.map { min($0, time) } ?? time
    }
    return best!
  }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// Has the process killed, from a thread of its own, after it has used some more time of processors, whatever it is doing then.
///
/// - Parameter delay: microseconds. The thread looks each tenth of a millisecond, and uses some time itself, so a process that waits is killed, too.
@_spi(CDE) public func killThisProcess(afterMicroseconds delay: UInt32) {
  let end = ProcessorTime.ofProcess + .microseconds(delay)
  Thread.detachNewThread {
    while ProcessorTime.ofProcess < end { usleep(100) }
    kill(getpid(), SIGKILL)
  }
}
