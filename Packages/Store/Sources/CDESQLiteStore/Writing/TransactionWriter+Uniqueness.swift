@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

extension TransactionWriter {
  /// Clears the unique values of rows that are updated later, so that rows can swap them.
  ///
  /// SQLite checks uniqueness row by row, but a save requires it for all rows together. Rows without a value
  /// never collide, and each of these rows gets its new value afterwards. Called at the first collision only,
  /// because most saves have none.
  func vacateUniqueValues(of changes: ArraySlice<Change>) throws(StoreError) {
    for change in changes {
      let update = transaction.updated[Int(change.update)]
      let row = Int(change.row)
      let plan = plans.writes[update.batch.layout.entity]
      if plan.uniqueCells.isEmpty { continue }
      var settings: [String] = []
      for slot in update.changed[row] where plan.cellsOfSlots.indices.contains(slot) {
        for cell in plan.cellsOfSlots[slot]
        where plan.uniqueCells.contains(cell) && plan.steps[cell].kind != .external {
          settings.append("\(quoted(plan.columns[cell])) = NULL")
        }
      }
      if settings.isEmpty { continue }
      // A row in conflict keeps its value, because the save fails in any case.
      try connection.run(
        "UPDATE \(quoted(plan.table)) SET \(settings.joined(separator: ", ")) "
          + "WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?",
        [.integer(change.key), .integer(update.batch.version(row) &- 1)],
        while: "Making room for unique values")
    }
  }
}
