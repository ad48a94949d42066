@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// What the application's store gives becomes rows of the mirror. All of this runs in a turn.
extension CustomStore {
  /// Loads rows without values by the identifiers of their models.
  ///
  /// A model that the store does not have is removed from the mirror, and from what refers to it.
  func load(places: [RowPlace]) throws {
    let (ids, known) = tables.withLock { tables in
      let waiting = places.filter { tables.unloaded.contains($0) }
      return (waiting.compactMap { tables.identifiers[$0] }, waiting)
    }
    guard !known.isEmpty else { return }
    var loaded = try source.cachedSnapshots(for: ids, state)
    var related: [DefaultSnapshot] = []
    let missing = Set(ids).subtracting(loaded.map(\.persistentIdentifier))
    for (entity, ids) in Dictionary(grouping: missing.sorted(), by: \.entityName) {
      guard let info = prepared.info(named: entity) else { continue }
      let result = try fetch(info.type, ids)
      loaded += result.found
      related += result.related
    }
    try load(loaded + related)
    let absent = tables.withLock { tables in known.filter { tables.unloaded.contains($0) } }
    try remove(absent)
  }

  /// Asks for models by their identifiers.
  private func fetch<T: PersistentModel>(
    _ type: T.Type, _ ids: [PersistentIdentifier]
  ) throws -> FetchedSnapshots {
    let predicate = #Predicate<T> { ids.contains($0.persistentModelID) }
    do {
      return try source.fetch(FetchDescriptor<T>(predicate: predicate), state)
    } catch DataStoreError.preferInMemoryFilter, DataStoreError.invalidPredicate,
      DataStoreError.unsupportedFeature
    {
      return try fetchAll(type)
    }
  }

  /// Asks for all models of a class, and removes those that are gone.
  @discardableResult
  func fetchAll<T: PersistentModel>(_ type: T.Type) throws -> FetchedSnapshots {
    let result = try source.fetch(FetchDescriptor<T>(), state)
    try load(result.found + result.related)
    try removeOthers(of: type, than: result.found)
    return result
  }

  /// Removes the rows of a class and those below it whose models a fetch of all did not find.
  func removeOthers<T: PersistentModel>(of type: T.Type, than found: [DefaultSnapshot]) throws {
    guard let entity = schema.entity(named: Schema.entityName(for: type)) else { return }
    let present = Set(found.map(\.persistentIdentifier))
    let gone = tables.withLock { tables in
      tables.places.filter { id, place in
        place.root == entity.root && !present.contains(id)
          && schema.entity(named: id.entityName).map { entity.subtree.contains($0.index) } == true
      }.map(\.value)
    }
    try remove(gone)
  }

  // MARK: Snapshots

  /// Makes the rows of models as their snapshots are.
  func load(_ snapshots: [DefaultSnapshot]) throws {
    guard !snapshots.isEmpty else { return }
    var loading = MirrorLoading(self)
    try loading.take(snapshots)
    try loading.readRows()
    try loading.relate()
    try loading.write()
  }

  /// Removes rows, and what refers to them.
  func remove(_ places: [RowPlace]) throws {
    guard !places.isEmpty else { return }
    try MirrorRemoval(self).remove(Set(places))
  }

  /// Commits rows to the mirror, and announces what contexts may have.
  ///
  /// - Parameter changes: what has changed for contexts, by entity and key.
  func commit(_ transaction: StoreTransaction, _ changes: [MirrorChange]) throws {
    guard !transaction.isEmpty else { return }
    var later: [@Sendable () -> Void] = []
    _ = try mirror.commit(transaction) { _ in
      guard let othersHandler, !changes.isEmpty else { return }
      announced += 1
      let transaction = StoreHistoryTransaction(
        number: announced, timestamp: Date().timeIntervalSinceReferenceDate,
        changes: changes.enumerated().map { index, change in
          StoreHistoryChange(
            number: Int64(index + 1), kind: change.kind, entity: change.entity, key: change.place.key,
            properties: change.properties)
        })
      later.append(othersHandler(StoreForeignCommits(transactions: [transaction])))
    }
    announcements += later
  }

  // MARK: Identities

  /// The identity that a model has by now.
  func current(_ id: PersistentIdentifier) -> PersistentIdentifier {
    tables.withLock { $0.permanent[id] ?? id }
  }

  /// The row of a model; made without values if there is none.
  ///
  /// - Returns: nil for an identifier of another store, or of an entity that the store does not have.
  func place(of id: PersistentIdentifier) throws(StoreError) -> RowPlace? {
    let id = current(id)
    if let known = tables.withLock({ $0.places[id] }) { return known }
    guard id.storeIdentifier == publicIdentifier, schema.entity(named: id.entityName) != nil else {
      return nil
    }
    return try taking {
      var loading = MirrorLoading(self)
      let place = try loading.place(referringTo: id)
      try loading.write()
      return place
    }
  }
}

/// The change of a row of the mirror, for contexts.
struct MirrorChange {
  var kind: StoreHistoryChange.Kind
  var entity: EntityIndex
  var place: RowPlace
  var properties: PropertySet?
}
