import CDECoreData
import Testing

// Each spelling as published code has it. What compiles here is what the file shows; the test runs it, so that nothing traps.

@Suite("Spellings")
struct Spellings {
  func make(_ type: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    switch type {
    case .mainQueueConcurrencyType: context.name = "main"
    case .privateQueueConcurrencyType: context.name = "private"
    default: break
    }
    return context
  }

  @Test("A stack is set up in the older spelling")
  func olderStack() throws {
    let model = makeModel()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
      NSSQLitePragmasOption: ["journal_mode": "DELETE"],
      NSPersistentHistoryTrackingKey: true as NSNumber,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber,
      NSIgnorePersistentStoreVersioningOption: false,
      NSSQLiteAnalyzeOption: true,
      NSSQLiteManualVacuumOption: true,
      NSPersistentStoreFileProtectionKey: "none",
      NSReadOnlyPersistentStoreOption: false,
      NSPersistentStoreTimeoutOption: 10,
    ]
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
    let context = make(.privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    context.automaticallyMergesChangesFromParent = true
    context.undoManager = nil
    context.transactionAuthor = "app"
    context.userInfo["key"] = "value"
    #expect(context.name == "private")
    #expect(model.entitiesByName["Note"]?.attributesByName["title"]?.attributeType == .stringAttributeType)
    #expect(coordinator.persistentStores.first?.options?[NSPersistentHistoryTrackingKey] as? Bool == true)
  }

  @Test("A container is set up in the newer spelling")
  func newerStack() throws {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: makeModel())
    let description = NSPersistentStoreDescription()
    description.type = NSPersistentStore.StoreType.inMemory.rawValue
    description.shouldAddStoreAsynchronously = false
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
    description.setValue("1" as NSObject as? NSString, forPragmaNamed: "secure_delete")
    description.setValue(nil, forPragmaNamed: "secure_delete")
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { storeDescription, error in
      if let error = error as NSError? {
        Issue.record("\(storeDescription): \(error), \(error.userInfo)")
      }
    }
    let context = container.newBackgroundContext()
    context.performAndWait {
      let request: NSFetchRequest<NSManagedObject> = NSFetchRequest(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      request.fetchLimit = 1
      request.resultType = .managedObjectResultType
      request.returnsObjectsAsFaults = false
      let notes = try? context.fetch(request)
      #expect(notes?.isEmpty == true)
    }
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
  }

  @Test("Notifications have their names in both spellings")
  func notificationNames() {
    #expect(
      Notification.Name.NSManagedObjectContextDidSave == NSManagedObjectContext.didSaveObjectsNotification)
    #expect(
      Notification.Name.NSManagedObjectContextWillSave == NSManagedObjectContext.willSaveObjectsNotification)
    #expect(
      NSNotification.Name.NSManagedObjectContextObjectsDidChange
        == NSManagedObjectContext.didChangeObjectsNotification)
    #expect(
      Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
        == NSManagedObjectContext.didMergeChangesObjectIDsNotification)
    #expect(
      Notification.Name.NSPersistentStoreCoordinatorStoresWillChange
        != .NSPersistentStoreCoordinatorStoresDidChange)
  }

  @Test("Merge policies have their names in both spellings")
  func mergePolicies() {
    #expect(NSErrorMergePolicy === NSMergePolicy.error)
    #expect(NSRollbackMergePolicy === NSMergePolicy.rollback)
    #expect(NSOverwriteMergePolicy === NSMergePolicy.overwrite)
    #expect(NSMergeByPropertyStoreTrumpMergePolicy === NSMergePolicy.mergeByPropertyStoreTrump)
  }

  @Test("A store is migrated by a manager, in both spellings, and in stages")
  func migrations() throws {
    final class NotePolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(
          forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue("migrated", forKey: "title")
      }
    }
    let model = makeModel()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cde-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Old.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
        "old", forKey: "title")
      try context.save()
    }
    try coordinator.remove(store)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
    mapping.entityMappingsByName["NoteToNote"]?.entityMigrationPolicyClassName = NSStringFromClass(
      NotePolicy.self)
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    let (older, newer) = (
      folder.appendingPathComponent("A.sqlite"), folder.appendingPathComponent("B.sqlite")
    )
    try manager.migrateStore(
      from: file, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: older,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    try manager.migrateStore(from: file, type: .sqlite, mapping: mapping, to: newer, type: .sqlite)
    for url in [older, newer] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        #expect(notes.map { $0.value(forKey: "title") as? String } == ["migrated"])
      }
      try coordinator.remove(store)
    }
    let reference = NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    let stage = NSCustomMigrationStage(migratingFrom: reference, to: reference)
    stage.didMigrateHandler = { migrationManager, currentStage in
      guard let container = migrationManager.container else { return }
      #expect(container.managedObjectModel === currentStage.nextModel.resolvedModel)
    }
    let staged = NSStagedMigrationManager([NSLightweightMigrationStage([model.versionChecksum]), stage])
    #expect(staged.stages.count == 2)
    #expect(NSMigrationCancelledError == 134120)
  }
}
