@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// Both sides of a relationship change together. Each change goes through `setToOne`, `addMember` or
// `removeMember`, which first write one side raw and then the other.
extension NSManagedObject {
  // MARK: Reading

  /// The destination of a to-one relationship. It is made as a fault if it is not registered.
  final func toOne(_ slot: SlotIndex) -> NSManagedObject? {
    willAccess()
    if let overlay = _overlay {
      switch overlay.values[slot] {
      case .unset: break
      case .toOne(let object): return object
      default: return nil
      }
    }
    return withProperty(slot, storedToOne)
  }

  /// The destination of a to-one relationship according to the row, which the object keeps.
  private func storedToOne(_ info: PropertyInfo) -> NSManagedObject? {
    guard let object = rowDestination(info) else { return nil }
    // Objects with an overlay or a registrar keep the destination. For other objects the context's ring of
    // recent faults keeps it for a while.
    if _flags.contains(.hasOverlay) || _registrar != nil { overlay.values[info.slot] = .toOne(object) }
    return object
  }

  /// The destination of a to-one relationship according to the row.
  final func rowDestination(_ info: PropertyInfo) -> NSManagedObject? {
    guard let cell = info.cells.first, let key = _batch.integer(Int(_row), cell) else { return nil }
    guard let context = _registry?.context else {
      reportLostContext(info.name)
      return nil
    }
    let object =
      isEntityUnknown(info)
      ? context.objectOfRow(_binding.model.entities[info.destination], key)
      : context.object(entity: storedEntity(info), key: key)
    // In a damaged store the row may be of an entity that is no destination of the relationship.
    return info.destinations.contains(object.withBinding(\.index)) ? object : nil
  }

  /// Whether a reference does not name the entity of its row, although several are possible.
  private func isEntityUnknown(_ info: PropertyInfo) -> Bool {
    guard let cell = info.entityCell(in: _binding.layout) else { return false }
    guard let concrete = _batch.entity(Int(_row), cell) else { return true }
    return !info.destinations.contains(concrete)
  }

  /// The concrete entity that a to-one relationship's row refers to.
  final func storedEntity(_ info: PropertyInfo) -> EntityIndex {
    storedEntity(info, in: RowReference(batch: _batch, row: Int(_row)))
  }

  final func storedEntity(_ info: PropertyInfo, in row: RowReference) -> EntityIndex {
    guard let cell = info.entityCell(in: _binding.layout), let concrete = row.batch.entity(row.row, cell),
      info.destinations.contains(concrete)
    else { return info.destination }
    return concrete
  }

  /// The members of a to-many relationship, without loading them.
  final func members(_ slot: SlotIndex) -> ToManyMembers {
    if let known = withOverlay({ $0.members(slot) }) ?? nil { return known }
    let isNew = !isStored
    let made = ToManyMembers(isLoaded: isNew, isOrdered: _binding.properties[slot].isOrdered)
    overlay.values[slot] = .toMany(made)
    return made
  }

  /// The members of a to-many relationship, loaded. If they can't be read they stay unloaded, and the next
  /// use tries again.
  final func loadedMembers(_ slot: SlotIndex) -> ToManyMembers {
    if _flags.contains(.checked) { checkIsolation() }
    let members = members(slot)
    if !members.isLoaded {
      let context = _registry?.context
      if context == nil { reportLostContext(_binding.properties[slot].name) }
      guard let stored = context == nil ? [] : context?.storedMembers(of: self, slot: slot) else {
        return members
      }
      load(members, with: stored, slot: slot)
    }
    if let vanished = _registry?.vanished, vanished != members.clearedAt {
      members.clearVanished()
      members.clearedAt = vanished
    }
    return members
  }

