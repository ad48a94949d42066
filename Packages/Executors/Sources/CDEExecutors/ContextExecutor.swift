import Synchronization

/// Where one context's work happens: actor jobs and blocks, one at a time.
///
/// An executor owns a default actor and lends out its executor. An actor that returns ``unownedExecutor`` as its
/// own is entered without a queue, so a call of one of its methods costs what any actor call costs. Blocks
/// and runs have a line of their own, first in first out, which shares the executor with the actor's jobs.
///
/// The main executor is the same thing over the main actor.
public final class ContextExecutor: Sendable {
  /// The executor's default actor; none for an executor over the main actor.
  @usableFromInline let core: ExecutorActor?
  @usableFromInline let serialExecutor: UnownedSerialExecutor
  /// The turn: free, held, or held with a line that only the lock may look at.
  @usableFromInline let turn = Atomic<Int>(0)
  @usableFromInline let entered = Atomic<Bool>(false)
  let line = Lock(Line())
  let waitingThreads = WaitingThreads()
  let lender: Lender
  private let labels: Lock<Labels>

  private struct Labels {
    var name: String
    var note: String?
  }

  private init(core: ExecutorActor?, name: String, note: String?) {
    self.core = core
    serialExecutor = core?.serialExecutor ?? MainActor.sharedUnownedExecutor
    self.labels = Lock(Labels(name: name, note: note))
    lender = core == nil ? .main : Lender()
  }

  /// Makes a private executor with a default actor of its own. Costs a few allocations, and no thread.
  ///
  /// - Parameters:
  ///   - name: Stands in messages about misuse.
  ///   - note: A word more for those messages.
  public convenience init(name: String = "private executor", note: String? = nil) {
    self.init(core: ExecutorActor(), name: name, note: note)
  }

  /// Makes an executor over the main actor. Every such executor shares the main actor; each has a line of its own.
  public static func main(name: String = "main executor", note: String? = nil) -> ContextExecutor {
    ContextExecutor(core: nil, name: name, note: note)
  }

  /// Stands in messages about misuse. Settable from anywhere.
  public var name: String {
    get { labels.withLock { $0.name } }
    set { labels.withLock { $0.name = newValue } }
  }

  /// A word more for messages about misuse, or nil. Settable from anywhere.
  public var note: String? {
    get { labels.withLock { $0.note } }
    set { labels.withLock { $0.note = newValue } }
  }

  /// Whether this executor is the main actor's.
  public var isMain: Bool { core == nil }

  /// The executor that actors sharing this executor return as their own.
  ///
  /// Valid as long as the executor lives: the actor must keep the executor alive.
  @inlinable
  public var unownedExecutor: UnownedSerialExecutor {
    // Asked for by the first call of an actor on the executor: from then on the executor guards what is its.
    noteEntry()
    return serialExecutor
  }

  /// Whether the caller runs on this executor: in a job of an actor that shares its executor, in a block or a
  /// run, or inline inside one of those. Never traps, from any thread. Costs about 10 ns on a yes.
  ///
  /// A thread that waits in `runAndWait` for another executor runs on that other executor meanwhile, unless the caller belongs
  /// to an actor: it runs there and on the other executor.
  public var isCurrent: Bool {
    guard let core else { return MainProbe.isCurrent || ThreadBlock.isIn(self) }
    guard core.isCurrent || ThreadBlock.isIn(self) else { return false }
    noteEntry()
    return true
  }

  /// Whether any work has ever been seen on this executor: blocks, runs, and calls of actors that share its
  /// executor. Until then, what the executor guards still belongs to the code that made the executor.
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
