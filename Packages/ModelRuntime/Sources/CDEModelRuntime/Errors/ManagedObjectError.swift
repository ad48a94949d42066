public import CDEStore
public import Foundation

/// The error of the object layer: saving, validating, fetching, loading stores.
///
/// It bridges to `NSError` with Apple's domain, codes and userInfo keys, for code written for Core Data.
public struct ManagedObjectError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A required attribute or to-one relationship has no value when its object is saved.
    public static let missingMandatoryProperty = Code(rawValue: "missingMandatoryProperty")
    /// A to-many relationship has fewer objects than its minimum.
    public static let relationshipLacksMinimumCount = Code(rawValue: "relationshipLacksMinimumCount")
    /// A to-many relationship has more objects than its maximum.
    public static let relationshipExceedsMaximumCount = Code(rawValue: "relationshipExceedsMaximumCount")
    /// An object can't be deleted, because a relationship with the delete rule "deny" has objects, or because
    /// a batch deletion would empty a required relationship.
    public static let relationshipDeniedDelete = Code(rawValue: "relationshipDeniedDelete")
    /// A value does not fit its attribute, breaks a rule without its own code, or is one of several values
    /// that a class's own validation refused.
    public static let invalidValue = Code(rawValue: "invalidValue")
    /// A property of an object to be saved could not be read, and the read returned a value that is not
    /// stored.
    public static let unreadValue = Code(rawValue: "unreadValue")
    /// A number breaks a rule of its attribute; ``ManagedObjectError/rule`` contains the rule.
    public static let numberTooLarge = Code(rawValue: "numberTooLarge")
    /// A number is below the bound of its attribute; ``ManagedObjectError/rule`` contains the rule.
    public static let numberTooSmall = Code(rawValue: "numberTooSmall")
    /// A date is after the bound of its attribute; ``ManagedObjectError/rule`` contains the rule.
    public static let dateTooLate = Code(rawValue: "dateTooLate")
    /// A date is before the bound of its attribute; ``ManagedObjectError/rule`` contains the rule.
    public static let dateTooSoon = Code(rawValue: "dateTooSoon")
    /// Text has more UTF-16 units than its attribute allows, or data more bytes.
    public static let stringTooLong = Code(rawValue: "stringTooLong")
    /// Text has fewer UTF-16 units than its attribute requires, or data fewer bytes.
    public static let stringTooShort = Code(rawValue: "stringTooShort")
    /// Text does not match the regular expression of its attribute.
    public static let stringPatternMatching = Code(rawValue: "stringPatternMatching")
    /// Several validation failures; ``ManagedObjectError/failures`` lists them.
    public static let multipleValidationErrors = Code(rawValue: "multipleValidationErrors")
    /// Rows changed in the store since they were read; ``ManagedObjectError/conflicts`` lists them.
    public static let saveConflict = Code(rawValue: "saveConflict")
    /// A relationship leads to an object in another store.
    public static let relationshipBetweenStores = Code(rawValue: "relationshipBetweenStores")
    /// Some stores have their part of a save, and others lack it; ``ManagedObjectError/affectedStores`` lists the latter.
    public static let incompleteSave = Code(rawValue: "incompleteSave")
    /// Hooks or observers kept changing objects while a save called them.
    public static let unsettledChanges = Code(rawValue: "unsettledChanges")
    /// Another object has a value that must be unique; ``ManagedObjectError/constraintConflicts`` lists the
    /// objects.
    public static let uniquenessConflict = Code(rawValue: "uniquenessConflict")
    /// No row exists for an ID.
    public static let objectNotFound = Code(rawValue: "objectNotFound")
    /// No store is loaded, or none has the entity.
    public static let noStore = Code(rawValue: "noStore")
    /// There is no store of the type that a description names.
    public static let invalidStoreType = Code(rawValue: "invalidStoreType")
    /// The model has no entity of the name, or none or several for the class.
    public static let unknownEntity = Code(rawValue: "unknownEntity")
    /// A store or this library can't execute a request. The message names an alternative.
    public static let unsupportedRequest = Code(rawValue: "unsupportedRequest")
    /// The store reported an error, which is the cause.
    public static let store = Code(rawValue: "store")
    /// A predicate or sort descriptor can't be used; the cause names the construct.
    public static let predicate = Code(rawValue: "predicate")
    /// The rows of a store can't be migrated to the new model. The cause lists the reasons.
    public static let migration = Code(rawValue: "migration")
    /// Rows of a store to migrate have the same values of a new uniqueness constraint. The cause lists them.
    public static let migrationConstraint = Code(rawValue: "migrationConstraint")
    /// The model that a store to migrate was made with is not found.
    public static let migrationLacksSourceModel = Code(rawValue: "migrationLacksSourceModel")
    /// A store has to be migrated, and its description says not to infer what changed.
    public static let migrationLacksMappingModel = Code(rawValue: "migrationLacksMappingModel")
    /// It can't be inferred how two versions of a model belong together. The cause names the difference.
    public static let inferredMapping = Code(rawValue: "inferredMapping")
    /// Transactions after a history token were purged.
    public static let historyTokenExpired = Code(rawValue: "historyTokenExpired")
    /// The container has no model, or one without entities.
    public static let modelMissing = Code(rawValue: "modelMissing")
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What went wrong and what to do about it, for people.
  public var message: String
  /// The underlying error: of a store, a model, a predicate or a class's own validation.
  public var cause: (any Error)?
  /// Name of the entity concerned.
  public var entity: String?
  /// Name of the property concerned.
  public var property: String?
  /// Whether this is one of several failures in place of the cause, an error of a class's own validation.
  var standsForCause = false
  /// The predicate that a value breaks, as a format string.
  public var rule: String?
  /// The value that breaks the rule.
  public var value: (any Sendable)?
  /// The single failures behind `.multipleValidationErrors`. An error of a class's own validation is the ``cause`` of
  /// one; `NSDetailedErrorsKey` of the user info has that error itself.
  public var failures: [ManagedObjectError]
  /// The objects, conflicts and stores concerned.
  var subjects = ErrorSubjects()

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil,
    property: String? = nil, rule: String? = nil, value: (any Sendable)? = nil,
    failures: [ManagedObjectError] = []
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.entity = entity
    self.property = property
    self.rule = rule
    self.value = value
    self.failures = failures
  }

  /// The message alone. The code and the cause are for programs.
  public var errorDescription: String? { message }

  /// Throws failures as one error: the only one, or one with all of them.
  static func throwing(_ failures: [ManagedObjectError]) throws {
    if failures.isEmpty { return }
    if failures.count == 1 { throw failures[0] }
    throw ManagedObjectError(
      .multipleValidationErrors,
      "\(failures.count) values can't be saved:" + failures.prefix(5).map { "\n  \($0.message)" }.joined()
        + (failures.count > 5 ? "\n  and \(failures.count - 5) more, which failures lists" : ""),
      entity: failures[0].entity, failures: failures)
  }

  static func removedStore(of entity: String?) -> String {
    "The store\(entity.map { " of \($0)" } ?? "") was removed. Load a store before fetching or saving, or reset the context."
  }

  static func store(_ error: StoreError) -> ManagedObjectError {
    if error.code == .closed {
      return ManagedObjectError(.noStore, removedStore(of: error.entity), cause: error, entity: error.entity)
    }
    let code: Code =
      switch error.code {
      case .uniqueness: .uniquenessConflict
      case .conflict, .danglingReference: .saveConflict
      case .invalidValue: .invalidValue
      default: .store
      }
    return ManagedObjectError(
      code, error.message, cause: error, entity: error.entity, property: error.properties.first)
  }
}

