internal import CDEManagedModel
internal import CDERuntimeABI
internal import CDEStore
@_spi(CDE) internal import CDEExecutors

/// A context's identity table: which object stands for which row.
///
/// Entries do not own their objects. An object removes itself in its deinit, which may run on any
/// thread; a look-up that meets an object whose deinit has begun treats it as absent and its entry
/// is overwritten.
///
/// States: empty (owned by its context alone) -> populated (also keeps itself alive, so that objects may
/// outlive the context) -> orphaned (context gone) -> freed with its last object.
@usableFromInline
final class ObjectRegistry: @unchecked Sendable {
  // Guard: the table by `lock`; `context`, `isObserved`, `vanished` and everything that
  // is named `last` or `recent` by the context's executor.
  @exclusivity(unchecked) unowned(unsafe) var context: (any ObjectContext)?
  /// Whether a domain observes tracked reads. A copy of the context's property, one load away from the
  /// accessors.
  @usableFromInline @exclusivity(unchecked) var isObserved = false
  /// How many objects lost their rows so far. To-many members cleared at a lower count may hold such objects.
  var vanished = 0
  /// The stores at the end of the context, so that objects that outlive it still know the stores of their
  /// rows.
  var lastHandles: [StoreHandle?] = []
  private let lock = Lock(())
  @exclusivity(unchecked) private var table: Table
  let model: ModelBinding
  let probe = TrackingProbe.shared
  @exclusivity(unchecked) var recentIDs = RecentIDs()
  private let loneStore: LoneStore

  init(context: any ObjectContext, model: ModelBinding, loneStore: LoneStore) {
    self.context = context
    self.model = model
    self.loneStore = loneStore
    table = Table(roots: model.entities.count)
  }

  // The binding that was looked up last, by its description and by its class: objects of one entity mostly
  // follow each other. Unretained, as every binding that is returned here: the model keeps them.
  @exclusivity(unchecked) private var lastDescribed: Unmanaged<EntityBinding>?
  @exclusivity(unchecked) private var lastOfClass: Unmanaged<EntityBinding>?
  @exclusivity(unchecked) private var lastClass: NSManagedObject.Type?

  /// The model's binding of an entity. On the context's executor.
  func binding(for description: NSEntityDescription) -> Unmanaged<EntityBinding>? {
    if let lastDescribed,
      lastDescribed._withUnsafeGuaranteedRef({ $0.description === description })
    {
      return lastDescribed
    }
    lastDescribed = model.binding(for: description).map(Unmanaged.passUnretained)
    return lastDescribed
  }

  /// The model's binding of the entity whose objects are of a class. On the context's executor.
  func binding(for type: NSManagedObject.Type) -> Unmanaged<EntityBinding>? {
    if type == lastClass { return lastOfClass }
    guard let found = model.binding(for: type).map(Unmanaged.passUnretained) else { return nil }
    lastClass = type
    lastOfClass = found
    return found
  }

  // The store that was looked up last: here, too, objects of one entity mostly follow each other.
  @exclusivity(unchecked) private var lastStore: (entity: Int, handle: StoreHandle)?

  func storeHandle(for binding: EntityBinding) -> StoreHandle? {
    if let context {
      // As long as it is the only store, it is still the entity's.
      if let lastStore, lastStore.entity == binding.index, loneStore.isThis(lastStore.handle) {
        return lastStore.handle
      }
      let found = context.storeHandle(for: binding)
      lastStore = found.map { (binding.index, $0) }
      return found
    }
    return binding.index < lastHandles.count ? lastHandles[binding.index] : nil
  }

  /// The store that IDs of an entity's rows name: the one that holds them, or held them last.
  func identityHandle(for binding: EntityBinding) -> StoreHandle? {
    storeHandle(for: binding) ?? context?.removedHandle(for: binding)
  }

