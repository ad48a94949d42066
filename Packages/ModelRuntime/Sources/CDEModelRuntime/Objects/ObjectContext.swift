internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// The part of a context that objects use.
///
/// Every call is made on the context's isolation.
protocol ObjectContext: AnyObject {
  // MARK: Making

  /// The registry as an uncounted reference; nil before the context has a coordinator.
  var home: Borrowed<ObjectRegistry>? { get }

  /// The row of the object being initialised; nil when the object is new.
  func takeMaterialization(of entity: NSEntityDescription) -> Materialization?

  /// Inserts an object made without a context.
  func insert(_ object: NSManagedObject)

  // MARK: Reading

  /// Reads the row of a fault.
  func fire(_ object: NSManagedObject)

  /// Reads the rows of all faults among objects.
  func fireAll(_ objects: [NSManagedObject])

  /// The object for a row: the registered one, or a fault.
  func object(entity: EntityIndex, key: Int64) -> NSManagedObject

  /// The object for a row of an entity or of one that inherits from it. Only the row identifies the entity.
  func objectOfRow(_ binding: EntityBinding, _ key: Int64) -> NSManagedObject

  /// The stored members of a to-many relationship; nil when they can't be read.
  func storedMembers(of object: NSManagedObject, slot: SlotIndex) -> [NSManagedObject]?

  /// The IDs of the stored members of a to-many relationship; nil when unsaved changes may concern the members, or they can't
  /// be read.
  func storedMemberIDs(of object: NSManagedObject, slot: SlotIndex) -> [NSManagedObjectID]?

  /// The bytes of a value that is stored in a file outside the database.
  func externalData(_ value: ExternalValue, for binding: EntityBinding) throws -> Data

  /// The row that the store has now for an object; nil if there is none.
  func presentRow(of object: NSManagedObject) throws -> RowReference?

  /// The objects that a fetched property finds for an object.
  func fetchedValue(of property: NSFetchedPropertyDescription, for object: NSManagedObject) -> [Any]

  /// Reports a failed read where no error can be thrown.
  func noteUnread(_ object: NSManagedObject, _ property: String?, _ error: any Error)

  /// Notes that an object has recorded a failed read.
  func noteUnreadObject()

  // MARK: Changing

  /// Whether `awakeFromFetch` runs. Values that it sets do not count as changes.
  var isAwakening: Bool { get }

  /// Notes a change of an object, once until it is announced and once until it is saved.
  func noteChange(_ object: NSManagedObject)

  /// Notes that values of an object change that the context's index of unsaved values has.
  func noteWritten(_ object: NSManagedObject)

  /// Keeps the values that an object had before it changed for the first time since the last announcement.
  func keepFormerValues(_ values: FormerValues, of object: NSManagedObject)

  /// The values of an object before the changes since the last announcement.
  ///
  /// - Returns: nil when the object did not change since then; else the unsaved values before, if it had any.
  func eventValues(of object: NSManagedObject) -> FormerValues??

  /// Notes that a one-to-one relationship of an object changes.
  func notePartner()

  /// Notes an object whose last unsaved change ended without a save.
  func noteEnded(_ object: NSManagedObject)

  /// Notes a property that was set without a change.
  func noteSilentValue(_ object: NSManagedObject, _ slot: SlotIndex)

  // MARK: Identity and isolation

  /// The store that holds a row; the first one of the entity for a key that is not above zero.
  func storeHandle(for binding: EntityBinding, key: Int64) -> StoreHandle?

  /// The store that held a row until the store was removed.
  func removedHandle(for binding: EntityBinding, key: Int64) -> StoreHandle?

  /// Traps when the caller is not on the context's isolation, if checking is enabled.
  func checkUse(of entity: String)

  /// Whether the caller is outside of the isolation, and the class of the objects answers such callers.
  var isUsedOutside: Bool { get }

  /// Whether the caller is on the context's isolation.
  var isIsolatedHere: Bool { get }

  /// Called before a reader tracks an object for the first time.
  func willTrack(_ object: NSManagedObject)
}

/// What an object that is made for a row gets from its context.
struct Materialization {
  var binding: EntityBinding
  var batch: RowBatch
  var row: Int32
  var key: Int64
  var flags: NSManagedObject.Flags
}
