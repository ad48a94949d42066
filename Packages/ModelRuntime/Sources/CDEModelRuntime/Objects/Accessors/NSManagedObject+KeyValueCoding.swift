@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
public import Foundation

// Key-value coding by persistent name: the slow, general way.
extension NSManagedObject {
  final func info(_ key: String) -> PropertyInfo {
    guard let info = _binding.property(key) else {
      failPrecondition(
        "The entity \(_binding.name) is not key value coding-compliant for the key \"\(key)\": the model gives it no such "
          + "property. \(Spelling.hint(key, _binding.properties.map(\.name), all: "Its properties are"))")
    }
    return info
  }

  final func propertyValue(_ key: String) -> Any? {
    if _flags.contains(.checked), let other = standIn() { return other.propertyValue(key) }
    guard let info = _binding.property(key) else {
      guard let fetched = _binding.description.propertiesByName[key] as? NSFetchedPropertyDescription,
        let context = _registry?.context
      else { return anyValue(info(key)) }
      return context.fetchedValue(of: fetched, for: self)
    }
    return anyValue(info)
  }

  final func setPropertyValue(_ value: Any?, forKey key: String) {
    if _flags.contains(.checked), refusesWrite() { return }
    let info = info(key)
    switch info.kind {
    case .attribute, .composite: setAny(value, info)
    case .toOne: assignToOne(info.slot, destination(in: value, info))
    case .toMany: setMembers(info.slot, members(in: value, info))
    }
  }

  private func destination(in value: Any?, _ info: PropertyInfo) -> NSManagedObject? {
    guard let value = _PropertyValue.unwrap(value), !(value is NSNull) else { return nil }
    if let object = value as? NSManagedObject { return object }
    failPrecondition(
      "Unacceptable value for \(_binding.name).\(info.name): a to-one relationship takes a managed object or nil, not "
        + "\(Swift.type(of: value)).")
  }

  private func members(in value: Any?, _ info: PropertyInfo) -> [NSManagedObject] {
    guard let value = _PropertyValue.unwrap(value), !(value is NSNull) else { return [] }
    let elements: [Any]? =
      switch value {
      case let set as NSOrderedSet: set.array
      case let set as NSSet: set.allObjects
      case let set as Set<NSManagedObject>: Array(set)
      case let array as [Any]: array
      default: nil
      }
    guard let elements, let objects = elements as? [NSManagedObject] else {
      failPrecondition(
        "Unacceptable value for \(_binding.name).\(info.name): a to-many relationship takes a set, an ordered set or an array "
          + "of managed objects, or nil, not \(Swift.type(of: value)).")
    }
    return objects
  }

  final func valueAlongPath(_ path: String) -> Any? {
    var parts = path.split(separator: ".").map(String.init)
    guard !parts.isEmpty else { return nil }
    let value = value(forKey: parts.removeFirst())
    if parts.isEmpty { return value }
    let rest = parts.joined(separator: ".")
    return CollectedValues.value(of: value, along: rest)
  }

  final func setValueAlongPath(_ value: Any?, _ path: String) {
    let (key, rest) = CollectedValues.split(path)
    guard let rest else { return setValue(value, forKey: key) }
    let owner = self.value(forKey: key)
    if _binding.property(key)?.kind == .composite {
      let elements = owner as? [String: Any] ?? [:]
      return setValue(CollectedValues.setting(value, in: elements, along: rest), forKey: key)
    }
    for object in CollectedValues.elements(of: owner) {
      (object as? NSManagedObject)?.setValue(value, forKeyPath: rest)
    }
  }

  final func setPropertySilently(_ value: Any?, forKey key: String) {
    let info = info(key)
    switch info.kind {
    case .attribute, .composite:
      if let converted = converted(value, info) { setSilently(info.slot, converted) }
    case .toOne:
      let object = destination(in: value, info)
      if let object { checkSameContext(object, info) }
      setSilently(info.slot, object.map { .toOne($0) } ?? .null)
    case .toMany:
      let objects = members(in: value, info)
      for object in objects { checkSameContext(object, info) }
      setMembersSilently(info.slot, objects)
    }
  }

  final func noteChanged(key: String) {
    // A variable that the model does not know is no part of the object's changes.
    guard let info = _binding.property(key) else { return computedKeyChanged(key) }
    noteChanged(info.slot)
    tellRelated()
  }

