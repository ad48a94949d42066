@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// The rows that a transaction deletes.
struct DeletedRows {
  private var keys: [RootIndex: Set<Int64>] = [:]

  init(_ deletions: [RowDeletion], _ schema: ResolvedSchema) {
    for deletion in deletions {
      keys[schema.entities[deletion.entity].root, default: []].insert(deletion.key)
    }
  }

  func contains(root: RootIndex, key: Int64) -> Bool { keys[root]?.contains(key) == true }
}

// Versions do not protect references, because a row gets no new version when other rows begin to refer to it.
extension TransactionWriter {
  /// Finds references that would lead to no row: to rows that other writers deleted, and from other rows to
  /// rows deleted here.
  ///
  /// Called after all changes are written, so that the transaction's rows have their final state.
  func checkReferences() throws(StoreError) {
    try findMissingTargets()
    try findReferrers()
    guard let first = references.first else { return }
    let entity = plans.schema.entities[first.row.entity]
    let name = first.slot.map { entity.layout.properties[$0].name }
    let count = references.count
    throw StoreError(
      .danglingReference,
      "\(count) \(count == 1 ? "reference would lead to a row" : "references would lead to rows") that another "
        + "writer deleted, or that this save deletes while another writer refers to it. Refresh the objects and "
        + "save again, or set a merge policy.",
      entity: entity.source.name, properties: name.map { [$0] } ?? [], references: references)
  }

  // MARK: Rows that other writers deleted

  private func findMissingTargets() throws(StoreError) {
    var missing: [RootIndex: Set<Int64>] = [:]
    for (root, keys) in writtenTargets() {
      let table = plans.physical.tableName(of: root)
      if table.isEmpty { continue }
      let found = try missingKeys(KeyRuns(keys), quoted(table))
      if !found.isEmpty { missing[root] = found }
    }
    if !missing.isEmpty { noteReferences(to: missing) }
  }

  /// The keys above zero that the transaction writes as references, by the root of their tree.
  private func writtenTargets() -> [RootIndex: [Int64]] {
    var targets: [RootIndex: [Int64]] = [:]
    forEachReferenceCell { root, batch, cell, changed in
      var keys = targets.removeValue(forKey: root) ?? []
      var last = keys.last ?? 0
      for row in 0..<batch.count where !batch.isNull(row, cell) {
        let key = Int64(bitPattern: batch.word(row, cell))
        // Most members of one owner are consecutive.
        if key <= 0 || key == last || !changed(row) { continue }
        keys.append(key)
        last = key
      }
      targets[root] = keys
    }
    for link in transaction.links where link.kind == .add {
      let destination = plans.schema.end(of: link.slot, in: link.entity).destination
      for (entity, key) in [(link.entity, link.owner), (destination, link.member)] where key > 0 {
        let root = plans.schema.entities[entity].root
        if targets[root]?.last != key { targets[root, default: []].append(key) }
      }
    }
    return targets
  }

  /// Visits the cells in which the transaction may write references, with a test whether a row does.
  private func forEachReferenceCell(
    _ body: (_ root: RootIndex, _ batch: RowBatch, _ cell: CellIndex, _ isWritten: (_ row: Int) -> Bool) ->
      Void
  ) {
    for batch in transaction.inserted {
      for step in plans.writes[batch.layout.entity].steps where step.kind == .key {
        body(step.root.index, batch, step.cell.index) { _ in true }
      }
    }
    for update in transaction.updated {
      for step in plans.writes[update.batch.layout.entity].steps where step.kind == .key {
        let slot = update.batch.layout.cells[step.cell.index].slot
        body(step.root.index, update.batch, step.cell.index) { update.changed[$0].contains(slot) }
      }
    }
  }

  /// For keys this close to each other the cursor moves from row to row. Other keys are looked up.
  private static let stepLimit: Int64 = 8

  private func missingKeys(_ runs: KeyRuns, _ table: String) throws(StoreError) -> Set<Int64> {
    let task = "Looking for the rows of references"
    var missing: Set<Int64> = []
    let cursor = try connection.prepare(
      "SELECT Z_PK FROM \(table) WHERE Z_PK >= ? ORDER BY Z_PK", while: task)
    defer { Connection.reset(cursor) }
    // The row of the cursor: nil before the first look-up, the greatest number after the last row.
    var current: Int64?
    func step() throws(StoreError) {
      switch sqlite3_step(cursor) {
      case SQLITE_ROW: current = sqlite3_column_int64(cursor, 0)
      case SQLITE_DONE: current = .max
      case let code: throw connection.error(code, while: task)
      }
    }
    func check(_ key: Int64) throws(StoreError) {
      if let reached = current, reached <= key, key - reached <= Self.stepLimit {
        while current! < key { try step() }
      } else if current.map({ $0 < key }) ?? true {
        sqlite3_reset(cursor)
        sqlite3_bind_int64(cursor, 1, key)
        try step()
      }
      if current != key { missing.insert(key) }
    }
    for run in runs.ranges {
      if run.count >= KeyRuns.worthCounting {
        let found = try connection.integer(
          "SELECT count(*) FROM \(table) WHERE Z_PK BETWEEN ? AND ?",
          [.integer(run.lowerBound), .integer(run.upperBound)], while: task)
        if found == Int64(run.count) { continue }
      }
      for key in run { try check(key) }
    }
    return missing
  }

