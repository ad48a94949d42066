@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEStore

// Reads of the runtime. A row without values is loaded before it is read.
extension CustomStore {
  func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
    try loadUnloaded(entity, [key])
    return try mirror.row(entity: entity, key: key)
  }

  func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try loadUnloaded(entity, keys)
    return try mirror.rows(entity: entity, keys: keys)
  }

  func related(
    entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows {
    try loadUnlisted(entity, slot, owners)
    if !hasUnloaded {
      return try mirror.related(entity: entity, slot: slot, owners: owners, isKnown: isKnown)
    }
    let members = try mirror.related(entity: entity, slot: slot, owners: owners) { _, _ in true }
    let destination = schema.end(of: slot, in: entity).destination
    try loadUnloaded(destination, members.entries.map(\.key))
    return try mirror.related(entity: entity, slot: slot, owners: owners, isKnown: isKnown)
  }

  /// Loads all models that may be in a relationship of which the owner's snapshot does not say who is in it.
  private func loadUnlisted(_ entity: EntityIndex, _ slot: SlotIndex, _ owners: [Int64]) throws(StoreError) {
    let (root, name) = (schema.entities[entity].root, schema.entities[entity].layout.properties[slot].name)
    func isUnlisted(_ tables: KeyTables) -> Bool {
      !tables.unlisted.isEmpty
        && owners.contains {
          tables.unlisted.contains(UnlistedMembers(owner: RowPlace(root: root, key: $0), name: name))
        }
    }
    try loadUnloaded(entity, owners)
    guard tables.withLock({ isUnlisted($0) }),
      let info = prepared.info(
        named: schema.entities[schema.end(of: slot, in: entity).destination].layout.entityName)
    else { return }
    try taking {
      try fetchAll(info.type)
      tables.withLock { tables in
        tables.unlisted = tables.unlisted.filter { $0.owner.root != root || $0.name != name }
      }
    }
  }

  func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try prepare(query)
    return try mirror.fetch(query, isKnown: isKnown)
  }

  func count(_ query: StoreQuery) throws(StoreError) -> Int {
    try prepare(query)
    return try mirror.count(query)
  }

  /// Loads the rows that a query looks at.
  private func prepare(_ query: StoreQuery) throws(StoreError) {
    guard hasUnloaded else { return }
    if QueryPaths.leadElsewhere(query) { return try loadAllUnloaded() }
    if case .keys(let keys) = query.filter { return try loadUnloaded(query.entity, keys) }
    let subtree = schema.entities[query.entity].subtree
    let places = tables.withLock { tables in
      tables.unloaded.filter { place in
        guard let name = tables.identifiers[place]?.entityName, let entity = schema.entity(named: name) else {
          return false
        }
        return subtree.contains(entity.index)
      }
    }
    try loadUnloaded(query.entity, places.map(\.key))
  }

  var hasUnloaded: Bool { tables.withLock { !$0.unloaded.isEmpty } }

  /// Loads the rows of these keys that have no values.
  func loadUnloaded(_ entity: EntityIndex, _ keys: [Int64]) throws(StoreError) {
    let root = schema.entities[entity].root
    let wanted = tables.withLock { tables in
      tables.unloaded.isEmpty
        ? [] : keys.map { RowPlace(root: root, key: $0) }.filter { tables.unloaded.contains($0) }
    }
    if !wanted.isEmpty { try taking { try load(places: wanted) } }
  }

  /// Loads all rows without values, and those that they lead to.
  func loadAllUnloaded() throws(StoreError) {
    while true {
      let wanted = tables.withLock { Array($0.unloaded) }
      if wanted.isEmpty { return }
      try taking { try load(places: wanted) }
    }
  }
}

/// Whether a query looks at other rows than those that it finds.
enum QueryPaths {
  static func leadElsewhere(_ query: StoreQuery) -> Bool {
    // Conditions may be nested deeply, so they wait in a list.
    var waiting: [QueryPart] = [.filter(query.filter)] + query.sort.map { .expression($0.expression) }
    while let part = waiting.popLast() {
      switch part {
      case .filter(.any), .expression(.count), .expression(.aggregate), .expression(.countWhere): return true
      case .filter(.entity(let path, _)): if !path.hops.isEmpty { return true }
      case .expression(.path(let path)):
        // The key of a to-one relationship is in the row itself.
        let ownHops = if case .object = path.end { path.hops.dropLast() } else { path.hops[...] }
        if !ownHops.isEmpty { return true }
      default: waiting += part.parts
      }
    }
    return false
  }
}
