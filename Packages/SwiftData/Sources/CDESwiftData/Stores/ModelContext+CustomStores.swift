@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import CDEPredicates
internal import CDEStore
internal import Foundation

// Fetches of models whose store is the application's. It is asked first; what it gives becomes rows of the mirror, and the runtime
// fetches these.
extension ModelContext {
  /// The application's store of a class; nil for other classes.
  func customStore<T: PersistentModel>(of type: T.Type) -> CustomStore? {
    core.custom.isEmpty ? nil : core.customStore(of: Schema.entityName(for: type))
  }

  func beginCustom() {
    for store in core.custom { store.begin(editingState) }
  }

  /// Runs a save, for whose calls of stores this context counts.
  func writing(_ body: () throws -> Void) throws {
    if core.custom.isEmpty { return try body() }
    try StoreScope.$editing.withValue(editingState) { try body() }
  }

  private func asking<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try StoreScope.$editing.withValue(editingState) {
        try StoreScope.$core.withValue(core) { try body() }
      }
    } catch {
      throw Self.translated(error)
    }
  }

  // MARK: Fetching

  func customObjects<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ store: CustomStore
  ) throws -> [_ModelObject] {
    try asking {
      switch try answer(descriptor, store) {
      case .rows(let ids):
        let objects = try fetch(descriptor, store, among: ids, isSorted: true)
        let byPlace = Dictionary(objects.map { ($0.objectID.rowKey, $0) }) { first, _ in first }
        return ids.compactMap { byPlace[$0.key] }
      case .unsorted(let ids): return try fetch(descriptor, store, among: ids, isSorted: false)
      case .inMemory:
        let request = try descriptor.request()
        return try context.fetch(request).map { unsafeDowncast($0, to: _ModelObject.self) }
      }
    }
  }

  /// The objects of rows that the store has found.
  ///
  /// - Parameter isSorted: whether the order and the limits are applied already.
  private func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ store: CustomStore, among places: [RowPlace], isSorted: Bool
  ) throws -> [_ModelObject] {
    var rest = descriptor
    rest.predicate = nil
    if isSorted {
      rest.sortBy = []
      rest.fetchLimit = nil
      rest.fetchOffset = nil
      // There are none of the class, or they are not asked for.
      rest.includePendingChanges = false
    }
    let request = try rest.request()
    if places.isEmpty { return [] }
    request.predicate = NSPredicate(format: "SELF IN %@", places.compactMap { store.objectID($0, core) })
    return try context.fetch(request).map { unsafeDowncast($0, to: _ModelObject.self) }
  }

  func customCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ store: CustomStore) throws -> Int {
    try asking {
      if !isPending(descriptor) {
        let (asked, offset) = descriptor.withoutOffset
        if let count = try store.asked({ try store.source.fetchCount(asked, store.state) }) {
          return max(min(count, asked.fetchLimit ?? count) - offset, 0)
        }
      }
      return try customObjects(descriptor, store).count
    }
  }

  func customIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ store: CustomStore
  ) throws -> [PersistentIdentifier] {
    try asking {
      if !isPending(descriptor) {
        let (asked, offset) = descriptor.withoutOffset
        if let ids = try store.asked({ try store.source.fetchIdentifiers(asked, store.state) }) {
          return Array(ids.prefix(asked.fetchLimit ?? ids.count).dropFirst(offset))
        }
      }
      return try customObjects(descriptor, store).map { PersistentIdentifier($0.objectID) }
    }
  }

  /// Loads what a fetch in memory needs.
  func loadCustom<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws {
    guard let store = customStore(of: T.self) else { return }
    try asking { _ = try store.taking { _ = try store.fetchAll(T.self) } }
  }

  // MARK: Asking the store

  private enum Answer {
    /// The rows of the result.
    case rows([RowPlace])
    /// Rows that satisfy the predicate. The order and the limits are left.
    case unsorted([RowPlace])
    /// All models of the class are in the mirror. The condition, the order and the limits are left.
    case inMemory
  }

  private func answer<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ store: CustomStore
  ) throws -> Answer {
    // Unsaved changes may decide the condition, the order and the limits.
    if isPending(descriptor) {
      try store.taking { _ = try store.fetchAll(T.self) }
      return .inMemory
    }
    let (asked, offset) = descriptor.withoutOffset
    return try store.taking {
      do {
        var found = try store.find(asked)
        // In the order in which the models came here: a store's own may differ each time.
        if asked.sortBy.isEmpty { found.sort { $0.key < $1.key } }
        return .rows(Array(found.prefix(asked.fetchLimit ?? found.count).dropFirst(offset)))
      } catch DataStoreError.preferInMemorySort where descriptor.predicate != nil {
        do {
          return .unsorted(try store.find(FetchDescriptor(predicate: descriptor.predicate)))
        } catch DataStoreError
          .preferInMemoryFilter
        {
          try store.fetchAll(T.self)
          return .inMemory
        }
      } catch DataStoreError.preferInMemorySort, DataStoreError.preferInMemoryFilter {
        try store.fetchAll(T.self)
        return .inMemory
      }
    }
  }

  /// Whether unsaved changes may decide what a fetch finds.
  private func isPending<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> Bool {
    guard descriptor.includePendingChanges, context.hasChanges else { return false }
    let info = _ModelInfo.of(T.self)
    // A condition or an order may look at related models.
    let looksElsewhere = descriptor.predicate != nil || !descriptor.sortBy.isEmpty
    func concerns(_ object: NSManagedObject) -> Bool {
      guard let object = object as? _ModelObject else { return false }
      return looksElsewhere || object.info.descends(from: info)
    }
    return context.insertedObjects.contains(where: concerns)
      || context.updatedObjects.contains(where: concerns)
      || context.deletedObjects.contains(where: concerns)
  }

  // MARK: Deleting

  func customDelete<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>?, _ includeSubclasses: Bool, _ store: CustomStore
  ) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let isDone = try asking {
      try store.taking {
        guard
          try store.source.delete(
            type, predicate, includeSubclasses: includeSubclasses, store.state)
        else { return false }
        // The store's delete rules may have reached other classes.
        try store.fetchPresent()
        return true
      }
    }
    mergeOthers()
    let request = try asking { try descriptor.request() }
    request.includesSubentities = includeSubclasses
    let objects: [NSManagedObject]
    if isDone {
      // What the store does not know.
      objects = try asking { try context.fetch(request) }.filter(\.isInserted)
    } else {
      objects = try customObjects(descriptor, store).filter { includeSubclasses || $0.info.type == T.self }
    }
    for object in objects {
      (object as? _ModelObject)?.letModelGo()
      context.delete(object)
    }
  }
}

