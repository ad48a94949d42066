@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// A row in the form that the interpreter of queries reads.
protocol InterpretedRow {
  /// Unique in the row's inheritance tree. Below zero for a row that is not in a store.
  var key: Int64 { get }

  /// The row's own entity.
  var concreteEntity: EntityIndex { get }

  /// The value of an attribute, or of a composite's leaf, in the form of a store.
  ///
  /// - Parameter entity: the entity whose layout numbers the slot: the row's own entity or one that it
  ///   inherits from.
  func value(of slot: SlotIndex, leaf: Int, in entity: ResolvedSchema.Entity) throws -> StoreValue

  /// The rows that a relationship leads to, in any order.
  func destinations(of slot: SlotIndex, in entity: ResolvedSchema.Entity) throws -> [Self]
}

/// Evaluates a store's conditions for rows in memory, as the store's contract defines them (see
/// `StoreFilter`).
///
/// A context with unsaved changes uses this for the changed objects and combines the result with the rows
/// that the store found. The results are those of the store, and those of the predicate in memory.
struct QueryInterpreter<Row: InterpretedRow> {
  let schema: ResolvedSchema
  /// The rows at which paths can start, with the entities whose layouts number their slots.
  private var scopes: [(row: Row, entity: EntityIndex)]
  private let patterns: PredicatePatternCache

  /// - Parameters:
  ///   - row: the row for which the condition is evaluated.
  ///   - entity: the entity that is fetched.
  ///   - patterns: patterns prepared by earlier rows.
  init(schema: ResolvedSchema, row: Row, entity: EntityIndex, patterns: PredicatePatternCache) {
    self.schema = schema
    scopes = [(row, entity)]
    self.patterns = patterns
  }

  /// Whether the row satisfies a condition.
  ///
  /// - Throws: errors of reading the row, and `StoreError` with code `.unsupportedQuery` for a condition
  ///   outside the contract.
  func holds(_ filter: StoreFilter) throws -> Bool {
    switch filter {
    case .constant(let holds): holds
    case .and(let parts): try parts.allSatisfy { try holds($0) }
    case .or(let parts): try parts.contains { try holds($0) }
    case .not(let part): try !holds(part)
    case .rules(let rules, let otherwise):
      try rules.first { try holds($0.condition) }?.holds ?? holds(otherwise)
    case .keys(let keys): keys.contains(scopes[0].row.key)
    case .entity(let path, let entities):
      try elements(path).contains { entities.contains($0.row.concreteEntity) }
    case .any(let path, let condition):
      try elements(path).contains { try inner($0).holds(condition) }
    case .comparison(let left, let comparison, let right, let options):
      try compare(left, comparison, right, PredicateTextOptions(rawValue: options.rawValue))
    }
  }

  private func inner(_ element: (row: Row, entity: EntityIndex)) -> QueryInterpreter {
    var inner = self
    inner.scopes.append(element)
    return inner
  }

  private static func misuse(_ what: String) -> StoreError {
    StoreError(.unsupportedQuery, "A condition can't be answered in memory: \(what).")
  }

  // MARK: Paths

  /// All rows that the hops lead to. Nil relationships lead to no row.
  private func rows(_ path: StorePath) throws -> [(row: Row, entity: EntityIndex)] {
    var rows = [scopes[path.scope]]
    for slot in path.hops {
      if let entity = slot.castEntity {
        let subtree = schema.entities[entity].subtree
        rows = rows.filter { subtree.contains($0.row.concreteEntity) }.map { ($0.row, entity) }
        continue
      }
      rows = try rows.flatMap { start in
        let destination = schema.end(of: slot, in: start.entity).destination
        return try start.row.destinations(of: slot, in: schema.entities[start.entity]).map {
          ($0, destination)
        }
      }
    }
    return rows
  }

  private func elements(_ path: StorePath) throws -> [(row: Row, entity: EntityIndex)] {
    guard path.end == .object else { throw Self.misuse("a path to elements ends in a property") }
    return try rows(path)
  }

