@_spi(CDE) internal import CDEExecutors
public import CDEManagedModel
public import CDEStore
public import Foundation

/// An object of a context. It represents one row of one entity: read on demand, changed in memory, written by
/// the context's `save()`.
///
/// The object belongs to its context's isolation and is not `Sendable`. Across actors pass its
/// ``ModelHandle``, a ``ModelSnapshot`` of its values, or its ``objectID``. It points at an immutable row
/// and, after the first write, at a small overlay. An unread object costs some 100 bytes in addition to its
/// row.
///
/// Behaviour follows Core Data's `NSManagedObject`, with these differences. ``init(entity:insertInto:)`` is
/// the only designated initialiser and is required. Reading an object whose row has vanished returns declared
/// defaults and raises no exception.
nonisolated open class NSManagedObject: NSObject {
  // Guard of all state below: the executor of the object's context. No access runs other code before it ends.
  // To check that at run time would cost more than most reads.

  // First the fields that every look-up and most reads use, so that they share a cache line with the object's
  // header.

  @usableFromInline @exclusivity(unchecked) unowned(unsafe) final var _binding: EntityBinding
  /// Primary key; below zero until the object is saved, 0 without a context.
  @usableFromInline @exclusivity(unchecked) final var _key: Int64
  /// The row as last read or saved; the entity's defaults for new objects and faults.
  @usableFromInline @exclusivity(unchecked) final var _batch: RowBatch
  @usableFromInline @exclusivity(unchecked) final var _row: Int32
  @usableFromInline @exclusivity(unchecked) final var _flags: Flags
  /// One bit for each of the first 32 slots. The first read sets it, and the next read then caches its
  /// result.
  @usableFromInline @exclusivity(unchecked) final var _readBefore: UInt32 = 0
  /// Number among the new objects of the current save.
  @exclusivity(unchecked) final var _saveOrdinal: Int32 = 0
  /// The registry, without reference counting, because it outlives its objects.
  @usableFromInline @exclusivity(unchecked) final var _home: Borrowed<ObjectRegistry>?
  @usableFromInline @exclusivity(unchecked) final var _overlay: Overlay?
  @exclusivity(unchecked) final var _identity: NSManagedObjectID?
  @exclusivity(unchecked) final var _registrar: CDEObservationRegistrarBox?

  @usableFromInline
  struct Flags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

    // The standard library's version uses witnesses of the raw type. They cost measurable time in each read
    // and write.
    @inlinable static func == (one: Flags, other: Flags) -> Bool { one.rawValue == other.rawValue }
    @inlinable func isDisjoint(with other: Flags) -> Bool { rawValue & other.rawValue == 0 }
    @inlinable func isSuperset(of other: Flags) -> Bool { rawValue & other.rawValue == other.rawValue }
    @inlinable func contains(_ other: Flags) -> Bool { isSuperset(of: other) }
    @inlinable @discardableResult
    mutating func insert(_ other: Flags) -> (inserted: Bool, memberAfterInsert: Flags) {
      let isNew = !isSuperset(of: other)
      self = Flags(rawValue: rawValue | other.rawValue)
      return (isNew, other)
    }
    @inlinable @discardableResult
    mutating func remove(_ other: Flags) -> Flags? {
      let removed = Flags(rawValue: rawValue & other.rawValue)
      self = Flags(rawValue: rawValue & ~other.rawValue)
      return removed.rawValue == 0 ? nil : removed
    }

    /// The row has not been read.
    @usableFromInline static let fault = Flags(rawValue: 1)
    @usableFromInline static let inserted = Flags(rawValue: 2)
    /// Has unsaved changes (and is not new).
    @usableFromInline static let updated = Flags(rawValue: 4)
    @usableFromInline static let deleted = Flags(rawValue: 8)
    /// Deleted and saved, or its row has vanished.
    @usableFromInline static let gone = Flags(rawValue: 16)
    @usableFromInline static let hasOverlay = Flags(rawValue: 32)
    /// Every access is checked against the executor.
    @usableFromInline static let checked = Flags(rawValue: 64)
    /// The object itself keeps its binding alive, because it is in no registry.
    @usableFromInline static let ownsBinding = Flags(rawValue: 128)
    /// Listed for the next "objects did change" notification.
    @usableFromInline static let pending = Flags(rawValue: 256)
    /// In the context's list of changed objects.
    @usableFromInline static let listed = Flags(rawValue: 512)
    /// New, and named as inserted by a notification.
    @usableFromInline static let announced = Flags(rawValue: 1024)
    /// Has values that were refused, or could not be read.
    @usableFromInline static let hasProblems = Flags(rawValue: 2048)
    /// Gone because its own context saved its deletion.
    @usableFromInline static let deletionSaved = Flags(rawValue: 4096)
    /// A write needs more than an overlay: `fault`, `checked` and `hasProblems`.
    @usableFromInline static let slowWrite = Flags(rawValue: 1 | 64 | 2048)
    /// A read can't use the row directly: `fault`, `hasOverlay` and `checked`. A number, so that accessors in
    /// other modules can inline it.
    @inlinable static var slowRead: Flags { Flags(rawValue: 1 | 32 | 64) }
  }

  /// Makes an object of an entity and, with a context, inserts it there.
  ///
  /// Without a context the object has values and belongs to no store. `NSManagedObjectContext.insert(_:)`
  /// inserts it later.
  ///
  /// An override is called for every object, new or fetched, as in Core Data. A context that fetches many objects of a
  /// class without an override copies the first of them, which has the same result; see `__cdPlainClass`.
  ///
  /// - Parameters:
  ///   - entity: an entity of a model in use; abstract entities trap when inserted.
  ///   - context: the context to insert into, on whose isolation the call runs.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    if let context, let row = context.takeMaterialization(of: entity) {
      _home = context.home
      _binding = row.binding
      _batch = row.batch
      _row = row.row
      _key = row.key
      _flags = row.flags
      super.init()
      return
    }
    // If the model is the context's own, the registry retains the binding after the insertion at the end of
    // this initialiser.
    let known = context?.home?.with { $0.binding(for: entity) }
    let binding = known ?? Self.retainedBinding(for: entity)
    _home = nil
    _binding = binding.object
    _batch = binding.with(\.defaults)
    _row = 0
    _key = 0
    _flags = known == nil ? .ownsBinding : []
    super.init()
    binding.with { $0.bindIfNeeded(type(of: self)) }
    context?.insert(self)
  }

  /// Makes an object of this class's entity in the context's model, and inserts it.
  ///
  /// - Precondition: the model has an entity for the class.
  public convenience init(context: NSManagedObjectContext) {
    guard let binding = context.home?.with({ $0.binding(for: Self.self) }) else {
      failPrecondition(
        "The model of this context has no entity for the class \(Self.self), or several. Add the class to the model's types, "
          + "set the entity's managedObjectClassName, or use init(entity:insertInto:).")
    }
    self.init(entity: binding.with(\.description), insertInto: context)
  }

  /// Facts about a class that a conformance can't provide, because subclasses inherit conformances; nil for a
  /// class that is no model of a hierarchy. `@PersistentModel` overrides it.
  open class var __cdLineage: CDModelLineage? { nil }

  /// The class itself, if its own initialisers only call those of its superclass for a fetched object; nil if
  /// the class does not declare this. `@PersistentModel` overrides it in classes without
  /// ``init(entity:insertInto:)``.
  open class var __cdPlainClass: NSManagedObject.Type? { nil }

  /// The object's registry; nil without a context.
  final var _registry: ObjectRegistry? { _home?.object }

  /// The key of the object's row, ascending in the order of insertion; 0 or less before the first save.
  @_spi(CDE) public final var rowKey: Int64 { _key }

  deinit {
    // The registry outlives its objects, so it need not be retained for each of them.
    _home?.with { $0.unregister(self) }
    if _flags.contains(.ownsBinding) { Borrowed(_binding.model).release() }
  }

  /// The binding of an entity, whose model is retained for the new object.
  ///
  /// Called before other code can release the model. Without a context, this may be the model's only
  /// reference.
  private static func retainedBinding(for entity: NSEntityDescription) -> Borrowed<EntityBinding> {
    var reason = ""
    if let model = entity.managedObjectModel {
      do {
        let bound = try ModelBinding.of(model)
        if let found = bound.binding(for: entity) {
          Borrowed(bound).retain()
          return Borrowed(found)
        }
      } catch { reason = " \(error)" }
    }
    failPrecondition(
      "The entity \(entity.name ?? "without a name") belongs to no valid model. Add it to an NSManagedObjectModel "
        + "and load that into a container before making objects of it.\(reason)")
  }

  // MARK: Identity

  /// The object's ID: temporary from insertion to the first save, permanent from then on.
  public final var objectID: NSManagedObjectID {
    if let known = _identity { return known }
    let made = NSManagedObjectID(
      binding: _binding, key: _key, store: _registry?.identityHandle(for: _binding),
      residence: _home.map {
        .init(
          home: $0.address, object: UnsafeRawPointer(Borrowed(self).address))
      })
    _identity = made
    _home?.with { $0.recentIDs.follow(made) }
    return made
  }

  /// The description of the object's concrete entity.
  public final var entity: NSEntityDescription { _binding.description }

  /// The object's context; nil before insertion, after its deletion was saved and after its context was
  /// freed.
  public final var managedObjectContext: NSManagedObjectContext? {
    // Contexts are the only implementation.
    _registry?.context.map { unsafeDowncast($0, to: NSManagedObjectContext.self) }
  }

  /// Whether the row has not been read. This property does not read it.
  public final var isFault: Bool { _flags.contains(.fault) }

  /// Whether the object is new: inserted into its context and never saved.
  public final var isInserted: Bool { _flags.contains(.inserted) }

  /// Whether the object has unsaved changes and was saved before.
  public final var isUpdated: Bool { isMarkedUpdated && !isMarkedDeleted }

  /// Whether the next save deletes the object, or its row has vanished.
  ///
  /// False again after the object's own context has saved the deletion. Then ``managedObjectContext`` is nil.
  public final var isDeleted: Bool { isDeletedOrGone && !_flags.contains(.deletionSaved) }

  /// Whether the object is new, deleted or holds unsaved values.
  public final var hasChanges: Bool {
    !_flags.intersection([.inserted, .updated, .deleted]).isEmpty
  }

  /// Whether a property other than a transient one has an unsaved value that differs from the stored one.
  ///
  /// False for an object whose new values equal the stored ones. ``hasChanges`` is true for it.
  public final var hasPersistentChangedValues: Bool {
    changedSlots.contains { !_binding.properties[$0].isTransient && differsFromRow($0) }
  }

  // MARK: Life cycle hooks

  /// Called once, right after the object was inserted; set initial values here.
  open func awakeFromInsert() {}

  /// Called each time the object's row has been read.
  ///
  /// Values that the hook sets, also by setters, do not count as changes. They are saved only along with a
  /// later change.
  open func awakeFromFetch() {}

  /// Called before a save writes the object. Changes made here are saved too.
  ///
  /// Called again when its own hook or another hook has changed the object, until nothing changes any more.
  /// Setting an equal value changes nothing, nor does `setPrimitiveValue(_:forKey:)`. After 1,000 rounds the
  /// save throws ``ManagedObjectError`` with code `.unsettledChanges`.
  open func willSave() {}

  /// Called after a save wrote the object.
  open func didSave() {}

  /// Called before the object drops its values and becomes a fault.
  open func willTurnIntoFault() {}

  /// Called after the object has dropped its values and become a fault. Reading a property here reads its row
  /// again.
  open func didTurnIntoFault() {}

  /// Called when the object is deleted, before the delete rules are applied to related objects.
  open func prepareForDeletion() {}

  /// Checks the values of a new object before it is saved. Call `super`.
  open func validateForInsert() throws { try validateValues() }

  /// Checks the values of a changed object before it is saved. Call `super`.
  open func validateForUpdate() throws { try validateValues() }

  /// Checks whether the object may be deleted. Call `super`.
  open func validateForDelete() throws { try validateDeletion() }

  open override var description: String {
    let id = _key == 0 ? "no context" : objectID.uriRepresentation().absoluteString
    return "<\(type(of: self)): \(_binding.name) \(id)\(isFault ? " fault" : "")>"
  }
}

/// Managed objects belong to one isolation. Pass a ``ModelHandle`` or a ``ModelSnapshot`` to another one.
@available(
  *, unavailable,
  message: """
    A managed object belongs to its context's isolation. Pass its handle (try object.handle) to work on it \
    elsewhere, or a snapshot (try object.snapshot()) to read its values there
    """
)
extension NSManagedObject: @unchecked Sendable {}
// Guard: none is needed, because the conformance is unavailable.

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
  final func withProperty<Result>(_ slot: Int, _ body: (PropertyInfo) throws -> Result) rethrows -> Result {
    try withBinding { try $0.lentProperties[slot].with(body) }
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
    _overlay = nil
    _flags.subtract([.hasOverlay, .hasProblems])
    _readBefore = 0
  }

  /// Removes the object from its context, after its deletion was saved or the context dropped it.
  final func detach() {
    guard let registry = _registry else { return }
    _ = objectID
    // This is the first step, because the last object may free the registry, and the registry the model.
    Borrowed(_binding.model).retain()
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
    _flags = flags.union(_flags.intersection([.hasOverlay, .hasProblems, .pending, .listed]))
    registry.register(self)
  }
}
