internal import Foundation

// Expressions are walked by recursion, and a stack overflow ends the program. Therefore each tree from outside is measured
// first, with a list instead of a recursion.
extension PredicateTree {
  /// The maximum number of levels of expressions in a tree.
  static let expressionLimit = 200

  /// The number of levels of conditions from which nested conditions of one kind are joined.
  private static let flatteningLimit = 200

  /// Whether the tree's expressions have too many levels for recursion.
  var isTooDeep: Bool { Self.isDeeper(than: Self.expressionLimit, [(.predicate(self), 0)]) }

  fileprivate enum Node {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
  }

  fileprivate static func isDeeper(than limit: Int, _ roots: [(node: Node, depth: Int)]) -> Bool {
    var pending = roots
    while let (node, depth) = pending.popLast() {
      if depth > limit { return true }
      func add(_ tree: PredicateTree) { pending.append((.predicate(tree), depth)) }
      func add(_ expression: ExpressionTree) {
        if !expression.isLeaf { pending.append((.expression(expression), depth + 1)) }
      }
      switch node {
      case .predicate(.constant): break
      case .predicate(.comparison(let comparison)):
        add(comparison.left)
        add(comparison.right)
      case .predicate(.and(let parts)), .predicate(.or(let parts)): for part in parts { add(part) }
      case .predicate(.not(let part)): add(part)
      case .expression(let expression): expression.forEachPart(add, condition: add)
      }
    }
    return false
  }

  /// The tree itself, or if its conditions have many levels, the flattened tree.
  ///
  /// - Throws: ``PredicateTreeError`` if its expressions nest too deep.
  func walkable() throws(PredicateTreeError) -> PredicateTree {
    if isTooDeep { throw Self.tooDeep }
    return levels > Self.flatteningLimit ? flattened : self
  }

  static let tooDeep = PredicateTreeError(
    .unsupported, construct: "nesting",
    "an expression of the predicate nests deeper than \(expressionLimit) levels; compute the value in steps, or keep it "
      + "in a property")
}

extension ExpressionTree {
  /// Whether the expression has no parts.
  fileprivate var isLeaf: Bool {
    switch self {
    case .constant, .evaluatedObject, .keyPath, .variable, .variableKeyPath: true
    default: false
    }
  }

  /// Whether the expression has more levels than a limit.
  func isDeeper(than limit: Int) -> Bool {
    switch self {
    // Most expressions are an operator between two values.
    case .function(_, let parts) where parts.allSatisfy(\.isLeaf): 1 > limit
    default: !isLeaf && PredicateTree.isDeeper(than: limit, [(.expression(self), 1)])
    }
  }
}
