/// Which models a store finds.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
  /// The condition, the order and the greatest number.
  public let descriptor: FetchDescriptor<T>
  /// The context that asks.
  public let editingState: EditingState

  /// Makes a request.
  public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
    self.descriptor = descriptor
    self.editingState = editingState
  }
}

/// The models that a store found.
public struct DataStoreFetchResult<T: PersistentModel, Snapshot: DataStoreSnapshot>: Sendable {
  /// What was asked.
  public let descriptor: FetchDescriptor<T>
  /// The models, in the order of the descriptor.
  public let fetchedSnapshots: [Snapshot]
  /// Other models that those lead to, by their identifiers.
  public let relatedSnapshots: [PersistentIdentifier: Snapshot]

  /// Makes a result.
  public init(
    descriptor: FetchDescriptor<T>, fetchedSnapshots: [Snapshot],
    relatedSnapshots: [PersistentIdentifier: Snapshot] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

/// The changes of a context, for a store.
public struct DataStoreSaveChangesRequest<Snapshot: DataStoreSnapshot>: Sendable {
  /// The context that saves.
  public let editingState: EditingState
  /// New models. Their identifiers are temporary, and so are those with which other snapshots refer to them.
  public let inserted: [Snapshot]
  /// Changed models with all their values, also those of which only a relationship changed, on whichever side.
  public let updated: [Snapshot]
  /// Deleted models with their last values.
  public let deleted: [Snapshot]

  /// Makes a request.
  public init(
    editingState: EditingState, inserted: [Snapshot], updated: [Snapshot], deleted: [Snapshot]
  ) {
    self.editingState = editingState
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}

/// What a store made of a context's changes.
public struct DataStoreSaveChangesResult<Snapshot: DataStoreSnapshot>: Sendable {
  /// The store's identifier.
  public let storeIdentifier: String
  /// The permanent identifier for each temporary one.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// Models whose values the store has changed itself. Contexts take these values.
  public let snapshotsToReregister: [PersistentIdentifier: Snapshot]

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - storeIdentifier: the store's ``DataStore/identifier``.
  ///   - remappedIdentifiers: the permanent identifier for each temporary one of the inserted snapshots.
  ///   - snapshotsToReregister: models whose values the store has changed itself.
  public init(
    for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: Snapshot] = [:]
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
  }
}

/// Which models a store deletes.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// The condition; nil for all models of the class.
  public let predicate: Predicate<T>?
  /// Whether models of the classes below are deleted, too.
  public let includeSubclasses: Bool
  /// The context that asks.
  public let editingState: EditingState

  /// Makes a request.
  public init(predicate: Predicate<T>? = nil, includeSubclasses: Bool = true, editingState: EditingState) {
    self.predicate = predicate
    self.includeSubclasses = includeSubclasses
    self.editingState = editingState
  }
}
