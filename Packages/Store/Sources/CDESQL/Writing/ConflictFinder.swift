public import CDEStore

/// What a ``ConflictFinder`` asks a database, all of one state.
@_spi(CDE) public protocol ConflictSource {
  /// The versions of rows of a tree by their keys, without those of missing rows.
  func versions(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [Int64: Int64]

  /// Whether a column has the values of a cell, so that a constraint compares them.
  func hasValues(of cell: RowLayout.Cell) -> Bool

  /// The rows of a tree that have the values of others in some columns.
  ///
  /// - Parameters:
  ///   - samples: rows of the transaction. None of them refers to a new row by these columns.
  ///   - columns: the columns of a uniqueness constraint, unquoted.
  /// - Returns: at most one row for each sample, by the sample's position.
  func rows(
    like samples: [UniqueSample], in columns: [String], of root: RootIndex
  ) throws(StoreError) -> [Int: TransactionConflicts.Row]

  /// The rows of a tree with keys, which ascend.
  func rows(of keys: [Int64], in root: RootIndex) throws(StoreError) -> [RowBatch]
}

/// A row of a transaction with the cells that a uniqueness constraint compares.
@_spi(CDE) public struct UniqueSample {
  /// The row's batch.
  public let batch: RowBatch
  /// The row's number in the batch.
  public let row: Int
  /// The cells in the order of the constraint's columns.
  public let cells: [CellIndex]
}

/// Compares a transaction with one state of a database.
///
/// A commit stops at the first unique value that collides. This type checks the whole transaction.
@_spi(CDE) public struct ConflictFinder<Source: ConflictSource> {
  private let source: Source
  private let physical: PhysicalSchema
  private let transaction: StoreTransaction
  private var found = TransactionConflicts()
  private var deleted: Set<RowKey> = []
  private var updated: [RowKey: (entity: EntityIndex, changed: PropertySet)] = [:]

  private var schema: ResolvedSchema { physical.schema }

  private struct RowKey: Hashable {
    var root: RootIndex
    var key: Int64
  }

  /// Makes a finder for one transaction.
  public init(_ source: Source, _ physical: PhysicalSchema, _ transaction: StoreTransaction) {
    self.source = source
    self.physical = physical
    self.transaction = transaction
  }

