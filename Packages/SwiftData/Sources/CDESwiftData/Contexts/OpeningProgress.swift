internal import CDEManagedModel
internal import CDEModelRuntime
internal import Foundation

/// Makes the migrations of a container's stores parts of the caller's current progress.
struct OpeningProgress {
  private let whole: Progress
  private let parts: [Progress]

  /// - Returns: nil if the caller has no current progress.
  init?(_ descriptions: [NSPersistentStoreDescription]) {
    guard Progress.current() != nil, !descriptions.isEmpty else { return nil }
    // Becomes a child of the current progress, as each one that is made with a count.
    whole = Progress(totalUnitCount: Int64(descriptions.count))
    parts = descriptions.map { _ in Progress.discreteProgress(totalUnitCount: -1) }
    for (description, part) in zip(descriptions, parts) {
      whole.addChild(part, withPendingUnitCount: 1)
      description.migrationProgress = part
    }
  }

  /// Completes what needed no migration.
  func end() {
    for part in parts where !part.isFinished {
      part.totalUnitCount = 1
      part.completedUnitCount = 1
    }
  }
}
