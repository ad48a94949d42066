internal import Foundation

extension PredicateFormatParser {
  /// The operator between two values that is next. From the loosest to the tightest: set operations, `|`, `^`, `&`, shifts,
  /// sums, products, powers. Between bit operations it is C's precedence, and all of them bind tighter than a comparison:
  /// `flags & 4 != 0` tests a bit.
  func infix() -> (PredicateFunction, precedence: Int)? {
    let token = tokens[index]
    if !token.symbol.isEmpty { return Self.infixes[token.symbol] }
    return token.keyword.isEmpty ? nil : Self.infixes[token.keyword]
  }

  // Static, because each operand of each comparison uses it.
  private static let infixes: [String: (PredicateFunction, precedence: Int)] = [
    "UNION": (.union, 0), "INTERSECT": (.intersect, 0), "MINUS": (.minus, 0),
    "|": (.bitOr, 1), "^": (.bitXor, 2), "&": (.bitAnd, 3), "<<": (.shiftLeft, 4), ">>": (.shiftRight, 4),
    "+": (.add, 5), "-": (.subtract, 5), "*": (.multiply, 6), "/": (.divide, 6), "**": (.power, 7),
  ]

  /// Parses the keys and indexes behind a value.
  mutating func postfix(_ node: Node, from start: Int) throws(PredicateTreeError) -> Node {
    var node = node
    while true {
      let base: ExpressionTree
      if skip(".") {
        base = try member(of: try requireExpression(node, at: start))
      } else if tokens[index].symbol == "[" {
        base = try index(into: try requireExpression(node, at: start))
      } else {
        return node
      }
      node = .expression(try limited(base))
    }
  }

  /// An expression that was made of parts, if it is flat enough for recursion.
  func limited(_ tree: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
    guard tree.isDeeper(than: Self.depthLimit) else { return tree }
    throw unsupported(
      "nesting",
      "an expression nests or chains more than \(Self.depthLimit) levels of operators and calls; compute it in steps"
    )
  }

  mutating func member(of base: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
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
    if isWord("SIZE", ahead: 1) {
      advance()
      advance()
      try expect("]", after: "the index")
      return .aggregate(.count, of: base)
    }
    advance()
    let index: ExpressionTree
    if skipWord("FIRST") {
      index = .constant(.integer(0))
    } else if skipWord("LAST") {
      index = .constant(.integer(-1))
    } else {
      try descend()
      index = try value()
      depth -= 1
    }
    try expect("]", after: "the index")
    return .function(.element, [base, index])
  }

  /// Appends a key path, as text, to an expression. No key is a keyword.
  static func appending(
    _ path: String, to base: ExpressionTree
  ) throws(PredicateTreeError) -> ExpressionTree {
    var parser = try PredicateFormatParser(format: "%K", arguments: [path])
    return try parser.appending(try parser.keyArgument(at: 0), to: base, at: 0)
  }

  /// Appends key path segments to an expression. Segments that begin with `@` are aggregates.
  func appending(
    _ segments: [String], to base: ExpressionTree, at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    var result = base
    var rest = segments[...]
    while let segment = rest.popFirst() {
      if segment.hasPrefix("@") {
        let path =
          segment == PredicateAggregate.count.rawValue
          ? [] : isUnion(segment) ? Array(rest.prefix { !$0.hasPrefix("@") }) : Array(rest)
        rest = rest.dropFirst(path.count)
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
    if case .evaluatedObject = base, key.lowercased() == "self" { return base }
    guard let value = base.appending([key]) else {
      throw malformed("key path", "this expression has no keys", at: position)
    }
    return value
  }

  private func aggregate(
    _ name: String, of base: ExpressionTree, path: [String], at position: Int
  ) throws(PredicateTreeError) -> ExpressionTree {
    if isUnion(name) {
      let values = try appending(path, to: base, at: position)
      // A union has no duplicates. The values along a path are a collection already.
      return name == "@unionOfObjects" ? values : .function(.union, [values, .constant(.list([]))])
    }
    guard let aggregate = PredicateAggregate(rawValue: name) else {
      throw unsupported(
        name,
        "of the collection operators @count, @sum, @avg, @min, @max, @unionOfObjects and @distinctUnionOfObjects "
          + "are understood", at: position)
    }
    return .aggregate(aggregate, of: try appending(path, to: base, at: position))
  }

  private func isUnion(_ segment: String) -> Bool {
    segment == "@unionOfObjects" || segment == "@distinctUnionOfObjects"
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
    // The type is checked first, because a cast of a Swift array to a class copies the array.
    if conversion == "@", let value, type(of: value) is AnyClass {
      if let object = ObjectClasses.constant(value) { return .constant(object) }
      if let expression = value as? any ExpressionArgument { return try expression.result.get() }
    }
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
