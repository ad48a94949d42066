import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

extension Connection {
  /// Starts reporting the connection's statements to an observer. The borrower of the connection uses its collector.
  func observe(_ observer: any StatementObserver) {
    let collector = StatementCollector(observer)
    self.collector = collector
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE),
      { event, context, statement, detail in
        guard let context, let statement, let detail else { return 0 }
        let collector = Unmanaged<StatementCollector>.fromOpaque(context).takeUnretainedValue()
        if event == UInt32(SQLITE_TRACE_PROFILE) {
          // The statement has ended, and its counter holds the run's rows.
          let rows = sqlite3_stmt_status(OpaquePointer(statement), SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)
          collector.noteScan(of: Int(rows))
        } else {
          collector.note(OpaquePointer(statement), detail.assumingMemoryBound(to: CChar.self))
        }
        return 0
      }, Unmanaged.passUnretained(collector).toOpaque())
  }

  /// Runs a request on this connection, and reports it to the observer if there is one.
  ///
  /// - Parameter asked: when the request began to wait for the connection; nil without an observer.
  @inline(__always)
  func observing<R>(
    _ kind: ObservedRequest.Kind, asked: ContinuousClock.Instant?,
    _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let collector else { return try body(self) }
    collector.begin(asked: asked)
    defer { collector.end(kind) }
    return try body(self)
  }
}

extension StatementCollector {
  /// - Parameter text: The statement with its parameters, or a comment for a trigger's statements.
  fileprivate func note(_ statement: OpaquePointer, _ text: UnsafePointer<CChar>) {
    guard isCollecting, strncmp(text, "--", 2) != 0 else { return }
    if wantsValues, let expanded = sqlite3_expanded_sql(statement) {
      defer { sqlite3_free(expanded) }
      append(expanded)
    } else {
      append(text)
    }
  }
}
