/// What application code asks of a store, from any isolation.
///
/// Every call is awaited, and no work runs on the caller's isolation. No live object comes back: results are
/// snapshots, handles, or what a closure made of the objects where they may be used. A caller that waits on
/// the main actor does not block it.
///
/// ```swift
/// let milk = try await database.insert(Item.self) { $0.title = "Milk" }
/// let items = try await database.fetch(#Predicate<Item> { $0.title == "Milk" })
/// try await database.update(milk) { $0.isDone = true }
/// ```
///
/// A conforming type has one thing to do: run operations. All calls are made of it, so a database that
/// wraps another one, to record, to delay or to fail, has one method as well.
public nonisolated protocol Database: Sendable {
  /// Runs an operation on a context that is not the main actor's.
  ///
  /// - Parameter operation: What to do; ``DatabaseOperation/access`` says what it needs.
  /// - Returns: What the operation's body returned.
  /// - Throws: What its body throws, a failed save, and ``DatabaseError``. `CancellationError` if the task
  ///   was cancelled before the operation started; the operation has then not run.
  func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value
}
