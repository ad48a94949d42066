internal import CDEStore

extension NSMergeConflict {
  /// Resolves a conflict that no save found, but that code of the application made.
  func resolveAlone(by type: NSMergePolicyType) throws {
    guard let context = sourceObject.managedObjectContext, let source = context.persistentStoreCoordinator,
      source.handle(for: sourceObject._binding) != nil
    else { return }
    let row: RowReference?
    do {
      row = try source.row(of: sourceObject._binding, key: sourceObject._key)
    } catch {
      throw ManagedObjectError.store(error)
    }
    let resolution = ConflictResolution(in: context)
    try resolution.resolve(sourceObject, row, by: type)
    resolution.announceAlone()
  }
}
