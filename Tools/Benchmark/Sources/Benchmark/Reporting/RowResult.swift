/// What came out for one row.
struct RowResult {
  let row: RowID
  var ours: Double?
  var raw: Double?
  /// Raw SQLite with the pragmas that our engine sets.
  var rawTuned: Double?
  var grdb: Double?
  /// The least that the work takes on this machine, where the row measures it.
  var floor: Double?
  /// Ours divided by raw: the median of the rounds' ratios.
  var ratio: Double?
  var ratioToTuned: Double?
  var ratioToGRDB: Double?

  init(_ row: RowID) { self.row = row }

  init(_ row: RowID, _ rounds: Rounds) {
    self.row = row
    ours = rounds.median(.ours)
    raw = rounds.median(.raw)
    rawTuned = rounds.median(.rawTuned)
    grdb = rounds.median(.grdb)
    floor = rounds.median(.floor)
    ratio = rounds.ratio(.ours, to: .raw)
    ratioToTuned = rounds.ratio(.ours, to: .rawTuned)
    ratioToGRDB = rounds.ratio(.ours, to: .grdb)
  }

  /// The number that the target limits.
  var measured: Double? {
    switch row.target {
    case .ratio: ratio
    case .ratioToGRDB: ratioToGRDB
    case .value, .time: ours
    }
  }

  /// What a target in nanoseconds comes to where raw takes as long as here. Says how to read the figure; the
  /// target stays what it is.
  var targetByRaw: Double? {
    guard case .time(let time, let reference) = row.target, let raw else { return nil }
    return time * raw / reference
  }

  /// Whether the row keeps its target; nil when it was not measured.
  var isMet: Bool? { measured.map { $0 <= row.target.number } }
}
