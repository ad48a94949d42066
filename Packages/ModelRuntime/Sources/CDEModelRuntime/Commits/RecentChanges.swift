public import CDEStore

/// What recent saves of the same container changed in the objects of a merge by IDs.
@_spi(CDE) public struct RecentChanges {
  /// What one save changed in one object.
  public struct Change: Sendable {
    /// The trace of the save's commit, which tells whether a listener expects it and has it already.
    public let trace: CommitTrace
    /// The slots of the properties that the save changed in the object.
    public let properties: PropertySet
    /// The row's version after the save; nil when the row did not change.
    let version: Int64?
  }

  var changes: [ObjectIdentifier: [Change]] = [:]
  var repeated: [CommitTrace] = []

  /// Makes a listener, to be stamped on commits by ``NSManagedObjectContext/addCommitListener(_:)``.
  public init() {}

  /// Whether the context merged the save, or a part of it, earlier in the same turn of its executor.
  public func isRepeated(_ trace: CommitTrace) -> Bool { repeated.contains { $0 === trace } }
}
