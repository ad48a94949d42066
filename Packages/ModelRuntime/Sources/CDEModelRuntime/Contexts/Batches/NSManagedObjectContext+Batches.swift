internal import CDEManagedModel
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  final func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    preconditionIsolated("execute(_:)")
    switch request {
    case let request as NSBatchUpdateRequest: return try writing { try update(request) }
    case let request as NSBatchDeleteRequest: return try writing { try delete(request) }
    case let request as NSBatchInsertRequest:
      do { return try writing { try insert(request) } } catch { throw cancellation(in: error) ?? error }
    case let request as any ContextRequest: return try request.execute(by: self)
    default:
      throw ManagedObjectError(
        .unsupportedRequest, "execute(_:) takes fetch requests and batch requests, not \(type(of: request)).")
    }
  }

  /// Runs a batch, which may have written to some stores when it fails.
  private func writing<Result>(_ batch: () throws -> Result) throws -> Result {
    try requireWritable("execute(_:)")
    defer { writes.count += 1 }
    return try batch()
  }

  func batchBinding(_ name: String, _ entity: NSEntityDescription?) throws -> EntityBinding {
    guard let model = modelBinding else { throw missingCoordinator }
    if let found = entity.flatMap(model.binding(for:)) ?? model.entity(named: name) { return found }
    throw ManagedObjectError(
      .unknownEntity,
      "The model has no entity named \"\(name)\". It has: "
        + model.entities.map(\.name).joined(separator: ", ") + ".", entity: name)
  }

  /// Executes a batch in each of some stores, one after the other.
  ///
  /// - Throws: the error of the first store that fails. The stores before it keep their changes, as in Core Data.
  private func commit(
    in handles: [StoreHandle], _ batch: () throws -> StoreBatch
  ) throws -> StoreBatchResult {
    var united = StoreBatchResult()
    for handle in handles { united.add(try commit(try batch(), to: handle)) }
    return united
  }

  private func commit(_ batch: StoreBatch, to handle: StoreHandle) throws -> StoreBatchResult {
    let source = try coordinator()
    do {
      return try source.commit(batch, to: handle)
    } catch {
      let code: ManagedObjectError.Code
      switch (error.code, batch) {
      case (.constraint, .delete): code = .relationshipDeniedDelete
      case (.constraint, .update): code = .missingMandatoryProperty
      case (.tooBig, .update): code = .invalidValue
      case (.unsupportedQuery, .update): code = .unsupportedRequest
      default: throw ManagedObjectError.store(error)
      }
      throw ManagedObjectError(
        code, error.message, cause: error, entity: error.entity, property: error.properties.first)
    }
  }

  // MARK: Updating

  private func update(_ request: NSBatchUpdateRequest) throws -> NSBatchUpdateResult {
    let binding = try batchBinding(request.entityName, request.entity)
    let fetch = NSFetchRequest<any NSFetchRequestResult>()
    fetch.entity = binding.description
    fetch.predicate = request.predicate
    fetch.includesSubentities = request.includesSubentities
    fetch.affectedStores = request.affectedStores
    let plan = try fetch.plan(in: self)
    let coordinator = try coordinator()
    let handles = try plan.handles(in: coordinator) ?? coordinator.handles(for: binding)
    // Each store gets values of its own, because it changes their keys meanwhile.
    func makeUpdate() throws -> StoreBatchUpdate {
      var update = try BatchValues.update(request, of: binding, StoreQuery(entity: binding.index))
      (update.author, update.contextName) = (transactionAuthor, name)
      return update
    }
    let update = try makeUpdate()
    let result = try plan.ask(coordinator) { _, query in
      try commit(in: handles) {
        var update = try makeUpdate()
        update.query = query
        return .update(update)
      }
    }
    let outcome: Any
    switch request.resultType {
    case .statusOnlyResultType: outcome = NSNumber(value: true)
    case .updatedObjectsCountResultType: outcome = NSNumber(value: result.rows.count)
    case .updatedObjectIDsResultType:
      let properties = zip(update.values, update.computed).map { values, computed in
        (values.batch.layout.entity, values.changed[0].union(PropertySet(computed.map(\.slot))))
      }
      let origin = BatchOrigin(
        properties: Dictionary(uniqueKeysWithValues: properties), consequences: consequences(result))
      outcome = ids(result.rows, origin)
    }
    return NSBatchUpdateResult(outcome, request.resultType)
  }

  // MARK: Deleting

  private func delete(_ request: NSBatchDeleteRequest) throws -> NSBatchDeleteResult {
    guard let model = modelBinding else { throw missingCoordinator }
    if let ids = request.objectIDs, ids.isEmpty {
      let isIDs = request.resultType == .resultTypeObjectIDs
      let number = NSNumber(value: request.resultType == .resultTypeCount ? 0 : 1)
      return NSBatchDeleteResult(isIDs ? [NSManagedObjectID]() : number, request.resultType)
    }
    let rules = model.entities.mapped { binding in
      let relationships = binding.properties.filter(\.isRelationship)
      return Dictionary(uniqueKeysWithValues: relationships.map { ($0.slot, $0.batchRule) })
    }
    let coordinator = try coordinator()
    func perform(_ query: StoreQuery, _ handles: [StoreHandle]) throws -> StoreBatchResult {
      try commit(in: handles) {
        var batch = StoreBatchDelete(query: query, rules: rules)
        (batch.author, batch.contextName) = (transactionAuthor, name)
        return .delete(batch)
      }
    }
    /// The stores in which a batch deletes: those of a plan that the request names, too.
    func asked(_ binding: EntityBinding, _ holders: [StoreHandle]) throws -> [StoreHandle] {
      guard let stores = request.affectedStores else { return holders }
      let named = try coordinator.holders(of: binding, among: stores)
      return holders.filter { handle in named.contains { $0 === handle } }
    }
    let result: StoreBatchResult
    if let ids = request.objectIDs {
      let (query, handles) = try query(ids, model)
      result = try perform(query, asked(try batchBinding(ids[0].binding.name, nil), handles))
    } else {
      let plan = try request.fetchRequest.plan(in: self)
      let holders = try plan.handles(in: coordinator) ?? coordinator.handles(for: plan.binding)
      let handles = try asked(plan.binding, holders)
      result = try plan.ask(coordinator) { try perform($1, handles) }
    }
    let outcome: Any
    switch request.resultType {
    case .resultTypeStatusOnly: outcome = NSNumber(value: true)
    case .resultTypeCount: outcome = NSNumber(value: result.rows.count)
    case .resultTypeObjectIDs:
      let touched = result.touched.map {
        CommittedTransaction.Touch(entity: $0.row.entity, key: $0.row.key, slot: $0.slot)
      }
      let origin = BatchOrigin(
        properties: [:], consequences: consequences(result), touched: Set(touched))
      outcome = ids(result.rows, origin)
    }
    return NSBatchDeleteResult(outcome, request.resultType)
  }

  /// The query for some objects, and the stores that have them.
  private func query(
    _ ids: [NSManagedObjectID], _ model: ModelBinding
  ) throws -> (StoreQuery, [StoreHandle]) {
    let first = try batchBinding(ids[0].binding.name, nil)
    let coordinator = try coordinator()
    _ = try coordinator.requiredHandle(for: first)
    let loaded = coordinator.handles(for: first)
    var keys: [Int64] = []
    var stores: [StoreHandle] = []
    keys.reserveCapacity(ids.count)
    for id in ids {
      guard !id.isTemporaryID else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A batch deletion got the ID of an object that was never saved. Delete it in its context.",
          entity: id.binding.name, objectID: id)
      }
      guard model.entity(named: id.binding.name)?.root == first.root,
        let store = loaded.first(where: { $0.identifier == id.store?.identifier }),
        let key = store.key(id.ownKey)
      else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A batch deletion got IDs of \(first.name) and \(id.binding.name), or of a store of another container. Delete "
            + "each entity's objects by themselves.", entity: id.binding.name, objectID: id)
      }
      keys.append(key)
      if !stores.contains(where: { $0 === store }) { stores.append(store) }
    }
    let query = StoreQuery(entity: first.root.entity, filter: .keys(keys), keysOnly: true)
    return (query, stores)
  }

  // MARK: Inserting

  private func insert(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
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
        try rows.add(object, of: binding)
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
      guard policy.mergeType != .errorMergePolicyType, rows.hasUniqueValues,
        [.uniqueness, .conflict].contains(error.code)
      else { throw ManagedObjectError.store(error) }
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
        try rows.checkCancellation()
        try upsert.resolve(try source.conflicts(of: transaction, in: handle), refusal)
        try upsert.fill(&transaction)
        var written = InsertedRows(count: upsert.count, updated: upsert.updatedRows)
        if transaction.isEmpty {
          rows.complete()
          return written
        }
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
        rows.complete()
        return written
      }
      throw refusal
    } catch let error as StoreError { throw ManagedObjectError.store(error) }
  }

  // MARK: Results

  private func ids(
    _ rows: [StoreBatchResult.Row], _ origin: BatchOrigin
  ) -> [NSManagedObjectID] {
    rows.map {
      let binding = registry.model.entities[$0.entity]
      return NSManagedObjectID(
        binding: binding, key: $0.key, store: storeHandle(for: binding, key: $0.key), origin: origin)
    }
  }

  /// The changes that the batch made to rows other than those that it names.
  private func consequences(_ result: StoreBatchResult) -> [CommittedTransaction.Change] {
    var changes = result.cascaded.map {
      CommittedTransaction.Change(
        kind: .deleted, entity: $0.entity, key: $0.key, properties: [], row: nil)
    }
    changes += result.nullified.map {
      CommittedTransaction.Change(
        kind: .updated, entity: $0.row.entity, key: $0.row.key, properties: [$0.slot], row: nil)
    }
    for batch in result.derived {
      let slots = registry.model.entities[batch.layout.entity].storedDerivations
      changes += (0..<batch.count).map {
        CommittedTransaction.Change(
          kind: .updated, entity: batch.layout.entity, key: batch.key($0), properties: slots,
          row: RowReference(batch: batch, row: $0))
      }
    }
    return changes
  }
}

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

