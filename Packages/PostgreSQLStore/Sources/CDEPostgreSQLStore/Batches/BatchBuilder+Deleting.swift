#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// The rows that a batch deletes.
  private struct BatchDeletions {
    private var keys: [RootIndex: Set<Int64>] = [:]
    /// The rows by entity, in the order in which they were added.
    private(set) var byEntity: [EntityIndex: [RowReference]] = [:]

    var entities: [EntityIndex] { byEntity.keys.sorted() }

    func contains(_ row: RowReference) -> Bool {
      keys[row.batch.layout.root]?.contains(row.key) == true
    }

    /// - Returns: whether the row is new.
    mutating func insert(_ row: RowReference) -> Bool {
      guard keys[row.batch.layout.root, default: []].insert(row.key).inserted else { return false }
      byEntity[row.batch.layout.entity, default: []].append(row)
      return true
    }
  }

  extension BatchBuilder {
    private typealias Rules = IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>

    /// Deletes the rows that the query found. The steps: add the rows of cascades, check denials, clear references to the rows,
    /// delete the rows.
    mutating func delete(_ batch: StoreBatchDelete) throws(StoreError) {
      var deleted = BatchDeletions()
      for row in found { _ = deleted.insert(row) }
      try cascade(batch.rules, &deleted)
      for entity in deleted.entities { try checkDenials(entity, batch.rules[entity], deleted) }
      var cleared = ClearedRows()
      for entity in deleted.entities {
        try clearReferences(to: entity, batch.rules[entity], deleted, &cleared)
        try clearOneWayReferences(to: entity, deleted, &cleared)
      }
      transaction.updated = cleared.updates()
      for entity in deleted.entities {
        let (emptied, kept) = try checked(entity, batch.rules[entity])
        for row in deleted.byEntity[entity] ?? [] {
          transaction.deleted.append(
            RowDeletion(entity: entity, key: row.key, version: row.version, emptied: emptied, kept: kept))
        }
      }
    }

    /// The relationships for which the commit looks at the other rows once more.
    private func checked(
      _ entity: EntityIndex, _ rules: [SlotIndex: StoreBatchDelete.Rule]
    ) throws(StoreError) -> (emptied: PropertySet, kept: PropertySet) {
      var (emptied, kept) = (PropertySet(), PropertySet())
      for property in relationships(entity) {
        switch rules[property.slot] {
        case .noAction? where schema.end(of: property.slot, in: entity).inverse != nil:
          kept.insert(property.slot)
        case .cascade?, .deny?:
          guard case .toMany = property.kind else { continue }
          if case .inverse = try plans.physical.toMany(property.slot, of: entity) { continue }
          emptied.insert(property.slot)
        default: continue
        }
      }
      return (emptied, kept)
    }

    private func relationships(_ entity: EntityIndex) -> [RowLayout.Property] {
      schema.entities[entity].layout.properties.filter { $0.isRelationship && !$0.isTransient }
    }

    /// The rows that a relationship leads to from given rows of an entity, each once.
    private func destinations(
      of property: RowLayout.Property, _ entity: EntityIndex, _ owners: [RowReference]
    ) throws(StoreError) -> [RowReference] {
      if case .toOne = property.kind {
        let cell = property.cells.lowerBound
        let keys = Set(owners.compactMap { $0.batch.integer($0.row, cell) }).sorted()
        let destination = schema.end(of: property.slot, in: entity).destination
        return try plans.rows(entity: destination, keys: keys, on: connection, asOf: asOf).references
      }
      let reader = try RelatedReader(plans, connection, entity: entity, slot: property.slot, asOf: asOf)
      return try reader.read(owners.map(\.key), isKnown: nil).rows.references
    }

    // MARK: Rules

    /// Adds the rows that cascades delete, level by level until no row is added.
    private mutating func cascade(_ rules: Rules, _ deleted: inout BatchDeletions) throws(StoreError) {
      guard rules.contains(where: { $0.values.contains(.cascade) }) else { return }
      var level = found
      var cascaded: [RowReference] = []
      while !level.isEmpty {
        var next: [RowReference] = []
        let groups = Dictionary(grouping: level) { $0.batch.layout.entity }
        for (entity, rows) in groups.sorted(by: { $0.key < $1.key }) {
          for property in relationships(entity) where rules[entity][property.slot] == .cascade {
            for row in try destinations(of: property, entity, rows) where deleted.insert(row) {
              next.append(row)
            }
          }
        }
        cascaded += next
        level = next
      }
      cascaded.sort { ($0.batch.layout.root, $0.key) < ($1.batch.layout.root, $1.key) }
      result.cascaded = cascaded.map { .init(entity: $0.batch.layout.entity, key: $0.key) }
    }

    private func checkDenials(
      _ entity: EntityIndex, _ rules: [SlotIndex: StoreBatchDelete.Rule], _ deleted: BatchDeletions
    ) throws(StoreError) {
      for property in relationships(entity) where rules[property.slot] == .deny {
        let members = try destinations(of: property, entity, deleted.byEntity[entity] ?? [])
        let remaining = members.count { !deleted.contains($0) }
        if remaining == 0 { continue }
        throw StoreError.deniedDeletion(
          of: schema.entities[entity].source.name, property.name, remaining: remaining)
      }
    }

    // MARK: References to the rows

    private mutating func clearReferences(
      to entity: EntityIndex, _ rules: [SlotIndex: StoreBatchDelete.Rule], _ deleted: BatchDeletions,
      _ cleared: inout ClearedRows
    ) throws(StoreError) {
      for property in relationships(entity) {
        let end = schema.end(of: property.slot, in: entity)
        guard let inverse = end.inverse, let slot = end.inverseSlot else { continue }
        if inverse.isToMany {
          // The pairs are deleted with the rows. Only the owners' histories have them.
          for owner in try destinations(of: property, entity, deleted.byEntity[entity] ?? [])
          where !deleted.contains(owner) {
            result.touched.append(.init(row: .init(entity: end.destination, key: owner.key), slot: slot))
            transaction.touched.append(
              StoreTouch(entity: end.destination, key: owner.key, properties: [slot]))
          }
        } else if rules[property.slot] != .noAction {
          try nullify(slot, of: end.destination, entity, deleted, &cleared)
        }
      }
    }

    /// Clears references that have no inverse. No rule of the deleted rows' entity concerns them.
    private mutating func clearOneWayReferences(
      to entity: EntityIndex, _ deleted: BatchDeletions, _ cleared: inout ClearedRows
    ) throws(StoreError) {
      for column in plans.references[schema.entities[entity].root].map(\.column) where column.inverse == nil {
        guard let slot = schema.entities[column.owner].layout.slot(named: column.property) else { continue }
        try nullify(slot, of: column.owner, entity, deleted, &cleared)
      }
    }

    /// Clears a to-one relationship of the rows that remain and refer to deleted rows of an entity.
    private mutating func nullify(
      _ slot: SlotIndex, of destination: EntityIndex, _ entity: EntityIndex, _ deleted: BatchDeletions,
      _ cleared: inout ClearedRows
    ) throws(StoreError) {
      let layout = schema.entities[destination].layout
      let property = layout.properties[slot]
      guard case .toOne(let relationship) = property.kind, !property.cells.isEmpty else { return }
      let rows = try referrers(property, of: destination, to: deleted.byEntity[entity]?.map(\.key) ?? [])
        .filter { !deleted.contains($0) }
      if rows.isEmpty { return }
      if !relationship.isOptional {
        throw StoreError.requiredObjects(of: layout.entityName, property.name, count: rows.count)
      }
      for row in rows {
        let own = row.batch.layout.slot(named: property.name) ?? slot
        cleared.add(row, own)
        result.nullified.append(
          .init(row: .init(entity: row.batch.layout.entity, key: row.key), slot: own))
      }
    }

    /// The rows of an entity that refer to given rows.
    private func referrers(
      _ property: RowLayout.Property, of entity: EntityIndex, to keys: [Int64]
    ) throws(StoreError) -> [RowReference] {
      let plan = plans.selects[entity]
      let column = "t0.\(quoted(plans.physical.cellColumns[entity][property.cells.lowerBound]))"
      // Other entities of the tree may use the column for another property.
      let types =
        schema.entities[entity].isRoot ? "" : " AND " + plans.entityCondition(schema.entities[entity])
      var collector = RowCollector(plan, asOf: asOf)
      for block in Blocks(keys, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block)
        try collector.append(
          try connection.run(
            "SELECT \(plan.columnList) FROM \(quoted(plans.physical.tableName(of: entity))) AS t0 "
              + "WHERE \(column) = ANY($1)\(types) ORDER BY t0.\"Z_PK\"",
            parameters, while: "Finding references"))
      }
      return collector.finish().references
    }
  }

  /// Rows that lose references to deleted rows.
  private struct ClearedRows {
    private var rows: [RootIndex: [Int64: (row: RowReference, slots: PropertySet)]] = [:]

    mutating func add(_ row: RowReference, _ slot: SlotIndex) {
      rows[row.batch.layout.root, default: [:]][row.key, default: (row, PropertySet())].slots.insert(slot)
    }

    /// The rows without the references, by entity and key.
    func updates() -> [RowUpdate] {
      let all = rows.values.flatMap(\.values)
      return Dictionary(grouping: all) { $0.row.batch.layout.entity }.sorted { $0.key < $1.key }.map {
        let sorted = $0.value.sorted { $0.row.key < $1.row.key }
        let layout = sorted[0].row.batch.layout
        var builder = RowBatchBuilder(layout: layout, rows: sorted.count)
        for (row, slots) in sorted {
          builder.beginRow(copying: row.batch, row.row, key: row.key, version: row.version &+ 1)
          for slot in slots { for cell in layout.properties[slot].cells { builder.setNull(cell) } }
        }
        return RowUpdate(batch: builder.finish(), changed: sorted.map(\.slots))
      }
    }
  }
#endif
