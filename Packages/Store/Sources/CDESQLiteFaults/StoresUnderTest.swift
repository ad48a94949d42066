@_spi(CDE) public import CDEExecutors
internal import Foundation

/// The engine of the stores that tests open.
@_spi(CDE) public enum StoresUnderTest {
  /// Whether it is SQLite's. `Tests/EngineContract` runs the same tests over another engine and says so in the environment.
  public static let areSQLite = ProcessInfo.processInfo.environment["CDE_ENGINE_UNDER_TEST"] == nil

  /// Runs SQL of a test's own on the store at a path, if the engine is another one than SQLite's: its rows as text, or a message.
  public typealias RunSQL = @Sendable (_ path: String, _ sql: String) -> Result<[[String]], SQLFailure>
  /// The database's message about SQL that failed.
  public struct SQLFailure: Error {
    /// As the database made it, with the statement.
    public let message: String
    /// Makes a failure of a message.
    public init(message: String) { self.message = message }
  }

  /// Nil for SQLite. Set before the first test.
  public static let runSQL = Lock<RunSQL?>(nil)
}
