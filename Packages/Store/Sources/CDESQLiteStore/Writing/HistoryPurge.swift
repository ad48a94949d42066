import CDESQLite
import CDEStore

/// The removal of old transactions of a history, in steps that are short enough for other writers.
///
/// Each step is an SQLite transaction and removes the oldest ones that are left. So what is left has no gap at any time, also if
/// a step fails or the process ends.
struct HistoryPurge {
  /// The last transaction to remove.
  let last: Int64
  private(set) var removed = 0
  private(set) var isOver = false
  /// A step removes so many transactions and changes at most, and one transaction at least.
  private var limit: Int64

  /// Steps are made smaller if one takes more than half of this, apart from its commit. No pause between two is longer.
  static let longestStep: Duration = .milliseconds(20)
  private static let leastLimit: Int64 = 100
  private static let task = "Purging the history"

  init(through last: Int64, atMost limit: Int64 = 1_000) {
    self.last = last
    self.limit = limit
  }

  /// Finds the last of the transactions that are old enough; nil if there is none.
  ///
  /// A clock that was set back leaves later transactions with earlier times. Those before the first one that stays are removed, so that
  /// the rest has no gap.
  static func last(_ limit: StoreHistoryLimit, on connection: Connection) throws(StoreError) -> Int64? {
    let (condition, binding): (String, StoreValue) =
      switch limit {
      case .before(let number): ("Z_PK < ?", .integer(number))
      case .beforeTime(let time): ("ZTIMESTAMP < ?", .real(time))
      }
    let kept = try connection.integer(
      "SELECT Z_PK FROM ATRANSACTION WHERE NOT (\(condition)) ORDER BY Z_PK LIMIT 1", [binding], while: task)
    if let kept { return kept - 1 }
    return try connection.integer("SELECT max(Z_PK) FROM ATRANSACTION", while: task)
  }

  /// Removes some transactions and their changes.
  mutating func step(on connection: Connection) throws(StoreError) {
    var count = 0
    var isLast = false
    var time = Duration.zero
    try connection.inWriteTransaction { () throws(StoreError) in
      // Waiting for other processes, and the commit, take as long for a small step.
      let start = ContinuousClock.now
      guard let end = try end(on: connection) else {
        isLast = true
        return
      }
      // The numbers must not be used again, so the counters have to be above them first.
      for (number, table) in [(16001, "ACHANGE"), (16002, "ATRANSACTION")] {
        try connection.run(
          "UPDATE Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), ifnull((SELECT max(Z_PK) FROM \(table)), 0)) "
            + "WHERE Z_ENT = \(number)", while: Self.task)
      }
      try connection.run(
        "DELETE FROM ACHANGE WHERE ZTRANSACTIONID <= ?", [.integer(end)], while: Self.task)
      try connection.run("DELETE FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(end)], while: Self.task)
      count = Int(sqlite3_changes(connection.handle))
      isLast = end >= last
      time = start.duration(to: .now)
    }
    removed += count
    isOver = isLast
    if time > Self.longestStep / 2 {
      limit = max(limit / 2, min(limit, Self.leastLimit))
    } else if time < Self.longestStep / 8 {
      limit *= 2
    }
  }

  /// The last transaction of a step; nil if none is left.
  private func end(on connection: Connection) throws(StoreError) -> Int64? {
    let bounds: [StoreValue] = [.integer(last), .integer(limit)]
    guard
      let first = try connection.integer("SELECT min(Z_PK) FROM ATRANSACTION", while: Self.task),
      first <= last,
      let byCount = try connection.integer(
        "SELECT max(Z_PK) FROM (SELECT Z_PK FROM ATRANSACTION WHERE Z_PK <= ? ORDER BY Z_PK LIMIT ?)", bounds,
        while: Self.task)
    else { return nil }
    // The transaction of the first change that is too many.
    let beyond = try connection.integer(
      "SELECT ZTRANSACTIONID FROM ACHANGE WHERE ZTRANSACTIONID <= ? ORDER BY ZTRANSACTIONID LIMIT 1 OFFSET ?",
      bounds, while: Self.task)
    return max(first, min(byCount, beyond.map { $0 - 1 } ?? byCount))
  }
}
