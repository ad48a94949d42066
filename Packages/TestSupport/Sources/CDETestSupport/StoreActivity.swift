@_spi(CDE) public import CDEModelRuntime

/// What a store was asked since it was opened, or since the record was cleared, and by which statements it answered.
///
/// Containers of `makeTest`, of ``TestStoreScope`` and of the `.store` trait have one; any other gets one by
/// ``CDEModelRuntime/NSPersistentStoreDescription/record(in:)``. Safe from any isolation.
///
/// ```swift
/// let activity = try StoreActivity(of: container)
/// _ = try context.fetch(request)
/// print(activity.log)
/// ```
public nonisolated struct StoreActivity: Sendable {
  /// One call of the store.
  public struct Request: Sendable, Hashable {
    /// What a request was for.
    public enum Kind: String, Sendable, Hashable {
      /// A fetch, a count, a fault, a relationship, a step of prefetching.
      case read
      /// What a context saved.
      case save
      /// A batch request.
      case batch
      /// What the store needed for itself, such as keys handed out ahead.
      case upkeep
    }

    /// What the request was for.
    public let kind: Kind
    /// What the engine ran, in the order of the first run.
    public let statements: [Statement]
  }

  /// A statement and how often it ran in a row; looking up many rows is many runs of one statement.
  public struct Statement: Sendable, Hashable {
    /// The statement's text.
    public let sql: String
    /// How often it ran in a row.
    public let runs: Int
  }

  let recorder: ActivityRecorder

  /// Makes an empty record.
  ///
  /// - Parameter withValues: Records statements with the values bound to them. The values may be secret, and
  ///   appear wherever the tests' output does.
  public init(withValues: Bool = false) { recorder = ActivityRecorder(wantsValues: withValues) }

  /// The record of a container's store.
  ///
  /// - Throws: ``TestSupportError`` with code `.notRecorded`, where the requests to the store are not
  ///   recorded.
  public init(of container: NSPersistentContainer) throws {
    recorder = try ActivityRecorder.of(container)
  }

  /// The latest requests, oldest first; some thousand are kept.
  public var requests: [Request] { recorder.requests.kept }

  /// How many reads and batch requests there were, which is what a query budget counts.
  public var queryCount: Int { recorder.tallySinceCleared().queryCount }

  /// The latest requests as SQL, one statement a line; comments say what they were for.
  public var log: String {
    let (kept, count) = recorder.requests
    var lines = ["-- What the store was asked: \(count) request\(count == 1 ? "" : "s")."]
    if kept.count < count { lines[0] += " These are the last \(kept.count)." }
    for request in kept {
      lines.append("-- \(request.kind.rawValue)")
      lines += request.statements.map { $0.sql + ($0.runs == 1 ? ";" : "; -- \($0.runs) runs") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Forgets what was recorded. Budgets and rules under way do not.
  public func clear() { recorder.clear() }
}

extension NSPersistentStoreDescription {
  /// Lets the store write down what it is asked once it is loaded.
  ///
  /// Costs each statement a copy of its text. To be called before the store is loaded.
  public final func record(in activity: StoreActivity) { observer = activity.recorder }
}
