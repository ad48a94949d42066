#if PostgreSQL
  @_spi(CDE) public import CDEModelRuntime
  @_spi(CDE) internal import CDEPostgreSQLStore
  public import CDEStore
  internal import Foundation

  /// Opens stores on a PostgreSQL server. ``CDEPostgreSQLStoreType`` registers it.
  public struct PostgreSQLStoreEngine: StoreEngine {
    /// Where the store of a description is, instead of its URL and its schema option.
    private let place: (@Sendable (NSPersistentStoreDescription) -> (url: String, schema: String))?

    /// Makes an engine, to be registered for another store type.
    public init() { place = nil }

    /// Makes an engine that finds stores by other means than the description's URL and schema option.
    ///
    /// It lets tests that were written for files run on a server.
    @_spi(CDE) public init(
      place: @escaping @Sendable (NSPersistentStoreDescription) -> (url: String, schema: String)
    ) {
      self.place = place
    }

    /// Opens a store, and creates it if the server's schema has none. Blocks until the server has answered.
    ///
    /// - Throws: `StoreError` with code `.cannotOpen` for an option of the wrong type, a missing URL or a server that can't be reached,
    ///   and the other errors of `PostgreSQLStore`.
    public func open(_ opening: StoreOpening) throws -> any Store {
      try PostgreSQLStore(
        schema: opening.schema, configuration: try configuration(opening),
        observer: opening.description.observer)
    }

    /// Makes a store that has everything that another store has, in one transaction of the server.
    ///
    /// - Throws: `StoreError` with code `.cannotOpen` if the server's schema has a store, for an option of the wrong type and so on.
    public func make(_ opening: StoreOpening, from copy: StoreCopy) throws {
      try PostgreSQLStore.make(try configuration(opening), from: copy)
    }

    /// The store of an opening as the runtime migrates it, on the server and in one transaction.
    ///
    /// - Throws: `StoreError` with code `.cannotOpen` for an option of the wrong type or a missing URL.
    public func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)? {
      PostgreSQLMigratableStore(try configuration(opening))
    }

    /// Reads the metadata of a store, as it is before it is opened.
    ///
    /// - Throws: `StoreError` with code `.cannotOpen` if there is no store, for an option of the wrong type, and if the server can't be
    ///   reached.
    public func metadata(of description: NSPersistentStoreDescription) throws -> (
      identifier: String, metadata: StoreMetadata
    )? {
      try PostgreSQLMigratableStore(try configuration(description)).metadata()
    }

    private func configuration(_ opening: StoreOpening) throws(StoreError) -> PostgreSQLConfiguration {
      var configuration = try configuration(opening.description)
      let cache = opening.modelCache
      configuration.modelCache = { cache }
      return configuration
    }

    private func configuration(
      _ description: NSPersistentStoreDescription
    ) throws(StoreError) -> PostgreSQLConfiguration {
      let options = StoreOptions(description.options)
      var configuration: PostgreSQLConfiguration
      if let place {
        let (url, schema) = place(description)
        configuration = PostgreSQLConfiguration(url: url, schema: schema)
      } else if let url = description.url {
        configuration = PostgreSQLConfiguration(url: url.absoluteString)
        if let schema = try options.text(CDEPostgreSQLSchemaOption) { configuration.schema = schema }
      } else {
        throw StoreError(
          .cannotOpen, "The store's description has no URL. Set one such as postgresql://role@host/database.")
      }
      if let size = try options.number(CDEPostgreSQLPoolSizeOption, in: 1...10_000) {
        configuration.poolSize = Int(size)
      }
      if let name = try options.text(CDEPostgreSQLApplicationNameOption) {
        configuration.applicationName = name
      }
      if let name = try options.text(CDEPostgreSQLTLSModeOption) {
        guard let mode = PostgreSQLConfiguration.TLSMode(rawValue: name) else {
          let all = PostgreSQLConfiguration.TLSMode.allCases.map(\.rawValue).joined(separator: ", ")
          throw StoreError(
            .cannotOpen, "The option CDEPostgreSQLTLSModeOption is \"\(name)\". It has to be one of \(all).")
        }
        configuration.tlsMode = mode
      }
      configuration.rootCertificates = try options.text(CDEPostgreSQLRootCertificatesOption)
      if let seconds = try options.number(CDEPostgreSQLStatementTimeoutOption, in: 0.001...86_400) {
        configuration.statementTimeout = .seconds(seconds)
      }
      configuration.password = try options.password(CDEPostgreSQLPasswordOption)
      configuration.lockTimeout = .seconds(min(max(description.timeout, 0.001), 86_400))
      configuration.isReadOnly = description.isReadOnly
      configuration.createsIfMissing = !description.isReadOnly
      configuration.tracksHistory = options.isOn(NSPersistentHistoryTrackingKey)
      return configuration
    }
  }

  /// The options of a description, with their types checked.
  private struct StoreOptions {
    private let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    func text(_ key: String) throws(StoreError) -> String? {
      guard let value = values[key] else { return nil }
      guard let text = value as? String, !text.isEmpty else { throw wrong(key, "a string that is not empty") }
      return text
    }

    func number(_ key: String, in range: ClosedRange<Double>) throws(StoreError) -> Double? {
      guard let value = values[key] else { return nil }
      guard let number = (value as? Double) ?? (value as? NSNumber)?.doubleValue, range.contains(number)
      else {
        throw wrong(key, "a number between \(range.lowerBound) and \(range.upperBound)")
      }
      return number
    }

    func password(_ key: String) throws(StoreError) -> (@Sendable () -> String?)? {
      guard let value = values[key] else { return nil }
      if let closure = value as? @Sendable () -> String? { return closure }
      if let closure = value as? @Sendable () -> String { return closure }
      throw wrong(key, "a closure of the type @Sendable () -> String?")
    }

    /// Core Data also takes a dictionary of details.
    func isOn(_ key: String) -> Bool {
      switch values[key] {
      case let value as Bool: value
      case let value as NSNumber: value.boolValue
      case is [AnyHashable: Any]: true
      default: false
      }
    }

    // The value may be a secret, so the message does not contain it.
    private func wrong(_ key: String, _ expected: String) -> StoreError {
      StoreError(.cannotOpen, "The option \(key) has to be \(expected).")
    }
  }
#endif
