import CoreDataEvolution
import PackageModel

/// Answers questions about the index by fetching, on a context of its own.
@NSModelActor
actor Questions {
  struct Overview: Sendable {
    var packages = 0
    var virtualNames = 0
    var missingNames = 0
    var versions = 0
    var installed = 0
    var sections = 0
    var maintainers = 0
  }

  func overview() throws -> Overview {
    Overview(
      packages: try count(Package.fetchRequest(), "versions.@count > 0"),
      virtualNames: try count(Package.fetchRequest(), "versions.@count == 0 AND providers.@count > 0"),
      missingNames: try count(Package.fetchRequest(), "versions.@count == 0 AND providers.@count == 0"),
      versions: try count(Version.fetchRequest()),
      installed: try count(Version.fetchRequest(), "isInstalled == YES"),
      sections: try count(Section.fetchRequest()),
      maintainers: try count(Maintainer.fetchRequest()))
  }

  private func count<Object>(_ request: NSFetchRequest<Object>, _ condition: String? = nil) throws -> Int {
    request.predicate = condition.map { NSPredicate(format: $0) }
    return try modelContext.count(for: request)
  }

  // MARK: Most depended-upon

  struct Dependents: Sendable, Equatable {
    var name: String
    var all: Int
    var installed: Int
  }

  /// The names that the most versions need, most needed first.
  func mostDependedUpon(_ limit: Int) throws -> [Dependents] {
    let request = Package.fetchRequest()
    request.relationshipKeyPathsForPrefetching = ["dependents"]
    // A fetch can't sort by the size of a relationship, but it can leave out the small ones.
    var threshold = try count(Version.fetchRequest()) / 4
    var packages: [Package] = []
    repeat {
      request.predicate = NSPredicate(format: "dependents.@count > %@", threshold)
      if try modelContext.count(for: request) >= limit || threshold == 0 {
        packages = try modelContext.fetch(request)
        break
      }
      threshold /= 4
    } while true
    let answers = packages.map { package in
      let dependents = package.dependents
      return Dependents(
        name: package.name, all: dependents.count, installed: dependents.count { $0.isInstalled })
    }
    modelContext.reset()
    return Array(answers.sorted { ($1.all, $0.name) < ($0.all, $1.name) }.prefix(limit))
  }

  // MARK: Largest by section

  struct SectionSize: Sendable, Equatable {
    var section: String
    var versionCount: Int
    /// The largest first: names and KiB.
    var largest: [Item]

    struct Item: Sendable, Equatable {
      var name: String
      var size: Int
    }
  }

  /// The largest versions of each section, sections with the largest first.
  ///
  /// - Parameter installedOnly: leave out what is not installed.
  func largestBySection(_ limit: Int, installedOnly: Bool) throws -> [SectionSize] {
    let answers = try modelContext.fetch(Section.fetchRequest()).map { section in
      let request = Version.fetchRequest()
      request.predicate =
        installedOnly
        ? NSPredicate(format: "section == %@ AND isInstalled == YES", section)
        : NSPredicate(format: "section == %@", section)
      let count = try modelContext.count(for: request)
      request.sortDescriptors = [
        NSSortDescriptor(key: "installedSize", ascending: false),
        NSSortDescriptor(key: "key", ascending: true),
      ]
      request.fetchLimit = limit
      request.relationshipKeyPathsForPrefetching = ["package"]
      let largest = try modelContext.fetch(request).map {
        SectionSize.Item(name: $0.package?.name ?? "", size: $0.installedSize)
      }
      return SectionSize(section: section.name, versionCount: count, largest: largest)
    }
    modelContext.reset()
    return answers.filter { !$0.largest.isEmpty }.sorted {
      ($1.largest[0].size, $0.section) < ($0.largest[0].size, $1.section)
    }
  }

  // MARK: Orphans

  struct Orphan: Sendable, Equatable {
    var name: String
    var dependencyCount: Int
  }

  /// Installed packages that no installed version needs, neither by name nor for what they provide; by name.
  func orphans() throws -> [Orphan] {
    let request = Version.fetchRequest()
    request.predicate = NSPredicate(
      format: """
        isInstalled == YES
        AND SUBQUERY(package.dependents, $d, $d.isInstalled == YES).@count == 0
        AND SUBQUERY(provides, $p, SUBQUERY($p.dependents, $d, $d.isInstalled == YES).@count > 0).@count == 0
        """)
    request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
    request.relationshipKeyPathsForPrefetching = ["package", "dependencies"]
    let answers = try modelContext.fetch(request).map {
      Orphan(name: $0.package?.name ?? "", dependencyCount: $0.dependenciesCount)
    }
    modelContext.reset()
    return answers
  }
}
