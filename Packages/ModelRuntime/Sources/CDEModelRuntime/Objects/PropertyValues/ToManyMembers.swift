internal import CDEStore

/// The members of one object's to-many relationship.
///
/// States: unloaded (only the changes since the last save are known) -> loaded (all members are known). Both
/// states keep the added and removed members. A merge can therefore drop the members and apply the changes
/// again.
public final class ToManyMembers {
  // Guard: the executor of the owner's context.
  private(set) var isLoaded: Bool
  let isOrdered: Bool
  /// All members, when loaded.
  private(set) var objects: [NSManagedObject] = [] { didSet { lent = nil } }
  /// The Swift collection of the members that the last read of the relationship returned. The next read
  /// returns the same collection at no cost, while the members do not change.
  @usableFromInline @exclusivity(unchecked) var lent: Any?
  private(set) var added = ObjectList<NSManagedObject>()
  private(set) var removed = ObjectList<NSManagedObject>()
  /// Whether members were moved within the order.
  private(set) var isReordered = false
  // The order before `unload`, while it has unsaved changes.
  private var keptOrder: [NSManagedObject]?
  // Position by object; nil until it is needed, because most collections are only iterated.
  private var positions: [ObjectIdentifier: Int]?
  /// The registry's count of vanished objects when they were last removed from the members.
  var clearedAt = 0

  init(isLoaded: Bool, isOrdered: Bool) {
    self.isLoaded = isLoaded
    self.isOrdered = isOrdered
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  private func position(of object: NSManagedObject) -> Int? {
    if positions == nil {
      if objects.count <= 8 { return objects.firstIndex { $0 === object } }
      // A damaged file may contain a member twice.
      positions = Dictionary(objects.enumerated().map { (ObjectIdentifier($1), $0) }) { first, _ in first }
    }
    return positions?[ObjectIdentifier(object)]
  }

  /// Whether the object is a member; nil if that requires loading the members.
  func knows(_ object: NSManagedObject) -> Bool? {
    if isLoaded { return position(of: object) != nil }
    if added.contains(object) { return true }
    return removed.contains(object) ? false : nil
  }

  /// Adopts the stored members and applies the changes made meanwhile.
  ///
  /// - Parameter belongs: whether an unsaved reference makes an object a member; nil if it has no unsaved
  ///   reference. The reference decides, because another writer may also have moved an object that was moved
  ///   here.
  func load(_ stored: [NSManagedObject], belongs: (NSManagedObject) -> Bool? = { _ in nil }) {
    isLoaded = true
    positions = nil
    var isStored = Set<ObjectIdentifier>(minimumCapacity: hasChanges ? stored.count : 0)
    if hasChanges {
      for object in stored { isStored.insert(ObjectIdentifier(object)) }
      // A change that the store has meanwhile is no longer a change.
      added.removeAll { isStored.contains(ObjectIdentifier($0)) }
      removed.removeAll { !isStored.contains(ObjectIdentifier($0)) }
    }
    objects = stored.filter {
      !$0.isDeletedOrGone && !removed.contains($0) && belongs($0) != false
    }
    if !added.isEmpty { objects += added.objects.filter { !$0.isDeletedOrGone && belongs($0) != false } }
    guard let order = keptOrder else { return }
    keptOrder = nil
    let present = Set(objects.map(ObjectIdentifier.init))
    let known = Set(order.map(ObjectIdentifier.init))
    objects =
      order.filter { present.contains(ObjectIdentifier($0)) }
      + objects.filter { !known.contains(ObjectIdentifier($0)) }
  }

  /// Drops the members but not the changes, because another writer changed the relationship.
  func unload() {
    guard isLoaded else { return }
    // Members that were only appended are placed after those that another writer appended.
    if isOrdered, isReordered { keptOrder = objects }
    isLoaded = false
    objects = []
    positions = nil
  }

  /// - Returns: whether the object was added, so it was no member before.
  @discardableResult
  func add(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
    guard isLoaded else {
      // It may be a stored member or not. Adding a stored member again changes nothing.
      removed.remove(object)
      return added.append(object)
    }
    if let old = position(of: object) {
      if let index, isOrdered, index != old { move(object, from: old, to: index) }
      return false
    }
    if let index, index < objects.count {
      objects.insert(object, at: max(index, 0))
      positions = nil
    } else {
      positions?[ObjectIdentifier(object)] = objects.count
      objects.append(object)
    }
    if isOrdered, index != nil { isReordered = true }
    if !removed.remove(object) {
      added.append(object)
    } else if isOrdered {
      isReordered = true
    }
    return true
  }

  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    guard isLoaded else {
      added.remove(object)
      return removed.append(object)
    }
    guard take(object) else {
      // Members that were loaded after the object's own reference had changed do not contain it.
      added.remove(object)
      return false
    }
    if !added.remove(object) { removed.append(object) }
    return true
  }

  /// Removes the object from the members in memory.
  private func take(_ object: NSManagedObject) -> Bool {
    guard let index = position(of: object) else { return false }
    let id = ObjectIdentifier(object)
    if isOrdered || index == objects.count - 1 {
      objects.remove(at: index)
      positions = index == objects.count ? positions : nil
      positions?[id] = nil
    } else {
      // The order is irrelevant here, so the last member takes the position.
      let last = objects.removeLast()
      objects[index] = last
      positions?[ObjectIdentifier(last)] = index
      positions?[id] = nil
    }
    return true
  }

  private func move(_ object: NSManagedObject, from old: Int, to index: Int) {
    objects.remove(at: old)
    objects.insert(object, at: min(max(index, 0), objects.count))
    positions = nil
    isReordered = true
  }

  /// Sets a new order of the same members.
  func reorder(_ order: [NSManagedObject]) {
    objects = order
    positions = nil
    isReordered = true
  }

  /// Removes objects that no longer have a row.
  func clearVanished() {
    let isVanished = { (object: NSManagedObject) in object.isGone }
    if objects.contains(where: isVanished) {
      objects.removeAll(where: isVanished)
      positions = nil
    }
    added.removeAll(where: isVanished)
    removed.removeAll(where: isVanished)
  }

  /// Withdraws an unsaved change of one member, because the other side dropped its own change.
  func forget(_ object: NSManagedObject) {
    if added.remove(object), isLoaded { _ = take(object) }
    if removed.remove(object) { unload() }
  }

  /// Replaces the changes. The next use loads the members.
  func resetChanges(added: [NSManagedObject], removed: [NSManagedObject]) {
    clearChanges()
    unload()
    for object in added { self.added.append(object) }
    for object in removed { self.removed.append(object) }
  }

  /// Clears the changes, for example after they were saved.
  func clearChanges() {
    added.removeAll()
    removed.removeAll()
    isReordered = false
    keptOrder = nil
  }
}
