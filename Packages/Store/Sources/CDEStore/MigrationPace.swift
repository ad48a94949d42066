/// How far a migration is. Asks after each small part of the work whether to go on.
///
/// Belongs to the thread that migrates. The work is counted in weights, about one for a row that is read.
public final class MigrationPace {
  private let report: (Double) -> Bool
  private var total = 1.0
  private var done = 0.0
  private var weight = 0.0
  private var highest = 0.0
  /// Whether the report said to end. It stays so.
  public private(set) var isCancelled = false

  /// Called once on the migrating thread, when others have used the store for longer than ``wait``. The migration goes on waiting.
  public var reportWait: (() -> Void)?
  /// How long others may use the store before ``reportWait`` is called.
  public var wait = Duration.seconds(2)

  /// Makes a pace.
  ///
  /// - Parameter report: called on the migrating thread, many times in a second, with the part of the work that is done, from
  ///   0 to 1. The part never becomes less. Returns whether to go on.
  public init(_ report: @escaping (Double) -> Bool) { self.report = report }

  /// A pace that is not reported, and never cancelled.
  public static func unwatched() -> MigrationPace { MigrationPace { _ in true } }

  /// The pace of a piece of the work, which is reported as a part of the whole.
  public func piece(_ range: ClosedRange<Double>) -> MigrationPace {
    let piece = MigrationPace { self.reach(range.lowerBound + $0 * (range.upperBound - range.lowerBound)) }
    piece.wait = wait
    piece.reportWait = { self.waited(self.wait) }
    return piece
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
  public var goesOn: Bool { reach(highest) }

  /// Asks whether to go on, and fails if not.
  ///
  /// - Throws: `.cancelled` when the report says to end.
  public func check() throws(StoreError) {
    if !goesOn { throw Self.cancelled }
  }

  /// Tells how long others have used the store.
  public func waited(_ time: Duration) {
    guard time >= wait, let report = reportWait else { return }
    reportWait = nil
    report()
  }

  /// The error of a migration that was cancelled.
  public static let cancelled = StoreError(
    .cancelled,
    "The migration was cancelled, and the store stays as it is. Open the store again to migrate it.")

  // MARK: Weights

  /// Sets the weight of all the work. Nothing of it is done.
  public func begin(total: Double) {
    self.total = max(total, 1)
    done = 0
  }

  /// Does a part of the work, if it goes on.
  ///
  /// - Parameters:
  ///   - weight: how much of the total it is.
  ///   - body: the work. It calls ``progress(_:)`` where it takes long.
  /// - Throws: `.cancelled`, and what the work throws.
  public func work(_ weight: Double, _ body: () throws(StoreError) -> Void) throws(StoreError) {
    try check()
    self.weight = weight
    do throws(StoreError) { try body() } catch {
      throw isCancelled ? Self.cancelled : error
    }
    done += weight
    reach(done / total)
  }

  /// Reports how much of the current part is done.
  ///
  /// - Parameter part: from 0 to 1.
  /// - Returns: whether to go on.
  public func progress(_ part: Double) -> Bool { reach((done + weight * min(1, max(0, part))) / total) }
}
