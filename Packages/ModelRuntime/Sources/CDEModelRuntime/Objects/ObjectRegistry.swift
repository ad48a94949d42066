internal import CDEManagedModel
internal import CDERuntimeABI
internal import CDEStore
@_spi(CDE) internal import CDEExecutors

/// A context's identity table: the object of each row.
///
/// Entries do not own their objects. An object removes itself in its deinit, which may run on any thread. A
/// look-up treats an object whose deinit has begun as absent, and its entry is overwritten.
///
/// States: empty (owned by its context alone) -> populated (also retains itself, so that objects may outlive
/// the context) -> orphaned (the context was freed) -> freed with its last object.
@usableFromInline
final class ObjectRegistry: @unchecked Sendable {
  // Guard: `lock` protects the table. The context's executor protects `context`, `isObserved`, `vanished`,
  // the fields of key observers and
  // all properties named `last` or `recent`.
  @exclusivity(unchecked) unowned(unsafe) var context: (any ObjectContext)?
  /// Whether a domain observes tracked reads. A copy of the context's property, because accessors reach it
  /// with one load.
  @usableFromInline @exclusivity(unchecked) var isObserved = false
  /// Whether keys of an object were ever observed.
  @exclusivity(unchecked) var hasKeyObservers = false
  /// Relationships that were changed, and whose observers are told when both sides are.
  @exclusivity(unchecked) var keyChanges: [(object: NSManagedObject, slot: SlotIndex)] = []
  /// All registered objects, if the context is to retain them. On the context's executor.
  @exclusivity(unchecked) private var retained: [ObjectIdentifier: NSManagedObject]?
  /// The number of objects that have lost their rows. To-many members that were filtered at a lower count may
  /// contain such objects.
  var vanished = 0
  /// The stores when the context was freed. Objects that outlive the context find the stores of their rows
  /// here.
  var lastHandles: IndexedArray<EntityIndex, [StoreHandle]> = []
  private let lock = Lock(())
  @exclusivity(unchecked) private var table: IdentityTable
  let model: ModelBinding
  let probe = TrackingProbe()
  @exclusivity(unchecked) var recentIDs = RecentIDs()
  private let loneStore: LoneStore

  init(context: any ObjectContext, model: ModelBinding, loneStore: LoneStore) {
    self.context = context
    self.model = model
    self.loneStore = loneStore
    table = IdentityTable(roots: model.entities.count)
  }

  // The binding looked up last, by its description and by its class, because most objects of one entity are
  // consecutive. Unretained, as every binding that is returned here, because the model retains them.
  @exclusivity(unchecked) private var lastDescribed: Borrowed<EntityBinding>?
  @exclusivity(unchecked) private var lastOfClass: Borrowed<EntityBinding>?
  @exclusivity(unchecked) private var lastClass: NSManagedObject.Type?

  /// The model's binding of an entity. On the context's executor.
  func binding(for description: NSEntityDescription) -> Borrowed<EntityBinding>? {
    if let lastDescribed,
      lastDescribed.with({ $0.description === description })
    {
      return lastDescribed
    }
    lastDescribed = model.binding(for: description).map(Borrowed.init)
    return lastDescribed
  }

  /// The model's binding of the entity whose objects are of a class. On the context's executor.
  func binding(for type: NSManagedObject.Type) -> Borrowed<EntityBinding>? {
    if type == lastClass { return lastOfClass }
    guard let found = model.binding(for: type).map(Borrowed.init) else { return nil }
    lastClass = type
    lastOfClass = found
    return found
  }

  // The store looked up last, because most objects of one entity are consecutive.
  @exclusivity(unchecked) private var lastStore: (entity: EntityIndex, handle: StoreHandle)?

