internal import CDEStore

/// What one announcement changed in one object, as its undo needs it.
///
/// The values are those before the change. To redo the change, the announcement that follows the undo makes
/// another record, with the values before the undo.
struct UndoChange {
  /// The change of a to-many relationship.
  struct Members {
    var added: [NSManagedObject]
    var removed: [NSManagedObject]
    /// All members before the change: for relationships with an order, and for an object that was deleted.
    var former: [NSManagedObject]?
  }

  let object: NSManagedObject
  /// The key with which the object can be inserted again.
  let key: Int64
  let presence: (before: UndoImage.Presence, after: UndoImage.Presence)
  private(set) var values: [(slot: SlotIndex, value: _PropertyValue)] = []
  private(set) var members: [(slot: SlotIndex, change: Members)] = []
  /// Unsaved members before a deletion, where the members refer to this object by a to-one.
  private(set) var unsaved: [(slot: SlotIndex, added: [NSManagedObject], removed: [NSManagedObject])] = []

  /// - Parameter before: the object at the last announcement; nil if it had no unsaved changes.
  /// - Returns: nil if nothing changed that can be undone.
  init?(from before: UndoImage?, to after: UndoImage) {
    object = after.object
    key = object._key
    presence = (before?.presence ?? (after.presence == .inserted ? .absent : .saved), after.presence)
    // An object that another writer deleted, or that was never announced.
    if after.presence == .absent, presence.before != .inserted { return nil }
    if presence.before == .absent { return }
    // A deletion may be saved before it is undone. No row has the values then.
    let isRemoved = presence.before != .deleted && (after.presence == .deleted || after.presence == .absent)
    for info in object._binding.properties {
      if info.isToMany {
        addMembers(info, from: before, to: after, isRemoved)
      } else {
        addValue(info, from: before, to: after, isRemoved)
      }
    }
    let isPresent = presence.before != .deleted && !isRemoved
    if isPresent, values.isEmpty, members.isEmpty { return nil }
  }

  private mutating func addValue(
    _ info: PropertyInfo, from before: UndoImage?, to after: UndoImage, _ isRemoved: Bool
  ) {
    let (former, new) = (before?.values[info.slot], after.values[info.slot])
    if isRemoved {
      // An object that was never saved has no other values than those of its image.
      if after.presence == .absent, former == nil { return }
      values.append((info.slot, former ?? object.savedValue(info)))
    } else if former != nil || new != nil {
      let (former, new) = (former ?? object.savedValue(info), new ?? object.savedValue(info))
      if !former.isSame(as: new) { values.append((info.slot, former)) }
    }
  }

  private mutating func addMembers(
    _ info: PropertyInfo, from before: UndoImage?, to after: UndoImage, _ isRemoved: Bool
  ) {
    let former = before?.members[info.slot]
    let new = after.presence == .absent ? former : after.members[info.slot]
    if info.isOtherSideOfToOne {
      // The members' own changes tell who was added and removed.
      if isRemoved { unsaved.append((info.slot, former?.added ?? [], former?.removed ?? [])) }
      if !info.isOrdered { return }
    }
    if !isRemoved, former == nil, new == nil { return }
    let change = Members(info, of: object, from: former, to: new, isRemoved)
    let keepsOrder = change.former.map { isOrder($0, of: new, info) } ?? true
    if !isRemoved, change.added.isEmpty, change.removed.isEmpty, keepsOrder { return }
    members.append((info.slot, change))
  }

  /// Whether the members after the change have the order that they had before.
  private func isOrder(_ former: [NSManagedObject], of new: UndoImage.Members?, _ info: PropertyInfo) -> Bool
  {
    (new?.order ?? object.loadedMembers(info.slot).objects).elementsEqual(former, by: ===)
  }
}

extension UndoChange.Members {
  fileprivate init(
    _ info: PropertyInfo, of object: NSManagedObject, from before: UndoImage.Members?,
    to after: UndoImage.Members?, _ isRemoved: Bool
  ) {
    // An object counts 1 where it was added, and -1 where it was removed.
    var counts: [ObjectIdentifier: (object: NSManagedObject, count: Int)] = [:]
    func count(_ objects: [NSManagedObject]?, _ number: Int) {
      for object in objects ?? [] { counts[ObjectIdentifier(object), default: (object, 0)].count += number }
    }
    count(after?.added, 1)
    count(after?.removed, -1)
    count(before?.added, -1)
    count(before?.removed, 1)
    added = counts.values.filter { $0.count > 0 }.map(\.object)
    removed = counts.values.filter { $0.count < 0 }.map(\.object)
    guard info.isOrdered || isRemoved else { return }
    if let order = before?.order {
      former = order
    } else {
      let stored = object._registry?.context?.storedMembers(of: object, slot: info.slot) ?? []
      let gone = Set((before?.removed ?? []).map(ObjectIdentifier.init))
      let present = Set(stored.map(ObjectIdentifier.init))
      former =
        stored.filter { !gone.contains(ObjectIdentifier($0)) }
        + (before?.added ?? []).filter { !present.contains(ObjectIdentifier($0)) }
    }
  }
}

extension NSManagedObject {
  /// The value of an attribute, a composite or a to-one relationship in the row; the default for a new object and for a
  /// transient property.
  fileprivate final func savedValue(_ info: PropertyInfo) -> _PropertyValue {
    if info.isTransient { return info.kind == .toOne ? .null : info.defaultValue }
    if info.kind == .toOne { return isStored ? rowDestination(info).map { .toOne($0) } ?? .null : .null }
    if isInserted { return info.defaultValue }
    return storedValue(info)
  }
}