  private func value(_ end: StorePath.End, of row: (row: Row, entity: EntityIndex)) throws
    -> PredicateConstant
  {
    guard case .property(let slot, let leaf) = end else { return .integer(row.row.key) }
    return try row.row.value(of: slot, leaf: leaf, in: schema.entities[row.entity]).constant
  }

  // MARK: Values

  /// The value of an expression for the row. A reference to an object is represented by the object's key.
  func value(_ expression: StoreExpression) throws -> PredicateConstant {
    switch expression {
    case .value(let value): return value.constant
    case .list: throw Self.misuse("a list is used where a value is expected")
    case .path(let path):
      let rows = try rows(path)
      guard rows.count <= 1 else { throw Self.misuse("a path to a value leads to several") }
      return try rows.first.map { try value(path.end, of: $0) } ?? .null
    case .count(let path): return .integer(Int64(try elements(path).count))
    case .countWhere(let path, let condition):
      return .integer(Int64(try elements(path).count { try inner($0).holds(condition) }))
    case .conditional(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .aggregate(let aggregate, let path):
      return try self.aggregate(
        aggregate, try rows(path).map { try value(path.end, of: $0) }.filter { $0 != .null })
    case .function(let function, let arguments):
      return try call(function, try arguments.map { try value($0) })
    case .group: throw Self.misuse("an aggregate over a group stands where there are no groups")
    }
  }

  /// An aggregate of values that are not nil.
  func aggregate(
    _ aggregate: StoreExpression.Aggregate, _ values: [PredicateConstant]
  ) throws -> PredicateConstant {
    func sum(_ start: PredicateConstant) throws -> PredicateConstant {
      try values.reduce(start) { try PredicateArithmetic.call(.add, [$0, $1]) }
    }
    switch aggregate {
    case .min, .max:
      return values.dropFirst().reduce(values.first ?? .null) { best, value in
        let order = PredicateOrder.compare(value, best, []) ?? 0
        return (aggregate == .min ? order < 0 : order > 0) ? value : best
      }
    case .count: return .integer(Int64(values.count))
    case .sum: return try sum(.integer(0))
    case .average:
      if values.isEmpty { return .null }
      return try PredicateArithmetic.call(.divide, [try sum(.double(0)), .double(Double(values.count))])
    }
  }

  private func call(
    _ function: StoreExpression.Function, _ values: [PredicateConstant]
  ) throws -> PredicateConstant {
    if function == .firstNonNil { return values.first { $0 != .null } ?? .null }
    if values.contains(.null) { return .null }
    if function == .concatenate {
      return .string(
        try values.map { value in
          guard case .string(let text) = value else { throw Self.misuse("what is no text is concatenated") }
          return text
        }.joined())
    }
    return try PredicateArithmetic.call(function.predicateFunction, values)
  }

  // MARK: Comparisons

  private func compare(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: PredicateTextOptions
  ) throws -> Bool {
    let subject = try value(left)
    if case .list(let list) = right {
      switch comparison {
      case .in: return try list.contains { try equal(subject, value($0), options) }
      case .between where list.count == 2:
        guard let lower = order(subject, try value(list[0]), options),
          let upper = order(subject, try value(list[1]), options)
        else { return false }
        return lower >= 0 && upper <= 0
      default: throw Self.misuse("\(comparison.rawValue) has a list")
      }
    }
    let other = try value(right)
    switch comparison {
    case .equal: return equal(subject, other, options)
    case .notEqual: return !equal(subject, other, options)
    case .less: return order(subject, other, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(subject, other, options).map { $0 <= 0 } ?? false
    case .greater: return order(subject, other, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(subject, other, options).map { $0 >= 0 } ?? false
    case .in, .between: throw Self.misuse("\(comparison.rawValue) has no list")
    case .beginsWith, .endsWith, .contains, .like, .matches:
      guard case .string(let text) = subject, case .string(let part) = other else { return false }
      return try matches(text, comparison, part, options)
    }
  }

  private func matches(
    _ text: String, _ comparison: StoreFilter.Comparison, _ part: String, _ options: PredicateTextOptions
  ) throws -> Bool {
    switch comparison {
    case .like: return try patterns.pattern(.like, part, options).matches(text)
    case .matches: return try patterns.pattern(.matches, part, options).matches(text)
    default: break
    }
    let (text, part) = (PredicateText.fold(text, options), patterns.folded(part, options))
    switch comparison {
    case .beginsWith: return PredicateText.begins(text, with: part, [])
    case .endsWith: return PredicateText.ends(text, with: part, [])
    default: return PredicateText.contains(text, part, [])
    }
  }

  private func equal(
    _ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions
  ) -> Bool {
    let (left, right) = Self.aligned(left, right)
    return PredicateOrder.equal(left, right, options)
  }

  private func order(
    _ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions
  ) -> Int? {
    let (left, right) = Self.aligned(left, right)
    return PredicateOrder.compare(left, right, options)
  }

  /// A fraction that is compared with a decimal is given as digits, which the store's column converts.
  private static func aligned(
    _ left: PredicateConstant, _ right: PredicateConstant
  ) -> (PredicateConstant, PredicateConstant) {
    switch (left, right) {
    case (.string(let digits), .integer), (.string(let digits), .double):
      (Double(digits).map { .double($0) } ?? left, right)
    case (.integer, .string(let digits)), (.double, .string(let digits)):
      (left, Double(digits).map { .double($0) } ?? right)
    default: (left, right)
    }
  }
}

// MARK: Order
extension QueryInterpreter {
  /// The values of the row that an order compares.
  func sortKeys(_ sort: [StoreSort]) throws -> [PredicateConstant] {
    try sort.map { term in
      let value = try value(term.expression)
      guard case .string(let text) = value, term.options.isDisjoint(with: [.localized, .localizedStandard])
      else {
        return value
      }
      return .string(PredicateText.fold(text, PredicateTextOptions(rawValue: term.options.rawValue)))
    }
  }

  /// Whether a row comes before another row in an order, by their sort keys. Nil comes first.
  static func precedes(
    _ left: [PredicateConstant], _ right: [PredicateConstant], in sort: [StoreSort]
  ) -> Bool {
    for (index, term) in sort.enumerated() {
      let order: Int =
        switch (left[index], right[index]) {
        case (.null, .null): 0
        case (.null, _): -1
        case (_, .null): 1
        case (.string(let one), .string(let other)) where term.options.contains(.localizedStandard):
          one.localizedStandardCompare(other).rawValue
        case (.string(let one), .string(let other)) where term.options.contains(.localized):
          one.localizedCompare(other).rawValue
        case (let one, let other): PredicateOrder.compare(one, other, []) ?? 0
        }
      if order != 0 { return term.isAscending ? order < 0 : order > 0 }
    }
    return false
  }
}

extension StoreExpression.Function {
  /// The same function of predicates.
  fileprivate var predicateFunction: PredicateFunction {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .modulus: .modulus
    case .negate: .negate
    case .absolute: .abs
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    case .length: .length
    case .bitAnd: .bitAnd
    case .bitOr: .bitOr
    case .bitNot: .bitNot
    case .shiftLeft: .shiftLeft
    case .shiftRight: .shiftRight
    case .power: .power
    case .squareRoot: .squareRoot
    case .exponential: .exponential
    case .naturalLogarithm: .naturalLogarithm
    case .logarithm: .logarithm
    case .floor: .floor
    case .ceiling: .ceiling
    case .truncate: .truncate
    case .remainder: .modulus
    case .canonical: .canonical
    // These two are handled before.
    case .concatenate, .firstNonNil: .coalesce
    }
  }
}

extension StoreValue {
  /// The value in the form for computations of predicates. An invalid number counts as nil, as in a store.
  var constant: PredicateConstant {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): value.isNaN ? .null : .double(value)
    case .text(let value): .string(value)
    case .blob(let value): .data(value)
    case .reference(_, let key): .integer(key)
    }
  }
}
