internal import CDEStore
public import Foundation

/// An object to be saved or deleted whose row another writer changed or deleted after the context read it.
///
/// Snapshots contain attributes and to-one relationships by name. A relationship is an ``NSManagedObjectID``,
/// a missing value is `NSNull`. Snapshots are computed on demand.
///
/// As in Core Data there are two kinds. If the coordinator has committed since the context read the object,
/// the cached snapshot has the new values and there is no persisted snapshot. `persistedSnapshot ??
/// cachedSnapshot` then has the values of the other writer. Otherwise the writer was another container or
/// process. The persisted snapshot then has the new values, and the cached snapshot has those that the
/// context read.
nonisolated public final class NSMergeConflict: NSObject, @unchecked Sendable {
  // Guard: immutable; the objects belong to their context's isolation, which checks each use.

  /// The object of the context that saves.
  public let sourceObject: NSManagedObject
  /// The version in the store; 0 when the row was deleted.
  public let newVersionNumber: Int
  /// The version that the context read; 0 if the object was deleted for the context.
  public let oldVersionNumber: Int

  let objectID: NSManagedObjectID
  private let base: RowReference?
  private let persisted: RowReference?
  /// Whether the coordinator has the new row, because it wrote the row itself.
  private let isCached: Bool
  private let given: (cached: [String: Any]?, persisted: [String: Any]?)?
  private let resolution: (any ConflictResolving)?

  init(
    _ object: NSManagedObject, old: Int64, new: Int64?, persisted: RowReference?, isCached: Bool,
    _ resolution: any ConflictResolving
  ) {
    sourceObject = object
    objectID = object.objectID
    oldVersionNumber = Int(old)
    newVersionNumber = new.map(Int.init) ?? 0
    base = RowReference(batch: object._batch, row: Int(object._row))
    self.persisted = persisted
    self.isCached = isCached
    given = nil
    self.resolution = resolution
  }

  /// Makes a conflict for tests of a policy. A policy that resolves it reads the row from the store.
  ///
  /// - Parameters:
  ///   - srcObject: an object of a context, on whose isolation the call runs.
  ///   - newvers: the row's version in the store; 0 for a row that was deleted.
  ///   - oldvers: the version that the context read.
  ///   - cachesnap: the values that the context read; nil for none.
  ///   - persnap: the store's values; nil for none.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectID = srcObject.objectID
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    base = RowReference(batch: srcObject._batch, row: Int(srcObject._row))
    persisted = nil
    isCached = false
    given = (cachesnap, persnap)
    resolution = nil
  }

  /// The values that the context read, without its changes. `sourceObject.changedValues()` has the changes.
  public var objectSnapshot: [String: Any]? { base.map { $0.snapshot(of: objectID) } }

  /// The values that the coordinator has: the new values if it wrote them, nil if it deleted the row,
  /// otherwise the values that the context read.
  public var cachedSnapshot: [String: Any]? {
    if let given { return given.cached }
    return isCached ? newSnapshot : objectSnapshot
  }

  /// The new values in the store, if another container or process wrote them; nil when the row was deleted.
  public var persistedSnapshot: [String: Any]? {
    if let given { return given.persisted }
    return isCached ? nil : newSnapshot
  }

  private var newSnapshot: [String: Any]? { persisted.map { $0.snapshot(of: objectID) } }

  /// The store's refusal that led to the conflict.
  var refusal: StoreError? { resolution?.refusal }

  /// Changes the object so that it can be saved.
  func resolve(by type: NSMergePolicyType) throws {
    guard let resolution else { return try resolveAlone(by: type) }
    try resolution.resolve(sourceObject, persisted, by: type)
  }
}
