@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Turns archived conditions and expressions into trees.
///
/// What has no form as a tree is no error of the model: the condition then contains the reason, and a fetch
/// with it throws the reason.
struct PredicateArchiveReader {
  let archive: ModelArchive
  /// Objects that may still be read. Archived conditions may share parts, so a small file could stand for
  /// an endless condition.
  private var budget: Int
  private static let depthLimit = 100

  init(archive: ModelArchive) {
    self.archive = archive
    budget = 16 * archive.count + 1024
  }

  /// The condition that a field refers to; `nil` for nothing.
  mutating func predicate(_ node: PropertyListNode?) -> NSPredicate? {
    guard let index = archive.reference(node) else { return nil }
    var result: Result<PredicateTree, PredicateTreeError>
    do throws(PredicateTreeError) { result = .success(try tree(index, 0)) } catch {
      result = .failure(error)
    }
    return TreePredicate.object(result)
  }

  /// The text of the derivation that a field refers to; `nil` when it has no form here.
  mutating func derivation(_ node: PropertyListNode?) -> String? {
    (try? expression(node)).map(DerivationText.text)
  }

  private mutating func fields(
    _ index: Int?, _ depth: Int
  ) throws(PredicateTreeError) -> ModelArchive.Fields {
    budget -= 1
    guard budget > 0, depth < Self.depthLimit else {
      throw PredicateTreeError(
        .unsupported, construct: "archive", "the condition of the compiled model is nested too deeply")
    }
    guard let fields = index.flatMap({ archive.fields($0) }) else { throw Self.damaged }
    return fields
  }

  private static let damaged = PredicateTreeError(
    .malformedFormat, construct: "archive",
    "the condition of the compiled model is damaged. Compile the model again")

  // MARK: Conditions

  /// A compound of which the parts are being read.
  private struct OpenCompound {
    let type: Int64?
    let members: [Int]
    var parts: [PredicateTree] = []
  }

  // With a list instead of recursion, because conditions may nest deeper than a stack allows. The budget ends cycles.
  private mutating func tree(_ index: Int, _ depth: Int) throws(PredicateTreeError) -> PredicateTree {
    var open: [OpenCompound] = []
    var index = index
    while true {
      let fields = try fields(index, depth)
      var finished: PredicateTree?
      if archive.className(fields) == "NSCompoundPredicate" {
        let type = archive.integer(fields[.compoundPredicateType]).map { Int64($0) }
        open.append(OpenCompound(type: type, members: archive.members(fields[.subpredicates])))
      } else {
        finished = try leaf(fields, depth)
      }
      while true {
        if let finished {
          if open.isEmpty { return finished }
          open[open.count - 1].parts.append(finished)
        }
        let compound = open[open.count - 1]
        if compound.parts.count < compound.members.count {
          index = compound.members[compound.parts.count]
          break
        }
        finished = try Self.tree(of: compound)
        open.removeLast()
      }
    }
  }

  private static func tree(of compound: OpenCompound) throws(PredicateTreeError) -> PredicateTree {
    switch compound.type {
    case 0? where compound.parts.count == 1: .not(compound.parts[0])
    case 1?: .and(compound.parts)
    case 2?: .or(compound.parts)
    default: throw damaged
    }
  }

  private mutating func leaf(
    _ fields: ModelArchive.Fields, _ depth: Int
  ) throws(PredicateTreeError) -> PredicateTree {
    switch archive.className(fields) {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSComparisonPredicate":
      let left = try expression(fields[.leftExpression], depth + 1)
      let right = try expression(fields[.rightExpression], depth + 1)
      let part = try self.fields(archive.reference(fields[.predicateOperator]), depth)
      guard let number = archive.integer(part[.operatorType]),
        let op = PredicateOperator(coreDataNumber: number)
      else { throw Self.damaged }
      let modifiers: [PredicateModifier] = [.direct, .all, .any]
      let modifier = archive.integer(part[.modifier]) ?? 0
      let options = archive.integer(part[.options] ?? part[.flags]) ?? 0
      guard modifiers.indices.contains(modifier) else { throw Self.damaged }
      return .comparison(
        PredicateComparison(
          left, op, right, modifier: modifiers[modifier],
          options: PredicateTextOptions(rawValue: UInt8(truncatingIfNeeded: options & 0x0F))))
    case let name:
      throw PredicateTreeError(
        .unsupported, construct: name, "the compiled model has a condition of the class \(name)")
    }
  }

  // MARK: Expressions

  mutating func expression(
    _ node: PropertyListNode?, _ depth: Int = 0
  ) throws(PredicateTreeError) -> ExpressionTree {
    let fields = try fields(archive.reference(node), depth)
    let name = archive.className(fields)
    switch name {
    case "NSSelfExpression": return .evaluatedObject
    case "NSConstantValueExpression":
      guard let constant = archive.constant(fields[.constantValue]) else { break }
      return .constant(constant)
    case "NSVariableExpression":
      guard let variable = archive.text(fields[.variable]), !variable.isEmpty else {
        throw Self.damaged
      }
      return .variable(variable)
    case "NSKeyPathExpression": return try keyPath(fields, depth)
    case "NSKeyPathSpecifierExpression":
      return try path(archive.text(fields[.keyPath]), of: .evaluatedObject)
    case "NSFunctionExpression": return try function(fields, depth)
    case "NSAggregateExpression":
      return Self.list(try arguments(fields[.collection], depth))
    case "NSSubqueryExpression":
      let collection = try expression(fields[.collection], depth + 1)
      var variable = archive.text(fields[.variable])
      if variable == nil, case .variable(let name) = try expression(fields[.variable], depth + 1) {
        variable = name
      }
      guard let variable, let condition = archive.reference(fields[.predicate]) else {
        throw Self.damaged
      }
      return .subquery(
        collection: collection, variable: variable, where: try tree(condition, depth + 1))
    case "NSTernaryExpression":
      guard let condition = archive.reference(fields[.predicate]) else { throw Self.damaged }
      return .conditional(
        try tree(condition, depth + 1), then: try expression(fields[.trueExpression], depth + 1),
        else: try expression(fields[.falseExpression], depth + 1))
    default: break
    }
    throw PredicateTreeError(
      .unsupported, construct: name, "the compiled model has an expression of the class \(name)")
  }

