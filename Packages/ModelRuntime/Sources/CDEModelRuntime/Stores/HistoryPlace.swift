internal import CDEStore

/// A place in the history of one store.
struct HistoryPlace: Sendable {
  /// The number of the last known transaction.
  var number: Int64
  /// When it was committed, in seconds since 2001; nil if that is not known. A store that was restored from a copy has another
  /// transaction of the number.
  var time: Double?

  /// Whether two places may be the same.
  func isSame(as other: HistoryPlace) -> Bool {
    number == other.number && (time == nil || other.time == nil || time == other.time)
  }
}

extension StoreHandle {
  /// The place after a transaction.
  func historyPlace(_ number: Int64) -> HistoryPlace {
    (try? recordedPlace(number)) ?? HistoryPlace(number: number, time: nil)
  }

  /// The place after a transaction that is in the history; nil if the history does not have it.
  func recordedPlace(_ number: Int64) throws(StoreError) -> HistoryPlace? {
    let query = StoreHistoryQuery(after: number - 1, limit: 1, includesChanges: false)
    guard let record = try store.history(query).first, record.number == number else { return nil }
    return HistoryPlace(record)
  }
}

extension HistoryPlace {
  init(_ record: StoreHistoryTransaction) { self.init(number: record.number, time: record.timestamp) }
}
