@_spi(CDE) internal import CDEExecutors

/// A listener that gets exactly what some contexts save; listeners are compared by identity.
///
/// A context that has a listener stamps it on each commit. So the listener travels with the commit to
/// wherever and whenever it is merged, and no list of commits is kept.
@_spi(CDE) public final class CommitListener: Sendable {
  /// Makes a listener, to be stamped on commits by ``NSManagedObjectContext/addCommitListener(_:)``.
  public init() {}
}

/// What a commit carries beside its content: the listeners that expect it, and those that have received it.
///
/// All copies of a commit share one trace, which lives as long as one of them can still be merged. So a
/// commit that arrives twice is recognised however late it comes, and no record remains after the last copy.
///
/// A merge by IDs may bring some objects of a commit before others: the trace then knows which.
@_spi(CDE) public final class CommitTrace: Sendable {
  private let expecting: [CommitListener]
  private let deliveries = Lock<[Delivery]>([])

  private struct Delivery {
    let listener: CommitListener
    /// The objects that came alone; nil once the listener has received the whole commit.
    var rows: Rows?
  }

  /// Objects of one commit.
  public struct Rows: Sendable {
    fileprivate var rows: Set<SavePlan.RowKey> = []

    /// Whether the object, which may be of any context, is among them.
    public func contains(_ object: NSManagedObject) -> Bool {
      rows.contains(.init(root: object._binding.root, key: object._key))
    }
  }

  /// What a commit is to a listener that gets the whole of it.
  public enum Arrival: Sendable {
    case first
    /// Some objects came before, in merges by IDs.
    case after(Rows)
    /// The listener has received all of it before.
    case echo
  }

  init(expecting: [CommitListener]) { self.expecting = expecting }

  /// Whether the saving context had the listener when it committed.
  public func isExpected(by listener: CommitListener) -> Bool {
    expecting.contains { $0 === listener }
  }

  /// Notes that the listener has received the whole commit.
  public func deliver(to listener: CommitListener) -> Arrival {
    deliveries.withLock { deliveries in
      guard let index = deliveries.firstIndex(where: { $0.listener === listener }) else {
        deliveries.append(Delivery(listener: listener, rows: nil))
        return .first
      }
      defer { deliveries[index].rows = nil }
      return deliveries[index].rows.map { .after($0) } ?? .echo
    }
  }

  /// Notes that the listener has received what the commit changed in one object.
  ///
  /// - Returns: whether it is the first time.
  public func deliver(_ object: NSManagedObject, to listener: CommitListener) -> Bool {
    let row = SavePlan.RowKey(root: object._binding.root, key: object._key)
    return deliveries.withLock { deliveries in
      guard let index = deliveries.firstIndex(where: { $0.listener === listener }) else {
        deliveries.append(Delivery(listener: listener, rows: Rows(rows: [row])))
        return true
      }
      return deliveries[index].rows?.rows.insert(row).inserted ?? false
    }
  }
}

extension NSManagedObjectContext {
  /// Lets the context stamp a listener on its commits. From anywhere; each call is undone by one
  /// ``removeCommitListener(_:)``.
  @_spi(CDE) public func addCommitListener(_ listener: CommitListener) {
    configuration.withLock { $0.listeners.append(listener) }
  }

  /// Takes a listener back that was added once. Does nothing if the context does not have it. From anywhere.
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
