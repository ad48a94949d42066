import CDESwiftData
import Foundation
import Testing

@Suite("The interface of stores of an application's own")
struct StoreInterfaceTests {
  private func areMembers<S: DataStore & SendableMetatype, T: PersistentModel>(
    of type: S.Type, _ model: T.Type
  ) {
    let _: KeyPath<S, S.Configuration> = \S.configuration
    let _: KeyPath<S, String> = \S.identifier
    let _: KeyPath<S, Schema> = \S.schema
    let _: (S.Configuration, (any SchemaMigrationPlan.Type)?) throws -> S = S.init(_:migrationPlan:)
    let _: (S) -> () throws -> Void = S.erase
    let _: (S) -> (DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, S.Snapshot> = S.fetch(_:)
    let _: (S) -> (DataStoreFetchRequest<T>) throws -> Int = S.fetchCount(_:)
    let _: (S) -> (DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] = S.fetchIdentifiers(_:)
    let _: (S) -> (DataStoreSaveChangesRequest<S.Snapshot>) throws -> DataStoreSaveChangesResult<S.Snapshot> =
      S.save(_:)
    let _: (S) -> (EditingState) -> Void = S.initializeState(for:)
    let _: (S) -> (EditingState) -> Void = S.invalidateState(for:)
    let _: (S) -> ([PersistentIdentifier], EditingState) throws -> [PersistentIdentifier: S.Snapshot] =
      S.cachedSnapshots(for:editingState:)
  }

  private func areBatching<S: DataStoreBatching & SendableMetatype, T: PersistentModel>(
    _ type: S.Type, _ model: T.Type
  ) {
    let _: (S) -> (DataStoreBatchDeleteRequest<T>) throws -> Void = S.delete(_:)
  }

  private func areMembers<C: DataStoreConfiguration & SendableMetatype>(of type: C.Type) -> C.Store.Type
  where C.Store.Configuration == C {
    isHashable(C.self)
    let _: KeyPath<C, String> = \C.name
    let _: WritableKeyPath<C, Schema?> = \C.schema
    let _: (C) -> () throws -> Void = C.validate
    return C.Store.self
  }

  private func areMembers<S: DataStoreSnapshot>(of type: S.Type) {
    isCodable(S.self)
    isSendable(S.self)
    let _: KeyPath<S, PersistentIdentifier> = \S.persistentIdentifier
    let _: (any BackingData, inout [PersistentIdentifier: any BackingData]) -> S =
      S.init(from:relatedBackingDatas:)
    let _: (S) -> (PersistentIdentifier, [PersistentIdentifier: PersistentIdentifier]?) -> S =
      S.copy(persistentIdentifier:remappedIdentifiers:)
  }

  private func isSnapshotValue<T: DataStoreSnapshotValue>(_ type: T.Type) {
    isCodable(T.self)
    isSendable(T.self)
  }

  @Test("A store has a configuration, an identifier and a schema, and answers requests")
  func stores() throws {
    areMembers(of: JSONStore.self, Journey.self)
    areMembers(of: DefaultStore.self, Journey.self)
    areBatching(DefaultStore.self, Journey.self)
    #expect(areMembers(of: JSONStoreConfiguration.self) == JSONStore.self)
    #expect(areMembers(of: ModelConfiguration.self) == DefaultStore.self)
    areMembers(of: DefaultSnapshot.self)
    isSnapshotValue(Int.self)
    let _: any DataStoreSnapshotValue = "text"
    let errors: [DataStoreError] = [
      DataStoreError.invalidPredicate, DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort,
      DataStoreError.unsupportedFeature,
    ]
    let thrown: any Error = errors[0]
    #expect(thrown as? DataStoreError == .invalidPredicate && Set(errors).count == 4)
    let state: EditingState = ModelContext(try .inMemory(Journey.self)).editingState
    let _: KeyPath<EditingState, UUID> = \EditingState.id
    let _: KeyPath<EditingState, String?> = \EditingState.author
    isHashable(EditingState.self)
    isSendable(EditingState.self)
    #expect(state.author == nil)
  }

  @Test("Requests and results are made of their parts")
  func requests() throws {
    let state = ModelContext(try .inMemory(Journey.self)).editingState
    let _: (FetchDescriptor<Journey>, EditingState) -> DataStoreFetchRequest<Journey> =
      DataStoreFetchRequest.init(descriptor:editingState:)
    let _: KeyPath<DataStoreFetchRequest<Journey>, FetchDescriptor<Journey>> =
      \DataStoreFetchRequest<Journey>.descriptor
    let _: KeyPath<DataStoreFetchRequest<Journey>, EditingState> =
      \DataStoreFetchRequest<Journey>.editingState
    typealias Found = DataStoreFetchResult<Journey, DefaultSnapshot>
    let _:
      (FetchDescriptor<Journey>, [DefaultSnapshot], [PersistentIdentifier: DefaultSnapshot]) ->
        DataStoreFetchResult<
          Journey, DefaultSnapshot
        > =
        DataStoreFetchResult.init(descriptor:fetchedSnapshots:relatedSnapshots:)
    let _: KeyPath<Found, FetchDescriptor<Journey>> =
      \DataStoreFetchResult<Journey, DefaultSnapshot>.descriptor
    let _: KeyPath<Found, [DefaultSnapshot]> =
      \DataStoreFetchResult<Journey, DefaultSnapshot>.fetchedSnapshots
    let _: KeyPath<Found, [PersistentIdentifier: DefaultSnapshot]> =
      \DataStoreFetchResult<Journey, DefaultSnapshot>.relatedSnapshots
    typealias Changes = DataStoreSaveChangesRequest<DefaultSnapshot>
    let _:
      (EditingState, [DefaultSnapshot], [DefaultSnapshot], [DefaultSnapshot]) -> DataStoreSaveChangesRequest<
        DefaultSnapshot
      > =
        DataStoreSaveChangesRequest.init(editingState:inserted:updated:deleted:)
    let _: KeyPath<Changes, EditingState> = \DataStoreSaveChangesRequest<DefaultSnapshot>.editingState
    let _: KeyPath<Changes, [DefaultSnapshot]> = \DataStoreSaveChangesRequest<DefaultSnapshot>.inserted
    let _: KeyPath<Changes, [DefaultSnapshot]> = \DataStoreSaveChangesRequest<DefaultSnapshot>.updated
    let _: KeyPath<Changes, [DefaultSnapshot]> = \DataStoreSaveChangesRequest<DefaultSnapshot>.deleted
    typealias Saved = DataStoreSaveChangesResult<DefaultSnapshot>
    let _:
      (String, [PersistentIdentifier: PersistentIdentifier], [PersistentIdentifier: DefaultSnapshot]) ->
        DataStoreSaveChangesResult<DefaultSnapshot> =
        DataStoreSaveChangesResult.init(for:remappedIdentifiers:snapshotsToReregister:)
    let _: KeyPath<Saved, String> = \DataStoreSaveChangesResult<DefaultSnapshot>.storeIdentifier
    let _: KeyPath<Saved, [PersistentIdentifier: PersistentIdentifier]> =
      \DataStoreSaveChangesResult<DefaultSnapshot>.remappedIdentifiers
    let _: KeyPath<Saved, [PersistentIdentifier: DefaultSnapshot]> =
      \DataStoreSaveChangesResult<DefaultSnapshot>.snapshotsToReregister
    let _: (Predicate<Journey>?, Bool, EditingState) -> DataStoreBatchDeleteRequest<Journey> =
      DataStoreBatchDeleteRequest.init(predicate:includeSubclasses:editingState:)
    let _: KeyPath<DataStoreBatchDeleteRequest<Journey>, Predicate<Journey>?> =
      \DataStoreBatchDeleteRequest<Journey>.predicate
    let _: KeyPath<DataStoreBatchDeleteRequest<Journey>, Bool> =
      \DataStoreBatchDeleteRequest<Journey>.includeSubclasses
    let _: KeyPath<DataStoreBatchDeleteRequest<Journey>, EditingState> =
      \DataStoreBatchDeleteRequest<Journey>.editingState

    let request = DataStoreFetchRequest(descriptor: FetchDescriptor<Journey>(), editingState: state)
    let result = DataStoreFetchResult<Journey, DefaultSnapshot>(
      descriptor: request.descriptor, fetchedSnapshots: [])
    #expect(result.relatedSnapshots.isEmpty && request.editingState == state)
    let saved = DataStoreSaveChangesResult<DefaultSnapshot>(for: "a")
    #expect(
      saved.storeIdentifier == "a" && saved.remappedIdentifiers.isEmpty && saved.snapshotsToReregister.isEmpty
    )
  }
}
