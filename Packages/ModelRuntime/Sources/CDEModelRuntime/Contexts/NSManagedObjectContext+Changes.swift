@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// Notes a change of an object, once until it is announced and once until it is saved.
  func noteChange(_ object: NSManagedObject) {
    if object.enterChanged() { changed.append(object) }
    if object.enterPending() {
      pending.objects.append(object)
      if hooks.areRunning { hooks.changed.append(object) }
      announceSoon()
    }
  }

  func keepFormerValues(_ values: FormerValues, of object: NSManagedObject) { event.keep(values, of: object) }

  func eventValues(of object: NSManagedObject) -> FormerValues?? { event.values(of: object) }

  /// Announces changes after the current job of the executor.
  ///
  /// Does nothing inside a block, because the end of the block announces the changes. Does nothing for a
  /// private context that was not entered yet, because the save announces the changes.
  func announceSoon() {
    if let elsewhere = announcing.elsewhere {
      guard !announcing.isScheduled, elsewhere.isCurrent else { return }
      announcing.isScheduled = true
      elsewhere.enqueue { [weak self] in
        self?.announcing.isScheduled = false
        self?.processPendingChanges()
      }
      return
    }
    guard announcing.blockDepth == 0, !announcing.isScheduled,
      concurrencyType == .mainQueue || executor.wasEntered,
      executor.isCurrent
    else { return }
    announcing.isScheduled = true
    executor.enqueue { [weak self] in
      self?.announcing.isScheduled = false
      self?.processPendingChanges()
      self?.endUndoEvent()
    }
  }

  final var objectsToInsert: Set<NSManagedObject> {
    preconditionIsolated("insertedObjects")
    return Set(changed.lazy.filter { $0.isInserted && !$0.isMarkedDeleted })
  }

  final var objectsToUpdate: Set<NSManagedObject> {
    preconditionIsolated("updatedObjects")
    return Set(changed.lazy.filter(\.isUpdated))
  }

  final var objectsToDelete: Set<NSManagedObject> {
    preconditionIsolated("deletedObjects")
    return Set(changed.lazy.filter { $0.isMarkedDeleted && !$0.isInserted })
  }

  final var allObjects: Set<NSManagedObject> {
    preconditionIsolated("registeredObjects")
    return Set(registry?.all() ?? [])
  }

  final var hasUnsavedObjects: Bool {
    preconditionIsolated("hasChanges")
    return changed.contains { $0.hasChanges }
  }

  // MARK: Insertion

  /// Makes an object of a class that is known only as a type.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unknownEntity` when the model has no entity for the class.
  @_spi(CDE) public func insertNewObject<Item: PersistentEntity>(of type: Item.Type) throws -> Item {
    guard let model = modelBinding else { throw missingCoordinator }
    return Item(entity: try model.existingBinding(for: type).description, insertInto: self)
  }

  final func add(_ object: NSManagedObject) {
    preconditionIsolated(object._binding.name)
    let home = home
    if let theirs = object._home {
      checkPrecondition(
        theirs.address == home?.address,
        "\(object._binding.name) is in another context already. Insert an object into one context only.")
      if object.isMarkedDeleted {
        withdrawDeletion(of: object)
        unloadMembers()
      }
      return
    }
    guard let home else {
      failPrecondition(
        "The context has no persistentStoreCoordinator; take it from a container, or set one.")
    }
    add(object, in: home)
    if object._overlay != nil { insertRelated(to: object) }
  }

  private func add(_ object: NSManagedObject, in home: Borrowed<ObjectRegistry>) {
    home.with { add(object, to: $0) }
    noteChange(object)
    object.awakeFromInsert()
  }

  /// Inserts all loose objects that a new object is related to, and those that they are related to.
  private func insertRelated(to first: NSManagedObject) {
    guard let home else { return }
    var objects = [first]
    while let object = objects.popLast() {
      var related: [(NSManagedObject, PropertyInfo)] = []
      object.forEachRelated { other, info in
        if other._home?.address != home.address { related.append((other, info)) }
      }
      for (other, info) in related {
        // A hook may have inserted it meanwhile.
        if other.isLoose {
          add(other, in: home)
          objects.append(other)
        } else if other.hasLostContext {
          object.refuse(other, as: info)
        }
      }
    }
  }

  private func add(_ object: NSManagedObject, to registry: ObjectRegistry) {
    if registry.model !== object._binding.model { object.rebind(to: registry.model) }
    checkPrecondition(
      registry.model === object._binding.model,
      "The model of this context has no entity \(object._binding.name). Make the object from the model of the container."
    )
    checkPrecondition(
      !object._binding.isAbstract,
      "\(object._binding.name) is abstract. Insert an object of one of its sub-entities.")
    if type(of: object) != object._binding.objectClass { hasOtherClasses = true }
    object.keepRow()
    object.attach(to: registry, key: nextTemporaryKey(), flags: baseFlags.union(.inserted))
  }

  // MARK: Announcing

  /// The objects that an announcement named. A save that follows at once names the same objects. It uses
  /// these sets again, because making them is a large part of the cost of a large save.
  struct Announced {
    /// New objects, named for the first time.
    var inserted: Set<NSManagedObject> = []
    /// Changed objects that were saved before.
    var updated: Set<NSManagedObject> = []
    /// Deleted objects that were saved before.
    var deleted: Set<NSManagedObject> = []

    /// Makes empty sets that have room for the changes of these objects.
    init(of objects: ArraySlice<NSManagedObject>) {
      var (insertions, updates, deletions) = (0, 0, 0)
      objects.forEachBorrowed { object in
        switch object.unsavedChange {
        case .insertion: insertions += 1
        case .update: updates += 1
        case .deletion: deletions += 1
        case .none: break
        }
      }
      inserted.reserveCapacity(insertions)
      updated.reserveCapacity(updates)
      deleted.reserveCapacity(deletions)
    }

    init() {}

    /// Releases the objects before their other owners do. To free objects in a set's arbitrary order takes
    /// twice as long. Never inlined, because the optimiser may delay a release.
    @inline(never)
    mutating func letGo() { self = Announced() }
  }

  /// - Returns: the new and the changed objects among those announced.
  @discardableResult
  func announcePending() -> Announced {
    if registry?.hasKeyObservers == true { tellKeyObservers() }
    guard !pending.isEmpty else { return Announced() }
    announcing.count &+= 1
    let pending = self.pending
    self.pending = PendingChanges()
    if undoRecorder != nil { recordUndo(pending) }
    event.announce(pending.objects)
    defer { event.finish() }
    let news = merging.news
    if news != nil { merging.news = nil }
    var userInfo: [AnyHashable: Any] = [:]
    func add(_ key: String, _ objects: Set<NSManagedObject>) {
      if !objects.isEmpty { userInfo[key] = objects }
    }
    var announced = Announced(of: pending.objects[...])
    // New objects that were already announced.
    var renewed: Set<NSManagedObject> = []
    pending.objects[...].forEachBorrowed { object in
      object.leavePending()
      object.leaveEvent()
      switch object.unsavedChange {
      case .insertion:
        if object.noteAnnounced() {
          announced.inserted.insert(object)
        } else {
          renewed.insert(object)
        }
      case .deletion: announced.deleted.insert(object)
      case .update: announced.updated.insert(object)
      case .none: break
      }
    }
    // A union copies the set.
    add(
      NSInsertedObjectsKey,
      pending.appeared.isEmpty
        ? announced.inserted : announced.inserted.union(pending.appeared))
    add(NSUpdatedObjectsKey, renewed.isEmpty ? announced.updated : announced.updated.union(renewed))
    let removed = pending.deletedByMerge + pending.forgotten
    add(NSDeletedObjectsKey, removed.isEmpty ? announced.deleted : announced.deleted.union(removed))
    add(NSRefreshedObjectsKey, Set(pending.refreshed))
    if pending.isMerge { userInfo[NSObjectsChangedByMergeChangesKey] = true }
    guard !userInfo.isEmpty else { return announced }
    PostedNames.objectsDidChange.post(self, userInfo)
    if !trackers.isEmpty { tellTrackers(pending, news) }
    return announced
  }

  /// Tells the observers of keys what a merge, a rollback or a delete rule has changed.
  @inline(never)
  private func tellKeyObservers() {
    registry.tellKeyChanges()
    for object in pending.refreshed + pending.appeared where object.isKeyObserved {
      object.tellDifferences()
    }
  }
}
