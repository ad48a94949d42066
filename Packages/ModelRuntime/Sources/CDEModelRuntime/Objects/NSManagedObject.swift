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
/// Behaviour follows Core Data's `NSManagedObject`, with one difference: reading an object whose row has vanished
/// returns declared defaults and raises no exception.
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
  @usableFromInline @exclusivity(unchecked) final var _registrar: CDEObservationRegistrarBox?

  /// Makes an object of an entity and, with a context, inserts it there.
  ///
  /// Without a context the object has values and belongs to no store. `NSManagedObjectContext.insert(_:)`
  /// inserts it later, with all objects without a context that it is related to. It is also inserted when it is related
  /// to an object of a context, in either direction, as in Core Data.
  ///
  /// An override is called for every object, new or fetched, as in Core Data. A context that fetches many objects of a
  /// class without an override copies the first of them, which has the same result; see `__cdPlainClass`.
  ///
  /// A subclass with designated initialisers of its own must override this one: contexts make fetched objects with it.
  ///
  /// - Parameters:
  ///   - entity: an entity of a model in use; abstract entities trap when inserted.
  ///   - context: the context to insert into, on whose isolation the call runs.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    if let (home, row) = Self.stored(entity, in: context) {
      _home = home
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
    let known = Self.home(of: context)?.with { $0.binding(for: entity) }
    let binding = known ?? Self.retainedBinding(for: entity)
    _home = nil
    _binding = binding.object
    _batch = binding.with(\.defaults)
    _row = 0
    _key = 0
    _flags = known == nil ? .ownsBinding : []
    super.init()
    binding.with { $0.bindIfNeeded(type(of: self)) }
    Self.insert(self, into: context)
  }

  // The context by the protocol that it implements. Inlined, so that the calls are as direct as those of the class.

  @inline(__always)
  private static func home(of context: (some ObjectContext)?) -> Borrowed<ObjectRegistry>? { context?.home }

  /// The row that the context makes an object for; nil for a new object.
  @inline(__always)
  private static func stored(
    _ entity: NSEntityDescription, in context: (some ObjectContext)?
  ) -> (Borrowed<ObjectRegistry>?, Materialization)? {
    guard let context, let row = context.takeMaterialization(of: entity) else { return nil }
    return (context.home, row)
  }

  @inline(__always)
  private static func insert(_ object: NSManagedObject, into context: (some ObjectContext)?) {
    context?.insert(object)
  }

  /// Makes an object of this class's entity in the context's model, and inserts it.
  ///
  /// - Precondition: the model has an entity for the class.
  public convenience init(context: NSManagedObjectContext) {
    self.init(entity: Self.entity(of: Self.self, in: context), insertInto: context)
  }

  /// The entity of a class in the model of a context.
  static func entity(of type: NSManagedObject.Type, in context: NSManagedObjectContext) -> NSEntityDescription
  {
    guard let binding = home(of: context)?.with({ $0.binding(for: type) }) else {
      failPrecondition(
        "The model of this context has no entity for the class \(type), or several. Add the class to the model's types, "
          + "set the entity's managedObjectClassName, or use init(entity:insertInto:).")
    }
    return binding.with(\.description)
  }

  /// Facts about a class that a conformance can't provide, because subclasses inherit conformances; nil for a
  /// class that is no model of a hierarchy. `@PersistentModel` overrides it.
  open class var __cdLineage: CDModelLineage? { nil }

  /// The class itself, if its own initialisers only call those of its superclass for a fetched object; nil if
  /// the class does not declare this. `@PersistentModel` overrides it in classes without
  /// ``init(entity:insertInto:)``.
  open class var __cdPlainClass: NSManagedObject.Type? { nil }

  /// The name that `@objc(Name)` gives the class on Apple's platforms; nil without such a name. Rewritten sources
  /// override it.
  open class var _cdObjectiveCName: String? { nil }

  /// An object of the caller's own that has the values of a row: what answers a read outside of the isolation. Called on any
  /// thread; the class reports the use.
  @_spi(CDE) open func _cdStandIn(for id: NSManagedObjectID) -> NSManagedObject? { nil }

  /// Called on any thread when a write outside of the isolation was refused. The class reports it.
  @_spi(CDE) open func _cdRefusedWrite(to id: NSManagedObjectID) {}

  /// Called when the object was new and had a unique value that another object has, which then got its values. This object has
  /// no context any more. Layers with instances of their own override it.
  @_spi(CDE) open func _cdReplaced(by survivor: NSManagedObject) {}

  /// The object's registry; nil without a context.
  final var _registry: ObjectRegistry? { _home?.object }

  /// The key of the object's row, ascending in the order of insertion; 0 or less before the first save.
  @_spi(CDE) public final var rowKey: Int64 { _key }

  deinit {
    // The registry outlives its objects, so it need not be retained for each of them.
    _home?.with { $0.unregister(self) }
    if _flags.isDisjoint(with: [.ownsBinding, .keyObserved]) { return }
    if _flags.contains(.keyObserved) { forgetKeyObservers() }
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
  open var objectID: NSManagedObjectID {
    if _flags.contains(.checked), let id = idOutside() { return id }
    if let known = _identity { return known }
    let made = NSManagedObjectID(
      binding: _binding, key: _key, store: _registry?.identityHandle(for: _binding, key: _key),
      residence: _home.map {
        .init(
          home: $0.address, object: UnsafeRawPointer(Borrowed(self).address))
      })
    _identity = made
    _home?.with { $0.recentIDs.follow(made) }
    return made
  }

  /// The same for the same object only. Apple forbids overrides in subclasses.
  open override var hash: Int { Int(bitPattern: Borrowed(self).address) &>> 4 }

  /// Whether the other value is the same object. Apple forbids overrides in subclasses.
  ///
  /// Sets of objects call this for each neighbour in their table. The implementation of `NSObject` casts the
  /// other value and takes several times as long.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let object else { return false }
    return ofOwnClass(object) === self
  }

  /// The description of the object's concrete entity.
  public final var entity: NSEntityDescription { _binding.description }

  /// The object's context; nil before insertion, after its deletion was saved and after its context was
  /// freed.
  open var managedObjectContext: NSManagedObjectContext? {
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
  /// False again after the object's own context has saved the deletion, and ``didSave()`` was called. Then ``managedObjectContext`` is
  /// nil.
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

  /// Called after a save wrote the object, or deleted its row. ``isDeleted`` tells which of them, as in Core Data.
  open func didSave() {}

  /// Called before the object drops its values and becomes a fault.
  open func willTurnIntoFault() {}

  /// Called after the object has dropped its values and become a fault. Reading a property here reads its row
  /// again.
  open func didTurnIntoFault() {}

  /// Called after the object got other values at once: by a refresh that keeps unsaved changes, a merge of another
  /// context's save, a rollback, a merge policy, an undo or a redo.
  ///
  /// Compute here what depends on the values. Values that the hook sets, also by setters, do not count as changes. A
  /// fault has no values and gets no call; ``awakeFromFetch()`` is called when it reads its row.
  ///
  /// - Parameter flags: what happened.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called when the object is deleted, before the delete rules are applied to related objects.
  open func prepareForDeletion() {}

  /// Checks the values of a new object before it is saved. Call `super`.
  open func validateForInsert() throws { try reportingNSErrors(of: self) { try validateValues() } }

  /// Checks the values of a changed object before it is saved. Call `super`.
  open func validateForUpdate() throws { try reportingNSErrors(of: self) { try validateValues() } }

  /// Checks whether the object may be deleted. Call `super`.
  open func validateForDelete() throws { try reportingNSErrors(of: self) { try validateDeletion() } }

  /// Checks whether a property may have a value: by the model's rules, then by the class's own method for the property.
  ///
  /// A method for the property is called `validate<Key>`, `validateTitle(_:)` for a property `title`, has the same first
  /// parameter and throws. The macro `@PersistentModel` and rewritten sources make it known.
  ///
  /// A save calls an override of this function, or the method for a property, for each property of an inserted or
  /// updated object. It leaves out to-many relationships whose members were not read. A value that the check puts in
  /// the place of the given one is set on the object. The check should do so only for a value that is not valid.
  ///
  /// - Parameters:
  ///   - value: the value as ``value(forKey:)`` returns it, nil for none; where the check may leave another one.
  ///   - key: the property's persistent name. A name that the model does not have is checked by the method alone.
  /// - Throws: ``ManagedObjectError``, as a save does, or the error of the class's own method.
  open func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try reportingNSErrors(of: self) { try checkValue(value, forKey: key) }
  }

  /// The properties with a `validate<Key>` method. Expansions and rewritten sources override it.
  open class var _cdValidatedKeys: [String] { [] }

  /// Calls the `validate<Key>` method of a property. Expansions and rewritten sources override it.
  open func _cdValidate(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}

  // MARK: Key-value coding. In the class itself, because Swift does not let a subclass override members of extensions.

  /// The value of a property. Numbers are returned as `NSNumber`, decimals as `NSDecimalNumber`, a to-one
  /// relationship as its object, to-many relationships as `NSSet` or `NSOrderedSet`. Nil if there is no
  /// value. A fetched property is fetched at each call and is an array.
  ///
  /// A property for which a ported class has an accessor of its own has the accessor's value, as in Core Data.
  ///
  /// - Parameter key: the property's persistent name, or the name of a property of every managed object, such as `objectID`, `self`,
  ///   `entity`, `isInserted`, `hasChanges` or `managedObjectContext`. An unknown one traps.
  open func value(forKey key: String) -> Any? {
    guard let info = _binding.property(key) else {
      return accessorValue(key) ?? ownValue(forKey: key) ?? value(forUndefinedKey: key)
    }
    if _binding.hasAccessor(info), let value = accessorValue(key) { return keyValue(value, info) }
    return propertyValue(key)
  }

  /// The keys of variables with accessors of the class's own. Rewritten sources override it.
  ///
  /// Read once for an entity. Key-value coding asks the class for no other property of the model, except for transient ones.
  open class var _cdAccessorKeys: Set<String> { [] }

  /// The value of a variable that the class computes, for key-value coding; nil for other keys. Rewritten sources override it.
  open func _cdComputedValue(forKey key: String) -> Any?? { nil }

  /// Sets a variable that the class computes, for key-value coding. Rewritten sources override it.
  ///
  /// - Returns: whether the class has such a variable of the key that can be set.
  open func _cdSetComputedValue(_ value: Any?, forKey key: String) -> Bool { false }

  /// Sets a property as its accessor does, including the inverse of a relationship.
  ///
  /// A property for which a ported class has an accessor of its own is set by that accessor, as in Core Data.
  ///
  /// - Parameters:
  ///   - value: the type that ``value(forKey:)`` returns, or the Swift value. Nil is accepted for a required
  ///     attribute, and so is a number that the attribute's type can't represent exactly; the save then
  ///     fails. In the second case the attribute keeps its old value. A value of another type traps.
  ///   - key: the property's persistent name. An unknown one traps.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let info = _binding.property(key) else {
      if !_cdSetComputedValue(value, forKey: key) { setValue(value, forUndefinedKey: key) }
      return
    }
    if _binding.hasAccessor(info), _cdSetComputedValue(value, forKey: key) { return }
    setPropertyValue(value, forKey: key)
  }

  /// Called for a key that is the name of no property. Traps, unless a subclass knows the key.
  ///
  /// - Parameter key: the key that ``value(forKey:)`` was given.
  open func value(forUndefinedKey key: String) -> Any? { propertyValue(key) }

  /// Called to set a key that is the name of no property. Traps, unless a subclass knows the key.
  ///
  /// - Parameters:
  ///   - value: the value that ``setValue(_:forKey:)`` was given.
  ///   - key: its key.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { setPropertyValue(value, forKey: key) }

  /// Follows a dotted path over to-one relationships and composites. A to-many step returns the set of
  /// values.
  open func value(forKeyPath path: String) -> Any? { valueAlongPath(path) }

  /// Sets the property at the end of a dotted path over relationships and composites. Does nothing behind a to-one relationship
  /// that is nil.
  ///
  /// A to-many step sets the property of each member, as `NSSet` does. An element of a composite is set by setting the composite with
  /// that element changed.
  ///
  /// - Parameters:
  ///   - value: a value that ``setValue(_:forKey:)`` of the last object accepts.
  ///   - path: keys separated by points.
  open func setValue(_ value: Any?, forKeyPath path: String) { setValueAlongPath(value, path) }

  /// The values of several properties, with `NSNull` for nil.
  ///
  /// - Parameter keys: keys of properties.
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { _, last in last }
  }

  /// Sets several properties. `NSNull` sets nil.
  ///
  /// - Parameter keyedValues: values by the keys of properties.
  open func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// The value of a property, without calling an accessor of the class.
  open func primitiveValue(forKey key: String) -> Any? { propertyValue(key) }

  /// Sets a value without a change, and without changing the inverse of a relationship.
  ///
  /// Reads return the value as any other. It is saved together with another change of the object. A rollback
  /// of the object drops it, and so does a refresh without merging. Between ``willChangeValue(forKey:)`` and
  /// ``didChangeValue(forKey:)`` it counts as a change, as with a setter.
  ///
  /// - Parameters:
  ///   - value: a value that ``setValue(_:forKey:)`` accepts.
  ///   - key: the property's persistent name. An unknown one traps.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) { setPropertySilently(value, forKey: key) }

  /// Reads the row if the object is a fault. Core Data requires this call before a primitive value is set.
  /// ``didChangeValue(forKey:)`` counts the change.
  open func willChangeValue(forKey key: String) { willAccess() }

  /// Marks the property as changed, after a primitive value was set or a part of a transformable value
  /// changed.
  ///
  /// A key that the model does not know leaves the object as it is, and tells the key's observers.
  open func didChangeValue(forKey key: String) { noteChanged(key: key) }

  /// Reads the row if the object is a fault.
  open func willAccessValue(forKey key: String?) { willAccess() }

  /// Does nothing. Core Data requires this call after a primitive value was read.
  open func didAccessValue(forKey key: String?) {}

  /// The keys, and the paths over to-one relationships, whose changes change the value of another key.
  ///
  /// Observers of the key are told when one of these changes. Override it for a variable that the class computes of properties of the
  /// model. Without an override, the class function or variable `keyPathsForValuesAffecting<Key>` of rewritten sources answers, and
  /// otherwise no key affects another one. As in Core Data, a path over a to-many relationship is a mistake, and traps when the key is
  /// observed.
  ///
  /// - Parameter key: the key that may be affected.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    _cdKeyPathsAffecting(key) ?? []
  }

  /// What a class function `keyPathsForValuesAffecting<Key>` returns; nil for a key without one. Rewritten sources override it.
  open class func _cdKeyPathsAffecting(_ key: String) -> Set<String>? { nil }

  /// The class, the entity, the ID and the values, as Core Data prints them; `<fault>` in place of the values of a fault.
  ///
  /// Reads nothing: of members that were not loaded it says so. Outside of the context's isolation the values are left out.
  open override var description: String { printed }
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
