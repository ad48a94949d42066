internal import CDEStore
internal import Foundation

/// What happened since the last "objects did change" notification.
struct PendingChanges {
  var objects: [NSManagedObject] = []
  var refreshed: [NSManagedObject] = []
  var deletedByMerge: [NSManagedObject] = []
  var insertedByMerge: [NSManagedObject] = []
  var isMerge = false

  var isEmpty: Bool {
    objects.isEmpty && refreshed.isEmpty && deletedByMerge.isEmpty && insertedByMerge.isEmpty
  }
}

extension NSManagedObjectContext {
  /// Takes note of a change of an object, once until it is announced and once until it is saved.
  func noteChange(_ object: NSManagedObject) {
    if !object._flags.contains(.listed) {
      object._flags.insert(.listed)
      changed.append(object)
    }
    if !object._flags.contains(.pending) {
      object._flags.insert(.pending)
      pending.objects.append(object)
      if !isTurnScheduled { scheduleTurn() }
    }
  }

  /// Announces changes when the current turn of the lane is over.
  ///
  /// Not for a context used before anybody entered it: its announcements come with the save.
  private func scheduleTurn() {
    guard lane.wasEntered, lane.isCurrent else { return }
    isTurnScheduled = true
    lane.enqueue { [weak self] in
      self?.isTurnScheduled = false
      self?.processPendingChanges()
    }
  }

  /// The objects that the next save inserts.
  public var insertedObjects: Set<NSManagedObject> {
    preconditionIsolated("insertedObjects")
    return Set(changed.lazy.filter { $0._flags.contains(.inserted) && !$0._flags.contains(.deleted) })
  }

  /// Saved objects with unsaved changes.
  public var updatedObjects: Set<NSManagedObject> {
    preconditionIsolated("updatedObjects")
    return Set(changed.lazy.filter(\.isUpdated))
  }

  /// The objects that the next save deletes.
  public var deletedObjects: Set<NSManagedObject> {
    preconditionIsolated("deletedObjects")
    return Set(changed.lazy.filter { $0._flags.contains(.deleted) })
  }

  /// Every object the context knows. Costs by their number.
  public var registeredObjects: Set<NSManagedObject> {
    preconditionIsolated("registeredObjects")
    return Set(registry?.all() ?? [])
  }

  public var hasChanges: Bool {
    preconditionIsolated("hasChanges")
    return changed.contains { $0.hasChanges }
  }

