extension PredicateFormatParser {
  /// A level of parentheses that is being parsed: the conditions before the current one, the operators that wait for their
  /// right side, and where the parts started, for errors.
  private struct Level {
    /// The finished parts of a disjunction, and of the conjunction that is its next part.
    var alternatives: [PredicateTree] = []
    var conditions: [PredicateTree] = []
    var alternativeStart: Int
    var conditionStart: Int
    /// The places behind each NOT.
    var negations: [Int] = []
    var quantifier: (modifier: PredicateModifier, negated: Bool)?
    /// The comparison of which the right side is next or being parsed.
    var comparison: Comparison?
    /// The start of the comparison, or of its right side.
    var sideStart: Int
    /// The operators with their left sides, each binding tighter than the one before.
    var operations: [Operation] = []
    var operandStart: Int
    /// The signs before the operand, and the places behind them.
    var signs: [(function: PredicateFunction, start: Int)] = []
    var valueStart: Int

    init(at position: Int) {
      (alternativeStart, conditionStart, sideStart) = (position, position, position)
      (operandStart, valueStart) = (position, position)
    }
  }

  private struct Comparison {
    let left: ExpressionTree
    let op: PredicateOperator
    let options: PredicateTextOptions
    let isNegated: Bool
    let position: Int
  }

  private struct Operation {
    let function: PredicateFunction
    let precedence: Int
    let left: ExpressionTree
  }

  /// The levels around the current one. Most parentheses open at the very start of a level, of which then only the place is
  /// kept, because a format may begin with very many of them.
  private enum Outer {
    case fresh(Int)
    indirect case level(Level)
  }

  private enum Next {
    /// A NOT, a comparison or a value.
    case condition
    /// A value with its signs.
    case operand
  }

  /// Parses a condition or a value, up to what can't continue it.
  mutating func condition() throws(PredicateTreeError) -> Node { try parse(isCondition: true) }

  /// Parses a value with all its operators.
  mutating func value() throws(PredicateTreeError) -> ExpressionTree {
    let start = position
    return try requireExpression(try parse(isCondition: false), at: start)
  }

  /// The levels of parentheses, outermost first, and where the parser is in the innermost.
  private struct Levels {
    /// Whether comparisons, NOT, AND and OR may be outside of parentheses.
    let isCondition: Bool
    var outer: [Outer] = []
    var level: Level
    var next: Next

    init(isCondition: Bool, at position: Int) {
      self.isCondition = isCondition
      level = Level(at: position)
      next = isCondition ? .condition : .operand
    }
  }

  // Calls itself for the parts of calls, so what is not on that way is in other functions.
  private mutating func parse(isCondition: Bool) throws(PredicateTreeError) -> Node {
    var levels = Levels(isCondition: isCondition, at: position)
    while true {
      guard let number = try begin(&levels) else { continue }
      let value: Node
      if let number {
        value = number
      } else {
        value = try postfix(try primary(), from: levels.level.valueStart)
      }
      if let result = try finish(value, &levels) { return result }
    }
  }

  /// Parses what stands before a value, and the value if it is a number with a sign.
  ///
  /// - Returns: nil if a parenthesis was opened, and no number if another value is next.
  private mutating func begin(_ levels: inout Levels) throws(PredicateTreeError) -> Node?? {
    if levels.next == .condition {
      while skipWord("NOT") || skip("!") { levels.level.negations.append(position) }
      levels.level.sideStart = position
      levels.level.quantifier = quantifier()
    }
    levels.level.operandStart = position
    if let number = try signedNumber(&levels.level) { return number }
    levels.level.valueStart = position
    guard tokens[index].symbol == "(" else { return .some(nil) }
    let level = levels.level
    let isFresh =
      levels.next == .condition && level.alternatives.isEmpty && level.conditions.isEmpty
      && position == level.conditionStart
    levels.outer.append(isFresh ? .fresh(position) : .level(level))
    advance()
    levels.level = Level(at: position)
    levels.next = .condition
    return nil
  }

  /// Continues behind a value. Returns nil if the format goes on; otherwise what it is.
  private mutating func finish(_ value: Node, _ levels: inout Levels) throws(PredicateTreeError) -> Node? {
    var node = value
    // A level is complete as often as parentheses are closed here.
    while true {
      let isCondition = levels.isCondition || !levels.outer.isEmpty
      guard let finished = try finish(node, &levels.level, isCondition: isCondition, &levels.next) else {
        return nil
      }
      guard let last = levels.outer.popLast() else { return finished }
      try expect(")", after: "the parenthesis")
      switch last {
      case .fresh(let position): levels.level = Level(at: position)
      case .level(let saved): levels.level = saved
      }
      node = try postfix(finished, from: levels.level.valueStart)
    }
  }