extension ManagedObjectError: CustomNSError {
  /// Apple's domain of Core Data's errors: `NSCocoaErrorDomain`.
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// Core Data's number for the code.
  public var errorCode: Int {
    switch code {
    case .missingMandatoryProperty: return NSValidationMissingMandatoryPropertyError
    case .relationshipLacksMinimumCount: return NSValidationRelationshipLacksMinimumCountError
    case .relationshipExceedsMaximumCount: return NSValidationRelationshipExceedsMaximumCountError
    case .relationshipDeniedDelete: return NSValidationRelationshipDeniedDeleteError
    case .incompleteSave: return NSPersistentStoreIncompleteSaveError
    case .relationshipBetweenStores: return NSManagedObjectExternalRelationshipError
    case .invalidValue: return NSManagedObjectValidationError
    case .numberTooLarge: return NSValidationNumberTooLargeError
    case .numberTooSmall: return NSValidationNumberTooSmallError
    case .dateTooLate: return NSValidationDateTooLateError
    case .dateTooSoon: return NSValidationDateTooSoonError
    case .stringTooLong: return NSValidationStringTooLongError
    case .stringTooShort: return NSValidationStringTooShortError
    case .stringPatternMatching: return NSValidationStringPatternMatchingError
    case .multipleValidationErrors: return NSValidationMultipleErrorsError
    case .saveConflict: return NSManagedObjectMergeError
    case .uniquenessConflict: return NSManagedObjectConstraintMergeError
    case .objectNotFound: return NSManagedObjectReferentialIntegrityError
    case .noStore: return NSPersistentStoreSaveError
    case .invalidStoreType: return NSPersistentStoreInvalidTypeError
    case .migration: return NSMigrationError
    case .migrationConstraint: return NSMigrationConstraintViolationError
    case .migrationLacksSourceModel: return NSMigrationMissingSourceModelError
    case .migrationLacksMappingModel: return NSMigrationMissingMappingModelError
    case .inferredMapping: return NSInferredMappingModelError
    case .historyTokenExpired: return NSPersistentHistoryTokenExpiredError
    case .store: return storeCode
    default: return customMigrationNumber ?? NSCoreDataError
    }
  }

