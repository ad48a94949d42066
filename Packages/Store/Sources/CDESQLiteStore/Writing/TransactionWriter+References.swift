@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

// Versions do not protect references, because a row gets no new version when other rows begin to refer to it.
extension TransactionWriter {
  /// Finds references that would lead to no row: to rows that other writers deleted, and from other rows to
  /// rows deleted here.
  ///
  /// Called after all changes are written, so that the transaction's rows have their final state.
  func checkReferences() throws(StoreError) {
    try findMissingTargets()
    try findReferrers()
    if !references.isEmpty { throw StoreError.danglingReferences(references, plans.schema) }
  }

  // MARK: Rows that other writers deleted

  private func findMissingTargets() throws(StoreError) {
    let written = WrittenReferences(transaction, plans.referenceCells, plans.schema)
    var missing: [RootIndex: Set<Int64>] = [:]
    for (root, keys) in written.targets() {
      let table = plans.physical.tableName(of: root)
      if table.isEmpty { continue }
      let found = try missingKeys(KeyRuns(keys), quoted(table))
      if !found.isEmpty { missing[root] = found }
    }
    if !missing.isEmpty { references += written.conflicts(to: missing) }
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
      let lookUps = plans.references[root]
      if lookUps.isEmpty { continue }
      func runs(_ isWanted: (RowDeletion) -> Bool) -> KeyRuns {
        var keys: [Int64] = []
        keys.reserveCapacity(transaction.deleted.count)
        for deletion in transaction.deleted where tree.contains(deletion.entity) && isWanted(deletion) {
          keys.append(deletion.key)
        }
        return KeyRuns(keys)
      }
      let all = runs { _ in true }
      for lookUp in lookUps {
        try findReferrers(
          lookUp, keepsSome ? runs { !lookUp.column.isKept(by: $0, plans.schema) } : all)
      }
    }
  }

  private func findReferrers(_ lookUp: ReferenceLookUp, _ runs: KeyRuns) throws(StoreError) {
    let task = "Looking for references to deleted rows"
    let next = try connection.prepare(lookUp.next, while: task)
    let statement = try connection.prepare(lookUp.select, while: task)
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
        let conflict = lookUp.column.conflict(
          ofRow: sqlite3_column_int64(statement, 0), entity: sqlite3_column_int64(statement, 1),
          to: sqlite3_column_int64(statement, 2), plans.physical)
        if let conflict { references.append(conflict) }
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