  final func load(_ members: ToManyMembers, with stored: [NSManagedObject], slot: SlotIndex) {
    let info = _binding.properties[slot]
    guard let inverse = info.inverseSlot else {
      members.load(stored)
      return
    }
    guard !info.inverseIsToMany else {
      for object in members.load(stored) {
        // Both sides of a pair have the same change.
        let theirs = object.slot(of: info, inverse)
        if !(object === self && theirs == slot) { object._overlay?.members(theirs)?.forget(self) }
      }
      return
    }
    members.load(stored, isOwnedByMembers: true) { object in
      guard let overlay = object._overlay else { return nil }
      let theirs = object.slot(of: info, inverse)
      guard overlay.unsaved.contains(theirs) else { return nil }
      if case .toOne(let owner) = overlay.values[theirs] { return owner === self }
      return false
    }
  }

  // MARK: Writing, both sides

  final func setToOne(_ slot: SlotIndex, _ object: NSManagedObject?) {
    withProperty(slot) { setToOne($0, object) }
  }

  private func setToOne(_ info: PropertyInfo, _ object: NSManagedObject?) {
    let slot = info.slot
    if let object { checkSameContext(object, info) }
    let old = toOne(slot)
    if let inverse = info.inverseSlot, !info.inverseIsToMany, let old, old !== object {
      // This is the first step, because an object may be related to itself.
      old.leave(old.slot(of: info, inverse), self)
    }
    writeToOne(slot, object)
    guard let inverse = info.inverseSlot, old !== object else { return }
    if info.inverseIsToMany {
      old?.writeRemove(old!.slot(of: info, inverse), self)
      if let object { object.writeAdd(object.slot(of: info, inverse), self) }
    } else {
      _registry?.context?.notePartner()
      if let object {
        let theirs = object.slot(of: info, inverse)
        if let rival = object.toOne(theirs), rival !== self {
          rival.leave(rival.slot(named: info.name), object)
        }
        object.writeToOne(theirs, self)
      }
    }
  }

  /// Ends a one-to-one relationship with an object, unless the relationship already has another object. A
  /// merge may have brought a row that refers to an object whose unsaved value is different.
  final func leave(_ slot: SlotIndex, _ object: NSManagedObject) {
    guard toOne(slot) === object else { return }
    _registry?.context?.notePartner()
    writeToOne(slot, nil)
  }

  final func addMember(_ slot: SlotIndex, _ object: NSManagedObject, at index: Int? = nil) {
    let info = _binding.properties[slot]
    checkSameContext(object, info)
    guard let inverse = info.inverseSlot else {
      writeAdd(slot, object, at: index)
      return
    }
    let theirs = object.slot(of: info, inverse)
    if info.inverseIsToMany {
      let change = changeOfPair(slot, object, theirs, isAdded: true)
      writeAdd(slot, object, at: index, as: change)
      // A relationship that is its own inverse contains the pair of an object with itself only once.
      if !(object === self && theirs == slot) { object.writeAdd(theirs, self, as: change) }
    } else {
      if let old = object.toOne(theirs), old !== self { old.writeRemove(old.slot(named: info.name), object) }
      if object.toOne(theirs) !== self { object.writeToOne(theirs, self) }
      writeAdd(slot, object, at: index)
    }
  }

  final func removeMember(_ slot: SlotIndex, _ object: NSManagedObject) {
    let info = _binding.properties[slot]
    guard let inverse = info.inverseSlot else {
      writeRemove(slot, object)
      return
    }
    let theirs = object.slot(of: info, inverse)
    if info.inverseIsToMany {
      let change = changeOfPair(slot, object, theirs, isAdded: false)
      writeRemove(slot, object, as: change)
      if !(object === self && theirs == slot) { object.writeRemove(theirs, self, as: change) }
    } else if object.toOne(theirs) === self {
      object.writeToOne(theirs, nil)
      writeRemove(slot, object)
    }
  }

