import Foundation
import Synchronization

/// Distinguishes a process from the process that forked it.
///
/// The child of a fork has its parent's connections, but none of its file locks. Its writes, and even its
/// closing of connections, may damage the store. The process's number costs a system call, so forks are
/// counted instead: the child counts before `fork()` returns there.
enum ProcessGeneration {
  private static let forks = Atomic<Int>(0)
  private static let isCounting =
    pthread_atfork(nil, nil, { ProcessGeneration.forks.wrappingAdd(1, ordering: .relaxed) }) == 0

  static var current: Int {
    _ = isCounting
    return forks.load(ordering: .relaxed)
  }
}
