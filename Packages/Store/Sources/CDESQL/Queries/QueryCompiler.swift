public import CDEStore

/// Translates a ``StoreQuery``. All values are bound and all identifiers are quoted.
///
/// SQL's conditions have three values, the store's two. In a `WHERE`, unknown counts as false, which is the
/// store's result of a comparison with nil. Therefore conditions are translated together with their negation,
/// and no part is placed below a plain `NOT`.
///
/// A condition that the dialect can't decide becomes true. Without a plain `NOT` above it, the statement then finds a
/// superset of the rows, and ``CompiledQuery/remainder`` has the conditions that decide.
@_spi(CDE) public struct QueryCompiler {
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
  let dialect: any SQLDialect
  var scopes: [Scope] = []
  /// Whether the value being translated may be an aggregate over a group.
  var hasGroups = false
  /// Whether a part of the value being translated is not decided by the dialect.
  var isUndecided = false
  /// Whether a condition became a superset of itself.
  var isSuperset = false
  private var aliasCount = 0
  private var depth = 0

  /// Makes a compiler for one query.
  public init(_ physical: PhysicalSchema, dialect: any SQLDialect) {
    self.physical = physical
    self.dialect = dialect
  }

  /// What a statement returns.
  public enum Selection {
    /// Columns of the rows, over the alias `t0`.
    case rows(columns: String)
    /// The number of rows. If there is a remainder, columns of the candidates instead; nil for their keys.
    case count(candidates: String? = nil)
  }

  /// The statement of a query. Linear in the size of the query.
  ///
  /// - Throws: `.unsupportedQuery` for what the store has no columns for, `.tooBig` beyond the dialect's limits.
  public mutating func compile(_ query: StoreQuery, _ selection: Selection) throws(StoreError)
    -> CompiledQuery
  {
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
    let (source, filter) = source(of: query, alias: scope.alias)
    if filter != .constant(true) { conditions.append(try condition(filter)) }
    var order: [Piece]? = []
    if case .rows = selection {
      order = try self.order(query.sort, withoutNull: termsWithoutNull(of: query))
    }
    var remainder: QueryRemainder?
    if isSuperset || order == nil {
      remainder = QueryRemainder(
        filter: isSuperset ? try undecided(query) : .constant(true), sort: order == nil ? query.sort : [],
        offset: max(query.offset, 0), limit: query.limit)
    }

    let isRange = remainder == nil && (query.limit != nil || query.offset > 0)
    let columns: String
    switch selection {
    case .rows(let list): columns = list
    case .count(let candidates):
      columns = remainder != nil ? candidates ?? "t0.\(key)" : isRange ? "1" : "COUNT(*)"
    }
    var result = Piece("SELECT \(columns) FROM ") + source
    for join in scope.joins { result.sql += " " + join.sql }
    result.add(clause: " WHERE ", conditions, " AND ")
    result.add(clause: " ORDER BY ", order ?? [], ", ")
    if isRange {
      result += dialect.range(limit: query.limit, offset: query.offset)
      if case .count = selection { result = dialect.counting(result) }
    }
    var compiled = dialect.statement(result)
    compiled.remainder = remainder
    return compiled
  }

  /// What stands behind FROM, and the condition that is left.
  private func source(of query: StoreQuery, alias: String) -> (Piece, StoreFilter) {
    let table = quoted(physical.tableName(of: query.entity))
    var parts = [query.filter]
    if case .and(let all) = query.filter { parts = all }
    for (index, part) in parts.enumerated() {
      // With many keys another condition, or an index in the order of the result, may be the better way.
      guard case .keys(let keys) = part, keys.count <= 512 || parts.count == 1 && query.sort.isEmpty,
        let source = dialect.rows(of: table, alias: alias, key: key, in: keys)
      else { continue }
      parts.remove(at: index)
      return (source, parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts))
    }
    return (Piece("\(table) AS \(alias)"), query.filter)
  }

  /// The parts of a query's condition that its statement does not decide.
  private func undecided(_ query: StoreQuery) throws(StoreError) -> StoreFilter {
    guard case .and(let parts) = query.filter else { return query.filter }
    var remaining: [StoreFilter] = []
    for part in parts {
      var compiler = QueryCompiler(physical, dialect: dialect)
      compiler.scopes = [Scope(entity: query.entity, alias: compiler.newAlias())]
      _ = try compiler.condition(part)
      if compiler.isSuperset { remaining.append(part) }
    }
    return remaining.count == 1 ? remaining[0] : .and(remaining)
  }

  /// The terms of `ORDER BY`; nil if the dialect lacks the order of one.
  ///
  /// - Parameter count: how many of the first terms are NULL in no row.
  mutating func order(_ sort: [StoreSort], withoutNull count: Int = 0) throws(StoreError) -> [Piece]? {
    var order: [Piece] = []
    for (index, term) in sort.enumerated() {
      let piece = try value(term.expression)
      let ordered = dialect.order(
        piece, term.options, isAscending: term.isAscending, mayBeNull: index >= count)
      guard let ordered, !isUndecided else {
        isUndecided = false
        return nil
      }
      order.append(ordered)
    }
    return order
  }

  /// A value computed from one row of an entity's table, whose alias is `t0`.
  ///
  /// - Throws: `.unsupportedQuery` if the value follows a relationship, or if the dialect can't compute it.
  public static func compile(
    _ expression: StoreExpression, of entity: EntityIndex, _ physical: PhysicalSchema,
    dialect: any SQLDialect
  ) throws(StoreError) -> SQLPiece {
    var compiler = QueryCompiler(physical, dialect: dialect)
    let scope = Scope(entity: entity, alias: compiler.newAlias())
    compiler.scopes = [scope]
    let piece = try compiler.value(expression)
    guard scope.joins.isEmpty else {
      throw compiler.unsupported(
        "A computed value of \(physical.schema.entities[entity].source.name) follows a relationship. Compute it "
          + "from properties of the row itself.")
    }
    try compiler.checkDecided()
    return piece
  }

  /// Refuses a statement that can't have a remainder.
  func checkDecided() throws(StoreError) {
    guard isUndecided || isSuperset else { return }
    throw unsupported(
      "The database can't compute a value or a condition of the statement: a text operator with options, MATCHES, or a "
        + "function of text. Fetch the objects, and compute in memory.")
  }

  /// The names of the columns with a row's key and its entity number.
  var key: String { physical.fixed.key }
  var entityNumber: String { physical.fixed.entity }

  mutating func newAlias() -> String {
    defer { aliasCount += 1 }
    return "t\(aliasCount)"
  }

  /// The condition that selects an entity's rows from its tree's table; `nil` if all rows belong to it.
  public func entityCondition(_ entity: EntityIndex, _ includesSubentities: Bool, alias: String) -> SQLPiece?
  {
    let description = physical.schema.entities[entity]
    if description.isRoot, includesSubentities || !description.hasSubentities { return nil }
    let range = includesSubentities ? description.subtree : entity..<(entity + 1)
    let numbers = range.map { String(physical.numbers[$0]) }
    return numbers.count == 1
      ? Piece("\(alias).\(entityNumber) = \(numbers[0])")
      : Piece("\(alias).\(entityNumber) IN (\(numbers.joined(separator: ", ")))")
  }

  func unsupported(_ message: String) -> StoreError { StoreError(.unsupportedQuery, message) }

  mutating func enter() throws(StoreError) {
    depth += 1
    if depth > dialect.depthLimit {
      throw StoreError(
        .tooBig, "The condition nests deeper than \(dialect.depthLimit) levels. Make it flatter.")
    }
  }

  mutating func leave() { depth -= 1 }
}
