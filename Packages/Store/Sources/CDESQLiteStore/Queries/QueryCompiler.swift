import CDEStore

/// A query as SQL, with its bound values in the order of their parameters.
struct CompiledQuery {
  var sql: String
  var bindings: [StoreValue]
}

/// Translates a ``StoreQuery``. All values are bound and all identifiers are quoted.
///
/// SQL's conditions have three values, the store's two. In a `WHERE`, unknown counts as false, which is the
/// store's result of a comparison with nil. Therefore conditions are translated together with their negation,
/// and no part is placed below a plain `NOT`.
struct QueryCompiler {
  /// A row at which paths can start, with the joins that paths over to-one relationships need.
  final class Scope {
    let entity: EntityIndex
    let alias: String
    var joins: [(sql: String, hops: [SlotIndex], alias: String)] = []

    init(entity: EntityIndex, alias: String) {
      self.entity = entity
      self.alias = alias
    }
  }

  typealias Piece = SQLPiece

  let physical: PhysicalSchema
  var scopes: [Scope] = []
  /// Whether the value being translated may be an aggregate over a group.
  var hasGroups = false
  private var aliasCount = 0
  private var depth = 0

  init(_ physical: PhysicalSchema) { self.physical = physical }

  enum Selection {
    case rows(columns: String)
    case count
  }

  mutating func compile(_ query: StoreQuery, _ selection: Selection) throws(StoreError) -> CompiledQuery {
    let schema = physical.schema
    guard schema.entities.indices.contains(query.entity) else {
      throw unsupported("The query's entity \(query.entity) is not in the schema.")
    }
    let scope = Scope(entity: query.entity, alias: newAlias())
    scopes = [scope]
    var conditions: [Piece] = []
    if let types = entityCondition(query.entity, query.includesSubentities, alias: scope.alias) {
      conditions.append(types)
    }
    if query.filter != .constant(true) { conditions.append(try condition(query.filter)) }
    var order: [Piece] = []
    if case .rows = selection { order = try self.order(query.sort) }

    let columns: String
    switch selection {
    case .rows(let list): columns = list
    case .count: columns = query.limit == nil && query.offset == 0 ? "COUNT(*)" : "1"
    }
    var result = Piece(
      "SELECT \(columns) FROM \(quoted(physical.tableName(of: query.entity))) AS \(scope.alias)")
    for join in scope.joins { result.sql += " " + join.sql }
    if !conditions.isEmpty { result = result + Piece(" WHERE ") + .joined(conditions, " AND ") }
    if !order.isEmpty { result = result + Piece(" ORDER BY ") + .joined(order, ", ") }
    if query.limit != nil || query.offset > 0 {
      result = result + SQLiteDialect.range(limit: query.limit, offset: query.offset)
      if case .count = selection { result.sql = "SELECT COUNT(*) FROM (\(result.sql))" }
    }
    return CompiledQuery(sql: result.sql, bindings: result.bindings)
  }

  /// The terms of `ORDER BY`.
  mutating func order(_ sort: [StoreSort]) throws(StoreError) -> [Piece] {
    var order: [Piece] = []
    for term in sort {
      var piece = try value(term.expression)
      if let collation = SQLiteDialect.collation(term.options) {
        piece = piece + Piece(collation)
      } else if !term.options.isEmpty {
        piece = SQLiteDialect.folded(piece, term.options)
      }
      order.append(piece + Piece(term.isAscending ? " ASC" : " DESC"))
    }
    return order
  }

  /// A value computed from one row of an entity's table, whose alias is `t0`.
  static func compile(
    _ expression: StoreExpression, of entity: EntityIndex, _ physical: PhysicalSchema
  ) throws(StoreError) -> CompiledQuery {
    var compiler = QueryCompiler(physical)
    let scope = Scope(entity: entity, alias: compiler.newAlias())
    compiler.scopes = [scope]
    let piece = try compiler.value(expression)
    guard scope.joins.isEmpty else {
      throw compiler.unsupported(
        "A computed value of \(physical.schema.entities[entity].source.name) follows a relationship. Compute it "
          + "from properties of the row itself.")
    }
    return CompiledQuery(sql: piece.sql, bindings: piece.bindings)
  }

  mutating func newAlias() -> String {
    defer { aliasCount += 1 }
    return "t\(aliasCount)"
  }

  /// The condition that selects an entity's rows from its tree's table; `nil` if all rows belong to it.
  func entityCondition(_ entity: EntityIndex, _ includesSubentities: Bool, alias: String) -> Piece? {
    let description = physical.schema.entities[entity]
    if description.isRoot, includesSubentities || !description.hasSubentities { return nil }
    let range = includesSubentities ? description.subtree : entity..<(entity + 1)
    let numbers = range.map { String(physical.numbers[$0]) }
    return numbers.count == 1
      ? Piece("\(alias).Z_ENT = \(numbers[0])")
      : Piece("\(alias).Z_ENT IN (\(numbers.joined(separator: ", ")))")
  }

  func unsupported(_ message: String) -> StoreError { StoreError(.unsupportedQuery, message) }

  mutating func enter() throws(StoreError) {
    depth += 1
    if depth > SQLiteDialect.depthLimit {
      throw StoreError(
        .tooBig, "The condition nests deeper than \(SQLiteDialect.depthLimit) levels. Make it flatter.")
    }
  }

  mutating func leave() { depth -= 1 }
}
