internal import CDEStore

// The object's references are passed to short closures without retaining them. Retaining is an atomic
// operation, and a save would do dozens of them for each object.
extension NSManagedObject {
  /// Passes the binding to a closure. The registry or the object itself retains it.
  @inline(__always)
  final func withBinding<Result>(_ body: (EntityBinding) throws -> Result) rethrows -> Result {
    try Borrowed(_binding).with(body)
  }

  /// Passes a property of the binding to a closure.
  @inline(__always)
  final func withProperty<Result>(_ slot: SlotIndex, _ body: (PropertyInfo) throws -> Result) rethrows
    -> Result
  {
    try withBinding { try $0.lentProperties[slot.rawValue].with(body) }
  }

  /// Passes the overlay, if there is one, to a closure.
  ///
  /// - Precondition: the closure does not release the overlay.
  @inline(__always)
  final func withOverlay<Result>(_ body: (Overlay) throws -> Result) rethrows -> Result? {
    try _overlay.map(Borrowed.init)?.with(body)
  }
}

extension NSManagedObject {
  /// Slots with an unsaved value.
  final var changedSlots: PropertySet { withOverlay(\.changed) ?? PropertySet() }

  @usableFromInline
  final var overlay: Overlay {
    if let overlay = _overlay { return overlay }
    makeOverlay()
    return _overlay!
  }

  @inline(never)
  final func makeOverlay() {
    _overlay = Overlay.make(count: _binding.properties.count)
    _flags.insert(.hasOverlay)
  }

  final func dropOverlay() {
    noteWritten()
    _overlay = nil
    _flags.subtract([.hasOverlay, .hasProblems])
    _readBefore = 0
  }

  /// Removes the object from its context, after its deletion was saved or the context dropped it.
  final func detach() {
    guard let registry = _registry else { return }
    // An ID that finds the object again would keep its memory.
    if _identity == nil {
      _identity = NSManagedObjectID(
        binding: _binding, key: _key, store: registry.identityHandle(for: _binding, key: _key))
    }
    // This is the first step, because the last object may free the registry, and the registry the model.
    Borrowed(_binding.model).retain()
    registry.release(self)
    registry.unregister(self)
    _flags.insert(.ownsBinding)
    _home = nil
  }

  /// Moves the object to the entity of the same name in another model. Values are kept by property name.
  ///
  /// For objects without a context. Several models may use their class, and only the insertion determines the
  /// model.
  final func rebind(to model: ModelBinding) {
    guard _home == nil, let binding = model.entity(named: _binding.name) else { return }
    let old = _overlay
    let oldProperties = _binding.properties
    Borrowed(model).retain()
    Borrowed(_binding.model).release()
    _binding = binding
    _batch = binding.defaults
    _row = 0
    _overlay = nil
    let hadProblems = hasProblems
    _flags.subtract([.hasOverlay, .hasProblems])
    guard let old else { return }
    for info in oldProperties where !old.values[info.slot].isUnset {
      guard let slot = binding.layout.slot(named: info.name) else { continue }
      overlay.values[slot] = old.values[info.slot]
      if old.changed.contains(info.slot) { overlay.changed.insert(slot) }
    }
    if hadProblems { takeRefusals(of: old, properties: oldProperties) }
    binding.bind(type(of: self))
  }

  /// Copies the row's attributes into the overlay, because an object inserted again is written as a whole.
  final func keepRow() {
    guard _batch !== _binding.defaults else { return }
    for info in _binding.properties where !info.cells.isEmpty && !info.isRelationship {
      if overlay.values[info.slot].isUnset { overlay.values[info.slot] = storedValue(info) }
    }
    _batch = _binding.defaults
    _row = 0
  }

  /// Becomes a registered object of a context.
  final func attach(to registry: ObjectRegistry, key: Int64, flags: Flags) {
    _key = key
    // The old ID names an object without a context, which is in no registry.
    _identity = nil
    _home = Borrowed(registry)
    if _flags.contains(.ownsBinding) { Borrowed(_binding.model).release() }
    _flags = flags.union(
      _flags.intersection([.hasOverlay, .hasProblems, .pending, .listed, .inEvent, .keyObserved]))
    if isKeyObserved { registry.hasKeyObservers = true }
    registry.register(self)
  }
}
