public import Foundation

// Staged migrations.

/// Migrates a store in stages.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSStagedMigrationManager: NSObject {}

/// A stage of a migration.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSMigrationStage: NSObject {}

/// A stage of a migration without code.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSLightweightMigrationStage: NSObject {}

/// A stage of a migration with code.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSCustomMigrationStage: NSObject {}

/// A model of a stage of a migration.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSManagedObjectModelReference: NSObject {}
