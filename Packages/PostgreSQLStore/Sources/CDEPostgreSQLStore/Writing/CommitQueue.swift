#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  internal import Dispatch

  /// The order in which commits of a store are announced, although their COMMITs are on their way at the same time.
  ///
  /// States of a place: taken (its COMMIT may be sent) -> over (announced, or failed). A commit that no context gets is over without its
  /// turn. The earlier places that are taken at that moment count as overtaken. A transaction that meets a row of another one
  /// gets it when that one has committed, which is after it took its place. So the order of places is an order of the commits.
  final class CommitQueue: Sendable {
    private struct State {
      var lastPlace: UInt64 = 0
      /// The first place that is not over.
      var first: UInt64 = 1
      /// Later places that are over.
      var over: Set<UInt64> = []
      var waiters: [UInt64: DispatchSemaphore] = [:]
      /// The last place that was over without its turn.
      var lastOvertaking: UInt64 = 0
    }

    private let state = Lock(State())

    /// Takes the next place. ``leave(_:)`` must follow.
    func enter() -> UInt64 {
      state.withLock { state in
        state.lastPlace += 1
        return state.lastPlace
      }
    }

    /// Waits until all earlier places are over. Blocks the thread.
    func wait(for place: UInt64) {
      let waiter: DispatchSemaphore? = state.withLock { state in
        if state.first == place { return nil }
        let waiter = DispatchSemaphore(value: 0)
        state.waiters[place] = waiter
        return waiter
      }
      waiter?.wait()
    }

    /// Does not wait for the earlier places, whose commits count as overtaken from now on. Precondition: the place's commit writes no
    /// reference and deletes nothing.
    func overtake(_ place: UInt64) {
      state.withLock { if $0.first < place { $0.lastOvertaking = max($0.lastOvertaking, place) } }
    }

    /// Whether a later place was over without its turn.
    func isOvertaken(_ place: UInt64) -> Bool { state.withLock { $0.lastOvertaking > place } }

    /// Ends a place, in any order.
    func leave(_ place: UInt64) {
      state.withLock { state in
        state.over.insert(place)
        while state.over.remove(state.first) != nil { state.first += 1 }
        state.waiters.removeValue(forKey: state.first)?.signal()
      }
    }
  }
#endif
