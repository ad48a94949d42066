public import CDEManagedModel
@_spi(CDE) internal import CDEProfiling
@_spi(CDE) internal import CDEStore
internal import Dispatch
public import Foundation
@_spi(CDE) internal import CDEExecutors

/// Connects contexts and stores. The coordinator has the model, the stores of its entities, and the contexts
/// to notify of saves.
///
/// May be used from any thread.
nonisolated open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  // Guard: all mutable state is behind `state`'s mutex.

  /// The model of the coordinator's stores. It can't be changed after the coordinator was made.
  public let managedObjectModel: NSManagedObjectModel
  let modelBinding: ModelBinding
  /// The error of an invalid model; loading a store reports it.
  private let modelError: (any Error)?

  private struct State {
    var stores: [NSPersistentStore] = []
    /// The stores of each entity, and the keys of their rows.
    var holders = StoreHolders()
    var inboxes: [MergeInbox] = []
    /// Whether a store is on another machine, or was.
    var mayWaitForNetwork = false
    /// Streams that get an element after each commit to a store with a history.
    var historyReaders: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextHistoryReader = 0
    var name: String?
  }

  private let state = Lock(State())
  /// Held while a store is added, so that two stores do not get the same keys.
  private let adding = Lock(())
  let loneStore = LoneStore()
  let recentCommits = RecentCommits()
  /// Numbers the commits of contexts. Guard: the lock of `state`.
  let commitOrder = CommitOrder()

  /// Makes a coordinator for a model, which can't be changed afterwards.
  ///
  /// A mistake in the model is reported when a store is added.
  public init(managedObjectModel model: NSManagedObjectModel) {
    managedObjectModel = model
    do {
      modelBinding = try ModelBinding.of(model)
      modelError = nil
    } catch {
      // An empty model is used, so that nothing traps before the error is reported.
      modelBinding = ModelBinding.empty
      modelError = error
    }
    super.init()
    ProfileStart.fromEnvironment()
  }

  deinit {
    // IDs may outlive the coordinator. They would keep the stores open, so that no other container could migrate them.
    for store in persistentStores { try? store.handle.close() }
  }

  /// A name for the coordinator in messages of the program; nil by default.
  public var name: String? {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }

  /// The loaded stores, in the order they were added. A new object goes to the first that holds its entity and can be written,
  /// unless it is assigned to another, see ``NSManagedObjectContext/assign(_:to:)``.
  public var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

  // MARK: Stores

  /// Opens or creates a store. Several stores may hold the same entities. A store of another version of the model is migrated if both options say so,
  /// ``NSMigratePersistentStoresAutomaticallyOption`` and ``NSInferMappingModelAutomaticallyOption``.
  ///
  /// - Throws: ``ManagedObjectError``; the cause is the store's or the model's own error.
  @discardableResult
  public func addPersistentStore(
    ofType type: String, configurationName configuration: String?, at url: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    let description = NSPersistentStoreDescription()
    description.type = type
    description.configuration = configuration
    description.url = url
    // As in Core Data, only a description migrates unless it is told not to.
    description.useOptions(options ?? [:])
    return try reportingNSErrors { try addPersistentStore(description) }
  }

  /// Opens or creates the store of a description, and migrates it unless the description says not to.
  ///
  /// - Parameters:
  ///   - description: where the store is. With ``NSPersistentStoreDescription/shouldAddStoreAsynchronously`` this call returns at once.
  ///   - block: called with nil or the error, before this call returns. After loading in the background it is called on the main actor
  ///     if the caller is there, and otherwise on the queue that has loaded the store. No thread of Swift's tasks loads.
  public func addPersistentStore(
    with description: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    Self.load(description, then: block) { try self.addPersistentStore(description) }
  }

  /// Loads a store, in the background if its description says so, and calls a block with the result.
  static func load(
    _ description: NSPersistentStoreDescription,
    then block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void,
    by body: @escaping () throws -> Void
  ) {
    func failure() -> (any Error)? {
      do {
        try body()
        return nil
      } catch {
        return nsError(error)
      }
    }
    guard description.shouldAddStoreAsynchronously else { return block(description, failure()) }
    let loading = Carrier(failure)
    let handler = Carrier { block(description, $0) }
    let isOnMainActor = ContextExecutor.main().isCurrent
    // A migration may take minutes, and wait for other processes. The pool of tasks has few threads.
    DispatchQueue.global().async {
      let failure = loading.value()
      guard isOnMainActor else { return handler.value(failure) }
      Task { @MainActor in handler.value(failure) }
    }
  }

  /// The binding of the coordinator's model.
  ///
  /// - Throws: ``ManagedObjectError`` for a model with a mistake.
  func usableBinding() throws -> ModelBinding {
    guard let modelError else { return modelBinding }
    let reason = (modelError as? any CDEError)?.message ?? "\(modelError)"
    throw ManagedObjectError(.store, "The model can't be used: \(reason)", cause: modelError)
  }

  /// - Parameter place: the place among the stores; the last one for nil.
  @discardableResult
  func addPersistentStore(
    _ description: NSPersistentStoreDescription, at place: Int? = nil
  ) throws -> NSPersistentStore {
    let modelBinding = try usableBinding()
    let engine = try Self.engines.engine(for: description.type)
    LayerReports.setHandler { Diagnostics.reportOnce(about: $0, $1) }
    let opened: any Store
    let covered: Set<EntityIndex>
    do {
      covered = try modelBinding.entities(in: description.configuration)
      let opening = StoreOpening(description, modelBinding, covered)
      do { opened = try engine.open(opening) } catch let refusal as StoreError {
        guard refusal.code == .incompatibleSchema else { throw refusal }
        if let store = try engine.migratable(opening) {
          try migrate(description, store, entities: covered, after: refusal)
        } else {
          try engine.migrate(opening, after: refusal)
        }
        opened = try engine.open(opening)
      }
      if opened.mayWaitForNetwork { noteNetwork() }
    } catch let error as StoreError {
      throw Self.openingError(error, description)
    } catch let error as ModelError {
      throw ManagedObjectError(.store, error.message, cause: error)
    }
    removeMigrationLeftovers(description)
    return try take(opened, covered, description, at: place)
  }

  /// Adds a store that is open, and says so. The store is closed if that is not possible.
  func take(
    _ opened: any Store, _ covered: Set<EntityIndex>, _ description: NSPersistentStoreDescription,
    at place: Int?
  ) throws -> NSPersistentStore {
    let store: NSPersistentStore
    do {
      store = try add(opened, covered, description, at: place)
    } catch {
      try? opened.close()
      throw error
    }
    if store.handle.announcesChanges || hasHistoryReaders { observeOthers(of: store) }
    wakeHistoryReaders()
    completeSaves()
    postChange(NSAddedPersistentStoresKey, store)
    return store
  }

  /// Adds an opened store to the stores of its entities.
  private func add(
    _ opened: any Store, _ entities: Set<EntityIndex>, _ description: NSPersistentStoreDescription,
    at place: Int?
  ) throws -> NSPersistentStore {
    let roots = Set(entities.map { modelBinding.entities[$0].root.entity })
    let metadata: StoreMetadata
    if let known = opened.openedMetadata {
      metadata = known
    } else {
      do { metadata = try opened.metadata() } catch { throw ManagedObjectError.store(error) }
    }
    return try adding.withLock { _ in
      // Outside the lock of the state, which the store's writer takes.
      try requireRoom(for: opened, beside: state.withLock { $0.holders.present(in: roots) })
      return try state.withLock { state in
        guard let ordinal = state.holders.ordinal(of: opened.identifier, in: roots) else {
          throw ManagedObjectError(
            .unsupportedRequest,
            "This coordinator has had too many stores of the same entities. Make another one.")
        }
        let handle = StoreHandle(
          opened, observer: description.observer,
          announcesChanges: description.isSet(NSPersistentStoreRemoteChangeNotificationPostOptionKey),
          shift: KeyShift(ordinal: ordinal))
        if state.holders.areShared { handle.share() }
        let store = NSPersistentStore(
          handle: handle, description: description, metadata: metadata)
        store.owner = self
        OpenStores.add(store)
        insert(store, entities, at: place, into: &state)
        return store
      }
    }
  }

  private func insert(
    _ store: NSPersistentStore, _ entities: Set<EntityIndex>, at place: Int?, into state: inout State
  ) {
    state.stores.insert(store, at: min(place ?? state.stores.count, state.stores.count))
    state.holders.add(store.handle, entities, count: modelBinding.entities.count)
    state.holders.sort(by: state.stores.map(\.handle))
    loneStore.update(state.stores.map(\.handle))
  }

  /// Takes a store out of the coordinator, without closing it.
  func detach(_ store: NSPersistentStore) {
    NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
    state.withLock { state in
      state.stores.removeAll { $0 === store }
      state.holders.remove(store.handle)
      loneStore.update(state.stores.map(\.handle))
    }
    postChange(NSRemovedPersistentStoresKey, store)
  }

  /// Adds a store again that was detached and is open.
  func attach(_ store: NSPersistentStore, _ entities: Set<EntityIndex>, at place: Int?) {
    state.withLock { insert(store, entities, at: place, into: &$0) }
    postChange(NSAddedPersistentStoresKey, store)
  }

  /// Closes a store. Objects of its entities can't be read or saved afterwards.
  public func remove(_ store: NSPersistentStore) throws {
    detach(store)
    do { try store.handle.close() } catch { throw nsError(ManagedObjectError.store(error)) }
  }

  /// The loaded store at a URL; nil when there is none. Two URLs are equal if their standardised forms are.
  public func persistentStore(for url: URL) -> NSPersistentStore? {
    let wanted = url.withoutPassword.standardizedFileURL
    return persistentStores.first { $0.url?.standardizedFileURL == wanted }
  }

  /// The metadata of a store, with Core Data's keys.
  ///
  /// Reads the store. If that fails, for example because the store was removed, returns the metadata read
  /// last.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    store.metadata
  }

  // MARK: Requests of contexts

  func handle(for binding: EntityBinding) -> StoreHandle? {
    state.withLock { $0.holders.first(of: binding.index) }
  }

  func handles(for binding: EntityBinding) -> [StoreHandle] {
    state.withLock { $0.holders.all(of: binding.index) }
  }

  func handle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    state.withLock { $0.holders.holder(of: binding.index, key: key) }
  }

  func removedHandle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    state.withLock { $0.holders.removed(of: binding.index, key: key) }
  }

  func soleHolder(of entity: EntityIndex) -> StoreHandle? { state.withLock { $0.holders.sole(of: entity) } }

  /// Whether entities may be in several stores, so that each object has to be asked for its own.
  var hasSharedEntities: Bool { state.withLock { $0.holders.areShared } }

  func requiredHandle(for binding: EntityBinding) throws -> StoreHandle {
    if let handle = handle(for: binding) { return handle }
    throw missingStore(of: binding)
  }

  func missingStore(of binding: EntityBinding) -> ManagedObjectError {
    let (isEmpty, isRemoved) = state.withLock {
      ($0.stores.isEmpty, $0.holders.removed(of: binding.index, key: 0) != nil)
    }
    let text =
      if isRemoved {
        ManagedObjectError.removedStore(of: binding.name)
      } else if isEmpty {
        "No store is loaded. Call loadPersistentStores before fetching or saving, and look at the error it reports."
      } else {
        "No loaded store holds \(binding.name). Add its configuration."
      }
    return ManagedObjectError(.noStore, text, entity: binding.name)
  }

  /// The ID for a URI, or nil when no loaded store or entity matches.
  public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    guard url.scheme == "x-coredata", let host = url.host(percentEncoded: false),
      url.pathComponents.count == 3
    else { return nil }
    let key = url.pathComponents[2]
    guard key.hasPrefix("p"), let number = Int64(key.dropFirst()), number > 0,
      let binding = modelBinding.entity(named: url.pathComponents[1]),
      let handle = handles(for: binding).first(where: {
        $0.identifier.caseInsensitiveCompare(host) == .orderedSame
      }), let inHere = handle.key(number)
    else { return nil }
    return NSManagedObjectID(binding: binding, key: inHere, store: handle)
  }

  // MARK: Readers of the history

  var hasHistoryReaders: Bool { state.withLock { !$0.historyReaders.isEmpty } }

  /// Adds a stream that gets an element after each commit, own ones and those of others.
  ///
  /// - Returns: the number by which it is removed.
  func addHistoryReader(_ reader: AsyncStream<Void>.Continuation) -> Int {
    let number = state.withLock { state in
      state.nextHistoryReader += 1
      state.historyReaders[state.nextHistoryReader] = reader
      return state.nextHistoryReader
    }
    for store in persistentStores where store.handle.store.recordsHistory { observeOthers(of: store) }
    return number
  }

  func removeHistoryReader(_ number: Int) { state.withLock { $0.historyReaders[number] = nil } }

  func wakeHistoryReaders() {
    for reader in state.withLock({ Array($0.historyReaders.values) }) { reader.yield() }
  }

  // MARK: Contexts

  /// Adds the inbox of a context that is to receive other contexts' commits.
  func add(_ inbox: MergeInbox) { state.withLock { $0.inboxes.append(inbox) } }

  /// Whether a store is on another machine, or was.
  var mayWaitForNetwork: Bool { state.withLock { $0.mayWaitForNetwork } }

  /// From now on the contexts' blocks run on threads of their own.
  func noteNetwork() {
    let inboxes = state.withLock { state in
      state.mayWaitForNetwork = true
      return state.inboxes
    }
    for inbox in inboxes { inbox.executor.mayBlock = true }
  }

  func remove(_ inbox: MergeInbox) { state.withLock { $0.inboxes.removeAll { $0 === inbox } } }

  /// Whether any other context than one merges commits automatically.
  ///
  /// - Parameter source: the inbox of the one context.
  func hasRecipients(besides source: MergeInbox?) -> Bool {
    state.withLock { state in state.inboxes.contains { $0 !== source && $0.isOpen } }
  }

  /// Numbers a commit and adds it to the inboxes of the other contexts that merge automatically.
  ///
  /// The store calls this while the commit still has its writer locked. All inboxes therefore get the commits
  /// of a store in the same order. The cost grows only with the number of contexts, and no code of the
  /// application runs.
  ///
  /// - Parameters:
  ///   - source: the inbox of the context that saved; nil for a commit of another process.
  ///   - isOvertaken: see ``CommitResult``.
  func handOn(
    _ commit: inout CommittedTransaction, from source: MergeInbox?, isOvertaken: (@Sendable () -> Bool)? = nil
  ) -> CommitDelivery {
    state.withLock { state in
      commit.enter(commitOrder)
      let recipients = state.inboxes.filter { $0 !== source && $0.isOpen }
      // Asked when the recipients are known: one that opened its inbox since may lack the later commit, and is then found here.
      if !recipients.isEmpty, isOvertaken?() == true { commit.beOvertaken() }
      for inbox in recipients { inbox.append(commit) }
      return CommitDelivery(recipients: recipients)
    }
  }
}

extension NSPersistentStore {
  /// The coordinator that loaded the store. Not retained, so nil after the coordinator was freed.
  public var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    owner as? NSPersistentStoreCoordinator
  }
}
