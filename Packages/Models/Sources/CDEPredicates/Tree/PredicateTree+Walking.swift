/// How a condition is made of other conditions.
@_spi(CDE) public enum ConditionForm<Node> {
  /// A comparison, a constant, or what else has no conditions as its parts.
  case leaf
  case negation(Node)
  case compound([Node], isAnd: Bool)
}

/// Walks over conditions with lists instead of recursion, so that their depth is limited by memory alone.
enum ConditionWalk {
  private struct Open<Node, Value> {
    let parts: [Node]
    var values: [Value] = []
    /// Nil for a negation.
    let isAnd: Bool?
    var next = 1
  }

  /// Goes down to the first condition that has no parts, and opens those above it.
  ///
  /// - Returns: nil if it is a leaf; otherwise whether the compound without parts is a conjunction.
  @inline(__always)
  private static func descend<Node, Value>(
    _ node: inout Node, _ form: (Node) -> ConditionForm<Node>, _ open: inout [Open<Node, Value>]
  ) -> Bool? {
    while true {
      switch form(node) {
      case .leaf: return nil
      case .negation(let part):
        open.append(Open(parts: [], isAnd: nil))
        node = part
      case .compound(let parts, let isAnd):
        guard let first = parts.first else { return isAnd }
        open.append(Open(parts: parts, isAnd: isAnd))
        node = first
      }
    }
  }

  /// Whether a condition holds. Parts are asked in their order until one decides.
  static func holds<Node, Failure: Error>(
    _ root: Node, _ form: (Node) -> ConditionForm<Node>, leaf: (Node) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    var open: [Open<Node, Bool>] = []
    var node = root
    while true {
      // A compound without parts is what its operator says of nothing.
      var value: Bool
      if let isAnd = descend(&node, form, &open) { value = isAnd } else { value = try leaf(node) }
      while true {
        guard let last = open.indices.last else { return value }
        if let isAnd = open[last].isAnd {
          let next = open[last].next
          if value == isAnd, next < open[last].parts.count {
            node = open[last].parts[next]
            open[last].next += 1
            break
          }
        } else {
          value.toggle()
        }
        open.removeLast()
      }
    }
  }

  /// Makes a value of a condition from those of its parts.
  static func fold<Node, Value, Failure: Error>(
    _ root: Node, _ form: (Node) -> ConditionForm<Node>, leaf: (Node) throws(Failure) -> Value,
    negation: (Value) throws(Failure) -> Value, compound: ([Value], _ isAnd: Bool) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var open: [Open<Node, Value>] = []
    var node = root
    while true {
      var value: Value
      if let isAnd = descend(&node, form, &open) {
        value = try compound([], isAnd)
      } else {
        value = try leaf(node)
      }
      while true {
        guard let last = open.indices.last else { return value }
        guard let isAnd = open[last].isAnd else {
          open.removeLast()
          value = try negation(value)
          continue
        }
        open[last].values.append(value)
        let next = open[last].values.count
        if next < open[last].parts.count {
          node = open[last].parts[next]
          break
        }
        value = try compound(open.removeLast().values, isAnd)
      }
    }
  }

  /// Visits the leaves of a condition from left to right.
  static func forEachLeaf<Node>(
    of root: Node, _ form: (Node) -> ConditionForm<Node>, _ body: (Node) -> Void
  ) {
    var pending = [root]
    while let node = pending.popLast() {
      switch form(node) {
      case .leaf: body(node)
      case .negation(let part): pending.append(part)
      case .compound(let parts, _): pending += parts.reversed()
      }
    }
  }
}

extension PredicateTree {
  /// The tree's own parts.
  var form: ConditionForm<PredicateTree> {
    switch self {
    case .constant, .comparison: .leaf
    case .and(let parts): .compound(parts.list, isAnd: true)
    case .or(let parts): .compound(parts.list, isAnd: false)
    case .not(let part): .negation(part)
    }
  }

  /// The tree's parts where nested conjunctions, nested disjunctions and double negations are one condition.
  var flatForm: ConditionForm<PredicateTree> {
    let tree = withoutDoubleNegation
    let isAnd: Bool
    switch tree {
    case .constant, .comparison: return .leaf
    case .not(let part): return .negation(part)
    case .and: isAnd = true
    case .or: isAnd = false
    }
    // One pass, because joining level by level would copy the parts once for each level.
    var parts: [PredicateTree] = []
    var pending = [tree]
    while let part = pending.popLast()?.withoutDoubleNegation {
      switch part {
      case .and(let inner) where isAnd: pending += inner.list.reversed()
      case .or(let inner) where !isAnd: pending += inner.list.reversed()
      default: parts.append(part)
      }
    }
    return .compound(parts, isAnd: isAnd)
  }

  private var withoutDoubleNegation: PredicateTree {
    var tree = self
    while case .not(let part) = tree, case .not(let inner) = part { tree = inner }
    return tree
  }

