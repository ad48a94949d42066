import CDEStore

/// The tables of a file's history, which are Core Data's.
///
/// `ATRANSACTION` has a row for each commit, `ACHANGE` one for each changed row. Authors and the like are numbers of rows
/// in `ATRANSACTIONSTRING`; older files have them as text in `ATRANSACTION`.
struct HistoryTables: Sendable {
  static let changes = "ACHANGE"
  static let transactions = "ATRANSACTION"
  static let strings = "ATRANSACTIONSTRING"

  /// Numbers of the tables in `Z_PRIMARYKEY`.
  enum Number: Int64 {
    case change = 16001
    case transaction = 16002
    case string = 16003
  }

  /// The columns of a transaction's texts, without the suffix `TS` of those that refer to strings.
  static let textColumns = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

  /// Whether texts are rows of `ATRANSACTIONSTRING`.
  let hasStrings: Bool
  /// Whether updates say which columns changed.
  let hasColumns: Bool
  /// The number of columns for values of deleted rows.
  let tombstoneCount: Int
  /// The properties of entities in the history's terms.
  let entities: IndexedArray<EntityIndex, HistoryEntity>
}
