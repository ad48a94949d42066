@_spi(CDE) public import CDEPredicates

/// The parts of an ID, for layers that keep identities as values.
extension NSManagedObjectID {
  /// The key of the row in its own store. Before the first save a negative number, unique in the process; 0 without a context.
  @_spi(CDE) public var rowKey: Int64 { ownKey }

  /// The UUID of the store; nil for a temporary ID.
  @_spi(CDE) public var storeIdentifier: String? { isTemporaryID ? nil : store?.identifier }
}

/// A reference in a predicate that names a row by the parts of an ID, because it was decoded. It is looked up in the stores of the fetch.
@_spi(CDE) public protocol RowReferring: PredicateObjectReference {
  /// The UUID of the row's store; nil for an object that was never saved.
  var storeIdentifier: String? { get }
  var entityName: String { get }
  /// The key of the row in its own store; nil if there is none.
  var rowKey: Int64? { get }
}
