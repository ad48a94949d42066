@_spi(CDE) import CDEOperators
@_spi(CDE) import CDEStore
import Foundation

extension QueryCompiler {
  /// The SQL of a condition: true where the condition is true, otherwise false or NULL.
  ///
  /// - Parameter isNegated: whether the opposite is translated.
  mutating func condition(_ filter: StoreFilter, isNegated: Bool = false) throws(StoreError) -> Piece {
    try enter()
    defer { leave() }
    switch filter {
    case .constant(let holds):
      return dialect.constant(holds != isNegated)
    case .not(let inner):
      return try condition(inner, isNegated: !isNegated)
    case .and(let parts):
      return try compound(parts, isAnd: !isNegated, isNegated: isNegated)
    case .or(let parts):
      return try compound(parts, isAnd: isNegated, isNegated: isNegated)
    case .rules(let rules, let otherwise):
      return try decision(rules, otherwise, isNegated: isNegated)
    case .comparison(let left, let comparison, let right, let options):
      return try self.comparison(left, comparison, right, options, isNegated: isNegated)
    case .any(let path, let inner):
      let wasSuperset = isSuperset
      isSuperset = false
      defer { isSuperset = isSuperset || wasSuperset }
      let subquery = try elements(of: path) { (compiler, _) throws(StoreError) in
        let condition = inner == .constant(true) ? nil : try compiler.condition(inner)
        return (Piece("SELECT 1"), condition)
      }
      // More elements that satisfy the condition would be fewer rows without one.
      if isNegated, isSuperset { return dialect.constant(true) }
      return Piece(isNegated ? "NOT EXISTS (" : "EXISTS (") + subquery + Piece(")")
    case .keys(let keys):
      return dialect.membership(Piece("\(scopes[0].alias).\(key)"), in: keys, isNegated: isNegated)
    case .entity(let path, let entities):
      guard path.end == .object else { throw unsupported("The path to an entity ends in a property.") }
      let place = try follow(path.hops[...], from: try scope(path.scope))
      for entity in entities where !physical.schema.entities.indices.contains(entity) {
        throw unsupported("The condition's entity \(entity) is not in the schema.")
      }
      // Not all databases accept an empty list.
      if entities.isEmpty { return dialect.constant(isNegated) }
      let numbers = entities.map { String(physical.numbers[$0]) }.joined(separator: ", ")
      return dialect.condition(Piece("\(place.alias).\(entityNumber) IN (\(numbers))"), isNegated: isNegated)
    }
  }

  private mutating func compound(
    _ parts: [StoreFilter], isAnd: Bool, isNegated: Bool
  ) throws(StoreError) -> Piece {
    if parts.isEmpty { return dialect.constant(isAnd) }
    var pieces: [Piece] = []
    for part in StoreFilter.arranged(parts, isConjunction: isAnd != isNegated) {
      pieces.append(try condition(part, isNegated: isNegated))
    }
    return pieces.count == 1 ? pieces[0] : dialect.joined(pieces, isConjunction: isAnd)
  }

  /// A list of rules as one expression, of which the depth does not depend on their number. Unknown conditions decide
  /// nothing, as false ones.
  private mutating func decision(
    _ rules: [StoreFilter.Rule], _ otherwise: StoreFilter, isNegated: Bool
  ) throws(StoreError) -> Piece {
    let wasSuperset = isSuperset
    isSuperset = false
    defer { isSuperset = isSuperset || wasSuperset }
    var pieces = [Piece("CASE")]
    for rule in rules {
      pieces += [
        Piece("WHEN"), try condition(rule.condition), Piece("THEN"),
        dialect.constant(rule.holds != isNegated),
      ]
    }
    pieces += [Piece("ELSE"), try condition(otherwise, isNegated: isNegated), Piece("END")]
    // More rows for which a rule decides would be fewer rows of the result.
    if isSuperset { return dialect.constant(true) }
    return rules.isEmpty ? pieces[2] : Piece("(") + .joined(pieces, " ") + Piece(")")
  }

  private mutating func comparison(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, isNegated: Bool
  ) throws(StoreError) -> Piece {
    let wasUndecided = isUndecided
    isUndecided = false
    defer { isUndecided = wasUndecided }
    let piece = try decided(left, comparison, right, options, isNegated: isNegated)
    guard isUndecided else { return piece }
    isSuperset = true
    return dialect.constant(true)
  }

  private mutating func decided(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, isNegated: Bool
  ) throws(StoreError) -> Piece {
    switch comparison {
    case .equal: return try equality(left, right, options, isNegated: isNegated)
    case .notEqual: return try equality(left, right, options, isNegated: !isNegated)
    case .less: return try ordering(left, " < ", right, options, isNegated)
    case .lessOrEqual: return try ordering(left, " <= ", right, options, isNegated)
    case .greater: return try ordering(left, " > ", right, options, isNegated)
    case .greaterOrEqual: return try ordering(left, " >= ", right, options, isNegated)
    case .in: return try membership(left, right, options, isNegated: isNegated)
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else {
        throw unsupported("Between needs a list of two bounds.")
      }
      let lower = try operands(left, bounds[0], options)
      let upper = try operands(left, bounds[1], options)
      return dialect.condition(
        lower.left + Piece(" >= ") + lower.right + Piece(" AND ") + upper.left + Piece(" <= ")
          + upper.right, isNegated: isNegated)
    case .text(let op): return try textMatch(left, op, right, options, isNegated: isNegated)
    }
  }

