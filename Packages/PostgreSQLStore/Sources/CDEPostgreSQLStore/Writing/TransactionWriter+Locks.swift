#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// The rows of one tree that a transaction needs as they are, and the versions that it expects.
  private struct WantedRows {
    var deleted: [(key: Int64, version: Int64, entity: EntityIndex)] = []
    var updated: [(key: Int64, version: Int64, entity: EntityIndex)] = []
    var checked: [(key: Int64, version: Int64, entity: EntityIndex)] = []
    /// Rows whose versions don't matter: to which members are appended, or whose derived attributes are computed.
    var owners: Set<Int64> = []
    /// Rows that others begin to depend on.
    var sources: Set<Int64> = []
    /// Rows that are inserted under keys that were assigned before.
    var inserted: [(key: Int64, version: Int64, entity: EntityIndex)] = []
  }

  extension TransactionWriter {
    /// Locks the rows that the transaction changes, deletes or relies on, and compares their versions.
    ///
    /// All transactions lock in the order of roots and, within one mode, of keys, so that most of them wait for each other in one
    /// direction only.
    ///
    /// - Parameter derived: rows that derived attributes concern.
    /// - Throws: `.conflict` with all rows in conflict.
    func lockRows(
      and derived: [RootIndex: (owners: Set<Int64>, sources: Set<Int64>)]
    ) throws(StoreError) {
      var wanted: [RootIndex: WantedRows] = [:]
      for deletion in transaction.deleted {
        try plans.checkEntity(deletion.entity)
        wanted[schema.entities[deletion.entity].root, default: WantedRows()].deleted.append(
          (deletion.key, deletion.version, deletion.entity))
      }
      for update in transaction.updated {
        let layout = update.batch.layout
        for row in 0..<update.batch.count {
          wanted[layout.root, default: WantedRows()].updated.append(
            (update.batch.key(row), update.batch.version(row) &- 1, layout.entity))
        }
      }
      for check in transaction.checked {
        try plans.checkEntity(check.entity)
        wanted[schema.entities[check.entity].root, default: WantedRows()].checked.append(
          (check.key, check.version, check.entity))
      }
      for batch in transaction.inserted {
        for row in 0..<batch.count where batch.key(row) > 0 {
          wanted[batch.layout.root, default: WantedRows()].inserted.append(
            (batch.key(row), 0, batch.layout.entity))
        }
      }
      for link in transaction.links
      where link.kind == .add && (link.isAppended || link.isRanked) && link.owner > 0 {
        try plans.checkEntity(link.entity)
        wanted[schema.entities[link.entity].root, default: WantedRows()].owners.insert(link.owner)
      }
      for (root, rows) in derived {
        wanted[root, default: WantedRows()].owners.formUnion(rows.owners)
        wanted[root]!.sources = rows.sources
      }

      var conflicts: [StoreError.RowConflict] = []
      for (root, rows) in wanted.sorted(by: { $0.key < $1.key }) {
        try compare(rows.deleted, in: root, "FOR UPDATE", &conflicts)
        // One statement for rows of two modes, because each statement has an order of its own. Two transactions that append to one
        // order at the same time would take the same position.
        let isShared = rows.updated.isEmpty && rows.owners.isEmpty
        try compare(
          rows.updated, and: isShared ? [] : rows.owners.union(rows.sources), in: root, "FOR NO KEY UPDATE",
          &conflicts)
        try compare(rows.checked, and: isShared ? rows.sources : [], in: root, "FOR SHARE", &conflicts)
        try findTakenKeys(rows.inserted, besides: rows.deleted.map(\.key), in: root, &conflicts)
      }
      if !conflicts.isEmpty { throw StoreError.changedRows(conflicts, schema) }
    }

    private func compare(
      _ rows: [(key: Int64, version: Int64, entity: EntityIndex)], and others: Set<Int64> = [],
      in root: RootIndex, _ mode: String, _ conflicts: inout [StoreError.RowConflict]
    ) throws(StoreError) {
      let found = try versions(others.union(rows.map(\.key)).sorted(), in: root, mode)
      for row in rows where found[row.key] != row.version {
        conflicts.append(
          StoreError.RowConflict(
            entity: row.entity, key: row.key, expectedVersion: row.version, foundVersion: found[row.key]))
      }
    }

    /// Another writer may have written a deleted row again.
    private func findTakenKeys(
      _ rows: [(key: Int64, version: Int64, entity: EntityIndex)], besides deleted: [Int64],
      in root: RootIndex,
      _ conflicts: inout [StoreError.RowConflict]
    ) throws(StoreError) {
      let found = try versions(
        Array(Set(rows.map(\.key)).subtracting(deleted)).sorted(), in: root, "FOR KEY SHARE")
      for row in rows {
        guard let version = found[row.key] else { continue }
        conflicts.append(
          StoreError.RowConflict(entity: row.entity, key: row.key, expectedVersion: 0, foundVersion: version))
      }
    }

    /// Locks rows in the order of their keys.
    ///
    /// - Returns: the versions by key, without those of missing rows.
    func versions(_ keys: [Int64], in root: RootIndex, _ mode: String) throws(StoreError) -> [Int64: Int64] {
      var found: [Int64: Int64] = [:]
      for block in Blocks(keys, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        let isSingle = block.count == 1
        if isSingle { parameters.append(block.first!) } else { parameters.append(block) }
        let condition = isSingle ? "\"Z_PK\" = $1" : "\"Z_PK\" = ANY($1) ORDER BY \"Z_PK\""
        let rows = try connection.run(
          "SELECT \"Z_PK\", \"Z_OPT\" FROM \(writes[root.entity].table) WHERE \(condition) \(mode)",
          parameters, while: "Locking rows of \(schema.entities[root.entity].source.name)")
        for row in 0..<rows.count { found[rows.integer(row, 0)] = rows.integer(row, 1) }
      }
      return found
    }
  }
#endif
