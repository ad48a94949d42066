@_spi(CDE) internal import CDEProfiling
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// Reads the row of a fault.
  ///
  /// If the row no longer exists, the object gets its declared defaults and `isDeleted` becomes true.
  func fire(_ object: NSManagedObject) {
    guard object.isFault else { return }
    if !fetchedPages.isEmpty, fireBatch(of: object) { return }
    var row: RowReference?
    if object.isStored {
      do throws(StoreError) {
        row = try loadedSource(of: object._binding)
          .row(of: object._binding, key: object._key, for: .object(entity: object._binding.name))
        if ProfileRecorder.isRecording { noteFault(of: object, nil) }
      } catch {
        // A property read can't throw. The object stays a fault and returns defaults, and the next read tries
        // again.
        noteUnread(object, nil, error)
        object._batch = object._binding.defaults
        object._row = 0
        return
      }
    }
    guard let row, row.batch.layout.entity == object._binding.index else {
      if shouldDeleteInaccessibleFaults || !object.isStored {
        vanish(object)
      } else {
        noteInaccessible(object)
      }
      return
    }
    object.take(row.batch, row.row)
    releaseRival(object)
    awaken(object)
  }

  /// Reads the rows of the batch of a fetch that an object is in.
  ///
  /// - Returns: whether the object is no fault any more. Otherwise it is in no batch, its row is gone, or the read failed.
  private func fireBatch(of object: NSManagedObject) -> Bool {
    let root = object._binding.root
    let keys = fetchedPages.batch(root: root, key: object._key)
    if keys.count < 2 { return false }
    fireAll(keys.compactMap { registry.object(root: root, key: $0) })
    return !object.isFault
  }

  /// Notes a fault that was fired alone in the profile.
  @inline(never)
  private func noteFault(of object: NSManagedObject, _ slot: SlotIndex?) {
    let counted = profile.last.add(ActivityKey(object._binding, slot))
    if counted == false { return }
    let activity = activity(.shared)
    profile.note(object._binding, slot, isCounted: counted != nil, in: activity) { origin, info in
      registry.all().contains { other in
        guard !other.isFault, other._binding === origin,
          let cell = info.cells.first(where: { other._batch.layout.cells[$0].role == .key })
        else { return false }
        return other._batch.integer(Int(other._row), cell) == object._key
      }
    }
  }

  /// What the profile records of this context.
  final func activity(_ recorder: ProfileRecorder) -> ContextActivity {
    profile.activity(recorder) {
      name ?? (concurrencyType == .mainQueue ? "a main context" : "a private context")
    }
  }

  /// Notes that a fault without a row was read, which the context is not to take for a deletion.
  @inline(never)
  private func noteInaccessible(_ object: NSManagedObject) {
    noteUnread(
      object, nil,
      StoreError(
        .unreadable, "Its row does not exist, and shouldDeleteInaccessibleFaults is false.",
        entity: object._binding.name))
    object._batch = object._binding.defaults
    object._row = 0
  }

  func vanish(_ object: NSManagedObject) {
    object.becomeGone(.notFound)
    registry.vanished += 1
    object._batch = object._binding.defaults
    object._row = 0
  }

  /// The source of an entity's rows, for reading a row that existed before.
  func loadedSource(of binding: EntityBinding) throws(StoreError) -> any RowSource {
    if let source = rowSource { return source }
    throw StoreError(.closed, "The store of \(binding.name) was removed.", entity: binding.name)
  }

  /// Reads the rows of all faults among objects, in one query for each entity.
  func fireAll(_ objects: [NSManagedObject]) {
    let faults = objects.filter { $0.isFault && $0.isStored }
    for (root, group) in Dictionary(grouping: faults, by: { $0._binding.root }) {
      guard let source = rowSource, source.handle(for: group[0]._binding) != nil else {
        continue
      }
      let keys = group.map { $0._key }.sorted()
      do {
        let rows = try source.rows(of: registry.model.entities[root.entity], keys: keys)
        for batch in rows.batches {
          for row in 0..<batch.count {
            guard let object = registry.object(root: root, key: batch.key(row)),
              object.isFault,
              object._binding.index == batch.layout.entity
            else { continue }
            object.take(batch, row)
            releaseRival(object)
            awaken(object)
          }
        }
      } catch {
        noteUnread(group.count, of: group[0]._binding, error)
      }
    }
  }

  /// Reports that several objects could not be read. They stay faults, and the next read of each one tries again.
  func noteUnread(_ count: Int, of binding: EntityBinding, _ error: any Error) {
    Diagnostics.report("\(count) objects of \(binding.name) could not be read: \(error)")
    failedReads.last = error as? StoreError ?? StoreError(.unreadable, "\(error)", cause: error)
  }

  /// Whether no possible destination of a relationship is registered.
  private func knowsNone(of info: PropertyInfo) -> Bool {
    registry.count(root: registry.model.entities[info.destination].root) == 0
  }

  /// Reports a failed read where no error can be thrown.
  ///
  /// A save that needs the read, to apply or to check a delete rule, must fail. In other cases the object
  /// records the failure, because the application may have used the result of the read.
  @inline(never)
  func noteUnread(_ object: NSManagedObject, _ property: String?, _ error: any Error) {
    let what = property.map { "\(object._binding.name).\($0)" } ?? object._binding.name
    // Once for each property. Reading the property again gives no new information.
    if object.problems.notedUnread.insert(property ?? "").inserted {
      let reason = (error as? any CDEError)?.message ?? "\(error)"
      Diagnostics.report(
        "\(what) of \(object.objectID.uriRepresentation().absoluteString) could not be read: \(reason)")
    }
    failedReads.last = error as? StoreError ?? StoreError(.unreadable, "\(error)", cause: error)
    if !failedReads.areRepeated { object.noteUnread(property, error) }
  }

  /// Clears the records of failed reads in all objects.
  func forgetUnreadObjects() {
    guard failedReads.areRemembered else { return }
    failedReads.areRemembered = false
    for object in registry?.all() ?? [] { object.forgetUnread() }
  }

  /// The stored members of a to-many relationship; `nil` when they can't be read.
  func storedMembers(of object: NSManagedObject, slot: SlotIndex) -> [NSManagedObject]? {
    guard object.isStored else { return [] }
    let registry = registry!
    do throws(StoreError) {
      let info = object._binding.properties[slot]
      let related = try loadedSource(of: object._binding).related(
        to: [object._key], of: object._binding, slot: slot,
        isKnown: knowsNone(of: info) ? nil : { root, key in registry.realized(root: root, key: key) },
        for: .relationship(entity: object._binding.name, name: info.name))
      if ProfileRecorder.isRecording { noteFault(of: object, slot) }
      return members(related)[0]
    } catch {
      noteUnread(object, object._binding.properties[slot].name, error)
      return nil
    }
  }

  /// The IDs of the stored members of a to-many relationship, read without their values.
  ///
  /// - Returns: nil when unsaved changes may concern the members, or they can't be read.
  func storedMemberIDs(of object: NSManagedObject, slot: SlotIndex) -> [NSManagedObjectID]? {
    guard object.isStored, !changed.contains(where: \.hasChanges) else { return nil }
    do throws(StoreError) {
      let related = try loadedSource(of: object._binding).related(
        to: [object._key], of: object._binding, slot: slot, isKnown: { _, _ in true }, for: nil)
      return related.entries.compactMap { entry in
        let binding = registry.model.entities[entry.entity.index]
        if let known = registry.object(root: binding.root, key: entry.key) {
          return known.isDeletedOrGone ? nil : known.objectID
        }
        // A temporary ID names an object of this context.
        if entry.key < 0 { return self.object(entity: binding.index, key: entry.key).objectID }
        return NSManagedObjectID(
          binding: binding, key: entry.key, store: storeHandle(for: binding, key: entry.key))
      }
    } catch {
      return nil
    }
  }

  private func members(_ related: RelatedRows) -> [[NSManagedObject]] {
    let byBatch = related.rows.batches.map { adopt(FetchedRows(batches: [$0])) }
    return related.ranges.map { range in
      related.entries[range].map { entry in
        entry.batch >= 0
          ? byBatch[Int(entry.batch)][Int(entry.row)] : object(entity: entry.entity.index, key: entry.key)
      }
    }
  }

  /// Loads a path of relationships for many objects, with one query for each step.
  func prefetch(_ path: String, of objects: [NSManagedObject]) throws {
    var current = objects
    let names = path.split(separator: ".").map(String.init)
    for (place, name) in names.enumerated() {
      let isLast = place == names.count - 1
      var next: [NSManagedObject] = []
      for (entity, group) in Dictionary(grouping: current, by: { $0._binding.index }) {
        let binding = registry.model.entities[entity]
        guard let info = binding.property(name), info.isRelationship else {
          throw noRelationship(name, binding)
        }
        if info.isToMany {
          // The path goes on from members that were loaded before, too.
          let loaded = isLast ? [] : group.filter { $0.members(info.slot).isLoaded }
          next += try prefetchMembers(info, of: group, binding)
          for owner in loaded { next += owner.members(info.slot).objects }
        } else {
          fireAll(group)
          let destinations = group.compactMap { $0.toOne(info.slot) }
          fireAll(destinations)
          // Each owner retains its prefetched objects.
          for owner in group {
            if let object = owner.toOne(info.slot) { owner.overlay.values[info.slot] = .toOne(object) }
          }
          next += destinations
        }
      }
      if isLast { return }
      var seen = Set<ObjectIdentifier>()
      current = next.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
  }

  func noRelationship(_ name: String, _ binding: EntityBinding) -> ManagedObjectError {
    ManagedObjectError(
      .unsupportedRequest, "\(binding.name).\(name) is no relationship and can't be prefetched.",
      entity: binding.name, property: name)
  }

  @discardableResult
  func prefetchMembers(
    _ info: PropertyInfo, of owners: [NSManagedObject], _ binding: EntityBinding
  ) throws -> [NSManagedObject] {
    let unloaded = owners.filter { $0.isStored && !$0.members(info.slot).isLoaded }
    guard !unloaded.isEmpty, let source = rowSource, source.handle(for: binding) != nil
    else {
      return []
    }
    let registry = registry!
    let related: RelatedRows
    do {
      related = try source.related(
        to: unloaded.map { $0._key }, of: binding, slot: info.slot,
        isKnown: knowsNone(of: info) ? nil : { root, key in registry.realized(root: root, key: key) },
        for: nil)
    } catch {
      throw ManagedObjectError.store(error)
    }
    var all: [NSManagedObject] = []
    for (owner, members) in zip(unloaded, members(related)) {
      owner.load(owner.members(info.slot), with: members, slot: info.slot)
      all += members
    }
    return all
  }

  func externalData(_ value: ExternalValue, for binding: EntityBinding) throws -> Data {
    Data(try loadedSource(of: binding).externalValue(value, of: binding))
  }

  func presentRow(of object: NSManagedObject) throws -> RowReference? {
    try loadedSource(of: object._binding).row(of: object._binding, key: object._key)
  }

  // MARK: Refreshing

  final func refreshObject(_ object: NSManagedObject, mergeChanges: Bool) {
    preconditionIsolated(object._binding.name)
    guard object._registry === registry, registry != nil, !object.isInserted else { return }
    if mergeChanges, object.isFault {
      object.forgetUnread()
      // Relationships can have been read without the row.
      guard let overlay = object._overlay else { return }
      overlay.unloadMembers()
    } else if mergeChanges {
      if let overlay = object._overlay { overlay.unloadMembers() }
      do {
        let source = try source()
        _ = try source.requiredHandle(for: object._binding)
        guard let row = try source.row(of: object._binding, key: object._key) else {
          // Another writer deleted it, so there is nothing to save.
          forgetMerged([object])
          announceSoon()
          return
        }
        let known = RowReference(batch: object._batch, row: Int(object._row))
        let isKnown = !object.isFault
        object.takeNews(row.batch, row.row)
        if isKnown { _ = unloadOwners(of: object, known, row) }
        noteRival(object, known, row)
        releaseRivals()
        tellChildrenOfEnded()
        object.forgetUnread()
        awaken([object], from: .refresh)
      } catch {
        // The object keeps its values, whether they were read or set.
        Diagnostics.report(
          "\(object._binding.name) \(object.objectID.uriRepresentation().absoluteString) could not be refreshed: \(error)"
        )
      }
    } else {
      withdrawLinks(of: object)
      object.turnIntoFault()
    }
    pending.refreshed.append(object)
    announceSoon()
    observer?.contextDidRefresh([object])
    if object.isKeyObserved { object.tellDifferences() }
  }

  final func refreshObjects() {
    preconditionIsolated("refreshAllObjects()")
    for object in registry?.all() ?? [] where !object.isInserted {
      refresh(object, mergeChanges: object.hasChanges)
    }
  }

  /// Withdraws an object's unsaved relationships from to-many relationships of the other side, where no
  /// change of the object itself would do so.
  private func withdrawLinks(of object: NSManagedObject) {
    guard let overlay = object._overlay else { return }
    for slot in overlay.changed {
      let info = object._binding.properties[slot]
      guard info.isRelationship, let inverse = info.inverseSlot else { continue }
      let name = registry.model.entities[info.destination].properties[inverse].name
      func forget(_ other: NSManagedObject) {
        guard let theirs = other._binding.layout.slot(named: name), let overlay = other._overlay else {
          return
        }
        if case .toMany(let members) = overlay.values[theirs] { members.forget(object) }
      }
      switch overlay.values[slot] {
      case .toMany(let members) where info.inverseIsToMany:
        for other in members.added.objects { forget(other) }
        for other in members.removed.objects { forget(other) }
      case .toOne(let other) where info.inverseIsToMany:
        forget(other)
        fallthrough
      case .null where info.kind == .toOne && info.inverseIsToMany:
        if let key = info.cells.first.flatMap({ object._batch.integer(Int(object._row), $0) }),
          let former = registry.object(root: registry.model.entities[info.destination].root, key: key)
        {
          forget(former)
        }
      default: break
      }
    }
  }
}

extension NSManagedObject {
  /// Drops values and changes. The next access reads the row again.
  final func turnIntoFault() {
    guard isStored else { return }
    willTurnIntoFault()
    // Unsaved references of other objects to this one belong to those objects. The members that these
    // references add stay.
    let kept = _overlay.map { overlay in
      overlay.changed.filter { slot in
        let info = _binding.properties[slot]
        guard info.isToMany, info.inverseSlot != nil, !info.inverseIsToMany else { return false }
        if case .toMany(let members) = overlay.values[slot] { return members.hasChanges }
        return false
      }.map { slot in (slot, overlay.values[slot]) }
    }
    dropOverlay()
    for (slot, value) in kept ?? [] {
      if case .toMany(let members) = value { members.unload() }
      overlay.values[slot] = value
    }
    _batch = _binding.defaults
    _row = 0
    becomeFault()
    didTurnIntoFault()
  }
}

extension NSManagedObjectContext {
  /// Calls the hook of an object whose row was read. Values that the hook sets do not count as changes.
  func awaken(_ object: NSManagedObject) {
    let wasAwakening = isAwakening
    isAwakening = true
    object.awakeFromFetch()
    isAwakening = wasAwakening
  }
}
