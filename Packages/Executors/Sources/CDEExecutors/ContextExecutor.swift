import Synchronization

/// Where one context's work happens: actor jobs and blocks, one at a time.
///
/// An executor owns a default actor and shares that actor's executor. Other actors return ``unownedExecutor`` as
/// their own: a call of such an actor costs as much as a call of a default actor. Blocks, runs and waits go through a
/// queue of the executor, first in, first out. Actor jobs do not: they run between the entries of that queue.
///
/// A main executor does the same over the main actor.
public final class ContextExecutor: Sendable {
  /// The executor's default actor; none for an executor over the main actor.
  @usableFromInline let defaultActor: ExecutorActor?
  @usableFromInline let serialExecutor: UnownedSerialExecutor
  /// The exclusive access of blocks, runs and waits: a value of `AccessState`.
  @usableFromInline let access = Atomic<Int>(0)
  @usableFromInline let entered = Atomic<Bool>(false)
  @usableFromInline let blocksThreads = Atomic<Bool>(false)
  /// Whether actors may run jobs on the executor. Changes once, by code that has the exclusive access.
  @usableFromInline let shared: Atomic<Bool>
  /// How many awaited runs found the executor free, and began on their callers' threads.
  @usableFromInline let inlineRuns: Atomic<UInt32>
  /// When one of these runs last left its thread to other tasks.
  let lastTurn = Atomic<Int64>(0)
  private let _owner = Atomic<UInt>(0)
  let queue = Lock(ExecutorQueue())
  let waitingThreads = WaitingThreads()
  let reservations: ActorReservations
  private let labels: Lock<Labels>

  private struct Labels {
    var name: String
    var note: String?
  }

  private init(defaultActor: ExecutorActor?, name: String, note: String?) {
    self.defaultActor = defaultActor
    shared = Atomic(defaultActor == nil)
    inlineRuns = Atomic(Self.newTurn())
    serialExecutor = defaultActor?.serialExecutor ?? MainActor.sharedUnownedExecutor
    self.labels = Lock(Labels(name: name, note: note))
    reservations = defaultActor == nil ? .main : ActorReservations()
  }

  /// Makes a private executor with a default actor of its own. Costs a few allocations, and no thread.
  ///
  /// - Parameters:
  ///   - name: Appears in messages about misuse.
  ///   - note: More text for those messages.
  public convenience init(name: String = "private executor", note: String? = nil) {
    self.init(defaultActor: ExecutorActor(), name: name, note: note)
  }

  /// Makes an executor over the main actor. Every such executor shares the main actor; each has a queue of its own.
  public static func main(name: String = "main executor", note: String? = nil) -> ContextExecutor {
    ContextExecutor(defaultActor: nil, name: name, note: note)
  }

  /// The name in messages about misuse. Settable from any thread.
  public var name: String {
    get { labels.withLock { $0.name } }
    set { labels.withLock { $0.name = newValue } }
  }

  /// More text for messages about misuse, or nil. Settable from any thread.
  public var note: String? {
    get { labels.withLock { $0.note } }
    set { labels.withLock { $0.note = newValue } }
  }

  /// Whether the executor's blocks and awaited runs may wait for something else than the processor, such as a network. False at first.
  ///
  /// If true, they run on threads of their own (``BlockingThreads``), and hold none of those that tasks share. Calls of actors that share
  /// the executor run where their callers' tasks run: prefer ``BlockingThreads/shared`` there. Has no effect on an executor of the
  /// main actor. Settable from any thread, for what begins later.
  public var mayBlock: Bool {
    get { blocksThreads.load(ordering: .relaxed) }
    set {
      blocksThreads.store(newValue, ordering: .relaxed)
      waitingThreads.blocks.store(newValue, ordering: .relaxed)
    }
  }

  /// Whether a run may begin on the caller's thread, without exclusive access.
  @usableFromInline
  @inline(__always)
  var isFreeForCaller: Bool { !isBusy && !blocksThreads.load(ordering: .relaxed) }

