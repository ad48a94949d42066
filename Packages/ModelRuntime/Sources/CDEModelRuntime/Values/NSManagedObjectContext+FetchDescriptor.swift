internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// Fetches the objects of a descriptor, as a fetch request does.
  ///
  /// - Throws: ``ManagedObjectError``: no entity for the model, a predicate or order that can't be used, or
  ///   a store error.
  public func fetch<Item>(_ descriptor: FetchDescriptor<Item>) throws -> [Item] {
    preconditionIsolated("fetch(_:)")
    guard let model = modelBinding else { throw missingCoordinator }
    if descriptor.fetchLimit.map({ $0 <= 0 }) == true { return [] }
    let plan = try plan(descriptor, model)
    return try typed(try fetchObjects(plan), plan)
  }

  /// Fetches the objects of a descriptor as a collection that reads them in batches, and keeps few of them.
  ///
  /// - Parameters:
  ///   - descriptor: the condition, the order and the range.
  ///   - batchSize: the number of objects that are read together, at least one.
  /// - Throws: the errors of ``fetch(_:)-(FetchDescriptor<Item>)``.
  public func fetch<Item>(
    _ descriptor: FetchDescriptor<Item>, batchSize: Int
  ) throws -> FetchResultsCollection<Item> {
    preconditionIsolated("fetch(_:batchSize:)")
    guard let model = modelBinding else { throw missingCoordinator }
    var plan = try plan(descriptor, model)
    if let limit = descriptor.fetchLimit, limit <= 0 { plan.limit = 0 }
    return FetchResultsCollection(try batches(of: plan, holding: Item.self, size: batchSize))
  }

  /// The number of objects that a fetch would return, with its limit and offset.
  public func fetchCount<Item>(_ descriptor: FetchDescriptor<Item>) throws -> Int {
    preconditionIsolated("fetchCount(_:)")
    guard let model = modelBinding else { throw missingCoordinator }
    if descriptor.fetchLimit.map({ $0 <= 0 }) == true { return 0 }
    return try count(try plan(descriptor, model))
  }

  /// Fetches the handles of objects, without their values.
  ///
  /// Objects that were never saved have no handle and are omitted.
  public func fetchHandles<Item>(_ descriptor: FetchDescriptor<Item>) throws -> [ModelHandle<Item>] {
    preconditionIsolated("fetchHandles(_:)")
    guard let model = modelBinding else { throw missingCoordinator }
    var plan = try plan(descriptor, model)
    plan.keysOnly = true
    plan.prefetch = []
    if plan.includesPending, changed.contains(where: \.hasChanges) {
      return try fetch(descriptor).compactMap(ModelHandle.init)
    }
    if descriptor.fetchLimit.map({ $0 <= 0 }) == true { return [] }
    let source = try source()
    return try plan.ask(source) { handle, query in
      let rows = try source.fetch(query, of: plan.binding, in: nil, isKnown: nil)
      let order = rows.order ?? rows.batches.flatMap(\.entries)
      return order.map { entry in
        let binding = model.entities[entry.entity.index]
        let store = handle.holds(entry.key) ? handle : source.handle(for: binding, key: entry.key) ?? handle
        return ModelHandle(store: store.identifier, entity: binding.name, key: store.ownKey(entry.key))
      }
    }
  }

  /// Fetches snapshots, which may be passed to any isolation. Without unsaved changes no objects are made,
  /// because the snapshots use the rows that were read.
  ///
  /// Objects that were never saved have no permanent identity and are omitted.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchDescriptor<Item>)``, and those of
  ///   ``PersistentEntity/snapshot()`` for an object whose unsaved changes refer to an object that was never
  ///   saved.
  public func fetchSnapshots<Item>(_ descriptor: FetchDescriptor<Item>) throws -> [ModelSnapshot<Item>] {
    preconditionIsolated("fetchSnapshots(_:)")
    guard let model = modelBinding else { throw missingCoordinator }
    let plan = try plan(descriptor, model)
    // The store lacks the unsaved changes of a parent context.
    guard parentSource != nil || (plan.includesPending && changed.contains(where: \.hasChanges)) else {
      return try SnapshotFetch(descriptor, plan).snapshots(from: try coordinator())
    }
    let toMany = plan.prefetch.compactMap { plan.binding.property($0) }.filter(\.isToMany)
    let encoded = try descriptor.encodedSlots(plan.binding)
    return try fetch(descriptor).filter { !$0.isUnsaved }.map { item in
      let row = try item.currentRow(refersToUnsaved: false)
      var members: [SlotIndex: [SnapshotExtras.Member]] = [:]
      for info in toMany {
        members[info.slot] = item.loadedMembers(info.slot).objects.filter {
          !$0.isDeletedOrGone && !$0.isUnsaved
        }
        .map { SnapshotExtras.Member(entity: $0._binding.index, key: $0._key) }
      }
      return ModelSnapshot(
        row: row, model: item._binding.model, store: try item.snapshotStore(),
        extras: .ifNeeded(members: members, encoded: encoded))
    }
  }
}

