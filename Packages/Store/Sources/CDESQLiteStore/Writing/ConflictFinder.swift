@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// Compares a transaction with the store, within one read of a connection.
///
/// A commit stops at the first unique value that collides. This type checks the whole transaction.
struct ConflictFinder {
  private let plans: SchemaPlans
  private let connection: Connection
  private let transaction: StoreTransaction
  private var found = TransactionConflicts()
  private var deleted: Set<RowKey> = []
  private var updated: [RowKey: (entity: EntityIndex, changed: PropertySet)] = [:]

  private struct RowKey: Hashable {
    var root: RootIndex
    var key: Int64
  }

  init(_ plans: SchemaPlans, _ connection: Connection, _ transaction: StoreTransaction) {
    self.plans = plans
    self.connection = connection
    self.transaction = transaction
  }

  mutating func find() throws(StoreError) -> TransactionConflicts {
    try findVersions()
    // An index of a tree's table is one constraint, even if several entities declare it.
    var seen: Set<[String]> = []
    for entity in plans.schema.entities where plans.physical.held.contains(entity.index) {
      for constraint in entity.source.uniquenessConstraints {
        let columns = constraint.flatMap { plans.physical.columns(of: $0, in: entity.index) ?? [] }
        guard seen.insert([plans.writes[entity.index].table] + columns).inserted else { continue }
        try find(constraint, columns, of: entity)
      }
    }
    try readRows()
    return found
  }

  // MARK: Versions

  private mutating func findVersions() throws(StoreError) {
    for update in transaction.updated {
      let layout = update.batch.layout
      for row in 0..<update.batch.count {
        let key = update.batch.key(row)
        updated[RowKey(root: layout.root, key: key)] = (layout.entity, update.changed[row])
        try compare(layout.entity, key, expected: update.batch.version(row) &- 1)
      }
    }
    for deletion in transaction.deleted {
      deleted.insert(RowKey(root: plans.schema.entities[deletion.entity].root, key: deletion.key))
      try compare(deletion.entity, deletion.key, expected: deletion.version)
    }
    for check in transaction.checked {
      try compare(check.entity, check.key, expected: check.version)
    }
    for batch in transaction.inserted {
      for row in 0..<batch.count where batch.key(row) > 0 {
        try compare(batch.layout.entity, batch.key(row), expected: nil)
      }
    }
  }

  private mutating func compare(_ entity: EntityIndex, _ key: Int64, expected: Int64?) throws(StoreError) {
    let version = try connection.integer(
      "SELECT ifnull(Z_OPT, 0) FROM \(quoted(plans.writes[entity].table)) WHERE Z_PK = ?",
      [.integer(key)], while: "Reading a version")
    if version == expected { return }
    found.versions.append(
      .init(entity: entity, key: key, expectedVersion: expected ?? 0, foundVersion: version))
  }

  // MARK: Uniqueness

  /// One cell's value in the form that the index compares.
  private enum CellValue: Hashable {
    case word(UInt64)
    case bytes([UInt8])
  }

  /// Rows of the transaction with the same values.
  private struct Group {
    var rows: [TransactionConflicts.Row] = []
    var sample: RowReference
  }

  /// The cells of an entity in the columns of a constraint; nil if an index can't compare them.
  private func cells(of entity: EntityIndex, in columns: [String]) -> (
    cells: [CellIndex], slots: PropertySet
  )? {
    let plan = plans.writes[entity]
    let cells = columns.compactMap { plan.columns.firstIndex(of: $0) }
    guard !cells.isEmpty, cells.count == columns.count,
      !cells.contains(where: { plan.steps[$0].kind == .external })
    else { return nil }
    let layout = plans.schema.entities[entity].layout
    return (cells, PropertySet(cells.map { layout.cells[$0].slot }))
  }

  private mutating func find(
    _ constraint: [String], _ columns: [String], of entity: ResolvedSchema.Entity
  ) throws(StoreError) {
    var order: [[CellValue]] = []
    var groups: [[CellValue]: Group] = [:]
    func add(_ batch: RowBatch, _ changed: [PropertySet]?) {
      guard batch.layout.root == entity.root,
        let (cells, slots) = cells(of: batch.layout.entity, in: columns)
      else { return }
      for row in 0..<batch.count {
        if let changed, !changed[row].intersects(slots) { continue }
        guard let values = Self.values(batch, row, cells) else { continue }
        if groups[values] == nil {
          order.append(values)
          groups[values] = Group(sample: RowReference(batch: batch, row: row))
        }
        groups[values]!.rows.append(.init(entity: batch.layout.entity, key: batch.key(row)))
      }
    }
    for update in transaction.updated { add(update.batch, update.changed) }
    for batch in transaction.inserted { add(batch, nil) }
    for values in order {
      let group = groups[values]!
      let stored = try storedRow(group, columns)
      guard group.rows.count > 1 || stored != nil else { continue }
      found.uniqueness.append(
        .init(entity: entity.index, properties: constraint, rows: group.rows, stored: stored))
    }
  }

  /// A row without a value collides with no row.
  private static func values(_ batch: RowBatch, _ row: Int, _ cells: [CellIndex]) -> [CellValue]? {
    var values: [CellValue] = []
    for cell in cells {
      if batch.isNull(row, cell) { return nil }
      switch batch.layout.cells[cell].kind {
      case .integer, .real: values.append(.word(batch.word(row, cell)))
      case .text, .blob: values.append(.bytes(Array(batch.bytes(row, cell))))
      }
    }
    return values
  }

  /// The row that has the values and keeps them.
  private func storedRow(
    _ group: Group, _ columns: [String]
  ) throws(StoreError) -> TransactionConflicts.Row? {
    let (batch, row) = (group.sample.batch, group.sample.row)
    let plan = plans.writes[batch.layout.entity]
    guard let steps = cells(of: batch.layout.entity, in: columns)?.cells.map({ plan.steps[$0] }) else {
      return nil
    }
    // A row that refers to a new row can't have the values of an existing row.
    for step in steps where step.kind == .key {
      if let key = batch.integer(row, step.cell.index), key < 0 { return nil }
    }
    let statement = try connection.prepare(
      "SELECT Z_PK, Z_ENT FROM \(quoted(plan.table)) WHERE "
        + columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND "),
      while: "Looking for unique values")
    defer { Connection.reset(statement) }
    let binder = TransactionWriter(plans, connection)
    try binder.bind(batch, row, steps, to: statement, from: 1)
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW else {
      guard code == SQLITE_DONE else { throw connection.error(code, while: "Looking for unique values") }
      return nil
    }
    let key = RowKey(root: plan.root, key: sqlite3_column_int64(statement, 0))
    guard let concrete = plans.physical.indexes[sqlite3_column_int64(statement, 1)],
      !deleted.contains(key), !group.rows.contains(where: { $0.key == key.key })
    else { return nil }
    if let (entity, changed) = updated[key], let slots = cells(of: entity, in: columns)?.slots,
      changed.intersects(slots)
    {
      return nil
    }
    return .init(entity: concrete, key: key.key)
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
      found.rows += try plans.rows(
        entity: root.entity, ascending: keys.sorted(), on: connection, isCancellable: false
      ).batches
    }
  }
}
