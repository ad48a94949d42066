internal import CDEManagedModel
public import CDEModelRuntime
internal import Foundation

extension ModelContainer {
  /// What a container would do to stores of older versions, if it was made with the same arguments.
  ///
  /// ```swift
  /// for migration in try ModelContainer.migrations(for: Schema([Trip.self]), migrationPlan: TripPlan.self) {
  ///   print(migration)
  /// }
  /// ```
  ///
  /// Each value names the changes, what is lost, what stands in the way, and the space and time that are needed. Nothing is touched, and
  /// code of the plan does not run. SwiftData has no such function.
  ///
  /// - Parameters:
  ///   - schema: the schema of the container.
  ///   - migrationPlan: its plan.
  ///   - configurations: its stores; one file in the default folder without any.
  /// - Returns: a value for each store in a file that exists and has another version.
  /// - Throws: ``SwiftDataError``, as making the container does.
  public static func migrations(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration] = []
  ) throws -> [StoreMigrationPlan] {
    let configurations = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
    do {
      let (prepared, descriptions) = try ContainerCore.descriptions(of: configurations, in: schema)
      try migrationPlan?.prepare(descriptions, to: prepared.model)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: prepared.model)
      return try descriptions.filter {
        $0.type == NSSQLiteStoreType && FileManager.default.fileExists(atPath: $0.url?.path ?? "")
      }.map { try coordinator.migrationPlan(for: $0) }.filter(\.isNeeded)
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError.loadIssueModelContainer.about(
        "The migration can't be planned: \((error as? ManagedObjectError)?.message ?? "\(error)")",
        cause: error)
    }
  }
}
