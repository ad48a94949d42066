internal import Foundation

extension PredicateFormatParser {
  /// Parses literals, keys, arguments, calls and lists.
  mutating func primary() throws(PredicateTreeError) -> Node {
    switch token.kind {
    case .selector, .symbol("{"): return .expression(try construct())
    case .word(_, escaped: false) where index + 1 < tokens.count && tokens[index + 1].symbol == "(":
      return .expression(try construct())
    default: return try plain()
    }
  }

  /// Parses what has other values in it. Its parts are parsed by recursion, so the functions on the way are small.
  private mutating func construct() throws(PredicateTreeError) -> ExpressionTree {
    try descend()
    let tree =
      switch tokens[index].keyword {
      case "SUBQUERY": try subquery()
      case "CAST": try cast()
      case "TERNARY": try ternary()
      case "FUNCTION": try method()
      case "FETCH": throw fetch()
      default: try call()
      }
    depth -= 1
    return try limited(tree)
  }

  private mutating func call() throws(PredicateTreeError) -> ExpressionTree {
    let position = self.position
    var name: String?
    switch token.kind {
    case .word(let text, _), .selector(let text): name = text
    default: break
    }
    advance()
    if name != nil { try expect("(", after: "the call") }
    let parts = try values(until: name == nil ? "}" : ")", name == nil ? "the list" : "the call")
    return try name.map { name throws(PredicateTreeError) in try call(name, parts, at: position) }
      ?? ExpressionTree.list(of: parts)
  }

  /// Parses values between commas.
  private mutating func values(
    until end: String, _ construct: String
  ) throws(PredicateTreeError) -> [ExpressionTree] {
    var values: [ExpressionTree] = []
    if skip(end) { return values }
    repeat { values.append(try value()) } while skip(",")
    try expect(end, after: construct)
    return values
  }

  /// Parses what has no other values in it.
  private mutating func plain() throws(PredicateTreeError) -> Node {
    let position = self.position
    switch token.kind {
    case .number(let text):
      advance()
      return .expression(.constant(try number(text, at: position)))
    case .string(let text):
      advance()
      return .expression(.constant(.string(text)))
    case .variable(let name):
      advance()
      return .expression(.variable(name))
    case .aggregate:
      // A bare "@count" is the collection operator on the evaluated object itself.
      return .expression(try member(of: .evaluatedObject))
    case .placeholder("K"):
      advance()
      return .expression(try appending(try keyArgument(at: position), to: .evaluatedObject, at: position))
    case .placeholder(let conversion):
      advance()
      return .expression(try valueArgument(conversion, at: position))
    case .word(let word, let escaped): return try self.word(word, escaped: escaped, at: position)
    case .symbol(let symbol): throw malformed(symbol, "a value is expected here, not \"\(symbol)\"")
    case .selector, .end: throw malformed("end", "the format ends where a value is expected")
    }
  }

  private mutating func word(_ word: String, escaped: Bool, at position: Int) throws(PredicateTreeError)
    -> Node
  {
    let keyword = tokens[index].keyword
    advance()
    if escaped { return .expression(.keyPath([word])) }
    switch keyword {
    case "TRUEPREDICATE": return .predicate(.constant(true))
    case "FALSEPREDICATE": return .predicate(.constant(false))
    case "SELF": return .expression(.evaluatedObject)
    case "NIL", "NULL": return .expression(.constant(.null))
    case "TRUE", "YES": return .expression(.constant(.bool(true)))
    case "FALSE", "NO": return .expression(.constant(.bool(false)))
    case let keyword
    where keyword == "AND" || keyword == "OR" || keyword == "NOT"
      || PredicateOperator(rawValue: keyword) != nil:
      throw malformed(
        keyword, "a value is expected here; a key of this name is written #\(word)", at: position)
    default: return .expression(.keyPath([word]))
    }
  }

  private mutating func subquery() throws(PredicateTreeError) -> ExpressionTree {
    advance()
    advance()
    let collection = try value()
    try expect(",", after: "SUBQUERY")
    guard case .variable(let variable) = token.kind else {
      throw malformed("SUBQUERY", "the second part of SUBQUERY is a variable such as $x")
    }
    advance()
    try expect(",", after: "SUBQUERY")
    let predicateStart = position
    let predicate = try requirePredicate(try condition(), at: predicateStart)
    try expect(")", after: "SUBQUERY")
    return .subquery(collection: collection, variable: variable, where: predicate)
  }

  private mutating func ternary() throws(PredicateTreeError) -> ExpressionTree {
    advance()
    advance()
    let start = position
    let condition = try requirePredicate(try condition(), at: start)
    try expect(",", after: "TERNARY")
    let first = try value()
    try expect(",", after: "TERNARY")
    let second = try value()
    try expect(")", after: "TERNARY")
    return .conditional(condition, then: first, else: second)
  }

