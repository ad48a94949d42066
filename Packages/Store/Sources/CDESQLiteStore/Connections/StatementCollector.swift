import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Collects the statements that one connection runs for one request, for the store's observer.
///
/// Used by the borrower of the connection.
final class StatementCollector {
  private let observer: any StatementObserver
  private let wantsValues: Bool
  private var statements: [ObservedStatement] = []
  /// False between requests, because beginning and ending a reader's snapshot belongs to no request.
  private var isCollecting = false

  init(_ observer: any StatementObserver) {
    self.observer = observer
    wantsValues = observer.wantsValues
  }

  /// Begins a request, and drops the statements of a request that was not completed.
  func begin() {
    statements.removeAll(keepingCapacity: true)
    isCollecting = true
  }

  /// Runs statements that belong to no request, during a request.
  func withoutCollecting(_ body: () -> Void) {
    let wasCollecting = isCollecting
    isCollecting = false
    body()
    isCollecting = wasCollecting
  }

  /// Ends the request and reports it to the observer, unless it was already reported.
  func end(_ kind: ObservedRequest.Kind) {
    guard isCollecting else { return }
    isCollecting = false
    observer.didRun(ObservedRequest(kind: kind, statements: statements))
  }

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

  private func append(_ text: UnsafePointer<CChar>) {
    if let last = statements.indices.last, statements[last].sql.withCString({ strcmp($0, text) == 0 }) {
      statements[last].runs += 1
    } else {
      statements.append(ObservedStatement(sql: String(cString: text)))
    }
  }
}

extension Connection {
  /// Starts reporting the connection's statements to an observer.
  func observe(_ observer: any StatementObserver) {
    let collector = StatementCollector(observer)
    self.collector = collector
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_STMT),
      { _, context, statement, text in
        guard let context, let statement, let text else { return 0 }
        Unmanaged<StatementCollector>.fromOpaque(context).takeUnretainedValue()
          .note(OpaquePointer(statement), text.assumingMemoryBound(to: CChar.self))
        return 0
      }, Unmanaged.passUnretained(collector).toOpaque())
  }

  /// Runs a request on this connection, and reports it to the observer if there is one.
  @inline(__always)
  func observing<R>(
    _ kind: ObservedRequest.Kind, _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let collector else { return try body(self) }
    collector.begin()
    defer { collector.end(kind) }
    return try body(self)
  }
}
