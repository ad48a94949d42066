public import Foundation
@_spi(CDE) internal import CDEExecutors

// The parts of Core Data's NSExpression.
extension TreeExpression {
  /// The kinds of expressions, with Core Data's raw values.
  public enum ExpressionType: UInt, Sendable, CaseIterable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case unionSet = 5
    case intersectSet = 6
    case minusSet = 7
    case subquery = 13
    case aggregate = 14
    /// Spotlight's `ANYKEY`, which no expression here is.
    case anyKey = 15
    /// A block, which no expression here is.
    case block = 19
    case conditional = 20
  }

  /// The kind, which says what parts there are. An expression with an error is a constant nil, unless it
  /// calls an unknown function.
  public var expressionType: ExpressionType {
    if case .function = form { return .function }
    guard let tree = try? result.get() else { return .constantValue }
    switch tree {
    case .constant(.list): if case .listConstant = form { return .constantValue } else { return .aggregate }
    case .constant: return .constantValue
    case .evaluatedObject: return .evaluatedObject
    case .variable: return .variable
    case .keyPath, .variableKeyPath, .projection: return .keyPath
    case .aggregate(_, let base): return base.steps == nil ? .function : .keyPath
    case .subquery: return .subquery
    case .function(.union, _): return .unionSet
    case .function(.intersect, _): return .intersectSet
    case .function(.minus, _): return .minusSet
    case .function, .call: return .function
    case .list: return .aggregate
    case .conditional: return .conditional
    }
  }

  /// The value of a constant; nil for other kinds. Numbers are `NSNumber`. Objects are represented by what
  /// predicates compare, such as their object IDs.
  public var constantValue: Any? {
    guard case .constant(let constant)? = try? result.get() else { return nil }
    return constant.plainValue
  }

  /// The key path without its operand: `tags.@count`, and `score` of `$tag.score`.
  ///
  /// The program ends if the expression has another kind.
  public var keyPath: String {
    switch try? result.get() {
    case .keyPath(let path)?, .variableKeyPath(_, let path)?, .projection(_, let path)?:
      return path.joined(separator: ".")
    case .aggregate(let aggregate, let base)?:
      guard var keys = base.steps?.keys else { return lacks("keyPath") }
      // Key-value coding puts the operator in front of the last key.
      keys.insert(aggregate.rawValue, at: aggregate == .count || keys.isEmpty ? keys.count : keys.count - 1)
      return keys.joined(separator: ".")
    default: return lacks("keyPath")
    }
  }

  /// The selector of a function: `sum:`. The program ends if the expression has another kind.
  public var function: String {
    if case .function(let name, _) = form { return name }
    switch try? result.get() {
    case .function(let function, _)?: return function.selector
    case .aggregate(let aggregate, let base)? where base.steps == nil: return aggregate.selector
    case .call(_, let selector, _)?: return selector
    default: return lacks("function")
    }
  }

  /// The name of a variable, without `$`. For a subquery it is the member's name. The program ends if the
  /// expression has another kind.
  public var variable: String {
    switch try? result.get() {
    case .variable(let name)?, .subquery(_, let name, _)?: return name
    default: return lacks("variable")
    }
  }

  /// What a function or a key path applies to: the evaluated object, a variable, a subquery, or the target
  /// of a method. For a predefined function it is the name of Core Data's class of functions. The program
  /// ends if the expression has another kind.
  public var operand: TreeExpression {
    if case .function = form { return TreeExpression(Self.predefined) }
    switch try? result.get() {
    case .keyPath?: return TreeExpression(.evaluatedObject)
    case .variableKeyPath(let name, _)?: return TreeExpression(.variable(name))
    case .projection(let base, _)?: return TreeExpression(base)
    case .aggregate(_, let base)?: return TreeExpression(base.steps?.root ?? Self.predefined)
    case .function?: return TreeExpression(Self.predefined)
    case .call(let target, _, _)?: return TreeExpression(target)
    default: return lacks("operand")
    }
  }

  /// The arguments of a function; nil for other kinds.
  public var arguments: [TreeExpression]? {
    if case .function(_, let arguments) = form { return arguments }
    switch try? result.get() {
    case .function(_, let arguments)?, .call(_, _, let arguments)?:
      return arguments.map { TreeExpression($0) }
    case .aggregate(_, let base)? where base.steps == nil: return [TreeExpression(base)]
    default: return nil
    }
  }

  /// The members of an aggregate, an array of expressions, or the collection of a subquery, an expression.
  /// The program ends if the expression has another kind.
  public var collection: Any {
    switch try? result.get() {
    case .list(let members)?: return members.map { TreeExpression($0) }
    case .constant(.list(let members))?: return members.map { TreeExpression(.constant($0)) }
    case .subquery(let collection, _, _)?: return TreeExpression(collection)
    default: return lacks("collection")
    }
  }

  /// The predicate of a subquery or of a conditional. The program ends if the expression has another kind.
  public var predicate: NSPredicate {
    switch try? result.get() {
    case .subquery(_, _, let tree)?, .conditional(let tree, _, _)?: return NSPredicate(tree)
    default: return lacks("predicate")
    }
  }

  /// The left side of a set operation. The program ends if the expression has another kind.
  public var left: TreeExpression { side(0, "left") }

  /// The right side of a set operation. The program ends if the expression has another kind.
  public var right: TreeExpression { side(1, "right") }

  /// The value of a conditional whose predicate is true. The program ends if the expression has another kind.
  public var `true`: TreeExpression {
    guard case .conditional(_, let value, _)? = try? result.get() else { return lacks("true") }
    return TreeExpression(value)
  }

  /// The value of a conditional whose predicate is false. The program ends if the expression has another
  /// kind.
  public var `false`: TreeExpression {
    guard case .conditional(_, _, let value)? = try? result.get() else { return lacks("false") }
    return TreeExpression(value)
  }

  private func side(_ index: Int, _ name: String) -> TreeExpression {
    guard case .function(let function, let sides)? = try? result.get(),
      [.union, .intersect, .minus].contains(function)
    else { return lacks(name) }
    return TreeExpression(sides[index])
  }

  // As on Apple's platforms, where it is an exception.
  private func lacks<T>(_ part: String) -> T {
    failPrecondition("An expression of the kind \(expressionType) has no \(part); check its expressionType.")
  }

  /// The target of predefined functions in Core Data.
  static let predefined = ExpressionTree.constant(.string("_NSPredicateUtilities"))
}
