internal import CDEStore
internal import Foundation

/// Follows the changes of a context's objects, as the "objects did change" notification names them.
///
/// All calls are made on the context's isolation. A context does not keep its trackers alive.
protocol ContextTracker: AnyObject {
  /// Whether rows of an entity matter. Of such rows a merge makes objects, also if nothing else has them.
  func reads(_ entity: EntityIndex) -> Bool

  /// Called with each announcement, after the notification was posted, and with each merge.
  func contextDidChange(_ changes: ContextChanges)

  /// Whether ``contextDidSave(_:_:)`` is called.
  var followsSaves: Bool { get }

  /// Called after a save.
  ///
  /// - Parameters:
  ///   - objects: the saved objects, and those whose derived values the store computed.
  ///   - entities: the entities of all written rows.
  func contextDidSave(_ objects: [NSManagedObject], _ entities: Set<EntityIndex>)

  /// Called after the context dropped all its objects.
  func contextDidReset()
}

/// A reference to a tracker, which leaves the list when the tracker has been freed.
struct TrackerReference {
  weak var tracker: (any ContextTracker)?
}

/// The changes of one announcement or of one merge.
struct ContextChanges {
  struct Object {
    var object: NSManagedObject
    /// The changed properties; nil if they are not known.
    var properties: PropertySet?
  }

  /// New and changed objects, and objects that were refreshed or merged.
  var changed: [Object] = []
  /// Deleted objects, and new ones that the context dropped.
  var deleted: [NSManagedObject] = []
  /// The entities of all merged rows, whether or not they have objects here.
  var merged: Set<EntityIndex> = []
}

/// What a merge brings in addition to the notification.
struct MergedNews {
  /// The changed properties of registered objects.
  var properties: [ObjectIdentifier: PropertySet] = [:]
  /// Objects made for changed rows that had no object.
  var found: [NSManagedObject] = []
  var entities: Set<EntityIndex> = []
}
