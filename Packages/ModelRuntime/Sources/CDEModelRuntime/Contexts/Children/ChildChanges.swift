internal import CDEStore

/// What a child's save changes. The parent gets values and keys, and no objects of the child.
///
/// The child waits while the parent reads this, so the parent may look at the child's new objects.
struct ChildChanges {
  /// An object, by a key that the parent knows, or gets with the save.
  struct Reference {
    var entity: EntityIndex
    var row: RowKey

    init(_ object: NSManagedObject) {
      entity = object._binding.index
      row = object.rowIdentity
    }
  }

  /// The members that a to-many relationship gains and loses.
  struct Members {
    var added: [Reference] = []
    var removed: [Reference] = []
    /// All members in their order; nil if the relationship is not ordered.
    var order: [Reference]?
  }

  /// One inserted or updated object.
  struct Object {
    var reference: Reference
    var values: [(slot: SlotIndex, value: _PropertyValue)] = []
    var toOne: [(slot: SlotIndex, destination: Reference?)] = []
    var toMany: [(slot: SlotIndex, members: Members)] = []
  }

  /// The child's new objects, in the order of their insertion.
  let inserted: [NSManagedObject]
  /// Those of them whose values have to be copied, by their places. The save drops the unsaved values of the others, so the
  /// parent takes them as they are.
  var copied: [Int: Object] = [:]
  var updated: [Object] = []
  var deleted: [Reference] = []

  init(_ save: BuiltSave) {
    inserted = save.objects.inserted
    for (place, object) in inserted.enumerated() where !object.hasMovableValues {
      copied[place] = Self.object(object, isNew: true)
    }
    updated = save.objects.updated.compactMap { object in
      object.changedSlots.isEmpty ? nil : Self.object(object, isNew: false)
    }
    deleted = save.objects.deleted.map(Reference.init)
  }

  private static func object(_ object: NSManagedObject, isNew: Bool) -> Object {
    var found = Object(reference: Reference(object))
    let changed = object.changedSlots
    for info in object._binding.properties where isNew || changed.contains(info.slot) {
      let value = object._overlay?.values[info.slot] ?? .unset
      switch info.kind {
      case .attribute, .composite:
        found.values.append((info.slot, (value.isUnset ? object.attributeValue(info) : value).copied))
      case .toOne:
        let destination = object.toOne(info.slot).flatMap { $0.isDeletedOrGone ? nil : $0 }
        found.toOne.append((info.slot, destination.map(Reference.init)))
      case .toMany:
        guard case .toMany(let members) = value, members.hasChanges else { continue }
        var copy = Members()
        copy.added = members.added.objects.filter { !$0.isDeletedOrGone }.map(Reference.init)
        copy.removed = members.removed.objects.filter { !$0.isGone }.map(Reference.init)
        if info.isOrdered {
          copy.order = object.loadedMembers(info.slot).objects.filter { !$0.isDeletedOrGone }
            .map(Reference.init)
        }
        found.toMany.append((info.slot, copy))
      }
    }
    return found
  }
}

extension NSManagedObject {
  /// Whether a save leaves nothing of the unsaved values but the row.
  fileprivate var hasMovableValues: Bool {
    if hasProblems { return false }
    let transient = withBinding(\.savedSlots.transient)
    return withOverlay { $0.isCopy(but: transient) } ?? true
  }
}

extension _PropertyValue {
  /// The value for an object of another context. The box of an object belongs to one context; the object itself is
  /// shared, as in Core Data.
  fileprivate var copied: _PropertyValue {
    if case .object(let box) = self { return .object(_ObjectBox(box.value)) }
    return self
  }
}
