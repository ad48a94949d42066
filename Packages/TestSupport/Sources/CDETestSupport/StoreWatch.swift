internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime

/// What a container's store has been asked since the watch began, and whether that breaks a rule.
struct StoreWatch: Sendable {
  private let model: NSManagedObjectModel
  private let recorder: ActivityRecorder
  private var start: ActivityRecorder.Tally

  /// Longer lists are for the log.
  private static let listed = 20

  init(_ container: NSPersistentContainer) throws {
    model = container.managedObjectModel
    recorder = try ActivityRecorder.of(container)
    start = recorder.tally()
  }

  /// Forgets what was asked up to here.
  mutating func restart() { start = recorder.tally() }

  /// - Returns: nil while no more than `limit` reads and batch requests were made.
  func overBudget(_ limit: Int) -> TestSupportError? {
    let tally = recorder.tally().since(start)
    let count = tally.queryCount
    guard count > limit else { return nil }
    let sorted = tally.queries.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var lines = sorted.prefix(Self.listed).map { "\($0.value) × \($0.key)" }
    if sorted.count > Self.listed { lines.append("and \(sorted.count - Self.listed) other statements") }
    return TestSupportError(
      .queryBudget,
      "The store was asked \(count) time\(count == 1 ? "" : "s"), and the budget is \(limit). Fetch together "
        + "what is read together, or raise the budget. It was asked:\n"
        + lines.map { "  \($0)" }.joined(separator: "\n"))
  }

  /// - Returns: nil while no entity had more than `limit` faults fire by themselves, and no relationship more
  ///   loads.
  func singleFaults(allowing limit: Int) -> TestSupportError? {
    let tooMany = recorder.tally().since(start).faults.filter { $0.value > limit }
    guard !tooMany.isEmpty else { return nil }
    let lines = tooMany.map { sentence($0.key, $0.value) }.sorted()
    return TestSupportError(
      .singleFaults,
      "Faults fired one by one, and \(limit) of a kind \(limit == 1 ? "is" : "are") allowed.\n"
        + lines.map { "  \($0)" }.joined(separator: "\n"))
  }

  private func sentence(_ fault: FiredFault, _ count: Int) -> String {
    switch fault {
    case .relationship(let entity, let name):
      return "\(entity).\(name) was loaded \(count) times, for one object each. Set "
        + "relationshipKeyPathsForPrefetching = [\"\(name)\"] on the fetch of \(entity)."
    case .object(let entity):
      let ways = relationships(to: entity)
      let prefetch =
        ways.isEmpty
        ? ""
        : "Prefetch the relationship that leads there (\(ways.joined(separator: ", "))) by "
          + "relationshipKeyPathsForPrefetching, or fetch"
      return "\(entity) was read \(count) times, one object each. \(prefetch.isEmpty ? "Fetch" : prefetch) "
        + "the objects with returnsObjectsAsFaults = false before they are used."
    }
  }

  private func relationships(to name: String) -> [String] {
    var targets: Set<String> = []
    var next = model.entitiesByName[name]
    while let entity = next {
      if let name = entity.name { targets.insert(name) }
      next = entity.superentity
    }
    return model.entities.flatMap { entity in
      entity.relationshipsByName.values
        .filter { relationship in
          // One that is inherited is named where it is declared.
          entity.superentity?.relationshipsByName[relationship.name] == nil
            && relationship.destinationEntity?.name.map(targets.contains) == true
        }
        .map { "\(entity.name ?? "").\($0.name)" }
    }.sorted()
  }
}
