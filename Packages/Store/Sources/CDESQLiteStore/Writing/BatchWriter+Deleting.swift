@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

extension BatchWriter {
  /// Deletes the listed rows. The steps: list rows that cascades add, check denials, clear references to the
  /// rows, delete the rows.
  func delete(_ batch: StoreBatchDelete) throws(StoreError) {
    if result.rows.isEmpty { return }
    try cascade(batch.rules)
    let entities = try listedEntities()
    for derivation in physical.foreign {
      for entity in entities { try derivation.checkDeletion(of: entity) }
    }
    for entity in entities { try checkDenials(entity, batch.rules[entity]) }
    for entity in entities {
      try clearReferences(to: entity, batch.rules[entity])
      try clearOneWayReferences(to: entity)
    }
    for entity in entities {
      let plan = plans.writes[entity]
      try noteFiles(plan.externalCells, of: plan, where: listed(entity))
    }
    if let history { try preserve(entities, history) }
    for root in Set(entities.map { schema.entities[$0].root }).sorted() {
      try connection.run(
        "DELETE FROM \(quoted(physical.tableName(of: root))) WHERE Z_PK IN (\(listed(inTreeOf: root.entity)))",
        while: "Deleting rows")
    }
    try connection.forEachRow(
      "SELECT ent, pk FROM \(Self.list) WHERE level > 0 ORDER BY root, pk", while: "Deleting rows"
    ) { statement in
      guard let entity = physical.indexes[sqlite3_column_int64(statement, 0)] else { return }
      result.cascaded.append(.init(entity: entity, key: sqlite3_column_int64(statement, 1)))
    }
  }

  private func preserve(_ entities: [EntityIndex], _ history: HistoryWriter) throws(StoreError) {
    for entity in entities {
      var keys: [Int64] = []
      try connection.forEachRow(listed(entity), while: "Deleting rows") {
        keys.append(sqlite3_column_int64($0, 0))
      }
      for key in keys { try history.preserve(entity, key: key) }
    }
  }

  // MARK: The list

  /// Keys of the listed rows of one concrete entity.
  private func listed(_ entity: EntityIndex) -> String {
    "SELECT pk FROM \(Self.list) WHERE root = \(schema.entities[entity].root) "
      + "AND ent = \(physical.numbers[entity])"
  }

  /// Keys of the rows of one concrete entity that the level bound as `?1` added. Earlier levels are not read.
  private func listed(_ entity: EntityIndex, addedBy level: Int) -> String {
    if level == 0 { return listed(entity) + " AND level = ?1" }
    return "SELECT pk FROM \(Self.list) INDEXED BY cde_batch_level WHERE level = ?1 AND level > 0 "
      + "AND ent = \(physical.numbers[entity]) AND root = \(schema.entities[entity].root)"
  }

  private func listed(inTreeOf entity: EntityIndex) -> String {
    "SELECT pk FROM \(Self.list) WHERE root = \(schema.entities[entity].root)"
  }

  private func listedEntities(addedBy level: Int? = nil) throws(StoreError) -> [EntityIndex] {
    var entities: [EntityIndex] = []
    let source =
      switch level {
      case nil: ""
      case 0: " WHERE level = ?1"
      default: " INDEXED BY cde_batch_level WHERE level = ?1 AND level > 0"
      }
    try connection.forEachRow(
      "SELECT DISTINCT ent FROM \(Self.list)\(source)", level.map { [.integer(Int64($0))] } ?? [],
      while: "Deleting rows"
    ) { statement in
      if let entity = physical.indexes[sqlite3_column_int64(statement, 0)] { entities.append(entity) }
    }
    return entities.sorted()
  }

  // MARK: Rules

  /// The keys of the objects that a relationship leads to from given owners.
  private func members(of property: RowLayout.Property, _ entity: EntityIndex, owners: String)
    throws(StoreError) -> String
  {
    if case .toOne = property.kind {
      let column = quoted(physical.cellColumns[entity][property.cells.lowerBound])
      return "SELECT \(column) FROM \(quoted(physical.tableName(of: entity))) "
        + "WHERE Z_PK IN (\(owners)) AND \(column) IS NOT NULL"
    }
    let destination = schema.end(of: property.slot, in: entity).destination
    switch try physical.toMany(property.slot, of: entity) {
    case .inverse(let key, _), .implied(let key, _):
      return "SELECT Z_PK FROM \(quoted(physical.tableName(of: destination))) "
        + "WHERE \(quoted(key)) IN (\(owners))"
    case .join(let side):
      var sql =
        "SELECT \(quoted(side.member)) FROM \(quoted(side.table)) WHERE \(quoted(side.owner)) IN (\(owners))"
      if side.isReflexive {
        sql +=
          " UNION SELECT \(quoted(side.owner)) FROM \(quoted(side.table)) "
          + "WHERE \(quoted(side.member)) IN (\(owners))"
      }
      return sql
    }
  }

  private func relationships(_ entity: EntityIndex) -> [RowLayout.Property] {
    schema.entities[entity].layout.properties.filter { $0.isRelationship && !$0.isTransient }
  }

