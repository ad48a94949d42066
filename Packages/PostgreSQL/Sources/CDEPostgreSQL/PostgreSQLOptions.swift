#if PostgreSQL
  internal import CDEModelRuntime

  /// The store type of stores on a PostgreSQL server.
  ///
  /// The first use of this name registers the engine, so naming the type is all that a program does:
  ///
  /// ```swift
  /// import CDEManagedModel
  /// import CDEModelRuntime
  /// import CDEPostgreSQL
  /// import Foundation
  ///
  /// func openShared(_ container: NSPersistentContainer) {
  ///   let description = NSPersistentStoreDescription()
  ///   description.type = CDEPostgreSQLStoreType
  ///   description.url = URL(string: "postgresql://app@db.example.org/shop")
  ///   description.setOption("orders", forKey: CDEPostgreSQLSchemaOption)
  ///   container.persistentStoreDescriptions = [description]
  ///   container.loadPersistentStores { _, error in if let error { print(error) } }
  /// }
  /// ```
  ///
  /// The URL is libpq's. `NSPersistentStoreDescription.isReadOnly` and
  /// `NSPersistentHistoryTrackingKey` work as with SQLite. `NSPersistentStoreDescription.timeout` is how long a save waits for the
  /// locks of another one.
  public let CDEPostgreSQLStoreType: String = {
    NSPersistentStoreCoordinator.registerStoreEngine(PostgreSQLStoreEngine(), forStoreType: "PostgreSQL")
    return "PostgreSQL"
  }()

  /// Option: the server's schema with the store's tables, as a string; `public` by default. It is made together with the store.
  public let CDEPostgreSQLSchemaOption = "CDEPostgreSQLSchemaOption"
  /// Option: the greatest number of open connections, an integer of at least one; 8 by default.
  public let CDEPostgreSQLPoolSizeOption = "CDEPostgreSQLPoolSizeOption"
  /// Option: the name that the server shows for the connections, as a string; the program's name by default.
  public let CDEPostgreSQLApplicationNameOption = "CDEPostgreSQLApplicationNameOption"
  /// Option: the encryption of connections over a network, as a string: `disable`, `require`, `verify-ca` or `verify-full`. By
  /// default the URL's `sslmode`, and `verify-full` without one.
  public let CDEPostgreSQLTLSModeOption = "CDEPostgreSQLTLSModeOption"
  /// Option: the file of the trusted authorities, as a path.
  public let CDEPostgreSQLRootCertificatesOption = "CDEPostgreSQLRootCertificatesOption"
  /// Option: the server cancels statements that run longer, a number of seconds. The server's own limit by default.
  public let CDEPostgreSQLStatementTimeoutOption = "CDEPostgreSQLStatementTimeoutOption"
  /// Option: a closure `@Sendable () -> String?` that is asked for the password of each new connection. Without it, or if it returns
  /// nil, the URL and libpq's password file decide.
  public let CDEPostgreSQLPasswordOption = "CDEPostgreSQLPasswordOption"
#endif
