public import CDEStore
public import Foundation

/// The error of the object layer: saving, validating, fetching, loading stores.
///
/// It bridges to `NSError` with Apple's domain, codes and userInfo keys, so code written for Core Data finds
/// what it looks for.
public struct ManagedObjectError: CDEError {
  /// What went wrong. Open: later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let missingMandatoryProperty = Code(rawValue: "missingMandatoryProperty")
    public static let relationshipLacksMinimumCount = Code(rawValue: "relationshipLacksMinimumCount")
    public static let relationshipExceedsMaximumCount = Code(rawValue: "relationshipExceedsMaximumCount")
    public static let relationshipDeniedDelete = Code(rawValue: "relationshipDeniedDelete")
    public static let invalidValue = Code(rawValue: "invalidValue")
    /// A property of an object to be saved could not be read, and was answered with what is not stored.
    public static let unreadValue = Code(rawValue: "unreadValue")
    /// A number breaks a rule of its attribute; ``ManagedObjectError/rule`` says which.
    public static let numberTooLarge = Code(rawValue: "numberTooLarge")
    public static let numberTooSmall = Code(rawValue: "numberTooSmall")
    public static let dateTooLate = Code(rawValue: "dateTooLate")
    public static let dateTooSoon = Code(rawValue: "dateTooSoon")
    public static let stringTooLong = Code(rawValue: "stringTooLong")
    public static let stringTooShort = Code(rawValue: "stringTooShort")
    /// Text does not match the regular expression of its attribute.
    public static let stringPatternMatching = Code(rawValue: "stringPatternMatching")
    /// Several validation failures; ``ManagedObjectError/failures`` lists them.
    public static let multipleValidationErrors = Code(rawValue: "multipleValidationErrors")
    /// Rows changed in the store since they were read; ``ManagedObjectError/conflicts`` lists them.
    public static let saveConflict = Code(rawValue: "saveConflict")
    /// Hooks or observers went on changing objects while a save called them.
    public static let unsettledChanges = Code(rawValue: "unsettledChanges")
    public static let uniquenessConflict = Code(rawValue: "uniquenessConflict")
    /// No row stands behind an ID.
    public static let objectNotFound = Code(rawValue: "objectNotFound")
    /// No store is loaded, or none that holds the entity.
    public static let noStore = Code(rawValue: "noStore")
    /// There is no store of the type that a description names.
    public static let invalidStoreType = Code(rawValue: "invalidStoreType")
    public static let unknownEntity = Code(rawValue: "unknownEntity")
    public static let unsupportedRequest = Code(rawValue: "unsupportedRequest")
    /// The store below reported an error, which is the cause.
    public static let store = Code(rawValue: "store")
    /// A predicate or sort descriptor can't be used; the cause names the construct.
    public static let predicate = Code(rawValue: "predicate")
    public static let modelMissing = Code(rawValue: "modelMissing")
  }

  public var code: Code
  public var message: String
  public var cause: (any Error)?
  /// Name of the entity concerned.
  public var entity: String?
  /// Name of the property concerned.
  public var property: String?
  /// The object concerned.
  public var objectID: NSManagedObjectID?
  /// The object itself, for a validation failure; for its context's isolation.
  public var object: NSManagedObject? {
    get { concerned?.object }
    set { concerned = newValue.map(ConcernedObject.init) }
  }
  private var concerned: ConcernedObject?
  /// The predicate that a value breaks, as a format string.
  public var rule: String?
  /// The value that breaks it.
  public var value: (any Sendable)?
  /// The single failures behind `.multipleValidationErrors`.
  public var failures: [ManagedObjectError]
  /// The objects whose rows changed, for `.saveConflict`.
  public var conflicts: [NSManagedObjectID]
  /// The conflicts with other writers behind a save that failed. Their objects are the context's own.
  public var mergeConflicts: [NSMergeConflict]
  /// The conflicts over unique values behind a save that failed. Their objects are the context's own.
  public var constraintConflicts: [NSConstraintConflict]

  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil,
    property: String? = nil, objectID: NSManagedObjectID? = nil, rule: String? = nil,
    value: (any Sendable)? = nil, failures: [ManagedObjectError] = [], conflicts: [NSManagedObjectID] = [],
    mergeConflicts: [NSMergeConflict] = [], constraintConflicts: [NSConstraintConflict] = [],
    object: NSManagedObject? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.entity = entity
    self.property = property
    self.objectID = objectID
    self.rule = rule
    self.value = value
    self.failures = failures
    self.conflicts = conflicts
    self.mergeConflicts = mergeConflicts
    self.constraintConflicts = constraintConflicts
    self.object = object
  }

  /// The message alone. The code and the cause are for programs.
  public var errorDescription: String? { message }

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
      default: .store
      }
    return ManagedObjectError(
      code, error.message, cause: error, entity: error.entity, property: error.properties.first)
  }
}

