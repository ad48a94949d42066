import Dispatch

// The runtime's check whether an executor is current. The public checks trap if it is not. This one calls the
// executor object's `isIsolatingCurrentContext()` instead, which our executors implement without a trap.
@_silgen_name("swift_task_isOnExecutor")
func runtimeIsOnExecutor<Executor: SerialExecutor>(_ executor: Executor) -> Bool

/// The default actor whose executor a `ContextExecutor` shares: the runtime enters default actors without `enqueue`.
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

/// The same check for the main actor's executor, which itself traps if it is not current.
///
/// Never instantiated: the main executor's address is passed under this type. The runtime compares the address and,
/// if it differs, calls this type's `isIsolatingCurrentContext()` instead of the main executor's. No stored state is read.
final class MainProbe: SerialExecutor {
  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    fatalError("The main actor's probe runs nothing.")
  }

  func isIsolatingCurrentContext() -> Bool? {
    // Inside a task the runtime has compared executors, and they differ. Outside of a task, plain blocks of the main
    // queue are on the main actor as well.
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

/// Whether the thread runs a block of the main queue. After an async main that may be any thread.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
