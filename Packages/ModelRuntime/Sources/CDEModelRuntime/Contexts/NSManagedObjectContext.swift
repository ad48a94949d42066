@_spi(CDE) public import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEStore
public import Foundation

/// A set of objects from a container's stores with their unsaved changes. It has an isolation of its own.
///
/// A private context runs on its own executor, a main-queue context on the main actor. Enter it by `perform`,
/// or through a model actor that has its executor. Until a private context is entered, it belongs to its
/// creator. With `CDE_CONCURRENCY_DEBUG=1`, and always in debug builds, use from another isolation traps. The
/// message names the entity and the context.
///
/// Isolations may share the reference. ``perform(_:)``, its variants and the configuration properties may be
/// used on any isolation. All other members require the context's isolation.
nonisolated open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // Guard: all mutable state belongs to `executor`; configuration is behind `configuration`'s mutex.

  /// Which isolation a context has.
  ///
  /// Published code switches over the older spellings, so these are the cases.
  public enum ConcurrencyType: UInt, Sendable {
    /// The thread that made the context. No context can be made with it; sources name it where they switch over all types.
    @available(*, deprecated, message: "Use a private context.")
    case confinementConcurrencyType
    /// An executor of its own.
    case privateQueueConcurrencyType
    /// The main actor.
    case mainQueueConcurrencyType

    /// An executor of its own.
    public static var privateQueue: ConcurrencyType { .privateQueueConcurrencyType }
    /// The main actor.
    public static var mainQueue: ConcurrencyType { .mainQueueConcurrencyType }
  }

  /// Whether the context has an executor of its own or runs on the main actor.
  public let concurrencyType: ConcurrencyType
  /// The executor, for `perform`, which is inlined where it is called.
  // Set once more only by `init(sharingExecutorOf:)`, before the context is used.
  @usableFromInline @exclusivity(unchecked) final var _executor: ContextExecutor
  /// The executor that is the context's isolation: its blocks and its model actors run there.
  @_spi(CDE) public var executor: ContextExecutor { _executor }

  struct Configuration {
    var name: String?
    var transactionAuthor: String?
    var coordinator: NSPersistentStoreCoordinator?
    /// The parent context as the source of rows; nil if the source is the coordinator.
    var parent: (any RowSource)?
    /// The state of the stores that the context is pinned to; nil if it reads the latest one.
    var generation: StoreGeneration?
    var listeners: [CommitListener] = []
    var mergePolicy = NSMergePolicy.error
    var stalenessInterval: TimeInterval = -1
    var shouldDeleteInaccessibleFaults = true
    var propagatesDeletes = true
    /// Whether `undoRecorder` is set: readable on any isolation.
    var hasUndoManager = false
  }

  let configuration = Lock(Configuration())

  /// Whether each use is checked to be on the executor. A copy, because reading the global each time is too
  /// slow.
  @exclusivity(unchecked) var isChecked = ConcurrencyDebug.isEnabled
  /// Whether a use elsewhere is answered by the object's class, and does not end the program.
  var answersOutside = false

  // MARK: State of the executor

  // Guard: the executor, and no access runs other code before it ends. What most calls use is declared without a check
  // of exclusive access: the checks took 3 to 7 % of the instructions of saves and faults.

  @exclusivity(unchecked) private(set) var registry: ObjectRegistry!
  /// The registry as an uncounted reference; nil before the context has a coordinator.
  var home: Borrowed<ObjectRegistry>? { registry.map(Borrowed.init) }
  @exclusivity(unchecked) var materialization: Materialization?
  /// All objects inserted, updated or deleted since the last save, each once, in the order of the first
  /// change.
  @exclusivity(unchecked) var changed: [NSManagedObject] = []
  /// Finds changed objects by their values; nil before a fetch needs it.
  @exclusivity(unchecked) var pendingIndex: PendingIndex?
  /// Whether an object was inserted whose class is not that of its entity.
  @exclusivity(unchecked) var hasOtherClasses = false
  /// The content of the next "objects did change" notification.
  @exclusivity(unchecked) var pending = PendingChanges()
  @exclusivity(unchecked) var announcing = Announcing()
  @exclusivity(unchecked) var event = CurrentEvent()
  /// Objects that the next save compares with their rows although it does not change them.
  var detected: [NSManagedObject] = []
  /// Saves of this context whose parts some stores lack, with the marks that the next saves to them write.
  var unfinished: [ObjectIdentifier: [PendingSave]] = [:]
  /// The stores that `assign(_:to:)` chose for new objects, by their temporary keys.
  var assignments: [Int64: StoreHandle] = [:]
  var retainsObjects = false
  var deletions = Deletions()
  @exclusivity(unchecked) var temporaryKeys: Range<Int64> = 0..<0
  @exclusivity(unchecked) var recent = RecentFaults()
  @exclusivity(unchecked) var profile = ContextProfile()
  @exclusivity(unchecked) var fetchedPages = FetchedPages()
  @exclusivity(unchecked) var failedReads = FailedReads()
  @exclusivity(unchecked) var isSaving = false
  @exclusivity(unchecked) var writes = ContextWrites()
  @exclusivity(unchecked) var hooks = SaveHooks()
  /// Whether `awakeFromFetch` runs. Values that it sets are no changes.
  @exclusivity(unchecked) var isAwakening = false
  /// Commits of other contexts that this context has to merge. Any thread may add to it.
  let inbox: MergeInbox
  let children = ChildContexts()
  @exclusivity(unchecked) var merging = Merging()
  /// What the undo manager needs; nil without one.
  @exclusivity(unchecked) var undoRecorder: UndoRecorder?
  /// What follows the context's changes: fetched results.
  var trackers: [TrackerReference] = []
  /// The observer of reads, saves and merges: a domain.
  @_spi(CDE) public var observer: (any ContextObserver)? {
    didSet {
      registry?.isObserved = observer != nil
      if (oldValue == nil) != (observer == nil) {
        persistentStoreCoordinator?.recentCommits.count(observer == nil ? -1 : 1)
      }
    }
  }

  /// For the application's own use. The library never reads it.
  public let userInfo = NSMutableDictionary()

  /// Makes a context. Set its ``persistentStoreCoordinator`` before use, or get a context from a container.
  ///
  /// - Precondition: the type is that of a private context or of the main queue.
  public init(concurrencyType: ConcurrencyType) {
    guard concurrencyType == .privateQueue || concurrencyType == .mainQueue else {
      failPrecondition(
        "There are no contexts that are confined to a thread. Use privateQueueConcurrencyType and perform(_:)."
      )
    }
    self.concurrencyType = concurrencyType
    _executor = concurrencyType == .mainQueue ? ContextExecutor.main() : ContextExecutor()
    inbox = MergeInbox(of: _executor)
    super.init()
    registerForBlocks()
  }

  /// Makes a context, in Core Data's newer spelling: `NSManagedObjectContext(.privateQueue)`.
  public convenience init(_ concurrencyType: ConcurrencyType) {
    self.init(concurrencyType: concurrencyType)
  }

  /// Makes a context of the main queue on the main thread, and a private one elsewhere.
  ///
  /// Core Data's old initialiser makes a context that is confined to the calling thread, which there is not here. Tests use it for a
  /// context of which they only need one.
  public override convenience init() {
    self.init(concurrencyType: Thread.isMainThread ? .mainQueue : .privateQueue)
  }

  deinit {
    unregisterForBlocks()
    let coordinator = configuration.withLock { $0.coordinator }
    coordinator?.remove(inbox)
    parentSource?.leave()
    if observer != nil { coordinator?.recentCommits.count(-1) }
    guard let registry else { return }
    // Objects may outlive the context. They keep the values that were read and lose the parts that depend on
    // the context.
    registry.lastHandles =
      coordinator.map { coordinator in registry.model.entities.mapped(coordinator.handles(for:)) } ?? []
    registry.context = nil
    for object in registry.all() {
      object._overlay?.dropRelationships(keepingChanged: false)
    }
    registry.retainsAll = false
  }

  // MARK: Configuration, on any isolation

  /// A name for messages and logs; nil unless set.
  open var name: String? {
    get { configuration.withLock { $0.name } }
    set {
      configuration.withLock { $0.name = newValue }
      if concurrencyType == .privateQueue { executor.name = newValue ?? "" }
    }
  }

  /// Whether saves of other contexts of the container are merged automatically; false at first.
  ///
  /// Merges run soon after the save, on this context's isolation. Their order is the order in which the store
  /// committed the saves of all contexts.
  ///
  /// A child context merges what the parent gets: saves of the parent's other children, saves of the parent, and commits
  /// that the parent merges.
  open var automaticallyMergesChangesFromParent: Bool {
    get { inbox.isOpen }
    set {
      if !newValue { return inbox.close() }
      // Weak from here on only, because a weak reference makes counting all other references to the context
      // slower.
      inbox.open { [executor, weak self] number in
        executor.enqueue { [weak self] in self?.mergeInbox(through: number) }
      }
    }
  }

  /// The author of this context's saves, for readers of the committed transactions.
  open var transactionAuthor: String? {
    get { configuration.withLock { $0.transactionAuthor } }
    set { configuration.withLock { $0.transactionAuthor = newValue } }
  }

  /// Core Data's age after which a fault reads its row again; -1 at first, which means never.
  ///
  /// Kept and not read: there is no cache of rows, so a fault that is fired always reads the store's current row. Objects
  /// with values keep them until they are refreshed, as in Core Data.
  open var stalenessInterval: TimeInterval {
    get { configuration.withLock { $0.stalenessInterval } }
    set { configuration.withLock { $0.stalenessInterval = newValue } }
  }

  /// Whether a fault without a row counts as deleted; true at first.
  ///
  /// If true, such a fault returns defaults, and its `isDeleted` is true. If false, it returns defaults, stays a fault, and
  /// is an error of the object: no save writes the object until it is refreshed. Core Data raises an exception then.
  open var shouldDeleteInaccessibleFaults: Bool {
    get { configuration.withLock { $0.shouldDeleteInaccessibleFaults } }
    set { configuration.withLock { $0.shouldDeleteInaccessibleFaults = newValue } }
  }

  /// How saves resolve conflicts with other writers: an ``NSMergePolicy``. By default the save fails.
  ///
  /// `Any` as in Core Data.
  open var mergePolicy: Any {
    get { policy }
    set {
      guard let policy = newValue as? NSMergePolicy else {
        failPrecondition(
          "A context's mergePolicy must be an NSMergePolicy, not \(type(of: newValue)): "
            + "NSMergePolicy.mergeByPropertyObjectTrump, for instance.")
      }
      configuration.withLock { $0.mergePolicy = policy }
    }
  }

  var policy: NSMergePolicy { configuration.withLock { $0.mergePolicy } }

  /// The coordinator whose stores the context reads and writes. Set it once, before use.
  ///
  /// The coordinator of a child context is its parent's.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { configuration.withLock { $0.coordinator } }
    set {
      guard let newValue else { return }
      let isFirst = setCoordinator(newValue)
      checkPrecondition(
        isFirst || persistentStoreCoordinator === newValue,
        "A context's persistentStoreCoordinator can be set once only. Make another context for another coordinator."
      )
      if isFirst { newValue.add(inbox) }
    }
  }

  /// The context whose objects this context reads and saves to; nil if it reads and saves to the coordinator's
  /// stores. Set it once, before use, and instead of a coordinator.
  ///
  /// A child context sees the parent's unsaved changes. Its save applies its changes to the parent's objects, as unsaved
  /// changes there; the parent's own save writes them. Each read and save of the child waits for the parent's
  /// isolation. As in Core Data the child retains its parent.
  ///
  /// New objects keep their temporary IDs until the save that writes them to the store. Then their IDs become
  /// permanent in all contexts on the way.
  open var parent: NSManagedObjectContext? {
    get { parentSource?.parent }
    set {
      guard let newValue, newValue !== parent else { return }
      becomeChild(of: newValue)
    }
  }

  /// Sets the coordinator if there is none.
  ///
  /// - Returns: whether there was none.
  func setCoordinator(_ coordinator: NSPersistentStoreCoordinator) -> Bool {
    let isFirst = configuration.withLock { configuration in
      if configuration.coordinator != nil { return false }
      configuration.coordinator = coordinator
      return true
    }
    guard isFirst else { return false }
    if coordinator.mayWaitForNetwork { _executor.mayBlock = true }
    registry = ObjectRegistry(
      context: self, model: coordinator.modelBinding, loneStore: coordinator.loneStore)
    registry.retainsAll = retainsObjects
    if observer != nil {
      registry.isObserved = true
      coordinator.recentCommits.count(1)
    }
    return true
  }

  // MARK: What applications override. Swift does not let a subclass override members of extensions.

  /// Writes all changes in one transaction, or none.
  ///
  /// The steps: the objects' `willSave()` is called and changes are announced until nothing changes any more;
  /// `NSManagedObjectContextWillSave` is posted; values are validated; the store writes; the commit is
  /// delivered to the contexts that merge automatically; IDs become permanent; `didSave` is posted. Slow
  /// observers and hooks of `didSave` therefore do not delay merges in other contexts. Without changes
  /// nothing happens.
  ///
  /// Objects of several stores are written to all of them or to none. SQLite can't commit two files at once, so a process that dies
  /// between two commits leaves a record, and the stores' next opening completes the save.
  ///
  /// Writes one row for each changed object, in the order of their keys, and only the changed columns.
  ///
  /// The ``mergePolicy`` resolves two kinds of conflicts: another writer changed an object after it was read,
  /// or another object has a unique value. The save is then tried again.
  ///
  /// - Throws: ``ManagedObjectError``: hooks that change objects without end, validation failures (all of
  ///   them), conflicts that the merge policy does not resolve, store errors. `.incompleteSave` says that some of several stores
  ///   have their part; the objects of the others keep their changes. Otherwise nothing changes, except
  ///   for what a policy resolved. The same save can be tried again, or rolled back.
  open func save() throws { try reportingNSErrors { try saveChanges() } }

  /// Drops all unsaved changes. Values return to the last saved ones, new objects leave the context, deleted
  /// objects stay.
  open func rollback() { dropChanges() }

  /// Drops all changes, objects and values. Objects that other code retains belong to no context any more.
  open func reset() {
    advanceGeneration()
    dropObjects()
  }

  /// Whether the context has something to save: objects that are new, deleted or have unsaved values. In the
  /// worst case the cost grows with the number of objects touched since the last save.
  open var hasChanges: Bool { hasUnsavedObjects }

  /// The objects that the next save inserts.
  open var insertedObjects: Set<NSManagedObject> { objectsToInsert }

  /// Saved objects with unsaved changes.
  open var updatedObjects: Set<NSManagedObject> { objectsToUpdate }

  /// The objects that the next save deletes.
  open var deletedObjects: Set<NSManagedObject> { objectsToDelete }

  /// All registered objects. The cost grows with their number.
  open var registeredObjects: Set<NSManagedObject> { allObjects }

  /// The object registered for an ID, or nil. IDs of other stores and models give nil. Never queries the
  /// store.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { known(objectID) }

  /// The fetch that subclasses in rewritten sources override as `fetch(_:)`.
  open func _cdFetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    try request.untypedResults(in: self)
  }

  /// The number of objects that subclasses in rewritten sources override as `count(for:)`.
  open func _cdCount(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    try typedCount(request)
  }

  /// Runs a block on the calling thread while nothing else runs on the context. Runs it inline when the
  /// caller is already on the context.
  ///
  /// - Precondition: contexts do not wait for each other in a circle. A circle traps with a message that
  ///   names the contexts.
  open func performAndWait(_ block: () -> Void) { runAndWait(block) }

  /// Inserts an object made without a context. An object of this context that the next save would delete is kept; what the delete
  /// rules did to related objects stays. Otherwise does nothing if the object is already in this context.
  open func insert(_ object: NSManagedObject) { add(object) }

  /// Marks an object to be deleted by the next save, and applies the delete rules of its relationships.
  ///
  /// An object that was never saved leaves the context at once. The rules are applied to related objects now:
  /// `nullify` removes the reference, `cascade` marks the objects too. The save checks `deny`.
  ///
  /// - Precondition: the object belongs to this context.
  open func delete(_ object: NSManagedObject) { markDeleted(object) }

  /// Posts the changes since the last announcement, if there are any. The context calls this after each job
  /// that changed objects.
  open func processPendingChanges() {
    preconditionIsolated("processPendingChanges()")
    announcePending()
  }

  /// The manager that gets an action for each change of this context's objects; nil at first, and then nothing is recorded.
  ///
  /// Core Data gives the view context one on macOS; here no context has one until it is set. All changes that the
  /// context announces are recorded: insertions, deletions, values and relationships, also those that a child context
  /// saves to this one. A save drops no action. A rollback and a reset drop all of this context.
  ///
  /// Setting nil is possible on any isolation while the context has no manager. Each changed object is retained
  /// until its actions are dropped, and its former values with it. Set
  /// ``UndoManager/levelsOfUndo`` to limit this.
  open var undoManager: UndoManager? {
    get { configuration.withLock(\.hasUndoManager) ? currentUndoManager : nil }
    set {
      if newValue == nil, !configuration.withLock(\.hasUndoManager) { return }
      setUndoManager(newValue)
    }
  }

  /// Announces the changes, and undoes the last group of actions of the ``undoManager``.
  ///
  /// Values, relationships, insertions and deletions return to what they were, in memory. The next save writes
  /// that. An object whose deletion was saved is inserted again under its former key, or with a temporary ID in a
  /// child context. An object that another writer deleted stays deleted. A reference without an inverse stays nil if its
  /// destination's deletion was saved, because that save cleared it. Each object is told by its
  /// `awake(fromSnapshotEvents:)`. Does nothing without a manager.
  open func undo() {
    preconditionIsolated("undo()")
    processPendingChanges()
    undoManager?.undo()
  }

  /// Announces the changes, and redoes the last group that was undone. Does nothing without a manager.
  open func redo() {
    preconditionIsolated("redo()")
    processPendingChanges()
    undoManager?.redo()
  }

  /// The object with an ID: the registered one, or a fault made without a query.
  ///
  /// A fault whose row does not exist returns defaults. Use ``existingObject(with:)`` when the row may not
  /// exist. An ID of another store, or a temporary ID of another context, can't name a row here. Its object
  /// is gone: it returns defaults, its `isDeleted` is true, and it is never saved. Core Data raises an
  /// exception when such a fault is read.
  ///
  /// - Precondition: the context's model has an entity with the name that the ID contains.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    preconditionIsolated("object(with:)")
    return resident(objectID) ?? lookUp(objectID)
  }

  /// The object with an ID. Its row is read.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.objectNotFound` when there is no such row, also for IDs of
  ///   other stores and models.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try reportingNSErrors { try storedObject(with: objectID) }
  }

  /// Makes an object take the store's values.
  ///
  /// - Parameters:
  ///   - object: An object of this context. Other objects, and objects that were never saved, do not change.
  ///   - flag: false makes the object a fault at once and drops unsaved values; true reads the row
  ///     now and keeps unsaved values.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refreshObject(object, mergeChanges: flag)
  }

  /// Refreshes every registered object that was saved before, and keeps unsaved values.
  open func refreshAllObjects() { refreshObjects() }

  /// Gives objects permanent IDs without saving them.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try reportingNSErrors { try makePermanentIDs(for: objects) }
  }

  /// Carries out a request: a fetch, a fetch in the background, or a batch request in the store, in one transaction.
  ///
  /// An ``NSAsynchronousFetchRequest`` returns at once. After a batch request contexts, this one included, do not
  /// see the changes until the object IDs of the result are merged. No
  /// notification is posted before that. The IDs carry the changed properties. If a domain observes
  /// precisely, the merge wakes only the readers of these properties.
  ///
  /// - Returns: an ``NSBatchUpdateResult``, ``NSBatchDeleteResult`` or ``NSBatchInsertResult``; for fetches an
  ///   ``NSAsynchronousFetchResult``.
  /// - Throws: ``ManagedObjectError``: unknown entities or attributes, values of another type, required values
  ///   that are missing, violated constraints and delete rules, store errors. Nothing is written then.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try reportingNSErrors { try run(request) }
  }

  /// Merges another context's save, given by its didSave notification.
  ///
  /// Registered objects take the saved values without a query. Unsaved changes stay. Deleted objects leave
  /// the context, and their `isDeleted` stays true. New objects are named as inserted, see
  /// `NSManagedObjectContextObjectsDidChange`. If this context merges automatically, it first merges the
  /// saves that were committed earlier.
  open func mergeChanges(fromContextDidSave notification: Notification) { mergeCommit(named: notification) }

  /// Runs a block on the context's isolation, later and in the order of the calls. The block never runs
  /// inline. Returns at once.
  ///
  /// The block belongs to no actor, even if its caller does. It may capture values that its caller gives
  /// away.
  ///
  /// At the top level of `main.swift` the compiler selects overloads as in a synchronous function. It takes
  /// `await context.perform { … }` for this call if the block neither throws nor returns anything, and warns
  /// that there is nothing to await. In that case write the statement in an `async` function.
  open func perform(_ block: sending @escaping () -> Void) { enqueue(Carrier(block)) }
}
