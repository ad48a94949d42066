/// Computes a projection from rows in memory, as `StoreProjection` defines it.
///
/// An engine uses it for projections that its database can't compute. Costs memory for one value of each aggregate and row.
@_spi(CDE) public struct ProjectionEvaluator<Row: EvaluatedRow> {
  private let projection: StoreProjection
  private let evaluator: FilterEvaluator<Row>
  /// The aggregates over groups, each once.
  private let aggregates: [StoreExpression]

  /// Makes an evaluator of a projection.
  public init(_ projection: StoreProjection, _ schema: ResolvedSchema) {
    self.projection = projection
    evaluator = FilterEvaluator(schema)
    aggregates = projection.groupAggregates
  }

  /// The results for all rows that the projection's condition holds for.
  ///
  /// - Parameter rows: these rows, in any order.
  /// - Throws: errors of reading rows; `.unsupportedQuery` for a projection outside the contract; `.tooBig` for a sum of whole numbers
  ///   beyond 64 bits.
  public func results(of rows: [Row]) throws(StoreError) -> ProjectedRows {
    var results: [(values: [StoreValue], keys: [StoreValue])] = []
    var seen: Set<[StoreValue]> = []
    for part in try parts(of: rows) {
      let scope = part.row.map { evaluator.inner(($0, projection.entity)) } ?? evaluator
      let reader = scope.knowing(part.aggregates)
      guard try reader.holds(projection.having) else { continue }
      var values: [StoreValue] = []
      for column in projection.columns { values.append(try value(column, reader)) }
      if projection.isDistinct, !seen.insert(values.map(\.comparable)).inserted { continue }
      results.append((values, try reader.sortKeys(projection.sort)))
    }
    if !projection.sort.isEmpty {
      results.sort { ValueOrder.precedes($0.keys, $1.keys, in: projection.sort) }
    }
    let rest = results.dropFirst(max(projection.offset, 0))
    var found = ProjectedRows(columnCount: projection.columns.count)
    // A limit below zero is none, as in SQL.
    for result in projection.limit.flatMap({ $0 < 0 ? nil : rest.prefix($0) }) ?? rest {
      for value in result.values { found.append(value) }
    }
    return found
  }

  /// What one result is computed from: a row, or a group with its aggregates and one of its rows.
  private struct Part {
    /// Nil for the group of no rows.
    var row: Row?
    var aggregates: [StoreExpression: StoreValue] = [:]
  }

  private func parts(of rows: [Row]) throws(StoreError) -> [Part] {
    guard !projection.grouping.isEmpty || !aggregates.isEmpty else { return rows.map { Part(row: $0) } }
    var places: [[StoreValue]: Int] = [:]
    var parts: [Part] = []
    var collected: [[[StoreValue]]] = []
    func place(_ key: [StoreValue], _ row: Row?) -> Int {
      if let place = places[key] { return place }
      places[key] = parts.count
      parts.append(Part(row: row))
      collected.append(Array(repeating: [], count: aggregates.count))
      return parts.count - 1
    }
    for row in rows {
      let reader = evaluator.inner((row, projection.entity))
      var key: [StoreValue] = []
      for expression in projection.grouping { key.append(try reader.value(expression).comparable) }
      let place = place(key, row)
      for (index, aggregate) in aggregates.enumerated() {
        guard case .group(_, let inner) = aggregate else { continue }
        let value = try reader.value(inner)
        if value != .null { collected[place][index].append(value) }
      }
    }
    // Without groups all rows are one, even if there are none.
    if projection.grouping.isEmpty, rows.isEmpty { _ = place([], nil) }
    for place in parts.indices {
      for (index, aggregate) in aggregates.enumerated() {
        guard case .group(let kind, _) = aggregate else { continue }
        parts[place].aggregates[aggregate] = try evaluator.aggregate(kind, collected[place][index])
      }
    }
    return parts
  }

  private func value(
    _ column: StoreProjection.Column, _ reader: FilterEvaluator<Row>
  ) throws(StoreError) -> StoreValue {
    switch column {
    case .value(let expression): return try reader.value(expression)
    case .object(let path):
      guard let end = try reader.rows(path).first else { return .null }
      return .reference(entity: end.row.concreteEntity, key: end.row.key)
    }
  }
}

extension StoreProjection {
  /// The aggregates over groups in the projection, each once: those of the columns, of the order, of the condition.
  @_spi(CDE) public var groupAggregates: [StoreExpression] {
    var parts: [QueryPart] = []
    for case .value(let value) in columns { parts.append(.expression(value)) }
    parts += sort.map { .expression($0.expression) } + [.filter(having)]
    var found: [StoreExpression] = []
    for aggregate in parts.flatMap(\.groupAggregates) where !found.contains(aggregate) {
      found.append(aggregate)
    }
    return found
  }
}
