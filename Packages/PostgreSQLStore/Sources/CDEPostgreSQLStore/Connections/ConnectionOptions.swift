#if PostgreSQL
  internal import CDELibPQ
  internal import CDEStore
  internal import Foundation

  /// The options of a connection, by libpq's keywords, made of a configuration.
  struct ConnectionOptions: Sendable {
    private var values: [String: String]
    /// The keywords that the URL has.
    private let given: Set<String>
    private let password: (@Sendable () -> String?)?

    /// - Throws: `.cannotOpen` if the URL is none of PostgreSQL's. The message does not contain the URL.
    init(_ configuration: PostgreSQLConfiguration) throws(StoreError) {
      var values = try Self.parse(configuration.url)
      given = Set(values.keys)
      values["application_name"] = configuration.applicationName
      values["client_encoding"] = "UTF8"
      values["connect_timeout"] = String(
        max(Self.leastSeconds, (configuration.connectTimeout.milliseconds + 999) / 1000))
      let mode =
        configuration.tlsMode?.rawValue ?? values["sslmode"]
        ?? PostgreSQLConfiguration.TLSMode.verifyFull.rawValue
      values["sslmode"] = mode
      // With a file of authorities, libpq verifies in the mode "require", too.
      let isVerifying = mode.hasPrefix("verify")
      if let file = configuration.rootCertificates ?? values["sslrootcert"]
        ?? (isVerifying ? Self.systemCertificates() : nil)
      {
        values["sslrootcert"] = file
      }
      self.values = values
      password = configuration.password
      // A connection to a machine that vanished must fail, and not wait for hours. After ten seconds TCP repeats what it sent every six
      // seconds or less often, which a call would wait for although the network is back.
      set(["keepalives_idle": "30", "tcp_user_timeout": "10000"])
    }

    /// The least limit of an attempt to connect that libpq knows.
    static let leastSeconds = 2

    /// The options with another limit of an attempt to connect.
    func limited(toSeconds seconds: Int) -> ConnectionOptions {
      var result = self
      result.values["connect_timeout"] = String(max(seconds, Self.leastSeconds))
      return result
    }

    /// The options for a connection that waits for the server to speak: the system asks every second whether the server is there, which
    /// costs no round trip of ours.
    var forWaiting: ConnectionOptions {
      var result = self
      result.set([
        "keepalives_idle": "1", "keepalives_interval": "1", "keepalives_count": "3",
        "tcp_user_timeout": "3000",
      ])
      return result
    }

    /// What the URL says stays.
    private mutating func set(_ defaults: [String: String]) {
      values.merge(defaults.filter { !given.contains($0.key) }) { $1 }
    }

    /// Calls a closure with the keywords and values, and with the texts that no message may contain.
    func withParameters<Result>(
      _ body: (_ keywords: [String], _ values: [String], _ secrets: [String]) -> Result
    ) -> Result {
      var all = values
      if let password = password?() { all["password"] = password }
      let secrets = [all["password"], all["sslpassword"]].compactMap { $0 }.filter { !$0.isEmpty }
      let keywords = all.keys.sorted()
      return body(keywords, keywords.map { all[$0]! }, secrets)
    }

    private static func parse(_ url: String) throws(StoreError) -> [String: String] {
      guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://"), !url.utf8.contains(0) else {
        throw StoreError(
          .cannotOpen,
          "The URL of the store does not begin with postgresql://. Give a URL such as postgresql://role@host/database."
        )
      }
      // libpq's message repeats parts of the URL, which may be the password.
      var message: UnsafeMutablePointer<CChar>?
      guard let options = PQconninfoParse(url, &message) else {
        PQfreemem(message)
        throw StoreError(
          .cannotOpen,
          "The postgresql:// URL of the store can't be read. Write reserved characters of the role, the password and the "
            + "database with percent signs, and use only libpq's parameters.")
      }
      defer { PQconninfoFree(options) }
      var values: [String: String] = [:]
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
        option += 1
      }
      return values
    }

    /// The system's file of trusted authorities, unless the home folder has libpq's own. libpq 15 does not look for the system's.
    private static func systemCertificates() -> String? {
      let manager = FileManager.default
      if manager.fileExists(atPath: NSHomeDirectory() + "/.postgresql/root.crt") { return nil }
      return [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
      ].first { manager.fileExists(atPath: $0) }
    }
  }
#endif
