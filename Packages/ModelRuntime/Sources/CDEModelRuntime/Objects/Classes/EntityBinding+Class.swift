internal import CDEManagedModel
internal import CDEStore
internal import Synchronization
@_spi(CDE) internal import CDEExecutors

// The class of an entity's objects.

extension EntityBinding {
  /// The class of the entity's objects: the registered class that its description names, otherwise the base
  /// class.
  var objectClass: NSManagedObject.Type {
    if let known = classLock.withLock({ $0 }) { return managed(known) }
    guard let found = ManagedObjectClasses.find(for: description) else {
      ManagedObjectClasses.tellMissing(for: description)
      return NSManagedObject.self
    }
    return bind(found)
  }

  /// Binds a class to this entity, if none is bound and the model names no other.
  @discardableResult
  func bind(_ given: NSManagedObject.Type) -> NSManagedObject.Type {
    // The base class can represent any entity, so one object of it determines nothing about other objects.
    if given == NSManagedObject.self { return given }
    let type: AnyClass = classLock.withLock { bound in
      if let bound { return bound }
      let type = ManagedObjectClasses.find(for: description) ?? given
      readOrdinals(of: type)
      accessors = PropertySet(type._cdAccessorKeys.compactMap { layout.slot(named: $0) })
      if let observed = type as? any (NSManagedObject & CDEObservationInvalidationDispatching).Type {
        waker = ReaderWaker(
          observed, fields: IndexedArray(zip(ordinals, properties).map { $1.isTransient ? nil : $0 }))
      }
      bound = type
      isBound.store(true, ordering: .releasing)
      return type
    }
    return managed(type)
  }

  /// Binds the class of the first object made, if the class was not bound before.
  @inline(__always)
  func bindIfNeeded(_ given: NSManagedObject.Type) {
    if !isBound.load(ordering: .acquiring) { bind(given) }
  }

  // Only `bind` sets the class. A cast at run time would cost each object that is made.
  private func managed(_ type: AnyClass) -> NSManagedObject.Type {
    unsafeBitCast(type, to: NSManagedObject.Type.self)
  }
}
