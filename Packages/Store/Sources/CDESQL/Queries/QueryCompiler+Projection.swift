public import CDEStore

/// How the columns of a statement become the values of a projection.
@_spi(CDE) public struct ProjectedColumn: Sendable {
  /// The statement's column of the value, or of an object's key.
  public var column: Int32
  /// The column with the number of an object's entity.
  public var entityColumn: Int32?
  /// The entity of an object that has no sub-entities.
  public var entity: EntityIndex?
  /// The kind of the value, if it is known.
  public var kind: SQLKind?
}

@_spi(CDE) extension QueryCompiler {
  /// The SQL of a projection, and how to read its results.
  ///
  /// - Throws: the errors of ``compile(_:_:)``; `.unsupportedQuery` also if the dialect can't decide a part.
  public mutating func compile(
    _ projection: StoreProjection
  ) throws(StoreError) -> (query: CompiledQuery, columns: [ProjectedColumn]) {
    guard !projection.columns.isEmpty else { throw unsupported("A projection needs columns.") }
    let scope = Scope(entity: projection.entity, alias: newAlias())
    scopes = [scope]
    let (selected, columns) = try select(projection.columns)
    var conditions: [Piece] = []
    if let types = entityCondition(projection.entity, projection.includesSubentities, alias: scope.alias) {
      conditions.append(types)
    }
    if projection.filter != .constant(true) { conditions.append(try condition(projection.filter)) }
    var grouping: [Piece] = []
    for expression in projection.grouping { grouping.append(dialect.group(try value(expression))) }
    hasGroups = true
    let having = projection.having == .constant(true) ? nil : try condition(projection.having)
    guard let order = try self.order(projection.sort) else {
      throw unsupported("The database lacks the order of the projection. Sort the results in memory.")
    }
    hasGroups = false
    try checkDecided()

    var result = Piece(projection.isDistinct ? "SELECT DISTINCT " : "SELECT ") + .joined(selected, ", ")
    result.sql += " FROM \(quoted(physical.tableName(of: projection.entity))) AS \(scope.alias)"
    for join in scope.joins { result.sql += " " + join.sql }
    result.add(clause: " WHERE ", conditions, " AND ")
    result.add(clause: " GROUP BY ", grouping, ", ")
    if let having { result += Piece(" HAVING ") + having }
    result.add(clause: " ORDER BY ", order, ", ")
    if projection.limit != nil || projection.offset > 0 {
      result += dialect.range(limit: projection.limit, offset: projection.offset)
    }
    return (dialect.statement(result), columns)
  }

  private mutating func select(
    _ columns: [StoreProjection.Column]
  ) throws(StoreError) -> ([Piece], [ProjectedColumn]) {
    hasGroups = true
    defer { hasGroups = false }
    var pieces: [Piece] = []
    var result: [ProjectedColumn] = []
    for column in columns {
      var projected = ProjectedColumn(column: Int32(pieces.count))
      switch column {
      case .value(let expression):
        let piece = dialect.result(try value(expression))
        projected.kind = piece.kind
        pieces.append(piece)
      case .object(let path):
        guard path.end == .object else { throw unsupported("The path of an object ends in a property.") }
        let place = try follow(path.hops[...], from: try scope(path.scope))
        pieces.append(Piece("\(place.alias).\(key)"))
        if physical.schema.entities[place.entity].hasSubentities {
          projected.entityColumn = Int32(pieces.count)
          pieces.append(Piece("\(place.alias).\(entityNumber)"))
        } else {
          projected.entity = place.entity
        }
      }
      result.append(projected)
    }
    return (pieces, result)
  }
}
