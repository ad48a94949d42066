internal import CDEStore
internal import Foundation

// Setters and getters can't throw. The object remembers values that it refused and reads that failed, and the
// save throws these errors.
extension NSManagedObject {
  final var problems: ObjectProblems {
    if let known = overlay.problems { return known }
    let made = ObjectProblems()
    overlay.problems = made
    _flags.insert(.hasProblems)
    return made
  }

  /// Leaves a property as it is, because the value that was set is invalid; the next save reports it.
  @inline(never)
  final func refuse(_ info: PropertyInfo, _ reason: UnfitValue) {
    willAccess()
    var error = reason.error(for: info, of: _binding.name)
    error.objectID = objectID
    problems.refused[info.slot] = error
    markUpdated()
  }

  /// The first step of a setter if the object is not ready for it: reads the row, and forgets a refused
  /// value.
  @inline(never)
  final func prepareToSet(_ slot: Int) {
    willAccess()
    if hasProblems { overlay.problems?.refused[slot] = nil }
  }

  /// Remembers a read that failed, so that nothing made of its answer is saved.
  @inline(never)
  final func noteUnread(_ property: String?, _ cause: any Error) {
    // The first error tells most: later ones may have followed from it.
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

  /// Reports once that a stored value is invalid for a property, and what is read instead.
  @inline(never)
  final func reportUnfit(_ slot: Int, _ what: @autoclosure () -> String) {
    if slot < 0 || problems.reported.contains(slot) { return }
    problems.reported.insert(slot)
    let place = _key == 0 ? "an object without a context" : objectID.uriRepresentation().absoluteString
    Diagnostics.report("\(_binding.name).\(_binding.properties[slot].name) of \(place) \(what())")
  }

  /// Keeps the refusals of another overlay, whose properties had other slots.
  final func takeRefusals(of old: Overlay, properties: [PropertyInfo]) {
    for (slot, error) in old.problems?.refused ?? [:] {
      guard let mine = _binding.layout.slot(named: properties[slot].name) else { continue }
      problems.refused[mine] = error
    }
  }

  /// The object was refreshed: from now on, reads return what is stored.
  final func forgetUnread() {
    guard hasProblems else { return }
    overlay.problems?.unread = nil
    overlay.problems?.notedUnread = []
  }

  /// Forgets all problems: the object has the stored values and nothing else.
  final func forgetProblems() {
    guard hasProblems else { return }
    overlay.problems = nil
    _flags.remove(.hasProblems)
  }

  /// Whether the value that was set last was refused.
  final func isRefused(_ slot: Int) -> Bool {
    hasProblems && _overlay?.problems?.refused[slot] != nil
  }

  /// - Throws: ``ManagedObjectError`` when the object must not be saved as it is.
  final func validateProblems() throws {
    guard hasProblems, let problems = _overlay?.problems else { return }
    let refused = problems.refused.sorted { $0.key < $1.key }.map(\.value)
    try ManagedObjectError.throwing((problems.unread.map { [$0] } ?? []) + refused)
  }
}
