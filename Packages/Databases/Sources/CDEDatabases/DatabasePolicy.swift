internal import CDEModelRuntime

/// How long operations may take, and what happens while another writer holds the store.
public nonisolated struct DatabasePolicy: Sendable, Hashable {
  /// How long a caller waits; nil for as long as it takes.
  ///
  /// An operation that has not begun by then never does. A read that has is left to end by itself. A write
  /// that has is told by cancellation of its task, and its caller waits for the outcome, so that it is
  /// known. The same is true when the caller's task is cancelled.
  ///
  /// With nil, operations run in the caller's task. When that is cancelled, a read that has begun is told, and its
  /// caller waits for the outcome.
  public var timeout: Duration?
  /// How often an operation that found the store busy, or its objects changed by another writer, is tried
  /// again. A store that stayed busy for a second or longer is not asked again: that was the timeout of its description.
  public var retries: Int
  /// The pause before the first retry; each further one is twice as long.
  public var pause: Duration

  /// - Parameters:
  ///   - timeout: How long a caller waits; nil for as long as it takes.
  ///   - retries: How often to try again.
  ///   - pause: Before the first retry.
  public init(timeout: Duration? = nil, retries: Int = 5, pause: Duration = .milliseconds(5)) {
    self.timeout = timeout
    self.retries = retries
    self.pause = pause
  }

  /// No timeout, five retries.
  public static let standard = DatabasePolicy()
  /// Every failure is the caller's.
  public static let none = DatabasePolicy(retries: 0)

  /// A store that was busy for so long has waited for the other writer by itself.
  private static let wait = Duration.seconds(1)

  func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, on database: any Database
  ) async throws -> Value {
    guard let timeout else { return try await repeating(operation, on: database) }
    let deadline = Deadline<Value>(name: operation.name, timeout: timeout, isRead: operation.access == .read)
    return try await deadline.run(operation) { try await repeating($0, on: database) }
  }

  /// Runs an operation by this policy alone, also if the database has one.
  func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, replacingThatOf database: any Database
  ) async throws -> Value {
    guard let holder = database as? any PolicyHolding else { return try await run(operation, on: database) }
    return try await holder.run(operation, by: self)
  }

  private func repeating<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, on database: any Database
  ) async throws -> Value {
    var left = operation.isRepeatable ? retries : 0
    var pause = pause
    while true {
      let start = ContinuousClock.now
      do {
        return try await database.run(operation)
      } catch
        where left > 0 && (isConflict(error) || (isBusy(error) && start.duration(to: .now) < Self.wait))
      {
        left -= 1
        try await ContinuousClock().sleep(for: pause)
        pause *= 2
      }
    }
  }
}

nonisolated extension Database {
  /// The same database with time limits and retries of its own, in place of those that it has.
  ///
  /// ```swift
  /// let impatient = database.with(DatabasePolicy(timeout: .seconds(2)))
  /// ```
  public func with(_ policy: DatabasePolicy) -> some Database { PolicyDatabase(base: self, policy: policy) }
}

/// A database that has a policy, and can run an operation by another one instead.
nonisolated protocol PolicyHolding: Database {
  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>, by policy: DatabasePolicy) async throws
    -> Value
}

private nonisolated struct PolicyDatabase<Base: Database>: PolicyHolding {
  let base: Base
  let policy: DatabasePolicy

  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    try await run(operation, by: policy)
  }

  func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, by policy: DatabasePolicy
  ) async throws -> Value {
    try await policy.run(operation, replacingThatOf: base)
  }
}
