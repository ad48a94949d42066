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

  func contextDidReset()
}

/// What happened to one registered object.
@_spi(CDE) public struct ObjectChange {
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
