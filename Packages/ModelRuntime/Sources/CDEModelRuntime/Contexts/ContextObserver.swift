public import CDEStore

/// What a domain hears from a context; the one hook the observation layer needs.
///
/// All calls come on the context's isolation.
@_spi(CDE) public protocol ContextObserver: AnyObject {
  /// An object's property is read for the first time while a reader tracks.
  func contextWillTrack(_ object: NSManagedObject)

  /// A save succeeded. The objects are the context's own.
  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction)

  /// Another context's save was merged; the objects are registered ones that it concerns.
  func contextDidMerge(_ changes: [ObjectChange], commit: CommittedTransaction?)

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

  public var object: NSManagedObject
  public var kind: Kind
  /// The properties concerned, by slot; nil when the writer did not say.
  public var properties: PropertySet?
}
