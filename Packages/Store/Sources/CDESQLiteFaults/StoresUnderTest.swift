internal import Foundation

/// The engine of the stores that tests open.
@_spi(CDE) public enum StoresUnderTest {
  /// Whether it is SQLite's. `Tests/EngineContract` runs the same tests over another engine and says so in the environment.
  public static let areSQLite = ProcessInfo.processInfo.environment["CDE_ENGINE_UNDER_TEST"] == nil
}
