#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import Foundation
  import Testing

  /// A server of a test's own, which the test kills. It writes through to the disk (fsync).
  final class OwnServer: Sendable {
    let folder: String
    let url: String

    private static let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().appendingPathComponent("../../../../../Tools/lib/postgresql")
      .standardizedFileURL

    /// Whether the server's programs are on this machine.
    static let isInstalled = (try? run("programs", in: "")) != nil

    /// - Parameter port: of 127.0.0.1, where the server accepts encrypted connections; nil for none.
    init(tlsPort port: Int? = nil) throws {
      // The server's user must reach the folder, and a socket's path is short.
      folder = "/tmp/cde-pg-own-\(getpid())-\(UUID().uuidString.prefix(6))"
      url = try Self.run(
        "start", "--fsync", in: folder, port.map { ["CDE_POSTGRESQL_TLS_PORT": "\($0)"] } ?? [:])
    }

    /// A server that follows another one, until it takes over.
    init(following primary: OwnServer) throws {
      folder = "/tmp/cde-pg-own-\(getpid())-\(UUID().uuidString.prefix(6))"
      url = try Self.run("standby", primary.folder, in: folder)
    }

    deinit { _ = try? Self.run("stop", in: folder) }

    /// Makes a follower accept writes, and waits until it does.
    func takeOver() throws { _ = try Self.run("promote", in: folder) }

    /// Kills all processes of the server, and waits until they have ended.
    func kill() throws { _ = try Self.run("kill", in: folder) }

    /// Starts the server again, with the data that it wrote, and waits until it accepts connections.
    func restart() throws { _ = try Self.run("restart", "--fsync", in: folder) }

    func configuration(tracksHistory: Bool = true, poolSize: Int = 4) -> PostgreSQLConfiguration {
      var configuration = PostgreSQLConfiguration(url: url, schema: "own", poolSize: poolSize)
      configuration.tracksHistory = tracksHistory
      return configuration
    }

    func connection() throws -> Connection {
      let configuration = configuration()
      return try Connection(try ConnectionOptions(configuration), configuration)
    }

    private struct Failure: Error { let message: String }

    /// Runs the script. Foundation's `Process` would wait for the server, which inherits its descriptors.
    private static func run(
      _ arguments: String..., in folder: String, _ added: [String: String] = [:]
    ) throws -> String {
      let output = NSTemporaryDirectory() + "/cde-output-\(UUID().uuidString.prefix(8))"
      defer { unlink(output) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
      posix_spawn_file_actions_adddup2(&actions, 1, 2)
      var environment = ProcessInfo.processInfo.environment
      environment["CDE_POSTGRESQL_FOLDER"] = folder
      environment.merge(added) { $1 }
      let words = ([script.path] + arguments).map { strdup($0) }
      let variables = environment.map { strdup("\($0)=\($1)") }
      defer { for text in words + variables { free(text) } }
      var process: pid_t = 0
      let failure = posix_spawn(&process, script.path, &actions, nil, words + [nil], variables + [nil])
      guard failure == 0 else { throw Failure(message: String(cString: strerror(failure))) }
      var status: Int32 = 0
      while waitpid(process, &status, 0) == -1, errno == EINTR {}
      let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      guard status == 0 else { throw Failure(message: "\(arguments.joined(separator: " ")): \(text)") }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test starts and kills a server of its own.
    static var needsOwnServer: Self {
      .enabled(
        if: TestServer.isNamed && OwnServer.isInstalled,
        "CDE_POSTGRESQL_URL names no server, or the server's programs are not on this machine")
    }
  }
#endif
