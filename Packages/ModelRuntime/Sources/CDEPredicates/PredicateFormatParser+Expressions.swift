internal import Foundation

extension PredicateFormatParser {
  /// Parses sums and differences, and all operators of higher precedence.
  mutating func sum() throws(PredicateTreeError) -> Node {
    try chain(Self.sums) { parser throws(PredicateTreeError) in try parser.product() }
  }

  private mutating func product() throws(PredicateTreeError) -> Node {
    try chain(Self.products) { parser throws(PredicateTreeError) in try parser.powers() }
  }

  private mutating func powers() throws(PredicateTreeError) -> Node {
    try chain(Self.powers) { parser throws(PredicateTreeError) in try parser.unary() }
  }

  // Static, because each operand of each comparison uses it.
  private static let sums: [String: PredicateFunction] = ["+": .add, "-": .subtract]
  private static let products: [String: PredicateFunction] = ["*": .multiply, "/": .divide]
  private static let powers: [String: PredicateFunction] = ["**": .power]

  private mutating func chain(
    _ operators: [String: PredicateFunction],
    _ operand: (inout Self) throws(PredicateTreeError) -> Node
  ) throws(PredicateTreeError) -> Node {
    let start = position
    let first = try operand(&self)
    guard !tokens[index].symbol.isEmpty, operators[tokens[index].symbol] != nil else { return first }
    var result = try requireExpression(first, at: start)
    var length = 0
    while case .symbol(let symbol) = token.kind, let function = operators[symbol] {
      // Each operator adds a level to the tree, on the left.
      length += 1
      guard length < Self.depthLimit else {
        throw unsupported(symbol, "an expression chains more than \(Self.depthLimit) operators")
      }
      advance()
      let start = position
      result = .function(function, [result, try requireExpression(try operand(&self), at: start)])
    }
    return .expression(result)
  }

  private mutating func unary() throws(PredicateTreeError) -> Node {
    guard tokens[index].symbol == "-" else { return try postfix() }
    advance()
    if case .number(let text) = token.kind {
      let position = self.position
      advance()
      return .expression(.constant(try number("-" + text, at: position)))
    }
    let start = position
    let node = try nested { parser throws(PredicateTreeError) in try parser.unary() }
    return .expression(.function(.negate, [try requireExpression(node, at: start)]))
  }

  private mutating func postfix() throws(PredicateTreeError) -> Node {
    let start = position
    var node = try nested { parser throws(PredicateTreeError) in try parser.primary() }
    while true {
      if skip(".") {
        let base = try requireExpression(node, at: start)
        node = .expression(try member(of: base))
      } else if tokens[index].symbol == "[" {
        let base = try requireExpression(node, at: start)
        node = .expression(try index(into: base))
      } else {
        return node
      }
    }
  }

  private mutating func member(of base: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
    let position = self.position
    switch token.kind {
    case .word(let name, _):
      advance()
      return try appending([name], to: base, at: position)
    case .aggregate(let name):
      advance()
      var rest: [String] = []
      while name != PredicateAggregate.count.rawValue, token.kind == .symbol("."),
        index + 1 < tokens.count, case .word(let key, _) = tokens[index + 1].kind
      {
        advance()
        advance()
        rest.append(key)
      }
      return try aggregate(name, of: base, path: rest, at: position)
    case .placeholder("K"):
      advance()
      return try appending(try keyArgument(at: position), to: base, at: position)
    default:
      throw malformed("key path", "a key, an aggregate such as @count or %K has to follow the dot")
    }
  }

  private mutating func index(into base: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
    let position = self.position
    if isWord("SIZE", ahead: 1) {
      advance()
      advance()
      try expect("]", after: "the index")
      return .aggregate(.count, of: base)
    }
    throw unsupported(
      "index", "only [SIZE] is understood; relationships have no index in a query", at: position)
  }