  /// Skips the signs before a value. Returns a number with its sign.
  private mutating func signedNumber(_ level: inout Level) throws(PredicateTreeError) -> Node? {
    while true {
      let sign = tokens[index].symbol
      guard sign == "-" || sign == "~" else { return nil }
      advance()
      if sign == "-", case .number(let text) = token.kind {
        let position = self.position
        advance()
        return .expression(.constant(try number("-" + text, at: position)))
      }
      guard level.signs.count < Self.depthLimit else {
        throw unsupported("nesting", "a value has more than \(Self.depthLimit) levels of signs")
      }
      level.signs.append((sign == "-" ? .negate : .bitNot, position))
    }
  }

  /// Continues a level behind a value.
  ///
  /// - Returns: what the level is; nil if it goes on, with what `next` says.
  private mutating func finish(
    _ value: Node, _ level: inout Level, isCondition: Bool, _ next: inout Next
  ) throws(PredicateTreeError) -> Node? {
    guard var node = try finishOperand(value, &level) else {
      next = .operand
      return nil
    }
    if !isCondition { return node }
    if let comparison = level.comparison {
      node = .predicate(try finished(comparison, node, level))
      level.comparison = nil
    } else if let comparison = try comparison(of: node, level) {
      level.comparison = comparison
      level.sideStart = position
      next = .operand
      return nil
    }
    for start in level.negations.suffix(Self.parity(level.negations.count)).reversed() {
      node = .predicate(PredicateTree.negation(of: try requirePredicate(node, at: start)))
    }
    level.negations = []
    return try finishCondition(node, &level, &next)
  }

  /// The number of negations to keep. Pairs of very many are left out.
  private static func parity(_ negations: Int) -> Int {
    negations <= depthLimit ? negations : 2 - negations % 2
  }

  /// Applies the signs and operators before a value. Returns nil if another operator follows.
  private mutating func finishOperand(
    _ value: Node, _ level: inout Level
  ) throws(PredicateTreeError) -> Node? {
    var node = value
    for (function, start) in level.signs.reversed() {
      node = .expression(try limited(.function(function, [try requireExpression(node, at: start)])))
    }
    level.signs = []
    let following = infix()
    if following == nil, level.operations.isEmpty { return node }
    var right = try requireExpression(node, at: level.operandStart)
    while let operation = level.operations.last, operation.precedence >= following?.precedence ?? 0 {
      level.operations.removeLast()
      right = try limited(.function(operation.function, [operation.left, right]))
    }
    guard let (function, precedence) = following else { return .expression(right) }
    advance()
    level.operations.append(Operation(function: function, precedence: precedence, left: right))
    return nil
  }

  /// The comparison that the operator behind its left side begins; nil without an operator.
  private mutating func comparison(
    of left: Node, _ level: Level
  ) throws(PredicateTreeError) -> Comparison? {
    let isNegated = isWord("NOT") && operatorAhead(1)
    if isNegated { advance() }
    let position = self.position
    guard let op = try comparisonOperator() else {
      guard level.quantifier == nil else {
        throw malformed("comparison", "an operator has to follow the quantified key path")
      }
      return nil
    }
    let left = try requireExpression(left, at: level.sideStart)
    return Comparison(left: left, op: op, options: try options(), isNegated: isNegated, position: position)
  }

  private func finished(
    _ comparison: Comparison, _ node: Node, _ level: Level
  ) throws(PredicateTreeError) -> PredicateTree {
    let right = try requireExpression(node, at: level.sideStart)
    if comparison.op == .between { try requireBounds(right, at: level.sideStart) }
    if operatorAhead(0) {
      throw malformed("comparison", "comparisons cannot be chained; join them with AND")
    }
    let quantifier = level.quantifier
    var tree = PredicateTree.comparison(
      PredicateComparison(
        comparison.left, comparison.op, right, modifier: quantifier?.modifier ?? .direct,
        options: comparison.options))
    if comparison.isNegated { tree = .not(tree) }
    if quantifier?.negated == true { tree = .not(tree) }
    if comparison.isNegated, quantifier != nil {
      throw malformed("NOT", "NOT belongs before the quantifier", at: comparison.position)
    }
    return tree
  }

  /// Joins a condition with those before it. Returns nil if another one follows.
  private mutating func finishCondition(
    _ node: Node, _ level: inout Level, _ next: inout Next
  ) throws(PredicateTreeError) -> Node? {
    var node = node
    next = .condition
    let hasAnd = isWord("AND") || tokens[index].symbol == "&&"
    if hasAnd || !level.conditions.isEmpty {
      level.conditions.append(try requirePredicate(node, at: level.conditionStart))
      if hasAnd {
        advance()
        level.conditionStart = position
        return nil
      }
      node = .predicate(.and(level.conditions))
      level.conditions = []
    }
    let hasOr = isWord("OR") || tokens[index].symbol == "||"
    if hasOr || !level.alternatives.isEmpty {
      level.alternatives.append(try requirePredicate(node, at: level.alternativeStart))
      if hasOr {
        advance()
        level.alternativeStart = position
        level.conditionStart = position
        return nil
      }
      node = .predicate(.or(level.alternatives))
      level.alternatives = []
    }
    return node
  }
}
