// Hooks of objects whose values were replaced by others at once.
extension NSManagedObjectContext {
  /// Calls the hook of objects that got other values at once. Values that the hook sets do not count as changes.
  ///
  /// All objects of one event have their new values by then. Objects without values, and those of classes without the
  /// hook, are left out.
  func awaken(_ objects: some Sequence<NSManagedObject>, from events: NSSnapshotEventType) {
    for object in objects {
      guard OverriddenMethods.includeAwakeFromSnapshot(type(of: object)), object.isRealized,
        object._registry === registry
      else { continue }
      let wasAwakening = isAwakening
      isAwakening = true
      object.awake(fromSnapshotEvents: events)
      isAwakening = wasAwakening
    }
  }

  /// Notes that a merge gave an object other values. ``awakenMerged()`` calls its hook when the merge is complete.
  func noteMerged(_ object: NSManagedObject) {
    if OverriddenMethods.includeAwakeFromSnapshot(type(of: object)) { merging.awakened.append(object) }
  }

  func awakenMerged() {
    if merging.awakened.isEmpty { return }
    let objects = merging.awakened
    merging.awakened = []
    awaken(objects, from: .refresh)
  }
}
