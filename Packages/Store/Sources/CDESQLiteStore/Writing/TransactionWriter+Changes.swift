@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

extension TransactionWriter {
  // MARK: Updating

  struct Change {
    var root: NarrowIndex<RootIndex>
    var update: Int32
    var row: Int32
    var key: Int64
  }

  /// Updates rows in the order of their keys, because neighbours share pages.
  func update() throws(StoreError) {
    var changes: [Change] = []
    changes.reserveCapacity(transaction.updated.reduce(0) { $0 + $1.batch.count })
    for (index, update) in transaction.updated.enumerated() {
      let root = NarrowIndex(update.batch.layout.root)
      for row in 0..<update.batch.count {
        changes.append(
          Change(root: root, update: Int32(index), row: Int32(row), key: update.batch.key(row)))
      }
    }
    func precedes(_ left: Change, _ right: Change) -> Bool {
      left.root == right.root ? left.key < right.key : left.root.rawValue < right.root.rawValue
    }
    let isSorted = changes.indices.dropFirst().allSatisfy { !precedes(changes[$0], changes[$0 - 1]) }
    if !isSorted { changes.sort(by: precedes) }

    var lastKey = UpdateKey(entity: -1, changed: [], isUnversioned: false)
    var last: UpdateStatement?
    // The batches own the bound memory. No statement may refer to it afterwards.
    var used: [UpdateStatement] = []
    defer { for statement in used { Connection.reset(statement.handle) } }
    var hasVacated = false
    for (index, change) in changes.enumerated() {
      let update = transaction.updated[Int(change.update)]
      let batch = update.batch
      let row = Int(change.row)
      let version = batch.version(row)
      let key = UpdateKey(
        entity: batch.layout.entity, changed: update.changed[row], isUnversioned: version <= 1)
      if last == nil || key != lastKey {
        last = try updateStatement(key)
        lastKey = key
        used.append(last!)
      }
      let statement = last!
      if !statement.externalCells.isEmpty {
        try noteFiles(of: batch.layout.entity, key: change.key, cells: statement.externalCells)
      }
      try cells.bind(batch, row, statement.steps, to: statement.handle, from: 1)
      let next = Int32(statement.steps.count)
      sqlite3_bind_int64(statement.handle, next + 1, version)
      sqlite3_bind_int64(statement.handle, next + 2, change.key)
      // Another writer may have left the greatest possible version, which is followed by the smallest one.
      sqlite3_bind_int64(statement.handle, next + 3, version &- 1)
      var code = sqlite3_step(statement.handle)
      if code == CDE_SQLITE_CONSTRAINT_UNIQUE, !hasVacated {
        hasVacated = true
        sqlite3_reset(statement.handle)
        try vacateUniqueValues(of: changes[(index + 1)...])
        code = sqlite3_step(statement.handle)
      }
      guard code == SQLITE_DONE else {
        throw failure(code, batch.layout.entity, "Updating a row of \(batch.layout.entityName)")
      }
      sqlite3_reset(statement.handle)
      if sqlite3_changes(connection.handle) == 0 {
        try noteConflict(entity: batch.layout.entity, key: change.key, expected: version &- 1)
      }
    }
  }

  private func updateStatement(_ key: UpdateKey) throws(StoreError) -> UpdateStatement {
    if let kept = connection.updates[key] { return kept }
    let plan = plans.writes[key.entity]
    var cells: [CellIndex] = []
    for slot in key.changed where plan.cellsOfSlots.indices.contains(slot) {
      cells += Array(plan.cellsOfSlots[slot])
    }
    let settings = cells.map { "\(quoted(plan.columns[$0])) = ?" } + ["Z_OPT = ?"]
    let version = key.isUnversioned ? "ifnull(Z_OPT, 0)" : "Z_OPT"
    let handle = try connection.prepareUncached(
      "UPDATE \(quoted(plan.table)) SET \(settings.joined(separator: ", ")) "
        + "WHERE Z_PK = ? AND \(version) = ?", while: "Updating rows")
    let statement = UpdateStatement(
      handle: handle, steps: cells.map { plan.steps[$0] },
      externalCells: cells.filter { plan.steps[$0].kind == .external })
    connection.keep(statement, for: key)
    return statement
  }

