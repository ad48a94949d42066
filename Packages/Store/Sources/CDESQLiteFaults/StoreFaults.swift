internal import CDESQLite
@_spi(CDE) internal import CDEExecutors

/// Makes the files of one store fail in tests.
///
/// It is an SQLite file system with its own name. Stores opened with ``vfs`` use it to reach the real files,
/// and no other store does. Without a plan all operations work as usual, except that a sync does not wait for
/// the disk. It is only a step.
///
/// ```swift
/// let faults = StoreFaults()
/// let store = try SQLiteStore(schema: schema, configuration: .init(location: file, vfs: faults.vfs))
/// faults.begin()
/// try store.commit(transaction)
/// for step in faults.end() { print(step) }             // 1: lockIndex database …
/// ```
///
/// For tests. May be used from any thread, and by several connections at once. The order of the steps of
/// different threads is not determined. Open stores retain it. Before a store is open, its owner must retain
/// it.
public final class StoreFaults: Sendable {
  /// A fault that has happened.
  public struct Event: Sendable, Hashable, CustomStringConvertible {
    /// The step that failed.
    public let step: StoreStep
    /// The kind of fault.
    public let fault: StoreFault

    /// `diskFull at 12: write log`.
    public var description: String { "\(fault) at \(step)" }
  }

  private struct State {
    var plan = FaultPlan.none
    var isCounting = false
    var steps: [StoreStep] = []
    var events: [Event] = []
    /// The number of simulated deaths of the process.
    var deaths = 0
    var isDead = false
    /// Threads that were refused a lock and have not slept afterwards.
    var refused: Set<ThreadID> = []
  }

  private let state = Lock(State())
  let registration = Registration()

  /// The name for `SQLiteStore.Configuration.vfs`, or the option `CDESQLiteVFSOption`.
  public var vfs: String { registration.name }

  /// A file system without a plan.
  public init() { registration.register(for: self) }

  deinit { registration.unregister() }

  // MARK: Steering

  /// Starts a plan and counts steps from 1. Earlier steps and events are dropped.
  public func begin(_ plan: FaultPlan = .none) {
    state.withLock { state in
      state.plan = plan
      state.isCounting = true
      state.steps = []
      state.events = []
      state.isDead = false
    }
  }

  /// Ends the plan and the counting. Connections that failed because of a crash keep failing. New connections
  /// work.
  ///
  /// - Returns: the steps since ``begin(_:)``.
  @discardableResult
  public func end() -> [StoreStep] {
    state.withLock { state in
      state.plan = .none
      state.isCounting = false
      state.isDead = false
      return state.steps
    }
  }

  /// The current plan.
  public var plan: FaultPlan { state.withLock { $0.plan } }

  /// The steps since ``begin(_:)``, in their order.
  public var steps: [StoreStep] { state.withLock { $0.steps } }

  /// The faults since ``begin(_:)``, in their order. Calls that fail because of an earlier crash are not
  /// included.
  public var events: [Event] { state.withLock { $0.events } }

  // MARK: Requests of the file system

  /// Distinguishes files opened now from those opened before a crash.
  var life: Int { state.withLock { $0.deaths } }

  func isDead(since life: Int) -> Bool { state.withLock { $0.isDead || $0.deaths > life } }

  /// Decides whether a step is executed, and how.
  ///
  /// - Parameter life: the life in which the file was opened; `nil` for steps without an open file.
  func verdict(
    on operation: StoreStep.Operation, of file: StoreStep.File, since life: Int?
  ) -> Verdict {
    let verdict = decide(on: operation, of: file, since: life)
    if case .goesOn = verdict { return verdict }
    // SQLite passes on the system's last error number, which may belong to an older failure.
    cde_set_system_error(EIO)
    return verdict
  }

  private func decide(
    on operation: StoreStep.Operation, of file: StoreStep.File, since life: Int?
  ) -> Verdict {
    state.withLock { state in
      if state.isDead || life.map({ $0 < state.deaths }) == true { return .fails(operation.failure) }
      guard state.isCounting else { return .goesOn }
      let step = StoreStep(number: state.steps.count + 1, operation: operation, file: file)
      state.steps.append(step)
      guard let fault = state.plan.fault(of: step, after: state.events.count) else { return .goesOn }
      state.events.append(Event(step: step, fault: fault))
      if fault.isCrash {
        state.deaths += 1
        state.isDead = true
      }
      switch fault {
      case .diskFull: return .fails(SQLITE_FULL)
      case .ioError, .crash: return .fails(operation.failure)
      case .tornWrite, .crashInWrite: return .endsHalfway(operation.failure)
      case .busy:
        state.refused.insert(.current)
        return .fails(SQLITE_BUSY)
      }
    }
  }

  /// Whether the thread is about to wait for a lock that only the plan refuses.
  func takesRefusal() -> Bool { state.withLock { $0.refused.remove(.current) != nil } }
}

/// The decision about a step.
enum Verdict {
  case goesOn
  case fails(Int32)
  case endsHalfway(Int32)
}

extension StoreStep.Operation {
  /// SQLite's code for a failure of the operating system in the step.
  var failure: Int32 {
    switch self {
    case .open: SQLITE_CANTOPEN
    case .read: SQLITE_IOERR | 1 << 8
    case .write: SQLITE_IOERR | 3 << 8
    case .sync: SQLITE_IOERR | 4 << 8
    case .truncate: SQLITE_IOERR | 6 << 8
    case .size: SQLITE_IOERR | 7 << 8
    case .delete: SQLITE_IOERR | 10 << 8
    case .access: SQLITE_IOERR | 13 << 8
    case .lock: SQLITE_IOERR | 15 << 8
    case .lockIndex: SQLITE_IOERR | 20 << 8
    case .mapIndex: SQLITE_IOERR | 21 << 8
    }
  }
}
