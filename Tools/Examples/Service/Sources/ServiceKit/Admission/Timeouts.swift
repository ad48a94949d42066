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

    /// Takes what is due, and ends the watch if nothing is left.
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
      let next = first < added.count ? added[first].deadline : nil
      // What is added while the functions run is called after them.
      isWatched = next != nil || !due.isEmpty
      return (due, next)
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
    let (id, isWatched) = state.withLock { state in
      state.last += 1
      state.actions[state.last] = action
      // Read under the lock, so that the times are in order.
      state.added.append((state.last, ContinuousClock.now + time))
      defer { state.isWatched = true }
      return (state.last, state.isWatched)
    }
    if !isWatched { Task.detached { await self.watch() } }
    return id
  }

  /// Removes a function, if it was not called yet.
  func remove(_ id: ID) { state.withLock { _ = $0.actions.removeValue(forKey: id) } }

  private func watch() async {
    while true {
      let (due, next) = state.withLock { $0.takeDue(.now) }
      for action in due { action() }
      if !due.isEmpty { continue }
      guard let next else { return }
      try? await Task.sleep(until: next, clock: .continuous)
    }
  }
}