extension FetchDescriptor {
  /// The descriptor that a store is asked by, and how many models the context skips.
  ///
  /// A store that knows no limits returns too many models, which is seen. A missing offset would not be.
  fileprivate var withoutOffset: (FetchDescriptor, offset: Int) {
    var asked = self
    let offset = max(fetchOffset ?? 0, 0)
    asked.fetchOffset = nil
    // The runtime takes no limit for 0 or less.
    let limit = fetchLimit.flatMap { $0 > 0 ? $0 : nil }
    asked.fetchLimit = limit.map { $0.addingReportingOverflow(offset).overflow ? .max : $0 + offset }
    return (asked, offset)
  }
}

extension CustomStore {
  /// Asks the store in a turn.
  ///
  /// - Returns: nil if the context shall filter or sort.
  func asked<Result: Sendable>(_ body: () throws -> Result) throws -> Result? {
    try taking {
      do { return try body() } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
        return nil
      }
    }
  }

  /// Fetches in a turn, and makes rows of what is found.
  ///
  /// - Returns: the rows of the models of the class, in the order of the store.
  func find<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [RowPlace] {
    let result = try source.fetch(descriptor, state)
    try load(result.found + result.related)
    if descriptor.predicate == nil, descriptor.fetchLimit == nil {
      try removeOthers(of: T.self, than: result.found)
    }
    guard let entity = schema.entity(named: Schema.entityName(for: T.self)) else { return [] }
    return tables.withLock { tables in
      result.found.compactMap { snapshot in
        let id = snapshot.persistentIdentifier
        guard let own = schema.entity(named: id.entityName), entity.subtree.contains(own.index) else {
          return nil
        }
        return tables.places[id]
      }
    }
  }

  /// Asks again, in a turn, for the models of all classes that the mirror has, and removes those that are gone.
  func fetchPresent() throws {
    let entities = tables.withLock { Set($0.places.keys.map(\.entityName)) }
    for entity in entities.sorted() {
      if let info = prepared.info(named: entity) { try fetchAll(info.type) }
    }
  }

  /// Removes all contents of the store. One that can't be erased deletes its models.
  func erase() throws {
    do {
      try taking {
        do { try source.erase() } catch DataStoreError.unsupportedFeature { try deleteAll() }
        let identifier = source.identifier
        tables.withLock { $0.store = identifier }
        try remove(tables.withLock { Array($0.places.values) })
      }
    } catch {
      throw Self.original(error) ?? error
    }
  }

  private func deleteAll() throws {
    var all: [PersistentIdentifier: DefaultSnapshot] = [:]
    for entity in schema.entities where entity.isRoot {
      guard let info = prepared.info(named: entity.source.name) else { continue }
      let found = try fetchAll(info.type)
      for snapshot in found.found + found.related { all[snapshot.persistentIdentifier] = snapshot }
    }
    if all.isEmpty { return }
    let deleted = all.values.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
    _ = try source.save(SnapshotChanges(deleted: deleted), state)
  }

  /// The ID of a row's objects.
  func objectID(_ place: RowPlace, _ core: ContainerCore) -> NSManagedObjectID? {
    let name =
      tables.withLock { $0.identifiers[place]?.entityName } ?? schema.entities[place.root.entity].source.name
    var parts = URLComponents()
    parts.scheme = "x-coredata"
    parts.host = identifier
    parts.path = "/\(name)/p\(place.key)"
    return parts.url.flatMap { core.coordinator.managedObjectID(forURIRepresentation: $0) }
  }
}

extension ContainerCore {
  /// The managed object's ID for an identifier of a model in a custom store, or of a saved one elsewhere.
  func objectID(for id: PersistentIdentifier) -> NSManagedObjectID? {
    guard !id.isTemporary else { return nil }
    guard let store = customStore(of: id.entityName), store.publicIdentifier == id.storeIdentifier else {
      return id.uri.flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
    }
    return (try? store.place(of: id)).flatMap { $0 }.flatMap { store.objectID($0, self) }
  }
}
