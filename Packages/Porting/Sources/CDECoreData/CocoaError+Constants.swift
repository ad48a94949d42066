public import Foundation

// Core Data's numbers, from its public header, that the runtime does not report.

/// Values break a uniqueness constraint. See `managedObjectConstraintMerge`.
public let NSManagedObjectConstraintValidationError = 1551
/// A date is not valid.
public let NSValidationInvalidDateError = 1650
/// A URL is not valid.
public let NSValidationInvalidURIError = 1690
/// The lock of a coordinator was not available.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A store has another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// A store refuses its schema. See `persistentStoreIncompatibleVersionHash`.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A save has conflicts. See `managedObjectMerge`.
public let NSPersistentStoreSaveConflictsError = 134050
/// An operation on a store failed.
public let NSPersistentStoreOperationError = 134070
/// A store does not know a request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// SQLite reported an error. See `persistentStoreSave`.
public let NSSQLiteError = 134180
/// External records can't be imported.
public let NSExternalRecordImportError = 134200

/// The domain of SQLite's own codes.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// Contains the objects that an error concerns. Not posted here: see `NSValidationObjectErrorKey`.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"

extension CocoaError {
  /// The object that is not valid.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that is not valid.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The predicate that the value breaks.
  public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
  /// The value that is not valid.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The objects that the error concerns.
  public var affectedObjects: [NSManagedObject]? { userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] }
  /// The stores that the error concerns.
  public var affectedStores: [NSPersistentStore]? {
    userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
  }
  /// The conflicts of a save.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    (userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any])?.compactMap { $0 as? NSMergeConflict }
  }
}
