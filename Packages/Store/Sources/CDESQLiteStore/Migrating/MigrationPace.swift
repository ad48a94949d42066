import CDESQLite
@_spi(CDE) import CDEStore

/// How far a migration is. Asks after each small part of the work whether to go on.
///
/// Belongs to the thread that migrates. The work is counted in weights, about one for a row that is read.
@_spi(CDE) public final class MigrationPace {
  private let report: (Double) -> Bool
  private var total = 1.0
  private var done = 0.0
  private var weight = 0.0
  private var lastKey: Int64 = 0
  private var highest = 0.0
  /// Set when `report` returned false.
  private var isCancelled = false
  private var handle: OpaquePointer?

  /// SQLite's virtual machine makes some tens of millions of steps in a second.
  private static let stepsBetweenReports: Int32 = 50_000

  /// Makes a pace.
  ///
  /// - Parameter report: called on the migrating thread, many times in a second, with the part of the work that is done, from
  ///   0 to 1. The part never becomes less. Returns whether to go on.
  public init(_ report: @escaping (Double) -> Bool) { self.report = report }

  /// A pace that is not reported, and never cancelled.
  public static func unwatched() -> MigrationPace { MigrationPace { _ in true } }

  /// The pace of a piece of the work, which is reported as a part of the whole.
  public func piece(_ range: ClosedRange<Double>) -> MigrationPace {
    MigrationPace { self.reach(range.lowerBound + $0 * (range.upperBound - range.lowerBound)) }
  }

  /// The pace of one of several pieces that take about the same time.
  public func piece(_ number: Int, of count: Int) -> MigrationPace {
    piece(Double(number) / Double(count)...Double(number + 1) / Double(count))
  }

  /// Reports that a part of the work is done.
  ///
  /// - Returns: whether to go on.
  @discardableResult public func reach(_ fraction: Double) -> Bool {
    highest = min(1, max(highest, fraction))
    if !report(highest) { isCancelled = true }
    return !isCancelled
  }

  /// Asks whether to go on, without new work done.
  var goesOn: Bool { reach(highest) }

  /// - Throws: `.cancelled` when the report says to end.
  public func check() throws(StoreError) {
    if !goesOn { throw Self.cancelled }
  }

  private static let cancelled = StoreError(
    .cancelled,
    "The migration was cancelled, and the store stays as it is. Open the store again to migrate it.")

  // MARK: Statements

  func begin(total: Double) {
    self.total = max(total, 1)
    done = 0
  }

  /// Runs statements, which are stopped when the work is cancelled.
  ///
  /// - Parameters:
  ///   - weight: how much of the total it is.
  ///   - lastKey: the greatest key of the rows, if the statements insert rows in the order of their keys. They are then followed.
  func work(
    _ weight: Double, upTo lastKey: Int64 = 0, on connection: Connection,
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try check()
    (self.weight, self.lastKey, handle) = (weight, lastKey, connection.handle)
    sqlite3_set_last_insert_rowid(connection.handle, 0)
    sqlite3_progress_handler(
      connection.handle, Self.stepsBetweenReports,
      { context in
        Unmanaged<MigrationPace>.fromOpaque(context!).takeUnretainedValue().isAskedToEnd() ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
    do throws(StoreError) { try body() } catch {
      throw isCancelled ? Self.cancelled : error
    }
    done += weight
    reach(done / total)
  }

  private func isAskedToEnd() -> Bool {
    let key = lastKey > 0 ? sqlite3_last_insert_rowid(handle) : 0
    let part = lastKey > 0 ? min(1, max(0, Double(key) / Double(lastKey))) : 0
    return !reach((done + weight * part) / total)
  }
}
