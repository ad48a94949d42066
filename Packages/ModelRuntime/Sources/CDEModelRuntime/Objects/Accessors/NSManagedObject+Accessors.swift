@_spi(CDE) internal import CDEExecutors
internal import CDERuntimeABI
public import CDEStore
internal import Foundation

// What the accessors that @PersistentModel generates call. Underscored: no part of the API to write by hand.
extension NSManagedObject {
  /// The value of an optional attribute.
  @inlinable
  public final func _cdValue<Value: CDPrimitive>(_ ordinal: CDOrdinal) -> Value? {
    let place = _binding.places[ordinal.rawValue]
    if _flags.isDisjoint(with: .slowRead), place.cell.rawValue >= 0, place.kind == Value._cellKind {
      if !Value._isKept { return _readRow(place) }
      // The first read only decodes. The overlay keeps a value from its second read on.
      let slot = place.slot.rawValue
      let bit: UInt32 = slot < 32 ? 1 &<< UInt32(truncatingIfNeeded: slot) : 0
      if _readBefore & bit == 0 {
        _readBefore |= bit
        return _readRow(place)
      }
    }
    return Value._slowRead(self, place.slot.index, place.cell.index)
  }

  /// Reads a cell of the row, which the object holds on to, without counting a reference.
  @inlinable @inline(__always)
  final func _readRow<Value: CDPrimitive>(_ place: EntityBinding.Place) -> Value? {
    Borrowed(_batch).with {
      Value._read($0, Int(_row), place.cell.index)
    }
  }

  /// The value of a required attribute.
  ///
  /// - Precondition: a living object has a value for it, or an assignment through a key path asks, which drops what it reads.
  @inlinable
  public final func _cdRequired<Value: CDPrimitive>(_ ordinal: CDOrdinal) -> Value {
    if let value: Value = _cdValue(ordinal) { return value }
    return _missingValue(ordinal)
  }

  @inlinable
  public final func _cdSetValue<Value: CDPrimitive>(_ ordinal: CDOrdinal, _ value: Value?) {
    _setAttribute(_binding.places[ordinal.rawValue].slot.index, value.map(\._propertyValue) ?? .null)
  }

  /// The value in the overlay, if it needs no conversion.
  @inline(__always)
  private final func overlaidValue<Value: CDPrimitive>(_ slot: SlotIndex) -> Value? {
    guard _flags.isDisjoint(with: [.fault, .checked]) else { return nil }
    return withOverlay { $0.withValue(slot) { Value._read(copy $0) } } ?? nil
  }

  final func _slowValue<Value: CDPrimitive>(_ slot: SlotIndex, _ cell: CellIndex) -> Value? {
    guard slot >= 0 else { missingProperty() }
    if _flags.contains(.checked), let other = standIn() { return other._slowValue(slot, cell) }
    if let value: Value = overlaidValue(slot) { return value }
    willAccess()
    let info = _binding.properties[slot]
    if let overlay = _overlay, !overlay.values[slot].isUnset {
      return Value._read(overlay.values[slot].converted(for: Value._cellKind))
    }
    if info.isTransient { return Value._read(info.defaultValue.converted(for: Value._cellKind)) }
    guard cell.rawValue >= 0, _binding.layout.cells[cell].kind == Value._cellKind else {
      return Value._read(storedValue(info).converted(for: Value._cellKind))
    }
    let value = Value._read(_batch, Int(_row), cell)
    if Value._isKept, slot < 32 {
      if _readBefore & (1 << UInt32(slot.rawValue)) != 0 {
        overlay.values[slot] = value.map(\._propertyValue) ?? .null
      } else {
        _readBefore |= 1 << UInt32(slot.rawValue)
      }
    }
    return value
  }

  /// What a required property without a stored value reads: the declared default, else the type's zero.
  ///
  /// Ends the program only for a new object whose value was never set. A row can hold anything. So can what was never set be assigned:
  /// Swift's `object[keyPath: path] = value` calls the getter before the setter, and there is no accessor that it would call instead.
  @usableFromInline
  final func _missingValue<Value: CDPrimitive>(_ ordinal: CDOrdinal) -> Value {
    missingValue(_binding.places[ordinal.rawValue].slot.index, propertyName(ordinal))
  }

  private func missingValue<Value: CDPrimitive>(_ slot: SlotIndex, _ name: @autoclosure () -> String) -> Value
  {
    if lacksValue(slot) {
      if cde_is_assigned_by_key_path() != 0 { return Value._zero }
      failPrecondition(
        "\(_binding.name).\(name()) is required and has no value. Set it before reading, give it a default, "
          + "or declare it optional.")
    }
    let declared =
      slot >= 0 ? Value._read(_binding.properties[slot].defaultValue.converted(for: Value._cellKind)) : nil
    if !answersByDefault {
      reportUnfit(slot, "is required and has no value: \(declared == nil ? "zero" : "the default") is read.")
    }
    return declared ?? Value._zero
  }

