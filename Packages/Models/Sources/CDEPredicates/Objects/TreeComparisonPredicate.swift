public import Foundation

/// Core Data's `NSComparisonPredicate`: one comparison, with its two expressions.
///
/// A format with one comparison makes one. Foundation declares `NSComparisonPredicate` on Linux without
/// usable initialisers, so the class has a name of its own. Immutable.
public final class TreeComparisonPredicate: TreePredicate {
  /// How the comparison treats a collection on its left side, with Core Data's raw values.
  public enum Modifier: UInt, Sendable, CaseIterable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// The operators, with Core Data's raw values. A custom selector has no meaning without Objective-C.
  public enum Operator: UInt, Sendable, CaseIterable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case contains = 99
    case between = 100
  }

  /// The differences of text to ignore, with Core Data's raw values.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// `[c]`
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`
    public static let normalized = Options(rawValue: 4)
    /// `[l]`
    public static let localeSensitive = Options(rawValue: 8)
  }

  private let left: TreeExpression?
  private let right: TreeExpression?
  /// How the comparison treats a collection on its left side.
  public let comparisonPredicateModifier: Modifier
  /// How the two sides are compared.
  public let predicateOperatorType: Operator
  /// The differences of text to ignore.
  public let options: Options

  /// Makes a comparison of two expressions. If one of them has an error, the predicate has it, too.
  ///
  /// - Parameters:
  ///   - leftExpression: The left side.
  ///   - rightExpression: The right side. For `.between` it is an aggregate of two bounds.
  ///   - modifier: With `.any` and `.all`, the left side is a path over a to-many relationship.
  ///   - type: The operator.
  ///   - options: Apply to text only.
  public init(
    leftExpression: TreeExpression, rightExpression: TreeExpression, modifier: Modifier,
    type: Operator, options: Options = []
  ) {
    (left, right) = (leftExpression, rightExpression)
    (comparisonPredicateModifier, predicateOperatorType, self.options) = (modifier, type, options)
    super.init(walkable: Self.tree(leftExpression, rightExpression, modifier, type, options))
  }

  /// Makes the object of a comparison that allows recursion.
  init(walkable comparison: PredicateComparison) {
    (left, right) = (nil, nil)
    comparisonPredicateModifier = Modifier(comparison.modifier)
    predicateOperatorType = Operator(comparison.op)
    options = Options(rawValue: UInt(comparison.options.rawValue))
    super.init(walkable: .success(.comparison(comparison)))
  }

  /// Reads a comparison from a keyed archive in Core Data's form. See ``PredicateArchives``.
  public required init?(coder: NSCoder) {
    guard let sides = Self.sides(coder), let form = Self.operation(coder) else { return nil }
    (left, right) = sides
    (comparisonPredicateModifier, predicateOperatorType, options) = form
    super.init(walkable: Self.tree(sides.0, sides.1, form.modifier, form.type, form.options))
  }

  private static func tree(
    _ left: TreeExpression, _ right: TreeExpression, _ modifier: Modifier, _ type: Operator,
    _ options: Options
  ) -> Result<PredicateTree, PredicateTreeError> {
    walkable(
      Result { () throws(PredicateTreeError) in
        .comparison(
          PredicateComparison(
            try left.result.get(), type.treeOperator, try right.result.get(),
            modifier: modifier.treeModifier, options: PredicateTextOptions(options)))
      })
  }

  /// The left side.
  public var leftExpression: TreeExpression { left ?? TreeExpression(comparison(\.left)) }

  /// The right side.
  public var rightExpression: TreeExpression { right ?? TreeExpression(comparison(\.right)) }

  private func comparison(
    _ side: KeyPath<PredicateComparison, ExpressionTree>
  ) -> Result<ExpressionTree, PredicateTreeError> {
    result.map { tree in
      if case .comparison(let comparison) = tree { comparison[keyPath: side] } else { .constant(.null) }
    }
  }
}

extension TreeComparisonPredicate.Modifier {
  init(_ modifier: PredicateModifier) {
    switch modifier {
    case .direct: self = .direct
    case .any: self = .any
    case .all: self = .all
    }
  }

  var treeModifier: PredicateModifier {
    switch self {
    case .direct: .direct
    case .any: .any
    case .all: .all
    }
  }
}

extension TreeComparisonPredicate.Operator {
  /// Core Data's number of an operator, and the class of its archives. Compiled models have both, too.
  private static let forms: [(number: Self, op: PredicateOperator, className: String)] = [
    (.lessThan, .less, "NSComparisonPredicateOperator"),
    (.lessThanOrEqualTo, .lessOrEqual, "NSComparisonPredicateOperator"),
    (.greaterThan, .greater, "NSComparisonPredicateOperator"),
    (.greaterThanOrEqualTo, .greaterOrEqual, "NSComparisonPredicateOperator"),
    (.equalTo, .equal, "NSEqualityPredicateOperator"),
    (.notEqualTo, .notEqual, "NSEqualityPredicateOperator"),
    (.matches, .matches, "NSMatchingPredicateOperator"), (.like, .like, "NSLikePredicateOperator"),
    (.beginsWith, .beginsWith, "NSSubstringPredicateOperator"),
    (.endsWith, .endsWith, "NSSubstringPredicateOperator"), (.in, .in, "NSInPredicateOperator"),
    (.contains, .contains, "NSInPredicateOperator"), (.between, .between, "NSBetweenPredicateOperator"),
  ]

  init(_ op: PredicateOperator) {
    self = Self.forms.first { $0.op == op }?.number ?? .equalTo
  }

  var treeOperator: PredicateOperator {
    Self.forms.first { $0.number == self }?.op ?? .equal
  }

  /// Core Data's class of the operator in an archive.
  var archivedClassName: String {
    Self.forms.first { $0.number == self }?.className ?? "NSPredicateOperator"
  }
}

@_spi(CDE) extension PredicateOperator {
  /// The operator with Core Data's number; nil if there is none.
  public init?(coreDataNumber: Int) {
    guard let raw = UInt(exactly: coreDataNumber), let op = TreeComparisonPredicate.Operator(rawValue: raw)
    else {
      return nil
    }
    self = op.treeOperator
  }

  /// Core Data's number of the operator.
  public var coreDataNumber: Int { Int(TreeComparisonPredicate.Operator(self).rawValue) }

  /// Core Data's class of the operator in an archive.
  public var archivedClassName: String { TreeComparisonPredicate.Operator(self).archivedClassName }
}

extension PredicateTextOptions {
  init(_ options: TreeComparisonPredicate.Options) {
    self.init(rawValue: UInt8(truncatingIfNeeded: options.rawValue & 15))
  }
}
