import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Requests to several stores of the same entities")
struct SeveralStoresRequestTests {
  private static var byN: [NSSortDescriptor] { [NSSortDescriptor(key: "n", ascending: true)] }

  private func filled(_ two: TwoStores) throws {
    let context = two.context()
    for (place, store) in two.stores.enumerated() {
      let owner = context.make("Owner", in: store, ["name": "owner \(place)"])
      for number in 0..<3 {
        context.make("Part", in: store, ["n": number * 10 + place]).setValue(owner, forKey: "owner")
      }
      try context.save()
    }
  }

  // MARK: Batches

  @Test("A batch update changes the rows of all stores, and its IDs name them")
  func batchUpdate() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let parts = try context.fetch(request)
    let update = NSBatchUpdateRequest(entityName: "Part")
    update.predicate = NSPredicate(format: "n >= 10")
    update.propertiesToUpdate = ["text": "new"]
    update.resultType = .updatedObjectIDsResultType
    let result = try #require(try context.execute(update) as? NSBatchUpdateResult)
    let ids = try #require(result.result as? [NSManagedObjectID])
    #expect(Set(ids) == Set(parts[2...].map(\.objectID)))
    context.merge([NSUpdatedObjectsKey: Set(ids)])
    #expect(parts.map { $0.value(forKey: "text") as? String } == [nil, nil, "new", "new", "new", "new"])
    update.affectedStores = [two.stores[1]]
    update.predicate = nil
    update.resultType = .updatedObjectsCountResultType
    let count = try #require(try context.execute(update) as? NSBatchUpdateResult)
    #expect(count.result as? Int == 3)
  }

  @Test("A batch deletion deletes in all stores, by a fetch or by IDs")
  func batchDelete() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Part")
    request.predicate = NSPredicate(format: "n < 10")
    let delete = NSBatchDeleteRequest(fetchRequest: request)
    delete.resultType = .resultTypeCount
    #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2)
    let rest = NSFetchRequest<NSManagedObject>(entityName: "Part")
    rest.sortDescriptors = Self.byN
    let parts = try context.fetch(rest)
    #expect(parts.map { $0.value(forKey: "n") as? Int } == [10, 11, 20, 21])
    // The same stores in another order have other keys.
    let turned = try TwoStores(["B", "A"], in: two.folder)
    let byID = NSBatchDeleteRequest(objectIDs: [parts[0].objectID, parts[3].objectID])
    byID.resultType = .resultTypeObjectIDs
    let result = try turned.context().execute(byID) as? NSBatchDeleteResult
    let deleted = try #require(result?.result as? [NSManagedObjectID])
    #expect(Set(deleted) == [parts[0].objectID, parts[3].objectID])
    context.merge([NSDeletedObjectsKey: Set(deleted)])
    #expect(try context.fetch(rest).map { $0.value(forKey: "n") as? Int } == [11, 20])
    #expect(parts[0].isDeleted || parts[0].managedObjectContext == nil)
  }

  @Test("A batch insertion goes to the first store, or to the one that it names")
  func batchInsert() throws {
    let two = try TwoStores()
    let context = two.context()
    let insert = NSBatchInsertRequest(entityName: "Part", objects: [["n": 1], ["n": 2]])
    insert.resultType = .objectIDs
    let first = try #require(
      (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    insert.affectedStores = [two.stores[1]]
    let second = try #require(
      (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    #expect(first.allSatisfy { $0.persistentStore === two.stores[0] })
    #expect(second.allSatisfy { $0.persistentStore === two.stores[1] })
    #expect(try second.map { try context.existingObject(with: $0).value(forKey: "n") as? Int } == [1, 2])
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [1, 1, 2, 2])
  }

  // MARK: History

  @Test("The history names the objects of each store, and its tokens have a number for each")
  func history() throws {
    let two = try TwoStores(options: NSPersistentHistoryTrackingKey)
    try filled(two)
    let context = two.context()
    let start = try #require(two.coordinator.currentPersistentHistoryToken(fromStores: nil))
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let part = try context.fetch(request)[1]
    part.setValue("new", forKey: "text")
    try context.save()
    let changes = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
    let result = try #require(try context.execute(changes) as? NSPersistentHistoryResult)
    let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
    #expect(transactions.count == 1 && transactions[0].storeID == two.stores[1].identifier)
    #expect(transactions[0].changes?.map(\.changedObjectID) == [part.objectID])
    // Another coordinator merges it by its notification.
    let turned = try TwoStores(["B", "A"], in: two.folder, options: NSPersistentHistoryTrackingKey)
    let reader = turned.context()
    let copy = try reader.existingObject(with: part.objectID)
    part.setValue("newer", forKey: "text")
    try context.save()
    let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let later = try #require(try context.execute(all) as? NSPersistentHistoryResult)
    for transaction in try #require(later.result as? [NSPersistentHistoryTransaction]) {
      reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    }
    #expect(copy.value(forKey: "text") as? String == "newer")
  }

  @Test(
    "A commit of another coordinator to one of the stores is merged", .onSQLite, arguments: [true, false])
  func remoteChanges(withHistory: Bool) async throws {
    let options =
      [NSPersistentStoreRemoteChangeNotificationPostOptionKey]
      + (withHistory ? [NSPersistentHistoryTrackingKey] : [])
    let two = try TwoStores(names: ["A", "B"], options: options)
    try filled(two)
    let turned = try TwoStores(names: ["B", "A"], in: two.folder, options: options)
    let reader = turned.context()
    reader.automaticallyMergesChangesFromParent = true
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let parts = try await reader.perform { Unchecked(try reader.fetch(request)) }
    await reader.perform { for part in parts.value { _ = part.value(forKey: "text") } }
    let (merges, signal) = AsyncStream.makeStream(of: Void.self)
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: reader, queue: nil
    ) { _ in signal.yield() }
    let writer = two.context()
    for (place, part) in try writer.fetch(request).enumerated() where place < 2 {
      part.setValue("by another", forKey: "text")
      try writer.save()
    }
    for await _ in merges {
      let texts = await reader.perform { parts.value.map { $0.value(forKey: "text") as? String } }
      if texts == ["by another", "by another", nil, nil, nil, nil] { break }
    }
    NotificationCenter.default.removeObserver(token)
  }

  // MARK: Values

  @Test("Handles and snapshots have the keys of the files")
  func values() throws {
    let description = ["A", "B"].map { _ in NSPersistentStoreDescription() }
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    func container(_ names: [String]) throws -> NSPersistentContainer {
      let model = try NSManagedObjectModel.makeRuntimeModel([Item.self, Category.self, Tag.self])
      let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
      container.persistentStoreDescriptions = names.map {
        NSPersistentStoreDescription(url: folder.appendingPathComponent("\($0).sqlite"))
      }
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = failure ?? error }
      if let failure { throw failure }
      return container
    }
    let (here, there) = (try container(["A", "B"]), try container(["B", "A"]))
    let context = here.newBackgroundContext()
    #expect(description.count == 2)
    for store in here.persistentStoreCoordinator.persistentStores {
      let category = Category(context: context)
      context.assign(category, to: store)
      let item = Item(context: context)
      context.assign(item, to: store)
      item.title = store.url!.lastPathComponent
      item.category = category
      try context.save()
    }
    let snapshots = try context.fetchSnapshots(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)]))
    let reader = there.newBackgroundContext()
    let theirs = try reader.fetchSnapshots(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)]))
    #expect(snapshots == theirs && snapshots.map(\.hashValue) == theirs.map(\.hashValue))
    #expect(snapshots.map(\.handle) == theirs.map(\.handle))
    #expect(snapshots.map(\.category) == theirs.map(\.category))
    #expect(
      try context.fetchHandles(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)]))
        == snapshots.map(\.handle))
    for snapshot in snapshots {
      #expect(snapshot.handle.uriRepresentation.lastPathComponent == "p1")
      let item = try reader.object(for: snapshot.handle)
      #expect(item.title == snapshot.title)
      #expect(try item.handle == snapshot.handle && item.snapshot() == snapshot)
      #expect(try item.category?.handle == snapshot.category)
      #expect(
        try reader.object(for: ModelHandle<Item>(uriRepresentation: snapshot.handle.uriRepresentation))
          === item)
    }
    // Changes of a snapshot are applied in the other container, whose object has the old values.
    let copy = try reader.object(for: snapshots[1].handle)
    #expect(copy.title == "B.sqlite" && copy.category != nil)
    let item = try context.object(for: snapshots[1].handle)
    item.category = nil
    item.title = "changed"
    try context.save()
    let changes = try item.snapshot().changes(since: snapshots[1])
    #expect(try Set(reader.apply(changes, to: copy)) == ["category", "title"])
    #expect(copy.category == nil && copy.title == "changed")
  }

  // MARK: Fetches of other kinds

  @MainActor
  @Test("Asynchronous fetches, streams and fetched results find the rows of all stores")
  func otherFetches() async throws {
    let two = try TwoStores()
    try filled(two)
    let context = NSManagedObjectContext(concurrencyType: .mainQueue)
    context.persistentStoreCoordinator = two.coordinator
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    request.fetchBatchSize = 2
    #expect(try context.fetch(request).map { $0.value(forKey: "n") as? Int } == [0, 1, 10, 11, 20, 21])
    context.reset()
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.count == 6)
    _ = context.make("Part", in: two.stores[1], ["n": 5])
    try context.save()
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map { $0.value(forKey: "n") as? Int } == [0, 1, 5, 10, 11, 20, 21])
    var numbers: [Int?] = []
    for try await part in context.stream(request, batchSize: 2) {
      numbers.append(part.value(forKey: "n") as? Int)
    }
    #expect(numbers == [0, 1, 5, 10, 11, 20, 21])
    request.fetchLimit = 3
    let found: [Int?] = try await withCheckedThrowingContinuation { continuation in
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        continuation.resume(returning: (result.finalResult ?? []).map { $0.value(forKey: "n") as? Int })
      }
      do { _ = try context.execute(asynchronous) } catch { continuation.resume(throwing: error) }
    }
    #expect(found == [0, 1, 5])
  }

  @Test("A pinned context reads all stores as they were")
  func generations() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    try context.setQueryGenerationFrom(.current)
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [0, 1, 10, 11, 20, 21])
    let writer = two.context()
    _ = writer.make("Part", in: two.stores[1], ["n": 2])
    try writer.save()
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [0, 1, 10, 11, 20, 21])
    try context.setQueryGenerationFrom(nil)
    #expect(try context.list("n", of: "Part", sort: Self.byN) == [0, 1, 2, 10, 11, 20, 21])
  }

  @Test("Values in files are found in their store")
  func externalValues() throws {
    let two = try TwoStores()
    let context = two.context()
    for (place, store) in two.stores.enumerated() {
      _ = context.make(
        "Part", in: store, ["n": place, "picture": Data(repeating: UInt8(place + 1), count: 300_000)])
      try context.save()
    }
    context.reset()
    let pictures: [Data] = try context.list("picture", of: "Part", sort: Self.byN)
    #expect(pictures.map(\.first) == [1, 2] && pictures.allSatisfy { $0.count == 300_000 })
    let request = NSFetchRequest<NSDictionary>(entityName: "Part")
    request.resultType = .dictionaryResultType
    request.sortDescriptors = Self.byN
    request.propertiesToFetch = ["picture", "objectID"]
    let values = try context.fetch(request)
    #expect(values.compactMap { ($0["picture"] as? Data)?.first } == [1, 2])
    let ids = values.compactMap { $0["objectID"] as? NSManagedObjectID }
    #expect(ids.map { $0.persistentStore?.identifier } == two.stores.map(\.identifier))
  }

  @Test("A moved store keeps its place and its objects", .onSQLite)
  func moving() throws {
    let two = try TwoStores()
    try filled(two)
    let context = two.context()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
    request.sortDescriptors = Self.byN
    let ids = try context.fetch(request).map(\.objectID)
    let moved = try two.coordinator.migratePersistentStore(
      two.stores[0], to: two.file("Moved"), withType: NSSQLiteStoreType)
    #expect(two.coordinator.persistentStores.first === moved)
    let reader = two.context()
    #expect(
      try ids.map { try reader.existingObject(with: $0).value(forKey: "n") as? Int } == [
        0, 1, 10, 11, 20, 21,
      ])
    let part = reader.make("Part")
    try reader.save()
    #expect(part.objectID.persistentStore === moved)
  }
}
