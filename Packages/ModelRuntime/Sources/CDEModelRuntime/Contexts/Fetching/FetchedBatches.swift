@_spi(CDE) internal import CDEExecutors
internal import CDEStore

/// The keys of a fetch's objects, and the objects of the batches used last.
final class FetchedBatches {
  // Guard of all state: the isolation of the context.
  private let context: NSManagedObjectContext
  /// Reads the rows of a batch by their keys.
  private var plan: FetchPlan
  private let size: Int
  private var keys: [Int64] = []
  /// The concrete entity of each object; empty if all have the entity of the request.
  private var entities: [NarrowIndex<EntityIndex>] = []
  /// Objects without a permanent key, by position. Their keys change when they are saved.
  private var unsaved: [Int: NSManagedObject] = [:]
  /// The batches used last, the latest one at the end.
  private var recent: [(start: Int, objects: [NSManagedObject])] = []

  /// A list that is scrolled shows at most two batches, and its reader may compare with a neighbour.
  private static let limit = 4

  init(_ context: NSManagedObjectContext, _ plan: FetchPlan, _ size: Int) {
    self.context = context
    self.plan = plan
    self.size = max(size, 1)
  }

  var count: Int { keys.count }

  /// Reads the keys.
  func fetch() throws {
    var reading = plan
    reading.keysOnly = true
    reading.realizesFaults = false
    reading.refreshes = false
    reading.batchSize = nil
    reading.prefetch = []
    if reading.includesPending, context.hasChanges(within: reading) {
      take(try context.fetchObjects(reading))
    } else {
      take(try context.entries(of: reading))
    }
    plan.predicate = .constant(true)
    plan.sort = []
    plan.limit = nil
    plan.offset = 0
    plan.keysOnly = false
    // A mistake in a path is an error of the fetch, and not of the use of an object.
    for path in plan.prefetch { try context.checkPrefetch(path, of: plan.binding) }
  }

  private func take(_ objects: [NSManagedObject]) {
    keys = objects.map { $0._key }
    keepEntities { objects[$0].withBinding { NarrowIndex($0.index) } }
    for (position, object) in objects.enumerated() where !object.hasPermanentKey || object.isInserted {
      unsaved[position] = object
    }
  }

  private func take(_ entries: [FetchedRows.Entry]) {
    keys = entries.map(\.key)
    keepEntities { entries[$0].entity }
    // Unsaved objects of a parent context.
    for (position, entry) in entries.enumerated() where entry.key <= 0 {
      unsaved[position] = context.object(entity: entry.entity.index, key: entry.key)
    }
  }

  private func keepEntities(_ entity: (Int) -> NarrowIndex<EntityIndex>) {
    let own = plan.binding.index
    if keys.indices.allSatisfy({ entity($0).index == own }) { return }
    entities = keys.indices.map(entity)
  }

  func object(at position: Int) -> NSManagedObject {
    context.preconditionIsolated("FetchResultsCollection")
    checkPrecondition(
      keys.indices.contains(position), "The position \(position) is not in a result of \(keys.count) objects."
    )
    if let object = unsaved[position] { return object }
    let start = position / size * size
    if let last = recent.last, last.start == start { return last.objects[position - start] }
    let batch: (start: Int, objects: [NSManagedObject])
    if let place = recent.firstIndex(where: { $0.start == start }) {
      batch = recent.remove(at: place)
    } else {
      if recent.count == Self.limit { recent.removeFirst() }
      batch = (start, read(start..<min(start + size, keys.count)))
    }
    recent.append(batch)
    return batch.objects[position - start]
  }

  /// Reads a batch. An object whose row was not found, or could not be read, is a fault.
  private func read(_ positions: Range<Int>) -> [NSManagedObject] {
    let stored = positions.filter { unsaved[$0] == nil }
    var found: [Int64: NSManagedObject] = [:]
    found.reserveCapacity(stored.count)
    do {
      for object in try context.objects(plan, keys: stored.map { keys[$0] }) { found[object._key] = object }
    } catch { context.noteUnread(stored.count, of: plan.binding, error) }
    let objects = positions.map { position in
      unsaved[position] ?? found[keys[position]]
        ?? context.object(
          entity: entities.isEmpty ? plan.binding.index : entities[position].index, key: keys[position])
    }
    for path in plan.prefetch {
      do { try context.prefetch(path, of: objects) } catch {
        context.noteUnread(stored.count, of: plan.binding, error)
      }
    }
    return objects
  }
}

extension NSManagedObjectContext {
  /// The keys and entities of a fetch's objects, in its order. Makes no objects.
  fileprivate func entries(of plan: FetchPlan) throws -> [FetchedRows.Entry] {
    if let stores = try handles(for: plan), stores.isEmpty { return [] }
    return try asking(plan) { source, query, stores in
      let rows = try source.fetch(query, of: plan.binding, in: stores, isKnown: nil)
      return rows.order ?? rows.batches.flatMap(\.entries)
    }
  }

  /// The objects that have rows with these keys.
  fileprivate func objects(_ plan: FetchPlan, keys: [Int64]) throws -> [NSManagedObject] {
    let registry = registry!
    return try asking(plan) { source, query, stores in
      var query = query
      query.filter = .keys(keys)
      let rows = try source.fetch(
        query, of: plan.binding, in: stores,
        isKnown: plan.refreshes ? nil : { root, key in registry.realized(root: root, key: key) })
      return adopt(rows, refreshing: plan.refreshes)
    }
  }

  /// Checks a path to prefetch before there are objects.
  fileprivate func checkPrefetch(_ path: String, of binding: EntityBinding) throws {
    var binding = binding
    for name in path.split(separator: ".").map(String.init) {
      guard let info = binding.property(name), info.isRelationship else {
        throw noRelationship(name, binding)
      }
      binding = binding.model.entities[info.destination]
    }
  }
}
