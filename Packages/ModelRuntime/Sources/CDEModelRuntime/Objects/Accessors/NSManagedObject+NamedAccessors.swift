@_spi(CDE) internal import CDEExecutors
internal import CDEStore
public import Foundation

// What the accessors of rewritten @NSManaged properties call. The type that a property declares chooses the overload.
//
// As in Core Data, a property that is not optional and has no value reads as zero, or as an empty text or collection.
extension NSManagedObject {
  @inlinable @inline(__always)
  final func _ordinal(_ name: _CDName) -> CDOrdinal { CDOrdinal(_binding.names.ordinal(of: name)) }

  // MARK: Attributes

  @inlinable
  public final func _cdGet<Value: CDPrimitive>(_ name: _CDName, as type: Value?.Type) -> Value? {
    _cdValue(_ordinal(name))
  }

  @inlinable
  public final func _cdGet<Value: CDPrimitive>(_ name: _CDName, as type: Value.Type) -> Value {
    _cdValue(_ordinal(name)) ?? Value._zero
  }

  @inlinable
  public final func _cdSet<Value: CDPrimitive>(_ name: _CDName, _ value: Value) {
    _cdSetValue(_ordinal(name), value)
  }

  @inlinable
  public final func _cdSet<Value: CDPrimitive>(_ name: _CDName, _ value: Value?) {
    _cdSetValue(_ordinal(name), value)
  }

  @inlinable
  public final func _cdGet<Value: RawRepresentable>(_ name: _CDName, as type: Value?.Type) -> Value?
  where Value.RawValue: CDPrimitive {
    _cdRaw(_ordinal(name))
  }

  @inlinable
  public final func _cdGet<Value: RawRepresentable>(_ name: _CDName, as type: Value.Type) -> Value
  where Value.RawValue: CDPrimitive {
    let ordinal = _ordinal(name)
    return _cdRaw(ordinal) ?? Value(rawValue: Value.RawValue._zero) ?? _missingRaw(ordinal)
  }

  @inlinable
  public final func _cdSet<Value: RawRepresentable>(_ name: _CDName, _ value: Value)
  where Value.RawValue: CDPrimitive {
    _cdSetValue(_ordinal(name), value.rawValue)
  }

  @inlinable
  public final func _cdSet<Value: RawRepresentable>(_ name: _CDName, _ value: Value?)
  where Value.RawValue: CDPrimitive {
    _cdSetValue(_ordinal(name), value?.rawValue)
  }

  // MARK: Relationships

  public final func _cdGet<Object: NSManagedObject>(_ name: _CDName, as type: Object?.Type) -> Object? {
    _cdToOne(_ordinal(name))
  }

  public final func _cdGet<Object: NSManagedObject>(_ name: _CDName, as type: Object.Type) -> Object {
    guard let object: Object = _cdToOne(_ordinal(name)) else { missing(name) }
    return object
  }

  public final func _cdSet<Object: NSManagedObject>(_ name: _CDName, _ object: Object?) {
    _cdSetToOne(_ordinal(name), object)
  }

  @inlinable
  public final func _cdGet<Object: NSManagedObject>(_ name: _CDName, as type: Set<Object>?.Type) -> Set<
    Object
  >? {
    _cdToManySet(_ordinal(name))
  }

  @inlinable
  public final func _cdGet<Object: NSManagedObject>(_ name: _CDName, as type: Set<Object>.Type) -> Set<Object>
  {
    _cdToManySet(_ordinal(name))
  }

  public final func _cdSet<Object: NSManagedObject>(_ name: _CDName, _ objects: Set<Object>?) {
    // Not by key-value coding, which calls an accessor that calls this one.
    setPropertyValue(objects.map { Array($0) } ?? [], forKey: name.text.description)
  }

  public final func _cdGet(_ name: _CDName, as type: NSMutableSet?.Type) -> NSMutableSet? {
    mutableSetValue(forKey: name.text.description)
  }

  public final func _cdGet(_ name: _CDName, as type: NSMutableSet.Type) -> NSMutableSet {
    mutableSetValue(forKey: name.text.description)
  }

  public final func _cdGet(_ name: _CDName, as type: NSMutableOrderedSet?.Type) -> NSMutableOrderedSet? {
    mutableOrderedSetValue(forKey: name.text.description)
  }

  public final func _cdGet(_ name: _CDName, as type: NSMutableOrderedSet.Type) -> NSMutableOrderedSet {
    mutableOrderedSetValue(forKey: name.text.description)
  }

  // MARK: Other types: Foundation's classes, and what a transformer makes

  @_disfavoredOverload
  public final func _cdGet<Value>(_ name: _CDName, as type: Value?.Type) -> Value? {
    propertyValue(name.text.description) as? Value
  }

  @_disfavoredOverload
  public final func _cdGet<Value>(_ name: _CDName, as type: Value.Type) -> Value {
    // Nil fits a type that is an optional itself, such as `Any?`.
    let value = propertyValue(name.text.description)
    if let value = value as? Value { return value }
    if let empty = emptyValue(of: type) { return empty }
    missing(name)
  }

  @_disfavoredOverload
  public final func _cdSet(_ name: _CDName, _ value: Any?) {
    setPropertyValue(value, forKey: name.text.description)
  }

