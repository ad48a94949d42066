/// A whole store, as another store takes it over: its rows with their keys and versions, its UUID, and its metadata.
///
/// The rows are read in blocks. A copy takes the memory of one block, and of the keys of one inheritance tree. A store that others
/// may change meanwhile should be copied from ``Store/pinned()``, so that the copy is one state.
public struct StoreCopy {
  /// The store whose rows are read.
  public let source: any Store
  /// The entities of its schema that it holds.
  public let entities: Set<EntityIndex>
  /// The UUID of the copy, in upper case. With the same UUID the IDs of objects are valid in both stores.
  public var identifier: String
  /// The metadata of the copy. Keys that describe the store itself are not taken over.
  public var metadata: StoreMetadata
  /// For each root the last key that is taken, by a row or by a deleted one.
  public var lastKeys: [RootIndex: Int64]
  /// Asked after each block whether to go on.
  public let pace: MigrationPace

  /// Bytes of values that are read at once, as a rule.
  private static let bytesPerBlock = 16 << 20
  private static let rowsPerBlock = 5_000

  /// Reads what describes a store. Its rows are read later.
  ///
  /// - Parameters:
  ///   - source: the store.
  ///   - entities: the entities of its schema that it holds; nil for all.
  ///   - pace: asked after each block whether to go on.
  /// - Throws: `.busy`, `.closed` and so on.
  public init(
    of source: any Store, entities: Set<EntityIndex>? = nil, pace: MigrationPace = .unwatched()
  ) throws(StoreError) {
    self.source = source
    self.entities = entities ?? Set(source.schema.entities.indices)
    self.pace = pace
    identifier = source.identifier
    metadata = try source.metadata()
    lastKeys = try source.lastKeys()
  }

