public import CDEModelFiles
public import CDEStore
public import Foundation

/// What opening a store with another version of its model would do, found out before anything is touched.
///
/// ```swift
/// let plan = try coordinator.migrationPlan(for: description)
/// if plan.isNeeded { print(plan) }
/// ```
///
/// A value: it does not change, and may be kept, compared and passed to any isolation.
public struct StoreMigrationPlan: Hashable, Sendable, CustomStringConvertible {
  /// Where the old version of the model was found.
  public enum ModelSource: String, Hashable, Sendable {
    /// ``NSPersistentStoreDescription/migrationSourceModels``.
    case description
    /// The copy that the store keeps of its model.
    case store
    /// The model files among the resources of the program.
    case resources
  }

  /// The store's file.
  public let url: URL
  /// Whether the store has another version of the model, so that it has to be migrated. Without that, the rest is empty.
  public let isNeeded: Bool
  /// Where the old model comes from; nil if no migration is needed.
  public let modelSource: ModelSource?
  /// The differences of the two models.
  public let changes: [ModelChange]
  /// The number of objects of each old entity by name, without those of its sub-entities.
  public let rows: [String: Int]
  /// The reasons why a migration would fail now. It would leave the store as it is.
  public let obstacles: [MigrationObstacle]
  /// The tables that would be written anew. Others stay as they are.
  public let rewrittenTables: [String]

  init(
    url: URL, modelSource: ModelSource?, changes: [ModelChange] = [], survey: MigrationSurvey? = nil
  ) {
    self.url = url
    isNeeded = survey != nil
    self.modelSource = modelSource
    self.changes = changes
    rows = survey?.rows ?? [:]
    obstacles = survey?.obstacles ?? []
    rewrittenTables = survey?.rewrittenTables ?? []
  }

  /// The differences by which stored values are lost.
  public var losses: [ModelChange] { changes.filter(\.losesValues) }

  /// The plan as text: what changes, what is lost with the number of objects, and what stands in the way.
  public var description: String {
    guard isNeeded else { return "The store \(url.path) needs no migration." }
    var lines = ["The store \(url.path) is migrated:"]
    lines += changes.filter { !$0.losesValues }.map { "  \($0)" }
    if !losses.isEmpty {
      lines.append("Values are lost:")
      lines += losses.map { "  \($0) (\(Self.objects(rows[$0.formerEntity ?? ""] ?? 0)))" }
    }
    if !obstacles.isEmpty {
      lines.append("It can't be migrated now:")
      lines += obstacles.map { "  \($0)" }
    }
    let total = rows.values.reduce(0, +)
    lines.append(
      rewrittenTables.isEmpty
        ? "No table is written anew; the store has \(Self.objects(total))."
        : "The tables \(rewrittenTables.joined(separator: ", ")) are written anew; the store has \(Self.objects(total))."
    )
    return lines.joined(separator: "\n")
  }

  private static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }
}
