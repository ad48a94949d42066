/// Why a package can't be adopted, and what to do.
public struct AdoptionError: Error, CustomStringConvertible {
  /// The kind of a problem.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the kind.
    public let rawValue: String
    /// A kind of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no folder of that name.
    public static let noFolder = Code(rawValue: "noFolder")
    /// The package manager can't evaluate the manifest, or says something unexpected about it.
    public static let unreadableManifest = Code(rawValue: "unreadableManifest")
    /// The manifest's tools version has no plug-ins.
    public static let oldToolsVersion = Code(rawValue: "oldToolsVersion")
    /// The manifest keeps its package in no variable.
    public static let noPackageVariable = Code(rawValue: "noPackageVariable")
    /// A target's folder is not where the manifest says.
    public static let noTargetFolder = Code(rawValue: "noTargetFolder")
    /// No target of the package needs Core Data.
    public static let nothingToAdopt = Code(rawValue: "nothingToAdopt")
    /// The folder has no Swift sources.
    public static let noSources = Code(rawValue: "noSources")
    /// The settings of a target can't be read.
    public static let unreadableSettings = Code(rawValue: "unreadableSettings")
  }

  /// The kind of the problem.
  public let code: Code
  /// What is wrong, and the remedy.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
