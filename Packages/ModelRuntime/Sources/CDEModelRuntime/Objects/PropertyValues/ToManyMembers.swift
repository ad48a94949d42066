internal import CDEStore

/// The members of one object's to-many relationship.
///
/// States: unloaded (only the changes since the last save are known) -> loaded (all members are known). Both
/// states keep the added and removed members. A merge can therefore drop the members and apply the changes
/// again.
public final class ToManyMembers {
  // Guard: the executor of the owner's context. No access runs other code before it ends.
  @exclusivity(unchecked) private(set) var isLoaded: Bool
  let isOrdered: Bool
  /// All members, when loaded.
  @exclusivity(unchecked) private(set) var objects: [NSManagedObject] = [] {
    didSet {
      lent = nil
      mark = nil
    }
  }
  /// A sign of who has read the members, until they change.
  @exclusivity(unchecked) var mark: AnyObject?
  /// The Swift collection of the members that the last read of the relationship returned. The next read
  /// returns the same collection at no cost, while the members do not change.
  @usableFromInline @exclusivity(unchecked) var lent: Any?
  @exclusivity(unchecked) private(set) var added = ObjectList<NSManagedObject>()
  @exclusivity(unchecked) private(set) var removed = ObjectList<NSManagedObject>()
  /// Whether members were moved within the order.
  @exclusivity(unchecked) private(set) var isReordered = false
  // The order before `unload`, while it has unsaved changes.
  private var keptOrder: [NSManagedObject]?
  // Position by object; nil until it is needed, because most collections are only iterated.
  @exclusivity(unchecked) private var positions: [ObjectIdentifier: Int]? {
    didSet { if positions == nil { lookUps = 0 } }
  }
  /// How often a position was looked up without `positions`.
  @exclusivity(unchecked) private var lookUps = 0
  /// The registry's count of vanished objects when they were last removed from the members.
  @exclusivity(unchecked) var clearedAt = 0

  init(isLoaded: Bool, isOrdered: Bool) {
    self.isLoaded = isLoaded
    self.isOrdered = isOrdered
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// In lists up to this length the other members keep their order when one leaves. A list that is longer stays fast instead.
  private static let keptLength = 4_096

  private func position(of object: NSManagedObject) -> Int? {
    if positions == nil {
      // Each member that leaves makes the positions of others wrong, so they are made for several look-ups only.
      lookUps += 1
      if objects.count <= 8 || (objects.count <= Self.keptLength && lookUps <= 32) {
        return objects.firstIndex { $0 === object }
      }
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

  /// Adopts the stored members and applies the changes made meanwhile. A change that the store has meanwhile is no longer a
  /// change.
  ///
  /// - Parameters:
  ///   - isOwnedByMembers: whether the other side is to-one. The unsaved reference of an object then decides, because the object
  ///     alone knows whether it is unsaved.
  ///   - belongs: whether an unsaved reference makes an object a member; nil if it has no unsaved reference.
  /// - Returns: the objects whose addition or removal is no longer a change.
  @discardableResult
  func load(
    _ stored: [NSManagedObject], isOwnedByMembers: Bool = false,
    belongs: (NSManagedObject) -> Bool? = { _ in nil }
  ) -> [NSManagedObject] {
    isLoaded = true
    positions = nil
    var ended: [NSManagedObject] = []
    if !added.isEmpty || !removed.isEmpty {
      let isStored = Set(stored.map(ObjectIdentifier.init))
      func isChange(_ object: NSManagedObject, isAdded: Bool) -> Bool {
        isStored.contains(ObjectIdentifier(object)) != isAdded
          && (!isOwnedByMembers || belongs(object) == isAdded)
      }
      ended = added.objects.filter { !isChange($0, isAdded: true) }
      ended += removed.objects.filter { !isChange($0, isAdded: false) }
      for object in ended {
        added.remove(object)
        removed.remove(object)
      }
    }
    objects = stored.filter {
      !$0.isDeletedOrGone && !removed.contains($0) && belongs($0) != false
    }
    if !added.isEmpty { objects += added.objects.filter { !$0.isDeletedOrGone } }
    guard let order = keptOrder else { return ended }
    keptOrder = nil
    let present = Set(objects.map(ObjectIdentifier.init))
    let known = Set(order.map(ObjectIdentifier.init))
    objects =
      order.filter { present.contains(ObjectIdentifier($0)) }
      + objects.filter { !known.contains(ObjectIdentifier($0)) }
    return ended
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
    insert(object, at: index)
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

  /// Adds the object to the members in memory.
  private func insert(_ object: NSManagedObject, at index: Int?) {
    if let index, index < objects.count {
      objects.insert(object, at: max(index, 0))
      positions = nil
    } else {
      positions?[ObjectIdentifier(object)] = objects.count
      objects.append(object)
    }
  }

  /// Removes the object from the members in memory.
  private func take(_ object: NSManagedObject) -> Bool {
    guard let index = position(of: object) else { return false }
    let id = ObjectIdentifier(object)
    if isOrdered || index == objects.count - 1 || objects.count <= Self.keptLength {
      objects.remove(at: index)
      positions = index == objects.count ? positions : nil
      positions?[id] = nil
    } else {
      // The last member takes the position.
      let last = objects.removeLast()
      objects[index] = last
      positions?[ObjectIdentifier(last)] = index
      positions?[id] = nil
    }
    return true
  }

  // MARK: Pairs of two to-many relationships, which record the same change

  /// An unsaved change of one member.
  enum Change { case none, addition, removal }

  /// The unsaved change of one object. Loaded members are exact: an addition is not stored, a removal is. Members that are not
  /// loaded may have either change of a stored pair or of one that is not stored.
  func change(of object: NSManagedObject) -> Change {
    if added.contains(object) { return .addition }
    return removed.contains(object) ? .removal : .none
  }

  private func record(_ change: Change, of object: NSManagedObject) {
    if change == .addition { added.append(object) } else { added.remove(object) }
    if change == .removal { removed.append(object) } else { removed.remove(object) }
  }

  /// Makes an object a member.
  ///
  /// - Parameter change: the change that both sides then have.
  func include(_ object: NSManagedObject, at index: Int? = nil, as change: Change) {
    record(change, of: object)
    guard isLoaded else { return }
    if let old = position(of: object) {
      if let index, isOrdered, index != old { move(object, from: old, to: index) }
      return
    }
    insert(object, at: index)
    if isOrdered, index != nil || change == .none { isReordered = true }
  }

  /// Makes an object no member.
  ///
  /// - Parameter change: the change that both sides then have.
  func exclude(_ object: NSManagedObject, as change: Change) {
    record(change, of: object)
    if isLoaded { _ = take(object) }
  }

  private func move(_ object: NSManagedObject, from old: Int, to index: Int) {
    objects.remove(at: old)
    objects.insert(object, at: min(max(index, 0), objects.count))
    positions = nil
    isReordered = true
  }

  /// Puts members that have no order in a store into the order in which they were set, until they are read again. No change.
  func arrange(_ order: [NSManagedObject]) {
    guard isLoaded, !isOrdered, order.count == objects.count else { return }
    objects = order
    positions = nil
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

  /// Ends an unsaved change of one member. The next use loads the members.
  ///
  /// Members in memory may lack an object without a record of its removal: they were loaded while the object had an unsaved
  /// reference to another owner. They are therefore dropped in any case.
  func forget(_ object: NSManagedObject) {
    added.remove(object)
    removed.remove(object)
    unload()
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
