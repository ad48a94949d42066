/// The versions of an application's schema, and how stores get from one to the next.
nonisolated public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions, the oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The steps between versions that follow each other.
  static var stages: [MigrationStage] { get }
}

/// A step from one version of a schema to the next.
public enum MigrationStage {
  /// The differences are inferred.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// The differences are inferred, with code of the application before and after. The first has models of the old version, the
  /// second of the new one.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
