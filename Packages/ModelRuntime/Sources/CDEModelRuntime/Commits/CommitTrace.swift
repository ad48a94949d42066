@_spi(CDE) internal import CDEExecutors

/// A listener for the saves of certain contexts. Listeners are compared by identity.
///
/// A context adds its listeners to each commit. The commit carries them to each merge, so no list of commits
/// is needed.
@_spi(CDE) public final class CommitListener: Sendable {
  public init() {}
}

/// The delivery record of a commit: the listeners that expect it, and those that have received it.
///
/// All copies of a commit share one trace, which exists while one of them can still be merged. A commit that
/// arrives twice is therefore recognised at any time, and no record remains after the last copy.
///
/// A merge by IDs may deliver some objects of a commit before others. The trace records them.
@_spi(CDE) public final class CommitTrace: Sendable {
  private let expecting: [CommitListener]
  private let deliveries = Lock<[Delivery]>([])

  private struct Delivery {
    let listener: CommitListener
    /// The objects delivered separately; nil once the listener has received the whole commit.
    var rows: Rows?
  }

  /// Objects of one commit.
  public struct Rows: Sendable {
    var rows: Set<RowKey> = []
  }

  /// The state of a delivery, for a listener that receives a whole commit.
  public enum Arrival: Sendable {
    case first
    /// Some objects were delivered before, by merges by IDs.
    case after(Rows)
    /// The listener has received the whole commit before.
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

  /// Notes that the listener has received the change of one row.
  ///
  /// - Returns: whether this is the first delivery.
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
