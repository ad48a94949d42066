@_spi(CDE) internal import CDEModelRuntime

/// Computes something from a context's saved state, and has readers of its own.
protocol ContextFollower: AnyObject {
  /// Computes anew, before any reader wakes, so that each reader finds everything settled.
  ///
  /// On the context's isolation.
  ///
  /// - Returns: what wakes the follower's own readers; nil when nothing changed for them.
  func contextSettled(_ event: ContextEvent) -> (() -> Void)?
}

/// What happened to a context's saved state.
struct ContextEvent {
  enum Source {
    /// A save of its own, or a merged one.
    case commit(CommittedTransaction)
    /// A merge that named objects only.
    case identities
    case reset
  }

  var source: Source
  var changes: [ObjectChange] = []
}

/// The followers of one router, not kept alive by it.
///
/// Belongs to the isolation of the router's context.
struct FollowerList {
  private struct Entry { weak var follower: (any ContextFollower)? }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ follower: any ContextFollower) {
    entries.removeAll { $0.follower == nil }
    entries.append(Entry(follower: follower))
  }

  func settle(_ event: ContextEvent) -> [() -> Void] {
    entries.compactMap { $0.follower?.contextSettled(event) }
  }
}
