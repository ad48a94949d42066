/// What the rewriter reports at a place of an original file.
public struct SourceMessage: Codable, Equatable, Sendable {
  /// Whether the build can go on.
  public enum Severity: String, Codable, Sendable { case warning, error }

  /// The line, from 1 on.
  public let line: Int
  /// The column in UTF-8 bytes, from 1 on.
  public let column: Int
  /// Whether the build can go on.
  public let severity: Severity
  /// What is wrong there, and what to do.
  public let text: String

  /// The message as compilers print it, which editors and build tools link to the place.
  public func printed(file: String) -> String { "\(file):\(line):\(column): \(severity.rawValue): \(text)" }
}
