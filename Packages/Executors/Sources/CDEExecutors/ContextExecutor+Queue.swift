/// The values of an executor's turn.
@usableFromInline
enum TurnState {
  /// The turn is free and the line is empty.
  @usableFromInline static let free = 0
  /// The turn is taken and the line is empty: a single exchange gives it back.
  @usableFromInline static let held = 1
  /// The turn is taken. Its owner looks at the line, under its lock, before it gives the turn back.
  @usableFromInline static let contended = 2
}

/// Blocks and runs that wait for their turn, in the order in which they were asked for.
struct Line {
  enum Entry {
    case block(@Sendable () -> Void)
    case ticket(Ticket)
  }

  enum Drain {
    case none, scheduled, running
  }

  private var entries: [Entry?] = []
  private var head = 0
  var drain = Drain.none
  /// Blocks that are kept out of the line, in the order of asking; nil unless the executor is held.
  var held: [@Sendable () -> Void]?

  var isEmpty: Bool { head == entries.count }

  var startsWithBlock: Bool {
    guard !isEmpty, case .block? = entries[head] else { return false }
    return true
  }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func popFirst() -> Entry? {
    guard !isEmpty else { return nil }
    let entry = entries[head]
    entries[head] = nil
    head += 1
    if head == entries.count {
      entries.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= entries.count {
      // Moving the rest only once it is the smaller half keeps popping constant on average.
      entries.removeSubrange(..<head)
      head = 0
    }
    return entry
  }

  /// Takes out the blocks that stand before a place in line; none if that has been reached already.
  mutating func takeBlocks(before ticket: Ticket) -> [@Sendable () -> Void] {
    let place = entries[head...].firstIndex {
      if case .ticket(let found)? = $0 { return found === ticket }
      return false
    }
    guard let place else { return [] }
    var blocks: [@Sendable () -> Void] = []
    let rest = entries[head..<place].filter {
      guard case .block(let block)? = $0 else { return true }
      blocks.append(block)
      return false
    }
    entries.replaceSubrange(head..<place, with: rest)
    return blocks
  }
}

/// A place in line: the task that holds it sleeps on the executor until the turn is handed to it.
@usableFromInline
final class Ticket: Sendable {
  private enum State {
    case waiting
    case sleeping(UnsafeContinuation<Void, Never>)
    case granted
  }

  private let state = Lock(State.waiting)

  func grant() {
    let sleeper = state.withLock { state in
      defer { state = .granted }
      if case .sleeping(let continuation) = state { return Optional(continuation) }
      return nil
    }
    sleeper?.resume()
  }

  /// Sleeps isolated to the caller's actor, so that waking up needs that actor alone and no other thread.
  @usableFromInline
  func turn(isolation: isolated (any Actor)? = #isolation) async {
    await withUnsafeContinuation { continuation in
      let granted = state.withLock { state in
        if case .granted = state { return true }
        state = .sleeping(continuation)
        return false
      }
      if granted { continuation.resume() }
    }
  }
}

extension ContextExecutor {
  /// How many blocks run before the jobs of actors that wait for the executor get their chance.
  static var blocksPerVisit: Int { 32 }

  /// Whether the turn is taken or waited for.
  @usableFromInline
  @inline(__always)
  var hasLine: Bool { turn.load(ordering: .acquiring) != TurnState.free }

  func takeTurnIfFree() -> Bool {
    turn.compareExchange(
      expected: TurnState.free, desired: TurnState.held, ordering: .acquiring
    ).exchanged
  }

  /// Gives the turn back, on the executor.
  @usableFromInline
  @inline(__always)
  func endTurn() {
    let released = turn.compareExchange(
      expected: TurnState.held, desired: TurnState.free, ordering: .releasing
    ).exchanged
    if !released { passTurn() }
  }

  /// Takes the turn, or a place in line.
  ///
  /// - Returns: nil with the turn taken; otherwise the place in line, which is redeemed on the executor.
  @usableFromInline
  func takeTurnOrTicket() -> Ticket? {
    line.withLock { line in
      if contend() {
        turn.store(TurnState.held, ordering: .relaxed)
        return nil
      }
      let ticket = Ticket()
      line.append(.ticket(ticket))
      return ticket
    }
  }

  func standInLine(_ block: @escaping @Sendable () -> Void) {
    let starts = line.withLock { line in
      if line.held != nil {
        line.held?.append(block)
        return false
      }
      return admit(block, to: &line)
    }
    if starts { scheduleDrain() }
  }

  /// Puts a block at the end of the line; true if its drain is the caller's to schedule. Only under the lock.
  func admit(_ block: @escaping @Sendable () -> Void, to line: inout Line) -> Bool {
    line.append(.block(block))
    guard contend() else { return false }
    line.drain = .scheduled
    return true
  }

  /// Takes blocks out of the line to run them early.
  func takeBlocks(before ticket: Ticket) -> [@Sendable () -> Void] {
    line.withLock { $0.takeBlocks(before: ticket) }
  }

  /// Makes the holder of the turn look at the line; true if there was none and the turn is the caller's.
  ///
  /// Only under the line's lock: those without it move the turn between free and held alone.
  private func contend() -> Bool {
    turn.exchange(TurnState.contended, ordering: .acquiringAndReleasing) == TurnState.free
  }

  @usableFromInline
  func passTurn() {
    var next: Ticket?
    let drains = line.withLock { line in
      if line.startsWithBlock {
        line.drain = .scheduled
        return true
      }
      next = popTicket(&line)
      return false
    }
    if drains { scheduleDrain() }
    next?.grant()
  }

  private func popTicket(_ line: inout Line) -> Ticket? {
    let next = line.popFirst()
    let empty = line.isEmpty
    guard case .ticket(let ticket)? = next else {
      turn.store(TurnState.free, ordering: .releasing)
      return nil
    }
    if empty { turn.store(TurnState.held, ordering: .releasing) }
    return ticket
  }

  /// Starts a task that runs the blocks at the head of the line: blocks must not see the task-local values
  /// or the cancellation of whichever task happened to give the turn back.
  func scheduleDrain() {
    if let core {
      Task.detached(executorPreference: waitingThreads) { await self.drain(on: core) }
    } else {
      Task.detached { await self.drain(on: MainActor.shared) }
    }
  }

  private func drain(on actor: isolated any Actor) async {
    let claimed = line.withLock { line in
      guard line.drain == .scheduled else { return false }
      line.drain = .running
      return true
    }
    guard claimed else { return }
    noteEntry()
    var count = 0
    while let block = nextBlock() {
      ThreadBlock.run(as: self, block)
      count += 1
      if count.isMultiple(of: Self.blocksPerVisit) { await Task.yield() }
    }
  }

  /// The next block of the line; nil once the turn has been handed on or given back.
  private func nextBlock() -> (@Sendable () -> Void)? {
    var ticket: Ticket?
    let block: (@Sendable () -> Void)? = line.withLock { line in
      if line.startsWithBlock, case .block(let block)? = line.popFirst() { return block }
      line.drain = .none
      ticket = popTicket(&line)
      return nil
    }
    ticket?.grant()
    return block
  }
}
