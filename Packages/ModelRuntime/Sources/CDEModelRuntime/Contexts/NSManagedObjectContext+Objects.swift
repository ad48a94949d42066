internal import CDEStore

// The requirements of `ObjectContext`, except for reading and noting changes.
extension NSManagedObjectContext: ObjectContext {
  func noteUnreadObject() { failedReads.areRemembered = true }

  func noteSilentValue(_ object: NSManagedObject, _ slot: SlotIndex) {
    guard hooks.areRunning else { return }
    hooks.silenced[ObjectIdentifier(object), default: PropertySet()].insert(slot)
  }

  func removedHandle(for binding: EntityBinding) -> StoreHandle? {
    persistentStoreCoordinator?.removedHandle(for: binding)
  }

  func checkUse(of entity: String) { preconditionIsolated(entity) }

  func willTrack(_ object: NSManagedObject) { observer?.contextWillTrack(object) }
}
