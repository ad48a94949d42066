#if PostgreSQL
  internal import CDEStore

  /// Takes keys from the counters in `Z_PRIMARYKEY`.
  enum KeyCounter {
    /// Takes keys in a transaction of its own, so that the counter's row is locked for one statement only. Keys that are not used
    /// afterwards stay unused.
    ///
    /// - Parameters:
    ///   - limit: the greatest key that may be taken.
    ///   - root: the tree of the rows.
    ///   - number: the entity number of the tree's root.
    ///   - isDurable: whether the keys are on the server's disk afterwards. Otherwise a server that crashes forgets that they are
    ///     taken, unless a later commit on this connection succeeded.
    /// - Returns: the last key that was taken before.
    /// - Throws: `.full` if the keys would exceed the limit.
    static func take(
      _ count: Int, upTo limit: Int64, root: ResolvedSchema.Entity, number: Int64, isDurable: Bool,
      on connection: Connection
    ) throws(StoreError) -> Int64 {
      var parameters = Parameters()
      parameters.append(Int64(count))
      parameters.append(number)
      let (highest, isImpossible) = limit.subtractingReportingOverflow(Int64(count))
      parameters.append(isImpossible ? -1 : highest)
      // The commit of the rows waits for the disk, and with it for this transaction, which stands before it in the log.
      let (setting, source) =
        isDurable
        ? ("", "")
        : ("WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)) ", "FROM s ")
      let rows = try connection.run(
        #"\#(setting)UPDATE "Z_PRIMARYKEY" SET "Z_MAX" = "Z_MAX" + $1 \#(source)WHERE "Z_ENT" = $2 AND "Z_MAX" <= $3 "#
          + #"RETURNING "Z_MAX" - $1"#,
        parameters, while: "Taking keys for \(root.source.name)")
      guard rows.count == 1 else {
        throw StoreError(
          .full,
          "\(root.source.name) has no \(count) keys left below \(limit). Save the objects in another store.",
          entity: root.source.name)
      }
      return rows.integer(0, 0)
    }

    /// The number of pending keys of new rows, for each tree.
    static func counts(of transaction: StoreTransaction) -> [RootIndex: Int] {
      var counts: [RootIndex: Int] = [:]
      for batch in transaction.inserted {
        var lowest: Int64 = 0
        for row in 0..<batch.count { lowest = min(lowest, batch.key(row)) }
        if lowest < 0 { counts[batch.layout.root] = max(counts[batch.layout.root] ?? 0, Int(0 - lowest)) }
      }
      return counts
    }
  }
#endif
