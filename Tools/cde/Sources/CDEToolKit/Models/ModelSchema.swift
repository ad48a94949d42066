import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDEStore
import Foundation
import Synchronization

#if PostgreSQL
  @_spi(CDE) import CDEPostgreSQLStore
#endif

extension LoadedModel {
  /// The engines whose SQL `cde model schema` prints.
  public enum Engine: String, CaseIterable, Sendable {
    case sqlite, postgresql
  }

  /// The answer of `cde model schema`: the statements that make an empty store of the model.
  public func schema(of engine: Engine = .sqlite) throws -> Answer {
    do {
      let statements = try engine == .sqlite ? fileStatements() : serverStatements()
      return Answer(
        [.text(statements.map { $0 + ";" }.joined(separator: "\n"))],
        json: .array(statements.map { .string($0) }))
    } catch { throw ToolError(error) }
  }

  private func fileStatements() throws -> [String] {
    let folder = TemporaryFolder.newURL(prefix: "cde-copy-")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("empty.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    // A store without a log, so that the file has everything.
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file,
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try coordinator.remove(store)
    return try RawFile(file).texts(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type != 'table', name"
    ).compactMap(\.first)
  }

  private func serverStatements() throws -> [String] {
    #if PostgreSQL
      return try PostgreSQLStore.definitions(of: resolvedSchema())
    #else
      throw ToolError(
        "This program was built without PostgreSQL. Install libpq's headers and run Tools/install again.")
    #endif
  }

  /// The schema that the runtime gives to engines. Nothing is opened.
  private func resolvedSchema() throws -> ResolvedSchema {
    let engine = SchemaEngine()
    NSPersistentStoreCoordinator.registerStoreEngine(engine, forStoreType: SchemaEngine.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = Result {
      try coordinator.addPersistentStore(
        ofType: SchemaEngine.type, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
    }
    if let schema = engine.schema.withLock({ $0 }) { return schema }
    _ = try opened.get()
    throw ToolError("The model has no schema.")
  }
}

/// Notes the schema that it is asked to open a store of, and opens none.
private final class SchemaEngine: StoreEngine {
  static let type = "cde schema"
  let schema = Mutex<ResolvedSchema?>(nil)

  func open(_ opening: StoreOpening) throws -> any Store {
    schema.withLock { $0 = opening.schema }
    throw StoreError(.cannotOpen, "The schema is known; no store is opened.")
  }
}
