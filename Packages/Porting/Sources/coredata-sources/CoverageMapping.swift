import CDESourceTool
import Foundation

/// Turns coverage of rewritten files into coverage of their originals.
///
/// A rewritten file begins with a line that names its original. All other lines are the original's, one line further down.
struct CoverageMapping {
  private let files: [String]

  init(_ files: [String]) { self.files = files }

  func run() throws {
    for file in files {
      guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
        throw Problem("\(file) can't be read.")
      }
      var isRewritten = false
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("SF:") {
          let original = original(of: String(line.dropFirst(3)))
          isRewritten = original != nil
          print("SF:\(original ?? String(line.dropFirst(3)))")
        } else if isRewritten, let moved = moved(line) {
          print(moved)
        } else {
          print(line)
        }
      }
    }
  }

  /// The path in the first line of a rewritten file.
  private func original(of path: String) -> String? {
    guard path.hasSuffix("+linux.swift"), let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return nil
    }
    let start = "#sourceLocation(file: \""
    guard text.hasPrefix(start), let end = text.range(of: "\", line: 1)\n") else { return nil }
    return String(text[text.index(text.startIndex, offsetBy: start.count)..<end.lowerBound])
      .replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
  }

  /// A record with a line number, which comes first in it.
  private func moved(_ line: Substring) -> String? {
    for prefix in ["DA:", "FN:", "BRDA:"] where line.hasPrefix(prefix) {
      let rest = line.dropFirst(prefix.count)
      guard let comma = rest.firstIndex(of: ","), let number = Int(rest[..<comma]) else { return nil }
      return "\(prefix)\(max(number - 1, 1))\(rest[comma...])"
    }
    return nil
  }
}
