@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEProfiling
@_spi(CDE) internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  var missingCoordinator: ManagedObjectError {
    ManagedObjectError(
      .noStore, "The context has no persistentStoreCoordinator. Take it from a container, or set one.")
  }

  /// Fetches objects, IDs, their number or dictionaries.
  ///
  /// Registered objects are returned as they are, with their unsaved changes. Other objects are made from the
  /// rows read. A value is decoded when it is first read, so a fetch costs little more than stepping through
  /// the rows.
  ///
  /// A predicate with a block, and an order with a comparator, are for stores in memory. The fetch then calls them for all objects of
  /// the entity.
  ///
  /// - Returns: the objects, in the order of the request.
  /// - Throws: ``ManagedObjectError``: unknown entity, a predicate that can't be translated, or a store
  ///   error.
  @_disfavoredOverload
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    try typedFetch(request)
  }

  /// The fetch itself, which no subclass replaces.
  @_spi(CDE) public final func typedFetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws
    -> [ResultType]
  {
    try reportingNSErrors {
      do { return try results(of: request) } catch { return try resultsInMemory(of: request, after: error) }
    }
  }

  private func results<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    preconditionIsolated("fetch(_:)")
    let plan = try request.plan(in: self)
    guard let recorder = ProfileRecorder.active else { return try results(of: request, plan) }
    let start = ContinuousClock.now
    let results = try results(of: request, plan)
    profile.noteFetch(
      of: plan.binding, from: start, results: results.count,
      areObjects: request.resultType == .managedObjectResultType, in: activity(recorder)
    ) { plan.condition }
    return results
  }

  private func results<ResultType>(of request: NSFetchRequest<ResultType>, _ plan: FetchPlan) throws
    -> [ResultType]
  {
    switch request.resultType {
    case .managedObjectIDResultType:
      var keysOnly = plan
      keysOnly.keysOnly = true
      return try cast(try fetchObjects(keysOnly).map(\.objectID), plan)
    case .countResultType:
      return try cast([NSNumber(value: try count(plan))], plan)
    case .dictionaryResultType: return try cast(try dictionaries(plan), plan)
    default:
      return try typed(try fetchObjects(plan), plan)
    }
  }

  /// The objects of a fetch in the type that its caller requested.
  func typed<ResultType>(_ objects: [NSManagedObject], _ plan: FetchPlan) throws -> [ResultType] {
    if ResultType.self == NSManagedObject.self
      || (classesMatch(ResultType.self, plan)
        && (!hasOtherClasses || objects.allSatisfy { $0 is ResultType }))
    {
      // Checked once for each class instead of once for each object.
      return unsafeBitCast(objects, to: [ResultType].self)
    }
    return try cast(objects, plan)
  }

  func classesMatch<ResultType>(_ type: ResultType.Type, _ plan: FetchPlan) -> Bool {
    guard type is NSManagedObject.Type else { return false }
    let model = plan.binding.model
    return plan.entities.allSatisfy { model.entities[$0].objectClass is ResultType.Type }
  }

  func cast<ResultType>(_ results: [Any], _ plan: FetchPlan) throws -> [ResultType] {
    try results.map {
      guard let result = $0 as? ResultType else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A fetch of \(plan.binding.name) yields \(Swift.type(of: $0)), not \(ResultType.self). Correct the request's type "
            + "or the entity's managedObjectClassName.", entity: plan.binding.name)
      }
      return result
    }
  }

  /// The number of objects that a fetch would return, without making them where possible.
  @_disfavoredOverload
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try typedCount(request)
  }

  /// The number itself, which no subclass replaces.
  @_spi(CDE) public final func typedCount<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> Int {
    try reportingNSErrors {
      do { return try number(of: request) } catch {
        return try objectsInMemory(of: request, after: error).objects.count
      }
    }
  }

  private func number<ResultType>(of request: NSFetchRequest<ResultType>) throws -> Int {
    preconditionIsolated("count(for:)")
    let plan = try request.plan(in: self)
    guard let recorder = ProfileRecorder.active else { return try count(plan) }
    let start = ContinuousClock.now
    let count = try count(plan)
    profile.noteFetch(
      of: plan.binding, from: start, results: 1, areObjects: false, in: activity(recorder)
    ) { plan.condition }
    return count
  }

  func count(_ plan: FetchPlan) throws -> Int {
    if plan.dictionaries != nil { return try dictionaryCount(plan) }
    if plan.includesPending, hasChanges(within: plan) { return try fetchObjects(plan).count }
    return try asking(plan) { source, query, stores in
      try source.count(query, of: plan.binding, in: stores)
    }
  }

  func hasChanges(within plan: FetchPlan) -> Bool {
    if changed.isEmpty { return false }
    // A predicate may read related objects. Their changes then count as well.
    return changed.contains(where: \.hasChanges)
  }

  func asking<Answer>(
    _ plan: FetchPlan, _ ask: (any RowSource, StoreQuery, [StoreHandle]?) throws -> Answer
  ) throws -> Answer {
    let source = try source()
    let stores = try handles(for: plan)
    return try plan.ask(source) { _, query in try ask(source, query, stores) }
  }

  /// The stores that a request applies to; nil for all that hold the entity.
  func handles(for plan: FetchPlan) throws -> [StoreHandle]? {
    plan.stores == nil ? nil : try plan.handles(in: coordinator())
  }

  // MARK: Functions of the program

  /// The objects of a request whose predicate has a block, or whose order has a comparator. As in Core Data, stores in memory answer it.
  ///
  /// - Parameter refusal: why a store can't answer the request.
  /// - Throws: `refusal` if the reason is another one, or if a store of the entity is not in memory; the errors of fetching, and those of
  ///   the predicate.
  private func objectsInMemory<ResultType>(
    of request: NSFetchRequest<ResultType>, after refusal: any Error
  ) throws -> (objects: [NSManagedObject], plan: FetchPlan) {
    let cause = (refusal as? ManagedObjectError)?.cause as? PredicateTreeError
    guard cause?.code == .inMemoryOnly, request.resultType != .dictionaryResultType,
      let whole = request.copy() as? NSFetchRequest<ResultType>
    else { throw refusal }
    whole.predicate = nil
    whole.sortDescriptors = nil
    (whole.fetchLimit, whole.fetchOffset, whole.fetchBatchSize) = (0, 0, 0)
    whole.resultType = .managedObjectResultType
    let plan = try whole.plan(in: self)
    let stores = try handles(for: plan) ?? coordinator().handles(for: plan.binding)
    guard stores.allSatisfy({ $0.persistentStore?.type == NSInMemoryStoreType }) else { throw refusal }
    let choice = MemoryChoice(
      predicate: request.predicate, order: request.sortDescriptors ?? [], offset: max(request.fetchOffset, 0),
      limit: request.fetchLimit > 0 ? request.fetchLimit : nil)
    return (try choice.chosen(from: fetchObjects(plan)), plan)
  }

  /// - Parameter refusal: as above.
  private func resultsInMemory<ResultType>(
    of request: NSFetchRequest<ResultType>, after refusal: any Error
  ) throws -> [ResultType] {
    let (objects, plan) = try objectsInMemory(of: request, after: refusal)
    return switch request.resultType {
    case .managedObjectIDResultType: try cast(objects.map(\.objectID), plan)
    case .countResultType: try cast([NSNumber(value: objects.count)], plan)
    default: try typed(objects, plan)
    }
  }

  // MARK: Objects

  /// The objects of a fetch.
  ///
  /// - Parameter rows: the rows, if they were read before. A fetch that depends on changes in between reads them again.
  func fetchObjects(_ plan: FetchPlan, _ rows: FetchedRows? = nil) throws -> [NSManagedObject] {
    if let stores = try handles(for: plan), stores.isEmpty { return [] }
    let mixesPending = plan.includesPending && hasChanges(within: plan)
    var objects: [NSManagedObject]
    if mixesPending {
      var stored = plan
      stored.limit = nil
      stored.offset = 0
      objects = try storedObjects(stored)
      objects = try mixingPending(into: objects, plan)
    } else if let rows, !plan.refreshes {
      objects = adopt(rows)
    } else {
      objects = try storedObjects(plan)
    }
    if plan.realizesFaults { fireAll(objects) }
    if let size = plan.batchSize, objects.count > size {
      fetchedPages.add(objects.map { $0._key }, root: plan.binding.root, batchSize: size)
    }
    for path in plan.prefetch { try prefetch(path, of: objects) }
    return objects
  }

  private func storedObjects(_ plan: FetchPlan) throws -> [NSManagedObject] {
    let registry = registry!
    let registrations = registry.registrations
    let knowsNothing = registry.count(root: plan.binding.root) == 0
    let refreshes = plan.refreshes
    return try asking(plan) { source, query, stores in
      let rows = try source.fetch(
        query, of: plan.binding, in: stores,
        isKnown: knowsNothing || refreshes
          ? nil
          : { root, key in
            registry.realized(root: root, key: key)
          })
      return adopt(rows, refreshing: refreshes, unknownSince: knowsNothing ? registrations : nil)
    }
  }

  /// Makes objects of fetched rows, or finds the registered ones, in the order of the result.
  ///
  /// - Parameter registrations: the number of registrations, if none of the rows' objects was registered at
  ///   that time. While the number stays the same, the function does not look the objects up.
  func adopt(
    _ rows: FetchedRows, refreshing: Bool = false, unknownSince registrations: Int? = nil
  ) -> [NSManagedObject] {
    if rows.batches.isEmpty, let entries = rows.order { return faults(entries) }
    if registrations != nil { registry.reserve(rows.batches.reduce(0) { $0 + $1.count }) }
    guard let order = rows.order else {
      var result: [NSManagedObject] = []
      result.reserveCapacity(rows.count)
      for batch in rows.batches {
        // Each batch registers its own objects. Code of the application that runs in between may register
        // others.
        let isUnknown = registrations.map { $0 &+ result.count == registry.registrations } ?? false
        adopt(batch, into: &result, refreshing: refreshing, isUnknown: isUnknown)
      }
      return result
    }
    var byBatch: [[NSManagedObject]] = []
    byBatch.reserveCapacity(rows.batches.count)
    for batch in rows.batches {
      var objects: [NSManagedObject] = []
      objects.reserveCapacity(batch.count)
      adopt(batch, into: &objects, refreshing: refreshing)
      byBatch.append(objects)
    }
    return order.map { entry in
      entry.batch >= 0
        ? byBatch[Int(entry.batch)][Int(entry.row)] : object(entity: entry.entity.index, key: entry.key)
    }
  }

  private func adopt(
    _ batch: RowBatch, into result: inout [NSManagedObject], refreshing: Bool, isUnknown: Bool = false
  ) {
    let binding = registry.model.entities[batch.layout.entity]
    var maker = ObjectMaker(self, binding, batch: batch, flags: baseFlags)
    let known =
      isUnknown ? [] : registry.objects(root: binding.root, keys: 0..<batch.count) { batch.key($0) }
    if known.isEmpty {
      let first = result.count
      for row in 0..<batch.count { result.append(maker.make(key: batch.key(row), row: row)) }
      maker.finish()
      registry.register(result[first...])
      if merging.hasUnsavedPartners { for object in result[first...] { releaseRival(object) } }
      let wasAwakening = isAwakening
      isAwakening = true
      result[first...].withBorrowed { objects in
        for object in objects { object.with { $0.awakeFromFetch() } }
      }
      isAwakening = wasAwakening
    } else {
      var made: [NSManagedObject] = []
      for row in 0..<batch.count {
        if let object = known[row], !isMistaken(object, for: binding) {
          if !object.isRealized || (refreshing && !object.hasChanges) {
            if object._binding.layout === batch.layout {
              object.take(batch, row)
              releaseRival(object)
              awaken(object)
            }
          }
          result.append(object)
        } else {
          let object = maker.make(key: batch.key(row), row: row)
          made.append(object)
          result.append(object)
        }
      }
      maker.finish()
      registry.register(made[...])
      if merging.hasUnsavedPartners { for object in made { releaseRival(object) } }
      for object in made { awaken(object) }
    }
  }

  /// Whether an object is a fault of another entity than its row has. A reference in a damaged store may have
  /// named the wrong entity.
  @inline(__always)
  private func isMistaken(_ object: NSManagedObject, for binding: EntityBinding) -> Bool {
    object._binding !== binding && !object.isRealized && !object.hasChanges
  }

  /// The objects for a result of rows without values, in its order: registered objects, or faults.
  private func faults(_ entries: [FetchedRows.Entry]) -> [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(entries.count)
    var start = 0
    while start < entries.count {
      let entity = entries[start].entity
      var end = start + 1
      while end < entries.count, entries[end].entity == entity { end += 1 }
      let binding = registry.model.entities[entity.index]
      var maker = ObjectMaker(
        self, binding, batch: binding.defaults, flags: baseFlags.union(.fault))
      let known = registry.objects(root: binding.root, keys: start..<end) { entries[$0].key }
      if known.isEmpty {
        let first = result.count
        for index in start..<end { result.append(maker.make(key: entries[index].key, row: 0)) }
        maker.finish()
        registry.register(result[first...])
      } else {
        var made: [NSManagedObject] = []
        for index in start..<end {
          if let object = known[index - start], !isMistaken(object, for: binding) {
            result.append(object)
          } else {
            let object = maker.make(key: entries[index].key, row: 0)
            made.append(object)
            result.append(object)
          }
        }
        maker.finish()
        registry.register(made[...])
      }
      start = end
    }
    return result
  }

  private func mixingPending(into stored: [NSManagedObject], _ plan: FetchPlan) throws -> [NSManagedObject] {
    do {
      return try mixingPending(
        into: stored, try plan.query(namingUnsaved: true), of: plan.binding, in: try handles(for: plan))
    } catch let error as any CDEError where error is PredicateTreeError || error is StoreError {
      throw ManagedObjectError(
        .predicate, "The fetch of \(plan.binding.name) can't be answered in memory: \(error.message)",
        cause: error,
        entity: plan.binding.name)
    }
  }

  /// Adds unsaved changes to the result of a query without its limit and offset.
  ///
  /// - Parameter stores: the stores whose objects are found, and those that new objects will have; nil for all.
  func mixingPending(
    into stored: [NSManagedObject], _ query: StoreQuery, of binding: EntityBinding, in stores: [StoreHandle]?
  ) throws -> [NSManagedObject] {
    let subtree = registry.model.schema.entities[binding.index].subtree
    func belongs(_ object: NSManagedObject) -> Bool {
      guard
        query.includesSubentities
          ? subtree.contains(object._binding.index) : object._binding.index == binding.index
      else { return false }
      guard let stores else { return true }
      let home = homeStore(of: object)
      return stores.contains { $0 === home }
    }
    var seen = Set<ObjectIdentifier>()
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(stored.count)
    let evaluator = FilterEvaluator<ObjectRow>(registry.model.schema)
    func satisfies(_ object: NSManagedObject) throws -> Bool {
      try evaluator.holds(query.filter, for: ObjectRow(object: object), of: query.entity)
    }
    // The store evaluated the condition for objects whose own values are as stored. For the others it is
    // evaluated here.
    for object in stored where !object.isMarkedDeleted {
      seen.insert(ObjectIdentifier(object))
      if object.hasChanges, try !satisfies(object) { continue }
      objects.append(object)
    }
    for object in pendingCandidates(query) ?? changed
    where belongs(object) && object.hasChanges && !object.isMarkedDeleted {
      guard !seen.contains(ObjectIdentifier(object)), try satisfies(object) else { continue }
      objects.append(object)
    }
    if !query.sort.isEmpty {
      if query.keysOnly { fireAll(objects) }
      var keyed = try objects.map { object in
        (
          keys: try evaluator.sortKeys(query.sort, for: ObjectRow(object: object), of: query.entity),
          object: object
        )
      }
      keyed.sort { ValueOrder.precedes($0.keys, $1.keys, in: query.sort) }
      objects = keyed.map(\.object)
    }
    let tail = objects.dropFirst(query.offset)
    return Array(query.limit.map { tail.prefix($0) } ?? tail)
  }

  // MARK: Permanent IDs

  final func makePermanentIDs(for objects: [NSManagedObject]) throws {
    preconditionIsolated("obtainPermanentIDs(for:)")
    if let parentSource {
      // Objects that the parent has get their IDs there.
      try parentSource.obtainPermanentKeys(
        of: objects.filter { $0.state == .savedToParent && $0._registry === registry }.map(\.rowIdentity))
    }
    let source = try source()
    let temporary = objects.filter {
      $0.isInserted && $0.hasTemporaryKey && $0._registry === registry
    }
    for (_, tree) in Dictionary(grouping: temporary, by: { $0._binding.root }) {
      let root = registry.model.entities[tree[0]._binding.root.entity]
      // From now on the key says in which store an object is.
      for (handle, group) in try byHome(tree) {
        do {
          let start = try source.allocateKeys(group.count, of: root, in: handle)
          let former = group.map { $0._key }
          rekey(group) { start + Int64($0) }
          forgetAssignments(former)
        } catch {
          throw ManagedObjectError.store(error)
        }
      }
    }
  }
}

extension NSFetchRequest {
  /// Fetches in the context whose isolation the call runs in.
  public func execute(in context: NSManagedObjectContext) throws -> [ResultType] { try context.fetch(self) }

  /// The results as values of any type. A request that was cast to another result type still makes results of its own.
  func untypedResults(in context: NSManagedObjectContext) throws -> [Any] { try context.typedFetch(self) }

  /// The request without its result type, in the form that the context uses.
  func plan(in context: NSManagedObjectContext) throws -> FetchPlan {
    guard let model = context.modelBinding else { throw context.missingCoordinator }
    var plan = try plan(of: model)
    plan.source = context.rowSource
    return plan
  }
}