  /// The object registered for an ID, or nil. Never asks the store.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    preconditionIsolated("registeredObject(for:)")
    return registry?.object(root: objectID.binding.root, key: objectID.key)
  }

  // MARK: Insertion

  /// Inserts an object made without a context. An object that is in this context already stays as it is.
  public func insert(_ object: NSManagedObject) {
    preconditionIsolated(object._binding.name)
    if object._registry === registry, registry != nil { return }
    precondition(
      object._registry == nil,
      "\(object._binding.name) is in another context already. Insert an object into one context only.")
    guard let registry else {
      preconditionFailure("The context has no persistentStoreCoordinator; take it from a container, or set one.")
    }
    precondition(
      registry.model === object._binding.model,
      "\(object._binding.name) belongs to another model than the context's. Make it from the model of the container.")
    precondition(
      !registry.model.schema.entities[object._binding.index].source.isAbstract,
      "\(object._binding.name) is abstract. Insert an object of one of its sub-entities.")
    object.attach(to: registry, key: nextTemporaryKey(), flags: baseFlags.union(.inserted))
    noteChange(object)
    object.awakeFromInsert()
  }

  // MARK: Deletion

  /// Marks an object to be deleted by the next save, and applies the delete rules of its relationships.
  ///
  /// An object never saved is forgotten at once. Related objects follow the rules now: nullified
  /// ones lose the reference, cascades are marked too; `deny` is checked by the save.
  ///
  /// - Precondition: the object belongs to this context.
  public func delete(_ object: NSManagedObject) {
    preconditionIsolated(object._binding.name)
    guard object._registry === registry, registry != nil else {
      if object._flags.contains(.gone) || object._registry == nil { return }
      preconditionFailure(
        "An NSManagedObjectContext cannot delete objects in other contexts. Look the object up here by its objectID.")
    }
    guard !object._flags.contains(.deleted) else { return }
    if object._flags.contains(.fault) { fire(object) }
    guard !object._flags.contains(.gone) else { return }
    object.prepareForDeletion()
    object._flags.insert(.deleted)
    noteChange(object)
    for info in object._binding.properties where info.isRelationship && !info.isTransient {
      applyDeleteRule(info, of: object)
    }
  }

  private func applyDeleteRule(_ info: PropertyInfo, of object: NSManagedObject) {
    switch info.kind {
    case .toOne:
      if info.deleteRule == .cascade {
        if let other = object.toOne(info.slot) { delete(other) }
      } else if info.inverseSlot != nil {
        leave(object, info)
      }
    case .toMany:
      guard info.deleteRule != .noAction else { return }
      // Without an inverse nothing but the pairs refers to the members, and these go with the row.
      if info.deleteRule != .cascade, info.inverseSlot == nil { return }
      let members = object.loadedMembers(info.slot).objects
      switch info.deleteRule {
      case .cascade: for member in members { delete(member) }
      case .nullify: for member in members where !member._flags.contains(.deleted) { unlink(member, info, from: object) }
      case .deny, .noAction: break
      }
    case .attribute, .composite: break
    }
  }

  /// Takes a deleted object out of its to-one destination's inverse, as far as that is in memory.
  private func leave(_ object: NSManagedObject, _ info: PropertyInfo) {
    guard info.deleteRule == .nullify, let inverse = info.inverseSlot else { return }
    let destination: NSManagedObject?
    if case .toOne(let known)? = object._overlay?.values[info.slot] {
      destination = known
    } else if let key = info.cells.first.flatMap({ object._batch.integer(Int(object._row), $0) }) {
      let root = registry.model.entities[info.destination].root
      // An owner that nobody holds needs no object: the commit names it as touched.
      destination =
        info.inverseIsToMany
        ? registry.object(root: root, key: key) : self.object(entity: info.destination, key: key)
    } else {
      destination = nil
    }
    guard let destination, !destination._flags.contains(.deleted) else { return }
    let theirs = destination._binding.layout.slot(
      named: registry.model.entities[info.destination].properties[inverse].name)!
    if info.inverseIsToMany {
      destination.writeRemove(theirs, object)
    } else {
      destination.writeToOne(theirs, nil)
    }
  }

  private func unlink(_ member: NSManagedObject, _ info: PropertyInfo, from owner: NSManagedObject) {
    guard let inverse = info.inverseSlot else { return }
    let theirs = member._binding.layout.slot(
      named: registry.model.entities[info.destination].properties[inverse].name)!
    if info.inverseIsToMany { member.writeRemove(theirs, owner) } else { member.writeToOne(theirs, nil) }
  }

  // MARK: Announcing

  /// Posts what changed since the last time, if anything did; the lane does so by itself at the end of
  /// each turn.
  public func processPendingChanges() {
    preconditionIsolated("processPendingChanges()")
    guard !pending.isEmpty else { return }
    let pending = self.pending
    self.pending = PendingChanges()
    for object in pending.objects { object._flags.remove(.pending) }
    var userInfo: [AnyHashable: Any] = [:]
    func add(_ key: String, _ objects: Set<NSManagedObject>) {
      if !objects.isEmpty { userInfo[key] = objects }
    }
    let inserted = pending.objects.filter { $0._flags.intersection([.inserted, .deleted]) == .inserted }
    let deleted = pending.objects.filter { $0._flags.contains(.deleted) }
    let updated = pending.objects.filter(\.isUpdated)
    add(NSInsertedObjectsKey, Set(inserted).union(pending.insertedByMerge))
    add(NSUpdatedObjectsKey, Set(updated))
    add(NSDeletedObjectsKey, Set(deleted).union(pending.deletedByMerge))
    add(NSRefreshedObjectsKey, Set(pending.refreshed))
    if pending.isMerge { userInfo[NSObjectsChangedByMergeChangesKey] = true }
    guard !userInfo.isEmpty else { return }
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: userInfo)
  }
}