  /// The store that holds a row; the first one of the entity for a key that is not above zero.
  func storeHandle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    if let context {
      // While it is the only store, it is the entity's store.
      if let lastStore, lastStore.entity == binding.index, loneStore.isThis(lastStore.handle),
        key <= 0 || lastStore.handle.holds(key)
      {
        return lastStore.handle
      }
      let found = context.storeHandle(for: binding, key: key)
      lastStore = found.map { (binding.index, $0) }
      return found
    }
    guard binding.index < lastHandles.endIndex else { return nil }
    return lastHandles[binding.index].first { key <= 0 || $0.holds(key) }
  }

  /// The store that the ID of a row names: the one that has it, or had it last.
  func identityHandle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    storeHandle(for: binding, key: key) ?? context?.removedHandle(for: binding, key: key)
  }

  /// Whether an ID certainly names a row of this registry's model and of the only loaded store. False if the
  /// check would need more work.
  @inline(__always)
  func isAtHome(_ id: NSManagedObjectID) -> Bool {
    !id.isTemporaryID && id.binding.model === model && id.store.map(loneStore.isThis) == true
  }

  /// The object that an ID was made for, while it is registered in its home.
  ///
  /// Needs neither a search in the table nor the lock, because the ID has its object's address and keeps that
  /// memory.
  @inline(__always)
  static func object(of id: NSManagedObjectID, in home: Borrowed<ObjectRegistry>) -> NSManagedObject? {
    guard id.home == home.address, let resident = id.resident else { return nil }
    if let follower = id.follower { cde_prefetch(follower) }
    guard let retained = tryRetain(resident) else { return nil }
    let object = Borrowed<NSManagedObject>(at: retained)
    // The object may have left the registry, or been saved with another ID.
    if object.with({ $0._home?.address == id.home && $0._key == id.key }) { return object.takeOwnership() }
    object.release()
    return nil
  }

  /// The registered object for a row, or nil.
  func object(root: RootIndex, key: Int64) -> NSManagedObject? {
    lock.withLock { _ in
      table.bucket(of: root, key).flatMap { table[$0].retained }
    }?.takeOwnership()
  }

  /// Whether an object is registered and has its row. Reading the row again is then unnecessary.
  ///
  /// Retains nothing. An object whose deinit waits for the lock counts as well. The caller may then get a new
  /// fault for the row, which reads the row itself.
  func realized(root: RootIndex, key: Int64) -> Bool {
    lock.withLock { _ in
      guard let bucket = table.bucket(of: root, key) else { return false }
      return table.isRealized(at: bucket)
    }
  }

  func contains(root: RootIndex, key: Int64) -> Bool {
    lock.withLock { _ in table.bucket(of: root, key) != nil }
  }

  /// Whether the registry retains its objects, and with them itself.
  var retainsAll: Bool {
    get { retained != nil }
    set {
      if newValue == (retained != nil) { return }
      let former = retained
      retained = newValue ? Dictionary(all().map { (ObjectIdentifier($0), $0) }) { $1 } : nil
      withExtendedLifetime(former) {}
    }
  }

  /// Releases an object that leaves the context.
  func release(_ object: NSManagedObject) { retained?[ObjectIdentifier(object)] = nil }

  func register(_ object: NSManagedObject) {
    retained?[ObjectIdentifier(object)] = object
    let wasEmpty = lock.withLock { _ in
      table.insert(object)
      table.attached += 1
      return table.attached == 1
    }
    if wasEmpty { keepAlive() }
  }

  /// Looks up many rows at once.
  ///
  /// - Returns: for each key the object or nil; an empty array when no object of the tree is registered.
  func objects(root: RootIndex, keys: Range<Int>, key: (Int) -> Int64) -> [NSManagedObject?] {
    lock.withLock { _ -> Found in
      if table.live(of: root) == 0 { return Found() }
      var found = Found()
      found.objects.reserveCapacity(keys.count)
      for position in keys {
        found.objects.append(
          table.bucket(of: root, key(position)).flatMap { table[$0].retained?.takeOwnership() })
      }
      return found
    }.objects
  }

  /// Carries objects out of the locked region.
  private struct Found: @unchecked Sendable {
    // Guard: passed only to the caller, which is on the context's executor.
    var objects: [NSManagedObject?] = []
  }

  func register(_ objects: ArraySlice<NSManagedObject>) {
    if objects.isEmpty { return }
    if retained != nil { for object in objects { retained?[ObjectIdentifier(object)] = object } }
    let wasEmpty = objects.withBorrowed { objects in
      lock.withLock { _ in
        let wasEmpty = table.attached == 0
        table.reserve(objects.count)
        for object in objects { object.with { table.insert($0) } }
        table.attached += objects.count
        return wasEmpty
      }
    }
    if wasEmpty { keepAlive() }
  }

  /// The number of registrations so far. While it is unchanged, the registry has no new objects.
  var registrations: Int { lock.withLock { _ in table.registrations } }

  func unregister(_ object: NSManagedObject) {
    let isEmpty = lock.withLock { _ in
      table.remove(object)
      table.attached -= 1
      return table.attached == 0
    }
    if isEmpty { letGo() }
  }

  /// Gives saved objects their permanent keys, unless they already have one. Objects that were saved to a parent
  /// keep their keys, and their places in the table.
  func rekey(_ objects: [NSManagedObject], key: (Int) -> Int64) {
    lock.withLock { _ in
      // All objects leave the table first, so the table only has to move entries of other objects.
      var coming = 0
      var index = -1
      objects[...].forEachBorrowed { object in
        index += 1
        guard object.hasTemporaryKey, object._key != key(index) else { return }
        table.remove(object)
        coming += 1
      }
      if coming == 0 { return }
      table.makeRoom(for: coming)
      index = -1
      objects[...].forEachBorrowed { object in
        index += 1
        guard object.hasTemporaryKey, object._key != key(index) else { return }
        object._key = key(index)
        table.insert(object)
      }
    }
    // Outside the lock, because an ID may hold the last reference to an object.
    objects[...].forEachBorrowed { object in
      if let identity = object._identity, identity.key != object._key { object._identity = nil }
    }
  }

  /// Makes room in one step for objects that several calls will register.
  func reserve(_ additional: Int) { lock.withLock { _ in table.reserve(additional) } }

  /// All living objects, retained.
  func all() -> [NSManagedObject] {
    var found: [Borrowed<NSManagedObject>] = []
    lock.withLock { _ in
      found.reserveCapacity(table.live)
      table.forEachEntry { if let object = $0.retained { found.append(object) } }
    }
    return found.map { $0.takeOwnership() }
  }

  var count: Int { lock.withLock { _ in table.live } }

  /// The number of registered objects of one inheritance tree.
  func count(root: RootIndex) -> Int { lock.withLock { _ in table.live(of: root) } }

  private func keepAlive() { Borrowed(self).retain() }

  private func letGo() { Borrowed(self).release() }
}

extension ArraySlice<NSManagedObject> {
  /// The number of objects that a save inserts.
  var newCount: Int {
    withBorrowed { objects in objects.count { $0.with { $0.unsavedChange == .insertion } } }
  }
}
