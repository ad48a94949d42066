internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// The former values of properties that changed since the last announcement, by key. `NSNull` represents nil.
  ///
  /// An observer of `NSManagedObjectContextObjectsDidChange` gets the values from before the announced changes. Transient
  /// properties are left out. The former value of a new object's property is its default. As in Core Data.
  public final func changedValuesForCurrentEvent() -> [String: Any] {
    guard let context = _registry?.context, let event = context.eventValues(of: self) else { return [:] }
    var result: [String: Any] = [:]
    for slot in changedSlots {
      let info = _binding.properties[slot]
      if info.isTransient { continue }
      let former = event?.values[slot]
      guard let overlay = _overlay, former.map({ overlay.differs(slot, from: $0) }) ?? differsFromRow(slot)
      else { continue }
      result[info.name] = formerValue(info, former) ?? NSNull()
    }
    return result
  }

  private func formerValue(_ info: PropertyInfo, _ former: FormerValues.Value?) -> Any? {
    switch info.kind {
    case .attribute(let type): return single(info, former).any(as: type)
    case .composite: return single(info, former).any(as: .composite)
    case .toOne:
      if case .single(let value)? = former {
        if case .toOne(let object) = value { return object }
        return nil
      }
      return committedDestination(info)
    case .toMany(let isOrdered):
      var (added, removed): ([NSManagedObject], [NSManagedObject]) = ([], [])
      if case .members(let gained, let lost)? = former { (added, removed) = (gained, lost) }
      let lost = Set(removed.map(ObjectIdentifier.init))
      let members = committedMembers(info).filter { !lost.contains(ObjectIdentifier($0)) } + added
      return isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }
  }

  private func single(_ info: PropertyInfo, _ former: FormerValues.Value?) -> _PropertyValue {
    if case .single(let value)? = former, !value.isUnset { return value }
    return isStored ? storedValue(info) : info.defaultValue
  }

  /// The destination of a to-one relationship as last read or saved.
  final func committedDestination(_ info: PropertyInfo) -> NSManagedObject? {
    let key = info.cells.first.flatMap { _batch.integer(Int(_row), $0) }
    return key.flatMap { _registry?.context?.object(entity: storedEntity(info), key: $0) }
  }

  /// The members of a to-many relationship as last read or saved, in their stored order if it has one.
  final func committedMembers(_ info: PropertyInfo) -> [NSManagedObject] {
    let members = loadedMembers(info.slot)
    let added = members.added
    let removed = members.removed.objects.filter { !$0.isGone }
    let committed = members.objects.filter { !added.contains($0) } + removed
    guard case .toMany(true) = info.kind, changedSlots.contains(info.slot), let context = _registry?.context,
      let stored = context.storedMembers(of: self, slot: info.slot)
    else { return committed }
    // The members themselves have the new order only.
    let places = Dictionary(stored.enumerated().map { (ObjectIdentifier($1), $0) }) { first, _ in first }
    return committed.enumerated().sorted {
      let (left, right) = (
        places[ObjectIdentifier($0.element)] ?? .max, places[ObjectIdentifier($1.element)] ?? .max
      )
      return (left, $0.offset) < (right, $1.offset)
    }.map(\.element)
  }
}

extension Overlay {
  /// Whether a slot has another value than before.
  fileprivate func differs(_ slot: SlotIndex, from former: FormerValues.Value) -> Bool {
    switch former {
    case .single(let value): !values[slot].isSame(as: value)
    case .members(let added, let removed):
      members(slot).map {
        !$0.added.objects.elementsEqual(added, by: ===) || !$0.removed.objects.elementsEqual(removed, by: ===)
      } ?? true
    }
  }
}