  private func noteReferences(to missing: [RootIndex: Set<Int64>]) {
    let schema = plans.schema
    forEachReferenceCell { root, batch, cell, isWritten in
      guard let missing = missing[root] else { return }
      let slot = batch.layout.cells[cell].slot
      let destination = schema.end(of: slot, in: batch.layout.entity).destination
      for row in 0..<batch.count {
        guard let key = batch.integer(row, cell), missing.contains(key), isWritten(row) else { continue }
        references.append(
          .init(
            row: .init(entity: batch.layout.entity, key: batch.key(row)), slot: slot,
            target: .init(entity: destination, key: key), isDeletedHere: false))
      }
    }
    for link in transaction.links where link.kind == .add {
      let destination = schema.end(of: link.slot, in: link.entity).destination
      let owner = ReferenceConflict.Row(entity: link.entity, key: link.owner)
      let member = ReferenceConflict.Row(entity: destination, key: link.member)
      if missing[schema.entities[destination].root]?.contains(link.member) == true {
        references.append(.init(row: owner, slot: link.slot, target: member, isDeletedHere: false))
      }
      if missing[schema.entities[link.entity].root]?.contains(link.owner) == true {
        references.append(.init(row: member, slot: nil, target: owner, isDeletedHere: false))
      }
    }
  }

  // MARK: Rows that other writers refer to

  private func findReferrers() throws(StoreError) {
    if transaction.deleted.isEmpty { return }
    let entities = plans.schema.entities
    var roots: Set<RootIndex> = []
    var last = EntityIndex(-1)
    for deletion in transaction.deleted where deletion.entity != last {
      last = deletion.entity
      roots.insert(entities[last].root)
    }
    let keepsSome = transaction.deleted.contains { !$0.kept.isEmpty }
    for root in roots {
      let tree = entities[root.entity].subtree
      let columns = plans.references[root]
      if columns.isEmpty { continue }
      func runs(_ isWanted: (RowDeletion) -> Bool) -> KeyRuns {
        var keys: [Int64] = []
        keys.reserveCapacity(transaction.deleted.count)
        for deletion in transaction.deleted where tree.contains(deletion.entity) && isWanted(deletion) {
          keys.append(deletion.key)
        }
        return KeyRuns(keys)
      }
      let all = runs { _ in true }
      for column in columns {
        try findReferrers(column, keepsSome ? runs { !keepsReferences($0, in: column) } : all)
      }
    }
  }

  private func keepsReferences(_ deletion: RowDeletion, in column: ReferenceColumn) -> Bool {
    let layout = plans.schema.entities[deletion.entity].layout
    guard let slot = column.inverse.flatMap({ layout.slot(named: $0) }) else { return false }
    return deletion.kept.contains(slot)
  }

  private func findReferrers(_ column: ReferenceColumn, _ runs: KeyRuns) throws(StoreError) {
    let task = "Looking for references to deleted rows"
    let next = try connection.prepare(column.next, while: task)
    let statement = try connection.prepare(column.select, while: task)
    defer {
      Connection.reset(next)
      Connection.reset(statement)
    }
    // The lowest key from here on that a row refers to. Runs before it need no look-up.
    var referred: Int64 = .min
    for run in runs.ranges {
      if referred < run.lowerBound {
        sqlite3_bind_int64(next, 1, run.lowerBound)
        let code = sqlite3_step(next)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, while: task) }
        referred = code == SQLITE_ROW ? sqlite3_column_int64(next, 0) : .max
        sqlite3_reset(next)
      }
      if referred > run.upperBound { continue }
      sqlite3_bind_int64(statement, 1, run.lowerBound)
      sqlite3_bind_int64(statement, 2, run.upperBound)
      var code = sqlite3_step(statement)
      while code == SQLITE_ROW {
        // Other entities of the tree may use the column for another property.
        if let entity = plans.physical.indexes[sqlite3_column_int64(statement, 1)],
          let slot = plans.schema.entities[entity].layout.slot(named: column.property)
        {
          references.append(
            .init(
              row: .init(entity: entity, key: sqlite3_column_int64(statement, 0)), slot: slot,
              target: .init(entity: column.destination, key: sqlite3_column_int64(statement, 2)),
              isDeletedHere: true))
        }
        code = sqlite3_step(statement)
      }
      sqlite3_reset(statement)
      guard code == SQLITE_DONE else { throw connection.error(code, while: task) }
    }
  }

  /// Notes members of relationships that the deletion must leave empty, unless the members are deleted as
  /// well.
  func noteMembersLeft(by deletion: RowDeletion, _ deleted: DeletedRows) throws(StoreError) {
    for slot in deletion.emptied {
      let destination = plans.schema.end(of: slot, in: deletion.entity).destination
      let root = plans.schema.entities[destination].root
      let sql: String
      switch try plans.physical.toMany(slot, of: deletion.entity) {
      case .join(let side):
        let rest =
          side.isReflexive
          ? " UNION SELECT \(quoted(side.owner)) FROM \(quoted(side.table)) WHERE \(quoted(side.member)) = ?1"
          : ""
        sql =
          "SELECT \(quoted(side.member)) FROM \(quoted(side.table)) WHERE \(quoted(side.owner)) = ?1" + rest
      case .implied(let key, _):
        sql =
          "SELECT Z_PK FROM \(quoted(plans.physical.tableName(of: destination))) WHERE \(quoted(key)) = ?1"
      case .inverse: continue
      }
      try connection.forEachRow(
        sql, [.integer(deletion.key)], while: "Looking for references to deleted rows"
      ) { statement in
        let member = sqlite3_column_int64(statement, 0)
        if member == deletion.key, root == plans.schema.entities[deletion.entity].root { return }
        if deleted.contains(root: root, key: member) { return }
        references.append(
          .init(
            row: .init(entity: destination, key: member), slot: nil,
            target: .init(entity: deletion.entity, key: deletion.key), isDeletedHere: true))
      }
    }
  }
}
