@_spi(CDE) internal import CDEOperators

/// Decides the conditions of a store for rows in memory, as `StoreFilter` defines them.
///
/// An engine decides with it what its database can't. A context decides with it for objects that have unsaved changes. The results are
/// those of a store.
@_spi(CDE) public struct FilterEvaluator<Row: EvaluatedRow> {
  private let schema: ResolvedSchema
  /// The rows at which paths can start, with the entities whose layouts number their slots.
  private var scopes: [(row: Row, entity: EntityIndex)] = []
  let cache = ConditionCache()
  /// The values of a group, by their expressions: its aggregates, and what is the same for all its rows.
  private(set) var known: [StoreExpression: StoreValue] = [:]

  /// Makes an evaluator, to be used for many rows.
  public init(_ schema: ResolvedSchema) { self.schema = schema }

  /// Whether a row satisfies a condition.
  ///
  /// - Parameters:
  ///   - filter: the condition.
  ///   - row: the row at which its paths start.
  ///   - entity: the fetched entity, whose layout numbers the slots.
  /// - Throws: errors of reading rows; `.unsupportedQuery` for a condition outside the contract.
  public func holds(
    _ filter: StoreFilter, for row: Row, of entity: EntityIndex
  ) throws(StoreError) -> Bool {
    try inner((row, entity)).holds(filter)
  }

  /// The value of an expression for a row. A reference is represented by its key.
  ///
  /// - Throws: the errors of ``holds(_:for:of:)``.
  public func value(
    of expression: StoreExpression, for row: Row, of entity: EntityIndex
  ) throws(StoreError) -> StoreValue {
    try inner((row, entity)).value(expression)
  }

  func inner(_ element: (row: Row, entity: EntityIndex)) -> FilterEvaluator {
    var inner = self
    inner.scopes.append(element)
    return inner
  }

  /// An evaluator for a group of rows, whose values are taken as they are.
  public func knowing(_ values: [StoreExpression: StoreValue]) -> FilterEvaluator {
    var inner = self
    inner.known = values
    return inner
  }

  func misuse(_ what: String) -> StoreError {
    StoreError(.unsupportedQuery, "A condition can't be decided in memory: \(what). Correct the query.")
  }

  // MARK: Conditions

  func holds(_ filter: StoreFilter) throws(StoreError) -> Bool {
    switch filter {
    case .constant(let holds): return holds
    case .and(let parts):
      for part in parts where try !holds(part) { return false }
      return true
    case .or(let parts):
      for part in parts where try holds(part) { return true }
      return false
    case .not(let part): return try !holds(part)
    case .rules(let rules, let otherwise):
      for rule in rules where try holds(rule.condition) { return rule.holds }
      return try holds(otherwise)
    case .keys(let keys): return isKey(scopes[0].row.key, in: keys)
    case .entity(let path, let entities):
      for element in try elements(path) where entities.contains(element.row.concreteEntity) { return true }
      return false
    case .any(let path, let condition):
      for element in try elements(path) where try inner(element).holds(condition) { return true }
      return false
    case .comparison(let left, let comparison, let right, let options):
      return try compare(left, comparison, right, options)
    }
  }

  private func compare(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: TextOptions
  ) throws(StoreError) -> Bool {
    let subject = try value(left)
    if case .list(let list) = right { return try compare(subject, comparison, list, options) }
    let other = try value(right)
    switch comparison {
    case .equal: return equal(subject, other, options)
    case .notEqual: return !equal(subject, other, options)
    case .less: return order(subject, other, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(subject, other, options).map { $0 <= 0 } ?? false
    case .greater: return order(subject, other, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(subject, other, options).map { $0 >= 0 } ?? false
    case .in, .between: throw misuse("\(comparison) has no list")
    case .text(let op):
      guard case .text(let text) = subject, case .text(let part) = other else { return false }
      guard let holds = op.holds(text, part, options, cache) else {
        throw StoreError(
          .unsupportedQuery, "The regular expression of a condition is not valid. Write it in ICU's syntax.")
      }
      return holds
    }
  }

  private func compare(
    _ subject: StoreValue, _ comparison: StoreFilter.Comparison, _ list: [StoreExpression],
    _ options: TextOptions
  ) throws(StoreError) -> Bool {
    switch comparison {
    case .in:
      if let isMember = isMember(subject, of: list, options) { return isMember }
      for element in list where equal(subject, try value(element), options) { return true }
      return false
    case .between where list.count == 2:
      guard let lower = order(subject, try value(list[0]), options),
        let upper = order(subject, try value(list[1]), options)
      else { return false }
      return lower >= 0 && upper <= 0
    default: throw misuse("\(comparison) has a list")
    }
  }

  /// Two texts are compared as the options say, with the second one folded once for many rows.
  private func folded(
    _ left: StoreValue, _ right: StoreValue, _ options: TextOptions
  ) -> (StoreValue, StoreValue) {
    guard !options.isEmpty, case .text(let one) = left, case .text(let other) = right else {
      return (left, right)
    }
    return (.text(TextComparison.folded(one, options)), .text(cache.folded(other, options)))
  }

  func equal(_ left: StoreValue, _ right: StoreValue, _ options: TextOptions) -> Bool {
    let (left, right) = folded(left, right, options)
    return ValueOrder.equal(left, right)
  }

  private func order(_ left: StoreValue, _ right: StoreValue, _ options: TextOptions) -> Int? {
    let (left, right) = folded(left, right, options)
    return ValueOrder.compare(left, right)
  }

  // MARK: Paths

  /// All rows that the hops lead to. Nil relationships lead to no row.
  func rows(_ path: StorePath) throws(StoreError) -> [(row: Row, entity: EntityIndex)] {
    guard scopes.indices.contains(path.scope) else {
      throw misuse("a path starts at a scope that is not open")
    }
    var rows = [scopes[path.scope]]
    for slot in path.hops {
      if let entity = slot.castEntity {
        let subtree = schema.entities[entity].subtree
        rows = rows.filter { subtree.contains($0.row.concreteEntity) }.map { ($0.row, entity) }
        continue
      }
      var next: [(row: Row, entity: EntityIndex)] = []
      for start in rows {
        let destination = schema.end(of: slot, in: start.entity).destination
        for row in try start.row.destinations(of: slot, in: start.entity) { next.append((row, destination)) }
      }
      rows = next
    }
    return rows
  }

  /// Those rows, of a path to objects.
  func elements(_ path: StorePath) throws(StoreError) -> [(row: Row, entity: EntityIndex)] {
    guard path.end == .object else { throw misuse("a path to elements ends in a property") }
    return try rows(path)
  }

  // MARK: Order

  /// The values by which a row is ordered, for ``ValueOrder/precedes(_:_:in:)``.
  ///
  /// - Throws: the errors of ``holds(_:for:of:)``.
  public func sortKeys(
    _ sort: [StoreSort], for row: Row, of entity: EntityIndex
  ) throws(StoreError) -> [StoreValue] {
    try inner((row, entity)).sortKeys(sort)
  }

  func sortKeys(_ sort: [StoreSort]) throws(StoreError) -> [StoreValue] {
    var keys: [StoreValue] = []
    for term in sort { keys.append(ValueOrder.sortKey(try value(term.expression), term.options)) }
    return keys
  }
}
