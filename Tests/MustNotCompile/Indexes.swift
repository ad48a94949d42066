import CDEStore

// Entities, roots, slots and cells are numbers of different kinds.
func swaps(
  _ schema: ResolvedSchema, _ batch: RowBatch, _ store: any Store, _ entity: EntityIndex, _ root: RootIndex,
  _ slot: SlotIndex, _ cell: CellIndex, _ number: Int
) throws {
  _ = batch.word(0, slot)  // error: of type 'SlotIndex'
  _ = batch.word(0, number)  // error: of type 'Int'
  _ = schema.entities[root]  // error: no exact matches in call to subscript
  _ = schema.end(of: cell, in: entity)  // error: of type 'CellIndex'
  _ = try store.allocateKeys([entity: 1])  // error: of type 'EntityIndex'
  _ = try store.row(entity: root, key: 1)  // error: of type 'RootIndex'
  _ = PropertySet().contains(entity)  // error: of type 'EntityIndex'
}
