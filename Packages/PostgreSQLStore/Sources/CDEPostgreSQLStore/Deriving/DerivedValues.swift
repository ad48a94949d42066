#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Computes the attributes that depend on the rows of one transaction, inside the server's transaction.
  ///
  /// States: made -> collected (the owners are known as they are before anything is locked) -> confirmed (the same after the locks)
  /// -> computed (the rows are written, and read as they are after the commit).
  ///
  /// Two transactions that change members of one owner lock the owner, one after the other. The second one computes the value in a
  /// later statement than its lock, and thus sees the first one's members. A row that begins to depend on another one, and does not
  /// write it, locks it: then no other writer changes that row without knowing of the dependence.
  ///
  /// Owners are looked up twice, because they have to be locked in one order with the rows that the transaction writes. Locked
  /// afterwards, a transaction that renames a shelf and one that changes a book of the shelf would wait for each other.
  final class DerivedValues {
    /// A value that the transaction has changed without writing the row.
    struct Change {
      var entity: EntityIndex
      var key: Int64
      var slot: SlotIndex
    }

    private let derivations: DerivedPlans
    private let plans: SchemaPlans
    private let connection: Connection
    private let transaction: StoreTransaction
    /// The key that a row of the transaction gets.
    private let permanent: (Int64, RootIndex) -> Int64
    /// The owners by plan.
    private var owners: [Set<Int64>]
    /// Rows by plan whose owners only the server knows.
    private var changed: [Set<Int64>]
    /// Owners that are locked, or that the transaction inserts and no other one knows.
    private var locked: [RootIndex: Set<Int64>] = [:]
    /// Rows that owners begin to depend on.
    private var sources: [RootIndex: Set<Int64>] = [:]
    private(set) var changes: [Change] = []
    /// Rows with derived attributes as they are after the commit: those that the transaction writes, and the others that depend on
    /// its rows.
    private(set) var rows: [RowBatch] = []

    /// - Parameter permanent: the key that a row of the transaction gets.
    init(
      _ derivations: DerivedPlans, _ plans: SchemaPlans, _ connection: Connection,
      _ transaction: StoreTransaction, permanent: @escaping (Int64, RootIndex) -> Int64
    ) {
      self.derivations = derivations
      self.plans = plans
      self.connection = connection
      self.transaction = transaction
      self.permanent = permanent
      owners = Array(repeating: [], count: derivations.plans.count)
      changed = owners
    }

    // MARK: Before the rows are written

    /// Finds the owners that the transaction's rows concern, before anything is locked.
    ///
    /// - Returns: the rows to lock, by tree: owners against all other writers, and sources at least against their change.
    func collect() throws(StoreError) -> [RootIndex: (owners: Set<Int64>, sources: Set<Int64>)] {
      for (index, plan) in derivations.plans.enumerated() {
        collectInserted(plan, index)
        collectUpdated(plan, index)
        for deletion in transaction.deleted where plan.parts[deletion.entity]?.isMember == true {
          changed[index].insert(deletion.key)
        }
        collectLinks(plan, index)
      }
      try confirm()
      var result: [RootIndex: (owners: Set<Int64>, sources: Set<Int64>)] = [:]
      for (index, plan) in derivations.plans.enumerated() where !owners[index].isEmpty {
        let root = plan.entity.root
        result[root, default: ([], [])].owners.formUnion(owners[index].subtracting(locked[root] ?? []))
      }
      for (root, found) in result { locked[root, default: []].formUnion(found.owners) }
      for (root, keys) in sources { result[root, default: ([], [])].sources = keys }
      return result
    }

    /// Looks up the owners of changed rows. Called again when the rows are locked, because another writer may have changed them.
    func confirm() throws(StoreError) {
      for (index, plan) in derivations.plans.enumerated() {
        for block in Blocks(changed[index].sorted(), size: SchemaPlans.blockSize) {
          var parameters = Parameters()
          parameters.append(block)
          let found = try connection.run(plan.owners, parameters, while: task(plan))
          for row in 0..<found.count { owners[index].insert(found.integer(row, 0)) }
        }
      }
    }

    private func collectInserted(_ plan: DerivedPlan, _ index: Int) {
      for batch in transaction.inserted {
        guard let part = plan.parts[batch.layout.entity] else { continue }
        for row in 0..<batch.count {
          let key = permanent(batch.key(row), batch.layout.root)
          if part.isOwner {
            owners[index].insert(key)
            locked[plan.entity.root, default: []].insert(key)
            noteOrigin(batch, row, part, plan)
          }
          noteOwner(batch, row, part, plan, index)
          // A row that is written again may still be referred to.
          if part.isOrigin, batch.key(row) > 0 { changed[index].insert(key) }
        }
      }
    }

    private func collectUpdated(_ plan: DerivedPlan, _ index: Int) {
      for update in transaction.updated {
        let batch = update.batch
        guard let part = plan.parts[batch.layout.entity] else { continue }
        for row in 0..<batch.count {
          let slots = update.changed[row]
          if let origin = part.origin, slots.contains(origin.slot) {
            owners[index].insert(batch.key(row))
            noteOrigin(batch, row, part, plan)
          }
          if let reference = part.reference, slots.contains(reference.slot) {
            changed[index].insert(batch.key(row))
            noteOwner(batch, row, part, plan, index)
          }
          if slots.intersects(part.sources) { changed[index].insert(batch.key(row)) }
        }
      }
    }

    /// Notes the owner that a member refers to.
    private func noteOwner(
      _ batch: RowBatch, _ row: Int, _ part: DerivedPlan.Part, _ plan: DerivedPlan, _ index: Int
    ) {
      guard let cell = part.reference?.cell, let key = batch.integer(row, cell) else { return }
      owners[index].insert(permanent(key, plan.entity.root))
    }

    /// Notes the row that an owner copies from.
    private func noteOrigin(_ batch: RowBatch, _ row: Int, _ part: DerivedPlan.Part, _ plan: DerivedPlan) {
      guard let cell = part.origin?.cell, let key = batch.integer(row, cell), key > 0 else { return }
      sources[plan.sourceRoot, default: []].insert(key)
    }

    private func collectLinks(_ plan: DerivedPlan, _ index: Int) {
      for link in transaction.links {
        guard let role = plan.links[link.entity]?[link.slot] else { continue }
        let ends = role == .member ? [(link.member, link.owner)] : [(link.owner, link.member)]
        for (owner, member) in role == .both ? ends + [(link.member, link.owner)] : ends {
          owners[index].insert(permanent(owner, plan.entity.root))
          guard member > 0 else { continue }
          if plan.isExclusive {
            changed[index].insert(member)
          } else if plan.dependsOnUnwrittenRows, link.kind == .add {
            sources[plan.sourceRoot, default: []].insert(member)
          }
        }
      }
    }

    // MARK: After the rows are written

    /// Writes the values that change.
    ///
    /// - Parameter lock: locks owners of a tree that were found late.
    func compute(locking lock: ([Int64], RootIndex) throws(StoreError) -> Void) throws(StoreError) {
      var computed: [RootIndex: Set<Int64>] = [:]
      for (index, plan) in derivations.plans.enumerated() where !owners[index].isEmpty {
        computed[plan.entity.root, default: []].formUnion(owners[index])
      }
      for (root, keys) in computed.sorted(by: { $0.key < $1.key }) {
        let late = keys.subtracting(locked[root] ?? [])
        try lock(late.sorted(), root)
      }
      for (index, plan) in derivations.plans.enumerated() {
        for block in Blocks(owners[index].sorted(), size: SchemaPlans.blockSize) {
          var parameters = Parameters()
          parameters.append(block)
          do throws(StoreError) {
            let found = try connection.run(plan.update, parameters, while: task(plan))
            for row in 0..<found.count {
              for (column, slot) in plan.slots.enumerated() where found.boolean(row, Int32(column + 1)) {
                changes.append(Change(entity: plan.entity.index, key: found.integer(row, 0), slot: slot))
              }
            }
          } catch {
            throw named(error, plan)
          }
        }
      }
      try read(computed)
    }

    /// Computes the values of new rows, which no other rows refer to yet. ``rows`` and ``changes`` don't contain them.
    func compute(
      _ insertion: StoreInsertion, after keyBase: IndexedArray<RootIndex, Int64>
    ) throws(StoreError) {
      let root = plans.schema.entities[insertion.entity].root
      for plan in derivations.plans where plan.parts[insertion.entity]?.isOwner == true {
        var next = keyBase[root] + 1
        let end = next + Int64(insertion.count)
        while next < end {
          let block = Array(next..<min(next + Int64(SchemaPlans.blockSize), end))
          var parameters = Parameters()
          parameters.append(block)
          do throws(StoreError) { _ = try connection.run(plan.update, parameters, while: task(plan)) } catch {
            throw named(error, plan)
          }
          next += Int64(block.count)
        }
      }
    }

    /// Reads the rows as they are after the commit. A written row may have a derived value that is older than the stored one, because
    /// changes of other rows do not raise its version.
    private func read(_ computed: [RootIndex: Set<Int64>]) throws(StoreError) {
      var keys = computed
      for batch in transaction.updated.map(\.batch) + transaction.inserted
      where derivations.entities.contains(batch.layout.entity) {
        for row in 0..<batch.count {
          keys[batch.layout.root, default: []].insert(
            permanent(batch.key(row), batch.layout.root))
        }
      }
      for (root, keys) in keys.sorted(by: { $0.key < $1.key }) where !keys.isEmpty {
        rows += try plans.rows(
          entity: root.entity, keys: keys.sorted(), on: connection, asOf: 0
        ).batches
      }
    }

    // MARK: Parts

    private func task(_ plan: DerivedPlan) -> String {
      "Computing " + plan.attributes.map { "\(plan.entity.source.name).\($0.name)" }.joined(separator: ", ")
    }

    private func named(_ error: StoreError, _ plan: DerivedPlan) -> StoreError {
      var error = error
      error.entity = plan.entity.source.name
      error.properties = plan.attributes.map(\.name)
      return error
    }
  }
#endif
