// The errors of migrations that run code, with Core Data's numbers.

extension ManagedObjectError.Code {
  /// `cancelMigrationWithError(_:)` was called. The cause is the error given there.
  public static let migrationCancelled = Self(rawValue: "migrationCancelled")
  /// The store to migrate can't be read, or belongs to another version of the model.
  public static let migrationSourceStore = Self(rawValue: "migrationSourceStore")
  /// The migrated store can't be opened or written.
  public static let migrationDestinationStore = Self(rawValue: "migrationDestinationStore")
  /// A mapping or its policy can't be used, or code of the application threw the error that is the cause.
  public static let migrationPolicy = Self(rawValue: "migrationPolicy")
  /// A staged migration does not know the version of the store or of the model, or its versions contradict each other.
  public static let stagedMigrationVersion = Self(rawValue: "stagedMigrationVersion")
  /// The store has a later version than the model, by the order of the stages.
  public static let stagedMigrationBackward = Self(rawValue: "stagedMigrationBackward")
}

extension ManagedObjectError {
  /// Core Data's number for a code of this file; nil for other codes.
  var customMigrationNumber: Int? {
    switch code {
    case .migrationCancelled: NSMigrationCancelledError
    case .migrationSourceStore: NSMigrationManagerSourceStoreError
    case .migrationDestinationStore: NSMigrationManagerDestinationStoreError
    case .migrationPolicy: NSEntityMigrationPolicyError
    case .stagedMigrationVersion: NSStagedMigrationFrameworkVersionMismatchError
    case .stagedMigrationBackward: NSStagedMigrationBackwardMigrationError
    default: nil
    }
  }
}

/// A migration was cancelled: ``ManagedObjectError/Code/migrationCancelled``.
public let NSMigrationCancelledError = 134120
/// The store to migrate has a problem: ``ManagedObjectError/Code/migrationSourceStore``.
public let NSMigrationManagerSourceStoreError = 134150
/// The migrated store has a problem: ``ManagedObjectError/Code/migrationDestinationStore``.
public let NSMigrationManagerDestinationStoreError = 134160
/// An entity's migration policy failed: ``ManagedObjectError/Code/migrationPolicy``.
public let NSEntityMigrationPolicyError = 134170
/// The stages do not know a version: ``ManagedObjectError/Code/stagedMigrationVersion``.
public let NSStagedMigrationFrameworkVersionMismatchError = 134504
/// The store is later than the model: ``ManagedObjectError/Code/stagedMigrationBackward``.
public let NSStagedMigrationBackwardMigrationError = 134505
