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
    let evaluator = FilterEvaluator<NoRow>(stores[0].schema)
    for key in order {
      let reader = GroupReader(parts, groups[key]!, evaluator, projection.entity)
      guard try reader.holds(projection.having) else { continue }
      var values: [StoreValue] = []
      for column in projection.columns { values.append(try reader.value(column)) }
      var keys: [StoreValue] = []
      for term in projection.sort { keys.append(try reader.value(term.expression)) }
      results.append(values, sortedBy: keys)
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
  /// The aggregates that the whole projection names.
  private let wanted: [StoreExpression]
  /// The aggregates that the stores compute, in the order of their columns. An average is computed from a sum and a number.
  let aggregates: [StoreExpression]

  init(_ whole: StoreProjection) {
    var objects: [StorePath] = []
    for case .object(let path) in whole.columns where !objects.contains(path) { objects.append(path) }
    wanted = whole.groupAggregates
    var aggregates: [StoreExpression] = []
    for part in wanted.flatMap(Self.parts) where !aggregates.contains(part) { aggregates.append(part) }
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
    case .min: return ValueOrder.order(one, other) <= 0 ? one : other
    case .max: return ValueOrder.order(one, other) >= 0 ? one : other
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

  /// The values of a whole group, by their expressions.
  func values(of group: Group) -> [StoreExpression: StoreValue] {
    var values = Dictionary(zip(wanted, wanted.map { value(of: $0, in: group) })) { first, _ in first }
    for (expression, value) in zip(grouping, group.values) where values[expression] == nil {
      values[expression] = value
    }
    return values
  }

  private func value(of aggregate: StoreExpression, in group: Group) -> StoreValue {
    func part(_ expression: StoreExpression) -> StoreValue {
      aggregates.firstIndex(of: expression).map { group.values[grouping.count + objects.count + $0] } ?? .null
    }
    guard case .group(.average, let inner) = aggregate else { return part(aggregate) }
    let count = part(.group(.count, inner)).number
    return count > 0 ? .real(part(Self.total(inner)).number / count) : .null
  }

  func object(_ path: StorePath, in group: Group) -> StoreValue {
    objects.firstIndex(of: path).map { group.values[grouping.count + $0] } ?? .null
  }
}

/// Reads values of one whole group.
private struct GroupReader {
  private let parts: GroupParts
  private let group: GroupParts.Group
  private let row: NoRow
  private let evaluator: FilterEvaluator<NoRow>

  init(
    _ parts: GroupParts, _ group: GroupParts.Group, _ evaluator: FilterEvaluator<NoRow>, _ entity: EntityIndex
  ) {
    self.parts = parts
    self.group = group
    row = NoRow(concreteEntity: entity)
    self.evaluator = evaluator.knowing(parts.values(of: group))
  }

  func holds(_ filter: StoreFilter) throws(StoreError) -> Bool {
    try evaluator.holds(filter, for: row, of: row.concreteEntity)
  }

  func value(_ column: StoreProjection.Column) throws(StoreError) -> StoreValue {
    switch column {
    case .value(let expression): try value(expression)
    case .object(let path): parts.object(path, in: group)
    }
  }

  func value(_ expression: StoreExpression) throws(StoreError) -> StoreValue {
    try evaluator.value(of: expression, for: row, of: row.concreteEntity)
  }
}

/// The row of a group: it has none, because the values of all expressions are known.
private struct NoRow: EvaluatedRow {
  var key: Int64 { 0 }
  let concreteEntity: EntityIndex

  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue {
    throw StoreError(.unsupportedQuery, "A group of rows has no value of a single row.")
  }

  func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [NoRow] {
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
