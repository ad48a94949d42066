import CoreDataEvolution

/// How far the indexer is: written in the background with each chunk, read on the main actor.
@PersistentModel(observation: .mainActor)
public final class IndexRun: NSManagedObject {
  public var startedAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var isFinished: Bool = false
  /// What is being read, or what else is being done.
  public var task: String = ""
  public var recordCount: Int = 0
  public var addedCount: Int = 0
  public var changedCount: Int = 0
  public var removedCount: Int = 0
  public var malformedCount: Int = 0
  /// How often the indexer has saved. The progress line does not read it, so it never wakes it.
  public var saveCount: Int = 0
}
