internal import CDEStore
internal import Foundation

// The checks that a class declares for single values: `validateValue(_:forKey:)` and `validate<Key>` methods. Core Data's
// documentation describes both: the first applies the model's rules and then calls the second.
extension NSManagedObject {
  /// What `validateValue(_:forKey:)` does in a class that does not override it.
  final func checkValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    if let info = _binding.property(key) { try checkByModel(value.pointee, info) }
    try _cdValidate(value, forKey: key)
  }

  /// Checks a value that the property need not have.
  private func checkByModel(_ value: AnyObject?, _ info: PropertyInfo) throws {
    let value = value is NSNull ? nil : value
    switch info.kind {
    case .attribute, .composite:
      let converted: _PropertyValue
      do throws(UnfitValue) {
        converted =
          if case .attribute(let type) = info.kind {
            try _PropertyValue(any: value, as: type)
          } else {
            try _PropertyValue(any: value, elements: info.elements)
          }
      } catch {
        throw located(error, info)
      }
      if case .null = converted {
        if !info.isOptional, !info.isTransient { throw missing(info) }
        return
      }
      var failures = info.rules.isEmpty ? [] : ruleFailures(info, converted)
      if !info.isTransient, let unfit = converted.unfitness(for: info) {
        failures.append(located(unfit, info))
      }
      try ManagedObjectError.throwing(failures)
    case .toOne:
      guard let value else {
        if !info.isOptional, !info.isTransient { throw missing(info) }
        return
      }
      try checkDestinations([value], info)
    case .toMany:
      let members: [Any] =
        switch value {
        case nil: []
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let array as NSArray: array.map { $0 }
        default: [value!]
        }
      try checkDestinations(members, info)
      if let failure = countFailure(info, members.count) { throw failure }
    }
  }

  private func checkDestinations(_ members: [Any], _ info: PropertyInfo) throws {
    for member in members {
      if let object = member as? NSManagedObject, info.destinations.contains(object._binding.index) {
        continue
      }
      let found = (member as? NSManagedObject)?._binding.name ?? "\(type(of: member))"
      let reason =
        "The relationship takes objects of \(_binding.model.entities[info.destination].name), not of \(found)."
      throw located(UnfitValue(reason: reason), info)
    }
  }

  private func located(_ unfit: UnfitValue, _ info: PropertyInfo) -> ManagedObjectError {
    var error = unfit.error(for: info, of: _binding.name)
    error.objectID = objectID
    return error
  }

  // MARK: In a save

  /// Validates an object whose class overrides `validateValue(_:forKey:)`, which is called for each property.
  final func validateByOverride() throws {
    var failures: [any Error] = []
    for info in _binding.properties where isAtHand(info) {
      do {
        try validate(info) { try validateValue($0, forKey: info.name) }
        // What the store can't hold is no matter of the class.
        if !info.isRelationship, let failure = valueFailure(info) ?? encodingFailure(info) { throw failure }
      } catch {
        failures.append(error)
      }
    }
    try throwFirstOrAll(failures)
  }

  /// Validates an object whose class declares `validate<Key>` methods, for the properties that the model finds valid.
  final func validateByMethods(_ keys: [String], after modelFailures: [ManagedObjectError]) throws {
    let invalid = Set(modelFailures.compactMap(\.property))
    var failures: [any Error] = modelFailures
    for key in keys where !invalid.contains(key) {
      guard let info = _binding.property(key), isAtHand(info) else { continue }
      do { try validate(info) { try _cdValidate($0, forKey: key) } } catch { failures.append(error) }
    }
    try throwFirstOrAll(failures)
  }

  /// Whether a property can be checked without reading members, which were valid when they were saved.
  private func isAtHand(_ info: PropertyInfo) -> Bool {
    guard info.isToMany, isStored, !changedSlots.contains(info.slot) else { return true }
    return !hasFault(forRelationshipNamed: info.name)
  }

  /// Passes a property's value to a check, and sets the value that the check puts in its place.
  private func validate(
    _ info: PropertyInfo, _ check: (UnsafeMutablePointer<AnyObject?>) throws -> Void
  ) throws {
    let given = anyValue(info).map { $0 as AnyObject }
    var value = given
    try check(&value)
    if value === given { return }
    if let value = value as? NSObject, let given = given as? NSObject, value.isEqual(given) { return }
    setValue(value is NSNull ? nil : value, forKey: info.name)
  }

  private func throwFirstOrAll(_ failures: [any Error]) throws {
    if failures.count == 1 { throw failures[0] }
    try ManagedObjectError.throwing(failures.flatMap { ManagedObjectError.failures(in: $0, of: self) })
  }
}
