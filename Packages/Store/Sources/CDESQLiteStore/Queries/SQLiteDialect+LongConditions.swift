@_spi(CDE) import CDESQL
import CDEStore

/// Conditions of many terms, in a form that SQLite parses and plans in linear time.
extension SQLiteDialect {
  /// The number of terms of a conjunction or disjunction that SQLite's planner gets.
  private static let plannedTerms = 64

  /// In a long condition the equalities of one expression with constants become one list, and parts that an
  /// index may support come first.
  func arranged(_ parts: [StoreFilter], isConjunction: Bool) -> [StoreFilter] {
    parts.count > Self.plannedTerms ? Self.gathered(parts, isConjunction) : parts
  }

  private static func gathered(_ parts: [StoreFilter], _ isConjunction: Bool) -> [StoreFilter] {
    struct Subject: Hashable {
      var expression: StoreExpression
      var options: StoreFilter.TextOptions
    }
    var lists: [Subject: [StoreExpression]] = [:]
    var order: [Subject] = []
    var first: [StoreFilter] = []
    var others: [StoreFilter] = []
    for part in parts {
      guard case .comparison(let left, let comparison, let right, let options) = part, case .path = left,
        case .value(let value) = right
      else {
        others.append(part)
        continue
      }
      if comparison == (isConjunction ? .notEqual : .equal), value != .null {
        let subject = Subject(expression: left, options: options)
        if lists[subject] == nil { order.append(subject) }
        lists[subject, default: []].append(right)
      } else if comparison == .equal {
        first.append(part)
      } else {
        others.append(part)
      }
    }
    let members = order.map { subject in
      let list = StoreFilter.comparison(
        subject.expression, .in, .list(lists[subject]!), subject.options)
      return isConjunction ? .not(list) : list
    }
    return isConjunction ? first + others + members : members + first + others
  }

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
