internal import CDEStore

extension NSManagedObject {
  /// Reads the object's row if the object is a fault.
  ///
  /// The row is read on a thread that may wait, so neither the caller nor the context is held up meanwhile. Reading a property of a fault
  /// waits instead, and can't report an error: it returns a default, and the next save fails. Over a network, load objects first, or
  /// fetch them with `returnsObjectsAsFaults` set to false.
  ///
  /// ```swift
  /// func title(of book: Book) async throws -> String {
  ///   try await book.load()
  ///   return book.title
  /// }
  /// @PersistentModel final class Book: NSManagedObject { var title: String = "" }
  /// ```
  ///
  /// Does nothing if the object is no fault, is not saved yet, or belongs to no context. An object of a child context is read through its
  /// parent, on the child's isolation. Call it where the object may be used. Core Data has no such call.
  ///
  /// - Throws: ``ManagedObjectError``: `.objectNotFound` if the row is gone, `.store` and so on if it can't be read. The object stays a
  ///   fault then, and no default takes the place of its values. `CancellationError` is not thrown: a read that has begun is completed or
  ///   fails with `.store`.
  nonisolated(nonsending) public final func load() async throws {
    guard let context = managedObjectContext else { return }
    do {
      guard let read = try await context.perform({ try context.beginLoading(self) }) else { return }
      let row = try await BackgroundRead.run { try read.row() }
      try await context.perform { try context.finishLoading(self, row) }
    } catch let error as StoreError {
      throw ManagedObjectError.store(error)
    }
  }
}

/// The reading part of a load.
private struct RowRead: Sendable {
  let source: any RowSource
  let binding: EntityBinding
  let key: Int64

  func row() throws(StoreError) -> RowReference? { try source.row(of: binding, key: key, for: nil) }
}

extension NSManagedObjectContext {
  /// - Returns: what has to be read; nil if nothing has to be, or if it was read through the parent.
  fileprivate func beginLoading(_ object: NSManagedObject) throws -> RowRead? {
    guard object.isFault, object.isStored else { return nil }
    let read = RowRead(
      source: try loadedSource(of: object._binding), binding: object._binding, key: object._key)
    // The answer of a parent context changes its child.
    guard read.source.hasUnsavedRows else { return read }
    try finishLoading(object, try read.row())
    return nil
  }

  fileprivate func finishLoading(_ object: NSManagedObject, _ row: RowReference?) throws {
    guard object.isFault else { return }
    guard let row, row.batch.layout.entity == object._binding.index else {
      let id = object.objectID
      if shouldDeleteInaccessibleFaults { vanish(object) }
      throw ManagedObjectError(
        .objectNotFound,
        "There is no object \(id.uriRepresentation().absoluteString) any more: its row was deleted.",
        entity: object._binding.name, objectID: id)
    }
    _ = adopt(FetchedRows(batches: [row.batch]))
  }
}
