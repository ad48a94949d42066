@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// A statement that finds rows of an entity by their keys, and goes on from row to row within one read transaction.
///
/// States: at rest, or under way in a transaction. ``find(_:on:)`` begins or continues a run; a key without a row, an error and
/// ``rest()`` end it. A statement under way keeps the transaction open, so ``Connection/endLookUps()`` comes before the end
/// of each.
final class RowLookUp {
  // Guard: the borrower of the connection uses it. No access runs other code before it ends.
  private let statement: OpaquePointer
  private let plan: SelectPlan
  /// The values of the row that was found last.
  let row: RowValues
  @exclusivity(unchecked) private(set) var isUnderWay = false

  /// - Parameter statement: joins the key that is asked with the entity's table. The owner of the look-up finalizes it.
  init(_ statement: OpaquePointer, _ plan: SelectPlan) {
    self.statement = statement
    self.plan = plan
    row = RowValues(columns: plan.columnCount)
  }

  /// Moves ``row`` to the row with a key.
  ///
  /// - Returns: false if there is none.
  func find(_ key: Int64, on connection: Connection) throws(StoreError) -> Bool {
    connection.askedKey.pointee = KeyTable.Slot(key: key, isAsked: true)
    isUnderWay = true
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW {
      row.move(to: statement)
      return true
    }
    rest()
    if code == SQLITE_DONE { return false }
    throw connection.error(code, while: "Reading the row \(key) of \(plan.concretes[0].layout.entityName)")
  }

  func rest() {
    isUnderWay = false
    sqlite3_reset(statement)
  }

  func finalize() { sqlite3_finalize(statement) }
}

extension Connection {
  /// Ends the runs of all look-ups, which would keep a transaction open.
  func endLookUps() {
    for lookUp in lookUps { if let lookUp, lookUp.isUnderWay { lookUp.rest() } }
  }
}