  /// The equivalent tree in which nested conjunctions and nested disjunctions are joined, and double negations are
  /// removed.
  @_spi(CDE) public var flattened: PredicateTree {
    ConditionWalk.fold(self, \.flatForm) {
      $0.withoutDoubleNegation
    } negation: {
      .not($0)
    } compound: {
      $1 ? .and($0) : .or($0)
    }
  }

  /// The tree with other comparisons.
  func mappingComparisons(
    _ transform: (PredicateComparison) throws(PredicateTreeError) -> PredicateComparison
  ) throws(PredicateTreeError) -> PredicateTree {
    try folded { comparison throws(PredicateTreeError) in
      .comparison(try transform(comparison))
    } constant: { holds throws(PredicateTreeError) in
      .constant(holds)
    } negation: { part throws(PredicateTreeError) in
      Self.negation(of: part)
    } compound: { parts, isAnd throws(PredicateTreeError) in
      isAnd ? .and(parts) : .or(parts)
    }
  }

  /// Makes a value of the tree from those of its parts, without recursion.
  @_spi(CDE) public func folded<Value, Failure: Error>(
    comparison: (PredicateComparison) throws(Failure) -> Value, constant: (Bool) throws(Failure) -> Value,
    negation: (Value) throws(Failure) -> Value, compound: ([Value], _ isAnd: Bool) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try ConditionWalk.fold(
      self, \.form,
      leaf: { leaf throws(Failure) in
        switch leaf {
        case .comparison(let one): try comparison(one)
        case .constant(let holds): try constant(holds)
        case .and, .or, .not: try compound([], true)
        }
      }, negation: negation, compound: compound)
  }

  /// Visits both sides of every comparison, from left to right. Conditions inside an expression are part of that
  /// expression.
  @_spi(CDE) public func forEachOperand(_ body: (ExpressionTree) -> Void) {
    ConditionWalk.forEachLeaf(of: self, \.form) { leaf in
      guard case .comparison(let comparison) = leaf else { return }
      body(comparison.left)
      body(comparison.right)
    }
  }

  /// Visits the sides of every comparison, and all expressions inside them.
  @_spi(CDE) public func forEachExpression(_ body: (ExpressionTree) -> Void) {
    forEachOperand { $0.forEachExpression(body) }
  }
}

extension ExpressionTree {
  /// Visits the expressions and conditions that the expression is made of, but not the parts of these.
  func forEachPart(_ expression: (ExpressionTree) -> Void, condition: (PredicateTree) -> Void) {
    switch self {
    case .constant, .evaluatedObject, .keyPath, .variable, .variableKeyPath: break
    case .projection(let base, _), .aggregate(_, let base): expression(base)
    case .subquery(let collection, _, let predicate):
      expression(collection)
      condition(predicate)
    case .function(_, let parts), .list(let parts): for part in parts { expression(part) }
    case .call(let target, _, let arguments):
      expression(target)
      for argument in arguments { expression(argument) }
    case .conditional(let test, let first, let second):
      condition(test)
      expression(first)
      expression(second)
    }
  }

  /// Visits the expression and all expressions inside it.
  func forEachExpression(_ body: (ExpressionTree) -> Void) {
    body(self)
    forEachPart({ $0.forEachExpression(body) }, condition: { $0.forEachExpression(body) })
  }
}

extension PredicateTree: Hashable {
  public static func == (left: PredicateTree, right: PredicateTree) -> Bool {
    var pending = [(left, right)]
    while let pair = pending.popLast() {
      switch pair {
      case (.constant(let one), .constant(let other)): if one != other { return false }
      case (.comparison(let one), .comparison(let other)): if one != other { return false }
      case (.not(let one), .not(let other)): pending.append((one, other))
      case (.and(let one), .and(let other)), (.or(let one), .or(let other)):
        if one.isSame(other) { continue }
        if one.count != other.count || one.levels != other.levels || one.weight != other.weight {
          return false
        }
        pending += zip(one, other).reversed()
      default: return false
      }
    }
    return true
  }

  /// Hashes the size and the first conditions. So a chain of many predicates, each a part of the next one, can be kept in a
  /// dictionary without hashing all parts of each.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(weight)
    hasher.combine(levels)
    var pending = [self]
    var budget = 64
    while budget > 0, let tree = pending.popLast() {
      budget -= 1
      switch tree {
      case .constant(let holds): hasher.combine(holds)
      case .comparison(let comparison): hasher.combine(comparison)
      case .not(let part):
        hasher.combine(1)
        pending.append(part)
      case .and(let parts):
        hasher.combine(2)
        pending += parts.prefix(budget).reversed()
      case .or(let parts):
        hasher.combine(3)
        pending += parts.prefix(budget).reversed()
      }
    }
  }
}
