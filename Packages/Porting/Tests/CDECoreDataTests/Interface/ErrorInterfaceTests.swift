import CDECoreData
import Testing

@Suite("The interface of errors")
struct ErrorInterfaceTests {
  private static let numbers: [(Int, Int)] = [
    (NSManagedObjectValidationError, 1550),
    (NSManagedObjectConstraintValidationError, 1551),
    (NSValidationMultipleErrorsError, 1560),
    (NSValidationMissingMandatoryPropertyError, 1570),
    (NSValidationRelationshipLacksMinimumCountError, 1580),
    (NSValidationRelationshipExceedsMaximumCountError, 1590),
    (NSValidationRelationshipDeniedDeleteError, 1600),
    (NSValidationNumberTooLargeError, 1610),
    (NSValidationNumberTooSmallError, 1620),
    (NSValidationDateTooLateError, 1630),
    (NSValidationDateTooSoonError, 1640),
    (NSValidationInvalidDateError, 1650),
    (NSValidationStringTooLongError, 1660),
    (NSValidationStringTooShortError, 1670),
    (NSValidationStringPatternMatchingError, 1680),
    (NSValidationInvalidURIError, 1690),
    (NSManagedObjectContextLockingError, 132000),
    (NSPersistentStoreCoordinatorLockingError, 132010),
    (NSManagedObjectReferentialIntegrityError, 133000),
    (NSManagedObjectExternalRelationshipError, 133010),
    (NSManagedObjectMergeError, 133020),
    (NSManagedObjectConstraintMergeError, 133021),
    (NSPersistentStoreInvalidTypeError, 134000),
    (NSPersistentStoreTypeMismatchError, 134010),
    (NSPersistentStoreIncompatibleSchemaError, 134020),
    (NSPersistentStoreSaveError, 134030),
    (NSPersistentStoreIncompleteSaveError, 134040),
    (NSPersistentStoreSaveConflictsError, 134050),
    (NSCoreDataError, 134060),
    (NSPersistentStoreOperationError, 134070),
    (NSPersistentStoreOpenError, 134080),
    (NSPersistentStoreTimeoutError, 134090),
    (NSPersistentStoreUnsupportedRequestTypeError, 134091),
    (NSPersistentStoreIncompatibleVersionHashError, 134100),
    (NSMigrationError, 134110),
    (NSMigrationConstraintViolationError, 134111),
    (NSMigrationCancelledError, 134120),
    (NSMigrationMissingSourceModelError, 134130),
    (NSMigrationMissingMappingModelError, 134140),
    (NSMigrationManagerSourceStoreError, 134150),
    (NSMigrationManagerDestinationStoreError, 134160),
    (NSEntityMigrationPolicyError, 134170),
    (NSSQLiteError, 134180),
    (NSInferredMappingModelError, 134190),
    (NSExternalRecordImportError, 134200),
    (NSPersistentHistoryTokenExpiredError, 134301),
  ]

  private static let staging: [(Int, Int)] = [
    (NSStagedMigrationFrameworkVersionMismatchError, 134504),
    (NSStagedMigrationBackwardMigrationError, 134505),
  ]

  private static let codes: [CocoaError.Code] = [
    CocoaError.Code.managedObjectValidation,
    CocoaError.Code.managedObjectConstraintValidation,
    CocoaError.Code.validationMultipleErrors,
    CocoaError.Code.validationMissingMandatoryProperty,
    CocoaError.Code.validationRelationshipLacksMinimumCount,
    CocoaError.Code.validationRelationshipExceedsMaximumCount,
    CocoaError.Code.validationRelationshipDeniedDelete,
    CocoaError.Code.validationNumberTooLarge,
    CocoaError.Code.validationNumberTooSmall,
    CocoaError.Code.validationDateTooLate,
    CocoaError.Code.validationDateTooSoon,
    CocoaError.Code.validationInvalidDate,
    CocoaError.Code.validationStringTooLong,
    CocoaError.Code.validationStringTooShort,
    CocoaError.Code.validationStringPatternMatching,
    CocoaError.Code.validationInvalidURI,
    CocoaError.Code.managedObjectContextLocking,
    CocoaError.Code.persistentStoreCoordinatorLocking,
    CocoaError.Code.managedObjectReferentialIntegrity,
    CocoaError.Code.managedObjectExternalRelationship,
    CocoaError.Code.managedObjectMerge,
    CocoaError.Code.managedObjectConstraintMerge,
    CocoaError.Code.persistentStoreInvalidType,
    CocoaError.Code.persistentStoreTypeMismatch,
    CocoaError.Code.persistentStoreIncompatibleSchema,
    CocoaError.Code.persistentStoreSave,
    CocoaError.Code.persistentStoreIncompleteSave,
    CocoaError.Code.persistentStoreSaveConflicts,
    CocoaError.Code.coreData,
    CocoaError.Code.persistentStoreOperation,
    CocoaError.Code.persistentStoreOpen,
    CocoaError.Code.persistentStoreTimeout,
    CocoaError.Code.persistentStoreUnsupportedRequestType,
    CocoaError.Code.persistentStoreIncompatibleVersionHash,
    CocoaError.Code.migration,
    CocoaError.Code.migrationConstraintViolation,
    CocoaError.Code.migrationCancelled,
    CocoaError.Code.migrationMissingSourceModel,
    CocoaError.Code.migrationMissingMappingModel,
    CocoaError.Code.migrationManagerSourceStore,
    CocoaError.Code.migrationManagerDestinationStore,
    CocoaError.Code.entityMigrationPolicy,
    CocoaError.Code.sqlite,
    CocoaError.Code.inferredMappingModel,
    CocoaError.Code.externalRecordImport,
    CocoaError.Code.persistentHistoryTokenExpired,
  ]

