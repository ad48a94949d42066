// swift-format-ignore-file
// What is printed stays as it was printed.
import Testing

// The examples of CoreDataEvolution's guide to model actors, but for those that it calls bad.

// printed
import CoreDataEvolution

@NSModelActor
actor ItemStore {
  func createItem(timestamp: Date) throws -> NSManagedObjectID {
    let item = Item(context: modelContext)
    item.timestamp = timestamp
    try modelContext.save()
    return item.objectID
  }
}
// end

// printed
@MainActor
@NSMainModelActor
final class ItemViewModel {
  func createItem(timestamp: Date) throws {
    let item = Item(context: modelContext)
    item.timestamp = timestamp
    try modelContext.save()
  }
}
// end

enum ActorGuide {
  enum Generated {
// printed
@NSModelActor
actor ItemStore {}
// end

// printed
@MainActor
@NSMainModelActor
final class ItemViewModel {}
// end

    @NSModelActor(disableGenerateInit: true)
    actor ByHand {
      init(container: NSPersistentContainer) {
// printed
let context = container.newBackgroundContext()
// end
        modelExecutor = .init(context: context)
        modelContainer = container
      }

// printed
@MainActor
@available(iOS 17.0, macOS 14.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
init(observationDomain: CDEObservationDomain)
// end
      {
// printed
let container = observationDomain.modelContainer
let context = container.newBackgroundContext()
observationDomain.registerChangeProducer(context: context)
modelExecutor = NSModelObjectContextExecutor(context: context)
modelContainer = container
// end
      }
    }

    @MainActor
    static func writer(_ container: NSPersistentContainer) -> ItemStore {
// printed
let writer = ItemStore(observationDomain: CDEObservationDomain(container: container))
// end
      return writer
    }

    @MainActor
    static func context(_ modelContainer: NSPersistentContainer) -> NSManagedObjectContext {
// printed
modelContainer.viewContext
// end
    }
  }

  @NSModelActor
  actor Conveniences {
    func timestamp(_ itemID: NSManagedObjectID) throws -> Date? {
// printed
guard let item = self[itemID, as: Item.self] else {
  throw StoreError.itemNotFound
}
// end
      return item.timestamp
    }

    func save() async throws {
// printed
try await saveObservedChanges()
// end
    }

    func updateTimestamp(id: NSManagedObjectID, to timestamp: Date) throws {
      self[id, as: Item.self]?.timestamp = timestamp
      try modelContext.save()
    }
  }

  static func inspect(_ handler: Conveniences) async throws {
// printed
try await handler.withContext { context in
  // inspect or query the actor's context
}

try await handler.withContext { context, container in
  // inspect the context and also access the container
}
// end
  }

  enum Initializers {
// printed
@NSModelActor(disableGenerateInit: true)
actor ItemStore {
  let viewName: String

  init(container: NSPersistentContainer, viewName: String) {
    modelContainer = container
    self.viewName = viewName

    let context = container.newBackgroundContext()
    context.name = viewName
    modelExecutor = .init(context: context)
  }
}
// end

// printed
@MainActor
@NSMainModelActor(disableGenerateInit: true)
final class ItemViewModel {
  let screenName: String

  init(modelContainer: NSPersistentContainer, screenName: String) {
    self.modelContainer = modelContainer
    self.screenName = screenName
  }
}
// end
  }

  enum Observing {
// printed
@NSModelActor(disableGenerateInit: true)
actor ItemStore {
  private let observationDomain: CDEObservationDomain?
  private let observationProducerRegistration: CDEObservationProducerRegistration?

  init(observationDomain: CDEObservationDomain) {
    let container = observationDomain.modelContainer
    let context = container.newBackgroundContext()
    self.observationDomain = observationDomain
    observationProducerRegistration = observationDomain.registerChangeProducer(context: context)
    modelExecutor = NSModelObjectContextExecutor(context: context)
    modelContainer = container
  }

  deinit {
    observationProducerRegistration?.invalidate()
  }
}
// end
  }

  enum Good {
// printed
@MainActor
@NSMainModelActor
final class ItemViewModel {}
// end

// printed
@NSModelActor(disableGenerateInit: true)
actor ItemStore {
  init(container: NSPersistentContainer) {
    modelContainer = container
    modelExecutor = .init(context: container.newBackgroundContext())
  }
}
// end
  }

  @NSModelActor(disableGenerateInit: true)
  actor DataHandler {
    init(container: NSPersistentContainer, viewName: String) {
      modelContainer = container
      modelExecutor = .init(context: container.newBackgroundContext())
    }

    func createItem(timestamp: Date) throws -> NSManagedObjectID {
      let item = Item(context: modelContext)
      item.timestamp = timestamp
      try modelContext.save()
      return item.objectID
    }
  }
}

@Suite("Examples of the guide to model actors")
struct ActorGuideTests {
  typealias DataHandler = ActorGuide.DataHandler

  @Test("A test container of a model holds what a store of the guide writes")
  func testContainer() async throws {
// printed
let container = try NSPersistentContainer.makeTest(model: MySchema.objectModel)
// end
    let id = try await ItemStore(container: container).createItem(timestamp: .distantPast)
    let store = ActorGuide.Conveniences(container: container)
    #expect(try await store.timestamp(id) == .distantPast)
  }

  @Test("A test container of model classes serves the guide's main-actor type")
  @MainActor
  func runtimeContainer() throws {
// printed
let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Item.self, Tag.self)
// end
    let viewModel = ItemViewModel(modelContainer: container)
    try viewModel.createItem(timestamp: .distantPast)
    let items = try container.viewContext.fetch(Item.fetchRequest())
    #expect(items.map(\.timestamp) == [.distantPast])
  }

  @Test("The guide's pattern for assertions finds the item that the actor made")
  func assertions() async throws {
// printed
let stack = try TestStack()
let handler = DataHandler(container: stack.container, viewName: "test")

_ = try await handler.createItem(timestamp: .now)

let count = try await handler.withContext { context in
  let request = Item.fetchRequest()
  return try context.fetch(request).count
}

#expect(count == 1)
// end
  }

  @Test("The guide's mutation method changes the item of an ID")
  func mutation() async throws {
    let container = try TestStack().container
    let itemID = try await ItemStore(container: container).createItem(timestamp: .distantPast)
    let store = ActorGuide.Conveniences(container: container)
// printed
try await store.updateTimestamp(id: itemID, to: .now)
// end
    #expect(try await store.timestamp(itemID)! > .distantPast)
  }

  @Test("An actor made from a domain in one expression saves through it")
  @MainActor
  func observing() async throws {
    let container = try TestStack().container
    let generated = ActorGuide.Generated.writer(container)
    let byHand = ActorGuide.Observing.ItemStore(observationDomain: CDEObservationDomain(container: container))
    for (index, context) in [generated.modelExecutor.context, byHand.modelExecutor.context].enumerated() {
      let count = try await context.perform {
        _ = Item(context: context)
        try context.save()
        return try context.count(for: Item.fetchRequest())
      }
      #expect(count == index + 1)
    }
    #expect(ActorGuide.Generated.context(container) === container.viewContext)
  }
}
