import CDEStore

/// Conditions of many terms, in a form that SQLite parses and plans in a time that grows with their number.
extension SQLiteDialect {
  /// How many terms of a conjunction or disjunction SQLite's planner gets to see.
  private static let plannedTerms = 64

  /// The parts of a condition in the order in which they are written.
  ///
  /// In a long one the equalities of one expression with constants become one list, and what an index may serve goes
  /// in front.
  static func arranged(_ parts: [StoreFilter], isConjunction: Bool) -> [StoreFilter] {
    parts.count > plannedTerms ? gathered(parts, isConjunction) : parts
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

  /// Two or more terms as one condition.
  static func joined(_ terms: [SQLPiece], isConjunction: Bool) -> SQLPiece {
    let separator = isConjunction ? " AND " : " OR "
    guard terms.count > plannedTerms else { return balanced(terms[...], separator) }
    let rest = SQLPiece("(CASE WHEN ") + balanced(terms[plannedTerms...], separator)
    // SQLite's planner compares every term of a conjunction, and every constant outside the left side of an IN, with
    // all others: 20,000 terms took seven seconds. The left side of an IN escapes both, unless the list has one member.
    return balanced(
      terms[..<plannedTerms] + [rest + SQLPiece(" THEN 1 END) IN (1, 2)")], separator)
  }

  /// SQLite parses long chains into equally deep trees, up to its limit; halves keep them shallow.
  static func balanced(_ terms: ArraySlice<SQLPiece>, _ separator: String) -> SQLPiece {
    if terms.count <= 100 { return SQLPiece("(") + .joined(Array(terms), separator) + SQLPiece(")") }
    let middle = terms.startIndex + terms.count / 2
    return SQLPiece("(") + balanced(terms[..<middle], separator) + SQLPiece(separator)
      + balanced(terms[middle...], separator) + SQLPiece(")")
  }
}