extension BatchRows {
  /// Adds the values of an object that differ from the defaults.
  fileprivate func add(_ object: NSManagedObject, of binding: EntityBinding) throws {
    try object.validateProblems()
    var values: [(info: PropertyInfo, value: _PropertyValue)] = []
    for slot in object.changedSlots {
      let info = binding.properties[slot]
      if info.isTransient { continue }
      if info.isRelationship || info.derivation != nil {
        _ = try BatchValues.attribute(info.name, of: binding)
      }
      let value = object._overlay!.values[slot]
      if let unfit = value.unfitness(for: info) { throw unfit.error(for: info, of: binding.name) }
      try value.keepEncoding(info, of: binding)
      values.append((info, value))
    }
    try add(values)
  }
}

extension StoreBatchResult {
  /// Adds the result of the same batch in another store.
  fileprivate mutating func add(_ other: StoreBatchResult) {
    rows += other.rows
    cascaded += other.cascaded
    nullified += other.nullified
    touched += other.touched
    derived += other.derived
  }
}

extension PropertyInfo {
  fileprivate var batchRule: StoreBatchDelete.Rule {
    switch deleteRule {
    case .noAction: .noAction
    case .nullify: .nullify
    case .cascade: .cascade
    case .deny: .deny
    }
  }
}
