internal import CDEStore

/// The first phase of a save: the context's changed objects, grouped by the kind of change.
///
/// A save makes three values, each from the previous one: ``CollectedSave`` -> ``BuiltSave`` (rows and links
/// to be written) -> ``CommittedSave`` (the result of the store). At the end the commit is applied to the
/// objects, which then point at the new rows. If the save fails before the commit, all objects keep their
/// values.
struct CollectedSave {
  private(set) var inserted: [NSManagedObject] = []
  private(set) var updated: [NSManagedObject] = []
  private(set) var deleted: [NSManagedObject] = []
  /// The entities of the objects.
  private(set) var bindings: [EntityBinding] = []

  /// - Parameter numbersNew: whether a store gives new objects their keys. In a child context they keep their
  ///   temporary keys.
  init(_ changed: ArraySlice<NSManagedObject>, numberingNew numbersNew: Bool = true) {
    let newCount = changed.newCount
    if newCount == changed.count {
      // The buffer is shared, so no object is retained for it.
      inserted = Array(changed)
    } else {
      inserted.reserveCapacity(newCount)
      changed.forEachBorrowed { sort($0) }
    }
    if numbersNew {
      numberInserted()
    } else {
      inserted[...].forEachBorrowed { noteBinding($0._binding) }
    }
    for objects in [updated, deleted] { objects[...].forEachBorrowed { noteBinding($0._binding) } }
  }

  /// The objects of two saves.
  init(uniting one: CollectedSave, _ other: CollectedSave) {
    self = one
    inserted += other.inserted
    updated += other.updated
    deleted += other.deleted
    for binding in other.bindings { noteBinding(binding) }
  }

  private mutating func sort(_ object: NSManagedObject) {
    switch object.unsavedChange {
    case .insertion: inserted.append(object)
    case .deletion: deleted.append(object)
    case .update:
      if object.hasProblems { object.countSilentValues() }
      updated.append(object)
    case .none: break
    }
  }

  /// Numbers new objects within their inheritance tree. The store replaces `-n` by a key.
  private mutating func numberInserted() {
    guard let first = inserted.first else { return }
    var counts = IndexedArray<RootIndex, Int32>(
      repeating: Int32(0), count: first._binding.model.entities.count)
    inserted[...].forEachBorrowed { object in
      noteBinding(object._binding)
      guard object.hasTemporaryKey else { return }
      counts[object._binding.root] += 1
      object._saveOrdinal = counts[object._binding.root]
    }
  }

  private mutating func noteBinding(_ binding: EntityBinding) {
    // Most objects of one entity are consecutive.
    if binding === bindings.last || bindings.contains(where: { $0 === binding }) { return }
    bindings.append(binding)
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The new objects by their keys in the transaction.
  func objectsByPendingKey() -> [RowKey: NSManagedObject] {
    var objects: [RowKey: NSManagedObject] = [:]
    for object in inserted { objects[RowKey(root: object._binding.root, key: object.keyInSave)] = object }
    return objects
  }

  /// Visits changed objects that have changed slots of one kind.
  func visitChanged(_ kind: (SavedSlots) -> PropertySet, _ body: (NSManagedObject, PropertySet) -> Void) {
    if bindings.allSatisfy({ kind($0.savedSlots).isEmpty }) { return }
    var binding: EntityBinding?
    var wanted = PropertySet()
    for objects in [inserted, updated] {
      objects[...].forEachBorrowed { object in
        // Most objects of one entity are consecutive.
        if object._binding !== binding {
          binding = object._binding
          wanted = kind(object._binding.savedSlots)
        }
        if wanted.isEmpty { return }
        let slots = object.changedSlots.intersection(wanted)
        if !slots.isEmpty { body(object, slots) }
      }
    }
  }
}

extension NSManagedObject {
  /// The key of the object in the transaction: its permanent key, or its negative number among the new
  /// objects. Objects of child contexts have no numbers, and keep their temporary keys.
  final var keyInSave: Int64 { hasPermanentKey || _saveOrdinal == 0 ? _key : -Int64(_saveOrdinal) }

  /// Whether the object has a row after the current save, unless the save deletes it.
  final var hasRowAfterSave: Bool { isInserted || (isStored && !isGone) }
}
