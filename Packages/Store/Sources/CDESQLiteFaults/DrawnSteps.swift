internal import Foundation

/// Which of many equal cases a test takes.
@_spi(CDE) public enum DrawnSteps {
  /// Whether tests take all of their cases: `CDE_EVERY_STEP=1` in the environment, as in long runs.
  public static let takesAll = ProcessInfo.processInfo.environment["CDE_EVERY_STEP"] == "1"

  /// The seed of what is drawn: `CDE_SEED` of the environment, or another one in each process.
  public static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1_000_000)
}

extension Array {
  /// The first element, the last three, and one of `share` of those between, drawn by ``DrawnSteps/seed``; or all of them.
  ///
  /// A test that lets each step of an operation fail does the whole operation for each. A part of the steps, other ones in
  /// each run, finds in a day what all of them find in an hour. Prints the seed.
  @_spi(CDE) public func drawn(oneOf share: Int, for test: String = #function) -> Self {
    guard !DrawnSteps.takesAll, count > 4, share > 1 else { return self }
    print("\(test): one of \(share) of \(count) steps, CDE_SEED=\(DrawnSteps.seed)")
    var random = SplitMix(seed: DrawnSteps.seed)
    return enumerated().filter { place, _ in
      place == 0 || place >= count - 3 || Int.random(in: 0..<share, using: &random) == 0
    }.map(\.element)
  }
}
