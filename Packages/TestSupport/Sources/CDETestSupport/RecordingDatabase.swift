public import CDEDatabases
@_spi(CDE) internal import CDEExecutors
internal import CDEModelRuntime

/// A database that writes down what it is asked, and fails what it is told to; for tests.
///
/// ```swift
/// let database = RecordingDatabase(ModelActorDatabase(modelContainer: container)) { call in
///   call.name == "insert" ? Refused() : nil
/// }
/// ```
public final class RecordingDatabase: Database {
  /// One operation that was asked for.
  public struct Call: Sendable, Hashable, CustomStringConvertible {
    /// The method's name.
    public let name: String
    /// The model's name, where the call concerns one.
    public let entity: String?
    /// Whether the operation only reads, or may change and save.
    public let access: DatabaseAccess

    public var description: String { entity.map { "\(name) \($0)" } ?? name }
  }

  /// How a call ended.
  public struct Outcome: Sendable {
    /// The operation that was asked for.
    public let call: Call
    /// What it threw; nil for none.
    public let error: (any Error)?
  }

  private struct Log {
    var calls: [Call] = []
    var outcomes: [Outcome] = []
  }

  private let base: any Database
  private let failure: @Sendable (Call) -> (any Error)?
  private let log = Lock(Log())

  /// - Parameters:
  ///   - base: Does the work.
  ///   - failure: The error that a call is to throw instead of being done, or nil.
  public init(
    _ base: any Database, failing failure: @escaping @Sendable (Call) -> (any Error)? = { _ in nil }
  ) {
    self.base = base
    self.failure = failure
  }

  /// What was asked for, in the order of asking.
  public var calls: [Call] { log.withLock { $0.calls } }

  /// How calls ended, in the order of ending.
  public var outcomes: [Outcome] { log.withLock { $0.outcomes } }

  /// Forgets what was recorded.
  public func clear() { log.withLock { $0 = Log() } }

  /// Notes the operation, then runs it on the database behind this one.
  ///
  /// - Throws: what the operation throws, which is noted as well.
  public func run<Value: Sendable>(_ operation: DatabaseOperation<Value>) async throws -> Value {
    let call = Call(name: operation.name, entity: operation.entity, access: operation.access)
    log.withLock { $0.calls.append(call) }
    do {
      if let error = failure(call) { throw error }
      let value = try await base.run(operation)
      log.withLock { $0.outcomes.append(Outcome(call: call, error: nil)) }
      return value
    } catch {
      log.withLock { $0.outcomes.append(Outcome(call: call, error: error)) }
      throw error
    }
  }
}
