extension ManagedObjectError {
  /// The stores that lack their part of a save, for `.incompleteSave`.
  public var affectedStores: [NSPersistentStore] {
    get { subjects[.affectedStores] ?? [] }
    set { subjects[.affectedStores] = newValue }
  }
}