  private var storeCode: Int {
    let error = cause as? StoreError
    switch error?.code {
    // Core Data passes on what Foundation says of the file.
    case .cannotOpen: return ((error?.cause as? CocoaError)?.code ?? .fileReadUnknown).rawValue
    case .unreadable:
      let isNoDatabase = sqliteCode.map { [11, 26].contains($0 & 0xFF) } ?? false
      return isNoDatabase ? CocoaError.Code.fileReadCorruptFile.rawValue : NSPersistentStoreOpenError
    case .tooManyOpenFiles: return NSPersistentStoreOpenError
    case .readOnly: return CocoaError.Code.fileWriteVolumeReadOnly.rawValue
    case .full: return CocoaError.Code.fileWriteOutOfSpace.rawValue
    case .incompatibleSchema: return NSPersistentStoreIncompatibleVersionHashError
    case .busy: return NSPersistentStoreTimeoutError
    default: return NSPersistentStoreSaveError
    }
  }

  /// SQLite's result code, extended codes included; nil if another engine failed, or none.
  private var sqliteCode: Int32? {
    // A server's code is a number of five characters.
    (cause as? StoreError)?.engineCode.flatMap { $0 < 1 << 16 ? $0 : nil }
  }

  /// The error in the list of another one.
  private var detail: NSError {
    if standsForCause, let cause { return cause as NSError }
    return self as NSError
  }

  /// The error's parts under Core Data's keys: the message, the property, the object, the rule, the value,
  /// the single failures, the cause, the conflicts, the file and, if its model is another one, the store's metadata. Absent
  /// parts have no key.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let property { info[NSValidationKeyErrorKey] = property }
    if let object = subjects[.object, as: ConcernedObject.self] {
      info[NSValidationObjectErrorKey] = object.object
    }
    if let rule { info[NSValidationPredicateErrorKey] = NSPredicate(format: rule) }
    if let value {
      // A boxed `Int64` casts to no other number.
      info[NSValidationValueErrorKey] = (value as? Int64).map { NSNumber(value: $0) } ?? value
    }
    // Core Data's key for SQLite's code is the domain's name.
    if let sqliteCode { info["NSSQLiteErrorDomain"] = Int(sqliteCode) }
    if !failures.isEmpty { info[NSDetailedErrorsKey] = failures.map(\.detail) }
    if let cause { info[NSUnderlyingErrorKey] = cause as NSError }
    let conflicts = subjects.list(.mergeConflicts) + subjects.list(.constraintConflicts)
    if !conflicts.isEmpty { info[NSPersistentStoreSaveConflictsErrorKey] = conflicts }
    let stores = subjects.list(.affectedStores)
    if !stores.isEmpty { info[NSAffectedStoresErrorKey] = stores }
    if let path = subjects[.path, as: String.self] { info[NSFilePathErrorKey] = path }
    if let metadata = subjects[.metadata, as: ConcernedMetadata.self] {
      // Core Data has no constants for these keys.
      info["metadata"] = metadata.values
      info["reason"] =
        "The model used to open the store is incompatible with the one used to create the store"
    } else if (NSMigrationError...NSInferredMappingModelError).contains(errorCode) {
      info["reason"] = message
      if let entity { info["entity"] = entity }
      if let property { info["attribute"] = property }
      if let url = subjects[.migratedStore, as: URL.self] {
        info["sourceURL"] = url
        info["destinationURL"] = url
      }
    }
    return info
  }
}

// Core Data's numbers, from its public header CoreDataErrors.h.

