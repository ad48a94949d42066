import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

@Suite("Core Data beside SwiftData, on one store", .timeLimit(.minutes(2)))
@MainActor
struct BesideCoreDataTests {
  /// Core Data's stack over a file of SwiftData's.
  private static func coreData(
    _ url: URL, _ model: NSManagedObjectModel? = nil
  ) throws -> NSPersistentContainer {
    let model = try #require(model ?? NSManagedObjectModel.makeManagedObjectModel(for: [TravelPlan.self]))
    let container = NSPersistentContainer(name: "Travel", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    description.shouldMigrateStoreAutomatically = false
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

  private static func plans(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "TravelPlan")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  @Test("Core Data opens a store of SwiftData's without a migration, and reads it")
  func reading() throws {
    let travel = try Travel()
    let plan = TravelPlan("Rome", nights: 4)
    plan.items = [ListItem("Hat")]
    travel.container.mainContext.insert(plan)
    try travel.container.mainContext.save()
    let container = try Self.coreData(travel.url)
    let object = try #require(try Self.plans(container.viewContext).first)
    #expect(object.value(forKey: "name") as? String == "Rome" && object.value(forKey: "nights") as? Int == 4)
    let items = try #require(object.value(forKey: "items") as? Set<NSManagedObject>)
    #expect(items.map { $0.value(forKey: "title") as? String } == ["Hat"])
    #expect(type(of: object) == NSManagedObject.self)
  }

  @Test("SwiftData opens a store that Core Data made with the model of the classes")
  func made() throws {
    let url = try TemporaryStore().url
    let container = try Self.coreData(url)
    let object = NSEntityDescription.insertNewObject(forEntityName: "TravelPlan", into: container.viewContext)
    for (name, value) in [
      "name": "Rome", "startDate": Date(), "code": UUID(), "nights": 3, "destination": "Italy",
      "keywords": ["sun"],
    ] as [String: Any] {
      object.setValue(value, forKey: name)
    }
    try container.viewContext.save()
    let context = try Travel.open(url).mainContext
    let plan = try #require(try context.fetch(FetchDescriptor<TravelPlan>()).first)
    #expect(plan.name == "Rome" && plan.keywords == ["sun"])
  }

  @Test("What Core Data saves reaches the models of SwiftData, and wakes exactly the readers of the property")
  func toSwiftData() async throws {
    let travel = try Travel()
    let plan = TravelPlan("Rome")
    travel.container.mainContext.insert(plan)
    try travel.container.mainContext.save()
    let container = try Self.coreData(travel.url)
    let (name, nights) = (Reader { plan.name }, Reader { plan.nights })
    container.viewContext.transactionAuthor = "core data"
    try #require(try Self.plans(container.viewContext).first).setValue("Roma", forKey: "name")
    try container.viewContext.save()
    await name.woken()
    #expect(plan.name == "Roma" && !nights.isAwake)
    #expect(try travel.history().map(\.author) == [nil, "core data"])
  }

  @Test("What SwiftData saves reaches the objects of Core Data")
  func toCoreData() async throws {
    let travel = try Travel()
    let plan = TravelPlan("Rome")
    travel.container.mainContext.insert(plan)
    try travel.container.mainContext.save()
    let container = try Self.coreData(travel.url)
    let object = try #require(try Self.plans(container.viewContext).first)
    #expect(object.value(forKey: "name") as? String == "Rome")
    let (merged, continuation) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: container.viewContext,
      queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    travel.container.mainContext.author = "swiftdata"
    plan.name = "Roma"
    try travel.container.mainContext.save()
    for await _ in merged { break }
    #expect(object.value(forKey: "name") as? String == "Roma")
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let result = try container.viewContext.execute(request) as? NSPersistentHistoryResult
    let history = try #require(result?.result as? [NSPersistentHistoryTransaction])
    #expect(history.map(\.author) == [nil, "swiftdata"])
    #expect(history.last?.changes?.first?.updatedProperties?.map(\.name) == ["name"])
  }

  @Test("A merged model keeps the classes of its entities, and has the entities of both")
  func merged() throws {
    let own = NSManagedObjectModel()
    let note = NSEntityDescription()
    note.name = "Note"
    let text = NSAttributeDescription()
    (text.name, text.attributeType) = ("text", .stringAttributeType)
    note.properties = [text]
    own.entities = [note]
    let model = try #require(
      NSManagedObjectModel.makeManagedObjectModel(for: [TravelPlan.self], mergedWith: own))
    #expect(
      Set(model.entitiesByName.keys) == ["Note", "TravelPlan", "Accommodation", "ListItem"])
    let container = try Self.coreData(try TemporaryStore().url, model)
    let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: container.viewContext)
    object.setValue("x", forKey: "text")
    try container.viewContext.save()
  }

  @Test("A model whose entity differs from the class can't be merged")
  func differing() {
    let other = NSManagedObjectModel()
    let plan = NSEntityDescription()
    plan.name = "TravelPlan"
    other.entities = [plan]
    #expect(NSManagedObjectModel.makeManagedObjectModel(for: [TravelPlan.self], mergedWith: other) == nil)
  }

  @Test("The model of the classes may be changed before its first use, and each call makes another one")
  func copies() throws {
    let first = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [TravelPlan.self]))
    let second = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [TravelPlan.self]))
    #expect(first !== second && first.entityVersionHashesByName == second.entityVersionHashesByName)
    first.entitiesByName["TravelPlan"]?.userInfo = ["key": "value"]
    #expect(second.entitiesByName["TravelPlan"]?.userInfo?["key"] == nil)
  }
}
