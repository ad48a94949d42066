internal import CDERuntimeABI
internal import CDEStore

/// The hash table of a registry: open addressing with linear probing. An entry is a pointer with 16 bits of the hash above it.
///
/// Eight consecutive keys have adjacent entries in one cache line. Their hashes differ only in the position
/// within the line. Rows are mostly fetched and freed in the order of their keys.
///
/// Used under the registry's lock. The lock also keeps the memory of the objects valid, because the deinit of
/// an object removes its entry.
struct IdentityTable: ~Copyable {
  /// A position in the table.
  struct Bucket: Equatable {
    fileprivate let offset: Int
  }

  /// The content of a position: never used, removed, or an uncounted reference to an object.
  struct Entry: Equatable {
    fileprivate var bits: UInt

    fileprivate static let empty = Entry(bits: 0)
    fileprivate static let removed = Entry(bits: 1)
    fileprivate static let tagMask: UInt = 0xFFFF_0000_0000_0000

    fileprivate init(bits: UInt) { self.bits = bits }

    @inline(__always)
    fileprivate init(_ object: NSManagedObject, _ hash: UInt) {
      let address = UInt(bitPattern: Borrowed(object).address)
      assert(address & Self.tagMask == 0, "The address has bits where the table keeps its own.")
      bits = address | Self.tag(hash)
    }

    @inline(__always)
    fileprivate static func tag(_ hash: UInt) -> UInt { (hash ^ hash &<< 61) & tagMask }

    fileprivate var isObject: Bool { bits > 1 }

    /// The object, whose deinit may have begun.
    @inline(__always)
    var object: Borrowed<NSManagedObject> {
      assert(isObject, "The place holds no object.")
      return Borrowed(at: UnsafeRawPointer(bitPattern: bits & ~Self.tagMask).unsafelyUnwrapped)
    }

    /// The object with a counted reference; nil once its deinit has begun.
    var retained: Borrowed<NSManagedObject>? { tryRetain(object.address).map { Borrowed(at: $0) } }

    @inline(__always)
    fileprivate func matches(_ root: RootIndex, _ key: Int64, _ fields: ObjectFields) -> Bool {
      fields.key(object) == key && fields.root(object) == root
    }
  }

  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  private(set) var live = 0
  /// The number of live entries of each inheritance tree, by its root's index.
  private let liveByRoot: UnsafeMutablePointer<Int>
  private let roots: Int
  private var used = 0
  /// Objects that point at the registry, with or without an entry in the table.
  var attached = 0
  private(set) var registrations = 0
  private var fields = ObjectFields()

  init(roots: Int, capacity: Int = 16) {
    self.roots = max(roots, 1)
    liveByRoot = .allocate(capacity: self.roots)
    liveByRoot.initialize(repeating: 0, count: self.roots)
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: .empty, count: capacity)
    mask = capacity - 1
  }

  deinit {
    entries.deallocate()
    liveByRoot.deallocate()
  }

  @inline(__always)
  subscript(bucket: Bucket) -> Entry {
    get {
      assert(
        (0...mask).contains(bucket.offset), "The bucket is of another table, or of this one before it grew.")
      return entries[bucket.offset]
    }
    nonmutating set {
      assert(
        (0...mask).contains(bucket.offset), "The bucket is of another table, or of this one before it grew.")
      entries[bucket.offset] = newValue
    }
  }

  @inline(__always)
  private func start(_ hash: UInt) -> Bucket { Bucket(offset: Int(bitPattern: hash) & mask) }

  @inline(__always)
  private func next(_ bucket: Bucket) -> Bucket { Bucket(offset: (bucket.offset &+ 1) & mask) }

  func live(of root: RootIndex) -> Int {
    assert((0..<roots).contains(root.rawValue), "There is no such root.")
    return liveByRoot[root.rawValue]
  }

  @inline(__always)
  private static func hash(_ root: RootIndex, _ key: Int64) -> UInt {
    let octet = UInt(bitPattern: Int(key &>> 3)) &+ UInt(bitPattern: root.rawValue) &<< 40
    var hash = octet &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash &>> 32
    return hash &<< 3 | UInt(bitPattern: Int(key)) & 7
  }

  /// The position of a row's object.
  @inline(__always)
  func bucket(of root: RootIndex, _ key: Int64) -> Bucket? {
    let hash = Self.hash(root, key)
    let tag = Entry.tag(hash)
    var bucket = start(hash)
    while true {
      let entry = self[bucket]
      if entry == .empty { return nil }
      if entry != .removed, entry.bits & Entry.tagMask == tag, entry.matches(root, key, fields) {
        return bucket
      }
      bucket = next(bucket)
    }
  }

  /// Whether the object at a position has its row.
  func isRealized(at bucket: Bucket) -> Bool { fields.isRealized(self[bucket].object) }

  func forEachEntry(_ body: (Entry) -> Void) {
    for offset in 0...mask where entries[offset].isObject { body(entries[offset]) }
  }

  mutating func insert(_ object: NSManagedObject) {
    registrations &+= 1
    fields.find(in: object)
    let key = object._key
    let root = object._binding.root
    makeRoom(for: 1)
    let hash = Self.hash(root, key)
    let made = Entry(object, hash)
    var bucket = start(hash)
    while true {
      let entry = self[bucket]
      if entry == .empty { break }
      if entry != .removed, (entry.bits ^ made.bits) & Entry.tagMask == 0, entry.matches(root, key, fields) {
        // The old entry belongs to an object whose deinit has begun, or to a fault that was made for the key
        // before its row.
        self[bucket] = made
        return
      }
      bucket = next(bucket)
    }
    self[bucket] = made
    live += 1
    liveByRoot[root.rawValue] += 1
    used += 1
  }

  @inline(__always)
  private func place(_ entry: Entry, _ hash: UInt) {
    var bucket = start(hash)
    while self[bucket] != .empty { bucket = next(bucket) }
    self[bucket] = entry
  }

  /// Makes room for the next entries. Removed entries may occupy this room.
  @inline(__always)
  mutating func makeRoom(for coming: Int) {
    if (used &+ coming) &* 8 > (mask &+ 1) &* 5 { grow(for: coming) }
  }

  @inline(never)
  private mutating func grow(for coming: Int) {
    let capacity = mask + 1
    rebuild(capacity: (live + coming) * 2 >= capacity ? capacity * 2 : capacity)
  }

  /// Makes room for more entries in one step.
  mutating func reserve(_ additional: Int) {
    var capacity = mask + 1
    while (live + additional) * 8 > capacity * 5 { capacity *= 2 }
    if capacity > mask + 1 { rebuild(capacity: capacity) }
  }

  private mutating func rebuild(capacity: Int) {
    let old = entries
    let oldCapacity = mask + 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: .empty, count: capacity)
    mask = capacity - 1
    for offset in 0..<oldCapacity where old[offset].isObject {
      let coming = old[min(offset &+ 16, oldCapacity &- 1)]
      if coming.isObject { cde_prefetch(coming.object.address) }
      let object = old[offset].object
      place(old[offset], Self.hash(fields.root(object), fields.key(object)))
    }
    used = live
    old.deallocate()
  }

  mutating func remove(_ object: NSManagedObject) {
    // The root is taken from the object itself. Other objects are not read.
    let root = object._binding.root
    let hash = Self.hash(root, object._key)
    let wanted = Entry(object, hash)
    var bucket = start(hash)
    while self[bucket] != wanted {
      if self[bucket] == .empty { return }
      bucket = next(bucket)
    }
    live -= 1
    liveByRoot[root.rawValue] -= 1
    if self[next(bucket)] == .empty {
      // No probe chain continues after this position.
      self[bucket] = .empty
      used -= 1
    } else {
      self[bucket] = .removed
    }
  }
}

