@_spi(CDE) public import CDEStore

/// Observes the requests to a loaded store, and the faults that caused them; for tests and tools.
///
/// Set on a description before its store is loaded, see ``NSPersistentStoreDescription/observer``.
@_spi(CDE) public protocol StoreActivityObserver: StatementObserver {
  /// A fault has fired by itself, after the request it made. On the executor of the object's context.
  func didFire(_ fault: FiredFault)
}

/// A fault that made a request for one object alone. Faults that are loaded together do not count.
@_spi(CDE) public enum FiredFault: Sendable, Hashable {
  /// An object's row was read because a property was asked for.
  case object(entity: String)
  /// The members of one object's to-many relationship were read.
  case relationship(entity: String, name: String)
}
