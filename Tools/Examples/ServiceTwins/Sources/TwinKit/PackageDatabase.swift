/// What the routes need of a database.
package protocol PackageDatabase: Sendable {
  func version(_ key: String) async throws -> VersionRow?
  /// The versions in the order of their keys, without their dependencies.
  func versions(_ start: PageStart, limit: Int) async throws -> [VersionRow]
  /// Adds a package, and records that in the history.
  ///
  /// - Returns: its number; nil if the name is taken.
  func addPackage(_ name: String) async throws -> Int64?
}

/// Where a page begins.
package enum PageStart: Sendable {
  case from(String)
  case after(String)
}

/// A version with the names that an answer shows.
package struct VersionRow: Sendable {
  package var id: Int64 = 0
  /// How often the row was written.
  package var revision: Int64 = 0
  package var key = ""
  package var package: String?
  package var number = ""
  package var architecture = ""
  package var summary = ""
  package var installedSize: Int64 = 0
  package var isInstalled = false
  package var section: String?
  package var maintainer: String?
  package var dependencies: [String] = []
  package var provides: [String] = []

  package init() {}
}
