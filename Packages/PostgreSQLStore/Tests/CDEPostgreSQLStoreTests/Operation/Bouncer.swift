#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import Foundation
  import Testing

  /// PgBouncer in front of the tests' server, in session mode.
  final class Bouncer: Sendable {
    private struct Failure: Error { let message: String }

    let folder = "/tmp/cde-bouncer-\(getpid())-\(UUID().uuidString.prefix(6))"
    private let process: pid_t
    private var url: String { "postgresql://postgres@/postgres?host=\(folder)&port=6432" }

    static let program: String? = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// - Parameter connections: the greatest number of connections to the server.
    init(connections: Int) throws {
      let host = try ConnectionOptions(PostgreSQLConfiguration(url: TestServer.url!)).withParameters {
        keywords, values, _ in
        values[keywords.firstIndex(of: "host")!]
      }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let file = folder + "/pgbouncer.ini"
      try """
      [databases]
      * = host=\(host) user=postgres
      [pgbouncer]
      listen_addr =
      unix_socket_dir = \(folder)
      auth_type = any
      pool_mode = session
      server_reset_query = DISCARD ALL
      default_pool_size = \(connections)
      logfile = \(folder)/log
      """.write(toFile: file, atomically: true, encoding: .utf8)
      var arguments = [Self.program!, "-q", file]
      // It refuses to run as root.
      if getuid() == 0, let user = getpwnam("postgres") {
        chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
        arguments = [Self.program!, "-q", "-u", "postgres", file]
      }
      let words = arguments.map { strdup($0) }
      defer { for word in words { free(word) } }
      var started: pid_t = 0
      guard posix_spawn(&started, words[0]!, nil, nil, words + [nil], environ) == 0 else {
        throw Failure(message: "PgBouncer does not start")
      }
      process = started
      let configuration = PostgreSQLConfiguration(url: url)
      // The socket is there before it accepts connections.
      waitUntil("PgBouncer does not accept connections") {
        (try? Connection(ConnectionOptions(configuration), configuration)) != nil
      }
    }

    deinit {
      // It has the signal mask of a thread of the pool, which blocks others.
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// The same store, reached through PgBouncer.
    func configuration(_ place: TestSchema, poolSize: Int = 3) -> PostgreSQLConfiguration {
      var configuration = place.configuration(poolSize: poolSize)
      configuration.url = url
      configuration.tracksHistory = true
      return configuration
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test needs a server and PgBouncer.
    static var needsBouncer: Self {
      .enabled(
        if: TestServer.isNamed && Bouncer.program != nil,
        "CDE_POSTGRESQL_URL names no server, or PgBouncer is not installed")
    }
  }
#endif
