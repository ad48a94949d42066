import Dispatch

// The runtime's own answer to "is this executor current?". The public questions trap on a no; this one
// asks the executor object's `isIsolatingCurrentContext()` instead of trapping, and ours always decides.
@_silgen_name("swift_task_isOnExecutor")
func runtimeIsOnExecutor<Executor: SerialExecutor>(_ executor: Executor) -> Bool

/// A default actor whose executor an executor lends out: only default actors are entered without a queue.
///
/// The conformance to `SerialExecutor` exists for `runtimeIsOnExecutor` alone, which compares identities:
/// the actor still runs on its default executor, and nothing is ever enqueued through the conformance.
@usableFromInline
actor ExecutorActor: SerialExecutor {
  @usableFromInline nonisolated var serialExecutor: UnownedSerialExecutor { unownedExecutor }

  @usableFromInline
  init() {}

  @usableFromInline
  nonisolated func enqueue(_ job: consuming ExecutorJob) {
    fatalError("An executor's actor runs on its default executor; use its unownedExecutor.")
  }

  @usableFromInline
  nonisolated func isIsolatingCurrentContext() -> Bool? { false }

  nonisolated var isCurrent: Bool { runtimeIsOnExecutor(self) }
}

/// Asks the same question of the main actor's executor, whose own answer to a no is a trap.
///
/// Never instantiated: the main executor's address is passed under this type, so that the runtime compares
/// the address and, when it differs, asks this type instead of the main executor. No stored state is read.
final class MainProbe: SerialExecutor {
  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    fatalError("The main actor's probe runs nothing.")
  }

  func isIsolatingCurrentContext() -> Bool? {
    // Inside a task the runtime has compared executors, and the answer was no. Outside of one, plain
    // blocks of the main queue are on the main actor as well.
    withUnsafeCurrentTask { $0 == nil } && MainQueue.isCurrent
  }

  static var isCurrent: Bool {
    let words = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self)
    guard let address = UnsafeRawPointer(bitPattern: words.0) else { return MainQueue.isCurrent }
    return Unmanaged<MainProbe>.fromOpaque(address)._withUnsafeGuaranteedRef {
      runtimeIsOnExecutor($0)
    }
  }
}

/// Whether a plain thread is executing a block of the main queue; its thread may be any after an async main.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
