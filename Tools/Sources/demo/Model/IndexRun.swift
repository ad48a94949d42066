import CoreDataEvolution

/// How far the indexer is: written in the background with each chunk, read on the main actor.
@PersistentModel(observation: .mainActor)
final class IndexRun: NSManagedObject {
  var startedAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  var isFinished: Bool = false
  /// What is being read, or what else is being done.
  var task: String = ""
  var recordCount: Int = 0
  var addedCount: Int = 0
  var changedCount: Int = 0
  var removedCount: Int = 0
  var malformedCount: Int = 0
  /// How often the indexer has saved. The progress line does not read it, so it never wakes it.
  var saveCount: Int = 0
}
