internal import Foundation

/// What `mutableSetValue(forKey:)` hands out: reads and writes go to the relationship.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject
  private let slot: Int

  init(_ owner: NSManagedObject, _ slot: Int) {
    self.owner = owner
    self.slot = slot
    super.init(capacity: 0)
  }

  required init(capacity: Int) { fatalError("A relationship's set is made by mutableSetValue(forKey:) only.") }
  required init?(coder: NSCoder) { nil }
  required override init(objects: UnsafePointer<AnyObject>!, count: Int) {
    fatalError("A relationship's set is made by mutableSetValue(forKey:) only.")
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
    if let object = object as? NSManagedObject { owner.addMember(slot, object) }
  }
  override func remove(_ object: Any) {
    if let object = object as? NSManagedObject { owner.removeMember(slot, object) }
  }
  override func removeAllObjects() { owner.setMembers(slot, []) }
}

/// What `mutableOrderedSetValue(forKey:)` hands out.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private var owner: NSManagedObject!
  private var slot = 0

  init(_ owner: NSManagedObject, _ slot: Int) {
    super.init(capacity: 0)
    self.owner = owner
    self.slot = slot
  }

  required override init(capacity: Int) { super.init(capacity: capacity) }
  required convenience init(arrayLiteral elements: Any...) {
    self.init(capacity: elements.count)
  }
  required init?(coder: NSCoder) { nil }
  required override init(objects: UnsafePointer<AnyObject>!, count: Int) { super.init(objects: objects, count: count) }

  private var objects: [NSManagedObject] { owner.map { $0.loadedMembers(slot).objects } ?? [] }

  override var count: Int { objects.count }
  override func object(at idx: Int) -> Any { objects[idx] }
  override func index(of object: Any) -> Int {
    objects.firstIndex { $0 === (object as AnyObject) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }
  override func insert(_ object: Any, at idx: Int) {
    if let object = object as? NSManagedObject { owner.addMember(slot, object, at: idx) }
  }
  override func add(_ object: Any) {
    if let object = object as? NSManagedObject { owner.addMember(slot, object) }
  }
  override func removeObject(at idx: Int) { owner.removeMember(slot, objects[idx]) }
  override func replaceObject(at idx: Int, with obj: Any) {
    guard let object = obj as? NSManagedObject else { return }
    owner.removeMember(slot, objects[idx])
    owner.addMember(slot, object, at: idx)
  }
}
