#if PostgreSQL
  internal import CDEStore

  /// The lock that tells who has a store open.
  ///
  /// Each connection of an open store has it shared, for as long as it stands. A migration has it alone, so that no store goes on
  /// with the old numbers and columns. It is an advisory lock: the server keeps it for the session, and a lost session loses it.
  enum UsersLock {
    static func number(_ schema: String) -> Int64 { advisoryLock("CoreDataEvolution users of \(schema)") }

    /// The statement that takes the lock as one of several, until the session ends.
    static func joining(_ schema: String) -> String { "SELECT pg_advisory_lock_shared(\(number(schema)))" }

    /// The statement that takes the lock alone, until the transaction ends.
    static func excluding(_ schema: String) -> String { "SELECT pg_advisory_xact_lock(\(number(schema)))" }
  }

  /// The number of the server's advisory lock with a name. All processes must compute the same number, so it is FNV-1a and no
  /// hash of Swift's.
  func advisoryLock(_ name: String) -> Int64 {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int64(bitPattern: value)
  }
#endif
