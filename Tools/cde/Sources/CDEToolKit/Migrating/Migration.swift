import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Migrates a file to another version of its model, after a copy is made.
public struct Migration {
  private let url: URL
  private let model: LoadedModel
  /// Whether the migration is only planned.
  public var isPlan = false
  /// Whether a copy of the store is kept.
  public var keepsBackup = true

  public init(_ url: URL, to model: LoadedModel) {
    self.url = url
    self.model = model
  }

  /// The answer of `cde migrate`. A migration that fails leaves the store as it is.
  public func answer() throws -> Answer {
    try StorePlace.file(url).check()
    let description = NSPersistentStoreDescription(url: url)
    description.timeout = 2
    let container = NSPersistentContainer(name: url.lastPathComponent, managedObjectModel: model.model)
    container.persistentStoreDescriptions = [description]
    let plan: StoreMigrationPlan
    do { plan = try container.persistentStoreCoordinator.migrationPlan(for: description) } catch {
      throw ToolError(error)
    }
    let json: [JSONValue.Member] = [
      .init("needed", .bool(plan.isNeeded)), .init("changes", .array(plan.changes.map { .string("\($0)") })),
      .init("losses", .array(plan.losses.map { .string("\($0)") })),
      .init("obstacles", .array(plan.obstacles.map { .string("\($0)") })),
      .init("neededSpace", .int(plan.neededSpace)),
    ]
    guard plan.isNeeded else {
      return Answer([.text("The store has this version of the model already.")], json: .object(json))
    }
    if isPlan || !plan.obstacles.isEmpty {
      return Answer([.text("\(plan)")], json: .object(json), hasFindings: !plan.obstacles.isEmpty)
    }
    let copy = keepsBackup ? try Backup.make(of: url) : nil
    if let progress = WorkReport.progress("migrating") { description.migrationProgress = progress }
    do {
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      for store in container.persistentStoreCoordinator.persistentStores {
        try container.persistentStoreCoordinator.remove(store)
      }
    } catch { throw ToolError(error) }
    var lines = ["\(plan)", "Migrated."]
    if let copy { lines.append("The store as it was is \(copy.path).") }
    return Answer(
      [.text(lines.joined(separator: "\n"))],
      json: .object(json + [.init("backup", copy.map { .string($0.path) } ?? .null)]))
  }
}
