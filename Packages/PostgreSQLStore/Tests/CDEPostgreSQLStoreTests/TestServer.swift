@_spi(CDE) import CDESQL
import Foundation
import Testing

#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
#endif

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

#if PostgreSQL
  extension Trait where Self == ConditionTrait {
    /// The test needs a server.
    static var needsServer: Self { .enabled(if: TestServer.isNamed, "CDE_POSTGRESQL_URL names no server") }
  }

  /// A schema of the server for one test, removed at its end.
  final class TestSchema: Sendable {
    let name = "cde_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")

    /// A configuration of the schema.
    func configuration(poolSize: Int = 4) -> PostgreSQLConfiguration {
      PostgreSQLConfiguration(url: TestServer.url!, schema: name, poolSize: poolSize)
    }

    /// A connection beside those of the store, to look at the tables or to hold locks.
    func connection() throws -> Connection {
      let configuration = configuration()
      return try Connection(try ConnectionOptions(configuration), configuration)
    }

    deinit {
      try? connection().execute(
        "DROP SCHEMA IF EXISTS \(quoted(name)) CASCADE", while: "Removing the test's schema")
    }
  }

  extension Connection {
    /// The text of the first column of each row.
    func texts(_ sql: String) throws -> [String] {
      let rows = try run(sql, while: "Reading for a test")
      return (0..<rows.count).map { rows.text($0, 0) ?? "NULL" }
    }

    /// The integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
      let rows = try run(sql, while: "Reading for a test")
      return rows.integer(0, 0)
    }

    func terminate(_ backend: Int32) throws {
      // Waits until the process has ended.
      let result = try texts("SELECT pg_terminate_backend(\(backend), 10000)::text")
      #expect(result == ["true"])
    }
  }

  /// Waits until a condition holds that another thread causes. Records an issue after ten seconds.
  func waitUntil(_ what: Comment, _ condition: () throws -> Bool) rethrows {
    let deadline = ContinuousClock.now + .seconds(10)
    while try !condition() {
      if ContinuousClock.now > deadline {
        Issue.record(what)
        return
      }
      sched_yield()
    }
  }

  /// The error that a body throws.
  func failure(_ body: () throws(StoreError) -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch { return error }
  }
#endif