  /// The change that both sides of a pair have after it is added or removed.
  ///
  /// The sides may know different things, because one of them may be loaded. If they recorded their changes alone, a merge
  /// could make them differ.
  private func changeOfPair(
    _ slot: SlotIndex, _ object: NSManagedObject, _ theirs: SlotIndex, isAdded: Bool
  ) -> ToManyMembers.Change {
    let (mine, others) = (membersToChange(slot), object.membersToChange(theirs))
    let wanted: ToManyMembers.Change = isAdded ? .addition : .removal
    let known = mine.change(of: object)
    switch known == .none ? others.change(of: self) : known {
    case .none: return mine.knows(object) ?? others.knows(self) == isAdded ? .none : wanted
    case wanted: return wanted
    default: return mine.isLoaded || others.isLoaded ? .none : wanted
    }
  }

  /// Replaces all members.
  final func setMembers(_ slot: SlotIndex, _ objects: [NSManagedObject]) {
    let members = loadedMembers(slot)
    let wanted = Set(objects.map(ObjectIdentifier.init))
    for object in members.objects where !wanted.contains(ObjectIdentifier(object)) {
      removeMember(slot, object)
    }
    if hasProblems { overlay.problems?.refused[slot] = nil }
    for object in objects { assignMember(slot, object) }
    if members.isOrdered, !members.objects.elementsEqual(objects, by: ===) {
      var seen = Set<ObjectIdentifier>()
      members.reorder(
        objects.filter { !$0.isDeletedOrGone && seen.insert(ObjectIdentifier($0)).inserted })
    }
    noteChanged(slot)
    tellRelated()
  }

  /// Gives an ordered relationship an order. Members that it does not name come last.
  final func setOrder(_ slot: SlotIndex, _ order: [NSManagedObject]) {
    let members = loadedMembers(slot)
    let isPresent = Set(members.objects.map(ObjectIdentifier.init))
    let wanted = order.filter { isPresent.contains(ObjectIdentifier($0)) }
    let isWanted = Set(wanted.map(ObjectIdentifier.init))
    let all = wanted + members.objects.filter { !isWanted.contains(ObjectIdentifier($0)) }
    if all.elementsEqual(members.objects, by: ===) { return }
    members.reorder(all)
    noteChanged(slot)
  }

  // MARK: Slots of the other side

  /// The inverse's slot in this object's own entity, which may be a sub-entity of the declared destination.
  final func slot(of info: PropertyInfo, _ inverse: SlotIndex) -> SlotIndex {
    if withBinding(\.index) == info.destination { return inverse }
    return slot(named: _binding.model.entities[info.destination].properties[inverse].name)
  }

  private func slot(named name: String) -> SlotIndex {
    guard let slot = _binding.layout.slot(named: name) else {
      failPrecondition(
        "\(_binding.name) has no property \(name): the object is of another entity than the relationship's.")
    }
    return slot
  }
}

// Called by generated accessors.
extension NSManagedObject {
  private func relationshipSlot(_ ordinal: CDOrdinal) -> SlotIndex {
    let slot = _binding.places[ordinal.rawValue].slot.index
    if slot < 0 { missingProperty() }
    return slot
  }

  public final func _cdToOne<Object: NSManagedObject>(_ ordinal: CDOrdinal) -> Object? {
    if _flags.contains(.checked), let other = standIn() { return other._cdToOne(ordinal) }
    guard let object = toOne(relationshipSlot(ordinal)) else { return nil }
    return object as? Object ?? object.leftOut(as: Object.self)
  }

  public final func _cdSetToOne<Object: NSManagedObject>(_ ordinal: CDOrdinal, _ object: Object?) {
    assignToOne(relationshipSlot(ordinal), object)
  }

  /// Inlined, so that the set is built by code that knows its type.
  @inlinable
  public final func _cdToManySet<Object: NSManagedObject>(_ ordinal: CDOrdinal) -> Set<Object> {
    let members = _cdMembers(ordinal)
    if let lent = members.lent as? Set<Object> { return lent }
    let made = Set(members.objects(as: Object.self))
    members.lent = made
    return made
  }

  public final func _cdToManyArray<Object: NSManagedObject>(_ ordinal: CDOrdinal) -> [Object] {
    _cdMembers(ordinal).objects(as: Object.self)
  }

