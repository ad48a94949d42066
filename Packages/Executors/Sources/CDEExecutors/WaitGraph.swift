/// Which lanes there are, and which of them are blocked because their job waits for another one.
///
/// Kept for all lanes together, as a wait can close a cycle over any of them. Holds no lane alive that
/// nobody waits for.
enum WaitGraph {
  private struct Edge {
    let id: UInt64
    let held: ObjectIdentifier
    let target: ContextLane
  }

  // Guard: the lock; a lane leaves, under it, before it lets go of its actor.
  private struct State: @unchecked Sendable {
    var actors: [Unmanaged<LaneActor>] = []
    var places: [ObjectIdentifier: Int] = [:]
    var edges: [Edge] = []
    var lastEdge: UInt64 = 0
  }

  private static let state = Lock(State())

  static func add(_ actor: LaneActor) {
    state.withLock { state in
      state.places[ObjectIdentifier(actor)] = state.actors.count
      state.actors.append(.passUnretained(actor))
    }
  }

  static func remove(_ actor: LaneActor) {
    state.withLock { state in
      guard let place = state.places.removeValue(forKey: ObjectIdentifier(actor)),
        let last = state.actors.popLast(), place < state.actors.count
      else { return }
      state.actors[place] = last
      state.places[last._withUnsafeGuaranteedRef { ObjectIdentifier($0) }] = place
    }
  }

  /// Notes that the calling thread, which may hold a lane, is about to wait for another one.
  ///
  /// - Returns: What to hand to `end`; nil if the thread holds no lane and so keeps nobody waiting.
  static func begin(waitingFor target: ContextLane) -> UInt64? {
    let onMain = MainProbe.isCurrent
    // Off the main actor, lanes are entered by tasks alone.
    guard onMain || withUnsafeCurrentTask(body: { $0 != nil }) else { return nil }
    var cycle: [ContextLane]?
    let edge: UInt64? = state.withLock { state in
      guard let held = onMain ? ObjectIdentifier(MainActor.shared) : currentActor(in: state.actors)
      else { return nil }
      state.lastEdge += 1
      state.edges.append(Edge(id: state.lastEdge, held: held, target: target))
      cycle = path(from: target, to: held, in: state.edges)
      return state.lastEdge
    }
    if let cycle, let last = cycle.last {
      let chain = ([last] + cycle).map(\.description).joined(separator: " waits for ")
      fatalError(
        """
        Wait cycle between lanes: \(chain). Each is held by a job that blocks until the next is free, so \
        none can go on. Wait without blocking (await perform) in at least one of them, or nest waits in \
        one order everywhere.
        """)
    }
    return edge
  }

  static func end(_ edge: UInt64?) {
    guard let edge else { return }
    state.withLock { state in
      if let index = state.edges.lastIndex(where: { $0.id == edge }) {
        state.edges.swapAt(index, state.edges.count - 1)
        state.edges.removeLast()
      }
    }
  }

  private static func currentActor(in actors: [Unmanaged<LaneActor>]) -> ObjectIdentifier? {
    for actor in actors {
      let found = actor._withUnsafeGuaranteedRef { $0.isCurrent ? ObjectIdentifier($0) : nil }
      if let found { return found }
    }
    return nil
  }

  /// Follows the waits from lane to lane. The job that holds a lane blocks for one other at most.
  private static func path(
    from lane: ContextLane, to goal: ObjectIdentifier, in edges: [Edge]
  ) -> [ContextLane]? {
    var path = [lane]
    while let actor = path.last?.actorIdentity {
      if actor == goal { return path }
      guard path.count <= edges.count, let edge = edges.first(where: { $0.held == actor }) else {
        return nil
      }
      path.append(edge.target)
    }
    return nil
  }
}

extension ContextLane {
  var actorIdentity: ObjectIdentifier {
    core.map { ObjectIdentifier($0) } ?? ObjectIdentifier(MainActor.shared)
  }
}
