#if PostgreSQL
  internal import CDEStore
  internal import Foundation

  /// How a store connects to its server.
  public struct PostgreSQLConfiguration: Sendable {
    /// How connections over a network are encrypted. Connections over a socket of the machine never are.
    ///
    /// The names are libpq's `sslmode`.
    public enum TLSMode: String, Sendable, Hashable, CaseIterable {
      /// No encryption.
      case disable
      /// Encryption without a check of the server's certificate. An attacker in the network can read everything. With a file of
      /// trusted authorities libpq does the same as for ``verifyCA``.
      case require
      /// The server's certificate must be signed by a trusted authority.
      case verifyCA = "verify-ca"
      /// The certificate must be signed by a trusted authority and be made for the host of the URL.
      case verifyFull = "verify-full"
    }

    /// A `postgresql://` URL as libpq reads it: `postgresql://role@host:5432/database?connect_timeout=5`. A socket's folder is the
    /// host: `postgresql://role@/database?host=/run/postgresql`.
    public var url: String
    /// The server's schema that contains the store's tables. It is made together with the store.
    public var schema: String
    /// The greatest number of connections that are open at the same time; at least one.
    public var poolSize: Int
    /// The name that the server shows for the connections.
    public var applicationName: String
    /// The encryption. `nil` for the `sslmode` of the URL, and ``TLSMode/verifyFull`` without one.
    public var tlsMode: TLSMode?
    /// The file of the trusted authorities. `nil` for the URL's `sslrootcert`, libpq's own file in the home folder, or the system's.
    public var rootCertificates: String?
    /// The server cancels statements that run longer. `nil` for the server's own limit.
    public var statementTimeout: Duration?
    /// The server gives up statements that wait longer for a lock. `nil` for the server's own limit.
    public var lockTimeout: Duration?
    /// How long one attempt to connect may take.
    public var connectTimeout: Duration
    /// How long a call waits for a connection of the pool.
    public var waitTimeout: Duration
    /// How long a commit whose connection was lost tries to find out whether it was committed.
    public var recoveryTimeout: Duration
    /// Opens the store for reading only.
    public var isReadOnly: Bool
    /// Whether the store is created if the schema has none.
    public var createsIfMissing: Bool
    /// Whether each commit is recorded in the store's history. All processes that write to the store should agree, because the
    /// history would have gaps otherwise.
    public var tracksHistory: Bool
    /// Asked for the password of each new connection. `nil`, or a result of `nil`, leaves it to the URL and libpq's password file.
    public var password: (@Sendable () -> String?)?
    /// The archive of the model, compressed, that a new store keeps a copy of; `nil` for none.
    public var modelCache: (@Sendable () -> [UInt8]?)?
    /// So many new rows of one entity, or more, are copied. Fewer are inserted by a statement that is sent together with others.
    var copyLimit = 1_000

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///     - url: a `postgresql://` URL. It is checked when the store opens.
    ///     - schema: the server's schema with the store's tables.
    ///     - poolSize: the greatest number of open connections.
    public init(url: String, schema: String = "public", poolSize: Int = 8) {
      self.url = url
      self.schema = schema
      self.poolSize = max(poolSize, 1)
      applicationName = ProcessInfo.processInfo.processName
      tlsMode = nil
      rootCertificates = nil
      statementTimeout = nil
      lockTimeout = .seconds(10)
      connectTimeout = .seconds(10)
      waitTimeout = .seconds(30)
      recoveryTimeout = .seconds(30)
      isReadOnly = false
      createsIfMissing = true
      tracksHistory = false
      password = nil
      modelCache = nil
    }
  }

  // What a debugger, a log or a string contains must not be the password.
  extension PostgreSQLConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
  {
    /// The configuration without its URL, which may contain a password.
    public var description: String {
      "PostgreSQLConfiguration(schema: \(schema), poolSize: \(poolSize), applicationName: \(applicationName))"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
      Mirror(self, children: ["schema": schema, "poolSize": poolSize, "applicationName": applicationName])
    }
  }

  extension Duration {
    /// Milliseconds, rounded up; at most a day, which is as good as no limit.
    var milliseconds: Int {
      let (seconds, attoseconds) = components
      if seconds >= 86_400 { return 86_400_000 }
      return max(0, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
  }
#endif