  @usableFromInline
  final func _cdMembers(_ ordinal: CDOrdinal) -> ToManyMembers {
    if _flags.contains(.checked), let other = standIn() { return other._cdMembers(ordinal) }
    return loadedMembers(relationshipSlot(ordinal))
  }

  /// The sign that was left on the members; nil if none was, or the members have changed since.
  @_spi(CDE) public final func _cdMark(_ ordinal: CDOrdinal) -> AnyObject? { _cdMembers(ordinal).mark }

  /// Leaves a sign on the members, until they change.
  @_spi(CDE) public final func _cdMark(_ ordinal: CDOrdinal, _ mark: AnyObject) {
    _cdMembers(ordinal).mark = mark
  }

  /// The members from a position on.
  @_spi(CDE) public final func _cdMembers(_ ordinal: CDOrdinal, from start: Int) -> ArraySlice<
    NSManagedObject
  > {
    _cdMembers(ordinal).objects.dropFirst(start)
  }

  public final func _cdToManyCount(_ ordinal: CDOrdinal) -> Int {
    loadedMembers(relationshipSlot(ordinal)).objects.count
  }

  public final func _cdAdd(_ ordinal: CDOrdinal, _ object: NSManagedObject) {
    assignMember(relationshipSlot(ordinal), object)
  }

  public final func _cdAdd(_ ordinal: CDOrdinal, contentsOf objects: some Sequence<NSManagedObject>) {
    let slot = relationshipSlot(ordinal)
    for object in objects { assignMember(slot, object) }
  }

  /// Puts the members of a relationship without an order into the order of an array that has all of them, until they are read again.
  /// Does nothing if the array has a member twice.
  @_spi(CDE) public final func _cdArrange(_ ordinal: CDOrdinal, _ objects: [NSManagedObject]) {
    loadedMembers(relationshipSlot(ordinal)).arrange(objects)
  }

  public final func _cdRemove(_ ordinal: CDOrdinal, _ object: NSManagedObject) {
    dropMember(relationshipSlot(ordinal), object)
  }

  public final func _cdRemove(_ ordinal: CDOrdinal, contentsOf objects: some Sequence<NSManagedObject>) {
    let slot = relationshipSlot(ordinal)
    for object in objects { dropMember(slot, object) }
  }

  public final func _cdInsert(_ ordinal: CDOrdinal, _ object: NSManagedObject, at index: Int) {
    let slot = relationshipSlot(ordinal)
    let members = loadedMembers(slot)
    let count = members.objects.count
    // If the members can't be read, the right indexes are unknown and the index is not checked.
    checkPrecondition(
      !members.isLoaded || (0...count).contains(index),
      "Index \(index) is out of bounds: \(_binding.name).\(_binding.properties[slot].name) has \(count) members."
    )
    assignMember(slot, object, at: index)
  }
}

extension ToManyMembers {
  /// The members that are of a class. All members are, unless model and class disagree.
  @usableFromInline
  func objects<Object: NSManagedObject>(as type: Object.Type) -> [Object] {
    var last: AnyObject.Type?
    let matches = objects.allSatisfy { object in
      let found: AnyObject.Type = Swift.type(of: object)
      if found == last { return true }
      last = found
      return found is Object.Type
    }
    return matches
      ? unsafeBitCast(objects, to: [Object].self)
      : objects.compactMap { $0 as? Object ?? $0.leftOut(as: Object.self) }
  }
}

extension NSManagedObject {
  /// Tells that a relationship leads to an object which is not of the class that its property declares; nil, as the property reads it.
  @inline(never)
  fileprivate final func leftOut<Object: NSManagedObject>(as type: Object.Type) -> Object? {
    let (entity, found) = ("\(entity.name ?? "")", "\(Swift.type(of: self))")
    Diagnostics.reportOnce(about: "\(entity) as \(type)") {
      "A property declares a relationship to \(type), and leads to \(entity), whose objects are of the class \(found): they are left "
        + "out where it is read. Set the entity's managedObjectClassName to \(type), or declare the property with \(found)."
    }
    return nil
  }
}
