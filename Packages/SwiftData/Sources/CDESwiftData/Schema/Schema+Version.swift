extension Schema {
  /// The version of a schema. Stores record it in their metadata.
  public struct Version: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public let major: Int
    public let minor: Int
    public let patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    public static func < (first: Version, second: Version) -> Bool {
      (first.major, first.minor, first.patch) < (second.major, second.minor, second.patch)
    }

    /// The numbers with dots.
    public var description: String { "\(major).\(minor).\(patch)" }
  }
}

/// The models of one version of an application.
///
/// ```swift fragment
/// enum SchemaV1: VersionedSchema {
///   static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
///   static var models: [any PersistentModel.Type] { [Trip.self] }
/// }
/// ```
nonisolated public protocol VersionedSchema: SendableMetatype {
  /// The models. Those that they reach by relationships belong to the version too.
  static var models: [any PersistentModel.Type] { get }
  /// The number of the version.
  static var versionIdentifier: Schema.Version { get }
}