#if DEBUG
  /// Reads an object's fields in its memory, because unoptimised code counts a reference for each use of an object.
  ///
  /// A registry reads objects under its lock, and their last references may be given back on other threads meanwhile. The counted
  /// reference would then be the last one, and the object's deinit would wait for the lock that this thread holds.
  struct ObjectFields {
    /// The distances of the fields from the object's address; -1 before the first object is known.
    private var (keyOffset, bindingOffset, flagsOffset) = (-1, -1, -1)

    /// Finds the fields in an object that the caller keeps alive.
    mutating func find(in object: NSManagedObject) {
      if keyOffset >= 0 { return }
      let start = Borrowed(object).address
      func distance(_ field: UnsafeMutableRawPointer) -> Int { field - start }
      keyOffset = withUnsafeMutablePointer(to: &object._key) { distance($0) }
      flagsOffset = withUnsafeMutablePointer(to: &object._flags) { distance($0) }
      // An uncounted reference has no address of its own. It is declared before the key.
      bindingOffset = keyOffset - MemoryLayout<UnsafeRawPointer>.size
      let binding = start.load(fromByteOffset: bindingOffset, as: UnsafeRawPointer.self)
      assert(
        (0..<1024).contains(flagsOffset) && binding == UnsafeRawPointer(Borrowed(object._binding).address),
        "A field is not where it is declared.")
    }

    func key(_ object: Borrowed<NSManagedObject>) -> Int64 {
      object.address.load(fromByteOffset: keyOffset, as: Int64.self)
    }

    /// The registry's model keeps the binding alive.
    func root(_ object: Borrowed<NSManagedObject>) -> RootIndex {
      let binding = object.address.load(fromByteOffset: bindingOffset, as: UnsafeRawPointer.self)
      return Borrowed<EntityBinding>(at: binding).with(\.root)
    }

    func isRealized(_ object: Borrowed<NSManagedObject>) -> Bool {
      object.address.load(fromByteOffset: flagsOffset, as: NSManagedObject.Flags.self).isDisjoint(with: [
        .fault, .gone,
      ])
    }
  }
#else
  /// Reads an object's fields. Optimised code counts no references for that. A key path would check exclusive access.
  struct ObjectFields {
    @inline(__always)
    func find(in object: NSManagedObject) {}

    @inline(__always)
    func key(_ object: Borrowed<NSManagedObject>) -> Int64 { object.with { $0._key } }

    @inline(__always)
    func root(_ object: Borrowed<NSManagedObject>) -> RootIndex { object.with { $0._binding.root } }

    @inline(__always)
    func isRealized(_ object: Borrowed<NSManagedObject>) -> Bool { object.with(\.isRealized) }
  }
#endif
