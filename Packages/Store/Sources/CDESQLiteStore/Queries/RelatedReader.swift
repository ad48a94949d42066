@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// Reads the elements of one to-many relationship.
struct RelatedReader {
  let plans: SchemaPlans
  let connection: Connection
  let source: PhysicalSchema.ToMany
  let destination: EntityIndex
  let plan: SelectPlan
  let isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?

  private var root: RootIndex { plans.schema.entities[destination].root }

  private func collector(expectedRows: Int) -> RowCollector {
    RowCollector(
      plan: plan, root: root, expectedRows: expectedRows, isKnown: isKnown, keepsEntries: true)
  }

  // MARK: SQL

  private struct Parts {
    var owner: String
    var from: String
    var order: String?
    var condition: String?
    var parameters = 1
  }

  private var parts: Parts {
    let table = quoted(plans.physical.tableName(of: destination))
    switch source {
    case .inverse(let key, let order), .implied(let key, let order):
      // Other entities of the tree may also use an inverse that a common ancestor declares.
      let types = QueryCompiler(plans.physical).entityCondition(destination, true, alias: "t0")
      return Parts(
        owner: "t0.\(quoted(key))", from: "\(table) AS t0", order: order.map { "t0.\(quoted($0))" },
        condition: types?.sql)
    case .join(let side):
      if side.isReflexive {
        let own = "SELECT \(quoted(side.owner)) AS o, \(quoted(side.member)) AS m"
        let other = "SELECT \(quoted(side.member)), \(quoted(side.owner))"
        let pairs = quoted(side.table)
        return Parts(
          owner: "j.o",
          from:
            "(\(own) FROM \(pairs) UNION \(other) FROM \(pairs)) AS j JOIN \(table) AS t0 ON t0.Z_PK = j.m")
      }
      return Parts(
        owner: "j.\(quoted(side.owner))",
        from: "\(quoted(side.table)) AS j CROSS JOIN \(table) AS t0",
        order: side.order.map { "j.\(quoted($0))" },
        condition: "t0.Z_PK = j.\(quoted(side.member))")
    }
  }

  private func ownerStatement() throws(StoreError) -> OpaquePointer {
    let parts = parts
    let conditions = ["\(parts.owner) = ?", parts.condition].compactMap { $0 }.joined(separator: " AND ")
    let order = [parts.order, "t0.Z_PK"].compactMap { $0 }.joined(separator: ", ")
    return try connection.prepare(
      "SELECT \(plan.columnList) FROM \(parts.from) WHERE \(conditions) ORDER BY \(order)",
      while: "Reading a relationship")
  }

  // MARK: Reading

  func single(_ owner: Int64) throws(StoreError) -> RelatedRows {
    let statement = try ownerStatement()
    defer { Connection.reset(statement) }
    let collector = collector(expectedRows: 16)
    try bind(owner, statement)
    try collector.collect(statement, on: connection)
    let (rows, entries) = collector.finishWithEntries()
    return RelatedRows(rows: rows, ranges: [0..<entries.count], entries: entries)
  }

  /// Whether there are so many owners that reading the whole table is faster than one look-up for each owner.
  func isWorthScanning(_ owners: [Int64], of entity: EntityIndex) throws(StoreError) -> Bool {
    guard owners.count >= 16 else { return false }
    let table = quoted(plans.physical.tableName(of: entity))
    let last = try connection.integer("SELECT max(Z_PK) FROM \(table)", while: "Reading a relationship") ?? 0
    return Int64(owners.count) * 4 >= last
  }

  func each(_ owners: [Int64]) throws(StoreError) -> RelatedRows {
    let statement = try ownerStatement()
    let collector = collector(expectedRows: owners.count * 4)
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(owners.count)
    for (index, owner) in owners.enumerated() {
      defer { Connection.reset(statement) }
      try bind(owner, statement)
      let start = collector.entryCount
      try collector.collect(statement, on: connection)
      ranges.append(start..<collector.entryCount)
      if index & 255 == 255 { try RowCollector.checkCancellation() }
    }
    let (rows, entries) = collector.finishWithEntries()
    return RelatedRows(rows: rows, ranges: ranges, entries: entries)
  }

