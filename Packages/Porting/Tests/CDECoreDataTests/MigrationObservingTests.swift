import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

@Suite("Observing a migration")
struct MigrationObservingTests {
  /// Collects what key-value observing tells.
  private final class Observer: NSObject, _CDKeyValueObserver {
    var steps: [Float] = []
    var former: [Float] = []
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard keyPath == "migrationProgress", object is NSMigrationManager else { return }
      if let new = change?[.newKey] as? NSNumber { steps.append(new.floatValue) }
      if let old = change?[.oldKey] as? NSNumber { former.append(old.floatValue) }
    }
  }

  /// Migrates a store with one note to the same model.
  private func migrate(_ observe: (NSMigrationManager) -> Void) throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
    }
    let manager = NSMigrationManager(sourceModel: makeModel(), destinationModel: makeModel())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: makeModel(), destinationModel: makeModel())
    observe(manager)
    try manager.migrateStore(
      from: stack.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
      toDestinationURL: ProcessFolder.newURL(), destinationType: NSSQLiteStoreType, destinationOptions: nil)
  }

  @Test("A closure is called with the progress, until its observation ends")
  func closure() throws {
    var (steps, former, ended) = ([Float](), [Float](), 0)
    var observations: [NSKeyValueObservation] = []
    try migrate { manager in
      observations.append(
        manager.observe(\.migrationProgress, options: [.new, .old]) { manager, change in
          #expect(change.newValue == manager.migrationProgress)
          steps.append(manager.migrationProgress)
          change.oldValue.map { former.append($0) }
        })
      let other = manager.observe(\.migrationProgress) { _, change in
        #expect(change.newValue == nil)
        ended += 1
      }
      other.invalidate()
      _ = manager.observe(\.migrationProgress) { _, _ in ended += 1 }
    }
    #expect(steps.first == 0 && steps.last == 1 && steps.count > 3 && steps == steps.sorted())
    #expect(former == [0] + steps.dropLast())
    #expect(ended == 0)
  }

  @Test("An observer gets the values that it asks for, until it is removed")
  func observer() throws {
    let (observer, removed) = (Observer(), Observer())
    try migrate { manager in
      manager.addObserver(observer, forKeyPath: "migrationProgress", options: [.new, .initial], context: nil)
      manager.addObserver(removed, forKeyPath: "migrationProgress", options: .new, context: nil)
      manager.removeObserver(removed, forKeyPath: "migrationProgress")
    }
    #expect(observer.steps.first == 0 && observer.steps.last == 1 && observer.former.isEmpty)
    #expect(observer.steps.count > 3 && removed.steps.isEmpty)
  }
}
