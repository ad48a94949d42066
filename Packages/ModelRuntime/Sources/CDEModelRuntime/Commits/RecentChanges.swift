public import CDEStore

/// The changes that recent saves of the same container made to the objects of a merge by IDs.
@_spi(CDE) public struct RecentChanges {
  /// The change of one object by one save.
  public struct Change: Sendable {
    /// The trace of the save's commit. It records whether a listener expects the commit and has received it.
    public let trace: CommitTrace
    /// The slots of the properties that the save changed in the object.
    public let properties: PropertySet
    /// The row's version after the save; nil when the row did not change.
    let version: Int64?
  }

  var changes: [ObjectIdentifier: [Change]] = [:]
  var repeated: [CommitTrace] = []

  /// Makes a listener, to be added to commits by ``NSManagedObjectContext/addCommitListener(_:)``.
  public init() {}

  /// Whether the context merged the save, or a part of it, shortly before. Its executor then still has to run
  /// jobs that were queued at that time.
  public func isRepeated(_ trace: CommitTrace) -> Bool { repeated.contains { $0 === trace } }
}
