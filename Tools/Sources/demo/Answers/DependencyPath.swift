import CoreDataEvolution
import PackageModel

/// The shortest way from one package to another along dependencies.
struct DependencyPath: Sendable, Equatable {
  struct Step: Sendable, Equatable {
    var name: String
    /// It was reached because it provides the name before it, not because that needs it.
    var isProvider: Bool
  }

  var steps: [Step]

  /// How many dependencies the way has; standing in for a name is none.
  var length: Int { steps.dropFirst().count { !$0.isProvider } }
}

/// Why a way can't be looked for.
struct UnknownPackage: Error, CustomStringConvertible {
  var name: String
  var description: String { "There is no package named \"\(name)\" in the index." }
}

extension Questions {
  /// The shortest way between two packages; nil when there is none.
  ///
  /// Costs a few fetches for each step of the way, whatever the number of packages on it.
  ///
  /// - Throws: ``UnknownPackage``, or an error of the store.
  func path(from: String, to: String) throws -> DependencyPath? {
    defer { modelContext.reset() }
    let goal = try package(named: to).objectID
    var search = PathSearch(start: try package(named: from).objectID)
    while search.step(to: goal) == nil, try advance(&search) {}
    return try search.step(to: goal).map { try path($0, in: search) }
  }

  /// The shortest way to the package that is farthest from one; of several the first by name.
  func longestPath(from name: String) throws -> DependencyPath? {
    defer { modelContext.reset() }
    var search = PathSearch(start: try package(named: name).objectID)
    while try advance(&search) {}
    let ends = try search.lastLevel.map { try path($0, in: search) }
    return ends.min { $0.steps.last!.name < $1.steps.last!.name }
  }

  private func package(named name: String) throws -> Package {
    let request = Package.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", name)
    guard let package = try modelContext.fetch(request).first else { throw UnknownPackage(name: name) }
    return package
  }

  /// One step further in every direction.
  ///
  /// - Returns: whether there was anything new.
  private func advance(_ search: inout PathSearch) throws -> Bool {
    let frontier = search.takeFrontier()
    guard !frontier.isEmpty else { return false }
    for chunk in frontier.chunks(of: 500) {
      let request = Version.fetchRequest()
      request.predicate = NSPredicate(format: "package IN %@", chunk.map { modelContext.object(with: $0) })
      request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
      request.relationshipKeyPathsForPrefetching = ["dependencies"]
      for version in try modelContext.fetch(request) {
        guard let package = version.package else { continue }
        for needed in version.dependencies.sorted(by: { $0.name < $1.name }) {
          search.reach(needed.objectID, from: package.objectID, isProvider: false)
        }
      }
    }
    // Packages that provide a name just reached are reached with it.
    for chunk in search.level.chunks(of: 500) {
      let request = Package.fetchRequest()
      request.predicate = NSPredicate(
        format: "SELF IN %@ AND providers.@count > 0", chunk.map { modelContext.object(with: $0) })
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.relationshipKeyPathsForPrefetching = ["providers", "providers.package"]
      for name in try modelContext.fetch(request) {
        for provider in name.providers.compactMap(\.package).sorted(by: { $0.name < $1.name }) {
          search.reach(provider.objectID, from: name.objectID, isProvider: true)
        }
      }
    }
    return true
  }

  private func path(_ end: PathSearch.Step, in search: PathSearch) throws -> DependencyPath {
    let steps = search.way(to: end).map { step in
      let package = modelContext.object(with: step.package) as? Package
      return DependencyPath.Step(name: package?.name ?? "", isProvider: step.isProvider)
    }
    return DependencyPath(steps: steps)
  }
}

/// A breadth-first search: which packages were reached, and from where.
struct PathSearch {
  struct Step {
    var package: NSManagedObjectID
    var previous: NSManagedObjectID?
    var isProvider: Bool
  }

  private var steps: [NSManagedObjectID: Step] = [:]
  /// Reached in the current step.
  private(set) var level: [NSManagedObjectID]
  /// The packages of the last step that reached any, other than stand-ins.
  private(set) var lastLevel: [Step] = []

  init(start: NSManagedObjectID) {
    level = [start]
    steps[start] = Step(package: start, previous: nil, isProvider: false)
  }

  func step(to package: NSManagedObjectID) -> Step? { steps[package] }

  mutating func takeFrontier() -> [NSManagedObjectID] {
    defer { level = [] }
    let reached = level.compactMap { steps[$0] }.filter { !$0.isProvider }
    if !reached.isEmpty { lastLevel = reached }
    return level
  }

  mutating func reach(_ package: NSManagedObjectID, from previous: NSManagedObjectID, isProvider: Bool) {
    guard steps[package] == nil else { return }
    steps[package] = Step(package: package, previous: previous, isProvider: isProvider)
    level.append(package)
  }

  func way(to end: Step) -> [Step] {
    var way = [end]
    while let previous = way.last?.previous, let step = steps[previous] { way.append(step) }
    return way.reversed()
  }
}

extension Array {
  func chunks(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