  /// Whether a relationship has not been read yet.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let info = info(key)
    guard info.isToMany else { return isFault }
    if case .toMany(let members)? = _overlay?.values[info.slot] { return !members.isLoaded }
    return isStored
  }

  /// The IDs of the objects of a relationship, in its order if it has one.
  ///
  /// While the context has no unsaved changes, members that were not read stay so: the call makes neither objects nor reads
  /// their values. As in Core Data.
  ///
  /// - Parameter key: the relationship's persistent name. An unknown one traps.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    let info = info(key)
    guard info.isToMany else { return (value(forKey: key) as? NSManagedObject).map { [$0.objectID] } ?? [] }
    if hasFault(forRelationshipNamed: key),
      let ids = _registry?.context?.storedMemberIDs(of: self, slot: info.slot)
    {
      return ids
    }
    return loadedMembers(info.slot).objects.map(\.objectID)
  }

  /// Unsaved values by key. The dictionary contains values set since the last save or fetch that differ from
  /// the stored ones, and relationships changed through the other side. It omits transient properties.
  /// `NSNull` represents nil.
  public final func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    for slot in changedSlots {
      let info = _binding.properties[slot]
      if info.isTransient || !differsFromRow(slot) { continue }
      result[info.name] = anyValue(info) ?? NSNull()
    }
    return result
  }

  /// Values as last read or saved. `NSNull` represents nil.
  ///
  /// To-many relationships are read if they are named, and left out otherwise. The values of a new object are its defaults.
  ///
  /// - Parameter keys: the requested properties; nil for all but to-many relationships.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    willAccess()
    var result: [String: Any] = [:]
    for info in keys.map({ $0.map(info) }) ?? _binding.properties.elements where !info.isTransient {
      switch info.kind {
      case .attribute(let type): result[info.name] = storedValue(info).any(as: type) ?? NSNull()
      case .composite: result[info.name] = storedValue(info).any(as: .composite) ?? NSNull()
      case .toOne: result[info.name] = committedDestination(info) ?? NSNull()
      case .toMany(let isOrdered):
        if keys == nil { continue }
        let members = committedMembers(info)
        result[info.name] = isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
      }
    }
    return result
  }

  final func anyValue(_ info: PropertyInfo) -> Any? {
    switch info.kind {
    case .attribute(let type): return attributeValue(info).any(as: type)
    case .composite: return attributeValue(info).any(as: .composite)
    case .toOne: return toOne(info.slot)
    case .toMany(let ordered):
      let objects = loadedMembers(info.slot).objects
      return ordered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }
  }

  /// The value of an attribute or composite, from the overlay or the row.
  final func attributeValue(_ info: PropertyInfo) -> _PropertyValue {
    willAccess()
    if let overlay = _overlay, !overlay.values[info.slot].isUnset { return overlay.values[info.slot] }
    if info.isTransient { return info.defaultValue }
    let stored = storedValue(info)
    // A transformed object is a reference, so two reads must return the same one.
    if case .object = stored { overlay.values[info.slot] = stored }
    return stored
  }

  private func setAny(_ value: Any?, _ info: PropertyInfo) {
    if let converted = converted(value, info) { _setAttribute(info.slot, converted) }
  }

  /// - Returns: nil for a value that the attribute can't hold. The next save reports it.
  private func converted(_ value: Any?, _ info: PropertyInfo) -> _PropertyValue? {
    do throws(UnfitValue) {
      return if case .attribute(let type) = info.kind {
        try _PropertyValue(any: value, as: type)
      } else {
        try _PropertyValue(any: value, elements: info.elements)
      }
    } catch {
      if error.isWrongType {
        failPrecondition("Unacceptable value for \(_binding.name).\(info.name): \(error.reason)")
      }
      refuse(info, error)
      return nil
    }
  }

  /// A live set over an unordered to-many relationship. Adding and removing members changes both sides at
  /// once.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    RelationshipSet(self, info(key).slot)
  }

  /// A live set over the relationship at the end of a key path.
  ///
  /// - Parameter keyPath: to-one relationships and an unordered to-many relationship, with dots between them.
  /// - Returns: an empty set of its own if a relationship on the way leads to no object.
  public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (key, rest) = CollectedValues.split(keyPath)
    guard let rest else { return mutableSetValue(forKey: key) }
    return (value(forKey: key) as? NSManagedObject)?.mutableSetValue(forKeyPath: rest) ?? NSMutableSet()
  }

  /// A live ordered set over the relationship at the end of a key path.
  ///
  /// - Parameter keyPath: to-one relationships and an ordered to-many relationship, with dots between them.
  /// - Returns: an empty set of its own if a relationship on the way leads to no object.
  public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (key, rest) = CollectedValues.split(keyPath)
    guard let rest else { return mutableOrderedSetValue(forKey: key) }
    return (value(forKey: key) as? NSManagedObject)?.mutableOrderedSetValue(forKeyPath: rest)
      ?? NSMutableOrderedSet()
  }

  /// A live ordered set over an ordered to-many relationship.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    RelationshipOrderedSet(self, info(key).slot)
  }
}