  private func emptyValue<Value>(of type: Value.Type) -> Value? {
    if let collection = type as? any RangeReplaceableCollection.Type { return collection.init() as? Value }
    if let dictionary = type as? any _CDEmptyValue.Type { return dictionary.init() as? Value }
    let objects: [NSObject] = [
      NSString(), NSNumber(value: 0), NSSet(), NSOrderedSet(), NSArray(), NSDictionary(), NSData(),
    ]
    return objects.lazy.compactMap { $0 as? Value }.first
  }

  private func missing(_ name: _CDName) -> Never {
    failPrecondition(
      "\(_binding.name).\(name.text) is not optional and has no value of its type. Declare it optional, or set it before "
        + "reading.")
  }
}

/// A dictionary or set, which can be made empty.
private protocol _CDEmptyValue { init() }
extension Dictionary: _CDEmptyValue {}
extension Set: _CDEmptyValue {}

// What the accessors of rewritten primitive properties call: `primitiveTitle` is the primitive value of `title`.
extension NSManagedObject {
  public final func _cdPrimitiveValue<Value>(_ name: String, as type: Value?.Type) -> Value? {
    let value = primitiveValue(forKey: propertyKey(name))
    return value as? Value
  }

  @_disfavoredOverload
  public final func _cdPrimitiveValue<Value>(_ name: String, as type: Value.Type) -> Value {
    let key = propertyKey(name)
    if let value = primitiveValue(forKey: key) as? Value { return value }
    if let zero = (type as? any CDPrimitive.Type)?._zero as? Value { return zero }
    if let empty = emptyValue(of: type) { return empty }
    failPrecondition(
      "\(_binding.name).\(key) has no value of the type \(type). Declare its primitive property optional.")
  }

  public final func _cdSetPrimitiveValue(_ name: String, _ value: Any?) {
    setPrimitiveValue(value, forKey: propertyKey(name))
  }

  public final func _cdSetPrimitiveValue<Value: RawRepresentable>(_ name: String, _ value: Value?) {
    setPrimitiveValue(value?.rawValue, forKey: propertyKey(name))
  }

  /// The property that a selector or a primitive name spells with a capital letter.
  private func propertyKey(_ name: String) -> String {
    let key = name.prefix(1).lowercased() + name.dropFirst()
    return _binding.property(key) == nil && _binding.property(name) != nil ? name : key
  }
}

// What rewritten accessors of to-many relationships call. Names are as in the selector: `Items` for `addItemsObject:`.
extension NSManagedObject {
  /// A live ordered set copies all members when it is made, so single changes are made without one.
  private func orderedSet(_ name: String) -> NSMutableOrderedSet {
    mutableOrderedSetValue(forKey: propertyKey(name))
  }

  private func slot(_ name: String) -> SlotIndex { info(propertyKey(name)).slot }

  private func add(_ objects: [Any], to name: String) {
    let slot = slot(name)
    for case let object as NSManagedObject in objects { assignMember(slot, object) }
  }

  private func remove(_ objects: [Any], from name: String) {
    let slot = slot(name)
    for case let object as NSManagedObject in objects { dropMember(slot, object) }
  }

  public final func _cdAdd(_ name: String, _ object: NSManagedObject) { add([object], to: name) }
  public final func _cdAdd(_ name: String, _ objects: NSSet) { add(objects.allObjects, to: name) }
  public final func _cdAdd(_ name: String, _ objects: NSOrderedSet) { add(objects.array, to: name) }
  public final func _cdAdd(_ name: String, _ objects: some Sequence<NSManagedObject>) {
    add(Array(objects), to: name)
  }
  public final func _cdRemove(_ name: String, _ object: NSManagedObject) { remove([object], from: name) }
  public final func _cdRemove(_ name: String, _ objects: NSSet) { remove(objects.allObjects, from: name) }
  public final func _cdRemove(_ name: String, _ objects: NSOrderedSet) { remove(objects.array, from: name) }
  public final func _cdRemove(_ name: String, _ objects: some Sequence<NSManagedObject>) {
    remove(Array(objects), from: name)
  }

  public final func _cdInsert(_ name: String, _ object: NSManagedObject, at index: Int) {
    assignMember(slot(name), object, at: index)
  }

  public final func _cdInsert(_ name: String, _ objects: [NSManagedObject], at indexes: NSIndexSet) {
    let slot = slot(name)
    for (object, index) in zip(objects, IndexSet(indexes)) { assignMember(slot, object, at: index) }
  }

  public final func _cdRemove(_ name: String, at index: Int) {
    let slot = slot(name)
    dropMember(slot, loadedMembers(slot).objects[index])
  }

  public final func _cdRemove(_ name: String, at indexes: NSIndexSet) {
    orderedSet(name).removeObjects(at: IndexSet(indexes))
  }

  public final func _cdReplace(_ name: String, at index: Int, with object: NSManagedObject) {
    orderedSet(name).replaceObject(at: index, with: object)
  }

  public final func _cdReplace(_ name: String, at indexes: NSIndexSet, with objects: [NSManagedObject]) {
    orderedSet(name).replaceObjects(at: IndexSet(indexes), with: objects)
  }
}
