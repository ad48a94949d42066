@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEModelRuntime
internal import Dispatch
internal import Foundation

/// The contexts that save by themselves, for the end of the process.
enum AutosavingContexts {
  private final class Entry: @unchecked Sendable {
    // Guard: the context is used on the executor alone; the reference is written by the initialiser and the deinit.
    private var reference = MemoryReference()
    let executor: ContextExecutor

    init(_ context: ModelContext, _ executor: ContextExecutor) {
      self.executor = executor
      reference.refer(to: context)
    }

    deinit { reference.refer(to: nil) }

    var context: ModelContext? { reference.object.map { unsafeDowncast($0, to: ModelContext.self) } }
  }

  private struct Table {
    var entries: [Entry] = []
    /// The number of entries at which those of freed contexts are removed.
    var limit = 64
  }

  private static let table = Lock(Table())

  /// Whether the end of the process is followed. Asked for once.
  private static let followsEnd: Bool = atexit { AutosavingContexts.saveAll() } == 0

  /// How long the end of the process waits for the actor of one context.
  private static let patience = DispatchTimeInterval.seconds(2)

  static func add(_ context: ModelContext, _ executor: ContextExecutor) {
    _ = followsEnd
    let entry = Entry(context, executor)
    table.withLock { table in
      if table.entries.count >= table.limit {
        table.entries.removeAll { $0.context == nil }
        table.limit = max(64, 2 * table.entries.count)
      }
      table.entries.append(entry)
    }
  }

  private static func saveAll() {
    for entry in table.withLock({ $0.entries }) {
      // The thread that ends the process may be on the context's actor, and no other code is then.
      if entry.executor.isCurrent {
        entry.context?.autosave()
        continue
      }
      let saved = DispatchSemaphore(value: 0)
      entry.executor.enqueue {
        entry.context?.autosave()
        saved.signal()
      }
      if saved.wait(timeout: .now() + patience) == .timedOut {
        Diagnostics.report(
          "The process ends while the actor of a context with autosaveEnabled is busy. Its unsaved changes are lost. Save before the "
            + "end, or let the actor's calls return.")
      }
    }
  }
}
