internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// What a batch insertion wrote.
private struct InsertedRows {
  /// The number of rows that were inserted or updated.
  var count = 0
  /// The keys of new rows.
  var new: [Int64] = []
  /// Rows of the store that took values of the batch.
  var updated: [StoreBatchResult.Row] = []
  /// Rows whose derived attributes the store computed again.
  var derived: [RowBatch] = []
}

extension NSManagedObjectContext {
  final func insert(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
    let binding = try batchBinding(request.entityName, request.entity)
    guard !binding.description.isAbstract else {
      throw ManagedObjectError(
        .unsupportedRequest, "\(binding.name) is abstract: insert objects of one of its sub-entities.",
        entity: binding.name)
    }
    let handle = try handle(for: request, binding)
    let rows = try rows(of: request, binding)
    let isNamed = request.resultType == .objectIDs
    let written = try write(rows, of: binding, to: handle, isNamed: isNamed)
    let outcome: Any
    switch request.resultType {
    case .statusOnly: outcome = NSNumber(value: true)
    case .count: outcome = NSNumber(value: written.count)
    case .objectIDs:
      let inserted = written.new.map { StoreBatchResult.Row(entity: binding.index, key: $0) }
      var properties = [binding.index: PropertySet(allBelow: binding.properties.count)]
      for entity in Set(written.updated.map(\.entity)) {
        properties[entity] = PropertySet(allBelow: registry.model.entities[entity].properties.count)
      }
      var result = StoreBatchResult()
      result.derived = written.derived
      outcome = ids(
        inserted + written.updated, BatchOrigin(properties: properties, consequences: consequences(result)))
    }
    return NSBatchInsertResult(outcome, request.resultType)
  }

  /// The store that gets the rows: the same that a new object of a context gets.
  private func handle(for request: NSBatchInsertRequest, _ binding: EntityBinding) throws -> StoreHandle {
    let coordinator = try coordinator()
    _ = try coordinator.requiredHandle(for: binding)
    let holders =
      try request.affectedStores.map { try coordinator.holders(of: binding, among: $0) }
      ?? coordinator.handles(for: binding)
    guard let handle = holders.first(where: { !$0.engine.isReadOnly }) ?? holders.first else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "None of the batch insertion's affectedStores holds \(binding.name). Name the store of its configuration, or "
          + "leave affectedStores nil.", entity: binding.name)
    }
    return handle
  }

  /// Takes all rows from a request.
  private func rows(of request: NSBatchInsertRequest, _ binding: EntityBinding) throws -> BatchRows {
    let rows = BatchRows(binding)
    if let objects = request.objectsToInsert {
      for values in objects { try rows.add(values) }
    } else if let handler = request.dictionaryHandler {
      let values = NamedValues()
      while !handler(values) {
        try rows.add(values.named(for: binding))
        values.removeAllObjects()
      }
    } else if let handler = request.managedObjectHandler {
      let object = binding.objectClass.make(binding.description, in: nil)
      while !handler(object) {
        try rows.add(object)
        object.dropOverlay()
      }
    }
    try rows.finish()
    return rows
  }

  /// Writes rows. The merge policy's type decides about unique values that other rows have.
  ///
  /// - Parameter isNamed: whether the result has the keys of new rows.
  private func write(
    _ rows: BatchRows, of binding: EntityBinding, to handle: StoreHandle, isNamed: Bool
  ) throws -> InsertedRows {
    var written = InsertedRows()
    if rows.count == 0 { return written }
    var insertion = StoreInsertion(of: binding.index, count: rows.count, rows.forEachBatch)
    (insertion.author, insertion.contextName) = (transactionAuthor, name)
    do {
      let base = try coordinator().commit(insertion, to: handle).keyBase[binding.root]
      written.count = rows.count
      if isNamed { written.new = (1...rows.count).map { base + Int64($0) } }
      return written
    } catch let error as StoreError {
      guard policy.mergeType != .errorMergePolicyType, [.uniqueness, .conflict].contains(error.code) else {
        throw ManagedObjectError.store(error)
      }
      return try write(rows, of: binding, to: handle, after: error)
    }
  }

  /// Writes rows of which some have unique values that other rows have. All of them are in memory meanwhile.
  private func write(
    _ rows: BatchRows, of binding: EntityBinding, to handle: StoreHandle, after refusal: StoreError
  ) throws -> InsertedRows {
    let source = try coordinator()
    var refusal = refusal
    do {
      let all = try rows.inMemory()
      func makeUpsert() -> BatchUpsert {
        BatchUpsert(binding, policy.mergeType, all.batches, given: all.given)
      }
      var transaction = StoreTransaction()
      (transaction.author, transaction.contextName) = (transactionAuthor, name)
      transaction.isBatch = true
      var upsert = makeUpsert()
      try upsert.fill(&transaction)
      // Other writers may commit in between.
      for _ in 0..<10 {
        try upsert.resolve(try source.conflicts(of: transaction, in: handle), refusal)
        try upsert.fill(&transaction)
        var written = InsertedRows(count: upsert.count, updated: upsert.updatedRows)
        if transaction.isEmpty { return written }
        do throws(StoreError) {
          written.derived = try source.commit(transaction, to: handle) { _ in }.derived
        } catch {
          guard [.uniqueness, .conflict].contains(error.code) else { throw error }
          refusal = error
          if error.code == .conflict {
            upsert = makeUpsert()
            try upsert.fill(&transaction)
          }
          continue
        }
        written.new = transaction.inserted.flatMap { batch in (0..<batch.count).map(batch.key) }
        return written
      }
      throw refusal
    } catch let error as StoreError { throw ManagedObjectError.store(error) }
  }
}
