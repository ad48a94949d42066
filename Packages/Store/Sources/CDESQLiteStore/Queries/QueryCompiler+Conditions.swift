import CDEStore
import Foundation

extension QueryCompiler {
  /// The SQL of a condition: true where it holds, false or NULL elsewhere.
  ///
  /// - Parameter isNegated: translates the opposite instead.
  mutating func condition(_ filter: StoreFilter, isNegated: Bool = false) throws(StoreError) -> Piece {
    try enter()
    defer { leave() }
    switch filter {
    case .constant(let holds):
      return Piece(holds != isNegated ? "1" : "0")
    case .not(let inner):
      return try condition(inner, isNegated: !isNegated)
    case .and(let parts):
      return try compound(parts, isAnd: !isNegated, isNegated: isNegated)
    case .or(let parts):
      return try compound(parts, isAnd: isNegated, isNegated: isNegated)
    case .comparison(let left, let comparison, let right, let options):
      return try self.comparison(left, comparison, right, options, isNegated: isNegated)
    case .any(let path, let inner):
      let subquery = try elements(of: path) { (compiler, _) throws(StoreError) in
        let condition = inner == .constant(true) ? nil : try compiler.condition(inner)
        return (Piece("SELECT 1"), condition)
      }
      return Piece(isNegated ? "NOT EXISTS (" : "EXISTS (") + subquery + Piece(")")
    case .keys(let keys):
      let list = keyList(keys)
      return Piece("\(scopes[0].alias).Z_PK \(isNegated ? "NOT IN" : "IN") (") + list + Piece(")")
    }
  }

  private mutating func compound(
    _ parts: [StoreFilter], isAnd: Bool, isNegated: Bool
  ) throws(StoreError) -> Piece {
    if parts.isEmpty { return Piece(isAnd ? "1" : "0") }
    let parts = parts.count > Self.plannedTerms ? Self.gathered(parts, isAnd != isNegated) : parts
    var pieces: [Piece] = []
    for part in parts { pieces.append(try condition(part, isNegated: isNegated)) }
    if pieces.count == 1 { return pieces[0] }
    let separator = isAnd ? " AND " : " OR "
    guard pieces.count > Self.plannedTerms else { return balanced(pieces[...], separator) }
    let rest = Piece("(CASE WHEN ") + balanced(pieces[Self.plannedTerms...], separator)
    // SQLite's planner compares every term of a conjunction, and every constant outside the left side of an IN, with
    // all others: 20,000 terms took seven seconds. The left side of an IN escapes both, unless the list has one member.
    return balanced(
      pieces[..<Self.plannedTerms] + [rest + Piece(" THEN 1 END) IN (1, 2)")], separator)
  }

  /// How many terms of a conjunction or disjunction SQLite's planner gets to see.
  private static let plannedTerms = 64

  /// The parts of a long condition with its equalities of one expression with constants as one list, and what an index
  /// may serve in front.
  private static func gathered(_ parts: [StoreFilter], _ isConjunction: Bool) -> [StoreFilter] {
    struct Subject: Hashable {
      var expression: StoreExpression
      var options: StoreFilter.TextOptions
    }
    var lists: [Subject: [StoreExpression]] = [:]
    var order: [Subject] = []
    var first: [StoreFilter] = []
    var others: [StoreFilter] = []
    for part in parts {
      guard case .comparison(let left, let comparison, let right, let options) = part, case .path = left,
        case .value(let value) = right
      else {
        others.append(part)
        continue
      }
      if comparison == (isConjunction ? .notEqual : .equal), value != .null {
        let subject = Subject(expression: left, options: options)
        if lists[subject] == nil { order.append(subject) }
        lists[subject, default: []].append(right)
      } else if comparison == .equal {
        first.append(part)
      } else {
        others.append(part)
      }
    }
    let members = order.map { subject in
      let list = StoreFilter.comparison(
        subject.expression, .in, .list(lists[subject]!), subject.options)
      return isConjunction ? .not(list) : list
    }
    return isConjunction ? first + others + members : members + first + others
  }