  /// Whether this executor is the main actor's.
  public var isMain: Bool { defaultActor == nil }

  /// The executor that actors sharing this executor return as their own.
  ///
  /// Valid as long as the executor lives: the actor must keep the executor alive.
  @inlinable
  public var unownedExecutor: UnownedSerialExecutor {
    // The first call of an actor on the executor reads this. From then on the executor guards the actor's state.
    noteEntry()
    if !isShared { beginSharing() }
    return serialExecutor
  }

  /// Whether actors may run jobs on the executor. Until then exclusive access alone orders its work, and no work needs the executor's
  /// actor.
  @usableFromInline
  @inline(__always)
  var isShared: Bool { shared.load(ordering: .relaxed) }

  /// Lets actors run jobs on the executor from now on.
  ///
  /// Call this in the initialiser of an actor that returns ``unownedExecutor`` as its own. Until then exclusive access alone orders
  /// the executor's work, which costs less than an actor's lock. Waits for work that has access. The first call of an actor does the same
  /// if its initialiser did not.
  public func share() { beginSharing() }

  @usableFromInline
  func beginSharing() {
    // Within the executor's own work no actor runs a job. The first call of one comes from elsewhere.
    if isShared || ThreadBlock.isIn(self) { return }
    if tryAcquire() {
      shared.store(true, ordering: .relaxed)
      releaseAccess()
    } else {
      wait(for: acquireOrEnqueue()) { self.shared.store(true, ordering: .relaxed) }
    }
  }

  /// Whether the caller runs on this executor: in a job of an actor that shares the executor, in a block or a
  /// run, or in code called from one of those. Never traps, on any thread. Costs about 10 ns if true.
  ///
  /// While code waits in `runAndWait` for another executor, its thread is on that other executor only. If the code
  /// belongs to an actor, the thread stays on that actor too.
  public var isCurrent: Bool {
    guard let defaultActor else { return MainProbe.isCurrent || ThreadBlock.isIn(self) }
    guard defaultActor.isCurrent || ThreadBlock.isIn(self) else { return false }
    noteEntry()
    return true
  }

  /// The executor whose block the calling thread runs; nil outside of blocks, and in calls of actors that share an executor.
  ///
  /// A block that runs at once because its caller is on the executor already is part of the caller's block.
  @_spi(CDE) public static var ofCurrentBlock: ContextExecutor? { ThreadBlock.current }

  /// What the executor serves, by its address, for ``ofCurrentBlock``; zero at first.
  @_spi(CDE) public var owner: UInt {
    get { _owner.load(ordering: .acquiring) }
    set { _owner.store(newValue, ordering: .releasing) }
  }

  /// Whether code that checks the actor of its thread finds the executor's: false in a nested wait that runs on another thread
  /// than the main one, in the middle of a blocked job of the main actor.
  ///
  /// Precondition: the caller is on the executor.
  public var isOnOwnThread: Bool { defaultActor != nil || MainProbe.isCurrent }

  /// Whether any work has ever run on this executor: blocks, runs, waits, or calls of actors that share it.
  /// Until then, the state that the executor guards belongs to the code that made the executor.
  public var wasEntered: Bool { entered.load(ordering: .acquiring) }

  /// Traps with the message unless the caller runs on this executor. Always checks, in release builds too.
  public func preconditionCurrent(
    _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
  ) {
    if !isCurrent { failPrecondition(message(), file: file, line: line) }
  }

  @usableFromInline
  @inline(__always)
  func noteEntry() {
    if !entered.load(ordering: .relaxed) { entered.store(true, ordering: .releasing) }
  }
}

extension ContextExecutor: CustomStringConvertible {
  /// The name in quotes, and the note in parentheses where there is one.
  public var description: String {
    labels.withLock { labels in
      let name = "\"\(labels.name)\""
      return labels.note.map { "\(name) (\($0))" } ?? name
    }
  }
}
