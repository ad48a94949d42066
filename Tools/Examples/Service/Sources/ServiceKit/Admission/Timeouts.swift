import CoreDataEvolution
import Synchronization

/// Calls functions when a time, the same for all, has passed since they were added.
///
/// A task that sleeps for each request would cost more than the request's look-up. Here one task sleeps for all, once in the time.
final class Timeouts: Sendable {
  typealias ID = UInt64

  private struct State {
    var last: ID = 0
    var actions: [ID: @Sendable () -> Void] = [:]
    /// All that were added, in this order, which is that of their times; from `first` on. Removed ones stay until their time.
    var added: [(id: ID, deadline: ContinuousClock.Instant)] = []
    var first = 0
    var isWatched = false

    /// Takes what is due.
    ///
    /// - Returns: the functions, and when the next one is due; nil if none is left.
    mutating func takeDue(_ now: ContinuousClock.Instant) -> (
      due: [@Sendable () -> Void], next: ContinuousClock.Instant?
    ) {
      var due: [@Sendable () -> Void] = []
      while first < added.count {
        let entry = added[first]
        if entry.deadline > now, actions[entry.id] != nil { break }
        if let action = actions.removeValue(forKey: entry.id) { due.append(action) }
        first += 1
      }
      forgetPassed()
      isWatched = first < added.count
      return (due, isWatched ? added[first].deadline : nil)
    }

    mutating func forgetPassed() {
      guard first > 256, first * 2 > added.count else { return }
      added.removeFirst(first)
      first = 0
    }
  }

  private let time: Duration
  private let state = Mutex(State())

  init(after time: Duration) { self.time = time }

  /// Adds a function. It is called once, unless it is removed before.
  func add(_ action: @escaping @Sendable () -> Void) -> ID {
    let (id, deadline, isWatched) = state.withLock { state in
      // Read under the lock, so that the times are in order.
      let deadline = ContinuousClock.now + time
      state.last += 1
      state.actions[state.last] = action
      state.added.append((state.last, deadline))
      defer { state.isWatched = true }
      return (state.last, deadline, state.isWatched)
    }
    if !isWatched { Task { await watch(until: deadline) } }
    return id
  }

  /// Removes a function, if it was not called yet.
  func remove(_ id: ID) { state.withLock { _ = $0.actions.removeValue(forKey: id) } }

  private func watch(until deadline: ContinuousClock.Instant) async {
    var next: ContinuousClock.Instant? = deadline
    while let deadline = next {
      try? await Task.sleep(until: deadline, clock: .continuous)
      let (due, later) = state.withLock { $0.takeDue(.now) }
      for action in due { action() }
      next = later
    }
  }
}
