@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEStore
internal import Foundation

extension UnitedStores {
  /// Computes values from the rows of all stores. The results are those of one store with all the rows.
  func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    if let only { return try only.project(projection) }
    if projection.limit == 0 || stores.isEmpty { return ProjectedRows(columnCount: projection.columns.count) }
    return projection.isGrouped ? try grouped(projection) : try listed(projection)
  }

  /// Results of single rows. Each store sorts its own, so it has to return no more than are asked for.
  private func listed(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    var wide = projection.widened
    // The values of the order follow those of the result. If results are distinct, they are computed from these.
    wide.columns += projection.sort.map { .value($0.expression) }
    var results = ProjectedResults(projection)
    for store in stores {
      let rows = try store.project(wide)
      for row in 0..<rows.count {
        let values = (0..<rows.columnCount).map { rows[row, $0] }
        let width = projection.columns.count
        results.append(Array(values[..<width]), sortedBy: Array(values[width...]))
      }
    }
    return results.finish()
  }

  /// Results of groups: each store computes its part of each group, and the parts are added up.
  private func grouped(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    let parts = GroupParts(projection)
    var groups: [[StoreValue]: GroupParts.Group] = [:]
    var order: [[StoreValue]] = []
    for store in stores {
      let rows = try store.project(parts.projection)
      for row in 0..<rows.count {
        let values = (0..<rows.columnCount).map { rows[row, $0] }
        let key = parts.key(of: values)
        if groups[key] == nil { order.append(key) }
        try parts.add(values, to: &groups[key, default: GroupParts.Group()])
      }
    }
    var results = ProjectedResults(projection)
    do {
      for key in order {
        let reader = GroupReader(parts, groups[key]!, stores[0].schema, projection.entity)
        guard try reader.holds(projection.having) else { continue }
        results.append(
          try projection.columns.map(reader.value),
          sortedBy: try projection.sort.map { try reader.value($0.expression) })
      }
    } catch let error as StoreError {
      throw error
    } catch {
      let message = (error as? any CDEError)?.message ?? "\(error)"
      throw StoreError(.unsupportedQuery, message, cause: error)
    }
    return results.finish()
  }
}

/// Results with the values of their order: sorted, distinct and bounded at the end.
private struct ProjectedResults {
  private let projection: StoreProjection
  private var values: [[StoreValue]] = []
  private var order: RowOrder
  private var seen: Set<[StoreValue]> = []

  init(_ projection: StoreProjection) {
    self.projection = projection
    order = RowOrder(projection.sort)
  }

  mutating func append(_ result: [StoreValue], sortedBy keys: [StoreValue]) {
    if projection.isDistinct, !seen.insert(result.map(\.comparable)).inserted { return }
    values.append(result)
    order.append(keys)
  }

  func finish() -> ProjectedRows {
    var rows = ProjectedRows(columnCount: projection.columns.count)
    for place in order.sorted[projection.range(of: values.count)] {
      for value in values[place] { rows.append(value) }
    }
    return rows
  }
}

/// What each store computes of the groups of a projection, and how the parts of a group are added up.
private struct GroupParts {
  /// One value of a group: of its rows' common values, or an aggregate.
  struct Group { var values: [StoreValue] = [] }

  let projection: StoreProjection
  /// The values by which rows are grouped, the first columns of ``projection``.
  let grouping: [StoreExpression]
  /// Objects at the end of paths, which are the same for all rows of a group.
  let objects: [StorePath]
  /// The aggregates, in the order of their columns. An average is computed from a sum and a number.
  let aggregates: [StoreExpression]

  init(_ whole: StoreProjection) {
    var expressions: [StoreExpression] = []
    var objects: [StorePath] = []
    for column in whole.columns {
      switch column {
      case .value(let expression): expressions.append(expression)
      case .object(let path): if !objects.contains(path) { objects.append(path) }
      }
    }
    expressions += whole.sort.map(\.expression) + whole.having.expressions
    var aggregates: [StoreExpression] = []
    for expression in expressions.flatMap(\.groups) {
      for part in Self.parts(of: expression) where !aggregates.contains(part) { aggregates.append(part) }
    }
    grouping = whole.grouping
    self.objects = objects
    self.aggregates = aggregates
    var projection = whole
    projection.columns =
      whole.grouping.map { expression in
        // As an object, because the plain number is the store's own key.
        if case .path(let path) = expression, path.end == .object { return .object(path) }
        return .value(expression)
      } + objects.map { .object($0) } + aggregates.map { .value($0) }
    // A projection needs columns, and the group of all rows needs an aggregate.
    if projection.columns.isEmpty || (whole.grouping.isEmpty && aggregates.isEmpty) {
      projection.columns.append(.value(.group(.count, .value(.integer(1)))))
    }
    projection.having = .constant(true)
    projection.isDistinct = false
    projection.sort = []
    projection.limit = nil
    projection.offset = 0
    self.projection = projection
  }

  /// The aggregates from which the stores' parts of one are added up.
  static func parts(of expression: StoreExpression) -> [StoreExpression] {
    guard case .group(.average, let inner) = expression else { return [expression] }
    return [total(inner), .group(.count, inner)]
  }

  /// The sum as a number with a fraction, as averages have it. It can't overflow.
  private static func total(_ inner: StoreExpression) -> StoreExpression {
    .group(.sum, .function(.multiply, [inner, .value(.real(1))]))
  }

  /// The values that make a group.
  func key(of values: [StoreValue]) -> [StoreValue] { values[..<grouping.count].map(\.comparable) }