extension NSManagedObjectContext {
  private func plan<Item>(_ descriptor: FetchDescriptor<Item>, _ model: ModelBinding) throws -> FetchPlan {
    var plan = try descriptor.plan(for: model)
    plan.source = rowSource
    return plan
  }
}

extension NSPersistentContainer {
  /// Fetches saved values, outside the caller's actor and without a context.
  ///
  /// `includePendingChanges` has no effect here, because unsaved changes belong to contexts.
  ///
  /// - Throws: the errors of a context's `fetchSnapshots(_:)`.
  @concurrent
  public func fetchSnapshots<Item>(
    _ descriptor: FetchDescriptor<Item>
  ) async throws -> [ModelSnapshot<Item>] {
    let coordinator = persistentStoreCoordinator
    var plan = try descriptor.plan(for: coordinator.modelBinding)
    plan.source = coordinator
    return try SnapshotFetch(descriptor, plan).snapshots(from: coordinator)
  }
}

extension NSModelActor {
  /// Fetches snapshots in the actor's context. Call `await actor.fetchSnapshots(descriptor)` from outside the
  /// actor.
  public func fetchSnapshots<Item>(_ descriptor: FetchDescriptor<Item>) throws -> [ModelSnapshot<Item>] {
    try modelContext.fetchSnapshots(descriptor)
  }

  /// The number of objects in the actor's context.
  public func fetchCount<Item>(_ descriptor: FetchDescriptor<Item>) throws -> Int {
    try modelContext.fetchCount(descriptor)
  }
}

extension NSMainModelActor {
  /// Fetches snapshots in the view context.
  public func fetchSnapshots<Item>(_ descriptor: FetchDescriptor<Item>) throws -> [ModelSnapshot<Item>] {
    try modelContext.fetchSnapshots(descriptor)
  }
}

/// Reads rows and makes snapshots of them. Needs no context, because it uses no objects.
private struct SnapshotFetch<Item: PersistentEntity> {
  let plan: FetchPlan
  let encoded: PropertySet?
  let isEmpty: Bool

  init(_ descriptor: FetchDescriptor<Item>, _ plan: FetchPlan) throws {
    self.plan = plan
    encoded = try descriptor.encodedSlots(plan.binding)
    isEmpty = descriptor.fetchLimit.map { $0 <= 0 } ?? false
  }

  func snapshots(from coordinator: NSPersistentStoreCoordinator) throws -> [ModelSnapshot<Item>] {
    if isEmpty { return [] }
    return try plan.ask(coordinator) { handle, query in
      let fetched = try coordinator.fetch(query, of: plan.binding, in: nil, isKnown: nil)
      let rows: [RowReference] =
        if let order = fetched.order {
          order.map { RowReference(batch: fetched.batches[Int($0.batch)], row: Int($0.row)) }
        } else {
          fetched.batches.flatMap { batch in
            (0..<batch.count).map { RowReference(batch: batch, row: $0) }
          }
        }
      let extras = try extras(of: rows, from: coordinator)
      let model = plan.binding.model
      return zip(rows, extras).map { row, extras in
        let store =
          handle.holds(row.key) ? handle : coordinator.handle(for: plan.binding, key: row.key) ?? handle
        return ModelSnapshot(row: row, model: model, store: store, extras: extras)
      }
    }
  }

  private func extras(of rows: [RowReference], from source: any RowSource) throws -> [SnapshotExtras?] {
    let toMany = try plan.prefetch.compactMap { name -> PropertyInfo? in
      guard let info = plan.binding.property(name), info.isRelationship else {
        throw ManagedObjectError(
          .unsupportedRequest, "\(plan.binding.name).\(name) is no relationship and can't be prefetched.",
          entity: plan.binding.name, property: name)
      }
      return info.isToMany ? info : nil
    }
    guard !toMany.isEmpty else {
      let shared = SnapshotExtras.ifNeeded(members: [:], encoded: encoded)
      return Array(repeating: shared, count: rows.count)
    }
    var members = [[SlotIndex: [SnapshotExtras.Member]]](repeating: [:], count: rows.count)
    let entities = Dictionary(grouping: rows.indices) { rows[$0].batch.layout.entity }
    for (entity, places) in entities {
      for info in toMany {
        let slot = plan.binding.model.entities[entity].layout.slot(named: info.name) ?? info.slot
        // Only the identities of the members are needed, so no cells are read.
        let related = try source.related(
          to: places.map { rows[$0].key }, of: plan.binding.model.entities[entity], slot: slot,
          isKnown: { _, _ in true }, for: nil)
        for (place, range) in zip(places, related.ranges) {
          members[place][slot] = related.entries[range].map {
            SnapshotExtras.Member(entity: $0.entity.index, key: $0.key)
          }
        }
      }
    }
    return members.map { SnapshotExtras(members: $0, encoded: encoded) }
  }
}

extension SnapshotExtras {
  static func ifNeeded(members: [SlotIndex: [Member]], encoded: PropertySet?) -> SnapshotExtras? {
    members.isEmpty && encoded == nil ? nil : SnapshotExtras(members: members, encoded: encoded)
  }
}
