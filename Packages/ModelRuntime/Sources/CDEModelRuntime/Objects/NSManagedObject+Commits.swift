// An object in the terms of commits.
extension NSManagedObject {
  /// The identity of the object's row, or of the object itself before it has one.
  final var rowIdentity: RowKey { RowKey(root: _binding.root, key: _key) }
}

extension CommitTrace.Rows {
  /// Whether the set contains an object.
  @_spi(CDE) public func contains(_ object: NSManagedObject) -> Bool { rows.contains(object.rowIdentity) }
}

extension CommitTrace {
  /// Notes that the listener has received what the commit changed in one object.
  ///
  /// - Returns: whether it is the first time.
  @_spi(CDE) public func deliver(_ object: NSManagedObject, to listener: CommitListener) -> Bool {
    deliver(object.rowIdentity, to: listener)
  }
}

extension RecentChanges {
  /// The changes of one object. Empty unless recent saves explain its new row completely.
  @_spi(CDE) public subscript(object: NSManagedObject) -> [Change] { changes[ObjectIdentifier(object)] ?? [] }
}

extension CommittedTransaction {
  /// The IDs of the objects with one kind of change.
  func ids(_ kind: Change.Kind) -> [NSManagedObjectID] {
    changes.filter { $0.kind == kind }.map {
      NSManagedObjectID(binding: model.entities[$0.entity], key: $0.key, store: store(of: $0.key))
    }
  }
}
