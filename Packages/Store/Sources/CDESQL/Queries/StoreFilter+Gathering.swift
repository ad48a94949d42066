import CDEStore

extension StoreFilter {
  /// The parts of a conjunction or disjunction in the order of the SQL. Of many parts, those that compare one path with constants for
  /// equality become one list, and those that an index may support come first.
  ///
  /// A list is one value of a statement, however many members it has. SQLite and a server plan 10,000 alternatives in seconds.
  static func arranged(_ parts: [StoreFilter], isConjunction: Bool) -> [StoreFilter] {
    if parts.count <= 64 { return parts }
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
      if comparison == (isConjunction ? .notEqual : .equal), isMember(value) {
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

  /// Whether every dialect can tell that a list has the value.
  private static func isMember(_ value: StoreValue) -> Bool {
    switch value {
    case .null: false
    case .real(let number): number.isFinite
    default: true
    }
  }
}
