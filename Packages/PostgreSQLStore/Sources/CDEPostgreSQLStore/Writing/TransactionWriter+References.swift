#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  // Versions do not protect references, because a row gets no new version when other rows begin to refer to it.
  extension TransactionWriter {
    /// Finds references that would lead to no row: to rows that other writers deleted, and from other rows to rows
    /// deleted here.
    ///
    /// Called after all changes are written, so that the transaction's rows have their final state.
    ///
    /// - Throws: `.danglingReference` with all of them.
    func checkReferences() throws(StoreError) {
      try findMissingTargets()
      try findReferrers()
      if references.isEmpty { return }
      // What the server refuses comes first, as on SQLite.
      try connection.sendQueue()
      throw StoreError.danglingReferences(references, schema)
    }

    // MARK: Rows that other writers deleted

    /// Locks the rows that references lead to, so that no other writer deletes them before the commit.
    private func findMissingTargets() throws(StoreError) {
      let written = WrittenReferences(transaction, plans.referenceCells, schema)
      var missing: [RootIndex: Set<Int64>] = [:]
      for (root, targets) in written.targets().sorted(by: { $0.key < $1.key }) {
        let keys = Set(targets)
        let found = try versions(keys.sorted(), in: root, "FOR KEY SHARE")
        let lost = keys.filter { found[$0] == nil }
        if !lost.isEmpty { missing[root] = lost }
      }
      if !missing.isEmpty { references += written.conflicts(to: missing) }
    }

    // MARK: Rows that other writers refer to

    /// A writer that referred to a deleted row had its lock, so its reference is committed and visible by now.
    private func findReferrers() throws(StoreError) {
      for (root, deletions) in deletionsByRoot() {
        for lookUp in plans.references[root] {
          let keys = deletions.filter { !lookUp.column.isKept(by: $0, schema) }.map(\.key)
          try findReferrers(lookUp, keys)
        }
      }
    }

    private func findReferrers(_ lookUp: ReferenceLookUp, _ keys: [Int64]) throws(StoreError) {
      for block in Blocks(keys, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(
          lookUp.select, parameters, while: "Looking for references to deleted rows")
        for row in 0..<rows.count {
          let conflict = lookUp.column.conflict(
            ofRow: rows.integer(row, 0), entity: rows.integer(row, 1), to: rows.integer(row, 2), physical)
          if let conflict { references.append(conflict) }
        }
      }
    }

    /// Notes members of relationships that deletions must leave empty, unless the members are deleted as well.
    ///
    /// - Parameter deletions: deletions of one tree.
    func noteMembersLeft(by deletions: [RowDeletion]) throws(StoreError) {
      guard deletions.contains(where: { !$0.emptied.isEmpty }) else { return }
      let deleted = DeletedRows(transaction.deleted, schema)
      for (entity, group) in Dictionary(grouping: deletions, by: \.entity).sorted(by: { $0.key < $1.key }) {
        for property in schema.entities[entity].layout.properties {
          let keys = group.filter { $0.emptied.contains(property.slot) }.map(\.key)
          if !keys.isEmpty { try noteMembersLeft(by: keys, of: entity, property.slot, deleted) }
        }
      }
    }

    private func noteMembersLeft(
      by owners: [Int64], of entity: EntityIndex, _ slot: SlotIndex, _ deleted: DeletedRows
    ) throws(StoreError) {
      let destination = schema.end(of: slot, in: entity).destination
      let root = schema.entities[destination].root
      let sql: String
      switch try physical.toMany(slot, of: entity) {
      case .join(let side):
        let (owner, member, table) = (quoted(side.owner), quoted(side.member), quoted(side.table))
        let other = " UNION SELECT \(owner), \(member) FROM \(table) WHERE \(member) = ANY($1)"
        sql =
          "SELECT \(member), \(owner) FROM \(table) WHERE \(owner) = ANY($1)"
          + (side.isReflexive ? other : "")
      case .implied(let key, _):
        sql =
          "SELECT \"Z_PK\", \(quoted(key)) FROM \(writes[destination].table) WHERE \(quoted(key)) = ANY($1)"
      case .inverse: return
      }
      for block in Blocks(owners, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(sql, parameters, while: "Looking for references to deleted rows")
        for row in 0..<rows.count where !deleted.contains(root: root, key: rows.integer(row, 0)) {
          references.append(
            .init(
              row: .init(entity: destination, key: rows.integer(row, 0)), slot: nil,
              target: .init(entity: entity, key: rows.integer(row, 1)), isDeletedHere: true))
        }
      }
    }
  }
#endif
