#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Compares a transaction with the store, within one transaction of the server's.
  ///
  /// A commit stops at the first unique value that collides. This type checks the whole transaction.
  struct ConflictFinder {
    private let plans: SchemaPlans
    private let writes: IndexedArray<EntityIndex, WritePlan>
    private let connection: Connection
    private let transaction: StoreTransaction
    private let asOf: UInt64
    private var found = TransactionConflicts()
    private var deleted: Set<RowKey> = []
    private var updated: [RowKey: (entity: EntityIndex, changed: PropertySet)] = [:]

    private struct RowKey: Hashable {
      var root: RootIndex
      var key: Int64
    }

    init(
      _ plans: SchemaPlans, _ writes: IndexedArray<EntityIndex, WritePlan>, _ connection: Connection,
      _ transaction: StoreTransaction, asOf: UInt64
    ) {
      self.plans = plans
      self.writes = writes
      self.connection = connection
      self.transaction = transaction
      self.asOf = asOf
    }

    mutating func find() throws(StoreError) -> TransactionConflicts {
      try findVersions()
      // A constraint of a tree's table is one, even if several entities declare it.
      var seen: Set<[String]> = []
      for entity in plans.schema.entities {
        for constraint in entity.source.uniquenessConstraints {
          let columns = constraint.flatMap { plans.physical.columns(of: $0, in: entity.index) ?? [] }.map(
            quoted)
          guard seen.insert([writes[entity.index].table] + columns).inserted else { continue }
          try find(constraint, columns, of: entity)
        }
      }
      try readRows()
      return found
    }

    // MARK: Versions

    private mutating func findVersions() throws(StoreError) {
      typealias Expected = (entity: EntityIndex, key: Int64, version: Int64?)
      var expected: [Expected] = []
      for update in transaction.updated {
        let layout = update.batch.layout
        for row in 0..<update.batch.count {
          let key = update.batch.key(row)
          updated[RowKey(root: layout.root, key: key)] = (layout.entity, update.changed[row])
          expected.append((layout.entity, key, update.batch.version(row) &- 1))
        }
      }
      for deletion in transaction.deleted {
        try plans.checkEntity(deletion.entity)
        deleted.insert(RowKey(root: plans.schema.entities[deletion.entity].root, key: deletion.key))
        expected.append((deletion.entity, deletion.key, deletion.version))
      }
      for check in transaction.checked {
        try plans.checkEntity(check.entity)
        expected.append((check.entity, check.key, check.version))
      }
      for batch in transaction.inserted {
        for row in 0..<batch.count where batch.key(row) > 0 {
          expected.append((batch.layout.entity, batch.key(row), nil))
        }
      }
      var stored: [RowKey: Int64] = [:]
      for (root, rows) in Dictionary(grouping: expected, by: { plans.schema.entities[$0.entity].root }) {
        for block in Blocks(Array(Set(rows.map(\.key))), size: SchemaPlans.blockSize) {
          var parameters = Parameters()
          parameters.append(block)
          let result = try connection.run(
            "SELECT \"Z_PK\", \"Z_OPT\" FROM \(writes[root.entity].table) WHERE \"Z_PK\" = ANY($1)",
            parameters,
            while: "Reading versions")
          for row in 0..<result.count {
            stored[RowKey(root: root, key: result.integer(row, 0))] = result.integer(row, 1)
          }
        }
      }
      for row in expected {
        let version = stored[RowKey(root: plans.schema.entities[row.entity].root, key: row.key)]
        if version == row.version { continue }
        found.versions.append(
          .init(entity: row.entity, key: row.key, expectedVersion: row.version ?? 0, foundVersion: version))
      }
    }

    // MARK: Uniqueness

    /// One cell's value in the form that the constraint compares.
    private enum CellValue: Hashable {
      case word(UInt64)
      case bytes([UInt8])
    }

    /// Rows of the transaction with the same values.
    private struct Group {
      var rows: [TransactionConflicts.Row] = []
      var sample: RowReference
    }

    /// The cells of an entity in the columns of a constraint; nil if it lacks one of them.
    private func steps(of entity: EntityIndex, in columns: [String]) -> (
      steps: [WriteStep], slots: PropertySet
    )? {
      let plan = writes[entity]
      let steps = columns.compactMap { column in plan.steps.first { $0.column == column } }
      guard !steps.isEmpty, steps.count == columns.count else { return nil }
      let layout = plans.schema.entities[entity].layout
      return (steps, PropertySet(steps.map { layout.cells[$0.cell.index].slot }))
    }

    private mutating func find(
      _ constraint: [String], _ columns: [String], of entity: ResolvedSchema.Entity
    ) throws(StoreError) {
      var groups: [Group] = []
      var places: [[CellValue]: Int] = [:]
      func add(_ batch: RowBatch, _ changed: [PropertySet]?) {
        guard batch.layout.root == entity.root,
          let (steps, slots) = steps(of: batch.layout.entity, in: columns)
        else { return }
        for row in 0..<batch.count {
          if let changed, !changed[row].intersects(slots) { continue }
          guard let values = Self.values(batch, row, steps) else { continue }
          if places[values] == nil {
            places[values] = groups.count
            groups.append(Group(sample: RowReference(batch: batch, row: row)))
          }
          groups[places[values]!].rows.append(.init(entity: batch.layout.entity, key: batch.key(row)))
        }
      }
      for update in transaction.updated { add(update.batch, update.changed) }
      for batch in transaction.inserted { add(batch, nil) }
      let stored = try storedRows(groups, columns, of: entity)
      for (index, group) in groups.enumerated() {
        let row = stored[index].flatMap { keeps($0, group, columns) ? $0 : nil }
        guard group.rows.count > 1 || row != nil else { continue }
        found.uniqueness.append(
          .init(entity: entity.index, properties: constraint, rows: group.rows, stored: row))
      }
    }

    /// A row without a value collides with no row.
    private static func values(_ batch: RowBatch, _ row: Int, _ steps: [WriteStep]) -> [CellValue]? {
      var values: [CellValue] = []
      for cell in steps.map(\.cell.index) {
        if batch.isNull(row, cell) { return nil }
        switch batch.layout.cells[cell].kind {
        case .integer, .real: values.append(.word(batch.word(row, cell)))
        case .text, .blob: values.append(.bytes(Array(batch.bytes(row, cell))))
        }
      }
      return values
    }

    /// The stored rows that have the values of groups, by the groups' places.
    private func storedRows(
      _ groups: [Group], _ columns: [String], of entity: ResolvedSchema.Entity
    ) throws(StoreError) -> [Int: TransactionConflicts.Row] {
      guard let first = groups.first,
        let types = steps(of: first.sample.batch.layout.entity, in: columns)?.steps
      else { return [:] }
      let names = types.indices.map { "c\($0)" }
      let arrays = types.enumerated().map { "$\($0 + 2)::\($1.type.parameter.name)[]" }
      let conditions = types.enumerated().map { "t.\(columns[$0]) = \($1.type.stored("v.c\($0)"))" }
      let sql =
        "SELECT v.i, t.\"Z_PK\", t.\"Z_ENT\" FROM unnest($1::int8[], \(arrays.joined(separator: ", "))) "
        + "AS v(i, \(names.joined(separator: ", "))) JOIN \(writes[entity.index].table) AS t "
        + "ON \(conditions.joined(separator: " AND "))"
      // References of new rows to new rows keep keys below zero, which no stored row has.
      let arraysOfRows = RowArrays(
        physical: plans.physical, keyBase: IndexedArray(repeating: .min, count: plans.schema.entities.count))
      var result: [Int: TransactionConflicts.Row] = [:]
      for block in Blocks(Array(groups.enumerated()), size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(block.map { Int64($0.offset) })
        for index in types.indices {
          parameters.beginArray(types[index].type.parameter)
          for (_, group) in block {
            let sample = group.sample
            let step = steps(of: sample.batch.layout.entity, in: columns)!.steps[index]
            try arraysOfRows.append(sample.batch, sample.row, step, to: &parameters)
          }
          parameters.endArray()
        }
        let rows = try connection.run(sql, parameters, while: "Looking for unique values")
        for row in 0..<rows.count {
          guard let entity = plans.physical.indexes[rows.integer(row, 2)] else { continue }
          result[Int(rows.integer(row, 0))] = .init(entity: entity, key: rows.integer(row, 1))
        }
      }
      return result
    }

    /// Whether a stored row keeps its values, although a group of the transaction's rows gets them.
    private func keeps(_ row: TransactionConflicts.Row, _ group: Group, _ columns: [String]) -> Bool {
      let key = RowKey(root: plans.schema.entities[row.entity].root, key: row.key)
      if deleted.contains(key) || group.rows.contains(where: { $0.key == row.key }) { return false }
      guard let (entity, changed) = updated[key], let slots = steps(of: entity, in: columns)?.slots else {
        return true
      }
      return !changed.intersects(slots)
    }

    // MARK: Rows

    private mutating func readRows() throws(StoreError) {
      var keys: [RootIndex: Set<Int64>] = [:]
      for conflict in found.versions where conflict.foundVersion != nil {
        keys[plans.schema.entities[conflict.entity].root, default: []].insert(conflict.key)
      }
      for stored in found.uniqueness.compactMap(\.stored) {
        keys[plans.schema.entities[stored.entity].root, default: []].insert(stored.key)
      }
      for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
        found.rows += try plans.rows(entity: root.entity, keys: keys.sorted(), on: connection, asOf: asOf)
          .batches
      }
    }
  }
#endif