/// Takes an object along with an error.
private struct ConcernedObject: @unchecked Sendable {
  // Guard: the object belongs to its context's isolation, which checks who uses it.
  let object: NSManagedObject
}

extension ManagedObjectError: CustomNSError {
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// Core Data's number for the code.
  public var errorCode: Int {
    switch code {
    case .missingMandatoryProperty: return NSValidationMissingMandatoryPropertyError
    case .relationshipLacksMinimumCount: return NSValidationRelationshipLacksMinimumCountError
    case .relationshipExceedsMaximumCount: return NSValidationRelationshipExceedsMaximumCountError
    case .relationshipDeniedDelete: return NSValidationRelationshipDeniedDeleteError
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
    case .store: return storeCode
    default: return NSCoreDataError
    }
  }

  private var storeCode: Int {
    switch (cause as? StoreError)?.code {
    case .unreadable, .cannotOpen, .tooManyOpenFiles: NSPersistentStoreOpenError
    case .incompatibleSchema: NSPersistentStoreIncompatibleVersionHashError
    case .busy: NSPersistentStoreTimeoutError
    default: NSPersistentStoreSaveError
    }
  }

  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let property { info[NSValidationKeyErrorKey] = property }
    if let object { info[NSValidationObjectErrorKey] = object }
    if let rule { info[NSValidationPredicateErrorKey] = NSPredicate(format: rule) }
    if let value { info[NSValidationValueErrorKey] = value }
    if !failures.isEmpty { info[NSDetailedErrorsKey] = failures.map { $0 as NSError } }
    if let cause { info[NSUnderlyingErrorKey] = cause as NSError }
    let list: [Any] = mergeConflicts + constraintConflicts
    if !list.isEmpty { info[NSPersistentStoreSaveConflictsErrorKey] = list }
    return info
  }
}

// Core Data's numbers, from its public header CoreDataErrors.h.
public let NSCoreDataError = 134060
public let NSManagedObjectValidationError = 1550
public let NSValidationMultipleErrorsError = 1560
public let NSValidationMissingMandatoryPropertyError = 1570
public let NSValidationRelationshipLacksMinimumCountError = 1580
public let NSValidationRelationshipExceedsMaximumCountError = 1590
public let NSValidationRelationshipDeniedDeleteError = 1600
public let NSValidationNumberTooLargeError = 1610
public let NSValidationNumberTooSmallError = 1620
public let NSValidationDateTooLateError = 1630
public let NSValidationDateTooSoonError = 1640
public let NSValidationStringTooLongError = 1660
public let NSValidationStringTooShortError = 1670
public let NSValidationStringPatternMatchingError = 1680
public let NSManagedObjectContextLockingError = 132000
public let NSManagedObjectMergeError = 133020
public let NSManagedObjectConstraintMergeError = 133021
public let NSManagedObjectReferentialIntegrityError = 133000
public let NSPersistentStoreInvalidTypeError = 134000
public let NSPersistentStoreIncompatibleVersionHashError = 134100
public let NSPersistentStoreOpenError = 134080
public let NSPersistentStoreTimeoutError = 134090
public let NSPersistentStoreSaveError = 134030

public let NSDetailedErrorsKey = "NSDetailedErrors"
/// Holds the ``NSManagedObject`` that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// Holds the ``NSMergeConflict`` and ``NSConstraintConflict`` objects of a save that failed.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