  /// What source expressions of mapping models have as Xcode writes them.
  private func fetch() -> PredicateTreeError {
    unsupported(
      "FETCH",
      "FETCH is not understood in format strings. As the source expression of an entity mapping write its first part alone, "
        + "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Entity\", \"TRUEPREDICATE\"): the migration "
        + "fetches what the request finds. Elsewhere fetch in code, and pass the objects as an argument")
  }

  private mutating func method() throws(PredicateTreeError) -> ExpressionTree {
    advance()
    advance()
    let target = try value()
    try expect(",", after: "FUNCTION")
    let nameStart = position
    guard case .constant(.string(let selector)) = try value() else {
      throw malformed(
        "FUNCTION", "the second part of FUNCTION is the name of a method, in quotes", at: nameStart)
    }
    var arguments: [ExpressionTree] = []
    while skip(",") { arguments.append(try value()) }
    try expect(")", after: "FUNCTION")
    return .call(target: target, selector: selector, arguments)
  }

  private mutating func cast() throws(PredicateTreeError) -> ExpressionTree {
    advance()
    advance()
    let start = position
    let operand = try value()
    try expect(",", after: "CAST")
    let typeStart = position
    guard case .constant(.string(let type)) = try value() else {
      throw malformed(
        "CAST", "the second part of CAST is the name of a type, such as \"NSDate\"", at: typeStart)
    }
    try expect(")", after: "CAST")
    guard case .constant(let constant) = operand else {
      if let computed = Self.cast(computed: operand, to: type) { return computed }
      throw unsupported(
        "CAST", "CAST is understood for constants and for what is computed of now(), not for keys", at: start)
    }
    guard let result = Self.cast(constant, to: type) else {
      throw malformed("CAST", "the constant cannot be cast to this type", at: start)
    }
    return .constant(result)
  }

  /// A date as its seconds since 2001, or such a number as a date; nil where the operand's kind is not known.
  private static func cast(computed value: ExpressionTree, to type: String) -> ExpressionTree? {
    let start = ExpressionTree.constant(.date(Date(timeIntervalSinceReferenceDate: 0)))
    switch (type, value.kind) {
    case ("NSNumber", .date): return .function(.subtract, [value, start])
    case ("NSDate", .number): return .function(.add, [start, value])
    case ("NSNumber", .number), ("NSDate", .date): return value
    default: return nil
    }
  }

  private static func cast(_ constant: PredicateConstant, to type: String) -> PredicateConstant? {
    switch (type, constant) {
    case ("NSDate", .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case ("NSDate", .integer(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case ("NSUUID", .string(let text)): UUID(uuidString: text).map { .uuid($0) }
    case ("NSURL", .string(let text)): URL(string: text).map { .url($0) }
    case ("NSData", .string(let text)): Data(base64Encoded: text).map { .data($0) }
    case ("NSDecimalNumber", .string("NaN")): .decimal(.nan)
    case ("NSDecimalNumber", .string(let text)): Decimal(string: text).map { .decimal($0) }
    case ("NSDecimalNumber", .integer(let value)): .decimal(Decimal(value))
    case ("NSNumber", .date(let date)): .double(date.timeIntervalSinceReferenceDate)
    case ("NSDate", .date): constant
    case ("NSNumber", .string(let text)): Double(text).map { .double($0) }
    case ("NSNumber", .integer), ("NSNumber", .double), ("NSNumber", .bool), ("NSString", .string): constant
    default: nil
    }
  }

  private func call(
    _ name: String, _ arguments: [ExpressionTree], at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    switch ExpressionTree.function(named: name, arguments) {
    case .success(let tree): return tree
    case .failure(let error):
      throw PredicateTreeError(
        error.code, construct: error.construct, position: position, error.message)
    }
  }
}

extension ExpressionTree {
  fileprivate enum Kind {
    case number, date, unknown
  }

  /// Whether the value is a number or a date, as far as that follows without the types of keys.
  fileprivate var kind: Kind {
    switch self {
    case .constant(.date), .function(.now, _): return .date
    case .constant(let constant): return constant.isNumber ? .number : .unknown
    case .function(let function, let arguments):
      let kinds = arguments.map(\.kind)
      if kinds.contains(.unknown) { return .unknown }
      switch function {
      case .subtract where kinds == [.date, .date]: return .number
      case .add, .subtract: return kinds.contains(.date) ? .date : .number
      case .multiply, .divide, .modulus, .power, .negate, .abs, .floor, .ceiling, .truncate, .squareRoot:
        return kinds.contains(.date) ? .unknown : .number
      default: return .unknown
      }
    default: return .unknown
    }
  }
}
