@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

extension ArchiveBuilder {
  /// The archived form of a condition.
  ///
  /// - Throws: `PredicateTreeError` that names what has no archived form.
  mutating func predicate(_ predicate: NSPredicate) throws(PredicateTreeError) -> PropertyListNode {
    try tree(try predicate.predicateTree())
  }

  private mutating func tree(_ tree: PredicateTree) throws(PredicateTreeError) -> PropertyListNode {
    try tree.folded { comparison throws(PredicateTreeError) in
      try self.comparison(comparison)
    } constant: { value throws(PredicateTreeError) in
      object(value ? "NSTruePredicate" : "NSFalsePredicate", [:])
    } negation: { part throws(PredicateTreeError) in
      compound(0, [part])
    } compound: { parts, isAnd throws(PredicateTreeError) in
      compound(isAnd ? 1 : 2, parts)
    }
  }

  private mutating func comparison(
    _ comparison: PredicateComparison
  ) throws(PredicateTreeError) -> PropertyListNode {
    let left = try expression(comparison.left)
    let right = try expression(comparison.right)
    let modifier =
      switch comparison.modifier {
      case .direct: 0
      case .all: 1
      case .any: 2
      }
    let op = object(
      comparison.op.archivedClassName,
      [
        "NSOperatorType": .integer(Int64(comparison.op.coreDataNumber)),
        "NSModifier": .integer(Int64(modifier)),
        "NSNegate": .bool(comparison.op == .notEqual),
        "NSOptions": .integer(Int64(comparison.options.rawValue)),
      ])
    return object(
      "NSComparisonPredicate",
      ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": op])
  }

  private mutating func compound(_ type: Int64, _ members: [PropertyListNode]) -> PropertyListNode {
    let list = array(members)
    return object(
      "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": list])
  }

  // MARK: Expressions

  /// The archived form of an expression.
  ///
  /// - Throws: `PredicateTreeError` that names what has no archived form.
  mutating func expression(_ tree: ExpressionTree) throws(PredicateTreeError) -> PropertyListNode {
    switch tree {
    case .constant(let constant):
      guard let value = self.constant(constant) else { throw Self.noForm(tree) }
      return object(
        "NSConstantValueExpression", ["NSExpressionType": .integer(0), "NSConstantValue": value])
    case .evaluatedObject: return object("NSSelfExpression", ["NSExpressionType": .integer(1)])
    case .variable(let name):
      let variable = string(name)
      return object("NSVariableExpression", ["NSExpressionType": .integer(2), "NSVariable": variable])
    case .keyPath(let keys): return keyPath(keys, of: try expression(.evaluatedObject))
    case .variableKeyPath(let name, let keys): return keyPath(keys, of: try expression(.variable(name)))
    case .projection(let base, let keys): return keyPath(keys, of: try expression(base))
    case .aggregate(let aggregate, let base):
      let selector = PredicateArchive.aggregates.first { $0.aggregate == aggregate }!.selector
      return function(selector, [try expression(base)])
    case .function(let function, let arguments):
      guard
        let known = PredicateArchive.functions.first(where: {
          $0.function == function && $0.arity == arguments.count
        })
      else { throw Self.noForm(tree) }
      var list: [PropertyListNode] = []
      for argument in arguments { list.append(try expression(argument)) }
      return self.function(known.selector, list)
    case .call(let target, let selector, let arguments):
      let operand = try expression(target)
      var list: [PropertyListNode] = []
      for argument in arguments { list.append(try expression(argument)) }
      return function(selector, list, of: operand)
    case .list(let members):
      var list: [PropertyListNode] = []
      for member in members { list.append(try expression(member)) }
      let collection = array(list)
      return object(
        "NSAggregateExpression", ["NSExpressionType": .integer(14), "NSCollection": collection])
    case .subquery(let collection, let name, let condition):
      let collection = try expression(collection)
      let variable = try expression(.variable(name))
      let predicate = try self.tree(condition)
      return object(
        "NSSubqueryExpression",
        [
          "NSExpressionType": .integer(13), "NSCollection": collection, "NSVariable": variable,
          "NSPredicate": predicate,
        ])
    case .conditional(let condition, let first, let second):
      let predicate = try self.tree(condition)
      let (first, second) = (try expression(first), try expression(second))
      return object(
        "NSTernaryExpression",
        [
          "NSExpressionType": .integer(20), "NSPredicate": predicate, "NSTrueExpression": first,
          "NSFalseExpression": second,
        ])
    }
  }

  private mutating func keyPath(_ keys: [String], of operand: PropertyListNode) -> PropertyListNode {
    let path = string(keys.joined(separator: "."))
    let specifier = object(
      "NSKeyPathSpecifierExpression", ["NSExpressionType": .integer(10), "NSKeyPath": path])
    let arguments = array([specifier], class: "NSMutableArray")
    let isPlain = keyPaths == .plain
    let selector = string(isPlain && keys.count == 1 ? "valueForKey:" : "valueForKeyPath:")
    return object(
      "NSKeyPathExpression",
      [
        "NSExpressionType": .integer(isPlain ? 3 : 4), "NSOperand": operand, "NSSelectorName": selector,
        "NSArguments": arguments,
      ])
  }

  private mutating func function(_ selector: String, _ arguments: [PropertyListNode]) -> PropertyListNode {
    let name = string("_NSPredicateUtilities")
    let operand = object(
      "NSConstantValueExpression", ["NSExpressionType": .integer(0), "NSConstantValueClassName": name])
    return self.function(selector, arguments, of: operand)
  }

  private mutating func function(
    _ selector: String, _ arguments: [PropertyListNode], of operand: PropertyListNode
  ) -> PropertyListNode {
    let list = array(arguments, class: "NSMutableArray")
    let selector = string(selector)
    return object(
      "NSFunctionExpression",
      [
        "NSExpressionType": .integer(4), "NSOperand": operand, "NSSelectorName": selector,
        "NSArguments": list,
      ])
  }

  private static func noForm(_ tree: ExpressionTree) -> PredicateTreeError {
    PredicateTreeError(
      .unsupported, construct: tree.predicateFormat,
      "\(tree.predicateFormat) has no form in compiled models. Use functions of Core Data")
  }
}
