@_spi(CDE) import CDESQL
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Changes or deletes all rows that a query finds, in one SQLite transaction.
  ///
  /// The rows are listed in a temporary table and changed by statements over that list. No row is read into
  /// memory. Deletions follow cascades level by level.
  ///
  /// - Parameter batch: the query and the change of the rows that it finds.
  /// - Returns: the changed or deleted rows, and those whose derived attributes changed.
  /// - Throws: `.readOnly`, `.uniqueness`, `.constraint`, `.tooBig`, `.busy`, `.full`, `.fileMoved`,
  ///   `.closed` and so on. Then nothing is written.
  public func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult {
    try requireWritable()
    try plans.checkEntity(batch.query.entity)
    if batch.query.limit == 0 { return StoreBatchResult() }
    return try pool.write(.batch) { (connection) throws(StoreError) in
      let writer = BatchWriter(plans, connection)
      try connection.inWriteTransaction { () throws(StoreError) in
        connection.derived.clear()
        try writer.select(batch.query)
        switch batch {
        case .update(let update): try writer.update(update)
        case .delete(let delete): try writer.delete(delete)
        }
        try writer.readDerived()
        try writer.history?.record(batch, writer.result)
      }
      retired?.remove(writer.obsoleteFiles)
      writer.result.number = pool.countCommit()
      writer.result.historyNumber = writer.history.flatMap { $0.transaction == 0 ? nil : $0.transaction }
      others.noteOwn(writer.result.historyNumber)
      for batch in writer.result.derived { batch.asOf = writer.result.number }
      return writer.result
    }
  }
}
