#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Connections over a network, to a server with certificates of its own.
  @Suite(.needsTLSServer, .serialized) struct TLSTests {
    private let server: OwnServer
    private let port: Int

    init() throws {
      port = try Self.freePort()
      server = try OwnServer(tlsPort: port)
    }

    /// A port that nothing listens on.
    private static func freePort() throws -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let found = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
      }
      try #require(found)
      return Int(UInt16(bigEndian: address.sin_port))
    }

    private func certificate(_ name: String) -> String { "\(server.folder)/tls/\(name).crt" }

    private func configuration(_ role: String = "postgres", _ parameters: String = "")
      -> PostgreSQLConfiguration
    {
      var configuration = PostgreSQLConfiguration(
        url: "postgresql://\(role)@localhost:\(port)/postgres\(parameters)", schema: "tls", poolSize: 1)
      configuration.rootCertificates = certificate("authority")
      return configuration
    }

    /// The version of the encryption of a connection; "none" without encryption.
    private func encryption(_ configuration: PostgreSQLConfiguration) throws -> String {
      let connection = try Connection(try ConnectionOptions(configuration), configuration)
      return try connection.texts(
        "SELECT coalesce(version, 'none') FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0]
    }

    private func refusal(_ configuration: PostgreSQLConfiguration) -> StoreError? {
      failure { () throws(StoreError) in
        _ = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
      }
    }

    private func expectRefusal(
      _ configuration: PostgreSQLConfiguration, _ part: String, _ place: SourceLocation = #_sourceLocation
    ) {
      let error = refusal(configuration)
      #expect(error?.code == .cannotOpen, sourceLocation: place)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")", sourceLocation: place)
      #expect(error?.message.contains("certificates") == true, sourceLocation: place)
    }

    /// Makes the server show another certificate.
    private func use(_ name: String) throws {
      let connection = try server.connection()
      try connection.execute("ALTER SYSTEM SET ssl_cert_file = '\(certificate(name))'", while: "Testing")
      try connection.execute("SELECT pg_reload_conf()", while: "Testing")
      try waitUntil("The server does not read its configuration") {
        try server.connection().texts("SHOW ssl_cert_file")[0] == certificate(name)
      }
    }

    @Test func `By default the server's certificate is verified, for its host, too`() throws {
      let store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration())
      let item = try store.insert("Item", [Draft(key: -1, values: ["title": .text("safe")])])[0]
      #expect(try store.describe("Item", item)?["title"] == "safe")
      #expect(try encryption(configuration()).hasPrefix("TLSv1."))

      var others = configuration()
      others.rootCertificates = certificate("other")
      expectRefusal(others, "certificate verify failed")
      // Without a file it is the system's authorities that count, if the system has such.
      others.rootCertificates = nil
      #expect(refusal(others)?.code == .cannotOpen)
      others.rootCertificates = server.folder + "/missing.crt"
      expectRefusal(others, "missing.crt")

      try use("elsewhere")
      expectRefusal(configuration(), "does not match host name")
      var any = configuration()
      any.tlsMode = .verifyCA
      #expect(try encryption(any).hasPrefix("TLSv1."))

      try use("expired")
      expectRefusal(configuration(), "certificate verify failed")
      expectRefusal(any, "certificate verify failed")
      any.tlsMode = .require
      any.rootCertificates = nil
      #expect(try encryption(any).hasPrefix("TLSv1."))
    }

    @Test func `A server without encryption is refused, unless the configuration or the URL says otherwise`()
      throws
    {
      try server.connection().execute("CREATE ROLE plain LOGIN", while: "Testing")
      var clear = configuration("plain")
      clear.tlsMode = .disable
      #expect(try encryption(clear) == "none")
      clear.tlsMode = nil
      // The server accepts this role in both ways.
      #expect(try encryption(clear).hasPrefix("TLSv1."))
      #expect(try encryption(configuration("plain", "?sslmode=disable")) == "none")
      var insisting = configuration("plain", "?sslmode=disable")
      insisting.tlsMode = .verifyFull
      #expect(try encryption(insisting).hasPrefix("TLSv1."))
      // Another role may not.
      var refused = configuration()
      refused.tlsMode = .disable
      expectRefusal(refused, "no encryption")

      let connection = try server.connection()
      try connection.execute("ALTER SYSTEM SET ssl = off", while: "Testing")
      try connection.execute("SELECT pg_reload_conf()", while: "Testing")
      try waitUntil("The server does not read its configuration") {
        try server.connection().texts("SHOW ssl")[0] == "off"
      }
      expectRefusal(configuration("plain"), "SSL")
    }

    @Test func `Passwords come from the closure, the URL and the password file, and are in no message`()
      throws
    {
      let secret = "s3cret-\(UInt32.random(in: .min ... .max))"
      try server.connection().execute("CREATE ROLE guarded LOGIN PASSWORD '\(secret)'", while: "Testing")
      #expect(try encryption(configuration("guarded:\(secret)")).hasPrefix("TLSv1."))
      var asked = configuration("guarded")
      asked.password = { secret }
      #expect(try encryption(asked).hasPrefix("TLSv1."))
      // The closure's comes before the URL's.
      var both = configuration("guarded:wrong")
      both.password = { secret }
      #expect(try encryption(both).hasPrefix("TLSv1."))

      let file = server.folder + "/passwords"
      try "localhost:\(port):postgres:guarded:\(secret)\n".write(
        toFile: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
      let path = file.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      #expect(try encryption(configuration("guarded", "?passfile=\(path)")).hasPrefix("TLSv1."))

      asked.password = { "wrong-" + secret }
      for wrong in [asked, configuration("guarded:wrong-\(secret)")] {
        let error = try #require(refusal(wrong))
        #expect(error.code == .cannotOpen && error.message.contains("password authentication failed"))
        #expect(!"\(error)".contains(secret) && !"\(error.message)".contains(secret))
        #expect(!"\(wrong)".contains(secret) && !String(reflecting: wrong).contains(secret))
      }
      let none = try #require(refusal(configuration("guarded", "?passfile=%2Fdev%2Fnull")))
      #expect(none.code == .cannotOpen && none.message.contains("no password supplied"))
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test starts a server with certificates, which `openssl` makes.
    static var needsTLSServer: Self {
      .enabled(
        if: TestServer.isNamed && OwnServer.isInstalled
          && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"),
        "CDE_POSTGRESQL_URL names no server, or the server's programs or openssl are not on this machine")
    }
  }
#endif