  /// Whether an ID surely names a row of this registry's model and of the one store that is loaded. False if
  /// finding out takes more than a look.
  @inline(__always)
  func isAtHome(_ id: NSManagedObjectID) -> Bool {
    !id.isTemporaryID && id.binding.model === model && id.store.map(loneStore.isThis) == true
  }

  /// Open addressing with linear probing. An entry is a pointer with 16 bits of the hash above it.
  ///
  /// Eight keys that follow each other lie side by side, one cache line of entries, and share a hash but for
  /// their place in it: rows are mostly fetched and freed in the order of their keys.
  struct Table: ~Copyable {
    var entries: UnsafeMutablePointer<UInt>
    var mask: Int
    var live = 0
    /// The same for each inheritance tree, by its root's index.
    let liveByRoot: UnsafeMutablePointer<Int>
    var used = 0
    /// Objects that point at this registry, whether or not the table still finds them.
    var attached = 0
    var registrations = 0

    static let empty: UInt = 0
    static let removed: UInt = 1
    static let tagMask: UInt = 0xFFFF_0000_0000_0000

    init(roots: Int, capacity: Int = 16) {
      liveByRoot = .allocate(capacity: max(roots, 1))
      liveByRoot.initialize(repeating: 0, count: max(roots, 1))
      entries = .allocate(capacity: capacity)
      entries.initialize(repeating: Self.empty, count: capacity)
      mask = capacity - 1
    }

    deinit {
      entries.deallocate()
      liveByRoot.deallocate()
    }

    @inline(__always)
    static func hash(_ root: Int, _ key: Int64) -> UInt {
      let octet = UInt(bitPattern: Int(key &>> 3)) &+ UInt(bitPattern: root) &<< 40
      var hash = octet &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash &>> 32
      return hash &<< 3 | UInt(bitPattern: Int(key)) & 7
    }

    @inline(__always)
    static func tag(_ hash: UInt) -> UInt { (hash ^ hash &<< 61) & tagMask }

    @inline(__always)
    static func pointer(_ entry: UInt) -> UnsafeRawPointer {
      UnsafeRawPointer(bitPattern: entry & ~tagMask).unsafelyUnwrapped
    }

    @inline(__always)
    func index(_ root: Int, _ key: Int64) -> Int? {
      let hash = Self.hash(root, key)
      let tag = Self.tag(hash)
      var index = Int(bitPattern: hash) & mask
      while true {
        let entry = entries[index]
        if entry == Self.empty { return nil }
        if entry != Self.removed, entry & Self.tagMask == tag, Self.matches(entry, root, key) { return index }
        index = (index &+ 1) & mask
      }
    }

    mutating func insert(_ object: NSManagedObject) {
      registrations &+= 1
      let key = object._key
      let root = object._binding.root
      makeRoom(for: 1)
      let hash = Self.hash(root, key)
      let made = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) | Self.tag(hash)
      var index = Int(bitPattern: hash) & mask
      while true {
        let entry = entries[index]
        if entry == Self.empty { break }
        if entry != Self.removed, (entry ^ made) & Self.tagMask == 0, Self.matches(entry, root, key) {
          // The old entry belongs to an object whose deinit has begun, or to a fault made for a key before
          // its row.
          entries[index] = made
          return
        }
        index = (index &+ 1) & mask
      }
      entries[index] = made
      live += 1
      liveByRoot[root] += 1
      used += 1
    }

    @inline(__always)
    private static func matches(_ entry: UInt, _ root: Int, _ key: Int64) -> Bool {
      Unmanaged<NSManagedObject>.fromOpaque(pointer(entry))
        ._withUnsafeGuaranteedRef { $0._key == key && $0._binding.root == root }
    }

    @inline(__always)
    private mutating func place(_ entry: UInt, _ hash: UInt) {
      var index = Int(bitPattern: hash) & mask
      while entries[index] != Self.empty { index = (index &+ 1) & mask }
      entries[index] = entry
    }

    /// Makes room for entries that come next, also where removed entries occupy it.
    mutating func makeRoom(for coming: Int) {
      let capacity = mask + 1
      if (used + coming) * 8 <= capacity * 5 { return }
      rebuild(capacity: (live + coming) * 2 >= capacity ? capacity * 2 : capacity)
    }

