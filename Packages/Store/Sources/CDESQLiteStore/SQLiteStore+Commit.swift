import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  public func commit(_ transaction: StoreTransaction) throws(StoreError) -> CommitResult {
    try requireWritable()
    for batch in transaction.inserted + transaction.updated.map(\.batch) {
      precondition(
        schema.entities.indices.contains(batch.layout.entity)
          && schema.entities[batch.layout.entity].layout === batch.layout,
        "A transaction's rows have to be made with the layouts of the store's own schema.")
    }
    return try pool.write { (connection) throws(StoreError) in
      let writer = TransactionWriter(store: self, connection: connection, transaction: transaction)
      do throws(StoreError) {
        try Self.inWriteTransaction(connection) { () throws(StoreError) in try writer.write() }
      } catch {
        externals?.remove(writer.writtenFiles)
        throw error
      }
      // Pending keys stay in the batches until here, so a transaction that failed can simply be tried again.
      for batch in transaction.inserted { batch.assignKeys(base: writer.keyBase, schema: schema) }
      for update in transaction.updated { update.batch.assignKeys(base: writer.keyBase, schema: schema) }
      externals?.remove(writer.obsoleteFiles)
      return CommitResult(keyBase: writer.keyBase, sequence: nextSequence())
    }
  }
}