  /// Calls a body with transactions that insert all rows with their keys and versions, and then with others that add the pairs of
  /// relationships that no to-one cell stores. External values are in the rows.
  ///
  /// Until the last transaction, references may lead to rows that are not inserted yet.
  ///
  /// - Throws: `.cancelled`, the errors of reading, and those of `body`.
  public func forEachTransaction(
    _ body: (StoreTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    let roots = entities.filter { source.schema.entities[$0].isRoot }.sorted()
    for (number, root) in roots.enumerated() {
      let part = pace.piece(number, of: roots.count)
      try copyRows(of: root, part, body)
      part.reach(1)
    }
    for root in roots { try copyLinks(of: root, body) }
  }

  private func entries(of root: EntityIndex) throws(StoreError) -> [FetchedRows.Entry] {
    let found = try source.fetch(StoreQuery(entity: root, keysOnly: true), isKnown: nil)
    return (found.order ?? []).sorted { $0.key < $1.key }
  }

  // MARK: Rows

  private func copyRows(
    of root: EntityIndex, _ pace: MigrationPace,
    _ body: (StoreTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    let keys = try entries(of: root).map(\.key)
    // Of rows whose size is not known yet few are read.
    var size = 100
    var start = 0
    while start < keys.count {
      let end = min(start + size, keys.count)
      var bytes = 0
      var transaction = StoreTransaction()
      for batch in try source.rows(entity: root, keys: Array(keys[start..<end])).batches {
        bytes += batch.arenaCount
        try forEachPart(of: batch) { (part) throws(StoreError) in
          transaction.inserted.append(part)
          if part === batch { return }
          try body(transaction)
          transaction = StoreTransaction()
        }
      }
      if !transaction.isEmpty { try body(transaction) }
      size = max(1, min(Self.rowsPerBlock, Self.bytesPerBlock / max(1, bytes / (end - start))))
      start = end
      pace.reach(Double(start) / Double(keys.count))
      try self.pace.check()
    }
  }

  /// Calls a body with the batch, or with parts of it that have the values which the store keeps in files of its own. Such values may
  /// be large, so few of them are in memory at once.
  private func forEachPart(
    of batch: RowBatch, _ body: (RowBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    let layout = batch.layout
    let cells = layout.cells.indices.filter { layout.cells[$0].allowsExternalStorage }
    func file(_ row: Int, _ cell: CellIndex) -> ExternalValue? {
      guard case .file(let name)? = ExternalValue(cell: batch.bytes(row, cell)) else { return nil }
      return .file(name: name)
    }
    let isInline = !cells.contains { cell in (0..<batch.count).contains { file($0, cell) != nil } }
    if isInline { return try body(batch) }
    var builder = RowBatchBuilder(layout: layout)
    for row in 0..<batch.count {
      builder.beginRow(copying: batch, row, key: batch.key(row), version: batch.version(row))
      for cell in cells {
        guard let value = file(row, cell) else { continue }
        let bytes = [1] + (try source.externalValue(value))
        bytes.withUnsafeBytes { builder.setBytes(cell, $0) }
      }
      if builder.arenaCount > Self.bytesPerBlock {
        try body(builder.finish())
        builder = RowBatchBuilder(layout: layout)
      }
    }
    if builder.count > 0 { try body(builder.finish()) }
  }

  // MARK: Pairs

  /// A to-many relationship whose pairs are stored by themselves.
  private struct LinkEnd {
    var entity: EntityIndex
    var slot: SlotIndex
    var isOrdered: Bool
  }

  private func copyLinks(
    of root: EntityIndex, _ body: (StoreTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    let schema = source.schema
    let ends = schema.entities[root].subtree.filter(entities.contains).flatMap(linkEnds)
    if ends.isEmpty { return }
    let entries = try entries(of: root)
    for end in ends {
      let subtree = schema.entities[end.entity].subtree
      let owners = entries.filter { subtree.contains($0.entity.index) }.map(\.key)
      var start = 0
      while start < owners.count {
        let block = Array(owners[start..<min(start + Self.rowsPerBlock, owners.count)])
        start += block.count
        let related = try source.related(
          entity: end.entity, slot: end.slot, owners: block, isKnown: { _, _ in true })
        var transaction = StoreTransaction()
        for (owner, range) in zip(block, related.ranges) {
          for (place, entry) in related.entries[range].enumerated() {
            transaction.links.append(
              LinkChange(
                kind: .add, entity: end.entity, slot: end.slot, owner: owner, member: entry.key,
                order: end.isOrdered ? Int64(place + 1) * 1_024 : nil))
          }
        }
        if !transaction.links.isEmpty { try body(transaction) }
        try pace.check()
      }
    }
  }

  /// The relationships that an entity declares and whose pairs have to be copied from its side.
  ///
  /// A many-to-many relationship is copied from one side, and from each side that has an order.
  private func linkEnds(of entity: EntityIndex) -> [LinkEnd] {
    let schema = source.schema
    var ends: [LinkEnd] = []
    for property in schema.entities[entity].layout.properties where property.declaringEntity == entity {
      guard case .toMany(let relationship) = property.kind, !property.isTransient else { continue }
      let end = schema.end(of: property.slot, in: entity)
      if let inverse = end.inverse, let slot = end.inverseSlot {
        guard inverse.isToMany else { continue }
        let other = schema.entities[end.destination].layout.properties[slot]
        let isFirst = (entity.rawValue, property.name) <= (other.declaringEntity.rawValue, other.name)
        guard relationship.isOrdered || isFirst && !inverse.isOrdered else { continue }
      }
      ends.append(LinkEnd(entity: entity, slot: property.slot, isOrdered: relationship.isOrdered))
    }
    return ends
  }
}

/// A store that is locked for a migration by code. The code works on a copy, whose rows then replace those of the store.
///
/// The store stays locked until the value is freed. Nothing changes before ``replace(with:modelCache:)``.
public protocol LockedStore: AnyObject {
  /// The store as it is, for copying.
  ///
  /// - Throws: the errors of reading.
  func contents() throws(StoreError) -> StoreCopy

  /// Replaces everything in the store, in one transaction.
  ///
  /// Rows keep their keys and versions. The store gets the UUID and the metadata of the copy. Its history begins anew, with numbers
  /// that go on.
  ///
  /// - Parameters:
  ///   - copy: the new content.
  ///   - modelCache: the copy of the new model that the store keeps, compressed; nil for none.
  /// - Throws: `.cancelled`, `.invalidValue` for a value that the store can't have, `.full`, `.io` and so on. Then the store is as
  ///   before. `.unknownOutcome` if the connection to the store was lost during the commit.
  func replace(with copy: StoreCopy, modelCache: [UInt8]?) throws(StoreError)
}
