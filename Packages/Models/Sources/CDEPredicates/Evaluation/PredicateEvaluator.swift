@_spi(CDE) internal import CDEOperators
internal import Foundation

/// Evaluates trees in memory with the meaning defined at ``PredicateTree``.
struct PredicateEvaluator {
  let subject: PredicateValue
  var variables: [String: PredicateValue]
  /// If nil, patterns are prepared at each use, and lists are searched member by member.
  let cache: ConditionCache?

  /// Whether the properties of the object have types. A comparison of different kinds is then a mistake.
  var isTyped: Bool {
    if case .object(let object) = subject { return object.predicateValuesHaveTypes }
    return false
  }

  func holds(_ tree: PredicateTree) throws -> Bool {
    try ConditionWalk.holds(tree, \.form) { leaf in
      switch leaf {
      case .comparison(let comparison): try holds(comparison)
      case .constant(let value): value
      case .and, .or, .not: true
      }
    }
  }

  private func holds(_ comparison: PredicateComparison) throws -> Bool {
    let left = try value(comparison.left)
    let right = try value(comparison.right)
    if comparison.modifier == .direct {
      return try compare(left, right, in: comparison)
    }
    // A path through a nil relationship to a collection leads to no members. A single value is its only
    // member.
    let members = left.members ?? (left.isNull ? [] : [left])
    let any = comparison.modifier == .any
    for member in members where try compare(member, right, in: comparison) == any {
      return any
    }
    return !any
  }

