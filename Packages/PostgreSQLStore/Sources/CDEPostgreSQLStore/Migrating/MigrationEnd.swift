#if PostgreSQL
  internal import CDEStore
  internal import Dispatch

  /// The beginning and the end of a migration's transaction: its lock, its commit, and what became of that.
  struct MigrationEnd {
    private let destination: ResolvedSchema
    private let configuration: PostgreSQLConfiguration
    private let lock: MigrationLock

    /// - Throws: `.cannotOpen` for a URL that is none of PostgreSQL's. Does not connect.
    init(
      destination: ResolvedSchema, configuration: PostgreSQLConfiguration, pace: MigrationPace
    ) throws(StoreError) {
      self.destination = destination
      self.configuration = configuration
      lock = MigrationLock(
        options: try ConnectionOptions(configuration), configuration: configuration, pace: pace)
    }

    /// - Returns: a connection with an open transaction that has the lock; nil if the store has the new version.
    func begin() throws(StoreError) -> Connection? {
      guard let connection = try lock.take(unless: isMigrated) else { return nil }
      var isDone = true
      defer { if isDone { connection.rollBack() } }
      isDone = try isMigrated(connection)
      return isDone ? nil : connection
    }

    private func isMigrated(_ connection: Connection) throws(StoreError) -> Bool {
      try StoreOpener(schema: destination, configuration: configuration)
        .fits(MetadataTable.read(connection).metadata, on: connection)
    }

    /// Commits, and finds out what became of the commit if the connection is lost meanwhile.
    func commit(_ connection: Connection) throws(StoreError) {
      let lost: StoreError
      do throws(StoreError) {
        return try connection.execute("COMMIT", while: "Committing the migration")
      } catch {
        // An error over a connection that stands is the server's own answer: the transaction was rolled back.
        if connection.isUsable { throw error }
        lost = error
      }
      let deadline = ContinuousClock.now + configuration.recoveryTimeout
      while ContinuousClock.now < deadline {
        do throws(StoreError) {
          // The lock is free when the lost session has ended, one way or the other.
          guard let other = try lock.take(unless: isMigrated) else { return }
          defer { other.rollBack() }
          if try isMigrated(other) { return }
        } catch {
          if error.code == .cancelled { throw error }
          // The server starts again, or another one takes over.
          _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(50))
          continue
        }
        throw lost
      }
      throw StoreError(
        .unknownOutcome,
        "The connection to the server was lost while the migration was committed, and the server did not answer within "
          + "\(configuration.recoveryTimeout). The store is the old one or the new one. Open it again.",
        engineCode: lost.engineCode)
    }
  }
#endif
