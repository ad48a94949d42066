@_spi(CDE) internal import CDEExecutors
internal import CDEModelRuntime

/// Contexts that read in parallel. The pool makes a limited number of them when they are needed, and assigns them in the
/// order of the requests.
nonisolated final class ReaderPool: Sendable {
  private typealias Continuation = CheckedContinuation<NSManagedObjectContext, any Error>

  private struct State {
    var idle: [NSManagedObjectContext] = []
    var made = 0
    var waiting: [(id: Int, continuation: Continuation)] = []
    var lastID = 0
    /// Cancelled before they were added to `waiting`.
    var cancelled: Set<Int> = []
  }

  private let container: NSPersistentContainer
  private let limit: Int
  private let state = Lock(State())

  init(container: NSPersistentContainer, limit: Int) {
    self.container = container
    self.limit = max(limit, 1)
  }

  /// Runs a read on a context that no other operation uses meanwhile.
  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    let context = try await acquire()
    defer { release(context) }
    return try await context.perform {
      defer { Self.clear(context) }
      let value = try operation.run(in: context)
      if context.hasChanges {
        throw DatabaseError(
          .changesInRead,
          "A closure given to read changed objects. Nothing of it was kept: change objects in "
            + "transaction, insert or update.")
      }
      return value
    }
  }

  /// The next read must not see objects as this one left them.
  private static func clear(_ context: NSManagedObjectContext) {
    if context.hasChanges || !context.registeredObjects.isEmpty { context.reset() }
  }

  private func acquire() async throws -> NSManagedObjectContext {
    enum Outcome {
      case context(NSManagedObjectContext)
      case make
      case wait(Int)
    }
    let outcome: Outcome = state.withLock { state in
      if let context = state.idle.popLast() { return .context(context) }
      if state.made < limit {
        state.made += 1
        return .make
      }
      state.lastID += 1
      return .wait(state.lastID)
    }
    switch outcome {
    case .context(let context): return context
    case .make:
      let context = container.newBackgroundContext()
      context.name = "reader"
      return context
    case .wait(let id): return try await wait(id)
    }
  }

  private func wait(_ id: Int) async throws -> NSManagedObjectContext {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: Continuation) in
        enum Outcome {
          case context(NSManagedObjectContext)
          case cancelled
          case later
        }
        let outcome: Outcome = state.withLock { state in
          if state.cancelled.remove(id) != nil { return .cancelled }
          // A context may have been returned in the meantime, when there was no waiter to take it.
          if let context = state.idle.popLast() { return .context(context) }
          state.waiting.append((id, continuation))
          return .later
        }
        switch outcome {
        case .context(let context): continuation.resume(returning: context)
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .later: break
        }
      }
    } onCancel: {
      let continuation: Continuation? = state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.waiting.remove(at: index).continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  private func release(_ context: NSManagedObjectContext) {
    let continuation: Continuation? = state.withLock { state in
      if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
      state.idle.append(context)
      return nil
    }
    continuation?.resume(returning: context)
  }
}