// Key-value coding reaches the properties of every managed object by their names. On Apple's platforms the Objective-C runtime finds them.
extension NSManagedObject {
  /// The value of a property that the class itself declares, for key-value coding and predicates in memory; nil for other keys.
  final func ownValue(forKey key: String) -> Any?? {
    switch key {
    case "self", "SELF": .some(self)
    case "objectID": .some(objectID)
    case "entity": .some(entity)
    case "managedObjectContext": .some(managedObjectContext)
    case "isInserted", "inserted": .some(isInserted)
    case "isUpdated", "updated": .some(isUpdated)
    case "isDeleted", "deleted": .some(isDeleted)
    case "isFault", "fault": .some(isFault)
    case "hasChanges": .some(hasChanges)
    case "hasPersistentChangedValues": .some(hasPersistentChangedValues)
    case "description": .some(description)
    case "hash": .some(hash)
    default: nil
    }
  }
}

// Accessors of a class's own, which key-value coding calls.
extension NSManagedObject {
  /// What an accessor of the class returns for a key; nil for a key without one. An enumeration has its raw value, as for
  /// Objective-C.
  final func accessorValue(_ key: String) -> Any?? {
    guard let found = _cdComputedValue(forKey: key) else { return nil }
    guard let value = found as? any RawRepresentable else { return .some(found) }
    return .some(value.rawValue)
  }

  /// What an accessor of the class returned, in the form of key-value coding. A value that is not of the property's type stays as
  /// it is.
  final func keyValue(_ value: Any?, _ info: PropertyInfo) -> Any? {
    guard let value = _PropertyValue.unwrap(value) else { return nil }
    switch info.kind {
    case .attribute(let type): return (try? _PropertyValue(any: value, as: type))?.any(as: type) ?? value
    case .toMany(let isOrdered):
      guard let objects = value as? [NSManagedObject] ?? (value as? Set<NSManagedObject>).map(Array.init)
      else {
        return value
      }
      return isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    case .composite, .toOne: return value
    }
  }

  /// Gives a value of any form to a variable of the class, for key-value coding. Rewritten sources call it.
  ///
  /// - Parameters:
  ///   - value: a value as ``setValue(_:forKey:)`` takes it.
  ///   - key: the variable's key.
  ///   - assign: sets the variable. It is not called for a value of another type.
  /// - Returns: false if the model has the property and the value is of another type. The property's own rules decide then.
  public final func _cdAssign<Value>(_ value: Any?, forKey key: String, _ assign: (Value) -> Void) -> Bool {
    let info = _binding.property(key)
    guard let value: Value = assignable(value, info) else { return info == nil }
    assign(value)
    return true
  }

  private func assignable<Value>(_ value: Any?, _ info: PropertyInfo?) -> Value? {
    if let value = value as? Value { return value }
    guard let given = _PropertyValue.unwrap(value), !(given is NSNull) else {
      return Optional<Any>.none as? Value
    }
    // A number of another type than the variable's.
    if let value = given as AnyObject as? Value { return value }
    if let type = Value.self as? any RawRepresentable.Type { return Self.raw(given, type) as? Value }
    switch info?.kind {
    case .attribute(let type)?: return (try? _PropertyValue(any: given, as: type))?.any(as: type) as? Value
    case .toMany?:
      let members = CollectedValues.elements(of: given).compactMap { $0 as? NSManagedObject }
      let forms: [Any] = [members, Set(members), NSSet(array: members), NSOrderedSet(array: members)]
      return forms.lazy.compactMap { $0 as? Value }.first
    case .composite?, .toOne?, nil: return nil
    }
  }

  private static func raw<Value: RawRepresentable>(_ value: Any, _ type: Value.Type) -> Any? {
    (value as? Value.RawValue ?? value as AnyObject as? Value.RawValue).flatMap { Value(rawValue: $0) }
  }
}
