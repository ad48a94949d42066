internal import CDEStore
internal import Foundation

extension CollectedSave {
  /// Validates every object of a save.
  ///
  /// - Throws: the failure, or `.multipleValidationErrors` with all failures.
  func validate() throws {
    var failures: [ManagedObjectError] = []
    var thrown: [any Error] = []
    func check(_ object: NSManagedObject, _ body: () throws -> Void) {
      do { try body() } catch {
        thrown.append(error)
        failures += ManagedObjectError.failures(in: error, of: object)
      }
    }
    // Checked here, because a class may omit the validation of its superclass.
    func checkProblems(_ object: NSManagedObject) {
      if object.hasProblems { check(object) { try object.validateProblems() } }
    }
    inserted[...].forEachBorrowed { object in
      checkProblems(object)
      check(object) { try object.validateForInsert() }
    }
    updated[...].forEachBorrowed { object in
      checkProblems(object)
      check(object) { try object.validateForUpdate() }
    }
    deleted[...].forEachBorrowed { object in check(object) { try object.validateForDelete() } }
    // A class's own error stays as it is where it is the only one.
    if thrown.count == 1, !(thrown[0] is ManagedObjectError) { throw thrown[0] }
    try ManagedObjectError.throwing(failures)
  }
}

extension ManagedObjectError {
  /// The failures that an error of an object's validation stands for.
  ///
  /// An error of several failures is taken apart, whichever code threw it. An error of a class's own validation is the
  /// cause of its failure, and Core Data's callers get it as it was thrown.
  static func failures(in error: any Error, of object: NSManagedObject) -> [ManagedObjectError] {
    if let known = error as? ManagedObjectError {
      let single =
        known.code == .multipleValidationErrors && !known.failures.isEmpty ? known.failures : [known]
      return single.map { failure in
        var failure = failure
        if failure.object == nil { failure.object = object }
        return failure
      }
    }
    let bridged = error as NSError
    if bridged.domain == NSCocoaErrorDomain, bridged.code == NSValidationMultipleErrorsError,
      let details = bridged.userInfo[NSDetailedErrorsKey] as? [any Error], !details.isEmpty
    {
      return details.flatMap { failures(in: $0, of: object) }
    }
    var failure = ManagedObjectError(
      .invalidValue, "\(object._binding.name) is not valid: \(error.localizedDescription)", cause: error,
      entity: object._binding.name, property: bridged.userInfo[NSValidationKeyErrorKey] as? String,
      objectID: object.objectID, object: object)
    failure.standsForCause = true
    return [failure]
  }

  static func throwing(_ failures: [ManagedObjectError]) throws {
    if failures.isEmpty { return }
    if failures.count == 1 { throw failures[0] }
    throw ManagedObjectError(
      .multipleValidationErrors,
      "\(failures.count) values can't be saved:" + failures.prefix(5).map { "\n  \($0.message)" }.joined()
        + (failures.count > 5 ? "\n  and \(failures.count - 5) more, which failures lists" : ""),
      entity: failures[0].entity, failures: failures)
  }
}

extension NSManagedObject {
  /// Checks the values of an object to be written: required values, rules, relationship counts, and the checks that its
  /// class declares.
  func validateValues() throws {
    if OverriddenMethods.includeValidateValue(type(of: self)) { return try validateByOverride() }
    let keys = type(of: self)._cdValidatedKeys
    guard keys.isEmpty else { return try validateByMethods(keys, after: modelFailures()) }
    try ManagedObjectError.throwing(modelFailures())
  }

  /// What the model finds wrong with the values to be written.
  private func modelFailures() -> [ManagedObjectError] {
    guard mayFail else { return [] }
    var failures: [ManagedObjectError] = []
    let isNew = isInserted
    for info in _binding.properties {
      // An unchanged value was valid when it was saved.
      guard isNew || changedSlots.contains(info.slot) else { continue }
      switch info.kind {
      case .attribute, .composite:
        if !info.isOptional, !info.isTransient, isNull(info), !isRefused(info.slot) {
          failures.append(missing(info))
        }
        if !info.rules.isEmpty { failures += ruleFailures(info, attributeValue(info)) }
        if let failure = valueFailure(info) ?? encodingFailure(info) { failures.append(failure) }
      case .toOne:
        if !info.isOptional, !info.isTransient, !isRefused(info.slot) {
          let destination = toOne(info.slot)
          if destination == nil || destination!.isDeletedOrGone { failures.append(missing(info)) }
        }
      case .toMany:
        if info.countsMembers,
          let failure = countFailure(info, loadedMembers(info.slot).objects.count { !$0.isDeletedOrGone })
        {
          failures.append(failure)
        }
      }
    }
    return failures
  }

