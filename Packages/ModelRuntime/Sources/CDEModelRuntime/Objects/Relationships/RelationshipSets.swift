@_spi(CDE) internal import CDEExecutors
internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// The result of `mutableSetValue(forKey:)`. Reads and writes are applied to the relationship.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject
  private let slot: SlotIndex

  init(_ owner: NSManagedObject, _ slot: SlotIndex) {
    self.owner = owner
    self.slot = slot
    super.init(capacity: 0)
  }

  required init(capacity: Int) {
    failPrecondition("A relationship's set is made by mutableSetValue(forKey:) only.")
  }
  required init?(coder: NSCoder) { nil }
  required override init(objects: UnsafePointer<AnyObject>!, count: Int) {
    failPrecondition("A relationship's set is made by mutableSetValue(forKey:) only.")
  }

  private var objects: [NSManagedObject] { owner.loadedMembers(slot).objects }

  override var count: Int { objects.count }
  override var allObjects: [Any] { objects }
  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject else { return nil }
    return owner.loadedMembers(slot).knows(object) == true ? object : nil
  }
  override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }
  override func objectEnumerator() -> NSEnumerator { NSArray(array: objects).objectEnumerator() }

  override func add(_ object: Any) {
    if let object = object as? NSManagedObject { owner.assignMember(slot, object) }
  }
  override func remove(_ object: Any) {
    if let object = object as? NSManagedObject { owner.dropMember(slot, object) }
  }
  override func removeAllObjects() { owner.setMembers(slot, []) }
}

/// The result of `mutableOrderedSetValue(forKey:)`.
///
/// Foundation iterates over an ordered set's own storage, and a subclass can't override that. The storage is
/// therefore a copy of the relationship, made at the last of these moments:
///
/// - this object was made;
/// - the relationship was changed through this object;
/// - `count` was read.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private var owner: NSManagedObject!
  private var slot = SlotIndex(0)
  /// Foundation's methods call each other. Those that fill the storage must not change the relationship.
  private var isMirroring = false

  init(_ owner: NSManagedObject, _ slot: SlotIndex) {
    super.init(capacity: 0)
    self.owner = owner
    self.slot = slot
    mirror()
  }

  required override init(capacity: Int) { super.init(capacity: capacity) }
  required convenience init(arrayLiteral elements: Any...) {
    self.init(capacity: elements.count)
  }
  required init?(coder: NSCoder) { nil }
  required override init(objects: UnsafePointer<AnyObject>!, count: Int) {
    super.init(objects: objects, count: count)
  }

  private var objects: [NSManagedObject] { owner.map { $0.loadedMembers(slot).objects } ?? [] }

  private func mirror() {
    isMirroring = true
    defer { isMirroring = false }
    while super.count > 0 { super.removeObject(at: super.count - 1) }
    for object in objects { super.insert(object, at: super.count) }
  }

  private func change(_ body: () -> Void) {
    body()
    mirror()
  }

  private func edit(_ body: (inout [NSManagedObject]) -> Void) {
    var list = objects
    body(&list)
    change { owner.setMembers(slot, list) }
  }

  override var count: Int {
    if isMirroring || owner == nil { return super.count }
    let count = objects.count
    if super.count != count { mirror() }
    return count
  }
  override func object(at idx: Int) -> Any { isMirroring ? super.object(at: idx) : objects[idx] }
  override func index(of object: Any) -> Int {
    if isMirroring { return super.index(of: object) }
    return objects.firstIndex { $0 === (object as AnyObject) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool {
    isMirroring ? super.contains(object) : index(of: object) != NSNotFound
  }

  override func insert(_ object: Any, at idx: Int) {
    if isMirroring { return super.insert(object, at: idx) }
    guard let object = object as? NSManagedObject else { return }
    let before = objects.count
    owner.assignMember(slot, object, at: idx)
    guard super.count == before, objects.count == before + 1, objects[idx] === object else { return mirror() }
    isMirroring = true
    super.insert(object, at: idx)
    isMirroring = false
  }
  override func add(_ object: Any) {
    if isMirroring { return super.add(object) }
    guard let object = object as? NSManagedObject else { return }
    let before = objects.count
    owner.assignMember(slot, object)
    guard super.count == before, objects.count == before + 1 else { return mirror() }
    isMirroring = true
    super.insert(object, at: before)
    isMirroring = false
  }
  override func removeObject(at idx: Int) {
    if isMirroring { return super.removeObject(at: idx) }
    change { owner.dropMember(slot, objects[idx]) }
  }
  override func replaceObject(at idx: Int, with obj: Any) {
    if isMirroring { return super.replaceObject(at: idx, with: obj) }
    guard let object = obj as? NSManagedObject else { return }
    edit { list in
      let replaced = list[idx]
      list.removeAll { $0 === object && $0 !== replaced }
      list[Swift.min(idx, list.count - 1)] = object
    }
  }
  override func remove(_ val: Any) {
    if isMirroring { return super.remove(val) }
    guard let object = val as? NSManagedObject else { return }
    change { owner.dropMember(slot, object) }
  }
  override func removeAllObjects() { change { owner.setMembers(slot, []) } }
  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) { edit { $0.swapAt(idx1, idx2) } }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    edit { list in
      let moved = indexes.map { list[$0] }
      for index in indexes.reversed() { list.remove(at: index) }
      list.insert(contentsOf: moved, at: Swift.min(idx, list.count))
    }
  }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    for (object, index) in zip(objects, indexes) { insert(object, at: index) }
  }
  override func setObject(_ obj: Any, at idx: Int) {
    if idx == count { add(obj) } else { replaceObject(at: idx, with: obj) }
  }
  override func removeObjects(in range: NSRange) {
    edit { $0.removeSubrange(range.location..<(range.location + range.length)) }
  }
  override func removeObjects(at indexes: IndexSet) {
    edit { list in for index in indexes.reversed() { list.remove(at: index) } }
  }
  override func removeObjects(in array: [Any]) { for object in array { remove(object) } }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    edit { list in list.sort { cmptr($0, $1) == .orderedAscending } }
  }
  override func sort(using sortDescriptors: [NSSortDescriptor]) {
    edit { list in
      list.sort { left, right in
        for descriptor in sortDescriptors {
          switch Self.order(left, right, by: descriptor) {
          case .orderedAscending: return true
          case .orderedDescending: return false
          case .orderedSame: continue
          }
        }
        return false
      }
    }
  }

  private static func order(_ left: Any, _ right: Any, by descriptor: NSSortDescriptor) -> ComparisonResult {
    // A descriptor of a Swift key path reads the property itself.
    guard let known = descriptor as? KeySortDescriptor else { return descriptor.compare(left, to: right) }
    do {
      return try known.term.compare(left, right)
    } catch {
      failPrecondition("The relationship can't be sorted by \(known.term.key): \(error)")
    }
  }
}
