import Foundation

/// How long the randomised tests run.
enum TestScale {
  private static let environment = ProcessInfo.processInfo.environment

  /// Repeats a run. Tests print it.
  static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)

  /// Whether connections are disturbed at every byte of a commit, and not at a sample.
  static let isEveryByte = environment["CDE_EVERY_BYTE"] == "1"

  /// The seeds of a test that compares both engines: a new one; in long runs also those that are known.
  static func seeds(_ known: UInt64...) -> [UInt64] {
    [.random(in: 0 ... .max)] + (environment["CDE_EVERY_STEP"] == "1" ? known : [])
  }

  static func number(_ variable: String, or standard: Int) -> Int {
    environment[variable].flatMap(Int.init) ?? standard
  }
}