  /// Both sides of a comparison, folded by the options. A text compared with a computed number becomes a
  /// number.
  private mutating func operands(
    _ left: StoreExpression, _ right: StoreExpression, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> (left: Piece, right: Piece) {
    var pieces = (left: try folded(left, options), right: try folded(right, options))
    if case .value(.text) = right, isComputedNumber(left) {
      pieces.right = dialect.number(pieces.right)
    }
    if case .value(.text) = left, isComputedNumber(right) {
      pieces.left = dialect.number(pieces.left)
    }
    guard let aligned = dialect.aligned(pieces.left, pieces.right) else {
      isUndecided = true
      return pieces
    }
    return aligned
  }

  private func isComputedNumber(_ expression: StoreExpression) -> Bool {
    switch expression {
    case .count, .countWhere, .aggregate(.sum, _), .aggregate(.average, _), .aggregate(.count, _): true
    case .group(.sum, _), .group(.average, _), .group(.count, _): true
    case .group(_, let expression): isComputedNumber(expression)
    case .function(let function, _): function == .length || function.ofNumbers != nil
    default: false
    }
  }

  private mutating func folded(
    _ expression: StoreExpression, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> Piece {
    if options.isEmpty { return try value(expression) }
    if case .value(let value) = expression {
      guard case .text(let text) = value else { return dialect.parameter(value) }
      return dialect.parameter(.text(TextComparison.folded(text, options)))
    }
    return decided(dialect.folded(try value(expression), options))
  }

  /// A piece that the dialect may lack. Without it, the enclosing comparison is left to the remainder.
  mutating func decided(_ piece: SQLPiece?) -> SQLPiece {
    if let piece { return piece }
    isUndecided = true
    return dialect.parameter(.null)
  }

  private func isNull(_ expression: StoreExpression) -> Bool { expression == .value(.null) }

  private mutating func equality(
    _ left: StoreExpression, _ right: StoreExpression, _ options: StoreFilter.TextOptions,
    isNegated: Bool
  ) throws(StoreError) -> Piece {
    if isNull(right) || isNull(left) {
      let other = isNull(right) ? left : right
      return try value(other) + Piece(isNegated ? " IS NOT NULL" : " IS NULL")
    }
    let sides = try operands(left, right, options)
    var isConstant = false
    if case .value = right { isConstant = true }
    if case .value = left { isConstant = true }
    let sign = dialect.equality(isNegated: isNegated, hasConstant: isConstant)
    return Piece("(") + sides.left + Piece(sign) + sides.right + Piece(")")
  }

  private mutating func ordering(
    _ left: StoreExpression, _ sign: String, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, _ isNegated: Bool
  ) throws(StoreError) -> Piece {
    let sides = try operands(left, right, options)
    return dialect.condition(sides.left + Piece(sign) + sides.right, isNegated: isNegated)
  }

  private mutating func membership(
    _ left: StoreExpression, _ right: StoreExpression, _ options: StoreFilter.TextOptions,
    isNegated: Bool
  ) throws(StoreError) -> Piece {
    guard case .list(let elements) = right else {
      throw unsupported("The right side of a membership test has to be a list.")
    }
    if elements.isEmpty { return dialect.constant(isNegated) }
    var constants: [StoreValue] = []
    var hasNull = false
    var others: [StoreExpression] = []
    for element in elements {
      switch element {
      case .value(.null): hasNull = true
      case .value(.text(let text)): constants.append(.text(TextComparison.folded(text, options)))
      case .value(let value): constants.append(value)
      default: others.append(element)
      }
    }
    var pieces: [Piece] = []
    if !constants.isEmpty {
      let subject = try folded(left, options)
      pieces.append(decided(dialect.membership(subject, in: constants)))
    }
    if hasNull { pieces.append(try value(left) + Piece(" IS NULL")) }
    for other in others { pieces.append(try equality(left, other, options, isNegated: false)) }
    if pieces.isEmpty { return dialect.constant(isNegated) }
    return dialect.condition(dialect.balanced(pieces[...], " OR "), isNegated: isNegated)
  }

  private mutating func textMatch(
    _ left: StoreExpression, _ op: TextOperator, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, isNegated: Bool
  ) throws(StoreError) -> Piece {
    // A prefix is a range of an index, if its upper end exists.
    if op == .beginsWith, options.isEmpty, case .value(.text(let prefix)) = right,
      let end = Self.end(ofPrefix: prefix)
    {
      guard let bound = dialect.aligned(try value(left), dialect.parameter(.text(prefix))) else {
        return decided(nil)
      }
      return dialect.condition(
        bound.left + Piece(" >= ") + bound.right + Piece(" AND ") + bound.left + Piece(" < ")
          + dialect.parameter(.text(end)),
        isNegated: isNegated)
    }
    if op.hasPattern, case .value(.text(let pattern)) = right, op.pattern(pattern, options) == nil {
      throw unsupported("The regular expression of a condition is not valid.")
    }
    let folding = op.folding(options)
    let subject = try foldedOnce(left, folding.text)
    let part = try foldedOnce(right, folding.part)
    return dialect.condition(decided(dialect.match(subject, op, part, options)), isNegated: isNegated)
  }

  /// A side of a text operator. A constant is folded here, so that it is not folded again for each row.
  private mutating func foldedOnce(
    _ expression: StoreExpression, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> TextOperand {
    guard !options.isEmpty, case .value(.text(let text)) = expression else {
      return TextOperand(try value(expression), isFolded: false)
    }
    return TextOperand(dialect.parameter(.text(TextComparison.folded(text, options))), isFolded: true)
  }

  /// The first text after all texts that begin with `prefix`; `nil` when there is none.
  static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The next code point, which is not a surrogate.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      return String(String.UnicodeScalarView(scalars))
    }
    return nil
  }
}