  /// Reads all rows that have an owner, in the order of their keys, and groups them.
  func scan(_ owners: [Int64]) throws(StoreError) -> RelatedRows {
    let parts = parts
    let columns =
      plan.columnList + ", \(parts.owner)" + (parts.order.map { ", \($0)" } ?? "")
    var conditions = ["\(parts.owner) IS NOT NULL"]
    if let condition = parts.condition { conditions.append(condition) }
    // Without an order the relationship is ordered by key, which is the order of the table.
    let order = parts.order == nil ? " ORDER BY t0.Z_PK" : ""
    let hasOrder = parts.order != nil
    let statement = try connection.prepare(
      "SELECT \(columns) FROM \(parts.from) WHERE \(conditions.joined(separator: " AND "))\(order)",
      while: "Reading a relationship")
    defer { Connection.reset(statement) }

    let places = OwnerPlaces(owners)
    let collector = collector(expectedRows: RowDecoder.rowsPerBatch)
    var ownerOfEntry: [Int32] = []
    var orders: [Int64] = []
    var counts = [Int](repeating: 0, count: owners.count)
    var seen = 0
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { break }
      guard code == SQLITE_ROW else {
        throw connection.error(
          code, while: "Reading a relationship to \(plan.concretes[0].layout.entityName)")
      }
      seen &+= 1
      if seen & 1023 == 0 { try RowCollector.checkCancellation() }
      let place = places.place(of: sqlite3_column_int64(statement, plan.columnCount))
      guard place >= 0, try collector.append(statement) else { continue }
      ownerOfEntry.append(Int32(place))
      counts[place] += 1
      if hasOrder {
        let isNull = sqlite3_column_type(statement, plan.columnCount + 1) == SQLITE_NULL
        orders.append(isNull ? .min : sqlite3_column_int64(statement, plan.columnCount + 1))
      }
    }
    let (rows, unsorted) = collector.finishWithEntries()
    return group(rows, unsorted, ownerOfEntry, orders, counts, owners, places)
  }

  private func group(
    _ rows: FetchedRows, _ unsorted: [FetchedRows.Entry], _ ownerOfEntry: [Int32], _ orders: [Int64],
    _ counts: [Int], _ owners: [Int64], _ places: OwnerPlaces
  ) -> RelatedRows {
    var starts = [Int](repeating: 0, count: counts.count)
    var total = 0
    for index in counts.indices {
      starts[index] = total
      total += counts[index]
    }
    let ranges = counts.indices.map { starts[$0]..<(starts[$0] + counts[$0]) }
    var entries = unsorted
    var sortKeys = orders
    for (index, place) in ownerOfEntry.enumerated() {
      let target = starts[Int(place)]
      starts[Int(place)] += 1
      entries[target] = unsorted[index]
      if !orders.isEmpty { sortKeys[target] = orders[index] }
    }
    if !orders.isEmpty {
      for range in ranges where range.count > 1 {
        let sorted = range.sorted { (sortKeys[$0], entries[$0].key) < (sortKeys[$1], entries[$1].key) }
        entries.replaceSubrange(range, with: sorted.map { entries[$0] })
      }
    }
    // An owner that occurs twice has its elements once, and both places refer to them.
    return RelatedRows(
      rows: rows, ranges: owners.map { ranges[places.place(of: $0)] }, entries: entries)
  }

  private func bind(_ owner: Int64, _ statement: OpaquePointer) throws(StoreError) {
    let code = sqlite3_bind_int64(statement, 1, owner)
    guard code == SQLITE_OK else { throw connection.error(code, while: "Reading a relationship") }
  }
}

/// Finds the position of an owner by its key: by subtraction when the keys are dense, otherwise by hashing.
private struct OwnerPlaces {
  private var first: Int64 = 0
  private var dense: [Int32] = []
  private var sparse: [Int64: Int32] = [:]

  init(_ owners: [Int64]) {
    let lowest = owners.min()!
    let (span, overflows) = owners.max()!.subtractingReportingOverflow(lowest)
    if !overflows, span < Int64(owners.count) * 8 + 1024 {
      first = lowest
      dense = Array(repeating: -1, count: Int(span) + 1)
      for (index, owner) in owners.enumerated() where dense[Int(owner - first)] < 0 {
        dense[Int(owner - first)] = Int32(index)
      }
    } else {
      for (index, owner) in owners.enumerated() where sparse[owner] == nil { sparse[owner] = Int32(index) }
    }
  }

  func place(of owner: Int64) -> Int {
    if dense.isEmpty { return Int(sparse[owner] ?? -1) }
    let (offset, overflows) = owner.subtractingReportingOverflow(first)
    guard !overflows, offset >= 0, offset < Int64(dense.count) else { return -1 }
    return Int(dense[Int(offset)])
  }
}
