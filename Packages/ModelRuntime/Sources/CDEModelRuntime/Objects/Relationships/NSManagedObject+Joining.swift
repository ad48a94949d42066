@_spi(CDE) internal import CDEExecutors
internal import CDEStore

// Objects that are related belong to one context. An object that was made without one joins the other object's context, with all
// that is related to it, as in Core Data.
extension NSManagedObject {
  /// Whether the object was made without a context and has not been inserted since.
  final var isLoose: Bool { _home == nil && _key == 0 }

  /// Whether the object's context was freed or reset.
  final var hasLostContext: Bool { !isLoose && _registry?.context == nil }

  /// Checks that two objects may be related, and inserts one of them if it is loose and the other one has a context.
  final func checkSameContext(_ object: NSManagedObject, _ info: PropertyInfo) {
    checkDestination(object, info)
    if _home?.address != object._home?.address { join(object, info) }
  }

  /// Checks that an object is of an entity that a relationship may have.
  final func checkDestination(_ object: NSManagedObject, _ info: PropertyInfo) {
    // An object without a context may have an entity of another model that contains the class, too.
    if object._binding.model !== _binding.model {
      if object._home == nil {
        object.rebind(to: _binding.model)
      } else if isLoose {
        rebind(to: object._binding.model)
      }
    }
    guard object._binding.model === _binding.model else {
      failPrecondition(
        "The entity \(object._binding.name) of an object that is to be a value of \(_binding.name).\(info.name) is of another model. "
          + "Make the object from the model of this object's container.")
    }
    guard info.destinations.contains(object._binding.index) else {
      let theirs = object._binding
      failPrecondition(
        "An object of \(theirs.name) can't be the value of \(_binding.name).\(info.name), which holds objects of "
          + "\(_binding.model.entities[info.destination].name).")
    }
  }

  @inline(never)
  private final func join(_ object: NSManagedObject, _ info: PropertyInfo) {
    let (mine, other) = (_registry?.context, object._registry?.context)
    if object.isLoose, let mine {
      if let inverse = info.inverseSlot, !info.inverseIsToMany {
        object.leaveFormerPartner(object.slot(of: info, inverse), for: self)
      }
      return mine.insert(object)
    }
    if isLoose, let other {
      if !info.isToMany { leaveFormerPartner(info.slot, for: object) }
      return other.insert(self)
    }
    guard let mine, let other, mine !== other else { return }
    failPrecondition(
      "Illegal attempt to establish the relationship \(_binding.name).\(info.name) between objects in different contexts. "
        + "Fetch the other object in this context, by its objectID.")
  }

  /// Ends a to-one relationship of a loose object before it joins a context for another partner. The former partner, which is related
  /// no longer, does not join.
  private final func leaveFormerPartner(_ slot: SlotIndex, for partner: NSManagedObject) {
    if let former = toOne(slot), former !== partner { setToOne(slot, nil) }
  }

  /// Calls a closure for each object that an unsaved relationship of this object has.
  final func forEachRelated(_ body: (NSManagedObject, PropertyInfo) -> Void) {
    guard let overlay = _overlay else { return }
    for info in _binding.properties where info.isRelationship {
      switch overlay.values[info.slot] {
      case .toOne(let object): body(object, info)
      case .toMany(let members): for object in members.objects { body(object, info) }
      default: break
      }
    }
  }
}
