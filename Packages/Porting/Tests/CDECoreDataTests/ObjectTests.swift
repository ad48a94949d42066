import CDECoreData
import Testing

@Suite("Members of objects and contexts in Core Data's spellings")
struct ObjectTests {
  @Test("Announcements of changes to a set mark the object as changed")
  func setMutation() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let note = stack.insertNote("A", in: context)
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      try context.save()
      let added: Set<NSManagedObject> = [tag]
      note.willChangeValue(forKey: "tags", withSetMutation: .union, using: added)
      note.mutableSetValue(forKey: "tags").add(tag)
      note.didChangeValue(forKey: "tags", withSetMutation: .union, using: added)
      #expect(note.hasChanges)
      try context.save()
      #expect(note.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
      #expect(note.faultingState == 0)
      context.refresh(note, mergeChanges: false)
      #expect(note.faultingState == 1)
    }
  }

  @Test("A value at the end of a path is set")
  func keyPaths() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    context.performAndWait {
      let note = stack.insertNote("A", in: context)
      note.setValue("B", forKeyPath: "title")
      #expect(note.value(forKeyPath: "title") as? String == "B")
    }
  }

  @Test("A value is checked in Apple's spelling")
  func validation() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let note = stack.insertNote("A", in: context)
      func check(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        try note.validateValue(value, forKey: "rank")
      }
      var rank: AnyObject? = NSNumber(value: 7)
      try check(&rank)
      rank = NSNumber(value: 101)
      do {
        try note.validateValue(&rank, forKey: "rank")
        Issue.record("101 is above the bound")
      } catch let error as NSError {
        #expect(
          error.domain == NSCocoaErrorDomain && error.userInfo[NSValidationKeyErrorKey] as? String == "rank")
      }
      #expect(note.value(forKey: "rank") as? Int == 0)
    }
  }

  @Test("Settings of contexts keep their values")
  func settings() throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    #expect(context.stalenessInterval == -1)
    context.stalenessInterval = 0
    #expect(context.stalenessInterval == 0)
    #expect(context.shouldDeleteInaccessibleFaults)
    context.shouldDeleteInaccessibleFaults = false
    #expect(!context.shouldDeleteInaccessibleFaults)
    context.retainsRegisteredObjects = true
    #expect(context.retainsRegisteredObjects)
    context.propagatesDeletesAtEndOfEvent = false
    #expect(!context.propagatesDeletesAtEndOfEvent)
    context.undoManager = nil
    #expect(context.undoManager == nil)
  }

  @Test("An undo manager is there by the same import")
  func undo() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let note = stack.insertNote("A", in: context)
      try context.save()
      let manager = UndoManager()
      context.undoManager = manager
      note.setValue("B", forKey: "title")
      context.processPendingChanges()
      manager.undo()
      #expect(note.value(forKey: "title") as? String == "A")
      manager.redo()
      #expect(note.value(forKey: "title") as? String == "B")
    }
  }

  @Test("A coordinator runs blocks and batch requests")
  func coordinators() async throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
    }
    let request = NSBatchDeleteRequest(
      fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Note"))
    request.resultType = .resultTypeCount
    let result = try coordinator.execute(request, with: context) as? NSBatchDeleteResult
    #expect(result?.result as? Int == 1)
    #expect(coordinator.performAndWait { coordinator.persistentStores.count } == 1)
    #expect(await coordinator.perform { coordinator.persistentStores.count } == 1)
    await withCheckedContinuation { done in coordinator.perform { done.resume() } }
  }
}
