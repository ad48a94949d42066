@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// The name of a test's store and container, made from what the test is called.
struct TestStoreName {
  private(set) var text: String

  /// For a test without a single usable character in its name.
  private static let fallback = "CoreDataEvolutionTest"

  /// - Parameters:
  ///   - testName: What the caller asks for; empty for a name made from the call site.
  ///   - fileID: `Module/File.swift` of the call site.
  ///   - function: The function of the call site, parentheses and argument labels included.
  init(testName: String, fileID: String, function: String) {
    text = Self.sanitised(testName.isEmpty ? "\(fileID)-\(function)" : testName)
  }

  /// The name for one store more: numbered from the second use in this process on, so that the cases of one test
  /// function, which share a name, don't share a file.
  func made() -> TestStoreName {
    let use = Self.uses.withLock { uses in
      uses[text, default: 0] += 1
      return uses[text] ?? 1
    }
    var made = self
    if use > 1 { made.text += "-\(use)" }
    return made
  }

  private static let uses = Lock<[String: Int]>([:])

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