  private static let members: [CocoaError.Code] = [
    CocoaError.managedObjectValidation,
    CocoaError.managedObjectConstraintValidation,
    CocoaError.validationMultipleErrors,
    CocoaError.validationMissingMandatoryProperty,
    CocoaError.validationRelationshipLacksMinimumCount,
    CocoaError.validationRelationshipExceedsMaximumCount,
    CocoaError.validationRelationshipDeniedDelete,
    CocoaError.validationNumberTooLarge,
    CocoaError.validationNumberTooSmall,
    CocoaError.validationDateTooLate,
    CocoaError.validationDateTooSoon,
    CocoaError.validationInvalidDate,
    CocoaError.validationStringTooLong,
    CocoaError.validationStringTooShort,
    CocoaError.validationStringPatternMatching,
    CocoaError.validationInvalidURI,
    CocoaError.managedObjectContextLocking,
    CocoaError.persistentStoreCoordinatorLocking,
    CocoaError.managedObjectReferentialIntegrity,
    CocoaError.managedObjectExternalRelationship,
    CocoaError.managedObjectMerge,
    CocoaError.managedObjectConstraintMerge,
    CocoaError.persistentStoreInvalidType,
    CocoaError.persistentStoreTypeMismatch,
    CocoaError.persistentStoreIncompatibleSchema,
    CocoaError.persistentStoreSave,
    CocoaError.persistentStoreIncompleteSave,
    CocoaError.persistentStoreSaveConflicts,
    CocoaError.coreData,
    CocoaError.persistentStoreOperation,
    CocoaError.persistentStoreOpen,
    CocoaError.persistentStoreTimeout,
    CocoaError.persistentStoreUnsupportedRequestType,
    CocoaError.persistentStoreIncompatibleVersionHash,
    CocoaError.migration,
    CocoaError.migrationConstraintViolation,
    CocoaError.migrationCancelled,
    CocoaError.migrationMissingSourceModel,
    CocoaError.migrationMissingMappingModel,
    CocoaError.migrationManagerSourceStore,
    CocoaError.migrationManagerDestinationStore,
    CocoaError.entityMigrationPolicy,
    CocoaError.sqlite,
    CocoaError.inferredMappingModel,
    CocoaError.externalRecordImport,
    CocoaError.persistentHistoryTokenExpired,
  ]

  @Test("Codes have Core Data's numbers, in all three spellings")
  func codes() {
    for (constant, number) in Self.numbers + Self.staging { #expect(constant == number) }
    #expect(Self.codes.map(\.rawValue) == Self.numbers.map(\.1))
    #expect(Self.members == Self.codes)
  }

  @Test("Errors tell the object, the key, the rule and the value")
  func details() throws {
    let _: KeyPath<CocoaError, Any?> = \CocoaError.validationObject
    let _: KeyPath<CocoaError, String?> = \CocoaError.validationKey
    let _: KeyPath<CocoaError, NSPredicate?> = \CocoaError.validationPredicate
    let _: KeyPath<CocoaError, Any?> = \CocoaError.validationValue
    let _: KeyPath<CocoaError, [NSManagedObject]?> = \CocoaError.affectedObjects
    let _: KeyPath<CocoaError, [NSPersistentStore]?> = \CocoaError.affectedStores
    let keys: [String] = [
      NSDetailedErrorsKey, NSValidationObjectErrorKey, NSValidationKeyErrorKey, NSValidationPredicateErrorKey,
      NSValidationValueErrorKey, NSPersistentStoreSaveConflictsErrorKey, NSAffectedObjectsErrorKey,
      NSAffectedStoresErrorKey, NSSQLiteErrorDomain,
    ]
    #expect(
      keys == [
        "NSDetailedErrors", "NSValidationErrorObject", "NSValidationErrorKey", "NSValidationErrorPredicate",
        "NSValidationErrorValue", "conflictList", "NSAffectedObjectsErrorKey", "NSAffectedStoresErrorKey",
        "NSSQLiteErrorDomain",
      ])
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    context.performAndWait {
      let note = stack.insertNote("A", rank: 101, in: context)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectValidation && error?.validationKey == "rank")
      #expect(error?.validationObject as? NSManagedObject === note)
      #expect(error?.validationValue as? Int == 101 && error?.validationPredicate != nil)
      #expect(error?.affectedObjects == nil && error?.affectedStores == nil)
    }
  }
}
