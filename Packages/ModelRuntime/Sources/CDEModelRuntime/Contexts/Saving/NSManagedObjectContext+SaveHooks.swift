internal import CDEStore
internal import Foundation

// The steps before a save writes: hooks and announcements, until nothing changes any more.
extension NSManagedObjectContext {
  /// Calls the hooks of all changed objects and announces the changes, until nothing changes any more.
  ///
  /// - Returns: the announced objects, if there was exactly one announcement.
  /// - Throws: ``ManagedObjectError`` with code `.unsettledChanges` when the changes do not end.
  func runHooks() throws -> Announced {
    var rounds = HookRounds()
    hooks.areRunning = true
    defer { endHooks() }
    try callWillSaveHooks(of: changed, &rounds, releasing: true)
    var announced = announcePending()
    while !pending.isEmpty || !hooks.changed.isEmpty {
      let further = rounds.changed(among: takeChangedByHooks())
      if further.isEmpty, pending.isEmpty { break }
      try callWillSaveHooks(of: further, &rounds, releasing: true)
      announcePending()
      announced = Announced()
    }
    return announced
  }

  /// Calls the hooks of objects that a conflict with another writer added to a save after its start.
  ///
  /// - Parameter called: the objects whose hooks were called before. The function adds the others.
  func callWillSaveHooks(but called: inout Set<ObjectIdentifier>) throws {
    settlePartners()
    let joined = changed.filter { called.insert(ObjectIdentifier($0)).inserted }
    if joined.isEmpty { return }
    var rounds = HookRounds()
    hooks.areRunning = true
    defer { endHooks() }
    try callWillSaveHooks(of: joined, &rounds, releasing: false)
    for object in changed { called.insert(ObjectIdentifier(object)) }
  }

  private func endHooks() {
    hooks.areRunning = false
    hooks.changed = []
    hooks.silenced = [:]
  }

  private func takeChangedByHooks() -> [NSManagedObject] {
    defer { hooks.changed = [] }
    return hooks.changed
  }

  /// Calls hooks, then the hooks of the objects that they changed, until no hook changes anything.
  ///
  /// - Parameters:
  ///   - objects: a separate list, because a hook or a rollback in it may change the context's list.
  ///   - releases: whether one-to-one partners that a merge brought are released first.
  private func callWillSaveHooks(
    of objects: [NSManagedObject], _ rounds: inout HookRounds, releasing releases: Bool
  ) throws {
    // A hook may write values that it reads, and no later step repeats these reads.
    failedReads.areRepeated = false
    defer { failedReads.areRepeated = true }
    var objects = objects
    repeat {
      let isFirst = rounds.isFirst
      try rounds.begin(with: objects)
      objects[...].forEachBorrowed { object in
        // The hook clears the flag. A later change sets it again and calls the hook again.
        if !object.leavePending(), !isFirst { return }
        if releases { settlePartners(of: object) }
        guard object.hasChanges else { return }
        if !isFirst { rounds.note(object) }
        object.willSave()
      }
      objects = rounds.changed(among: takeChangedByHooks())
    } while !objects.isEmpty
  }
}

/// Counts the rounds of hooks before a save, and distinguishes changes from equal values that are set again.
private struct HookRounds {
  /// The same limit as in Core Data.
  private static let limit = 1_000
  private var count = 0
  /// The objects' values before their last hook call. The first round records nothing, because most saves
  /// have no other round.
  private var images: [ObjectIdentifier: ValueImage] = [:]

  var isFirst: Bool { count == 0 }

  /// - Throws: ``ManagedObjectError`` when the limit is reached.
  mutating func begin(with objects: [NSManagedObject]) throws {
    if count == Self.limit { throw endless(objects) }
    count += 1
  }

  mutating func note(_ object: NSManagedObject) { images[ObjectIdentifier(object)] = ValueImage(object) }

  /// The objects that have changed since their hooks were called.
  func changed(among objects: [NSManagedObject]) -> [NSManagedObject] {
    objects.filter { object in
      guard object.isPending else { return false }
      guard let image = images[ObjectIdentifier(object)] else { return true }
      return image.differs(from: object)
    }
  }

  private func endless(_ objects: [NSManagedObject]) -> ManagedObjectError {
    func properties(_ object: NSManagedObject) -> [String] {
      images[ObjectIdentifier(object)]?.differences(from: object) ?? []
    }
    let names = objects.prefix(3).map { object in
      let names = properties(object)
      let what =
        names.isEmpty ? object._binding.name : "\(object._binding.name).\(names.joined(separator: ", "))"
      return "\(what) of \(object.objectID.uriRepresentation().absoluteString)"
    }
    let list =
      names.isEmpty
      ? "an observer answers each announcement with another change"
      : names.joined(separator: "; ") + (objects.count > 3 ? "; and \(objects.count - 3) more objects" : "")
    return ManagedObjectError(
      .unsettledChanges,
      "After 1,000 rounds of willSave() the save still finds changes: \(list). In willSave() and in observers of "
        + "changes set a value only if it differs, or use setPrimitiveValue(_:forKey:), and save again.",
      entity: objects.first?._binding.name, property: objects.first.flatMap { properties($0).first },
      objectID: objects.first?.objectID, object: objects.first)
  }
}

/// The unsaved values of an object at one moment.
private struct ValueImage {
  private let object: NSManagedObject
  private let change: UnsavedChange
  private let values: IndexedArray<SlotIndex, Value>

  private enum Value {
    case single(_PropertyValue)
    case members(added: [ObjectIdentifier], removed: [ObjectIdentifier], all: [ObjectIdentifier])
  }

  init(_ object: NSManagedObject) {
    self.object = object
    change = object.unsavedChange
    values =
      object._overlay.map { overlay in
        IndexedArray(
          overlay.slots.map { slot in
            guard let members = overlay.members(slot) else { return .single(overlay.values[slot]) }
            return .members(
              added: members.added.objects.map(ObjectIdentifier.init),
              removed: members.removed.objects.map(ObjectIdentifier.init),
              all: members.isReordered ? members.objects.map(ObjectIdentifier.init) : [])
          })
      } ?? []
  }

  func differs(from object: NSManagedObject) -> Bool {
    change != object.unsavedChange || !differences(from: object).isEmpty
  }

  /// The names of the properties whose values differ from those of the object now.
  func differences(from object: NSManagedObject) -> [String] {
    let now = ValueImage(object)
    let silenced =
      object.managedObjectContext?.hooks.silenced[ObjectIdentifier(object)] ?? PropertySet()
    return object._binding.properties.filter { info in
      if silenced.contains(info.slot) { return false }
      let before = values.indices.contains(info.slot) ? values[info.slot] : .single(.unset)
      let after = now.values.indices.contains(info.slot) ? now.values[info.slot] : .single(.unset)
      switch (before, after) {
      case (.single(let one), .single(let other)): return !one.isSame(as: other)
      case (.members(let added, let removed, let all), .members(let added2, let removed2, let all2)):
        return added != added2 || removed != removed2 || all != all2
      // Reading members meanwhile is no change.
      case (.single, .members(let added, let removed, let all)),
        (.members(let added, let removed, let all), .single):
        return !(added.isEmpty && removed.isEmpty && all.isEmpty)
      }
    }.map(\.name)
  }
}
