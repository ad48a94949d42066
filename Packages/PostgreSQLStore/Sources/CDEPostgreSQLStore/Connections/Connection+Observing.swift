#if PostgreSQL
  @_spi(CDE) internal import CDEStore

  extension Connection {
    /// Reports statements that were sent, if the request of the connection is observed.
    func note(_ sql: String, _ parameters: borrowing Parameters) {
      guard let collector, collector.isCollecting else { return }
      let text = collector.wantsValues ? parameters.expanded(sql) : sql
      text.withCString { collector.append($0) }
    }

    func note(_ sql: String) {
      guard let collector, collector.isCollecting else { return }
      sql.withCString { collector.append($0) }
    }

    /// Runs statements that belong to no request.
    func withoutCollecting<Result, Failure: Error>(
      _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
      guard let collector else { return try body() }
      return try collector.withoutCollecting(body)
    }
  }
#endif
