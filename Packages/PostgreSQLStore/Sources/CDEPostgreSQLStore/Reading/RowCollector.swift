#if PostgreSQL
  @_spi(CDE) internal import CDEStore

  /// Collects the rows of results in batches of one concrete entity each, and records their order.
  struct RowCollector {
    // A batch lives as long as any of its rows, so its number of rows and bytes is limited.
    static let rowsPerBatch = 512
    private static let bytesPerBatch = 4 << 20

    private let plan: RowPlan
    private let isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
    private let asOf: UInt64
    private let keysOnly: Bool
    private var batches: [RowBatch] = []
    /// How many bytes of values a row of the last batch had. A batch that begins with too little is copied when it grows.
    private var bytesPerRow = 32
    /// Nil if the order is that of the batches.
    private var order: [FetchedRows.Entry]?

    /// - Parameters:
    ///   - plan: the columns of the results.
    ///   - asOf: the number of the last commit before the read.
    ///   - isKnown: whether a row is not decoded, because the caller has it.
    ///   - keepsOrder: whether the result has an entry for each row, even if the order is that of the batches.
    ///   - keysOnly: whether no row is decoded.
    init(
      _ plan: RowPlan, asOf: UInt64, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)? = nil,
      keepsOrder: Bool = false, keysOnly: Bool = false
    ) {
      self.plan = plan
      self.asOf = asOf
      self.isKnown = isKnown
      self.keysOnly = keysOnly
      if plan.hasEntityColumn || isKnown != nil || keepsOrder || keysOnly { order = [] }
    }

    /// Decodes all rows of a result with the plan's columns.
    ///
    /// - Parameter chosen: the rows to collect; nil for all.
    /// - Throws: `.unreadable` for a key below 1, which no store writes; `.tooBig` for a row of 4 GB.
    mutating func append(_ rows: borrowing ResultRows, only chosen: [Int]? = nil) throws(StoreError) {
      if order == nil, chosen == nil {
        // One concrete entity, and all rows in the order of the batches.
        var rest = (0..<rows.count).lazy.map { (row: $0, place: -1) }[...]
        while !rest.isEmpty { try appendBatch(rows, plan.concretes[0], &rest) }
        return
      }
      // For each concrete entity the rows to decode, with their places in the order.
      var groups = [[(row: Int, place: Int)]](repeating: [], count: plan.concretes.count)
      for index in 0..<(chosen?.count ?? rows.count) {
        let row = chosen?[index] ?? index
        guard let concrete = plan.concrete(rows, row) else { continue }
        let key = rows.integer(row, 0)
        guard key > 0 else { throw damagedKey(key, plan.concretes[concrete].layout) }
        if order != nil {
          order!.append(
            FetchedRows.Entry(key: key, entity: NarrowIndex(plan.concretes[concrete].layout.entity)))
          if keysOnly || isKnown?(plan.root, key) == true { continue }
        }
        groups[concrete].append((row, (order?.count ?? 0) - 1))
      }
      for (concrete, group) in zip(plan.concretes, groups) where !group.isEmpty {
        var rest = group[...]
        while !rest.isEmpty { try appendBatch(rows, concrete, &rest) }
      }
    }

    /// Decodes rows until a batch is full.
    private mutating func appendBatch<Rest: RandomAccessCollection>(
      _ rows: borrowing ResultRows, _ concrete: RowPlan.Concrete, _ rest: inout Rest
    ) throws(StoreError) where Rest.SubSequence == Rest, Rest.Element == (row: Int, place: Int) {
      let limit = min(rest.count, Self.rowsPerBatch)
      var builder = RowBatchBuilder(layout: concrete.layout, rows: limit, arenaBytes: limit * bytesPerRow)
      var count = 0
      for (row, place) in rest.prefix(limit) {
        if builder.arenaCount > Self.bytesPerBatch { break }
        let key = rows.integer(row, 0)
        guard key > 0 else { throw damagedKey(key, concrete.layout) }
        guard decode(rows, row, key, concrete.steps, into: &builder) else {
          throw StoreError(
            .tooBig,
            "A row of \(concrete.layout.entityName) takes more than 4 GB. Store large values elsewhere.",
            entity: concrete.layout.entityName)
        }
        if order != nil {
          order![place].batch = Int32(batches.count)
          order![place].row = Int32(count)
        }
        count += 1
      }
      if count > 0 { bytesPerRow = min(builder.arenaCount / count * 9 / 8 + 8, 1 << 16) }
      let batch = builder.finish()
      batch.asOf = asOf
      batches.append(batch)
      rest = rest.dropFirst(count)
    }

    /// - Returns: false for more bytes than a batch can address.
    @inline(__always)
    private func decode(
      _ rows: borrowing ResultRows, _ row: Int, _ key: Int64, _ steps: [ColumnStep],
      into builder: inout RowBatchBuilder
    ) -> Bool {
      builder.beginRow(key: key, version: rows.integer(row, 1))
      for step in steps {
        let column = step.column
        let cell = step.cell.index
        let bytes = rows.bytes(row, column)
        if bytes.isEmpty, rows.isNull(row, column) { continue }
        switch step.kind {
        case .integer: builder.setInteger(cell, ResultRows.integer(bytes))
        case .boolean: builder.setInteger(cell, bytes.first == 1 ? 1 : 0)
        case .real: builder.setReal(cell, ResultRows.double(bytes))
        case .bytes:
          guard builder.arenaCount &+ bytes.count <= Int(UInt32.max) else { return false }
          builder.setBytes(cell, bytes)
        case .key:
          // In memory lower keys belong to rows to be inserted. A stored one would be taken for a new object's key.
          let key = ResultRows.integer(bytes)
          if key > 0 { builder.setInteger(cell, key) }
        case .entity:
          if let entity = plan.numbers[ResultRows.integer(bytes)] { builder.setEntity(cell, entity) }
        }
      }
      return true
    }

    private func damagedKey(_ key: Int64, _ layout: RowLayout) -> StoreError {
      let name = layout.entityName
      return StoreError(
        .unreadable, "A row of \(name) has the key \(key). Keys begin at 1. Correct the row with psql.",
        entity: name)
    }

    /// The rows so far, in the order of the results.
    func finish() -> FetchedRows { FetchedRows(batches: batches, order: order) }
  }
#endif
