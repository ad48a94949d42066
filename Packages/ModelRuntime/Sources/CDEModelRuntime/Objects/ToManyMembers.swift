internal import CDEStore

/// The members of one object's to-many relationship.
///
/// States: unloaded (only the changes since the last save are known) -> loaded (all members are).
/// Both keep what was added and removed, so a merge can drop the members and apply the changes again.
public final class ToManyMembers {
  // Guard: the lane of the owner's context.
  private(set) var isLoaded: Bool
  let isOrdered: Bool
  /// All members, when loaded.
  private(set) var objects: [NSManagedObject] = []
  private(set) var added: [ObjectIdentifier: NSManagedObject] = [:]
  private(set) var removed: [ObjectIdentifier: NSManagedObject] = [:]
  /// Members were moved within the order.
  private(set) var isReordered = false
  // Position by object; nil while it has not been needed, since most collections are only read through.
  private var positions: [ObjectIdentifier: Int]?

  init(isLoaded: Bool, isOrdered: Bool) {
    self.isLoaded = isLoaded
    self.isOrdered = isOrdered
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  private func position(of object: NSManagedObject) -> Int? {
    if positions == nil {
      if objects.count <= 8 { return objects.firstIndex { $0 === object } }
      positions = Dictionary(
        uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
    }
    return positions?[ObjectIdentifier(object)]
  }

  /// Whether the object is a member, as far as is known; nil when only loading would tell.
  func knows(_ object: NSManagedObject) -> Bool? {
    if isLoaded { return position(of: object) != nil }
    if added[ObjectIdentifier(object)] != nil { return true }
    return removed[ObjectIdentifier(object)] != nil ? false : nil
  }

  /// Takes over the stored members and applies the changes made meanwhile.
  func load(_ stored: [NSManagedObject]) {
    isLoaded = true
    positions = nil
    objects = stored.filter { removed[ObjectIdentifier($0)] == nil && !$0.isDeleted }
    let present = Set(objects.map(ObjectIdentifier.init))
    let late = added.filter { !present.contains($0.key) }.values
    // Keys of new objects descend with their age, so this is the order they were added in.
    objects += late.sorted { abs($0._key) < abs($1._key) }
  }

  /// Forgets the members but not the changes: another writer changed the relationship.
  func unload() {
    guard isLoaded else { return }
    isLoaded = false
    objects = []
    positions = nil
  }

  /// - Returns: whether the object was no member before.
  @discardableResult
  func add(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
    let id = ObjectIdentifier(object)
    if isLoaded {
      if let old = position(of: object) {
        if let index, isOrdered { move(object, from: old, to: index) }
        return false
      }
      if let index, index < objects.count {
        objects.insert(object, at: max(index, 0))
        positions = nil
      } else {
        positions?[id] = objects.count
        objects.append(object)
      }
      if isOrdered, index != nil { isReordered = true }
    } else if added[id] != nil {
      return false
    }
    if removed.removeValue(forKey: id) == nil { added[id] = object } else if isOrdered { isReordered = true }
    return true
  }

  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    let id = ObjectIdentifier(object)
    if isLoaded {
      guard let index = position(of: object) else { return false }
      if isOrdered || index == objects.count - 1 {
        objects.remove(at: index)
        positions = index == objects.count ? positions : nil
        positions?[id] = nil
      } else {
        // Order means nothing here: the last member takes the place.
        let last = objects.removeLast()
        objects[index] = last
        positions?[ObjectIdentifier(last)] = index
        positions?[id] = nil
      }
    } else if removed[id] != nil {
      return false
    }
    if added.removeValue(forKey: id) == nil { removed[id] = object }
    return true
  }

  private func move(_ object: NSManagedObject, from old: Int, to index: Int) {
    objects.remove(at: old)
    objects.insert(object, at: min(max(index, 0), objects.count))
    positions = nil
    isReordered = true
  }

  /// Takes a new order of the same members.
  func reorder(_ order: [NSManagedObject]) {
    objects = order
    positions = nil
    isReordered = true
  }

  /// The changes were saved.
  func settle() {
    added = [:]
    removed = [:]
    isReordered = false
  }
}
