/// What came out for one row.
package struct RowResult: Sendable {
  package let row: RowID
  package var ours: Double?
  /// SQLite with a write-ahead log and otherwise in its default configuration. No verdict uses it.
  package var raw: Double?
  /// SQLite with the pragmas that our engine sets.
  package var rawTuned: Double?
  package var grdb: Double?
  /// What the row names as its reference, where that is neither.
  package var reference: Double?
  /// The least that the work takes on this machine, where the row measures it.
  package var floor: Double?
  /// Ours divided by the other: the median of the rounds' ratios.
  package var ratioToTuned: Double?
  package var ratioToGRDB: Double?
  package var ratioToReference: Double?
  /// How far the rounds of the row's reference lie apart; nil where a row has none.
  package var spread: Double?

  package init(_ row: RowID) { self.row = row }

  package init(_ row: RowID, _ rounds: Rounds) {
    self.row = row
    ours = rounds.median(.ours)
    raw = rounds.median(.raw)
    rawTuned = rounds.median(.rawTuned)
    grdb = rounds.median(.grdb)
    reference = rounds.median(.reference)
    floor = rounds.median(.floor)
    ratioToTuned = rounds.ratio(.ours, to: .rawTuned)
    ratioToGRDB = rounds.ratio(.ours, to: .grdb)
    ratioToReference = rounds.ratio(.ours, to: .reference)
    spread = rounds.spread(.reference) ?? rounds.spread(.rawTuned) ?? rounds.spread(.grdb)
  }

  /// The number that the target limits; nil when it was not measured.
  package var measured: Double? {
    switch row.target {
    case .ratioToRaw: ratioToTuned
    case .ratioToGRDB: ratioToGRDB
    case .ratioToReference: ratioToReference
    case .value: ours
    }
  }

  /// Nil when the row was not measured.
  package var verdict: Verdict? {
    measured.map { Verdict($0, atMost: row.target.number, spread: spread) }
  }
}
