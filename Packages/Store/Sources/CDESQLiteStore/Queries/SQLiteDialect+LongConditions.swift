@_spi(CDE) import CDESQL
import CDEStore

/// Conditions of many terms, in a form that SQLite parses and plans in linear time.
extension SQLiteDialect {
  /// The number of terms of a conjunction or disjunction that SQLite's planner gets.
  private static let plannedTerms = 64

  func joined(_ terms: [SQLPiece], isConjunction: Bool) -> SQLPiece {
    let separator = isConjunction ? " AND " : " OR "
    let plannedTerms = Self.plannedTerms
    guard terms.count > plannedTerms else { return balanced(terms[...], separator) }
    let rest = SQLPiece("(CASE WHEN ") + balanced(terms[plannedTerms...], separator)
    // SQLite's planner compares each term of a conjunction, and each constant outside the left side of an IN,
    // with all others. 20,000 terms took seven seconds. This does not apply to the left side of an IN, unless
    // the list has one member.
    return balanced(
      terms[..<plannedTerms] + [rest + SQLPiece(" THEN 1 END) IN (1, 2)")], separator)
  }

  /// SQLite parses long chains into equally deep trees, up to its limit. Splitting into halves keeps the
  /// trees shallow.
  func balanced(_ terms: ArraySlice<SQLPiece>, _ separator: String) -> SQLPiece {
    if terms.count <= 100 { return SQLPiece("(") + .joined(Array(terms), separator) + SQLPiece(")") }
    let middle = terms.startIndex + terms.count / 2
    return SQLPiece("(") + balanced(terms[..<middle], separator) + SQLPiece(separator)
      + balanced(terms[middle...], separator) + SQLPiece(")")
  }
}
