internal import CDEStore
public import Foundation

/// An object to be saved or deleted whose row another writer changed or deleted since the context read it.
///
/// Snapshots name attributes and to-one relationships; the latter stand as ``NSManagedObjectID``, nothing as
/// `NSNull`. They are computed when asked for.
///
/// Core Data has two kinds of conflict, since its coordinator caches rows. Here a context holds its rows itself: the
/// cached snapshot is what the context read, the persisted one what the store has.
nonisolated public final class NSMergeConflict: NSObject, @unchecked Sendable {
  // Guard: immutable; the objects belong to their context's isolation, which checks who uses them.

  /// The object of the context that saves.
  public let sourceObject: NSManagedObject
  /// The version in the store; 0 when the row was deleted.
  public let newVersionNumber: Int
  /// The version that the context knows; 0 for an object it thought deleted.
  public let oldVersionNumber: Int

  let objectID: NSManagedObjectID
  private let changes: [String: Any]
  private let base: RowReference?
  private let persisted: RowReference?
  private let given: (cached: [String: Any]?, persisted: [String: Any]?)?
  private let resolution: ConflictResolution?

  init(
    _ object: NSManagedObject, old: Int64, new: Int64?, persisted: RowReference?,
    _ resolution: ConflictResolution
  ) {
    sourceObject = object
    objectID = object.objectID
    oldVersionNumber = Int(old)
    newVersionNumber = new.map(Int.init) ?? 0
    changes = object.unsavedSnapshot
    base = RowReference(batch: object._batch, row: Int(object._row))
    self.persisted = persisted
    given = nil
    self.resolution = resolution
  }

  /// Makes a conflict, as a test of a policy needs it. A policy that resolves it asks the store for the row.
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
    changes = srcObject.unsavedSnapshot
    base = nil
    persisted = nil
    given = (cachesnap, persnap)
    resolution = nil
  }

  /// The object's values as they were to be saved.
  public var objectSnapshot: [String: Any]? {
    (cachedSnapshot ?? [:]).merging(changes) { $1 }
  }

  /// The values that the context read.
  public var cachedSnapshot: [String: Any]? {
    if let given { return given.cached }
    return base.map { $0.snapshot(of: objectID) }
  }

  /// The values in the store; nil when the row was deleted.
  public var persistedSnapshot: [String: Any]? {
    if let given { return given.persisted }
    return persisted.map { $0.snapshot(of: objectID) }
  }

  /// The store's refusal that the conflict was found behind.
  var refusal: StoreError? { resolution?.refusal }

  /// Changes the object so that it can be saved.
  func settle(by type: NSMergePolicyType) throws {
    if let resolution { return resolution.settle(self, persisted, by: type) }
    guard let context = sourceObject.managedObjectContext,
      let handle = context.storeHandle(for: sourceObject._binding)
    else { return }
    let row: RowReference?
    do {
      row = try handle.store.row(entity: sourceObject._binding.index, key: sourceObject._key)
    } catch {
      throw ManagedObjectError.store(error)
    }
    let resolution = ConflictResolution(in: context)
    resolution.settle(self, row, by: type)
    resolution.announceAlone()
  }
}