  /// Whether a property of a new object was never set and has no default: a mistake of the program, not of
  /// the data.
  final func lacksValue(_ slot: SlotIndex) -> Bool {
    guard !isDeletedOrGone, !isStored else { return false }
    guard slot >= 0, let overlay = _overlay else { return true }
    return overlay.values[slot].isUnset && !isRefused(slot)
  }

  /// Whether the object has no values of its own: it is gone, outlived its context or could not be read.
  private var answersByDefault: Bool {
    isDeletedOrGone || isFault || _registry?.context == nil
  }

  final func missingProperty() -> Never {
    failPrecondition(
      "The model's entity \(_binding.name) lacks a property that \(type(of: self)) declares. Load the model made from this class, "
        + "or name the property as the model does (persistentName:).")
  }

  /// Checks isolation where asked for, and reads the row if the object is a fault.
  @usableFromInline @inline(__always)
  final func willAccess() {
    if _flags.contains(.checked) { checkIsolation() }
    if isFault { fire() }
  }

  @usableFromInline
  final func _setAttribute(_ slot: SlotIndex, _ value: _PropertyValue) {
    guard slot >= 0 else { missingProperty() }
    if !_flags.isDisjoint(with: .slowWrite) {
      if _flags.contains(.checked), refusesWrite() { return }
      prepareToSet(slot)
    }
    change(slot, to: value)
  }

  /// Makes the change known to the context, once.
  @inline(__always)
  final func markUpdated(_ slot: SlotIndex) {
    if _flags.intersection(.knownOrObserved) == .known, !_flags.isDisjoint(with: [.updated, .inserted]) {
      return
    }
    markUpdatedSlowly(slot)
  }

  private func markUpdatedSlowly(_ slot: SlotIndex) {
    noteWritten()
    enterUpdated()
    if _flags.contains(.keyObserved), _registry?.context?.isAwakening != true { keyChanged(slot) }
  }

  /// Makes a change known to the context that changed no value.
  final func enterUpdated() {
    guard let context = _registry?.context else { return }
    if context.isAwakening {
      if _flags.isDisjoint(with: [.inserted, .updated, .deleted]) { silenceChanges() }
      return
    }
    if !isInserted { _flags.insert(.updated) }
    context.noteChange(self)
  }

  @inline(never)
  final func checkIsolation() {
    guard let context = _registry?.context else { return }
    context.checkUse(of: _binding.name)
  }

  @usableFromInline
  @inline(never)
  final func fire() {
    guard isFault else { return }
    guard let context = _registry?.context else {
      // Values that were never read read as defaults.
      _flags.remove(.fault)
      reportLostContext()
      return
    }
    context.fire(self)
  }

  // MARK: By key, for classes that are no models

  /// The value of an attribute of any type that converts to the property's.
  public final func _cdValue<Value: CDPrimitive>(forKey key: String) -> Value? {
    _cdPrimitive(value(forKey: key))
  }

  /// - Precondition: a living object has a value for it.
  public final func _cdRequired<Value: CDPrimitive>(forKey key: String) -> Value {
    _cdValue(forKey: key) ?? missingValue(_binding.layout.slot(named: key) ?? -1, key)
  }
}

// Uses outside of the context's isolation, where the context answers them instead of ending the program.
//
// Nothing that the isolation changes by reference is read there: neither row, overlay, registrar nor the kept ID. What is read are
// single words: the flags, the key, and what never changes while the object is in its context, which are the binding and the
// registry. The context's stores and the coordinator have locks of their own.
extension NSManagedObject {
  /// The object that answers a read; nil if this one may.
  @inline(never)
  final func standIn() -> NSManagedObject? { idOutside().flatMap { _cdStandIn(for: $0) } }

  /// Whether a write is refused.
  @inline(never)
  final func refusesWrite() -> Bool {
    guard let id = idOutside() else { return false }
    _cdRefusedWrite(to: id)
    return true
  }

  /// The object's ID, made anew, for a caller outside of the isolation; nil for any other.
  @inline(never)
  final func idOutside() -> NSManagedObjectID? {
    guard let context = _registry?.context, context.isUsedOutside else { return nil }
    let (binding, key) = (_binding, _key)
    let handle = key > 0 ? context.storeHandle(for: binding, key: key) : nil
    return NSManagedObjectID(binding: binding, key: key, store: handle)
  }
}
