internal import CDEStore
internal import Foundation

// Setters and getters can't throw. The object records refused values and failed reads, and the save throws
// these errors.
extension NSManagedObject {
  final var problems: ObjectProblems {
    if let known = overlay.problems { return known }
    let made = ObjectProblems()
    overlay.problems = made
    _flags.insert(.hasProblems)
    return made
  }

  /// Does not change a property, because the new value is invalid. The next save reports it.
  @inline(never)
  final func refuse(_ info: PropertyInfo, _ reason: UnfitValue) {
    willAccess()
    var error = reason.error(for: info, of: _binding.name)
    error.objectID = objectID
    problems.refused[info.slot] = error
    enterUpdated()
  }

  /// Does not change a property, because a layer above can't bring its new value into a stored form. The next save reports it.
  @_spi(CDE) public final func refuseValue(forKey key: String, because reason: String, _ cause: any Error) {
    guard let slot = _binding.layout.slot(named: key) else { return }
    willAccess()
    problems.refused[slot] = ManagedObjectError(
      .invalidValue, reason, cause: cause, entity: _binding.name, property: key, objectID: objectID)
    enterUpdated()
  }

  /// The first step of a setter if the object is not ready for it. Reads the row, and clears a refused value.
  @inline(never)
  final func prepareToSet(_ slot: SlotIndex) {
    willAccess()
    if hasProblems { overlay.problems?.refused[slot] = nil }
  }

  /// Records a failed read, or a stored value that a layer above can't decode, so that no value derived from the answer is saved.
  @inline(never)
  @_spi(CDE) public final func noteUnread(_ property: String?, _ cause: any Error) {
    // The first error is the most useful one, because later errors may follow from it.
    if problems.unread != nil { return }
    let id = objectID
    let what = property.map { "\(_binding.name).\($0)" } ?? _binding.name
    problems.unread = ManagedObjectError(
      .unreadValue,
      "\(what) of \(id.uriRepresentation().absoluteString) could not be read, and was answered with what is not "
        + "stored: \(cause) Refresh the object, or roll back, and save what is right then.",
      cause: cause, entity: _binding.name, property: property, objectID: id)
    _registry?.context?.noteUnreadObject()
  }

  /// Reports, once for the row and once for each property, that the context is gone that would read it. The context of a deleted object
  /// let it go, which is no mistake.
  @inline(never)
  final func reportLostContext(_ property: String? = nil) {
    if isDeletedOrGone || !problems.notedUnread.insert(property ?? "").inserted { return }
    let what = property.map { "\(_binding.name).\($0)" } ?? _binding.name
    Diagnostics.report(
      "\(what) of \(objectID.uriRepresentation().absoluteString) could not be read: its context was freed or reset. Keep the "
        + "context while its objects are in use, or take their values out before, with try object.snapshot()."
    )
  }

  /// Reports once that the file of an external value is gone, so that the read returned nil.
  ///
  /// As in Core Data the object can be saved. The row goes on naming the file until the property is set.
  @inline(never)
  final func reportMissingFile(_ info: PropertyInfo, _ error: StoreError) {
    if problems.reported.contains(info.slot) { return }
    problems.reported.insert(info.slot)
    Diagnostics.report(
      "\(_binding.name).\(info.name) of \(objectID.uriRepresentation().absoluteString) is read as nil: \(error.message)"
    )
  }

  /// Reports once that a stored value is invalid for a property, and which value the read returned instead.
  @inline(never)
  final func reportUnfit(_ slot: SlotIndex, _ what: @autoclosure () -> String) {
    if slot < 0 || problems.reported.contains(slot) { return }
    problems.reported.insert(slot)
    let place = _key == 0 ? "an object without a context" : objectID.uriRepresentation().absoluteString
    Diagnostics.report("\(_binding.name).\(_binding.properties[slot].name) of \(place) \(what())")
  }

  /// Copies the refusals of another overlay, in which the properties had other slots.
  final func takeRefusals(of old: Overlay, properties: IndexedArray<SlotIndex, PropertyInfo>) {
    for (slot, error) in old.problems?.refused ?? [:] {
      guard let mine = _binding.layout.slot(named: properties[slot].name) else { continue }
      problems.refused[mine] = error
    }
  }

  /// The properties whose last reads did not answer what is stored, sorted: the read failed, the file of an external value is gone, or
  /// the stored value is none of the property's type.
  @_spi(CDE) public final var unreadProperties: [String] {
    guard hasProblems, let problems = overlay.problems else { return [] }
    let unfit = _binding.properties.indices.filter(problems.reported.contains).map {
      _binding.properties[$0].name
    }
    // An object that could not be read at all has none of its values.
    let unread = problems.notedUnread.flatMap { $0.isEmpty ? _binding.properties.map(\.name) : [$0] }
    return Set(unfit + unread).sorted()
  }

  /// Clears the record of a failed read after a refresh, because reads return stored values again.
  final func forgetUnread() {
    guard hasProblems else { return }
    overlay.problems?.unread = nil
    overlay.problems?.notedUnread = []
  }

  /// Clears all problems. The object has exactly the stored values.
  final func forgetProblems() {
    guard hasProblems else { return }
    overlay.problems = nil
    _flags.remove(.hasProblems)
  }

  /// Whether the value set last was refused.
  final func isRefused(_ slot: SlotIndex) -> Bool {
    hasProblems && _overlay?.problems?.refused[slot] != nil
  }

  /// - Throws: ``ManagedObjectError`` when the object must not be saved in its current state.
  final func validateProblems() throws {
    guard hasProblems, let problems = _overlay?.problems else { return }
    let refused = problems.refused.sorted { $0.key < $1.key }.map(\.value)
    try ManagedObjectError.throwing((problems.unread.map { [$0] } ?? []) + refused)
  }
}

/// Runs a validation, whose errors then name the object.
func reportingNSErrors(of object: NSManagedObject, _ body: () throws -> Void) throws {
  do { try body() } catch {
    // `is` would be true for the value as well, because it can be bridged.
    guard !(type(of: error) is _ManagedObjectNSError.Type), var known = error as? ManagedObjectError else {
      throw error
    }
    if known.object == nil { known.object = object }
    throw _ManagedObjectNSError(known)
  }
}
