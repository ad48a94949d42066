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
      guard let first = references.first else { return }
      let entity = schema.entities[first.row.entity]
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

    /// Locks the rows that references lead to, so that no other writer deletes them before the commit.
    private func findMissingTargets() throws(StoreError) {
      var missing: [RootIndex: Set<Int64>] = [:]
      for (root, keys) in writtenTargets().sorted(by: { $0.key < $1.key }) {
        let found = try versions(keys.sorted(), in: root, "FOR KEY SHARE")
        let lost = keys.filter { found[$0] == nil }
        if !lost.isEmpty { missing[root] = lost }
      }
      if !missing.isEmpty { noteReferences(to: missing) }
    }

    /// The keys above zero that the transaction writes as references, by the root of their tree.
    private func writtenTargets() -> [RootIndex: Set<Int64>] {
      var targets: [RootIndex: Set<Int64>] = [:]
      forEachReferenceCell { root, batch, cell, isWritten in
        var keys = targets.removeValue(forKey: root) ?? []
        var last: Int64 = 0
        for row in 0..<batch.count where !batch.isNull(row, cell) {
          let key = Int64(bitPattern: batch.word(row, cell))
          // Most members of one owner are consecutive.
          if key <= 0 || key == last || !isWritten(row) { continue }
          keys.insert(key)
          last = key
        }
        if !keys.isEmpty { targets[root] = keys }
      }
      for link in transaction.links where link.kind == .add {
        let destination = schema.end(of: link.slot, in: link.entity).destination
        for (entity, key) in [(link.entity, link.owner), (destination, link.member)] where key > 0 {
          targets[schema.entities[entity].root, default: []].insert(key)
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
        for step in writes[batch.layout.entity].steps where step.kind == .key {
          body(step.root.index, batch, step.cell.index) { _ in true }
        }
      }
      for update in transaction.updated {
        for step in writes[update.batch.layout.entity].steps where step.kind == .key {
          let slot = update.batch.layout.cells[step.cell.index].slot
          body(step.root.index, update.batch, step.cell.index) { update.changed[$0].contains(slot) }
        }
      }
    }

    private func noteReferences(to missing: [RootIndex: Set<Int64>]) {
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

    /// A writer that referred to a deleted row had its lock, so its reference is committed and visible by now.
    private func findReferrers() throws(StoreError) {
      for (root, deletions) in deletionsByRoot() {
        for column in plans.references[root] {
          let keys = deletions.filter { !keepsReferences($0, in: column) }.map(\.key)
          try findReferrers(column, keys)
        }
      }
    }

    private func keepsReferences(_ deletion: RowDeletion, in column: ReferenceColumn) -> Bool {
      if deletion.kept.isEmpty { return false }
      let layout = schema.entities[deletion.entity].layout
      guard let slot = column.inverse.flatMap({ layout.slot(named: $0) }) else { return false }
      return deletion.kept.contains(slot)
    }

    private func findReferrers(_ column: ReferenceColumn, _ keys: [Int64]) throws(StoreError) {
      for block in Blocks(keys, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        let rows = try connection.run(
          column.select, parameters, while: "Looking for references to deleted rows")
        for row in 0..<rows.count {
          // Other entities of the tree may use the column for another property.
          guard let entity = physical.indexes[rows.integer(row, 1)],
            let slot = schema.entities[entity].layout.slot(named: column.property)
          else { continue }
          references.append(
            .init(
              row: .init(entity: entity, key: rows.integer(row, 0)), slot: slot,
              target: .init(entity: column.destination, key: rows.integer(row, 2)), isDeletedHere: true))
        }
      }
    }

    /// Notes members of relationships that deletions must leave empty, unless the members are deleted as well.
    ///
    /// - Parameter deletions: deletions of one tree.
    func noteMembersLeft(by deletions: [RowDeletion]) throws(StoreError) {
      guard deletions.contains(where: { !$0.emptied.isEmpty }) else { return }
      var deleted: [RootIndex: Set<Int64>] = [:]
      for deletion in transaction.deleted {
        deleted[schema.entities[deletion.entity].root, default: []].insert(deletion.key)
      }
      for (entity, group) in Dictionary(grouping: deletions, by: \.entity).sorted(by: { $0.key < $1.key }) {
        for property in schema.entities[entity].layout.properties {
          let keys = group.filter { $0.emptied.contains(property.slot) }.map(\.key)
          if !keys.isEmpty { try noteMembersLeft(by: keys, of: entity, property.slot, deleted) }
        }
      }
    }

    private func noteMembersLeft(
      by owners: [Int64], of entity: EntityIndex, _ slot: SlotIndex, _ deleted: [RootIndex: Set<Int64>]
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
        for row in 0..<rows.count where deleted[root]?.contains(rows.integer(row, 0)) != true {
          references.append(
            .init(
              row: .init(entity: destination, key: rows.integer(row, 0)), slot: nil,
              target: .init(entity: entity, key: rows.integer(row, 1)), isDeletedHere: true))
        }
      }
    }
  }
#endif
