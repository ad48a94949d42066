#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  internal import CDEStore
  internal import Foundation

  /// The tokens of commits whose outcome is known. No client asks for them any more, so they are removed, many at once.
  ///
  /// States of a token: inserted by its transaction -> used (its commit was acknowledged) -> removed. The tokens of a process that
  /// ended before it removed them are removed by age.
  final class UsedTokens: Sendable {
    private let tokens = Lock<[UUID]>([])

    static let limit = 512
    private static let task = "Removing tokens of commits"

    /// Notes that the outcome of a commit is known, and removes the tokens of the last commits if they are many.
    ///
    /// Does not wait for the disk, and does not fail: tokens that stay are removed by age.
    func note(_ token: CommitToken, on connection: Connection) {
      let used = tokens.withLock { tokens -> [UUID] in
        tokens.append(token.uuid)
        if tokens.count < Self.limit { return [] }
        defer { tokens.removeAll(keepingCapacity: true) }
        return tokens
      }
      if used.isEmpty { return }
      var list = Parameters()
      list.append(used)
      do throws(StoreError) {
        try connection.enqueue("BEGIN", while: Self.task)
        // The table has as many dead rows as there were commits since its last vacuum. The server takes it for a small one, and would read
        // all of it.
        try connection.enqueue("SET LOCAL synchronous_commit TO off", while: Self.task)
        try connection.enqueue("SET LOCAL enable_seqscan TO off", while: Self.task)
        _ = try connection.commit(
          after: #"DELETE FROM "Z_TOKEN" WHERE "Z_TOKEN" = ANY($1)"#, list, while: Self.task
        ) { $0 }
      } catch {
        connection.rollBack()
      }
    }

    /// Removes tokens of processes that have ended. They are so old that no client asks for them.
    static func removeOld(on connection: Connection) {
      let sql =
        #"DELETE FROM "Z_TOKEN" WHERE "Z_TIME" < now() - interval '1 day' OR "Z_TIME" > now() + interval '1 day' "#
        + #"AND "Z_TIME" < now() + interval '\#(CommitToken.annulment)' - interval '1 day'"#
      do throws(StoreError) {
        try connection.execute("BEGIN; SET LOCAL synchronous_commit TO off; \(sql); COMMIT", while: task)
      } catch {
        connection.rollBack()
      }
    }
  }
#endif
