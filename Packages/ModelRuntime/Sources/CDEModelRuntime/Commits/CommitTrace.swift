@_spi(CDE) internal import CDEExecutors

/// A listener that gets exactly what some contexts save; listeners are compared by identity.
///
/// A context that has a listener stamps it on each commit. So the listener travels with the commit to
/// wherever and whenever it is merged, and no list of commits is kept.
@_spi(CDE) public final class CommitListener: Sendable {
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
    var rows: Set<RowKey> = []
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

  /// Notes that the listener has received what the commit changed in one row.
  ///
  /// - Returns: whether it is the first time.
  func deliver(_ row: RowKey, to listener: CommitListener) -> Bool {
    deliveries.withLock { deliveries in
      guard let index = deliveries.firstIndex(where: { $0.listener === listener }) else {
        deliveries.append(Delivery(listener: listener, rows: Rows(rows: [row])))
        return true
      }
      return deliveries[index].rows?.rows.insert(row).inserted ?? false
    }
  }
}