  /// Appends key path segments to an expression. Segments that begin with `@` are aggregates.
  func appending(
    _ segments: [String], to base: ExpressionTree, at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    var result = base
    var rest = segments[...]
    while let segment = rest.popFirst() {
      if segment.hasPrefix("@") {
        let path = segment == PredicateAggregate.count.rawValue ? [] : Array(rest)
        if !path.isEmpty { rest = [] }
        result = try aggregate(segment, of: result, path: path, at: position)
      } else {
        result = try appendingKey(segment, to: result, at: position)
      }
    }
    return result
  }

  private func appendingKey(
    _ key: String, to base: ExpressionTree, at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    switch base {
    case .evaluatedObject: return key.lowercased() == "self" ? base : .keyPath([key])
    case .keyPath(let path): return .keyPath(path + [key])
    case .variable(let name): return .variableKeyPath(name, [key])
    case .variableKeyPath(let name, let path): return .variableKeyPath(name, path + [key])
    case .subquery: return .projection(of: base, [key])
    case .projection(let base, let path): return .projection(of: base, path + [key])
    default:
      throw malformed("key path", "this expression has no keys", at: position)
    }
  }

  private func aggregate(
    _ name: String, of base: ExpressionTree, path: [String], at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    guard let aggregate = PredicateAggregate(rawValue: name) else {
      throw unsupported(
        name, "of the collection operators @count, @sum, @avg, @min and @max are understood", at: position)
    }
    return .aggregate(aggregate, of: try appending(path, to: base, at: position))
  }

  // MARK: Arguments

  private mutating func argument(at position: Int, for placeholder: String) throws(PredicateTreeError) -> Any?
  {
    guard nextArgument < arguments.count else {
      throw PredicateTreeError(
        .argument, construct: placeholder, position: position,
        "the format has more placeholders than the \(arguments.count) arguments")
    }
    defer { nextArgument += 1 }
    return arguments[nextArgument]
  }

  mutating func keyArgument(at position: Int) throws(PredicateTreeError) -> [String] {
    let value = try argument(at: position, for: "%K")
    guard case .string(let key)? = PredicateConstant(value) else {
      throw PredicateTreeError(
        .argument, construct: "%K", position: position, "the argument of %K is not a string")
    }
    let segments = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !segments.contains("") else {
      throw PredicateTreeError(
        .argument, construct: "%K", position: position, "the key path of %K has an empty key")
    }
    return segments
  }

  mutating func valueArgument(_ conversion: Character, at position: Int) throws(PredicateTreeError)
    -> ExpressionTree
  {
    let placeholder = "%\(conversion)"
    let value = try argument(at: position, for: placeholder)
    guard let constant = PredicateConstant(value) else {
      let type = value.map { String(describing: Swift.type(of: $0)) } ?? "nil"
      throw PredicateTreeError(
        .argument, construct: placeholder, position: position,
        "an argument of type \(type) has no meaning here; pass a number, text, date, UUID, URL or object"
      )
    }
    let fits =
      switch (conversion, constant) {
      case ("@", _): true
      case ("s", .string), ("S", .string), ("c", .string), ("C", .string): true
      case ("s", _), ("S", _): false
      case (_, .bool), (_, .integer), (_, .double), (_, .decimal): true
      default: false
      }
    guard fits else {
      throw PredicateTreeError(
        .argument, construct: placeholder, position: position,
        "the argument of \(placeholder) is not of the kind the placeholder names; use %@ for any value")
    }
    return .constant(constant)
  }

  func number(_ text: String, at position: Int) throws(PredicateTreeError) -> PredicateConstant {
    let negative = text.hasPrefix("-")
    let digits = negative ? String(text.dropFirst()) : text
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] where digits.lowercased().hasPrefix(prefix) {
      if let value = Int64((negative ? "-" : "") + digits.dropFirst(2), radix: radix) {
        return .integer(value)
      }
      throw malformed("number", "the number is no 64-bit integer", at: position)
    }
    if let value = Int64(text) { return .integer(value) }
    if !digits.contains(where: { ".eE".contains($0) }), let value = Decimal(string: text), digits.count <= 38
    {
      return .decimal(value)
    }
    guard let value = Double(text) else {
      throw malformed("number", "the number cannot be read", at: position)
    }
    return .double(value)
  }
}
