#if PostgreSQL
  internal import CDEStore

  /// The lock that excludes all users of a store, for a migration. It ends with the transaction.
  struct MigrationLock {
    let options: ConnectionOptions
    let configuration: PostgreSQLConfiguration
    let pace: MigrationPace

    private static let task = "Waiting for the users of the store"
    /// How long one attempt waits. New users wait behind it, and between attempts the store may turn out to be migrated already.
    private static let patience = 100

    /// Waits up to the lock timeout until no connection uses the store.
    ///
    /// - Parameter isDone: whether another process has done the work. Asked between attempts.
    /// - Returns: a connection with an open transaction that has the lock; nil if another process has done the work meanwhile.
    /// - Throws: `.busy` if the store stays in use, `.cancelled`, and the errors of connecting.
    func take(
      unless isDone: (Connection) throws(StoreError) -> Bool
    ) throws(StoreError) -> Connection? {
      let limit = configuration.lockTimeout ?? .seconds(10)
      let begun = ContinuousClock.now
      let connection = try Connection(options, configuration)
      while true {
        try pace.check()
        do throws(StoreError) {
          // Constraints are checked at once: a table with checks to come can't be altered.
          try connection.execute(
            "BEGIN; SET LOCAL statement_timeout TO 0; SET CONSTRAINTS ALL IMMEDIATE; "
              + "SET LOCAL lock_timeout TO \(Self.patience); \(UsersLock.excluding(configuration.schema)); "
              + "SET LOCAL lock_timeout TO \(limit.milliseconds)", while: Self.task)
          return connection
        } catch {
          connection.rollBack()
          guard error.engineCode == ServerError.lockNotAvailable else { throw error }
          if try isDone(connection) { return nil }
          let waited = ContinuousClock.now - begun
          pace.waited(waited)
          if waited < limit { continue }
          throw StoreError(
            .busy,
            "The store in \(configuration.schema) has to be migrated to the new model, and it is in use: by another process or "
              + "machine, or by another container of this process. Close it there, then open it again.",
            cause: error)
        }
      }
    }
  }
#endif
