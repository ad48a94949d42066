@_spi(CDE) internal import CDEExecutors
internal import CDEStore
public import Foundation

// Key-value coding by persistent name: the slow, general way.
extension NSManagedObject {
  private func info(_ key: String) -> PropertyInfo {
    guard let info = _binding.property(key) else {
      failPrecondition(
        "The entity \(_binding.name) is not key value coding-compliant for the key \"\(key)\": the model gives it no such "
          + "property. \(Spelling.hint(key, _binding.properties.map(\.name), all: "Its properties are"))")
    }
    return info
  }

  /// The value of a property. Numbers are returned as `NSNumber`, decimals as `NSDecimalNumber`, a to-one
  /// relationship as its object, to-many relationships as `NSSet` or `NSOrderedSet`. Nil if there is no
  /// value.
  ///
  /// - Parameter key: the property's persistent name. An unknown one traps.
  public final func value(forKey key: String) -> Any? { anyValue(info(key)) }

  /// Sets a property as its accessor does, including the inverse of a relationship.
  ///
  /// - Parameters:
  ///   - value: the type that ``value(forKey:)`` returns, or the Swift value. Nil is accepted for a required
  ///     attribute, and so is a number that the attribute's type can't represent exactly; the save then
  ///     fails. In the second case the attribute keeps its old value. A value of another type traps.
  ///   - key: the property's persistent name. An unknown one traps.
  public final func setValue(_ value: Any?, forKey key: String) {
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

  /// Follows a dotted path over to-one relationships and composites. A to-many step returns the set of
  /// values.
  public final func value(forKeyPath path: String) -> Any? {
    var parts = path.split(separator: ".").map(String.init)
    guard !parts.isEmpty else { return nil }
    let value = value(forKey: parts.removeFirst())
    if parts.isEmpty { return value }
    let rest = parts.joined(separator: ".")
    switch value {
    case let object as NSManagedObject: return object.value(forKeyPath: rest)
    case let elements as [String: Any]: return elements[rest]
    case let set as NSSet:
      return NSSet(array: set.allObjects.compactMap { ($0 as? NSManagedObject)?.value(forKeyPath: rest) })
    default: return nil
    }
  }

  /// The same as ``value(forKey:)``. Neither calls an accessor of a subclass.
  public final func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

  /// Sets a value without a change, and without changing the inverse of a relationship.
  ///
  /// Reads return the value as any other. It is saved together with another change of the object. A rollback
  /// of the object drops it, and so does a refresh without merging. Between ``willChangeValue(forKey:)`` and
  /// ``didChangeValue(forKey:)`` it counts as a change, as with a setter.
  ///
  /// - Parameters:
  ///   - value: a value that ``setValue(_:forKey:)`` accepts.
  ///   - key: the property's persistent name. An unknown one traps.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
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

  /// Reads the row if the object is a fault. Core Data requires this call before a primitive value is set.
  /// ``didChangeValue(forKey:)`` counts the change.
  public final func willChangeValue(forKey key: String) { willAccess() }

  /// Marks the property as changed, after a primitive value was set or a part of a transformable value
  /// changed.
  public final func didChangeValue(forKey key: String) {
    noteChanged(info(key).slot)
  }

  /// Reads the row if the object is a fault.
  public final func willAccessValue(forKey key: String?) { willAccess() }

  /// Does nothing. Core Data requires this call after a primitive value was read.
  public final func didAccessValue(forKey key: String?) {}

  /// Whether a relationship has not been read yet.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let info = info(key)
    guard info.isToMany else { return isFault }
    if case .toMany(let members)? = _overlay?.values[info.slot] { return !members.isLoaded }
    return isStored
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

  /// Values as last read or saved, without to-many relationships. `NSNull` represents nil.
  ///
  /// - Parameter keys: the requested properties; nil for all that have a column.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    willAccess()
    var result: [String: Any] = [:]
    for info in keys.map({ $0.map(info) }) ?? _binding.properties where !info.isTransient {
      switch info.kind {
      case .attribute(let type): result[info.name] = storedValue(info).any(as: type) ?? NSNull()
      case .composite: result[info.name] = storedValue(info).any(as: .composite) ?? NSNull()
      case .toOne:
        let key = info.cells.first.flatMap { _batch.integer(Int(_row), $0) }
        let object = key.flatMap { _registry?.context?.object(entity: storedEntity(info), key: $0) }
        result[info.name] = object ?? NSNull()
      case .toMany: break
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
        try _PropertyValue(any: value, elements: info.leaves)
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

  /// A live ordered set over an ordered to-many relationship.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    RelationshipOrderedSet(self, info(key).slot)
  }
}