  /// SQLite parses long chains into equally deep trees, up to its limit; halves keep them shallow.
  private func balanced(_ pieces: ArraySlice<Piece>, _ separator: String) -> Piece {
    if pieces.count <= 100 { return Piece("(") + .joined(Array(pieces), separator) + Piece(")") }
    let middle = pieces.startIndex + pieces.count / 2
    return Piece("(") + balanced(pieces[..<middle], separator) + Piece(separator)
      + balanced(pieces[middle...], separator) + Piece(")")
  }

  private func keyList(_ keys: [Int64]) -> Piece {
    if keys.count <= 64 {
      return .joined(keys.map { Piece("?", [.integer($0)]) }, ", ")
    }
    // One bound value whatever the number: the statement can be cached and no limit applies.
    return Piece(
      "SELECT value FROM json_each(?)",
      [.text("[" + keys.map(String.init).joined(separator: ",") + "]")])
  }

  private mutating func comparison(
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
      return negated(
        lower.left + Piece(" >= ") + lower.right + Piece(" AND ") + upper.left + Piece(" <= ")
          + upper.right, isNegated)
    case .beginsWith, .endsWith, .contains, .like, .matches:
      return try textMatch(left, comparison, right, options, isNegated: isNegated)
    }
  }

  private func negated(_ piece: Piece, _ isNegated: Bool) -> Piece {
    Piece("(") + piece + Piece(isNegated ? ") IS NOT TRUE" : ")")
  }

  /// Both sides of a comparison, folded by the options; text bound against a computed number becomes one.
  private mutating func operands(
    _ left: StoreExpression, _ right: StoreExpression, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> (left: Piece, right: Piece) {
    var pieces = (left: try folded(left, options), right: try folded(right, options))
    if case .value(.text) = right, isComputedNumber(left) {
      pieces.right = Piece("CAST(") + pieces.right + Piece(" AS NUMERIC)")
    }
    if case .value(.text) = left, isComputedNumber(right) {
      pieces.left = Piece("CAST(") + pieces.left + Piece(" AS NUMERIC)")
    }
    return pieces
  }

  private func isComputedNumber(_ expression: StoreExpression) -> Bool {
    switch expression {
    case .count, .countWhere, .aggregate(.sum, _), .aggregate(.average, _): true
    case .function(let function, _):
      switch function {
      case .add, .subtract, .multiply, .divide, .modulus, .negate, .absolute, .length: true
      case .lowercase, .uppercase, .concatenate, .firstNonNil: false
      }
    default: false
    }
  }

  private mutating func folded(
    _ expression: StoreExpression, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> Piece {
    if options.isEmpty { return try value(expression) }
    if case .value(let value) = expression {
      guard case .text(let text) = value else { return Piece("?", [value]) }
      return Piece("?", [.text(TextFolding.folded(text, options))])
    }
    return Piece("\(SQLFunctions.fold)(") + (try value(expression)) + Piece(", \(options.rawValue))")
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
    // IS treats NULL as a value like any other, which is the store's meaning of equality.
    let sign = isNegated ? " IS NOT " : isConstant ? " = " : " IS "
    return Piece("(") + sides.left + Piece(sign) + sides.right + Piece(")")
  }

  private mutating func ordering(
    _ left: StoreExpression, _ sign: String, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, _ isNegated: Bool
  ) throws(StoreError) -> Piece {
    let sides = try operands(left, right, options)
    return negated(sides.left + Piece(sign) + sides.right, isNegated)
  }

  private mutating func membership(
    _ left: StoreExpression, _ right: StoreExpression, _ options: StoreFilter.TextOptions,
    isNegated: Bool
  ) throws(StoreError) -> Piece {
    guard case .list(let elements) = right else {
      throw unsupported("The right side of a membership test has to be a list.")
    }
    if elements.isEmpty { return Piece(isNegated ? "1" : "0") }
    var constants: [StoreValue] = []
    var hasNull = false
    var others: [StoreExpression] = []
    for element in elements {
      switch element {
      case .value(.null): hasNull = true
      case .value(.text(let text)): constants.append(.text(TextFolding.folded(text, options)))
      case .value(let value): constants.append(value)
      default: others.append(element)
      }
    }
    var pieces: [Piece] = []
    if !constants.isEmpty {
      let subject = try folded(left, options)
      pieces.append(subject + Piece(" IN (") + constantList(constants) + Piece(")"))
    }
    if hasNull { pieces.append(try value(left) + Piece(" IS NULL")) }
    for other in others { pieces.append(try equality(left, other, options, isNegated: false)) }
    if pieces.isEmpty { return Piece(isNegated ? "1" : "0") }
    return negated(balanced(pieces[...], " OR "), isNegated)
  }

  private func constantList(_ values: [StoreValue]) -> Piece {
    if values.count <= 64 { return .joined(values.map { Piece("?", [$0]) }, ", ") }
    var integers: [Int64] = []
    for value in values {
      switch value {
      case .integer(let integer), .reference(_, let integer): integers.append(integer)
      default:
        // JSON can't carry every text, number and blob exactly, so they travel spelled out.
        let items = values.map { "\"\(ListItem.encoded($0))\"" }.joined(separator: ",")
        return Piece("SELECT \(SQLFunctions.item)(value) FROM json_each(?)", [.text("[\(items)]")])
      }
    }
    return keyList(integers)
  }

  private mutating func textMatch(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions, isNegated: Bool
  ) throws(StoreError) -> Piece {
    // A prefix is a range of an index, if the upper end can be named.
    if comparison == .beginsWith, options.isEmpty, case .value(.text(let prefix)) = right,
      let end = Self.end(ofPrefix: prefix)
    {
      let subject = try value(left)
      return negated(
        subject + Piece(" >= ? AND ", [.text(prefix)]) + subject + Piece(" < ?", [.text(end)]), isNegated)
    }
    let name =
      switch comparison {
      case .beginsWith: SQLFunctions.beginsWith
      case .endsWith: SQLFunctions.endsWith
      case .contains: SQLFunctions.contains
      case .like: SQLFunctions.like
      default: SQLFunctions.matches
      }
    if comparison == .matches, case .value(.text(let pattern)) = right,
      RegularExpression(pattern, options: options) == nil
    {
      throw unsupported("The regular expression of a condition is not valid.")
    }
    var flags = options.rawValue
    let isExpression = comparison == .matches
    // A regular expression compares without case by itself, and is not folded.
    let subject = try foldedOnce(
      left, isExpression ? options.intersection(.diacriticInsensitive) : options,
      SQLFunctions.isSubjectFolded, &flags)
    let pattern =
      isExpression ? try value(right) : try foldedOnce(right, options, SQLFunctions.isPartFolded, &flags)
    return negated(
      Piece("\(name)(") + subject + Piece(", ") + pattern + Piece(", \(flags))"), isNegated)
  }

  /// A side of a text operator, folded here where it is a constant, so that it is not folded again for each row.
  private mutating func foldedOnce(
    _ expression: StoreExpression, _ options: StoreFilter.TextOptions, _ flag: UInt8, _ flags: inout UInt8
  ) throws(StoreError) -> Piece {
    guard !options.isEmpty, case .value(.text(let text)) = expression else { return try value(expression) }
    flags |= flag
    return Piece("?", [.text(TextFolding.folded(text, options))])
  }

  /// The first text after all that begin with `prefix`; `nil` when there is none to name.
  static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The next code point, over the gap of the surrogates.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      return String(String.UnicodeScalarView(scalars))
    }
    return nil
  }
}
