internal import CDEStore

/// An estimate of what a migration takes.
///
/// The benchmark's row `migrate` moves a million rows, 55 MB with their index, in 0.65 s. `MigrationProgressTests` compares the
/// space with that of the files.
struct MigrationCost {
  /// Bytes of free space.
  let space: Int
  let duration: Duration

  /// Rows that the store moves itself: they are read, checked and written within the file.
  private static let bytesPerSecond = 80e6
  /// Objects that a context makes and saves, with code or without.
  private static let secondsPerObject = 30e-6
  /// A migration that changes nothing but metadata.
  private static let leastSeconds = 0.01

  init(_ survey: MigrationSurvey, runsCode: Bool) {
    if runsCode {
      // The copy that the steps change, what they make of it, and the pages that replace those of the store.
      space = 3 * survey.fileBytes
      let objects = survey.rows.values.reduce(0, +)
      duration = .seconds(
        Self.leastSeconds + Double(objects) * Self.secondsPerObject
          + 3 * Double(survey.fileBytes) / Self.bytesPerSecond)
    } else {
      // New pages are in the log first. Then the file grows, because the old pages become free only afterwards.
      space = 2 * survey.rewrittenBytes + 64 * 1024
      duration = .seconds(Self.leastSeconds + Double(survey.rewrittenBytes) / Self.bytesPerSecond)
    }
  }

  static func text(space: Int, _ duration: Duration) -> String {
    let megabytes = (space + 999_999) / 1_000_000
    let seconds = duration.components.seconds
    let time =
      switch seconds {
      case ..<1: "less than a second"
      case ..<100: "about \(seconds + 1) seconds"
      default: "about \((seconds + 59) / 60) minutes"
      }
    return "It needs about \(megabytes) MB of free space and \(time)."
  }
}
