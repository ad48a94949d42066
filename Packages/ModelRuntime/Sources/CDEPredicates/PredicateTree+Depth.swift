internal import Foundation

// Trees are processed recursively, and a stack overflow ends the program. Therefore each tree from outside is
// measured first, with a list instead of a recursion.
extension PredicateTree {
  /// The maximum number of levels of conditions and expressions in a tree.
  static let depthLimit = 200

  private enum Node {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
  }

  /// Whether the tree has too many levels for recursion.
  var isTooDeep: Bool { Self.isTooDeep(.predicate(self)) }

  private static func isTooDeep(_ root: Node) -> Bool {
    var pending: [(node: Node, depth: Int)] = [(root, 1)]
    while let (node, depth) = pending.popLast() {
      if depth > depthLimit { return true }
      func add(_ tree: PredicateTree) { pending.append((.predicate(tree), depth + 1)) }
      func add(_ expression: ExpressionTree) {
        switch expression {
        case .constant, .evaluatedObject, .keyPath, .variable, .variableKeyPath: break
        default: pending.append((.expression(expression), depth + 1))
        }
      }
      switch node {
      case .predicate(.constant): break
      case .predicate(.comparison(let comparison)):
        add(comparison.left)
        add(comparison.right)
      case .predicate(.and(let parts)), .predicate(.or(let parts)): for part in parts { add(part) }
      case .predicate(.not(let part)): add(part)
      case .expression(.projection(let base, _)), .expression(.aggregate(_, let base)): add(base)
      case .expression(.subquery(let collection, _, let predicate)):
        add(collection)
        add(predicate)
      case .expression(.function(_, let arguments)), .expression(.list(let arguments)):
        for argument in arguments { add(argument) }
      case .expression(.call(let target, _, let arguments)):
        add(target)
        for argument in arguments { add(argument) }
      case .expression(.conditional(let test, let first, let second)):
        add(test)
        add(first)
        add(second)
      case .expression: break
      }
    }
    return false
  }

  /// The tree itself if its depth allows recursion. Otherwise an equivalent tree in which nested conjunctions
  /// and nested disjunctions are joined and double negations are removed.
  ///
  /// - Throws: ``PredicateTreeError`` if the tree is too deep in that form, too.
  func walkable() throws(PredicateTreeError) -> PredicateTree {
    guard isTooDeep else { return self }
    let flat = try flattened(1)
    if flat.isTooDeep { throw Self.tooDeep }
    return flat
  }

  static let tooDeep = PredicateTreeError(
    .unsupported, construct: "nesting",
    "the predicate nests deeper than \(depthLimit) levels; join its parts in one AND or OR, or filter in steps"
  )

  private func flattened(_ depth: Int) throws(PredicateTreeError) -> PredicateTree {
    if depth > Self.depthLimit { throw Self.tooDeep }
    switch self {
    case .constant, .comparison: return self
    case .and(let parts): return .and(try Self.flattened(parts, isAnd: true, depth))
    case .or(let parts): return .or(try Self.flattened(parts, isAnd: false, depth))
    case .not(let part):
      var (inner, isNegated) = (part, true)
      while case .not(let next) = inner { (inner, isNegated) = (next, !isNegated) }
      let flat = try inner.flattened(depth + 1)
      return isNegated ? .not(flat) : flat
    }
  }

  private static func flattened(
    _ parts: [PredicateTree], isAnd: Bool, _ depth: Int
  ) throws(PredicateTreeError) -> [PredicateTree] {
    var result: [PredicateTree] = []
    var pending = Array(parts.reversed())
    while let part = pending.popLast() {
      switch part {
      case .and(let inner) where isAnd: pending += inner.reversed()
      case .or(let inner) where !isAnd: pending += inner.reversed()
      default: result.append(try part.flattened(depth + 1))
      }
    }
    return result
  }
}

extension NSCompoundPredicate {
  /// Whether the compound has too many levels for recursion.
  var isTooDeep: Bool {
    if ownResult != nil { return false }
    var pending: [(predicate: NSPredicate, depth: Int)] = [(self, 1)]
    while let (predicate, depth) = pending.popLast() {
      guard predicate.ownResult == nil, let compound = predicate as? NSCompoundPredicate else { continue }
      if depth > PredicateTree.depthLimit { return true }
      for part in compound.subpredicates { pending.append((part, depth + 1)) }
    }
    return false
  }

  /// The tree of a compound of any depth, in the form of ``PredicateTree/walkable()``.
  func flatTree(from depth: Int) throws(PredicateTreeError) -> PredicateTree {
    if depth > PredicateTree.depthLimit { throw PredicateTree.tooDeep }
    if compoundPredicateType == .not {
      var (inner, isNegated) = (try negated(), true)
      while inner.ownResult == nil, let next = inner as? NSCompoundPredicate,
        next.compoundPredicateType == .not
      {
        (inner, isNegated) = (try next.negated(), !isNegated)
      }
      let flat = try inner.flatTree(depth + 1)
      return isNegated ? .not(flat) : flat
    }
    var parts: [PredicateTree] = []
    var pending = Array(subpredicates.reversed())
    while let part = pending.popLast() {
      if part.ownResult == nil, let inner = part as? NSCompoundPredicate,
        inner.compoundPredicateType == compoundPredicateType
      {
        pending += inner.subpredicates.reversed()
      } else {
        parts.append(try part.flatTree(depth + 1))
      }
    }
    return compoundPredicateType == .and ? .and(parts) : .or(parts)
  }

  /// The operand of a NOT.
  func negated() throws(PredicateTreeError) -> NSPredicate {
    guard let part = subpredicates.first else {
      throw PredicateTreeError(.operands, construct: "NOT", "a NOT predicate has no subpredicate")
    }
    return part
  }
}

extension NSPredicate {
  fileprivate func flatTree(_ depth: Int) throws(PredicateTreeError) -> PredicateTree {
    if ownResult == nil, let compound = self as? NSCompoundPredicate {
      return try compound.flatTree(from: depth)
    }
    return try predicateTree()
  }
}