  /// Finds all conflicts. Called once.
  ///
  /// - Throws: `.unsupportedQuery` for an entity that the store does not have, and the errors of the source.
  public mutating func find() throws(StoreError) -> TransactionConflicts {
    try findVersions()
    // A constraint of a tree's table is one, even if several entities declare it.
    var seen: Set<[String]> = []
    for entity in schema.entities where physical.held.contains(entity.index) {
      for constraint in entity.source.uniquenessConstraints {
        let columns = constraint.flatMap { physical.columns(of: $0, in: entity.index) ?? [] }
        guard seen.insert([physical.tableName(of: entity.index)] + columns).inserted else { continue }
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
      try physical.checkEntity(deletion.entity)
      deleted.insert(RowKey(root: schema.entities[deletion.entity].root, key: deletion.key))
      expected.append((deletion.entity, deletion.key, deletion.version))
    }
    for check in transaction.checked {
      try physical.checkEntity(check.entity)
      expected.append((check.entity, check.key, check.version))
    }
    for batch in transaction.inserted {
      for row in 0..<batch.count where batch.key(row) > 0 {
        expected.append((batch.layout.entity, batch.key(row), nil))
      }
    }
    var stored: [RootIndex: [Int64: Int64]] = [:]
    for (root, rows) in Dictionary(grouping: expected, by: { schema.entities[$0.entity].root }) {
      stored[root] = try source.versions(of: Set(rows.map(\.key)).sorted(), in: root)
    }
    for row in expected {
      let version = stored[schema.entities[row.entity].root]?[row.key]
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
    var sample: UniqueSample
  }

  /// The cells of an entity in the columns of a constraint; nil if it lacks one of them.
  private func cells(
    of entity: EntityIndex, in columns: [String]
  ) -> (cells: [CellIndex], slots: PropertySet)? {
    let names = physical.cellColumns[entity]
    let layout = schema.entities[entity].layout
    let cells = columns.compactMap { column in names.indices.first { names[$0] == column } }
    guard !cells.isEmpty, cells.count == columns.count,
      cells.allSatisfy({ source.hasValues(of: layout.cells[$0]) })
    else { return nil }
    return (cells, PropertySet(cells.map { layout.cells[$0].slot }))
  }

  private mutating func find(
    _ constraint: [String], _ columns: [String], of entity: ResolvedSchema.Entity
  ) throws(StoreError) {
    let groups = groups(columns, in: entity.root)
    let asked = groups.indices.filter { !refersToNewRow(groups[$0].sample) }
    let stored =
      asked.isEmpty
      ? [:] : try source.rows(like: asked.map { groups[$0].sample }, in: columns, of: entity.root)
    var rows: [Int: TransactionConflicts.Row] = [:]
    for (position, row) in stored where keeps(row, groups[asked[position]], columns) {
      rows[asked[position]] = row
    }
    for (index, group) in groups.enumerated() where group.rows.count > 1 || rows[index] != nil {
      found.uniqueness.append(
        .init(entity: entity.index, properties: constraint, rows: group.rows, stored: rows[index]))
    }
  }

  /// The rows of the transaction that get values in some columns, by these values, in the transaction's order.
  private func groups(_ columns: [String], in root: RootIndex) -> [Group] {
    var groups: [Group] = []
    var places: [[CellValue]: Int] = [:]
    func add(_ batch: RowBatch, _ changed: [PropertySet]?) {
      guard batch.layout.root == root, let (cells, slots) = cells(of: batch.layout.entity, in: columns) else {
        return
      }
      for row in 0..<batch.count {
        if let changed, !changed[row].intersects(slots) { continue }
        guard let values = Self.values(batch, row, cells) else { continue }
        let place = places[values] ?? groups.count
        if place == groups.count {
          places[values] = place
          groups.append(Group(sample: UniqueSample(batch: batch, row: row, cells: cells)))
        }
        groups[place].rows.append(.init(entity: batch.layout.entity, key: batch.key(row)))
      }
    }
    for update in transaction.updated { add(update.batch, update.changed) }
    for batch in transaction.inserted { add(batch, nil) }
    return groups
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

  /// Whether a row can't have the values of an existing row, because one of them is a new row.
  private func refersToNewRow(_ sample: UniqueSample) -> Bool {
    sample.cells.contains { cell in
      sample.batch.layout.cells[cell].role == .key && (sample.batch.integer(sample.row, cell) ?? 0) < 0
    }
  }

  /// Whether a stored row keeps its values, although a group of the transaction's rows gets them.
  private func keeps(_ row: TransactionConflicts.Row, _ group: Group, _ columns: [String]) -> Bool {
    let key = RowKey(root: schema.entities[row.entity].root, key: row.key)
    if deleted.contains(key) || group.rows.contains(where: { $0.key == row.key }) { return false }
    guard let (entity, changed) = updated[key], let slots = cells(of: entity, in: columns)?.slots else {
      return true
    }
    return !changed.intersects(slots)
  }

  // MARK: Rows

  private mutating func readRows() throws(StoreError) {
    var keys: [RootIndex: Set<Int64>] = [:]
    for conflict in found.versions where conflict.foundVersion != nil {
      keys[schema.entities[conflict.entity].root, default: []].insert(conflict.key)
    }
    for stored in found.uniqueness.compactMap(\.stored) {
      keys[schema.entities[stored.entity].root, default: []].insert(stored.key)
    }
    for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
      found.rows += try source.rows(of: keys.sorted(), in: root)
    }
  }
}
