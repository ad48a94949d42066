public import Foundation

// Core Data's codes in Foundation's error type. What contexts, coordinators and containers throw has these codes, so
// `catch CocoaError.validationMissingMandatoryProperty` catches it.

extension CocoaError.Code {
  /// A value is not valid.
  public static var managedObjectValidation: Self { .init(rawValue: 1550) }
  /// Values break a uniqueness constraint. Not reported here: see `managedObjectConstraintMerge`.
  public static var managedObjectConstraintValidation: Self { .init(rawValue: 1551) }
  /// Several values are not valid.
  public static var validationMultipleErrors: Self { .init(rawValue: 1560) }
  /// A required value is missing.
  public static var validationMissingMandatoryProperty: Self { .init(rawValue: 1570) }
  /// A relationship has too few objects.
  public static var validationRelationshipLacksMinimumCount: Self { .init(rawValue: 1580) }
  /// A relationship has too many objects.
  public static var validationRelationshipExceedsMaximumCount: Self { .init(rawValue: 1590) }
  /// A relationship denies a deletion.
  public static var validationRelationshipDeniedDelete: Self { .init(rawValue: 1600) }
  /// A number is above its bound.
  public static var validationNumberTooLarge: Self { .init(rawValue: 1610) }
  /// A number is below its bound.
  public static var validationNumberTooSmall: Self { .init(rawValue: 1620) }
  /// A date is after its bound.
  public static var validationDateTooLate: Self { .init(rawValue: 1630) }
  /// A date is before its bound.
  public static var validationDateTooSoon: Self { .init(rawValue: 1640) }
  /// A date is not valid. Not reported here.
  public static var validationInvalidDate: Self { .init(rawValue: 1650) }
  /// Text is too long.
  public static var validationStringTooLong: Self { .init(rawValue: 1660) }
  /// Text is too short.
  public static var validationStringTooShort: Self { .init(rawValue: 1670) }
  /// Text does not match its pattern.
  public static var validationStringPatternMatching: Self { .init(rawValue: 1680) }
  /// A URL is not valid. Not reported here.
  public static var validationInvalidURI: Self { .init(rawValue: 1690) }
  /// The lock of a context was not available. Not reported here.
  public static var managedObjectContextLocking: Self { .init(rawValue: 132000) }
  /// The lock of a coordinator was not available. Not reported here.
  public static var persistentStoreCoordinatorLocking: Self { .init(rawValue: 132010) }
  /// No row exists for an ID.
  public static var managedObjectReferentialIntegrity: Self { .init(rawValue: 133000) }
  /// A relationship has an object of another store.
  public static var managedObjectExternalRelationship: Self { .init(rawValue: 133010) }
  /// Rows changed since they were read.
  public static var managedObjectMerge: Self { .init(rawValue: 133020) }
  /// Another object has a unique value.
  public static var managedObjectConstraintMerge: Self { .init(rawValue: 133021) }
  /// There is no store of the type.
  public static var persistentStoreInvalidType: Self { .init(rawValue: 134000) }
  /// A store has another type. Not reported here.
  public static var persistentStoreTypeMismatch: Self { .init(rawValue: 134010) }
  /// A store refuses its schema. Not reported here: see `persistentStoreIncompatibleVersionHash`.
  public static var persistentStoreIncompatibleSchema: Self { .init(rawValue: 134020) }
  /// A store can't execute a request, or none is loaded.
  public static var persistentStoreSave: Self { .init(rawValue: 134030) }
  /// One of several stores failed.
  public static var persistentStoreIncompleteSave: Self { .init(rawValue: 134040) }
  /// A save has conflicts. Not reported here: see `managedObjectMerge`.
  public static var persistentStoreSaveConflicts: Self { .init(rawValue: 134050) }
  /// An error without its own code.
  public static var coreData: Self { .init(rawValue: 134060) }
  /// An operation on a store failed. Not reported here.
  public static var persistentStoreOperation: Self { .init(rawValue: 134070) }
  /// A store can't be opened or read.
  public static var persistentStoreOpen: Self { .init(rawValue: 134080) }
  /// Another writer kept the store locked for too long.
  public static var persistentStoreTimeout: Self { .init(rawValue: 134090) }
  /// A store does not know a request. Not reported here.
  public static var persistentStoreUnsupportedRequestType: Self { .init(rawValue: 134091) }
  /// A store has another version of the model.
  public static var persistentStoreIncompatibleVersionHash: Self { .init(rawValue: 134100) }
  /// A migration failed.
  public static var migration: Self { .init(rawValue: 134110) }
  /// A migrated store breaks a uniqueness constraint.
  public static var migrationConstraintViolation: Self { .init(rawValue: 134111) }
  /// A migration was cancelled.
  public static var migrationCancelled: Self { .init(rawValue: 134120) }
  /// The model of the store to migrate is missing.
  public static var migrationMissingSourceModel: Self { .init(rawValue: 134130) }
  /// The mapping model of a migration is missing.
  public static var migrationMissingMappingModel: Self { .init(rawValue: 134140) }
  /// The store to migrate has a problem.
  public static var migrationManagerSourceStore: Self { .init(rawValue: 134150) }
  /// The migrated store has a problem.
  public static var migrationManagerDestinationStore: Self { .init(rawValue: 134160) }
  /// An entity's migration policy failed.
  public static var entityMigrationPolicy: Self { .init(rawValue: 134170) }
  /// SQLite reported an error. Not reported here: see `persistentStoreSave`.
  public static var sqlite: Self { .init(rawValue: 134180) }
  /// A migration can't be inferred.
  public static var inferredMappingModel: Self { .init(rawValue: 134190) }
  /// External records can't be imported. Not reported here.
  public static var externalRecordImport: Self { .init(rawValue: 134200) }
  /// Transactions after a history token were purged.
  public static var persistentHistoryTokenExpired: Self { .init(rawValue: 134301) }
}

