internal import Foundation

/// What is left after a build: the compiler's errors, each with a remedy.
public struct BuildRemedies: Sendable {
  /// One place with an error.
  public struct Problem: Sendable, Equatable {
    /// The path, the line and the column, or an empty text for a message without a place.
    public var place: String
    /// What the compiler says.
    public var message: String
    /// What to do.
    public var remedy: String
  }

  /// The problems, in the order of the build, each once.
  public private(set) var problems: [Problem] = []

  /// Reads the output of `swift build`.
  ///
  /// - Parameters:
  ///   - output: what the build printed.
  ///   - leftOut: the sources that the compiler did not get.
  public init(output: String, leftOut: [Adoption.LeftOut]) {
    var known: Set<String> = []
    for line in output.split(whereSeparator: \.isNewline) {
      guard let match = line.firstMatch(of: /^(?:(\/[^:]*:\d+(?::\d+)?): )?error: (.*)$/) else { continue }
      let place = match.1.map(String.init) ?? ""
      let message = String(match.2)
      // What follows from the errors before.
      if place.isEmpty, message.hasPrefix("fatalError") || message.hasPrefix("emit-module command failed") {
        continue
      }
      guard known.insert(place + message).inserted else { continue }
      problems.append(Problem(place: place, message: message, remedy: Self.remedy(message, leftOut)))
    }
  }

  private static func remedy(_ message: String, _ leftOut: [Adoption.LeftOut]) -> String {
    if let name = message.firstMatch(of: /cannot find (?:type )?'([^']+)' in scope/)?.1 {
      if let file = leftOut.first(where: { $0.declarations.contains(String(name)) }) {
        return
          "\(file.path) declares \(name) and is left out, because it imports \(file.module). Move the declaration into a file "
          + "without that import, put the import there inside #if canImport(\(file.module)), or leave this file out, too: "
          + "--leave-out."
      }
      return
        "Foundation on Linux lacks the name, or the file needs an import. Put the use inside #if canImport(Darwin), or declare "
        + "the name for Linux."
    }
    if let module = message.firstMatch(of: /no such module '([^']+)'/)?.1 {
      return
        "Put the import and what needs it inside #if canImport(\(module)), leave the file out with --leave-out, or name a "
        + "module with the same interface as \"modules\" in CoreDataSources.json."
    }
    if message.contains("has no member") {
      return
        "Foundation or XCTest on Linux lacks the member. Put the use inside #if canImport(Darwin), or add the member in an "
        + "extension for Linux."
    }
    if message.contains("Sendable") || message.contains("isolat") {
      return
        "The language mode of the target is stricter here than on Apple's platforms. Restate the isolation at this place, or "
        + "compile the target in mode 5."
    }
    return "See \"If something goes wrong\" in Docs/PortAnApp.md."
  }
}
