import Foundation

/// Collects the statements of one request after the other, for the observer of a store. For engines.
///
/// A statement that runs several times in succession is counted, and its text is kept once.
@_spi(CDE) public final class StatementCollector {
  private let observer: any StatementObserver
  /// Whether statements contain the bound values.
  public let wantsValues: Bool
  private var statements: [ObservedStatement] = []
  private var began = ContinuousClock.now
  private var waited = Duration.zero
  /// False between requests. What an engine runs then belongs to no request.
  public private(set) var isCollecting = false

  /// Makes a collector without a request.
  public init(_ observer: any StatementObserver) {
    self.observer = observer
    wantsValues = observer.wantsValues
  }

  /// Begins a request, and drops the statements of a request that was not completed.
  ///
  /// - Parameter asked: when the caller asked for what it had to wait for; nil if it did not wait.
  public func begin(asked: ContinuousClock.Instant? = nil) {
    statements.removeAll(keepingCapacity: true)
    began = .now
    waited = asked.map { $0.duration(to: began) } ?? .zero
    isCollecting = true
  }

  /// Runs a part of a request that waits for others, such as for a connection. Its time is not the engine's.
  public func waiting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result
  {
    let start = ContinuousClock.now
    defer {
      let time = start.duration(to: .now)
      waited += time
      began += time
    }
    return try body()
  }

  /// Runs statements that belong to no request, during a request.
  public func withoutCollecting<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let wasCollecting = isCollecting
    isCollecting = false
    defer { isCollecting = wasCollecting }
    return try body()
  }

  /// Ends the request and reports it to the observer, unless it was already reported.
  public func end(_ kind: ObservedRequest.Kind) {
    guard isCollecting else { return }
    isCollecting = false
    observer.didRun(
      ObservedRequest(
        kind: kind, statements: statements, duration: began.duration(to: .now), waiting: waited))
  }

  /// Adds the rows that the last statement read in scans of whole tables.
  public func noteScan(of rows: Int) {
    guard isCollecting, let last = statements.indices.last else { return }
    statements[last].scannedRows = (statements[last].scannedRows ?? 0) + rows
  }

  /// Adds a statement to the request, or counts one more run of the last one.
  public func append(_ text: UnsafePointer<CChar>) {
    if let last = statements.indices.last, statements[last].sql.withCString({ strcmp($0, text) == 0 }) {
      statements[last].runs += 1
    } else {
      statements.append(ObservedStatement(sql: String(cString: text)))
    }
  }
}