  func value(_ expression: ExpressionTree) throws -> PredicateValue {
    switch expression {
    case .constant(let constant): return .constant(constant)
    case .evaluatedObject: return subject
    case .keyPath(let path): return try subject.value(at: path)
    case .variable(let name): return try variable(name)
    case .variableKeyPath(let name, let path): return try variable(name).value(at: path)
    case .projection(let base, let path): return try value(base).value(at: path)
    case .aggregate(let aggregate, let base): return try self.aggregate(aggregate, of: base)
    case .subquery(let collection, let variable, let predicate):
      return .collection(try members(of: collection, variable: variable, where: predicate))
    case .function(let function, let arguments): return try call(function, arguments)
    case .call(let target, let selector, let arguments): return try call(selector, on: target, arguments)
    case .list(let members): return .collection(try members.map { try value($0) })
    case .conditional(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    }
  }

  private func variable(_ name: String) throws -> PredicateValue {
    guard let value = variables[name] else {
      throw PredicateTreeError(
        .missingVariable, construct: "$" + name,
        "nothing was substituted for $\(name); give the variable a value")
    }
    return value
  }

  private func members(
    of collection: ExpressionTree, variable: String, where predicate: PredicateTree
  ) throws -> [PredicateValue] {
    let value = try value(collection)
    guard let members = value.members ?? (value.isNull ? [] : nil) else {
      throw PredicateTreeError(
        .operands, construct: "SUBQUERY", "the first part of SUBQUERY is not a collection")
    }
    var evaluator = self
    return try members.filter {
      evaluator.variables[variable] = $0
      return try evaluator.holds(predicate)
    }
  }

  private func aggregate(_ aggregate: PredicateAggregate, of base: ExpressionTree) throws -> PredicateValue {
    let value = try value(base)
    guard let members = value.members ?? (value.isNull ? [] : nil) else {
      throw PredicateTreeError(
        .operands, construct: aggregate.rawValue, "\(aggregate.rawValue) needs a collection")
    }
    if aggregate == .count { return .constant(.integer(Int64(members.count))) }
    let constants = try members.compactMap { member -> PredicateConstant? in
      let constant = try scalar(member, for: aggregate.rawValue)
      return constant == .null ? nil : constant
    }
    switch aggregate {
    case .count: return .constant(.integer(Int64(members.count)))
    case .minimum: return .constant(extreme(constants, sign: -1))
    case .maximum: return .constant(extreme(constants, sign: 1))
    case .sum: return .constant(try sum(constants))
    case .average:
      guard !constants.isEmpty else { return .null }
      let total = try sum(constants)
      return .constant(try PredicateArithmetic.call(.divide, [total, .double(Double(constants.count))]))
    }
  }

  private func sum(_ constants: [PredicateConstant]) throws -> PredicateConstant {
    try constants.reduce(.integer(0)) {
      guard $1.isNumber else {
        throw PredicateTreeError(.operands, construct: "@sum", "sums and averages are of numbers alone")
      }
      return try PredicateArithmetic.call(.add, [$0, $1])
    }
  }

  private func extreme(_ constants: [PredicateConstant], sign: Int) -> PredicateConstant {
    guard var result = constants.first else { return .null }
    for constant in constants.dropFirst() {
      if let order = PredicateOrder.compare(constant, result, []), order.signum() == sign {
        result = constant
      }
    }
    return result
  }

  func scalar(_ value: PredicateValue, for construct: String) throws -> PredicateConstant {
    guard case .constant(let constant) = value else {
      throw PredicateTreeError(
        .operands, construct: construct, "\(construct) needs single values, not objects")
    }
    return constant
  }

  private func call(_ function: PredicateFunction, _ arguments: [ExpressionTree]) throws -> PredicateValue {
    switch function {
    case .now: return .constant(.date(Date()))
    case .coalesce:
      for argument in arguments {
        let value = try value(argument)
        if !value.isNull { return value }
      }
      return .null
    case .union, .intersect, .minus: return .collection(try combined(function, arguments))
    case .element where arguments.count == 2:
      return try element(of: value(arguments[0]), at: value(arguments[1]))
    default:
      let values = try arguments.map { try scalar(value($0), for: function.rawValue) }
      if values.contains(.null) { return .null }
      return .constant(try PredicateArithmetic.call(function, values))
    }
  }

  private func call(
    _ selector: String, on target: ExpressionTree, _ arguments: [ExpressionTree]
  ) throws -> PredicateValue {
    let value = try value(target)
    if case .constant(let constant) = value, arguments.isEmpty, let result = constant.calling(selector) {
      return .constant(result)
    }
    guard case .object(let object) = value,
      let callable = ((object as? ReflectedObject)?.subject ?? object) as? any PredicateCallable
    else {
      throw PredicateTreeError(
        .unsupported, construct: selector,
        "\(selector) can't be called: its target is no PredicateCallable. Give the object a property instead, and name "
          + "it in the predicate. A mapping may call a function of its entity's policy, named in value(ofFunction:arguments:)"
      )
    }
    return try callable.predicateValue(calling: selector, arguments: try arguments.map { try self.value($0) })
  }

  private func element(of collection: PredicateValue, at index: PredicateValue) throws -> PredicateValue {
    if collection.isNull || index.isNull { return .null }
    switch (collection, index) {
    case (.object(let object), .constant(.string(let key))): return try object.predicateValue(forKey: key)
    case (_, .constant(let index)):
      guard let members = collection.members, let index = index.integerValue else { break }
      let place = index == -1 ? members.count - 1 : Int(clamping: index)
      return members.indices.contains(place) ? members[place] : .null
    default: break
    }
    throw PredicateTreeError(
      .operands, construct: "[]",
      "an index in brackets needs a collection and a whole number, or a dictionary and a key")
  }

  private func combined(
    _ function: PredicateFunction, _ arguments: [ExpressionTree]
  ) throws -> [PredicateValue] {
    let sides = try arguments.map { argument in
      let value = try value(argument)
      guard let members = value.members ?? (value.isNull ? [] : nil) else {
        throw PredicateTreeError(
          .operands, construct: function.rawValue, "\(function.rawValue) needs two collections")
      }
      return members
    }
    let candidates: [PredicateValue]
    switch function {
    case .union: candidates = sides[0] + sides[1]
    default:
      let wanted = function == .intersect
      candidates = sides[0].filter { member in sides[1].contains { isSame(member, $0) } == wanted }
    }
    var result: [PredicateValue] = []
    for member in candidates where !result.contains(where: { isSame(member, $0) }) { result.append(member) }
    return result
  }
}
