#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Locks for the unique values that a transaction writes, so that writers of the same values follow each other.
  ///
  /// Uniqueness constraints are deferred: two transactions may both have written a value, and then both wait for the other one at
  /// their checks. The server ends one of them after a second. With the locks the second writer waits before it writes, and finds
  /// what the first one committed. Without a lock, such as for many values, the server's way remains.
  struct UniqueValues: Sendable {
    /// A constraint, as rows of one entity have it.
    private struct Constraint: Sendable {
      var start: UInt64
      var cells: [CellIndex]
      var slots: PropertySet
    }

    private let constraints: IndexedArray<EntityIndex, [Constraint]>

    /// More values are not locked: the server's table of locks has a limited size.
    static let limit = 64

    init(_ writes: IndexedArray<EntityIndex, WritePlan>, _ plans: SchemaPlans) {
      constraints = plans.schema.entities.mapped { entity in
        let root = plans.schema.entities[entity.root.entity]
        var result: [Constraint] = []
        // A constraint of a tree's table is one, even if several entities declare it.
        var seen: Set<[String]> = []
        for declaring in root.subtree {
          for names in plans.schema.entities[declaring].source.uniquenessConstraints {
            let columns = names.flatMap { plans.physical.columns(of: $0, in: declaring) ?? [] }.map(quoted)
            let steps = columns.compactMap { column in
              writes[entity.index].steps.first { $0.column == column }
            }
            // Rows of an entity without one of the columns have null there, which collides with nothing.
            guard !steps.isEmpty, steps.count == columns.count, seen.insert(columns).inserted else {
              continue
            }
            let cells = steps.map(\.cell.index)
            var hash = Hash()
            for name in [writes[entity.index].table] + columns { hash.add(Array(name.utf8)) }
            result.append(
              Constraint(
                start: hash.value, cells: cells,
                slots: PropertySet(cells.map { entity.layout.cells[$0].slot })))
          }
        }
        return result
      }
    }

    /// The statement that takes the locks of a transaction until its end, in an order that all writers have; nil without any.
    func lockStatement(_ transaction: StoreTransaction) -> String? {
      var numbers: Set<Int64> = []
      for batch in transaction.inserted {
        for row in 0..<batch.count { add(batch, row, nil, &numbers) }
        if numbers.count > Self.limit { return nil }
      }
      for update in transaction.updated {
        for row in 0..<update.batch.count { add(update.batch, row, update.changed[row], &numbers) }
        if numbers.count > Self.limit { return nil }
      }
      if numbers.isEmpty { return nil }
      let list = numbers.sorted().map(String.init).joined(separator: ",")
      // Locks belong to the database. Stores in other schemas have others.
      return
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text, n)) FROM unnest('{\(list)}'::int8[]) AS n"
    }

    /// - Parameter changed: the slots that are written; nil for all.
    private func add(_ batch: RowBatch, _ row: Int, _ changed: PropertySet?, _ numbers: inout Set<Int64>) {
      for constraint in constraints[batch.layout.entity] {
        if let changed, !changed.intersects(constraint.slots) { continue }
        var hash = Hash(value: constraint.start)
        var hasNull = false
        for cell in constraint.cells {
          if batch.isNull(row, cell) {
            hasNull = true
            break
          }
          switch batch.layout.cells[cell].kind {
          case .integer, .real: withUnsafeBytes(of: batch.word(row, cell).littleEndian) { hash.add($0) }
          case .text, .blob: hash.add(batch.bytes(row, cell))
          }
        }
        if !hasNull { numbers.insert(Int64(bitPattern: hash.value)) }
      }
    }

    /// FNV-1a. All processes must compute the same number, which Swift's own hashes are not made for.
    private struct Hash {
      var value: UInt64 = 0xCBF2_9CE4_8422_2325

      mutating func add<Bytes: Sequence>(_ bytes: Bytes) where Bytes.Element == UInt8 {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // The end, so that "ab", "c" and "a", "bc" differ.
        value = (value ^ 0xFF) &* 0x100_0000_01B3
      }
    }
  }
#endif