extension CocoaError {
  /// A value is not valid.
  public static var managedObjectValidation: Code { .managedObjectValidation }
  /// Values break a uniqueness constraint. Not reported here: see `managedObjectConstraintMerge`.
  public static var managedObjectConstraintValidation: Code { .managedObjectConstraintValidation }
  /// Several values are not valid.
  public static var validationMultipleErrors: Code { .validationMultipleErrors }
  /// A required value is missing.
  public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
  /// A relationship has too few objects.
  public static var validationRelationshipLacksMinimumCount: Code { .validationRelationshipLacksMinimumCount }
  /// A relationship has too many objects.
  public static var validationRelationshipExceedsMaximumCount: Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// A relationship denies a deletion.
  public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
  /// A number is above its bound.
  public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
  /// A number is below its bound.
  public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
  /// A date is after its bound.
  public static var validationDateTooLate: Code { .validationDateTooLate }
  /// A date is before its bound.
  public static var validationDateTooSoon: Code { .validationDateTooSoon }
  /// A date is not valid. Not reported here.
  public static var validationInvalidDate: Code { .validationInvalidDate }
  /// Text is too long.
  public static var validationStringTooLong: Code { .validationStringTooLong }
  /// Text is too short.
  public static var validationStringTooShort: Code { .validationStringTooShort }
  /// Text does not match its pattern.
  public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
  /// A URL is not valid. Not reported here.
  public static var validationInvalidURI: Code { .validationInvalidURI }
  /// The lock of a context was not available. Not reported here.
  public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
  /// The lock of a coordinator was not available. Not reported here.
  public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
  /// No row exists for an ID.
  public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
  /// A relationship has an object of another store.
  public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
  /// Rows changed since they were read.
  public static var managedObjectMerge: Code { .managedObjectMerge }
  /// Another object has a unique value.
  public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
  /// There is no store of the type.
  public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
  /// A store has another type. Not reported here.
  public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
  /// A store refuses its schema. Not reported here: see `persistentStoreIncompatibleVersionHash`.
  public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
  /// A store can't execute a request, or none is loaded.
  public static var persistentStoreSave: Code { .persistentStoreSave }
  /// One of several stores failed.
  public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
  /// A save has conflicts. Not reported here: see `managedObjectMerge`.
  public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
  /// An error without its own code.
  public static var coreData: Code { .coreData }
  /// An operation on a store failed. Not reported here.
  public static var persistentStoreOperation: Code { .persistentStoreOperation }
  /// A store can't be opened or read.
  public static var persistentStoreOpen: Code { .persistentStoreOpen }
  /// Another writer kept the store locked for too long.
  public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
  /// A store does not know a request. Not reported here.
  public static var persistentStoreUnsupportedRequestType: Code { .persistentStoreUnsupportedRequestType }
  /// A store has another version of the model.
  public static var persistentStoreIncompatibleVersionHash: Code { .persistentStoreIncompatibleVersionHash }
  /// A migration failed.
  public static var migration: Code { .migration }
  /// A migrated store breaks a uniqueness constraint.
  public static var migrationConstraintViolation: Code { .migrationConstraintViolation }
  /// A migration was cancelled.
  public static var migrationCancelled: Code { .migrationCancelled }
  /// The model of the store to migrate is missing.
  public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
  /// The mapping model of a migration is missing.
  public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
  /// The store to migrate has a problem.
  public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
  /// The migrated store has a problem.
  public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
  /// An entity's migration policy failed.
  public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
  /// SQLite reported an error. Not reported here: see `persistentStoreSave`.
  public static var sqlite: Code { .sqlite }
  /// A migration can't be inferred.
  public static var inferredMappingModel: Code { .inferredMappingModel }
  /// External records can't be imported. Not reported here.
  public static var externalRecordImport: Code { .externalRecordImport }
  /// Transactions after a history token were purged.
  public static var persistentHistoryTokenExpired: Code { .persistentHistoryTokenExpired }
}