  private mutating func arguments(
    _ node: PropertyListNode?, _ depth: Int
  ) throws(PredicateTreeError) -> [ExpressionTree] {
    var result: [ExpressionTree] = []
    for member in archive.members(node) { result.append(try expression(.reference(member), depth + 1)) }
    return result
  }

  private static func list(_ members: [ExpressionTree]) -> ExpressionTree {
    var constants: [PredicateConstant] = []
    for member in members {
      guard case .constant(let constant) = member else { return .list(members) }
      constants.append(constant)
    }
    return .constant(.list(constants))
  }

  private mutating func keyPath(
    _ fields: ModelArchive.Fields, _ depth: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    let operand = try expression(fields[.operand], depth + 1)
    guard let argument = archive.members(fields[.arguments]).first else { throw Self.damaged }
    let specifier = try self.fields(argument, depth)
    return try path(archive.text(specifier[.keyPath] ?? specifier[.constantValue]), of: operand)
  }

  private func path(_ path: String?, of operand: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree
  {
    guard let path, !path.isEmpty else { throw Self.damaged }
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !keys.contains("") else { throw Self.damaged }
    if path.contains("@") {
      // An operator such as @count is part of the path, and the grammar knows where it stands.
      switch operand {
      case .evaluatedObject: return try ExpressionTree(format: path)
      case .variable(let name): return try ExpressionTree(format: "$\(name).\(path)")
      default: break
      }
      guard keys.count == 1, let aggregate = PredicateAggregate(rawValue: keys[0]) else {
        throw PredicateTreeError(.unsupported, construct: path, "the compiled model has a path \(path)")
      }
      return .aggregate(aggregate, of: operand)
    }
    switch operand {
    case .evaluatedObject: return .keyPath(keys)
    case .variable(let name): return .variableKeyPath(name, keys)
    default: return .projection(of: operand, keys)
    }
  }

  private mutating func function(
    _ fields: ModelArchive.Fields, _ depth: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    let selector = archive.text(fields[.selectorName]) ?? ""
    if selector == "valueForKeyPath:" || selector == "valueForKey:" { return try keyPath(fields, depth) }
    let arguments = try arguments(fields[.arguments], depth)
    // A predefined function is a method of a class of Core Data, which is named by text.
    let target = try self.fields(archive.reference(fields[.operand]), depth)
    if archive.className(target) != "NSConstantValueExpression" {
      return .call(target: try expression(fields[.operand], depth + 1), selector: selector, arguments)
    }
    if let aggregate = PredicateArchive.aggregates.first(where: { $0.selector == selector })?.aggregate,
      arguments.count == 1
    {
      return .aggregate(aggregate, of: arguments[0])
    }
    guard let known = PredicateArchive.functions.first(where: { $0.selector == selector }),
      known.arity == arguments.count
    else {
      throw PredicateTreeError(
        .unsupported, construct: selector, "the compiled model calls the function \(selector)")
    }
    return .function(known.function, arguments)
  }
}

/// The numbers and names that archived conditions use.
enum PredicateArchive {
  /// The functions that are methods of a class of Core Data.
  static let functions: [(selector: String, function: PredicateFunction, arity: Int)] =
    PredicateFunction.allCases.compactMap { function in
      switch function {
      case .negate, .coalesce, .union, .intersect, .minus, .element: nil
      case .add, .subtract, .multiply, .divide, .modulus, .power, .bitAnd, .bitOr, .bitXor, .shiftLeft,
        .shiftRight, .bitNot,
        .abs, .floor, .ceiling, .truncate, .squareRoot, .exponential, .naturalLogarithm, .logarithm,
        .lowercase,
        .uppercase, .canonical, .length, .now:
        (function.selector, function, function.arity.lowerBound)
      }
    }

  static let aggregates: [(selector: String, aggregate: PredicateAggregate)] = [
    ("count:", .count), ("sum:", .sum), ("average:", .average), ("min:", .minimum), ("max:", .maximum),
  ]
}

/// The text of a derivation, in the form that Core Data hashes.
enum DerivationText {
  /// The text in that form; the same text if it is no expression. A compiled model has `count:(pages)` for `pages.@count`.
  static func normal(_ derivation: String) -> String {
    (try? ExpressionTree(format: derivation)).map(text) ?? derivation
  }

  static func text(_ tree: ExpressionTree) -> String {
    switch tree {
    case .keyPath(let path): return path.joined(separator: ".")
    case .aggregate(let aggregate, let base):
      let selector = PredicateArchive.aggregates.first { $0.aggregate == aggregate }!.selector
      return "\(selector)(\(text(base)))"
    case .function(let function, let arguments):
      guard let known = PredicateArchive.functions.first(where: { $0.function == function }) else { break }
      return "\(known.selector)(\(arguments.map(text).joined(separator: ", ")))"
    default: break
    }
    return tree.predicateFormat
  }
}
