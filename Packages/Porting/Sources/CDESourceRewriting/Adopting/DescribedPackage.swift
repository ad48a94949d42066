public import Foundation

/// What `swift package dump-package` prints about a manifest, as far as an adoption needs it.
public struct DescribedPackage: Sendable {
  struct Resource: Sendable {
    /// `process`, `copy` or `embedInCode`.
    var rule: String
    var path: String
    var localization: String?
  }

  struct Target: Sendable {
    var name: String
    /// `regular`, `executable`, `test` and others.
    var type: String
    var path: String?
    var exclude: [String] = []
    var sources: [String]?
    var resources: [Resource] = []
    /// Names of targets and products.
    var dependencies: Set<String> = []
    /// Whether declarations are isolated to the main actor by default.
    var isOnMainActor = false
    /// Whether members are visible only where their own module is imported.
    var importsMembers = false

    var isTest: Bool { type == "test" }
  }

  var name: String
  var targets: [Target]
  /// The tools version, in numbers: 5.9.2 is [5, 9, 2].
  var toolsVersion: [Int]

  /// Reads the output of `swift package dump-package`.
  ///
  /// - Parameter data: JSON.
  /// - Throws: `AdoptionError` with the code `unreadableManifest`.
  public init(dump data: Data) throws {
    guard let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let name = root["name"] as? String, let targets = root["targets"] as? [[String: Any]]
    else {
      throw AdoptionError(
        .unreadableManifest,
        "`swift package dump-package` printed no description of a package. Run it in the folder to see its message."
      )
    }
    self.name = name
    let version = (root["toolsVersion"] as? [String: Any])?["_version"] as? String ?? "5.0"
    toolsVersion = version.split(separator: ".").map { Int($0) ?? 0 }
    self.targets = targets.compactMap(Self.target)
  }

  init(name: String, targets: [Target], toolsVersion: [Int]) {
    self.name = name
    self.targets = targets
    self.toolsVersion = toolsVersion
  }

  private static func target(_ json: [String: Any]) -> Target? {
    guard let name = json["name"] as? String, let type = json["type"] as? String else { return nil }
    var target = Target(name: name, type: type)
    target.path = json["path"] as? String
    target.exclude = json["exclude"] as? [String] ?? []
    target.sources = json["sources"] as? [String]
    target.resources = (json["resources"] as? [[String: Any]] ?? []).compactMap { json in
      guard let path = json["path"] as? String, let rule = json["rule"] as? [String: Any],
        let kind = rule.keys.first
      else { return nil }
      let details = rule[kind] as? [String: Any]
      return Resource(rule: kind, path: path, localization: details?["localization"] as? String)
    }
    for dependency in json["dependencies"] as? [[String: Any]] ?? [] {
      for case let parts as [Any] in dependency.values {
        if let name = parts.first as? String { target.dependencies.insert(name) }
      }
    }
    for setting in json["settings"] as? [[String: Any]] ?? [] {
      guard let kind = setting["kind"] as? [String: Any] else { continue }
      if let isolation = (kind["defaultIsolation"] as? [String: Any])?["_0"] as? String {
        target.isOnMainActor = isolation == "MainActor"
      }
      for feature in kind.values.compactMap({ ($0 as? [String: Any])?["_0"] as? String })
      where feature == "MemberImportVisibility" { target.importsMembers = true }
      let flags = (kind["unsafeFlags"] as? [String: Any])?["_0"] as? [String] ?? []
      if let place = flags.firstIndex(of: "-default-isolation"),
        flags.dropFirst(place + 1).contains("MainActor")
      {
        target.isOnMainActor = true
      }
    }
    return target
  }
}
