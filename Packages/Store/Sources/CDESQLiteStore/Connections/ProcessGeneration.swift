import Foundation
import Synchronization

/// Tells a process from the one it was forked from.
///
/// The child of a fork has its parent's connections, but none of its locks on files: what it writes, and
/// even what it closes, may damage the store. Asking for the process's number costs a system call, so forks
/// are counted instead: by the child itself, before `fork()` returns there.
enum ProcessGeneration {
  private static let forks = Atomic<Int>(0)
  private static let isCounting =
    pthread_atfork(nil, nil, { ProcessGeneration.forks.wrappingAdd(1, ordering: .relaxed) }) == 0

  static var current: Int {
    _ = isCounting
    return forks.load(ordering: .relaxed)
  }
}
