public import CDEStore

/// What a context tells an observation domain; the only hook that the observation layer needs.
///
/// All calls come on the context's isolation.
@_spi(CDE) public protocol ContextObserver: AnyObject {
  /// An object's property is read for the first time while a reader tracks.
  func contextWillTrack(_ object: NSManagedObject)

  /// A save succeeded. The objects are the context's own.
  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction)

  /// Changes of other writers were merged; the objects are registered ones that they concern.
  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource)

  /// Objects lost their values: refreshed, rolled back or invalidated without a list of properties.
  func contextDidRefresh(_ objects: [NSManagedObject])

  /// The context forgot all its objects and changes.
  func contextDidReset()
}

/// What happened to one registered object.
@_spi(CDE) public struct ObjectChange {
  /// The ways in which an object changes.
  public enum Kind: Sendable {
    case inserted, updated, deleted
    /// Its to-many relationship changed through the other side alone.
    case touched
  }

  /// The object, registered in the context that reports the change.
  public var object: NSManagedObject
  /// What happened to the object.
  public var kind: Kind
  /// The properties concerned, by slot; nil when the writer did not say.
  public var properties: PropertySet?
}

/// What is known about the changes of a merge.
@_spi(CDE) public enum MergeSource {
  /// Another context's save.
  ///
  /// `isRepeated` when the context has merged the same save in the same turn of its executor already.
  case commit(CommittedTransaction, isRepeated: Bool)
  /// IDs, with what recent saves say about them.
  case identities(RecentChanges)
}

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

  /// Makes an empty value, for merges about which no save says anything.
  public init() {}

  /// The changes of one object. Empty unless recent saves, and nothing else, account for its new row.
  public subscript(object: NSManagedObject) -> [Change] { changes[ObjectIdentifier(object)] ?? [] }

  /// Whether the context merged the save, or a part of it, earlier in the same turn of its executor.
  public func isRepeated(_ trace: CommitTrace) -> Bool { repeated.contains { $0 === trace } }
}
