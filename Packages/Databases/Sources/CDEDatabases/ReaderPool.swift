@_spi(CDE) internal import CDEExecutors
internal import CDEModelRuntime

/// Contexts that read beside each other: made when needed, a limited number, handed out in the order of
/// asking.
nonisolated final class ReaderPool: Sendable {
  private typealias Waiter = CheckedContinuation<NSManagedObjectContext, any Error>

  private struct State {
    var idle: [NSManagedObjectContext] = []
    var made = 0
    var waiting: [(ticket: Int, waiter: Waiter)] = []
    var nextTicket = 0
    /// Cancelled before they came to wait.
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
    let context = try await borrow()
    defer { giveBack(context) }
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

  private func borrow() async throws -> NSManagedObjectContext {
    enum Turn {
      case context(NSManagedObjectContext)
      case make
      case wait(Int)
    }
    let turn: Turn = state.withLock { state in
      if let context = state.idle.popLast() { return .context(context) }
      if state.made < limit {
        state.made += 1
        return .make
      }
      state.nextTicket += 1
      return .wait(state.nextTicket)
    }
    switch turn {
    case .context(let context): return context
    case .make:
      let context = container.newBackgroundContext()
      context.name = "reader"
      return context
    case .wait(let ticket): return try await wait(ticket)
    }
  }

  private func wait(_ ticket: Int) async throws -> NSManagedObjectContext {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (waiter: Waiter) in
        enum Answer {
          case context(NSManagedObjectContext)
          case cancelled
          case later
        }
        let answer: Answer = state.withLock { state in
          if state.cancelled.remove(ticket) != nil { return .cancelled }
          // A context may have been returned in the meantime, when there was no waiter to take it.
          if let context = state.idle.popLast() { return .context(context) }
          state.waiting.append((ticket, waiter))
          return .later
        }
        switch answer {
        case .context(let context): waiter.resume(returning: context)
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .later: break
        }
      }
    } onCancel: {
      let waiter: Waiter? = state.withLock { state in
        guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
          state.cancelled.insert(ticket)
          return nil
        }
        return state.waiting.remove(at: place).waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
  }

  private func giveBack(_ context: NSManagedObjectContext) {
    let waiter: Waiter? = state.withLock { state in
      if !state.waiting.isEmpty { return state.waiting.removeFirst().waiter }
      state.idle.append(context)
      return nil
    }
    waiter?.resume(returning: context)
  }
}
