@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// Collects the rows of a statement in batches of one concrete entity each, and records their order.
final class RowCollector {
  // Guard: one read uses the collector, on one thread. No access runs other code before it ends.
  private let plan: SelectPlan
  private let root: RootIndex
  private let isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  private let keysOnly: Bool
  private let isCancellable: Bool
  private let row: RowValues
  // For each concrete entity in use a builder, the index of its batch, and a copy of its steps: reading those of the plan
  // counts references in each row.
  private let builders: UnsafeMutablePointer<RowBatchBuilder>
  private let steps: UnsafeMutablePointer<UnsafeMutableBufferPointer<ColumnStep>>
  private let numbers: [Int64: EntityIndex]
  @exclusivity(unchecked) private var open: [Int32]
  @exclusivity(unchecked) private var batches: [RowBatch?] = []
  // Recorded from the first row that violates the simple order "batch after batch".
  @exclusivity(unchecked) private var order: [FetchedRows.Entry]?
  @exclusivity(unchecked) private var expectedRows: Int

  init(
    plan: SelectPlan, root: RootIndex, keysOnly: Bool = false, expectedRows: Int = 16,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?, keepsEntries: Bool = false,
    isCancellable: Bool = true
  ) {
    self.plan = plan
    self.root = root
    self.keysOnly = keysOnly
    self.isKnown = isKnown
    self.isCancellable = isCancellable
    row = RowValues(columns: keysOnly ? plan.hasEntityColumn ? 3 : 1 : plan.columnCount)
    self.expectedRows = min(max(expectedRows, 1), RowDecoder.rowsPerBatch)
    builders = .allocate(capacity: plan.concretes.count)
    steps = .allocate(capacity: plan.concretes.count)
    steps.initialize(repeating: .init(start: nil, count: 0), count: plan.concretes.count)
    numbers = plan.numbers
    open = Array(repeating: -1, count: plan.concretes.count)
    if keysOnly || isKnown != nil || plan.hasEntityColumn || keepsEntries { order = [] }
  }

  deinit {
    for (index, batch) in open.enumerated() {
      if batch >= 0 { (builders + index).deinitialize(count: 1) }
      steps[index].deallocate()
    }
    builders.deallocate()
    steps.deallocate()
  }

  private var isCancelled: Bool { isCancellable && Task<Never, Never>.isCancelled }

