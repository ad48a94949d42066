/// The parts of an ID, for layers that keep identities as values.
extension NSManagedObjectID {
  /// The key of the row in its own store. Before the first save a negative number, unique in the process; 0 without a context.
  @_spi(CDE) public var rowKey: Int64 { ownKey }

  /// The UUID of the store; nil for a temporary ID.
  @_spi(CDE) public var storeIdentifier: String? { isTemporaryID ? nil : store?.identifier }
}
