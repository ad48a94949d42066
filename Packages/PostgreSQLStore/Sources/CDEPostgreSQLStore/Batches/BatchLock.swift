#if PostgreSQL
  /// The lock by which the batches of a store, of all machines, follow each other.
  ///
  /// | attempt of a batch | its transaction |
  /// |---|---|
  /// | one of the first | has the lock shared until it ends, and waits for it while another batch has its turn |
  /// | a later one | runs on a connection that has the lock alone until it is closed |
  ///
  /// So no other batch changes rows between the reads and the commit of one that has its turn. Saves take no part.
  struct BatchLock {
    private let number: Int64

    init(schema: String) { number = advisoryLock("CoreDataEvolution batches in \(schema)") }

    /// The statement that takes the lock with others, until the transaction ends.
    var sharing: String { "SELECT pg_advisory_xact_lock_shared(\(number))" }

    /// The statement that takes the lock alone, until the session ends.
    var excluding: String { "SELECT pg_advisory_lock(\(number))" }
  }
#endif