/// An error without its own number.
public let NSCoreDataError = 134060
/// A value is not valid: ``ManagedObjectError/Code/invalidValue``.
public let NSManagedObjectValidationError = 1550
/// Several values are not valid: ``ManagedObjectError/Code/multipleValidationErrors``.
public let NSValidationMultipleErrorsError = 1560
/// A required value is missing: ``ManagedObjectError/Code/missingMandatoryProperty``.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship has too few objects: ``ManagedObjectError/Code/relationshipLacksMinimumCount``.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship has too many objects: ``ManagedObjectError/Code/relationshipExceedsMaximumCount``.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A relationship denies a deletion: ``ManagedObjectError/Code/relationshipDeniedDelete``.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its bound: ``ManagedObjectError/Code/numberTooLarge``. Also the code of such a rule in a
/// model.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its bound: ``ManagedObjectError/Code/numberTooSmall``. Also the code of such a rule in a
/// model.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its bound: ``ManagedObjectError/Code/dateTooLate``. Also the code of such a rule in a
/// model.
public let NSValidationDateTooLateError = 1630
/// A date is before its bound: ``ManagedObjectError/Code/dateTooSoon``. Also the code of such a rule in a
/// model.
public let NSValidationDateTooSoonError = 1640
/// Text is too long: ``ManagedObjectError/Code/stringTooLong``. Also the code of such a rule in a model.
public let NSValidationStringTooLongError = 1660
/// Text is too short: ``ManagedObjectError/Code/stringTooShort``. Also the code of such a rule in a model.
public let NSValidationStringTooShortError = 1670
/// Text does not match its pattern: ``ManagedObjectError/Code/stringPatternMatching``. Also the code of such
/// a rule in a model.
public let NSValidationStringPatternMatchingError = 1680
/// The lock of a coordinator was not available. For code that compares with it. This library does not report
/// it.
public let NSManagedObjectContextLockingError = 132000
/// Rows changed since they were read: ``ManagedObjectError/Code/saveConflict``.
public let NSManagedObjectMergeError = 133020
/// Another object has a unique value: ``ManagedObjectError/Code/uniquenessConflict``.
public let NSManagedObjectConstraintMergeError = 133021
/// No row exists for an ID: ``ManagedObjectError/Code/objectNotFound``.
public let NSManagedObjectReferentialIntegrityError = 133000
/// There is no store of the type: ``ManagedObjectError/Code/invalidStoreType``.
public let NSPersistentStoreInvalidTypeError = 134000
/// A store has another version of the model: ``ManagedObjectError/Code/store`` with that cause.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// The rows of a store can't be migrated: ``ManagedObjectError/Code/migration``.
public let NSMigrationError = 134110
/// Rows to migrate share values that must be unique: ``ManagedObjectError/Code/migrationConstraint``.
public let NSMigrationConstraintViolationError = 134111
/// The old model of a store to migrate is missing: ``ManagedObjectError/Code/migrationLacksSourceModel``.
public let NSMigrationMissingSourceModelError = 134130
/// A migration may not be inferred: ``ManagedObjectError/Code/migrationLacksMappingModel``.
public let NSMigrationMissingMappingModelError = 134140
/// A migration can't be inferred: ``ManagedObjectError/Code/inferredMapping``.
public let NSInferredMappingModelError = 134190
/// Transactions after a history token were purged: ``ManagedObjectError/Code/historyTokenExpired``.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A store can't be opened or read: ``ManagedObjectError/Code/store`` with that cause.
public let NSPersistentStoreOpenError = 134080
/// Another writer kept the store locked for too long: ``ManagedObjectError/Code/store`` with that cause.
public let NSPersistentStoreTimeoutError = 134090
/// A store can't execute a request, or none is loaded: ``ManagedObjectError/Code/store`` with all other
/// causes, and ``ManagedObjectError/Code/noStore``.
public let NSPersistentStoreSaveError = 134030

/// A relationship leads to an object of another store: ``ManagedObjectError/Code/relationshipBetweenStores``.
public let NSManagedObjectExternalRelationshipError = 133010
/// Some stores lack their part of a save: ``ManagedObjectError/Code/incompleteSave``.
public let NSPersistentStoreIncompleteSaveError = 134040

/// Contains the stores that an error concerns, as an array of ``NSPersistentStore``.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// Contains the single failures of ``NSValidationMultipleErrorsError`` as an array of `NSError`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// Contains the ``NSManagedObject`` that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// Contains the name of the property that is not valid, as a string.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// Contains the `NSPredicate` that the value breaks.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// Contains the value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// Contains the ``NSMergeConflict`` and ``NSConstraintConflict`` objects of a save that failed.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
