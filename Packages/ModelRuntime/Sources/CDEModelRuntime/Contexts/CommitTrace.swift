@_spi(CDE) internal import CDEExecutors

/// Someone who wants to hear exactly what some contexts save; told apart by identity.
///
/// A context that has a listener stamps it on each commit, so the wish travels with the commit to wherever
/// and whenever it is merged, and nobody keeps a list of commits.
@_spi(CDE) public final class CommitListener: Sendable {
  public init() {}
}

/// What a commit carries beside its content: who expected it, and who has had it.
///
/// All copies of a commit share one trace, which lives as long as one of them can still be merged. So a
/// commit that arrives twice is recognised however late it comes, and remembering that costs nothing after
/// it.
@_spi(CDE) public final class CommitTrace: Sendable {
  private let expecting: [CommitListener]
  private let delivered = Lock<[CommitListener]>([])

  init(expecting: [CommitListener]) { self.expecting = expecting }

  public func isExpected(by listener: CommitListener) -> Bool {
    expecting.contains { $0 === listener }
  }

  /// Notes that the listener has the commit.
  ///
  /// - Returns: whether it is the first time.
  public func deliver(to listener: CommitListener) -> Bool {
    delivered.withLock { delivered in
      if delivered.contains(where: { $0 === listener }) { return false }
      delivered.append(listener)
      return true
    }
  }
}

extension NSManagedObjectContext {
  /// Lets the context stamp a listener on its commits. From anywhere; each call is undone by one
  /// ``removeCommitListener(_:)``.
  @_spi(CDE) public func addCommitListener(_ listener: CommitListener) {
    configuration.withLock { $0.listeners.append(listener) }
  }

  @_spi(CDE) public func removeCommitListener(_ listener: CommitListener) {
    configuration.withLock { configuration in
      guard let index = configuration.listeners.firstIndex(where: { $0 === listener }) else { return }
      configuration.listeners.remove(at: index)
    }
  }

  func makeCommitTrace() -> CommitTrace {
    CommitTrace(expecting: configuration.withLock { $0.listeners })
  }
}