  /// Compares the versions of rows that the transaction does not write.
  func check() throws(StoreError) {
    for check in transaction.checked {
      try plans.checkEntity(check.entity)
      let found = try connection.integer(
        "SELECT ifnull(Z_OPT, 0) FROM \(quoted(plans.writes[check.entity].table)) WHERE Z_PK = ?",
        [.integer(check.key)], while: "Reading a version")
      if found == check.version { continue }
      conflicts.append(
        StoreError.RowConflict(
          entity: check.entity, key: check.key, expectedVersion: check.version, foundVersion: found))
    }
  }

  private func noteConflict(entity: EntityIndex, key: Int64, expected: Int64) throws(StoreError) {
    let table = quoted(plans.writes[entity].table)
    let found = try connection.integer(
      "SELECT ifnull(Z_OPT, 0) FROM \(table) WHERE Z_PK = ?", [.integer(key)], while: "Reading a version")
    conflicts.append(
      StoreError.RowConflict(entity: entity, key: key, expectedVersion: expected, foundVersion: found))
  }

  /// Records the files that a row names now, to remove them when no row names them.
  private func noteFiles(of entity: EntityIndex, key: Int64, cells: [CellIndex]) throws(StoreError) {
    let plan = plans.writes[entity]
    let columns = cells.map { "substr(\(quoted(plan.columns[$0])), 1, 64)" }.joined(separator: ", ")
    try connection.forEachRow(
      "SELECT \(columns) FROM \(quoted(plan.table)) WHERE Z_PK = ?", [.integer(key)],
      while: "Reading external values"
    ) { statement in
      for column in 0..<Int32(cells.count) {
        guard let start = sqlite3_column_blob(statement, column) else { continue }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        if case .file(let name)? = ExternalValue(cell: bytes) { obsoleteFiles.append(name) }
      }
    }
  }

  /// Keeps files that a changed row's new value names.
  func keepNamedFiles() {
    if obsoleteFiles.isEmpty { return }
    var kept: Set<String> = []
    for update in transaction.updated {
      for cell in plans.writes[update.batch.layout.entity].externalCells {
        for row in 0..<update.batch.count {
          if case .file(let name)? = ExternalValue(cell: update.batch.bytes(row, cell)) { kept.insert(name) }
        }
      }
    }
    obsoleteFiles.removeAll { kept.contains($0) }
  }

  // MARK: Deleting

  func delete() throws(StoreError) {
    let roots = plans.schema.entities
    func precedes(_ left: RowDeletion, _ right: RowDeletion) -> Bool {
      let (leftRoot, rightRoot) = (roots[left.entity].root, roots[right.entity].root)
      return leftRoot == rightRoot ? left.key < right.key : leftRoot < rightRoot
    }
    for deletion in transaction.deleted { try plans.checkEntity(deletion.entity) }
    var deletions = transaction.deleted
    let isSorted = deletions.indices.dropFirst().allSatisfy { !precedes(deletions[$0], deletions[$0 - 1]) }
    if !isSorted { deletions.sort(by: precedes) }

    var lastRoot = RootIndex(-1)
    var statement: OpaquePointer!
    let emptied = deletions.contains { !$0.emptied.isEmpty } ? DeletedRows(deletions, plans.schema) : nil
    for deletion in deletions {
      let plan = plans.writes[deletion.entity]
      if plan.root != lastRoot {
        lastRoot = plan.root
        statement = try connection.prepare(
          "DELETE FROM \(quoted(plan.table)) WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?", while: "Deleting rows")
      }
      if !plan.externalCells.isEmpty {
        try noteFiles(of: deletion.entity, key: deletion.key, cells: plan.externalCells)
      }
      try history?.preserve(deletion.entity, key: deletion.key)
      sqlite3_bind_int64(statement, 1, deletion.key)
      sqlite3_bind_int64(statement, 2, deletion.version)
      let code = sqlite3_step(statement)
      sqlite3_reset(statement)
      guard code == SQLITE_DONE else {
        throw failure(
          code, deletion.entity, "Deleting a row of \(plans.schema.entities[deletion.entity].source.name)")
      }
      if sqlite3_changes(connection.handle) == 0 {
        try noteConflict(entity: deletion.entity, key: deletion.key, expected: deletion.version)
        continue
      }
      if let emptied, !deletion.emptied.isEmpty { try noteMembersLeft(by: deletion, emptied) }
      for sql in plan.cleanUps {
        try connection.run(sql, [.integer(deletion.key)], while: "Removing a deleted row's relationships")
      }
    }
  }
}
