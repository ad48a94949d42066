public import CDEStore

/// What a context reports to an observation domain. The observation layer needs no other hook.
///
/// All calls are made on the context's isolation.
@_spi(CDE) public protocol ContextObserver: AnyObject {
  /// An object's property is read for the first time under observation tracking.
  func contextWillTrack(_ object: NSManagedObject)

  /// A save succeeded. The objects belong to the context.
  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction)

  /// Changes of other writers were merged. The objects are registered ones that the changes concern.
  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource)

  /// Objects were refreshed, rolled back or invalidated. There is no list of properties.
  func contextDidRefresh(_ objects: [NSManagedObject])

  func contextDidReset()

  /// A deletion that is not saved yet changed relationships of an object that is read under observation tracking.
  ///
  /// - Parameter slots: the relationships; nil for all properties of a new object that was deleted itself.
  func contextDidUnlink(_ object: NSManagedObject, _ slots: PropertySet?)
}

extension ContextObserver {
  /// Does nothing: most observers follow what is saved.
  @_spi(CDE) public func contextDidUnlink(_ object: NSManagedObject, _ slots: PropertySet?) {}
}

/// What happened to one registered object.
@_spi(CDE) public struct ObjectChange {
  public enum Kind: Sendable {
    case inserted, updated, deleted
    /// Only the other side of its to-many relationship changed.
    case touched
  }

  /// The object, registered in the context that reports the change.
  public var object: NSManagedObject
  /// What happened to the object.
  public var kind: Kind
  /// The properties concerned, by slot; nil when the writer did not report them.
  public var properties: PropertySet?
}

/// What is known about the changes of a merge.
@_spi(CDE) public enum MergeSource {
  /// Another context's save.
  ///
  /// `isRepeated` means that the context merged the same save shortly before. Its executor then still has to
  /// run jobs that were queued at that time.
  case commit(CommittedTransaction, isRepeated: Bool)
  /// IDs, with the changes that recent saves report for them.
  case identities(RecentChanges)
}
