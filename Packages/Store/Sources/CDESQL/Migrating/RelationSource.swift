import CDEStore

/// Where a relationship of the old schema keeps its pairs, from the side of one of its ends.
struct RelationSource: Hashable {
  enum Shape: Hashable {
    /// The row itself has the other row's key. The order is the row's place in the other one's list.
    case here(column: String, entity: String?, order: String?)
    /// Rows of another table have this row's key. The order is their place in this row's list.
    case there(table: String, column: String, order: String?)
    /// A table has both keys. `order` is the other's place in this row's list, `own` this row's place in the other's.
    case pairs(table: String, key: String, other: String, order: String?, own: String?, isReflexive: Bool)
  }

  var shape: Shape
  /// The old entity at this end, and the one at the other.
  var entity: EntityIndex
  var other: EntityIndex

  /// The relationship of an old entity; nil for a transient one, and for an attribute.
  init?(_ name: String, of entity: EntityIndex, in physical: PhysicalSchema) {
    guard let property = physical.schema.entities[entity].layout.property(named: name),
      !property.isTransient
    else { return nil }
    let end: ResolvedSchema.RelationshipEnd
    switch property.kind {
    case .attribute, .composite: return nil
    case .toOne, .toMany: end = physical.schema.end(of: property.slot, in: entity)
    }
    self.entity = property.declaringEntity
    other = end.destination
    if case .toOne = property.kind {
      let layout = physical.schema.entities[entity].layout
      let columns = physical.cellColumns[entity]
      func column(_ role: RowLayout.Cell.Role) -> String? {
        property.cells.first { layout.cells[$0].role == role }.map { columns[$0] }
      }
      guard let key = column(.key) else { return nil }
      shape = .here(column: key, entity: column(.entity), order: column(.order))
      return
    }
    guard let found = try? physical.toMany(property.slot, of: entity) else { return nil }
    switch found {
    case .inverse(let key, let order), .implied(let key, let order):
      shape = .there(table: physical.tableName(of: end.destination), column: key, order: order)
    case .join(let side):
      let key = PhysicalSchema.PropertyKey(entity: property.declaringEntity, property: name)
      let table = physical.joinTables.first { $0.naming == key || $0.other == key }
      let own = table.flatMap { $0.naming == key ? $0.firstOrder : $0.secondOrder }
      shape = .pairs(
        table: side.table, key: side.owner, other: side.member, order: side.order,
        own: side.isReflexive ? nil : own, isReflexive: side.isReflexive)
    }
  }

  /// The same pairs from the other end.
  func reversed(in physical: PhysicalSchema) -> RelationSource {
    var result = self
    (result.entity, result.other) = (other, entity)
    switch shape {
    case .here(let column, _, let order):
      result.shape = .there(table: physical.tableName(of: entity), column: column, order: order)
    case .there(_, let column, let order):
      result.shape = .here(column: column, entity: nil, order: order)
    case .pairs(let table, let key, let other, let order, let own, let isReflexive):
      result.shape = .pairs(
        table: table, key: other, other: key, order: own, own: order, isReflexive: isReflexive)
    }
    return result
  }

  // MARK: SQL

  /// The old key of the other row, for the row `s`. If there are several, which an obstacle reports, the first one.
  func key(_ moves: EntityMoves) -> String { first(moves) { $0 } }

  /// The place of the row `s` in the other row's list; nil if it has none.
  func place(_ moves: EntityMoves) -> String? {
    switch shape {
    case .here(_, _, let order): order.map { "s.\(quoted($0))" }
    case .there: nil
    case .pairs(_, _, _, _, let own, _): own.map { column in first(moves) { _ in "j.\(quoted(column))" } }
    }
  }

  private func first(_ moves: EntityMoves, _ value: (String) -> String) -> String {
    switch shape {
    case .here(let column, _, _): return "s.\(quoted(column))"
    case .there(let table, let column, let order):
      let fixed = moves.source.fixed
      let sort = [order.map { "j.\(quoted($0)) NULLS FIRST" }, "j.\(fixed.key)"].compactMap(\.self)
        .joined(separator: ", ")
      return
        "(SELECT \(value("j.\(fixed.key)")) FROM \(moves.table(table)) AS j WHERE j.\(quoted(column)) = s.\(fixed.key)"
        + "\(survives("j.\(fixed.entity)", moves)) ORDER BY \(sort) LIMIT 1)"
    case .pairs(let table, let key, let other, let order, _, let isReflexive):
      if isReflexive {
        return
          "(SELECT MIN(other) FROM (\(both(moves, table, key, other))) AS j WHERE j.me = s.\(moves.source.fixed.key)"
          + "\(survives(key: "j.other", moves)))"
      }
      let sort = [order, other].compactMap(\.self).map { "j.\(quoted($0)) NULLS FIRST" }.joined(
        separator: ", ")
      return "(SELECT \(value("j.\(quoted(other))")) FROM \(moves.table(table)) AS j "
        + "WHERE j.\(quoted(key)) = s.\(moves.source.fixed.key)\(survives(key: "j.\(quoted(other))", moves)) ORDER BY \(sort) LIMIT 1)"
    }
  }

