import CDESQLite
@_spi(CDE) import CDEStore

/// A statement that finds rows of an entity by their keys, and goes on from row to row within one read transaction.
///
/// States: at rest, or under way in a transaction. ``find(_:_:)`` begins or continues a run; a key without a row, an error and
/// ``rest()`` end it. A statement under way keeps the transaction open, so ``Connection/endLookUps()`` comes before the end
/// of each.
final class RowLookUp {
  // Guard: the borrower of the connection uses it. No access runs other code before it ends.
  private let statement: OpaquePointer
  /// The values of the row that was found last.
  let row: RowValues
  @exclusivity(unchecked) private(set) var isUnderWay = false

  /// - Parameter statement: joins the key that is asked with the entity's table. The owner of the look-up finalizes it.
  init(_ statement: OpaquePointer, columns: Int32) {
    self.statement = statement
    row = RowValues(columns: columns)
  }

  /// Moves ``row`` to the row with a key.
  ///
  /// - Parameter asked: the slot of the connection's ``KeyTable``.
  /// - Returns: SQLite's result code; `SQLITE_DONE` if there is no such row.
  func find(_ key: Int64, _ asked: UnsafeMutablePointer<KeyTable.Slot>) -> Int32 {
    asked.pointee = KeyTable.Slot(key: key, isAsked: true)
    isUnderWay = true
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW {
      row.move(to: statement)
    } else {
      rest()
    }
    return code
  }

  func rest() {
    isUnderWay = false
    sqlite3_reset(statement)
  }

  func finalize() { sqlite3_finalize(statement) }
}
