internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

extension StoreMigrationPlan {
  /// The plan for a store that is migrated on a route. Runs no code of the program.
  init(url: URL, _ request: MigrationRequest, _ route: MigrationRoute) throws {
    if case .inferred(let pending) = route {
      let step = Step(kind: .inferred, label: nil, changes: pending.mapping.changes)
      self.init(url: url, modelSource: pending.modelSource, steps: [step], survey: try pending.survey())
      return
    }
    let source = try request.sourceModel()
    let survey = try request.store.survey(of: ModelBinding.of(source.model).schema)
    let steps = try Self.steps(request, route, source.model)
    self.init(url: url, modelSource: source.from, steps: steps, survey: survey)
  }

  private static func steps(
    _ request: MigrationRequest, _ route: MigrationRoute, _ source: NSManagedObjectModel
  ) throws -> [Step] {
    let target = request.destination.model
    var versions = Versions(source)
    switch route {
    case .inferred: break
    case .mapping: versions.follow(.mappingModel, to: target)
    case .steps(let steps):
      for step in steps
      where step.source.entityVersionHashesByName == versions.current.entityVersionHashesByName
        || versions.steps.isEmpty
      {
        versions.follow(.step, to: step.destination)
      }
    case .stages(let manager):
      for stage in try StagedRun(manager, source, target).stages {
        try versions.infer(to: stage.currentModel.resolve())
        versions.follow(.stage, label: stage.label, to: try stage.nextModel.resolve())
      }
    }
    try versions.infer(to: target)
    return versions.steps
  }

  /// The versions through which a store goes.
  private struct Versions {
    private(set) var current: NSManagedObjectModel
    private(set) var steps: [Step] = []

    init(_ source: NSManagedObjectModel) { current = source }

    /// A step with code: what has no place by its name is a loss and an addition.
    mutating func follow(_ kind: Step.Kind, label: String? = nil, to next: NSManagedObjectModel) {
      let mapping = try? InferredMapping(from: current, to: next, dropsUnfit: true)
      steps.append(Step(kind: kind, label: label, changes: mapping?.changes ?? []))
      current = next
    }

    mutating func infer(to next: NSManagedObjectModel) throws {
      if current.entityVersionHashesByName == next.entityVersionHashesByName { return }
      let mapping: InferredMapping
      do { mapping = try InferredMapping(from: current, to: next) } catch {
        throw ManagedObjectError(
          .inferredMapping,
          "What is between the steps of a migration can't be inferred: \(error.message)", cause: error,
          entity: error.entity, property: error.property)
      }
      steps.append(Step(kind: .inferred, label: nil, changes: mapping.changes))
      current = next
    }
  }
}
