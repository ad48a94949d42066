internal import Foundation

/// The content of a file `CoreDataSources.json`.
struct TargetSettings: Codable, Equatable {
  var sources: String?
  var leaveOut: [String]?
  /// Modules of Apple's platforms and the modules that have their interface here.
  var modules: [String: String]?
  /// `MainActor` if the target's declarations are isolated to it by default.
  var isolation: String?
  /// The upcoming features of Swift that the rewriting has to know.
  var features: [String]?

  static let fileName = "CoreDataSources.json"

  var isEmpty: Bool { self == TargetSettings() || self == TargetSettings(leaveOut: []) }

  static func read(_ url: URL) throws -> TargetSettings {
    guard let data = try? Data(contentsOf: url) else { return TargetSettings() }
    do { return try JSONDecoder().decode(TargetSettings.self, from: data) } catch {
      throw AdoptionError(
        .unreadableSettings,
        "\(url.path) can't be read: \(error). It has the keys \"sources\", \"leaveOut\", \"modules\", \"isolation\" and \"features\"."
      )
    }
  }

  var text: String {
    var parts: [String] = []
    if let sources { parts.append("  \"sources\": \(quoted(sources))") }
    if let leaveOut, !leaveOut.isEmpty {
      parts.append(
        "  \"leaveOut\": [\n" + leaveOut.map { "    \(quoted($0))" }.joined(separator: ",\n") + "\n  ]")
    }
    if let modules, !modules.isEmpty {
      let pairs = modules.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \(quoted($0.value))" }
      parts.append("  \"modules\": {\(pairs.joined(separator: ", "))}")
    }
    if let isolation { parts.append("  \"isolation\": \(quoted(isolation))") }
    if let features, !features.isEmpty {
      parts.append("  \"features\": [\(features.map(quoted).joined(separator: ", "))]")
    }
    return "{\n\(parts.joined(separator: ",\n"))\n}\n"
  }

  private func quoted(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }
}
