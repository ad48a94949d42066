@_spi(CDE) internal import CDEModelRuntime
internal import CDEStore
internal import Foundation

/// The runtime's context of a model context.
final class ModelObjectContext: NSManagedObjectContext, @unchecked Sendable {
  // Guard: as of its superclass; the reference to the model context is set once, before the context is used.
  private var knownModelContext = MemoryReference()
  /// What keeps the models of a relationship that was read last. Used as objects are.
  weak var lender: LentModels?
  /// The stores, for readers outside of the isolation. Set once, before the context is used.
  var core: ContainerCore?

  /// The model context, while it exists. Not weak: each fetched instance counts a reference to it.
  var modelContext: ModelContext? {
    knownModelContext.object.map { unsafeDowncast($0, to: ModelContext.self) }
  }

  /// Becomes the runtime's context of a model context.
  func serve(_ context: ModelContext) { knownModelContext.refer(to: context) }

  deinit { knownModelContext.refer(to: nil) }

  override func processPendingChanges() {
    super.processPendingChanges()
    modelContext?.changesWereAnnounced()
  }
}

/// Wakes the readers of models that changed otherwise than by their own setters.
final class ModelObserver: ContextObserver {
  func contextWillTrack(_ object: NSManagedObject) {}

  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction) {
    // The setters and the deletions have woken the readers of changed properties already.
    for change in changes where change.kind == .deleted { change.object.wakeReaders(of: nil) }
  }

  func contextDidUnlink(_ object: NSManagedObject, _ slots: PropertySet?) { object.wakeReaders(of: slots) }

  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource) {
    for change in changes { change.object.wakeReaders(of: change.properties) }
  }

  func contextDidRefresh(_ objects: [NSManagedObject]) {
    for object in objects { object.wakeReaders(of: nil) }
  }

  func contextDidReset() {}
}
