/// What changed since the last announcement, for `changedValuesForCurrentEvent()`.
struct CurrentEvent {
  /// The values that objects with older unsaved changes had when the event began. Other objects had those of their rows.
  private(set) var former: [ObjectIdentifier: FormerValues] = [:]
  /// The objects of the event that is being announced.
  private var announced: [NSManagedObject] = []
  private var announcedFormer: [ObjectIdentifier: FormerValues] = [:]
  private var announcedIDs: Set<ObjectIdentifier>?

  /// Called before an object with unsaved changes changes for the first time in an event.
  mutating func keep(_ values: FormerValues, of object: NSManagedObject) {
    former[ObjectIdentifier(object)] = values
  }

  /// Ends the event, whose objects are announced now. Observers may ask for its changes until ``finish()``.
  mutating func announce(_ objects: [NSManagedObject]) {
    announced = objects
    announcedFormer = former
    announcedIDs = nil
    if !former.isEmpty { former = [:] }
  }

  mutating func finish() {
    announced = []
    announcedFormer = [:]
    announcedIDs = nil
  }

  mutating func drop() { if !former.isEmpty { former = [:] } }

  /// - Returns: nil when the event did not change the object; else its values before, nil for those of its row.
  mutating func values(of object: NSManagedObject) -> FormerValues?? {
    let id = ObjectIdentifier(object)
    if object.isInEvent { return .some(former[id]) }
    if announced.isEmpty { return nil }
    if announcedIDs == nil { announcedIDs = Set(announced.map(ObjectIdentifier.init)) }
    return announcedIDs!.contains(id) ? .some(announcedFormer[id]) : nil
  }
}
