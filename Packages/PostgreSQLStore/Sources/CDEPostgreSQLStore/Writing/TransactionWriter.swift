#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Writes one transaction, inside a transaction of the server's that the caller began.
  ///
  /// States: made -> locked (versions compared) -> written -> checked. An error ends the writer, and the caller rolls back.
  final class TransactionWriter {
    let plans: SchemaPlans
    /// For each entity how its rows are written.
    let writes: IndexedArray<EntityIndex, WritePlan>
    let connection: Connection
    let transaction: StoreTransaction
    /// Rows that are inserted besides those of the transaction; nil for none.
    private let insertion: StoreInsertion?
    let arrays: RowArrays
    /// Nil if the store has no attributes that are derived from other rows.
    let derivations: DerivedPlans?
    /// Nil if the store records no history.
    private let history: HistoryRecorder?
    /// Rows with derived attributes, as they are after the commit.
    private(set) var derived: [RowBatch] = []
    /// Derived values that the transaction has changed.
    private(set) var derivedChanges: [DerivedValues.Change] = []
    /// References that would lead to no row.
    var references: [ReferenceConflict] = []
    /// The last positions in ordered relationships to which this transaction appends.
    var orderEnds = OrderEnds()
    /// The links of the transaction as they are written, without those of pairs that stay as they are.
    var links: [LinkChange]

    var schema: ResolvedSchema { plans.schema }
    var physical: PhysicalSchema { plans.physical }

    /// - Parameters:
    ///   - keyBase: for each index of a root entity, the last key assigned before.
    ///   - history: nil if the store records no history.
    init(
      _ plans: SchemaPlans, _ writes: IndexedArray<EntityIndex, WritePlan>, _ connection: Connection,
      _ transaction: StoreTransaction, _ insertion: StoreInsertion? = nil,
      keyBase: IndexedArray<RootIndex, Int64>,
      derivations: DerivedPlans?, history: HistoryRecorder?
    ) {
      self.plans = plans
      self.writes = writes
      self.connection = connection
      self.transaction = transaction
      self.insertion = insertion
      links = transaction.links
      self.derivations = derivations
      self.history = history
      arrays = RowArrays(physical: plans.physical, keyBase: keyBase)
    }

    /// Writes everything. Only the server's commit is left then.
    func write() throws(StoreError) {
      let values = derivations.map(derivedValues)
      try lockRows(and: try values?.collect() ?? [:])
      try values?.confirm()
      // Pairs are removed first. Pairs that a deleted row still has afterwards belong to other writers.
      try removeLinks()
      try delete()
      try update()
      try insert()
      try addLinks()
      try compute(values)
      try checkUniqueness()
      try checkReferences()
      try PendingSaveTable.add(transaction.pending, on: connection)
      // Before the transaction takes its place in the order of commits: what waits for other transactions waits here.
      try connection.sendQueue()
    }

    /// Inserts the rows and the pairs of a part of another store, without looking whether its references lead to rows.
    func load() throws(StoreError) {
      try insert()
      try addLinks()
      try connection.sendQueue()
    }

    func derivedValues(_ derivations: DerivedPlans) -> DerivedValues {
      DerivedValues(derivations, plans, connection, transaction, permanent: arrays.permanent)
    }

    /// Computes attributes that are derived from other rows.
    func compute(_ values: DerivedValues?) throws(StoreError) {
      guard let values else { return }
      try values.compute { (keys, root) throws(StoreError) in
        _ = try versions(keys, in: root, "FOR NO KEY UPDATE")
      }
      if let insertion { try values.compute(insertion, after: arrays.keyBase) }
      (derived, derivedChanges) = (values.rows, values.changes)
    }

    func permanent(_ key: Int64, root: RootIndex) -> Int64 { arrays.permanent(key, root: root) }

    // MARK: Rows

    private func insert() throws(StoreError) {
      var rest = transaction.inserted.filter { $0.count > 0 }[...]
      while let first = rest.first {
        let run = rest.prefix { $0.layout.entity == first.layout.entity }
        rest = rest.dropFirst(run.count)
        try insert(run.reduce(0) { $0 + $1.count }, first.layout.entity) { (body) throws(StoreError) in
          for batch in run { try body(batch) }
        }
      }
      if let insertion { try insert(insertion.count, insertion.entity, insertion.forEachBatch) }
    }

    /// Inserts the rows of one entity.
    private func insert(
      _ count: Int, _ entity: EntityIndex,
      _ forEachBatch: ((RowBatch) throws(StoreError) -> Void) throws(StoreError) -> Void
    ) throws(StoreError) {
      let plan = writes[entity]
      let task = "Inserting rows of \(schema.entities[entity].source.name)"
      if count < connection.copyLimit {
        return try forEachBatch { (batch) throws(StoreError) in
          try run(batch, Array(0..<batch.count), plan.insert, task)
        }
      }
      // Their errors are not about these rows.
      try connection.sendQueue()
      let copier = RowCopier(plan, arrays, connection, while: task)
      do throws(StoreError) {
        try forEachBatch { (batch) throws(StoreError) in try copier.append(batch) }
        try copier.end()
      } catch {
        copier.abandon()
        throw named(error, entity)
      }
    }

    private func update() throws(StoreError) {
      for update in transaction.updated {
        var groups: [PropertySet: [Int]] = [:]
        for row in 0..<update.batch.count { groups[update.changed[row], default: []].append(row) }
        let plan = writes[update.batch.layout.entity]
        for (changed, rows) in groups {
          try run(
            update.batch, rows, plan.update(changed), "Updating rows of \(update.batch.layout.entityName)")
        }
      }
    }

    private func run(
      _ batch: RowBatch, _ rows: [Int], _ statement: WriteStatement, _ task: String
    ) throws(StoreError) {
      try arrays.forEachBlock(batch, rows, statement) { (sql, parameters) throws(StoreError) in
        try connection.enqueue(sql, parameters, while: task) { self.named($0, batch.layout.entity) }
      }
    }

    private func delete() throws(StoreError) {
      for (root, deletions) in deletionsByRoot() {
        try history?.preserve(deletions)
        let task = "Deleting rows of \(schema.entities[root.entity].source.name)"
        for block in Blocks(deletions, size: SchemaPlans.blockSize) {
          try connection.enqueue(
            "DELETE FROM \(writes[root.entity].table) WHERE \"Z_PK\" = ANY($1)", keys: block.map(\.key),
            while: task)
        }
        try noteMembersLeft(by: deletions)
        // Entities of a tree have different relationships.
        for (entity, group) in Dictionary(grouping: deletions, by: \.entity).sorted(by: { $0.key < $1.key }) {
          for statement in writes[entity].cleanUps {
            for block in Blocks(group, size: SchemaPlans.blockSize) {
              try connection.enqueue(
                statement, keys: block.map(\.key), while: "Removing the relationships of deleted rows")
            }
          }
        }
      }
    }

    /// The deletions in the order of roots and keys, in which all transactions lock.
    func deletionsByRoot() -> [(root: RootIndex, deletions: [RowDeletion])] {
      Dictionary(grouping: transaction.deleted) { schema.entities[$0.entity].root }
        .sorted { $0.key < $1.key }
        .map { ($0.key, $0.value.sorted { $0.key < $1.key }) }
    }

    // MARK: Uniqueness

    /// Has the server check deferred constraints now. Otherwise the commit would wait for other writers' unique values while
    /// it holds the store's order of commits, and they would wait for that.
    func checkUniqueness() throws(StoreError) {
      var roots: Set<RootIndex> = []
      for batch in transaction.inserted + transaction.updated.map(\.batch) { roots.insert(batch.layout.root) }
      if let insertion { roots.insert(schema.entities[insertion.entity].root) }
      // Links of relationships without an inverse change their members' rows.
      for link in transaction.links {
        roots.insert(schema.entities[schema.end(of: link.slot, in: link.entity).destination].root)
      }
      for change in derivedChanges { roots.insert(schema.entities[change.entity].root) }
      let isConstrained = roots.contains { root in
        schema.entities[root.entity].subtree.contains {
          !schema.entities[$0].source.uniquenessConstraints.isEmpty
        }
      }
      guard isConstrained else { return }
      try connection.enqueue("SET CONSTRAINTS ALL IMMEDIATE", while: "Checking the uniqueness of values") {
        self.named($0, nil)
      }
    }

    /// The error with the names of the entity and of the violated constraint's properties.
    func named(_ error: StoreError, _ entity: EntityIndex?) -> StoreError {
      var error = error
      if error.entity == nil, let entity { error.entity = schema.entities[entity].source.name }
      guard error.code == .uniqueness, let name = connection.violatedConstraint else { return error }
      guard let violated = physical.constraint(named: name) else {
        // The only other constraint is that of the keys.
        error.code = .conflict
        error.message =
          "A deleted row was written again by another writer. Refresh the objects and save again."
        return error
      }
      return error.violating(violated)
    }
  }

  extension Connection {
    /// Queues a statement whose only parameter is an array of keys.
    func enqueue(_ sql: String, keys: [Int64], while task: String) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(keys)
      try enqueue(sql, parameters, while: task)
    }
  }
#endif