  /// Adds a store's part of a group.
  func add(_ values: [StoreValue], to group: inout Group) throws(StoreError) {
    guard !group.values.isEmpty else {
      group.values = values
      return
    }
    let first = grouping.count + objects.count
    for (index, expression) in aggregates.enumerated() {
      guard case .group(let aggregate, _) = expression else { continue }
      let (one, other) = (group.values[first + index], values[first + index])
      group.values[first + index] = try Self.add(one, other, aggregate)
    }
  }

  private static func add(
    _ one: StoreValue, _ other: StoreValue, _ aggregate: StoreExpression.Aggregate
  ) throws(StoreError) -> StoreValue {
    if one == .null { return other }
    if other == .null { return one }
    switch aggregate {
    case .min: return RowOrder.compare(one, other) <= 0 ? one : other
    case .max: return RowOrder.compare(one, other) >= 0 ? one : other
    case .sum, .count, .average:
      switch (one, other) {
      case (.integer(let one), .integer(let other)):
        let (sum, overflows) = one.addingReportingOverflow(other)
        guard !overflows else {
          throw StoreError(.tooBig, "A sum of integers exceeds 64 bits. Sum numbers with a fraction instead.")
        }
        return .integer(sum)
      default: return .real(one.number + other.number)
      }
    }
  }

  /// The value of an aggregate in a whole group.
  func value(of expression: StoreExpression, in group: Group) -> StoreValue? {
    func part(_ expression: StoreExpression) -> StoreValue? {
      aggregates.firstIndex(of: expression).map { group.values[grouping.count + objects.count + $0] }
    }
    guard case .group(.average, let inner) = expression else { return part(expression) }
    guard let count = part(.group(.count, inner))?.number, count > 0,
      let sum = part(Self.total(inner))?.number
    else { return .null }
    return .real(sum / count)
  }

  func object(_ path: StorePath, in group: Group) -> StoreValue {
    objects.firstIndex(of: path).map { group.values[grouping.count + $0] } ?? .null
  }
}

/// Reads values of one whole group.
private struct GroupReader {
  private let parts: GroupParts
  private let group: GroupParts.Group
  private let interpreter: QueryInterpreter<NoRow>

  init(_ parts: GroupParts, _ group: GroupParts.Group, _ schema: ResolvedSchema, _ entity: EntityIndex) {
    self.parts = parts
    self.group = group
    interpreter = QueryInterpreter(
      schema: schema, row: NoRow(concreteEntity: entity), entity: entity, patterns: PredicatePatternCache())
  }

  func holds(_ filter: StoreFilter) throws -> Bool { try interpreter.holds(replaced(filter)) }

  func value(_ column: StoreProjection.Column) throws -> StoreValue {
    switch column {
    case .value(let expression): try value(expression)
    case .object(let path): parts.object(path, in: group)
    }
  }

  func value(_ expression: StoreExpression) throws -> StoreValue {
    // A value that the stores have computed is taken as it is.
    if case .value(let value) = replaced(expression) { return value }
    return try interpreter.value(replaced(expression)).stored
  }

  /// An expression with the values of the group in place of what reads rows.
  private func replaced(_ expression: StoreExpression) -> StoreExpression {
    if let index = parts.grouping.firstIndex(of: expression) { return .value(group.values[index]) }
    switch expression {
    case .group: return parts.value(of: expression, in: group).map { .value($0) } ?? expression
    case .list(let members): return .list(members.map(replaced))
    case .function(let function, let arguments): return .function(function, arguments.map(replaced))
    case .conditional(let test, let first, let second):
      return .conditional(replaced(test), replaced(first), replaced(second))
    case .value, .path, .count, .aggregate, .countWhere: return expression
    }
  }

  private func replaced(_ filter: StoreFilter) -> StoreFilter {
    switch filter {
    case .constant, .any, .keys, .entity: filter
    case .and(let parts): .and(parts.map(replaced))
    case .or(let parts): .or(parts.map(replaced))
    case .not(let part): .not(replaced(part))
    case .rules(let rules, let otherwise):
      .rules(
        rules.map { StoreFilter.Rule(replaced($0.condition), holds: $0.holds) },
        otherwise: replaced(otherwise))
    case .comparison(let left, let comparison, let right, let options):
      .comparison(replaced(left), comparison, replaced(right), options)
    }
  }
}

/// The row of a group: it has none, because all expressions are replaced by values.
private struct NoRow: InterpretedRow {
  var key: Int64 { 0 }
  let concreteEntity: EntityIndex

  func value(of slot: SlotIndex, leaf: Int, in entity: ResolvedSchema.Entity) throws -> StoreValue {
    throw StoreError(.unsupportedQuery, "A group of rows has no value of a single row.")
  }

  func destinations(of slot: SlotIndex, in entity: ResolvedSchema.Entity) throws -> [NoRow] {
    throw StoreError(.unsupportedQuery, "A group of rows has no relationships.")
  }
}

extension StoreValue {
  fileprivate var number: Double {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .text(let digits): Double(digits) ?? 0
    case .null, .blob, .reference: 0
    }
  }
}

extension StoreExpression {
  /// The aggregates over a group in the expression.
  fileprivate var groups: [StoreExpression] {
    switch self {
    case .group: [self]
    case .value, .path, .count, .aggregate, .countWhere: []
    case .list(let members), .function(_, let members): members.flatMap(\.groups)
    case .conditional(let test, let first, let second):
      test.expressions.flatMap(\.groups) + first.groups + second.groups
    }
  }
}

extension StoreFilter {
  /// The values that the condition compares.
  fileprivate var expressions: [StoreExpression] {
    switch self {
    case .constant, .any, .keys, .entity: []
    case .and(let parts), .or(let parts): parts.flatMap(\.expressions)
    case .not(let part): part.expressions
    case .rules(let rules, let otherwise): rules.flatMap(\.condition.expressions) + otherwise.expressions
    case .comparison(let left, _, let right, _): [left, right]
    }
  }
}
