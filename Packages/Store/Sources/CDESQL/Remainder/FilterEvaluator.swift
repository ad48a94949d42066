public import CDEStore

/// Decides the conditions of a store for rows in memory, as `StoreFilter` defines them.
///
/// An engine decides with it what its database can't: a query's ``QueryRemainder``. Not for use on several threads at once,
/// because prepared patterns are kept.
@_spi(CDE) public struct FilterEvaluator<Row: EvaluatedRow> {
  private let schema: ResolvedSchema
  /// The rows at which paths can start, with the entities whose layouts number their slots.
  private var scopes: [(row: Row, entity: EntityIndex)] = []
  private let patterns = PreparedPatterns()
  /// The aggregates of the group that the row belongs to; nil where there are no groups.
  private(set) var aggregates: [StoreExpression: StoreValue]?

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

  /// An evaluator for values of a group.
  func knowing(_ aggregates: [StoreExpression: StoreValue]) -> FilterEvaluator {
    var inner = self
    inner.aggregates = aggregates
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
    case .keys(let keys): return keys.contains(scopes[0].row.key)
    case .entity(let path, let entities):
      for element in try rows(path) where entities.contains(element.row.concreteEntity) { return true }
      return false
    case .any(let path, let condition):
      for element in try rows(path) where try inner(element).holds(condition) { return true }
      return false
    case .comparison(let left, let comparison, let right, let options):
      return try compare(left, comparison, right, options)
    }
  }

  private func compare(
    _ left: StoreExpression, _ comparison: StoreFilter.Comparison, _ right: StoreExpression,
    _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> Bool {
    let subject = ValueOrder.folded(try value(left), options)
    if case .list(let list) = right {
      switch comparison {
      case .in:
        for element in list where ValueOrder.equal(subject, ValueOrder.folded(try value(element), options)) {
          return true
        }
        return false
      case .between where list.count == 2:
        guard let lower = ValueOrder.compare(subject, ValueOrder.folded(try value(list[0]), options)),
          let upper = ValueOrder.compare(subject, ValueOrder.folded(try value(list[1]), options))
        else { return false }
        return lower >= 0 && upper <= 0
      default: throw misuse("\(comparison.rawValue) has a list")
      }
    }
    if [.like, .matches].contains(comparison) {
      guard case .text(let text) = try value(left), case .text(let pattern) = try value(right) else {
        return false
      }
      return comparison == .like
        ? patterns.wildcard(pattern, options).matches(TextFolding.folded(text, options))
        : try patterns.expression(pattern, options).matches(text)
    }
    let other = ValueOrder.folded(try value(right), options)
    let order = ValueOrder.compare(subject, other)
    switch comparison {
    case .equal: return ValueOrder.equal(subject, other)
    case .notEqual: return !ValueOrder.equal(subject, other)
    case .less: return order.map { $0 < 0 } ?? false
    case .lessOrEqual: return order.map { $0 <= 0 } ?? false
    case .greater: return order.map { $0 > 0 } ?? false
    case .greaterOrEqual: return order.map { $0 >= 0 } ?? false
    case .in, .between: throw misuse("\(comparison.rawValue) has no list")
    case .beginsWith, .endsWith, .contains, .like, .matches:
      guard case .text(let text) = subject, case .text(let part) = other else { return false }
      switch comparison {
      case .beginsWith: return text.utf8.starts(with: part.utf8)
      case .endsWith: return text.utf8.reversed().starts(with: part.utf8.reversed())
      default: return ValueOrder.contains(text, part)
      }
    }
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

  // MARK: Order

  /// The values by which a row is ordered, for ``precedes(_:_:in:)``.
  ///
  /// - Throws: the errors of ``holds(_:for:of:)``.
  public func sortKeys(
    _ sort: [StoreSort], for row: Row, of entity: EntityIndex
  ) throws(StoreError) -> [StoreValue] {
    var keys: [StoreValue] = []
    for term in sort {
      keys.append(Self.sortKey(try value(of: term.expression, for: row, of: entity), term.options))
    }
    return keys
  }

  static func sortKey(_ value: StoreValue, _ options: StoreFilter.TextOptions) -> StoreValue {
    let isLocalized = !options.isDisjoint(with: [.localized, .localizedStandard])
    return isLocalized ? value : ValueOrder.folded(value, options)
  }

  /// Whether a row comes before another one, by their sort keys. Nil comes first.
  public static func precedes(_ left: [StoreValue], _ right: [StoreValue], in sort: [StoreSort]) -> Bool {
    for (index, term) in sort.enumerated() {
      let order = ValueOrder.order(left[index], right[index], term.options)
      if order != 0 { return term.isAscending ? order < 0 : order > 0 }
    }
    return false
  }
}
