public import Foundation

/// Option: the ``NSStagedMigrationManager`` that migrates a store of an older version when it is opened. The description has to
/// allow migrations.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Migrates a store through the versions of its model, in stages with and without code.
///
/// ```swift
/// description.setOption(
///   NSStagedMigrationManager([lightweight, custom]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
///
/// The stages run on the thread that opens the store, and work on a copy of it. The copy replaces the store as a whole after the
/// last stage, so a failed or killed migration leaves the old store. In Core Data each stage is final when it ends. Objects keep
/// their IDs.
nonisolated open class NSStagedMigrationManager: NSObject {
  /// The stages, from the oldest version to the newest one.
  public let stages: [NSMigrationStage]
  /// The container with the store while a handler of a stage runs, else nil. Its store is a copy, whose URL is not that of the
  /// store.
  public internal(set) var container: NSPersistentContainer?

  /// Makes a manager. Mistakes in the stages are reported when a store is opened.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }
}

/// A stage of a staged migration: an ``NSLightweightMigrationStage`` or an ``NSCustomMigrationStage``.
nonisolated open class NSMigrationStage: NSObject {
  /// A name for messages and logs.
  open var label: String?
}

/// Versions between which a store is migrated without code.
///
/// A store goes from any of them to the last one, or to the version that the next stage begins with, in one step.
nonisolated open class NSLightweightMigrationStage: NSMigrationStage {
  /// The checksums of the versions, the oldest first: `NSManagedObjectModel.versionChecksum`.
  public let versionChecksums: [String]

  /// Makes a stage.
  ///
  /// - Parameter versionChecksums: the checksums of the versions, the oldest first.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}

/// Code that runs before and after a store is migrated from one version to the next.
///
/// ```swift
/// let stage = NSCustomMigrationStage(migratingFrom: first, to: second)
/// stage.willMigrateHandler = { manager, stage in
///   guard let container = manager.container else { return }
///   // The store has the version of stage.currentModel here.
///   let context = container.newBackgroundContext()
///   try context.performAndWait { try context.save() }
/// }
/// ```
nonisolated open class NSCustomMigrationStage: NSMigrationStage {
  /// The version with which the stage begins.
  public let currentModel: NSManagedObjectModelReference
  /// The version with which it ends. The difference is inferred, as in a lightweight migration.
  public let nextModel: NSManagedObjectModelReference
  /// Called when the store has the version of ``currentModel``, before it is migrated. ``NSStagedMigrationManager/container`` has
  /// the store. What the handler saves is migrated. An error ends the whole migration, and the store stays as it is.
  open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
  /// The same after the migration, when the store has the version of ``nextModel``.
  open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  /// Makes a stage between two versions.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }
}