  /// Whether a value is missing or must be checked. This is false for most objects.
  private var mayFail: Bool {
    let changed = isInserted ? nil : changedSlots
    return withBinding { binding in
      if let changed {
        if binding.savedSlots.validated.intersects(changed) { return true }
      } else if !binding.savedSlots.validated.isEmpty {
        return true
      }
      if holdsUnfitNumber(binding.savedSlots.bounded) { return true }
      return binding.savedSlots.required.contains { slot in
        changed?.contains(slot) != false && withProperty(slot) { isNull($0) }
      }
    }
  }

  private func isNull(_ info: PropertyInfo) -> Bool {
    let held = withOverlay { overlay -> Bool? in
      switch overlay.values[info.slot] {
      case .unset: nil
      case .null: true
      default: false
      }
    }
    return (held ?? nil) ?? info.cells.allSatisfy { _batch.isNull(Int(_row), $0) }
  }

  /// Whether a number was set that its column can't represent. Also checks some values that were not set.
  private func holdsUnfitNumber(_ bounded: [SavedSlots.BoundedColumn]) -> Bool {
    withOverlay { overlay in
      for column in bounded {
        let isUnfit = overlay.withValue(column.slot) { held in
          switch held {
          case .integer(let value): return value < column.least || value > column.greatest
          // NaN is neither below nor above any number.
          case .real(let value): return !(abs(value) <= column.limit)
          case .decimal(let value): return value.isNaN || !(-100...100).contains(value.exponent)
          default: return false
          }
        }
        if isUnfit { return true }
      }
      return false
    } ?? false
  }

  /// Why a new value can't be stored; nil if it can.
  func valueFailure(_ info: PropertyInfo) -> ManagedObjectError? {
    guard !info.isTransient, let unfit = _overlay?.values[info.slot].unfitness(for: info) else { return nil }
    var failure = unfit.error(for: info, of: _binding.name)
    failure.objectID = objectID
    return failure
  }

  func missing(_ info: PropertyInfo) -> ManagedObjectError {
    ManagedObjectError(
      .missingMandatoryProperty,
      "\(_binding.name).\(info.name) is required and has no value. Set it before saving, "
        + (info.isRelationship ? "or make it optional." : "give it a default, or make it optional."),
      entity: _binding.name, property: info.name, objectID: objectID)
  }

  /// Why a to-many relationship can't have a number of members; nil if it can.
  ///
  /// As in Core Data only the counts decide: a required relationship without a minimum may be empty.
  func countFailure(_ info: PropertyInfo, _ count: Int) -> ManagedObjectError? {
    // An optional relationship may be empty, even if it has a minimum.
    if count == 0 && info.isOptional { return nil }
    if count < info.minCount {
      return ManagedObjectError(
        .relationshipLacksMinimumCount,
        "\(_binding.name).\(info.name) has \(count) members and needs at least \(info.minCount).",
        entity: _binding.name, property: info.name, objectID: objectID)
    }
    if info.maxCount > 0, count > info.maxCount {
      return ManagedObjectError(
        .relationshipExceedsMaximumCount,
        "\(_binding.name).\(info.name) has \(count) members and may have \(info.maxCount).",
        entity: _binding.name, property: info.name, objectID: objectID)
    }
    return nil
  }

  /// Checks that relationships with the delete rule "deny" are empty.
  func validateDeletion() throws {
    var failures: [ManagedObjectError] = []
    for info in _binding.properties where info.isRelationship && info.deleteRule == .deny {
      let holds: Bool
      if info.isToMany {
        holds = loadedMembers(info.slot).objects.contains { !$0.isMarkedDeleted }
      } else {
        holds = toOne(info.slot).map { !$0.isMarkedDeleted } ?? false
      }
      guard holds else { continue }
      failures.append(
        ManagedObjectError(
          .relationshipDeniedDelete,
          "\(_binding.name) can't be deleted while \(info.name) has members. Delete or move them first.",
          entity: _binding.name, property: info.name, objectID: objectID))
    }
    try ManagedObjectError.throwing(failures)
  }
}