  /// Leaves out others of removed entities, which are removed with them; empty if there are none.
  private func survives(_ number: String, _ moves: EntityMoves) -> String {
    guard let kept = moves.survivors(of: other) else { return "" }
    return " AND \(number) IN (\(kept.map { "\($0)" }.joined(separator: ", ")))"
  }

  private func survives(key: String, _ moves: EntityMoves) -> String {
    guard moves.survivors(of: other) != nil else { return "" }
    let fixed = moves.source.fixed
    return " AND \(key) IN (SELECT r.\(fixed.key) FROM \(moves.table(of: other)) AS r "
      + "WHERE 1 = 1\(survives("r.\(fixed.entity)", moves)))"
  }

  private func both(_ moves: EntityMoves, _ table: String, _ key: String, _ other: String) -> String {
    "SELECT \(quoted(key)) AS me, \(quoted(other)) AS other FROM \(moves.table(table)) "
      + "UNION SELECT \(quoted(other)), \(quoted(key)) FROM \(moves.table(table))"
  }

  /// All pairs as `me`, `other`, `place` (of the other in the row's list) and `own` (of the row in the other's list).
  func pairs(_ moves: EntityMoves, keepsReflexive: Bool, noKey: String) -> String {
    func column(_ name: String?) -> String { name.map { "p.\(quoted($0))" } ?? noKey }
    let primary = moves.source.fixed.key
    switch shape {
    case .here(let key, _, let order):
      return
        "SELECT p.\(primary) AS me, p.\(quoted(key)) AS other, \(noKey) AS place, \(column(order)) AS own "
        + "FROM \(moves.table(of: entity)) AS p WHERE p.\(quoted(key)) IS NOT NULL"
    case .there(let table, let key, let order):
      return
        "SELECT p.\(quoted(key)) AS me, p.\(primary) AS other, \(column(order)) AS place, \(noKey) AS own "
        + "FROM \(moves.table(table)) AS p WHERE p.\(quoted(key)) IS NOT NULL"
    case .pairs(let table, let key, let other, let order, let own, let isReflexive):
      if isReflexive, !keepsReflexive {
        return
          "SELECT me, other, \(noKey) AS place, \(noKey) AS own FROM (\(both(moves, table, key, other))) AS b"
      }
      return "SELECT p.\(quoted(key)) AS me, p.\(quoted(other)) AS other, \(column(order)) AS place, "
        + "\(column(own)) AS own FROM \(moves.table(table)) AS p"
    }
  }

  /// The pairs as `me` and `other` whose other row stays.
  func remaining(_ moves: EntityMoves) -> String {
    "SELECT me, other FROM (\(pairs(moves, keepsReflexive: false, noKey: "NULL"))) AS r0 "
      + "WHERE 1 = 1\(survives(key: "other", moves))"
  }

  /// Counts the rows of an old entity that have several others which stay; nil if no row can have them.
  func surplus(of number: Int64, _ moves: EntityMoves) -> String? {
    let pairs: String
    let fixed = moves.source.fixed
    switch shape {
    case .here: return nil
    case .there(let table, let column, _):
      pairs =
        "SELECT \(quoted(column)) AS me FROM \(moves.table(table)) WHERE \(quoted(column)) IS NOT NULL"
        + survives(fixed.entity, moves)
    case .pairs(let table, let key, let other, _, _, let isReflexive):
      pairs =
        isReflexive
        ? "SELECT me FROM (\(both(moves, table, key, other))) AS b WHERE 1 = 1\(survives(key: "other", moves))"
        : "SELECT \(quoted(key)) AS me FROM \(moves.table(table)) WHERE 1 = 1\(survives(key: quoted(other), moves))"
    }
    return
      "SELECT COUNT(*) FROM (SELECT me FROM (\(pairs)) AS p JOIN \(moves.table(of: entity)) AS o ON o.\(fixed.key) = p.me "
      + "WHERE o.\(fixed.entity) = \(number) GROUP BY me HAVING COUNT(*) > 1) AS f"
  }
}