    /// Makes room for more entries at once.
    mutating func reserve(_ additional: Int) {
      var capacity = mask + 1
      while (live + additional) * 8 > capacity * 5 { capacity *= 2 }
      if capacity > mask + 1 { rebuild(capacity: capacity) }
    }

    private mutating func rebuild(capacity: Int) {
      let old = entries
      let oldCapacity = mask + 1
      entries = .allocate(capacity: capacity)
      entries.initialize(repeating: Self.empty, count: capacity)
      mask = capacity - 1
      for index in 0..<oldCapacity where old[index] > Self.removed {
        let coming = old[min(index &+ 16, oldCapacity &- 1)]
        if coming > Self.removed { cde_prefetch(Self.pointer(coming)) }
        Unmanaged<NSManagedObject>.fromOpaque(Self.pointer(old[index]))._withUnsafeGuaranteedRef {
          place(old[index], Self.hash($0._binding.root, $0._key))
        }
      }
      used = live
      old.deallocate()
    }

    mutating func remove(_ object: NSManagedObject) {
      // By its own address, which needs no look at other objects.
      let root = object._binding.root
      let hash = Self.hash(root, object._key)
      let wanted = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) | Self.tag(hash)
      var index = Int(bitPattern: hash) & mask
      while entries[index] != wanted {
        if entries[index] == Self.empty { return }
        index = (index &+ 1) & mask
      }
      live -= 1
      liveByRoot[root] -= 1
      if entries[(index &+ 1) & mask] == Self.empty {
        // No probe chain continues behind it.
        entries[index] = Self.empty
        used -= 1
      } else {
        entries[index] = Self.removed
      }
    }
  }

  /// The object that an ID was made for, while it is registered in its home.
  ///
  /// Avoids the search in the table and the lock: the ID knows its object's address, and keeps that memory.
  @inline(__always)
  static func object(of id: NSManagedObjectID, in home: Unmanaged<ObjectRegistry>) -> NSManagedObject? {
    guard id.home == home.toOpaque(), let resident = id.resident else { return nil }
    if let follower = id.follower { cde_prefetch(follower) }
    guard let retained = tryRetain(resident) else { return nil }
    let object = Unmanaged<NSManagedObject>.fromOpaque(retained)
    // The object may have left the registry, or have been saved and have another ID.
    if object._withUnsafeGuaranteedRef({ $0._home?.toOpaque() == id.home && $0._key == id.key }) {
      return object.takeRetainedValue()
    }
    object.release()
    return nil
  }

  /// The registered object for a row, or nil.
  func object(root: Int, key: Int64) -> NSManagedObject? {
    lock.withLock { _ -> Unmanaged<NSManagedObject>? in
      guard let index = table.index(root, key) else { return nil }
      return tryRetain(Table.pointer(table.entries[index])).map { Unmanaged.fromOpaque($0) }
    }?.takeRetainedValue()
  }

  /// Whether an object is registered and has its row, so that reading the row again is in vain.
  ///
  /// Retains nothing: an object whose deinit waits for the lock counts as well. A caller that then asks for
  /// the object gets a fault, which reads its row by itself.
  func realized(root: Int, key: Int64) -> Bool {
    lock.withLock { _ in
      guard let index = table.index(root, key) else { return false }
      return Unmanaged<NSManagedObject>.fromOpaque(Table.pointer(table.entries[index]))
        ._withUnsafeGuaranteedRef { $0.isRealized }
    }
  }

  func contains(root: Int, key: Int64) -> Bool {
    lock.withLock { _ in table.index(root, key) != nil }
  }

  func register(_ object: NSManagedObject) {
    let wasEmpty = lock.withLock { _ in
      table.insert(object)
      table.attached += 1
      return table.attached == 1
    }
    if wasEmpty { keepAlive() }
  }

  /// Looks many rows up at once.
  ///
  /// - Returns: for each key the object or nil; nothing at all when no object of the tree is registered.
  func objects(root: Int, keys: Range<Int>, key: (Int) -> Int64) -> [NSManagedObject?] {
    lock.withLock { _ -> Found in
      if table.liveByRoot[root] == 0 { return Found() }
      var found = Found()
      found.objects.reserveCapacity(keys.count)
      for position in keys {
        found.objects.append(
          table.index(root, key(position)).flatMap {
            tryRetain(Table.pointer(table.entries[$0])).map {
              Unmanaged<NSManagedObject>.fromOpaque($0).takeRetainedValue()
            }
          })
      }
      return found
    }.objects
  }

  /// Takes objects out of the locked region.
  private struct Found: @unchecked Sendable {
    // Guard: handed to the one caller, which is on the context's executor.
    var objects: [NSManagedObject?] = []
  }

  func register(_ objects: ArraySlice<NSManagedObject>) {
    if objects.isEmpty { return }
    let wasEmpty = objects.withUnretained { objects in
      lock.withLock { _ in
        let wasEmpty = table.attached == 0
        table.reserve(objects.count)
        for object in objects { object._withUnsafeGuaranteedRef { table.insert($0) } }
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

  /// Gives saved objects their permanent keys, unless they have one.
  func rekey(_ objects: [NSManagedObject], key: (Int) -> Int64) {
    lock.withLock { _ in
      // All of them leave the table first, so that it only has to move entries of other objects.
      var coming = 0
      objects[...].forEachUnretained { object in
        guard object.hasTemporaryKey else { return }
        table.remove(object)
        coming += 1
      }
      table.makeRoom(for: coming)
      var index = -1
      objects[...].forEachUnretained { object in
        index += 1
        guard object.hasTemporaryKey else { return }
        object._key = key(index)
        table.insert(object)
      }
    }
    // Outside the lock, because an ID may hold the last reference to what it names.
    objects[...].forEachUnretained { object in
      if let identity = object._identity, identity.key != object._key { object._identity = nil }
    }
  }

  /// Makes room at once for objects that several calls will register.
  func reserve(_ additional: Int) { lock.withLock { _ in table.reserve(additional) } }

  /// All living objects, retained.
  func all() -> [NSManagedObject] {
    var found: [Unmanaged<NSManagedObject>] = []
    lock.withLock { _ in
      found.reserveCapacity(table.live)
      for index in 0...table.mask where table.entries[index] > Table.removed {
        if let object = tryRetain(Table.pointer(table.entries[index])) {
          found.append(Unmanaged.fromOpaque(object))
        }
      }
    }
    return found.map { $0.takeRetainedValue() }
  }

  var count: Int { lock.withLock { _ in table.live } }

  /// The number of registered objects of one inheritance tree.
  func count(root: Int) -> Int { lock.withLock { _ in table.liveByRoot[root] } }

  private func keepAlive() { _ = Unmanaged.passRetained(self) }

  private func letGo() { Unmanaged.passUnretained(self).release() }
}

extension ArraySlice<NSManagedObject> {
  /// Lends the objects without retaining each of them on the way.
  func withUnretained<Result>(
    _ body: (UnsafeBufferPointer<Unmanaged<NSManagedObject>>) -> Result
  ) -> Result {
    withUnsafeBufferPointer { $0.withMemoryRebound(to: Unmanaged<NSManagedObject>.self, body) }
  }

  /// Visits the objects without retaining each of them, which would be most of the work of a short visit.
  @inline(__always)
  func forEachUnretained(_ body: (NSManagedObject) -> Void) {
    withUnretained { objects in
      for object in objects { object._withUnsafeGuaranteedRef(body) }
    }
  }

  /// How many of the objects a save inserts.
  var newCount: Int {
    withUnretained { objects in
      objects.count {
        $0._withUnsafeGuaranteedRef { $0.unsavedChange == .insertion }
      }
    }
  }
}
