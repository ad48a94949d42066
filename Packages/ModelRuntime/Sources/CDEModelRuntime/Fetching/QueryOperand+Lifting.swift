internal import CDEStore

// A condition within an operand numbers its elements from the depth at which the operand was made. If the
// operand is used at a greater depth, below the elements of another collection, its own elements get higher
// numbers.
extension QueryOperand {
  /// The operand for use at another depth than the one at which it was made.
  func lifted(from made: Int, to depth: Int) -> QueryOperand {
    if made == depth { return self }
    switch self {
    case .constant, .row, .composite, .entity: return self
    case .value(var value):
      value.expression = value.expression.lifted(Lift(above: made, by: depth - made))
      return .value(value)
    case .members(let members): return .members(members.lifted(from: made, to: depth))
    }
  }
}

extension QueryMembers {
  func lifted(from made: Int, to depth: Int) -> QueryMembers {
    if made == depth { return self }
    switch self {
    case .list(let list): return .list(list.map { $0.lifted(from: made, to: depth) })
    // Its members are made where they are used.
    case .relationship: return self
    case .projected(let base, let keys): return .projected(base.lifted(from: made, to: depth), keys)
    case .filtered(let base, let variable, let predicate, let variables):
      return .filtered(base.lifted(from: made, to: depth), variable: variable, predicate, variables)
    }
  }
}

/// A change of scope numbers: those above a depth are raised.
private struct Lift {
  let above: Int
  let by: Int

  func path(_ path: StorePath) -> StorePath {
    guard path.scope > above else { return path }
    var path = path
    path.scope += by
    return path
  }
}

extension StoreExpression {
  fileprivate func lifted(_ lift: Lift) -> StoreExpression {
    switch self {
    case .value: self
    case .list(let members): .list(members.map { $0.lifted(lift) })
    case .path(let path): .path(lift.path(path))
    case .count(let path): .count(lift.path(path))
    case .aggregate(let aggregate, let path): .aggregate(aggregate, lift.path(path))
    case .countWhere(let path, let filter): .countWhere(lift.path(path), matching: filter.lifted(lift))
    case .function(let function, let arguments): .function(function, arguments.map { $0.lifted(lift) })
    case .conditional(let test, let first, let second):
      .conditional(test.lifted(lift), first.lifted(lift), second.lifted(lift))
    case .group(let aggregate, let expression): .group(aggregate, expression.lifted(lift))
    }
  }
}

extension StoreFilter {
  fileprivate func lifted(_ lift: Lift) -> StoreFilter {
    switch self {
    case .constant, .keys: self
    case .and(let parts): .and(parts.map { $0.lifted(lift) })
    case .or(let parts): .or(parts.map { $0.lifted(lift) })
    case .not(let part): .not(part.lifted(lift))
    case .rules(let rules, let otherwise):
      .rules(
        rules.map { Rule($0.condition.lifted(lift), holds: $0.holds) }, otherwise: otherwise.lifted(lift))
    case .comparison(let left, let comparison, let right, let options):
      .comparison(left.lifted(lift), comparison, right.lifted(lift), options)
    case .entity(let path, let entities): .entity(lift.path(path), isIn: entities)
    case .any(let path, let condition): .any(lift.path(path), matching: condition.lifted(lift))
    }
  }
}
