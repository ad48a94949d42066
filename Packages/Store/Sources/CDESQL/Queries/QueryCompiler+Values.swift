@_spi(CDE) import CDEStore

extension QueryCompiler {
  /// The SQL of a value.
  mutating func value(_ expression: StoreExpression) throws(StoreError) -> Piece {
    try enter()
    defer { leave() }
    switch expression {
    case .value(let value): return dialect.parameter(value)
    case .list: throw unsupported("A list can only be used on the right side of a membership test.")
    case .path(let path): return try pathValue(path)
    case .count(let path):
      return try subquery(path) { (_, _) throws(StoreError) in (Piece("SELECT COUNT(*)"), nil) }
        .ofKind(.integer)
    case .countWhere(let path, let filter):
      return try subquery(path) { (compiler, _) throws(StoreError) in
        (Piece("SELECT COUNT(*)"), try compiler.exact(filter))
      }.ofKind(.integer)
    case .aggregate(let aggregate, let path):
      var found: SQLKind?
      let result = try subquery(path) { (compiler, place) throws(StoreError) in
        guard case .property(let slot, let leaf) = path.end else {
          throw compiler.unsupported("An aggregate needs a property at the end of its path.")
        }
        let property = try compiler.property(slot, of: place.entity)
        let column = "\(place.alias).\(try compiler.column(of: property, leaf: leaf, in: place.entity))"
        let value = Piece(column, kind: compiler.kind(of: property, leaf: leaf))
        let total = compiler.decided(compiler.dialect.aggregate(aggregate, value))
        found = total.kind
        return (Piece("SELECT ") + total, nil)
      }
      return result.ofKind(found)
    case .function(let function, let arguments): return try self.function(function, arguments)
    case .conditional(let filter, let first, let second):
      let test = try exact(filter)
      let left = try value(first)
      let right = try value(second)
      guard let aligned = dialect.aligned(left, right) else { return decided(nil) }
      let result =
        Piece("CASE WHEN ") + test + Piece(" THEN ") + aligned.left + Piece(" ELSE ") + aligned.right
        + Piece(" END")
      return result.ofKind(aligned.left.kind ?? aligned.right.kind)
    case .group(let aggregate, let expression):
      guard hasGroups else {
        throw unsupported("An aggregate over a group stands where there are no groups.")
      }
      hasGroups = false
      defer { hasGroups = true }
      return decided(dialect.aggregate(aggregate, try value(expression)))
    }
  }

  /// The kind of a property's values; nil for a composite as a whole.
  func kind(of property: RowLayout.Property, leaf: Int) -> SQLKind? {
    switch property.kind {
    case .attribute(let attribute): SQLKind(attribute.type)
    case .composite(let attribute):
      attribute.leaves.indices.contains(leaf) ? SQLKind(attribute.leaves[leaf].type) : nil
    case .toOne, .toMany: .integer
    }
  }

  /// A condition within a value. A superset would change the value, which is undecided then.
  private mutating func exact(_ filter: StoreFilter) throws(StoreError) -> Piece {
    let wasSuperset = isSuperset
    isSuperset = false
    let piece = try condition(filter)
    if isSuperset { isUndecided = true }
    isSuperset = wasSuperset
    return piece
  }

  private mutating func subquery(
    _ path: StorePath,
    _ body: (inout QueryCompiler, Place) throws(StoreError) -> (head: Piece, condition: Piece?)
  ) throws(StoreError) -> Piece {
    Piece("(") + (try elements(of: path, body)) + Piece(")")
  }

  private mutating func function(
    _ function: StoreExpression.Function, _ arguments: [StoreExpression]
  ) throws(StoreError) -> Piece {
    var pieces: [Piece] = []
    for argument in arguments { pieces.append(try value(argument)) }
    guard pieces.count >= function.leastArguments else {
      throw unsupported("\(function.rawValue) needs at least \(function.leastArguments) arguments.")
    }
    return decided(dialect.call(function, pieces))
  }
}