  /// Lists the rows that cascades of the listed rows add, level by level until no row is added.
  ///
  /// A level reads only the rows that the previous level added. Its number is bound, so a chain of any length
  /// runs the same few statements, and the cost is linear in its length.
  private func cascade(_ rules: IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>)
    throws(StoreError)
  {
    guard rules.contains(where: { $0.values.contains(.cascade) }) else { return }
    var level = 0
    while true {
      var added = 0
      for entity in try listedEntities(addedBy: level) {
        for property in relationships(entity) where rules[entity][property.slot] == .cascade {
          let end = schema.end(of: property.slot, in: entity)
          let keys = try members(of: property, entity, owners: listed(entity, addedBy: level))
          let root = schema.entities[end.destination].root
          try connection.run(
            "INSERT OR IGNORE INTO \(Self.list) SELECT \(root), Z_PK, Z_ENT, ?2 "
              + "FROM \(quoted(physical.tableName(of: end.destination))) WHERE Z_PK IN (\(keys))",
            [.integer(Int64(level)), .integer(Int64(level + 1))], while: "Following delete rules")
          added += Int(sqlite3_changes(connection.handle))
        }
      }
      if added == 0 { return }
      level += 1
    }
  }

  private func checkDenials(
    _ entity: EntityIndex, _ rules: [SlotIndex: StoreBatchDelete.Rule]
  ) throws(StoreError) {
    for property in relationships(entity) where rules[property.slot] == .deny {
      let end = schema.end(of: property.slot, in: entity)
      let keys = try members(of: property, entity, owners: listed(entity))
      let remaining = try connection.integer(
        "SELECT count(*) FROM \(quoted(physical.tableName(of: end.destination))) WHERE Z_PK IN (\(keys)) "
          + "AND Z_PK NOT IN (\(listed(inTreeOf: end.destination)))", while: "Checking delete rules")
      guard let remaining, remaining > 0 else { continue }
      throw StoreError.deniedDeletion(
        of: schema.entities[entity].source.name, property.name, remaining: Int(remaining))
    }
  }

  // MARK: References to the rows

  private func clearReferences(
    to entity: EntityIndex, _ rules: [SlotIndex: StoreBatchDelete.Rule]
  ) throws(StoreError) {
    for property in relationships(entity) {
      let end = schema.end(of: property.slot, in: entity)
      if let inverse = end.inverse, let slot = end.inverseSlot {
        if inverse.isToMany {
          try touch(owners: members(of: property, entity, owners: listed(entity)), end.destination, slot)
        } else if rules[property.slot] != .noAction {
          try nullify(slot, of: end.destination, deleted: entity)
        }
      }
    }
    for statement in physical.removals(of: entity, where: "IN (\(listed(entity)))") {
      try connection.run(statement, while: "Removing deleted rows' relationships")
    }
  }

  /// Clears references that have no inverse. No rule of the deleted rows' entity concerns them.
  private func clearOneWayReferences(to entity: EntityIndex) throws(StoreError) {
    for column in plans.references[schema.entities[entity].root].map(\.column) where column.inverse == nil {
      guard let slot = schema.entities[column.owner].layout.slot(named: column.property) else { continue }
      try nullify(slot, of: column.owner, deleted: entity)
    }
  }

  /// Notes owners that lose members but are not deleted.
  private func touch(owners: String, _ destination: EntityIndex, _ slot: SlotIndex) throws(StoreError) {
    try connection.forEachRow(
      "SELECT Z_PK FROM \(quoted(physical.tableName(of: destination))) WHERE Z_PK IN (\(owners)) "
        + "AND Z_PK NOT IN (\(listed(inTreeOf: destination)))", while: "Finding owners"
    ) { statement in
      result.touched.append(
        .init(row: .init(entity: destination, key: sqlite3_column_int64(statement, 0)), slot: slot))
    }
  }

  /// Clears a to-one relationship of remaining rows.
  private func nullify(_ slot: SlotIndex, of destination: EntityIndex, deleted: EntityIndex)
    throws(StoreError)
  {
    let layout = schema.entities[destination].layout
    let property = layout.properties[slot]
    let names = physical.cellColumns[destination]
    guard let first = property.cells.first, case .toOne(let relationship) = property.kind else { return }
    let table = quoted(physical.tableName(of: destination))
    // The entities whose rows use the column. Other entities of the tree may use it for another property.
    let types = QueryCompiler(physical).entityCondition(destination, true, alias: table).map {
      " AND " + $0.sql
    }
    let condition =
      "\(quoted(names[first])) IN (\(listed(deleted))) "
      + "AND Z_PK NOT IN (\(listed(inTreeOf: destination)))\(types ?? "")"
    var found: [StoreBatchResult.Row] = []
    try connection.forEachRow(
      "SELECT Z_ENT, Z_PK FROM \(table) WHERE \(condition)", while: "Finding references"
    ) { statement in
      guard let entity = physical.indexes[sqlite3_column_int64(statement, 0)] else { return }
      found.append(.init(entity: entity, key: sqlite3_column_int64(statement, 1)))
    }
    if found.isEmpty { return }
    if !relationship.isOptional {
      throw StoreError.requiredObjects(of: layout.entityName, property.name, count: found.count)
    }
    let settings = property.cells.map { "\(quoted(names[$0])) = NULL" }
    try connection.run(
      "UPDATE \(table) SET \(settings.joined(separator: ", ")), Z_OPT = \(Self.nextVersion) "
        + "WHERE \(condition)", while: "Clearing references")
    for row in found {
      let own = schema.entities[row.entity].layout.slot(named: property.name) ?? slot
      result.nullified.append(.init(row: row, slot: own))
    }
  }
}
