@_spi(CDE) internal import CDEExecutors
public import CDEModelRuntime

/// A database that makes the real one at its first use, off the main actor: cheap to make anywhere.
///
/// However many tasks use it first at the same time, one database is made. If making it fails, those who
/// waited get the error, and the next use tries again.
public nonisolated final class BackgroundDatabase: Database, PolicyHolding {
  private enum State {
    case none
    case making(Task<any Database, any Error>)
    case made(any Database)
  }

  private let factory: @Sendable () async throws -> any Database
  private let policy: DatabasePolicy
  private let state = Lock(State.none)

  /// - Parameters:
  ///   - policy: Time limits and retries.
  ///   - factory: Makes the database. Called off the main actor, at the first use.
  public init(
    policy: DatabasePolicy = .standard, _ factory: @escaping @Sendable () async throws -> any Database
  ) {
    self.policy = policy
    self.factory = factory
  }

  /// A database over a container, whose stores must be loaded before the first call.
  public convenience init(
    modelContainer: NSPersistentContainer, readers: Int = 4, policy: DatabasePolicy = .standard
  ) {
    self.init(policy: policy) { ModelActorDatabase(modelContainer: modelContainer, readers: readers) }
  }

  /// Runs an operation on the database behind this one, which the first call makes.
  ///
  /// - Throws: what making the database or the operation throws.
  public func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    try await run(operation, by: policy)
  }

  func run<Value: Sendable>(
    _ operation: DatabaseOperation<Value>, by policy: DatabasePolicy
  ) async throws -> Value {
    try await policy.run(operation, on: database())
  }

  private func database() async throws -> any Database {
    let factory = factory
    let (made, task) = state.withLock { state -> ((any Database)?, Task<any Database, any Error>?) in
      switch state {
      case .made(let database): return (database, nil)
      case .making(let task): return (nil, task)
      case .none:
        // Detached: the task must not inherit the isolation or the cancellation of the first caller.
        let task = Task.detached { try await factory() }
        state = .making(task)
        return (nil, task)
      }
    }
    if let made { return made }
    guard let task else { failPrecondition("A database is either made or being made.") }
    do {
      let database = try await task.value
      state.withLock { $0 = .made(database) }
      return database
    } catch {
      state.withLock { state in
        // Unless a later call has started another task.
        if case .making(let current) = state, current == task { state = .none }
      }
      throw error
    }
  }
}
