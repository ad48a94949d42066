import CDEPredicates
import Foundation

/// A condition on the key `n` that nests, and whether it holds for each number from 0 to 9, which plain logic computes
/// while the condition is made.
struct NestedCondition {
  enum Shape: CaseIterable {
    /// AND and OR in turn, nested on the left.
    case left
    /// AND and OR in turn, nested on the right.
    case right
    /// NOT of AND and of OR in turn, nested on either side.
    case mixed
    /// AND alone, nested on either side.
    case conjunction
    case disjunction
    case negation
  }

  private(set) var values: [Bool]
  private var steps: [(PredicateTree) -> PredicateTree] = []
  private var before: [String] = []
  private var after: [String] = []
  private let key: Int

  /// The condition as a format string, with parentheses around each compound.
  var format: String { before.reversed().joined() + "n == \(key)" + after.joined() }

  /// The condition as a tree, which is made at each use.
  var tree: PredicateTree { steps.reduce(Self.leaf(key)) { $1($0) } }

  private init(_ key: Int) {
    self.key = key
    values = (0..<10).map { $0 == key }
  }

  /// A condition of one shape.
  init(_ shape: Shape, levels: Int) {
    self.init(5)
    for level in 0..<levels {
      // Keys that decide nothing for most numbers, so that the innermost condition matters.
      let key = level % 5
      switch shape {
      case .left: join(isAnd: level % 2 == 0, key, isNegated: level % 2 == 0, isOnLeft: true)
      case .right: join(isAnd: level % 2 == 0, key, isNegated: level % 2 == 0, isOnLeft: false)
      case .mixed:
        join(isAnd: level % 4 == 0, key, isNegated: level % 4 == 0, isOnLeft: level % 3 == 0)
        negate()
      case .conjunction: join(isAnd: true, key, isNegated: true, isOnLeft: level % 2 == 0)
      case .disjunction: join(isAnd: false, key, isNegated: false, isOnLeft: level % 2 == 0)
      case .negation: negate()
      }
    }
  }

  /// A random condition.
  init(levels: Int, random: inout SplitMix) {
    self.init(Int.random(in: 0..<10, using: &random))
    for _ in 0..<levels {
      if Int.random(in: 0..<4, using: &random) == 0 {
        negate()
      } else {
        let isAnd = Bool.random(using: &random)
        let isNegated = Int.random(in: 0..<4, using: &random) == 0 ? !isAnd : isAnd
        join(
          isAnd: isAnd, Int.random(in: 0..<10, using: &random), isNegated: isNegated,
          isOnLeft: Bool.random(using: &random))
      }
    }
  }

  private static func leaf(_ key: Int, isNegated: Bool = false) -> PredicateTree {
    .compare(.keyPath(["n"]), isNegated ? .notEqual : .equal, .constant(.integer(Int64(key))))
  }

  private mutating func join(isAnd: Bool, _ key: Int, isNegated: Bool, isOnLeft: Bool) {
    let other = Self.leaf(key, isNegated: isNegated)
    steps.append { tree in
      let parts = isOnLeft ? [tree, other] : [other, tree]
      return isAnd ? .and(parts) : .or(parts)
    }
    let (text, word) = ("n \(isNegated ? "!=" : "==") \(key)", isAnd ? " AND " : " OR ")
    before.append(isOnLeft ? "(" : "(\(text)\(word)")
    after.append(isOnLeft ? "\(word)\(text))" : ")")
    for number in values.indices {
      let holds = (number == key) != isNegated
      values[number] = isAnd ? values[number] && holds : values[number] || holds
    }
  }

  private mutating func negate() {
    steps.append { .not($0) }
    before.append("NOT (")
    after.append(")")
    values = values.map { !$0 }
  }
}
