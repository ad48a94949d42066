@_spi(CDE) public import CDEStore

/// Observes the requests to a loaded store, and the faults that caused them; for tests and tools.
///
/// Set it on a description before the store is loaded, see ``NSPersistentStoreDescription/observer``.
@_spi(CDE) public protocol StoreActivityObserver: StatementObserver {
  /// A fault was fired by a single access, after its request. Called on the executor of the object's context.
  func didFire(_ fault: FiredFault)
}

/// A fault that made a request for one object alone. Faults that are loaded in a group do not count.
@_spi(CDE) public enum FiredFault: Sendable, Hashable {
  /// An object's row was read because a property was read.
  case object(entity: String)
  /// The members of one object's to-many relationship were read.
  case relationship(entity: String, name: String)
}
