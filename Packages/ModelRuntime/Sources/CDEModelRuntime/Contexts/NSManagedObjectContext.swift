@_spi(CDE) public import CDEExecutors
internal import CDEManagedModel
internal import CDEStore
public import Foundation
internal import Synchronization

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
  public enum ConcurrencyType: Sendable {
    /// An executor of its own.
    case privateQueue
    /// The main actor.
    case mainQueue

    /// Core Data's older spelling.
    public static var privateQueueConcurrencyType: ConcurrencyType { .privateQueue }
    /// Core Data's older spelling of `mainQueue`.
    public static var mainQueueConcurrencyType: ConcurrencyType { .mainQueue }
  }

  /// Whether the context has an executor of its own or runs on the main actor.
  public let concurrencyType: ConcurrencyType
  /// The executor, for `perform`, which is inlined where it is called.
  @usableFromInline let _executor: ContextExecutor
  /// The executor that is the context's isolation: its blocks and its model actors run there.
  @_spi(CDE) public var executor: ContextExecutor { _executor }

  struct Configuration {
    var name: String?
    var transactionAuthor: String?
    var coordinator: NSPersistentStoreCoordinator?
    var listeners: [CommitListener] = []
    var mergePolicy = NSMergePolicy.error
  }

  let configuration = Lock(Configuration())

  /// Whether each use is checked to be on the executor. A copy, because reading the global each time is too
  /// slow.
  let isChecked = ConcurrencyDebug.isEnabled

  // MARK: State of the executor

  private(set) var registry: ObjectRegistry!
  /// The registry as an uncounted reference; nil before the context has a coordinator.
  var home: Borrowed<ObjectRegistry>? { registry.map(Borrowed.init) }
  // Set and taken within one call, once for each object made. A check at run time is too slow here.
  @exclusivity(unchecked) var materialization: Materialization?
  /// All objects inserted, updated or deleted since the last save, each once, in the order of the first
  /// change.
  // Appended to for each new object. A check at run time is too slow here, too.
  @exclusivity(unchecked) var changed: [NSManagedObject] = []
  /// The content of the next "objects did change" notification.
  // Read after each block, so without a check at run time.
  @exclusivity(unchecked) var pending = PendingChanges()
  @exclusivity(unchecked) var announcing = Announcing()
  @exclusivity(unchecked) var temporaryKeys: Range<Int64> = 0..<0
  var recent = RecentFaults()
  var failedReads = FailedReads()
  @exclusivity(unchecked) var isSaving = false
  @exclusivity(unchecked) var hooks = SaveHooks()
  /// Whether `awakeFromFetch` runs. Values that it sets are no changes.
  @exclusivity(unchecked) var isAwakening = false
  /// Commits of other contexts that this context has to merge. Any thread may add to it.
  let inbox = MergeInbox()
  var merging = Merging()
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
  public init(concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    _executor = concurrencyType == .mainQueue ? ContextExecutor.main() : ContextExecutor()
    super.init()
  }

  /// Makes a context, in Core Data's newer spelling: `NSManagedObjectContext(.privateQueue)`.
  public convenience init(_ concurrencyType: ConcurrencyType) {
    self.init(concurrencyType: concurrencyType)
  }

  deinit {
    let coordinator = configuration.withLock { $0.coordinator }
    coordinator?.remove(inbox)
    if observer != nil { coordinator?.recentCommits.count(-1) }
    guard let registry else { return }
    // Objects may outlive the context. They keep the values that were read and lose the parts that depend on
    // the context.
    registry.lastHandles =
      coordinator.map { coordinator in registry.model.entities.map(coordinator.handle(for:)) } ?? []
    registry.context = nil
    for object in registry.all() {
      object._overlay?.dropRelationships(keepingChanged: false)
    }
  }

  // MARK: Configuration, on any isolation

  /// A name for messages and logs; nil unless set.
  public var name: String? {
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
  public var automaticallyMergesChangesFromParent: Bool {
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
  public var transactionAuthor: String? {
    get { configuration.withLock { $0.transactionAuthor } }
    set { configuration.withLock { $0.transactionAuthor = newValue } }
  }

  /// How saves resolve conflicts with other writers: an ``NSMergePolicy``. By default the save fails.
  ///
  /// `Any` as in Core Data.
  public var mergePolicy: Any {
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
  public var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { configuration.withLock { $0.coordinator } }
    set {
      guard let newValue else { return }
      let isFirst = configuration.withLock { configuration in
        defer { configuration.coordinator = newValue }
        return configuration.coordinator == nil
      }
      checkPrecondition(
        isFirst || persistentStoreCoordinator === newValue,
        "A context's persistentStoreCoordinator can be set once only. Make another context for another coordinator."
      )
      if isFirst {
        registry = ObjectRegistry(
          context: self, model: newValue.modelBinding, loneStore: newValue.loneStore)
        if observer != nil {
          registry.isObserved = true
          newValue.recentCommits.count(1)
        }
        newValue.add(inbox)
      }
    }
  }

  var modelBinding: ModelBinding? { registry?.model }

  /// The coordinator, or an error if there is none.
  func coordinator() throws -> NSPersistentStoreCoordinator {
    if let coordinator = persistentStoreCoordinator { return coordinator }
    throw ManagedObjectError(
      .noStore, "The context has no persistentStoreCoordinator. Take it from a container, or set one.")
  }

  /// The source of the context's rows, or an error if there is none.
  func source() throws -> any RowSource { try coordinator() }

  func storeHandle(for binding: EntityBinding) -> StoreHandle? {
    persistentStoreCoordinator?.handle(for: binding)
  }

  // MARK: Isolation

  /// Traps when the caller is not on the context's isolation.
  @inline(__always)
  func preconditionIsolated(_ what: @autoclosure () -> String) {
    if isChecked { checkIsolation(what) }
  }

  @inline(never)
  private func checkIsolation(_ what: () -> String) {
    // Until a private context is entered, it belongs to its creator.
    if concurrencyType == .privateQueue, !executor.wasEntered { return }
    executor.preconditionCurrent(
      "\(what()) was used outside its context\(name.map { " \"\($0)\"" } ?? ""). Use it inside perform { }, performAndWait { } "
        + "or the model actor that owns the context\(concurrencyType == .mainQueue ? "; this one belongs to the main actor" : "")."
    )
  }

  // MARK: Making objects

  struct Materialization {
    var binding: EntityBinding
    var batch: RowBatch
    var row: Int32
    var key: Int64
    var flags: NSManagedObject.Flags
  }

  /// The row of the object being initialised; nil when the object is new.
  func takeMaterialization(of entity: NSEntityDescription) -> Materialization? {
    // An initialiser of a subclass may make other objects before this one.
    guard let row = materialization, row.binding.description === entity else { return nil }
    materialization = nil
    return row
  }

  var baseFlags: NSManagedObject.Flags { isChecked ? .checked : [] }

  func materialize(
    _ binding: EntityBinding, _ type: NSManagedObject.Type, key: Int64, batch: RowBatch, row: Int32,
    flags: NSManagedObject.Flags
  ) -> NSManagedObject {
    materialization = Materialization(binding: binding, batch: batch, row: row, key: key, flags: flags)
    let object = type.init(entity: binding.description, insertInto: self)
    checkPrecondition(
      materialization == nil,
      "\(type).init(entity:insertInto:) must hand its entity and its context to super unchanged: it is called for fetched objects "
        + "as well as for new ones.")
    return object
  }

  /// The object for a row: the registered one, or a fault.
  func object(entity: Int, key: Int64) -> NSManagedObject {
    let binding = registry.model.entities[entity]
    if let known = registry.object(root: binding.root, key: key) { return known }
    let made = materialize(
      binding, binding.objectClass, key: key, batch: binding.defaults, row: 0,
      flags: baseFlags.union(.fault))
    registry.register(made)
    recent.keep(made)
    return made
  }

  func nextTemporaryKey() -> Int64 {
    if temporaryKeys.isEmpty {
      let block = Self.temporaryKeyBlocks.wrappingAdd(1, ordering: .relaxed).newValue
      temporaryKeys = -(block * 4096)..<(-(block - 1) * 4096)
    }
    defer { temporaryKeys = temporaryKeys.lowerBound..<(temporaryKeys.upperBound - 1) }
    return temporaryKeys.upperBound - 1
  }

  // Unique in the process, so that temporary IDs of different contexts differ.
  private static let temporaryKeyBlocks = Atomic<Int64>(0)
}

/// Retains the last faults made for a while. Without it, a loop over to-one relationships would make and free
/// the same object repeatedly.
struct RecentFaults {
  private var ring: [NSManagedObject?] = []
  private var next = 0
  static let capacity = 1024

  mutating func keep(_ object: NSManagedObject) {
    if ring.count < Self.capacity {
      ring.append(object)
    } else {
      ring[next] = object
      next = (next + 1) % Self.capacity
    }
  }

  mutating func clear() {
    ring = []
    next = 0
  }
}
