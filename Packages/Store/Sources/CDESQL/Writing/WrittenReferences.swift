public import CDEStore

/// A cell with the key of another row.
@_spi(CDE) public struct ReferenceCell: Sendable {
  /// The cell.
  public let cell: CellIndex
  /// The slot of its relationship.
  public let slot: SlotIndex
  /// The entity that the relationship leads to.
  public let destination: EntityIndex
  /// The root of the tree that the key belongs to.
  public let root: RootIndex

  /// For each entity its cells with keys.
  public static func all(_ schema: ResolvedSchema) -> IndexedArray<EntityIndex, [ReferenceCell]> {
    schema.entities.mapped { entity in
      let layout = entity.layout
      return layout.cells.indices.filter { layout.cells[$0].role == .key }.map { cell in
        let slot = layout.cells[cell].slot
        let destination = schema.end(of: slot, in: entity.index).destination
        return ReferenceCell(
          cell: cell, slot: slot, destination: destination, root: schema.entities[destination].root)
      }
    }
  }
}

/// The references that a transaction writes, in cells and as links. No database is asked.
@_spi(CDE) public struct WrittenReferences {
  private let transaction: StoreTransaction
  private let cells: IndexedArray<EntityIndex, [ReferenceCell]>
  private let schema: ResolvedSchema

  /// The references of a transaction.
  ///
  /// - Parameter cells: the result of ``ReferenceCell/all(_:)``, made once for a store.
  public init(
    _ transaction: StoreTransaction, _ cells: IndexedArray<EntityIndex, [ReferenceCell]>,
    _ schema: ResolvedSchema
  ) {
    self.transaction = transaction
    self.cells = cells
    self.schema = schema
  }

  /// The keys above zero that references lead to, by the root of their tree. A key may occur more than once.
  public func targets() -> [RootIndex: [Int64]] {
    var targets: [RootIndex: [Int64]] = [:]
    forEachCell { reference, batch, isWritten in
      let cell = reference.cell
      var keys = targets.removeValue(forKey: reference.root) ?? []
      var last = keys.last ?? 0
      for row in 0..<batch.count where !batch.isNull(row, cell) {
        let key = Int64(bitPattern: batch.word(row, cell))
        // Most members of one owner are consecutive.
        if key <= 0 || key == last || !isWritten(row) { continue }
        keys.append(key)
        last = key
      }
      if !keys.isEmpty { targets[reference.root] = keys }
    }
    for link in transaction.links where link.kind == .add {
      let destination = schema.end(of: link.slot, in: link.entity).destination
      for (entity, key) in [(link.entity, link.owner), (destination, link.member)] where key > 0 {
        let root = schema.entities[entity].root
        if targets[root]?.last != key { targets[root, default: []].append(key) }
      }
    }
    return targets
  }

  /// The references that lead to rows which do not exist.
  ///
  /// - Parameter missing: the keys of those rows, by the root of their tree.
  public func conflicts(to missing: [RootIndex: Set<Int64>]) -> [ReferenceConflict] {
    var conflicts: [ReferenceConflict] = []
    forEachCell { reference, batch, isWritten in
      guard let missing = missing[reference.root] else { return }
      for row in 0..<batch.count {
        guard let key = batch.integer(row, reference.cell), missing.contains(key), isWritten(row) else {
          continue
        }
        conflicts.append(
          ReferenceConflict(
            row: .init(entity: batch.layout.entity, key: batch.key(row)), slot: reference.slot,
            target: .init(entity: reference.destination, key: key), isDeletedHere: false))
      }
    }
    for link in transaction.links where link.kind == .add {
      let destination = schema.end(of: link.slot, in: link.entity).destination
      let owner = ReferenceConflict.Row(entity: link.entity, key: link.owner)
      let member = ReferenceConflict.Row(entity: destination, key: link.member)
      if missing[schema.entities[destination].root]?.contains(link.member) == true {
        conflicts.append(.init(row: owner, slot: link.slot, target: member, isDeletedHere: false))
      }
      if missing[schema.entities[link.entity].root]?.contains(link.owner) == true {
        conflicts.append(.init(row: member, slot: nil, target: owner, isDeletedHere: false))
      }
    }
    return conflicts
  }

  /// Visits the cells in which the transaction may write references, with a test whether a row does.
  private func forEachCell(
    _ body: (_ reference: ReferenceCell, _ batch: RowBatch, _ isWritten: (_ row: Int) -> Bool) -> Void
  ) {
    for batch in transaction.inserted {
      for reference in cells[batch.layout.entity] { body(reference, batch) { _ in true } }
    }
    for update in transaction.updated {
      for reference in cells[update.batch.layout.entity] {
        body(reference, update.batch) { update.changed[$0].contains(reference.slot) }
      }
    }
  }
}
