internal import Foundation

/// The name of a test's store and container, made from what the test is called.
struct TestStoreName {
  let text: String

  /// For a test without a single usable character in its name.
  private static let fallback = "CoreDataEvolutionTest"

  /// - Parameters:
  ///   - testName: What the caller asks for; empty for a name made from the call site.
  ///   - fileID: `Module/File.swift` of the call site.
  ///   - function: The function of the call site, parentheses and argument labels included.
  init(testName: String, fileID: String, function: String) {
    text = Self.sanitised(testName.isEmpty ? "\(fileID)-\(function)" : testName)
  }

  /// The name with everything that is no letter, digit, `.`, `_` or `-` turned into single underscores.
  private static func sanitised(_ name: String) -> String {
    let punctuation = CharacterSet(charactersIn: "._-")
    let kept = CharacterSet.alphanumerics.union(punctuation)
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let scalar = kept.contains(scalar) ? scalar : "_"
      if scalar == "_", result.last == "_" { continue }
      result.append(scalar)
    }
    let trimmed = String(result).trimmingCharacters(in: punctuation)
    return trimmed.isEmpty ? fallback : trimmed
  }
}
