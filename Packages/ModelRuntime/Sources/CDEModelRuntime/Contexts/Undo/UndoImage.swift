internal import CDEStore

/// The unsaved state of one object at an announcement. The next announcement compares with it.
struct UndoImage {
  /// What the context has of an object.
  enum Presence {
    /// The object is in no context: it is not inserted yet, or its insertion was dropped.
    case absent
    case inserted, saved, deleted
  }

  /// The unsaved changes of a to-many relationship.
  struct Members {
    var added: [NSManagedObject] = []
    var removed: [NSManagedObject] = []
    /// All members, if they have an order.
    var order: [NSManagedObject]?
  }

  let object: NSManagedObject
  let presence: Presence
  /// Unsaved values of attributes, composites and to-one relationships.
  private(set) var values: [SlotIndex: _PropertyValue] = [:]
  private(set) var members: [SlotIndex: Members] = [:]

  init(_ object: NSManagedObject) {
    self.object = object
    presence =
      switch object.state {
      case .free, .gone: .absent
      case .inserted: .inserted
      case .savedToParent, .saved: .saved
      case .deleted: .deleted
      }
    guard presence != .absent, let overlay = object._overlay else { return }
    for slot in presence == .inserted ? PropertySet(overlay.slots) : overlay.changed {
      let value = overlay.values[slot]
      guard case .toMany(let found) = value else {
        if !value.isUnset { values[slot] = value }
        continue
      }
      let info = object._binding.properties[slot]
      guard found.hasChanges else { continue }
      // Members that are not loaded may count an object as removed that never was one. Where the members themselves refer
      // to their owner, the load drops that.
      let members = info.isOtherSideOfToOne && !info.isOrdered ? found : object.loadedMembers(slot)
      self.members[slot] = Members(
        added: members.added.objects, removed: members.removed.objects,
        order: info.isOrdered ? members.objects : nil)
    }
  }

  /// Drops what a save wrote. Values that are not saved stay.
  mutating func dropSaved() {
    let binding = object._binding
    values = values.filter { binding.properties[$0.key].isTransient }
    members = [:]
  }

  var isEmpty: Bool { values.isEmpty && members.isEmpty }
}

extension PropertyInfo {
  /// Whether the members of a to-many relationship refer to its object by a to-one.
  var isOtherSideOfToOne: Bool { inverseSlot != nil && !inverseIsToMany }
}

extension PropertySet {
  fileprivate init(_ slots: Range<SlotIndex>) {
    self.init()
    for slot in slots { insert(slot) }
  }
}
