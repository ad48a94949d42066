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

  /// A part of the migration, from one version of the model to another.
  public struct Step: Hashable, Sendable {
    /// What carries the step out.
    public enum Kind: String, Hashable, Sendable {
      /// The store, as the difference of the versions can be inferred.
      case inferred
      /// The handlers of an ``NSCustomMigrationStage``.
      case stage
      /// The code of a ``MigrationStep``.
      case step
      /// A mapping model with its policies.
      case mappingModel
    }

    /// What carries the step out.
    public let kind: Kind
    /// The label of the stage; nil without one, and for other kinds.
    public let label: String?
    /// The differences of the two versions. What code makes of them is not known.
    public let changes: [ModelChange]

    /// Whether code of the program runs.
    public var runsCode: Bool { kind != .inferred }
  }

  /// The store's file, or its URL without a password.
  public let url: URL
  /// Whether the store has another version of the model, so that it has to be migrated. Without that, the rest is empty.
  public let isNeeded: Bool
  /// Where the old model comes from; nil if no migration is needed.
  public let modelSource: ModelSource?
  /// The parts of the migration, in their order. Most migrations have one.
  public let steps: [Step]
  /// The number of objects of each old entity by name, without those of its sub-entities.
  public let rows: [String: Int]
  /// The reasons why a migration would fail now. It would leave the store as it is. If code runs, there may be others: it is not
  /// known what the code makes.
  public let obstacles: [MigrationObstacle]
  /// The attributes of another type in which numbers are rounded, with the number of objects. A warning: nothing stops the
  /// migration. Empty if code runs.
  public let roundings: [MigrationRounding]
  /// The tables that would be written anew. Others stay as they are. Empty if code runs, which writes the whole store anew.
  public let rewrittenTables: [String]
  /// About how many bytes of free space the migration needs on the store's disk. Files of external values have no second copy
  /// where the disk allows two names for a file.
  public let neededSpace: Int
  /// About how long the migration takes on a machine of 2020 with a solid-state disk, without the code of the program.
  public let expectedDuration: Duration

  /// The plan for a store that needs no migration.
  init(url: URL) {
    self.url = url
    isNeeded = false
    modelSource = nil
    steps = []
    rows = [:]
    obstacles = []
    roundings = []
    rewrittenTables = []
    neededSpace = 0
    expectedDuration = .zero
  }

  init(url: URL, modelSource: ModelSource, steps: [Step], survey: MigrationSurvey) {
    self.url = url
    isNeeded = true
    self.modelSource = modelSource
    self.steps = steps
    rows = survey.rows
    obstacles = survey.obstacles
    roundings = survey.roundings
    rewrittenTables = survey.rewrittenTables
    let cost = MigrationCost(survey, runsCode: steps.contains(where: \.runsCode))
    neededSpace = cost.space
    expectedDuration = cost.duration
  }

  /// The differences of all versions through which the store goes.
  public var changes: [ModelChange] { steps.flatMap(\.changes) }

  /// The differences by which stored values are lost. For steps with code: unless the code keeps the values.
  public var losses: [ModelChange] { changes.filter(\.losesValues) }

  // MARK: Text

  /// The plan as text: what changes, what is lost with the number of objects, what stands in the way, and the space and time.
  public var description: String {
    guard isNeeded else { return "The store \(url.place) needs no migration." }
    var lines = ["The store \(url.place) is migrated:"]
    if steps.count == 1, let step = steps.first, !step.runsCode {
      lines += text(of: step, isFirst: true)
    } else {
      for (number, step) in steps.enumerated() {
        lines.append("\(number + 1). \(Self.title(of: step)):")
        lines += text(of: step, isFirst: number == 0)
      }
    }
    if !roundings.isEmpty {
      lines.append("Numbers are rounded:")
      lines += roundings.map { "  \($0)" }
    }
    if !obstacles.isEmpty {
      lines.append("It can't be migrated now:")
      lines += obstacles.map { "  \($0)" }
    }
    let total = Self.objects(rows.values.reduce(0, +))
    if steps.contains(where: \.runsCode) {
      lines.append("The store is written anew; it has \(total).")
    } else {
      lines.append(
        rewrittenTables.isEmpty
          ? "No table is written anew; the store has \(total)."
          : "The tables \(rewrittenTables.joined(separator: ", ")) are written anew; the store has \(total).")
    }
    lines.append(MigrationCost.text(space: neededSpace, expectedDuration))
    return lines.joined(separator: "\n")
  }

  private func text(of step: Step, isFirst: Bool) -> [String] {
    var lines = step.changes.filter { !$0.losesValues }.map { "  \($0)" }
    let losses = step.changes.filter(\.losesValues)
    if losses.isEmpty { return lines }
    lines.append(step.runsCode ? "Values are lost unless the code keeps them:" : "Values are lost:")
    // Later steps begin with a version whose entities may have other names.
    lines += losses.map {
      "  \($0)" + (isFirst ? " (\(Self.objects(rows[$0.formerEntity ?? ""] ?? 0)))" : "")
    }
    return lines
  }

  private static func title(of step: Step) -> String {
    switch step.kind {
    case .inferred: "As the versions differ"
    case .stage: "By the stage" + (step.label.map { " “\($0)”" } ?? "")
    case .step: "By a step"
    case .mappingModel: "By a mapping model"
    }
  }

  private static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }
}
