import Synchronization

/// A blocking wait that has lasted for a while, and what is known of it: the lane waited for and, among the
/// lanes that others wait for as well, those that the waiting thread holds.
///
/// Only waits that last are entered here, so quick ones cost nothing; a cycle does not go away.
final class LastingWait: Sendable {
  private struct Facts {
    var target: ContextLane
    var held: [ContextLane]
  }

  private static let all = Mutex<[ObjectIdentifier: Facts]>([:])

  private let target: ContextLane

  init(for target: ContextLane) { self.target = target }

  func end() { _ = Self.all.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) } }

  /// Traps if the lane waited for waits, over any number of lanes, for one that this thread holds.
  ///
  /// Every lane of a cycle is waited for, so it is enough to look at those.
  func check() {
    let cycle = Self.all.withLock { all -> [ContextLane]? in
      let held = all.values.map(\.target).filter(\.isCurrent)
      all[ObjectIdentifier(self)] = Facts(target: target, held: held)
      var seen: [ContextLane] = []
      for start in held {
        if let path = Self.path(from: target, to: start, in: Array(all.values), seen: &seen) {
          return [start] + path
        }
      }
      return nil
    }
    guard let cycle else { return }
    let chain = cycle.map(\.description).joined(separator: " waits for ")
    fatalError(
      """
      Wait cycle between lanes: \(chain). Each holds its lane and blocks for the next, so none can go on. \
      Wait without blocking (await perform) in at least one of them, or always nest them in one order.
      """)
  }

  private static func path(
    from lane: ContextLane, to goal: ContextLane, in facts: [Facts], seen: inout [ContextLane]
  ) -> [ContextLane]? {
    if lane.sharesActor(with: goal) { return [lane] }
    if seen.contains(where: { $0 === lane }) { return nil }
    seen.append(lane)
    for fact in facts where fact.held.contains(where: { $0.sharesActor(with: lane) }) {
      if let rest = path(from: fact.target, to: goal, in: facts, seen: &seen) { return [lane] + rest }
    }
    return nil
  }
}

extension ContextLane {
  func sharesActor(with other: ContextLane) -> Bool { core === other.core }
}
