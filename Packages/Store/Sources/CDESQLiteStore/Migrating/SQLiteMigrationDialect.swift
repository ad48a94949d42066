@_spi(CDE) import CDESQL
import CDEStore

/// SQLite's spelling of a migration's statements.
struct SQLiteMigrationDialect: MigrationDialect {
  let keepsValuesInFiles = true
  let rowAddress = "rowid"

  func declaration(_ column: PhysicalSchema.Column) -> String { column.declaration }

  /// Values of attributes with external storage have a head byte. A value in a file is read afterwards. Columns of all types accept
  /// all values, but a number of another type may have to be rounded.
  func converted(_ column: String, from old: StoreAttribute, to new: StoreAttribute) -> String? {
    if let change = NumberChange(from: old.type, to: new.type) {
      return change.keepsCell ? nil : call(SQLNumbers.converted, column, change)
    }
    if old.allowsExternalStorage == new.allowsExternalStorage { return nil }
    return new.allowsExternalStorage
      ? "CASE WHEN \(column) IS NOT NULL THEN CAST(X'01' || \(column) AS BLOB) END"
      : "CASE WHEN substr(\(column), 1, 1) = X'01' THEN substr(\(column), 2) END"
  }

  func unfit(_ column: String, _ change: NumberChange) -> String? {
    change.mayNotFit
      ? "\(call(SQLNumbers.fit, column, change)) = \(SQLNumbers.Fit.unfit.rawValue)" : nil
  }

  func rounded(_ column: String, _ change: NumberChange) -> String? {
    change.mayRound
      ? "\(call(SQLNumbers.fit, column, change)) = \(SQLNumbers.Fit.rounded.rawValue)" : nil
  }

  private func call(_ function: String, _ column: String, _ change: NumberChange) -> String {
    "\(function)(\(column), \(SQLNumbers.types.firstIndex(of: change.new) ?? 0))"
  }

  func constant(_ value: StoreValue, for attribute: StoreAttribute) -> SQLPiece { SQLPiece("?", [value]) }

  func derived(_ derivation: StoreDerivation, from value: SQLPiece) -> SQLPiece? {
    func call(_ function: String, _ rest: String = "") -> SQLPiece {
      SQLPiece("\(function)(\(value.sql)\(rest))", value.bindings)
    }
    switch derivation {
    case .canonical: return call(SQLFunctions.fold, ", \(Self.canonical)")
    case .lowercase: return call(SQLFunctions.lowercase)
    case .uppercase: return call(SQLFunctions.uppercase)
    case .now, .attribute, .copy, .count, .sum, .foreign: return nil
    }
  }

  private static let canonical = StoreFilter.TextOptions([.caseInsensitive, .diacriticInsensitive]).rawValue

  func insertion(ofNewRows query: String, into table: String) -> String {
    "INSERT OR IGNORE INTO \(table) \(query)"
  }

  func temporaryName(_ table: String) -> String { "Z_CDE_OLD_\(table)" }
}