  /// Steps through all rows of a bound statement.
  func collect(_ statement: OpaquePointer, on connection: Connection) throws(StoreError) {
    if !plan.hasEntityColumn {
      if keysOnly {
        try collectKeys(statement, on: connection)
      } else {
        try collectPlain(statement, on: connection)
      }
      return
    }
    var sinceCheck = 0
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else {
        throw connection.error(code, while: "Fetching rows of \(plan.concretes[0].layout.entityName)")
      }
      try append(statement)
      sinceCheck &+= 1
      if sinceCheck == RowDecoder.rowsPerBatch {
        sinceCheck = 0
        if isCancelled { try Self.checkCancellation() }
      }
    }
  }

  /// Collects the keys that a bound statement of one entity gives to its connection's sink.
  func takeKeys(_ statement: OpaquePointer, on connection: Connection) throws(StoreError) {
    let layout = plan.concretes[0].layout
    connection.sink.pointee = KeySink(plan.firstEntity)
    let code = sqlite3_step(statement)
    let taken = connection.sink.move()
    connection.sink.initialize(to: nil)
    if let key = taken?.damagedKey { throw Self.damagedKey(key, layout) }
    if taken?.wasCancelled == true { try Self.checkCancellation() }
    guard code == SQLITE_ROW else {
      throw connection.error(code, while: "Fetching keys of \(layout.entityName)")
    }
    order = taken?.entries
  }

  /// Collects only the keys of rows of one entity.
  private func collectKeys(_ statement: OpaquePointer, on connection: Connection) throws(StoreError) {
    var entries = order ?? []
    let entity = NarrowIndex(plan.firstEntity)
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { break }
      guard code == SQLITE_ROW else {
        throw connection.error(code, while: "Fetching rows of \(plan.concretes[0].layout.entityName)")
      }
      let key = sqlite3_column_int64(statement, 0)
      guard key > 0 else { throw Self.damagedKey(key, plan.concretes[0].layout) }
      entries.append(FetchedRows.Entry(key: key, entity: entity))
      if entries.count.isMultiple(of: RowDecoder.rowsPerBatch) { try Self.checkCancellation() }
    }
    order = entries
  }

  /// Collects rows of one entity. This common case needs no records for others.
  private func collectPlain(_ statement: OpaquePointer, on connection: Connection) throws(StoreError) {
    let concrete = plan.concretes[0]
    let entity = NarrowIndex(plan.firstEntity)
    var failure: Int32?
    var isTooBig = false
    var wasCancelled = false
    var damagedKey: Int64?
    let numbers = numbers
    var entries = order
    var known = 0
    concrete.steps.withUnsafeBufferPointer { steps in
      var builder = RowBatchBuilder(
        layout: concrete.layout, rows: expectedRows, arenaBytes: expectedRows * 64)
      while true {
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else {
          if code != SQLITE_DONE { failure = code }
          break
        }
        row.move(to: statement)
        let key = sqlite3_value_int64(row[0])
        if key <= 0 {
          damagedKey = key
          break
        }
        if let isKnown, isKnown(root, key) {
          entries?.append(FetchedRows.Entry(key: key, entity: entity))
          known &+= 1
          if known.isMultiple(of: RowDecoder.rowsPerBatch), isCancelled {
            wasCancelled = true
            break
          }
          continue
        }
        entries?.append(
          FetchedRows.Entry(
            key: key, entity: entity, batch: Int32(batches.count), row: Int32(builder.count)))
        guard RowDecoder.decode(row, steps, numbers: numbers, key: key, into: &builder) else {
          isTooBig = true
          break
        }
        if builder.count == RowDecoder.rowsPerBatch || builder.arenaCount > RowDecoder.bytesPerBatch {
          let arenaBytes = builder.arenaCount + builder.arenaCount / 8
          batches.append(builder.finish())
          builder = RowBatchBuilder(
            layout: concrete.layout, rows: RowDecoder.rowsPerBatch, arenaBytes: arenaBytes)
          if isCancelled {
            wasCancelled = true
            break
          }
        }
      }
      if builder.count > 0 { batches.append(builder.finish()) }
    }
    order = entries
    if wasCancelled { try Self.checkCancellation() }
    if let damagedKey { throw Self.damagedKey(damagedKey, concrete.layout) }
    if isTooBig { throw Self.tooBig(concrete.layout) }
    if let failure {
      throw connection.error(failure, while: "Fetching rows of \(plan.concretes[0].layout.entityName)")
    }
  }

  /// Collects the statement's current row, and records its position if positions are recorded.
  ///
  /// - Returns: whether the row is included.
  @discardableResult
  func append(_ statement: OpaquePointer) throws(StoreError) -> Bool {
    guard let entry = try add(statement) else { return false }
    order?.append(entry)
    return true
  }

  var entryCount: Int { order?.count ?? 0 }

  /// The rows with all entries. There is one entry for each appended row.
  func finishWithEntries() -> (rows: FetchedRows, entries: [FetchedRows.Entry]) {
    let entries = order ?? []
    return (finish(), entries)
  }

  /// Collects the statement's current row.
  ///
  /// - Returns: `nil` for a row of an entity outside the schema.
  private func add(_ statement: OpaquePointer) throws(StoreError) -> FetchedRows.Entry? {
    row.move(to: statement)
    let key = sqlite3_value_int64(row[0])
    var entity = plan.firstEntity
    if plan.hasEntityColumn {
      guard let index = numbers[sqlite3_value_int64(row[2])],
        index >= plan.firstEntity, index < plan.firstEntity + plan.concretes.count
      else { return nil }
      entity = index
    }
    guard key > 0 else {
      throw Self.damagedKey(key, plan.concretes[plan.firstEntity.distance(to: entity)].layout)
    }
    if keysOnly || isKnown?(root, key) == true {
      return FetchedRows.Entry(key: key, entity: NarrowIndex(entity))
    }
    let place = plan.firstEntity.distance(to: entity)
    let builder = builders + place
    if open[place] < 0 { begin(place) }
    let entry = FetchedRows.Entry(
      key: key, entity: NarrowIndex(entity), batch: open[place], row: Int32(builder.pointee.count))
    let fits = RowDecoder.decode(
      row, UnsafeBufferPointer(steps[place]), numbers: numbers, key: key, into: &builder.pointee)
    guard fits else { throw Self.tooBig(plan.concretes[place].layout) }
    if builder.pointee.count == RowDecoder.rowsPerBatch
      || builder.pointee.arenaCount > RowDecoder.bytesPerBatch
    {
      close(place)
      expectedRows = RowDecoder.rowsPerBatch
    }
    return entry
  }

  @inline(never)
  private func begin(_ place: Int) {
    let concrete = plan.concretes[place]
    (builders + place).initialize(
      to: RowBatchBuilder(layout: concrete.layout, rows: expectedRows, arenaBytes: expectedRows * 64))
    if steps[place].baseAddress == nil {
      steps[place] = .allocate(capacity: concrete.steps.count)
      _ = steps[place].initialize(from: concrete.steps)
    }
    open[place] = Int32(batches.count)
    batches.append(nil)
  }

  private func close(_ place: Int) {
    let batch = (builders + place).move().finish()
    batches[Int(open[place])] = batch
    open[place] = -1
  }

  func finish() -> FetchedRows {
    for place in open.indices where open[place] >= 0 { close(place) }
    return FetchedRows(batches: batches.map { $0! }, order: simplified(order))
  }

  /// Drops an order that equals that of the batches.
  private func simplified(_ order: [FetchedRows.Entry]?) -> [FetchedRows.Entry]? {
    guard let order else { return nil }
    var batch: Int32 = 0
    var row: Int32 = 0
    for entry in order {
      if entry.batch == batch, entry.row == row {
        row += 1
      } else if entry.batch == batch + 1, entry.row == 0, row == batches[Int(batch)]!.count {
        batch += 1
        row = 1
      } else {
        return order
      }
    }
    return nil
  }

  static func checkCancellation() throws(StoreError) {
    if Task<Never, Never>.isCancelled {
      throw StoreError(.cancelled, "The fetch was cancelled before it had read all rows.")
    }
  }

  /// The error for a key below 1. In memory such keys belong to rows that are to be inserted.
  static func damagedKey(_ key: Int64, _ layout: RowLayout) -> StoreError {
    StoreError(
      .unreadable,
      "A row of \(layout.entityName) has the key \(key) in Z_PK, and keys begin at 1: the store is damaged. Give the row "
        + "another Z_PK, delete it, or copy the other rows with salvage.", entity: layout.entityName)
  }

  static func tooBig(_ layout: RowLayout) -> StoreError {
    StoreError(
      .tooBig,
      "A row of \(layout.entityName) holds more than 4 GB or more than fits in memory. Keep such "
        + "values in files.", entity: layout.entityName)
  }
}
