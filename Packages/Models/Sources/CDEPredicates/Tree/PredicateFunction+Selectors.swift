extension PredicateFunction {
  /// The selector of the function in Core Data's format strings and expressions: `modulus:by:`.
  public var selector: String {
    switch self {
    case .add: "add:to:"
    case .subtract: "from:subtract:"
    case .multiply: "multiply:by:"
    case .divide: "divide:by:"
    case .modulus: "modulus:by:"
    case .power: "raise:toPower:"
    case .bitAnd: "bitwiseAnd:with:"
    case .bitOr: "bitwiseOr:with:"
    case .bitXor: "bitwiseXor:with:"
    case .shiftLeft: "leftshift:by:"
    case .shiftRight: "rightshift:by:"
    case .bitNot: "onesComplement:"
    case .coalesce, .now, .union, .intersect, .minus, .element: rawValue
    case .negate, .abs, .floor, .ceiling, .truncate, .squareRoot, .exponential, .naturalLogarithm, .logarithm,
      .lowercase, .uppercase, .canonical, .length:
      rawValue + ":"
    }
  }

  /// How many arguments the function takes.
  @_spi(CDE) public var arity: ClosedRange<Int> {
    switch self {
    case .now: 0...0
    case .coalesce: 1...64
    case .add, .subtract, .multiply, .divide, .modulus, .power, .bitAnd, .bitOr, .bitXor, .shiftLeft,
      .shiftRight, .union, .intersect, .minus, .element:
      2...2
    default: 1...1
    }
  }

  /// The functions by what a format string calls them. Set operations are written between their operands.
  fileprivate static let named: [String: PredicateFunction] = {
    var result: [String: PredicateFunction] = ["modulus": .modulus]
    for function in allCases {
      switch function {
      case .union, .intersect, .minus: break
      default: result[PredicateFunction.plain(function.selector)] = function
      }
    }
    return result
  }()

  /// A function of one argument is written with and without the selector's colon.
  fileprivate static func plain(_ selector: String) -> String {
    selector.hasSuffix(":") && selector.count(where: { $0 == ":" }) == 1
      ? String(selector.dropLast()) : selector
  }
}

extension PredicateAggregate {
  /// The selector of the aggregate as a function: `average:`.
  var selector: String { self == .average ? "average:" : "\(rawValue.dropFirst()):" }

  fileprivate static let named: [String: PredicateAggregate] = [
    "count": .count, "sum": .sum, "average": .average, "avg": .average, "min": .minimum, "max": .maximum,
  ]
}

extension ExpressionTree {
  /// The call of a predefined function by its selector.
  static func function(
    named selector: String, _ arguments: [ExpressionTree]
  ) -> Result<ExpressionTree, PredicateTreeError> {
    let plain = PredicateFunction.plain(selector)
    // It forbids Spotlight to use an index, which no store here does.
    if plain == "noindex", arguments.count == 1 { return .success(arguments[0]) }
    // It names the index that a query should use. The database chooses between its indexes itself.
    if plain == "indexed:by:", arguments.count == 2 { return .success(arguments[0]) }
    if let function = PredicateFunction.named[plain] {
      guard function.arity.contains(arguments.count) else {
        return .failure(
          PredicateTreeError(
            .malformedFormat, construct: plain, "\(plain) does not take \(arguments.count) arguments"))
      }
      return .success(.function(function, arguments))
    }
    if let aggregate = PredicateAggregate.named[plain], !arguments.isEmpty {
      let values = arguments.count == 1 ? arguments[0] : ExpressionTree.list(of: arguments)
      return .success(.aggregate(aggregate, of: values))
    }
    return .failure(
      PredicateTreeError(.unsupported, construct: plain, "there is no function named \(plain)"))
  }
}
