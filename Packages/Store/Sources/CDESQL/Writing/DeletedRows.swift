public import CDEStore

/// The rows that a transaction deletes.
@_spi(CDE) public struct DeletedRows {
  private var keys: [RootIndex: Set<Int64>] = [:]

  /// The rows of deletions.
  public init(_ deletions: [RowDeletion], _ schema: ResolvedSchema) {
    for deletion in deletions {
      keys[schema.entities[deletion.entity].root, default: []].insert(deletion.key)
    }
  }

  /// Whether the row with a key in the tree of a root is deleted.
  public func contains(root: RootIndex, key: Int64) -> Bool { keys[root]?.contains(key) == true }
}
