internal import CDEStore

// The requirements of `ObjectContext`, except for reading and noting changes.
extension NSManagedObjectContext: ObjectContext {
  func noteUnreadObject() { failedReads.areRemembered = true }

  func noteSilentValue(_ object: NSManagedObject, _ slot: SlotIndex) {
    guard hooks.areRunning else { return }
    hooks.silenced[ObjectIdentifier(object), default: PropertySet()].insert(slot)
  }

  func storeHandle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    key > 0
      ? persistentStoreCoordinator?.handle(for: binding, key: key)
      : persistentStoreCoordinator?.handle(for: binding)
  }

  func removedHandle(for binding: EntityBinding, key: Int64) -> StoreHandle? {
    persistentStoreCoordinator?.removedHandle(for: binding, key: key)
  }

  func checkUse(of entity: String) { preconditionIsolated(entity) }

  func willTrack(_ object: NSManagedObject) { observer?.contextWillTrack(object) }
}
