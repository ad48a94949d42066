@_spi(CDE) internal import CDEStore

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
      let lift = QueryRewriting(path: { path in
        guard path.scope > made else { return path }
        var path = path
        path.scope += depth - made
        return path
      })
      value.expression = lift(value.expression)
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
