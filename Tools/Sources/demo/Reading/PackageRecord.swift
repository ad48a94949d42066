/// What one record of a package database says, as far as the index keeps it.
struct PackageRecord: Equatable, Sendable {
  var name: String
  var version: String
  var architecture: String
  var section: String
  var maintainer: String
  var summary: String
  /// In KiB.
  var installedSize: Int
  var isInstalled: Bool
  /// Names that it depends on, every alternative by itself; without versions, architectures and doubles.
  var dependencies: [String]
  var provides: [String]
  /// Differs when anything in the record does.
  var digest: Int

  /// The same for the same version of the same package, wherever it is listed.
  var key: String { "\(name) \(version) \(architecture)" }
}

/// A record that could not be understood and was left out.
struct MalformedRecord: Equatable, Sendable {
  /// The line that is wrong, counted from 1.
  var line: Int
  /// The package's name, if that much could be read.
  var name: String?
  var reason: String
  /// The file ends within the record, so others may be missing.
  var isCut = false
}

/// What a reader comes upon.
enum ReadRecord: Equatable, Sendable {
  case record(PackageRecord)
  case malformed(MalformedRecord)
}
