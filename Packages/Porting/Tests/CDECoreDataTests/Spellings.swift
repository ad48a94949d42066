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
}
