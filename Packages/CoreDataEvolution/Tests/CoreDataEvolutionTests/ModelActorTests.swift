import CoreDataEvolution
import Testing

@NSModelActor
actor ItemStore {
  func createItem(timestamp: Date) throws -> NSManagedObjectID {
    let item = Item(context: modelContext)
    item.timestamp = timestamp
    try modelContext.save()
    return item.objectID
  }

  func updateTimestamp(id itemID: NSManagedObjectID, to timestamp: Date) throws {
    guard let item = self[itemID, as: Item.self] else {
      throw StoreError.itemNotFound
    }
    item.timestamp = timestamp
    try modelContext.save()
  }

  func find(_ id: NSManagedObjectID) -> (asItem: Bool, asTag: Bool) {
    (self[id, as: Item.self] != nil, self[id, as: Tag.self] != nil)
  }

  func delete(_ id: NSManagedObjectID) throws {
    modelContext.delete(try modelContext.existingObject(with: id))
    try modelContext.save()
  }
}

@NSModelActor(disableGenerateInit: true)
public actor DataHandler {
  let viewName: String

  func createNemItem(_ timestamp: Date = .now, showThread: Bool = false) throws -> NSManagedObjectID {
    let item = Item(context: modelContext)
    item.timestamp = timestamp
    try modelContext.save()
    return item.objectID
  }

  init(container: NSPersistentContainer, viewName: String) {
    modelContainer = container
    self.viewName = viewName
    let context = container.newBackgroundContext()
    context.name = viewName
    modelExecutor = .init(context: context)
  }
}

@NSModelActor(disableGenerateInit: true)
private actor ExplicitStore {
  init(container: NSPersistentContainer) {
    modelContainer = container
    modelExecutor = .init(context: container.newBackgroundContext())
  }
}

@NSModelActor
private actor HiddenStore {
  func count() throws -> Int { try modelContext.count(for: Item.fetchRequest()) }
}

@Suite("Model actors, as the guide writes them")
struct ModelActorTests {
  @Test("An actor creates, finds and updates by object ID in a context of its own")
  func createAndUpdate() async throws {
    let container = try NSPersistentContainer.makeTest(model: MySchema.objectModel)
    let store = ItemStore(container: container)
    let id = try await store.createItem(timestamp: .distantPast)
    #expect(!id.isTemporaryID)
    try await store.updateTimestamp(id: id, to: .distantFuture)
    try await store.withContext { context in
      #expect(context !== container.viewContext)
      let items = try context.fetch(Item.fetchRequest())
      #expect(items.map(\.timestamp) == [.distantFuture])
    }
  }

  @Test("The subscript answers nil for another class and for an object that is gone")
  func subscripts() async throws {
    let store = ItemStore(container: try TestStack().container)
    let id = try await store.createItem(timestamp: .now)
    #expect(await store.find(id) == (true, false))
    try await store.delete(id)
    #expect(await store.find(id) == (false, false))
    await #expect(throws: StoreError.itemNotFound) { try await store.updateTimestamp(id: id, to: .now) }
  }

  @Test("An actor with its own initialiser names its context; a test asserts through withContext")
  func customInitialiser() async throws {
    let stack = try TestStack()
    let handler = DataHandler(container: stack.container, viewName: "test")
    _ = try await handler.createNemItem()
    let count = try await handler.withContext { context in
      let request = Item.fetchRequest()
      return try context.fetch(request).count
    }
    #expect(count == 1)
    #expect(try await handler.withContext { $0.name } == "test")
    #expect(try await ExplicitStore(container: stack.container).withContext { $0.hasChanges } == false)
    #expect(try await HiddenStore(container: stack.container).count() == 1)
  }

  @Test("withContext hands out the very container, and errors from the closure come out unchanged")
  func contextAndContainer() async throws {
    let stack = try TestStack()
    let handler = DataHandler(container: stack.container, viewName: "test")
    _ = try await handler.createNemItem()
    try await handler.withContext { context, container in
      #expect(container === stack.container)
      let verification = container.newBackgroundContext()
      let count = try verification.performAndWait { try verification.fetch(Item.fetchRequest()).count }
      #expect(count == 1)
    }
    await #expect(throws: StoreError.itemNotFound) {
      try await handler.withContext { _ in throw StoreError.itemNotFound }
    }
  }
}

@MainActor
@NSMainModelActor
final class ItemViewModel {
  func createItem(timestamp: Date) throws -> NSManagedObjectID {
    let item = Item(context: modelContext)
    item.timestamp = timestamp
    try modelContext.save()
    return item.objectID
  }

  func updateItem(identifier: NSManagedObjectID, timestamp: Date) throws {
    guard let item = self[identifier, as: Item.self] else {
      throw StoreError.itemNotFound
    }
    item.timestamp = timestamp
    try modelContext.save()
  }
}

@MainActor
@NSMainModelActor(disableGenerateInit: true)
final class ScreenModel {
  let screenName: String

  init(modelContainer: NSPersistentContainer, screenName: String) {
    self.modelContainer = modelContainer
    self.screenName = screenName
  }
}

@Suite("Main model actors, as the guide writes them")
@MainActor
struct MainModelActorTests {
  @Test("A main model actor works with viewContext")
  func viewContext() throws {
    let container = try TestStack().container
    let model = ItemViewModel(modelContainer: container)
    #expect(model.modelContext === container.viewContext)
    let id = try model.createItem(timestamp: .distantPast)
    try model.updateItem(identifier: id, timestamp: .distantFuture)
    #expect(try model.withContext { try $0.fetch(Item.fetchRequest()).map(\.timestamp) } == [.distantFuture])
    #expect(try model.withContext { $1 === container && $0 === container.viewContext })
  }

  @Test("Own initialisers assign the container")
  func ownInitialiser() throws {
    let container = try TestStack().container
    let screen = ScreenModel(modelContainer: container, screenName: "list")
    #expect(screen.modelContainer === container)
    #expect(screen.screenName == "list")
  }

  @Test("Main and background actors share a container: what one saves, the other finds")
  nonisolated func cooperation() async throws {
    let container = try TestStack().container
    let store = ItemStore(container: container)
    let model = await ItemViewModel(modelContainer: container)
    let id = try await store.createItem(timestamp: .distantPast)
    try await model.updateItem(identifier: id, timestamp: .distantFuture)
    try await store.withContext { context in
      context.refreshAllObjects()
      let items = try context.fetch(Item.fetchRequest())
      #expect(items.map(\.timestamp) == [.distantFuture])
    }
  }
}
