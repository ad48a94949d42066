internal import CDEModelRuntime

/// The database that is used where none was set.
///
/// Every operation ends a debug build with what to do, and throws ``NotImplementedError`` in a release build.
public nonisolated struct DefaultDatabase: Database {
  /// The one value of the type.
  public static let instance = DefaultDatabase()

  /// Makes the value, which has no state.
  public init() {}

  /// Does not run the operation.
  ///
  /// - Throws: ``NotImplementedError`` in release builds; debug builds end with its message.
  public func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    let error = NotImplementedError(operation: operation.name)
    assertionFailure(error.message)
    throw error
  }
}

/// The database that code finds without having it passed: what SwiftUI's environment is to views, for tasks.
///
/// A task-local value: tasks inherit it from the task that started them, detached tasks do not.
public nonisolated enum DatabaseEnvironment {
  @TaskLocal static var given: (any Database)?

  /// The database given by the closest ``withDatabase(_:_:)`` around; a ``DefaultDatabase`` outside of any.
  public static var current: any Database { given ?? DefaultDatabase.instance }
}

/// Runs a closure in which ``DatabaseEnvironment/current`` is a database.
///
/// - Returns: What the closure returns.
nonisolated(nonsending)
  public func withDatabase<Value>(
    _ database: any Database, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value
{
  try await DatabaseEnvironment.$given.withValue(database) { try await body() }
}

/// A property that reads the environment's database, each time it is used.
///
/// ```swift
/// struct Importer {
///   @CurrentDatabase private var database
/// }
/// ```
@propertyWrapper
public nonisolated struct CurrentDatabase: Sendable {
  /// Makes the property. It stores nothing.
  public init() {}

  /// The database of ``DatabaseEnvironment/current``, looked up at each use.
  public var wrappedValue: any Database { DatabaseEnvironment.current }
}
