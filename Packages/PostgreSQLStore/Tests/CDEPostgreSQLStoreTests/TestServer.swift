import Foundation

/// The server that the tests use.
enum TestServer {
  /// The URL in the environment variable `CDE_POSTGRESQL_URL`, or nil.
  static let url: String? = {
    let value = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"]
    return value?.isEmpty == false ? value : nil
  }()

  /// Whether a server is named. Tests that need one have this as their condition.
  static var isNamed: Bool { url != nil }
}
