// swift-format-ignore-file
// What is printed stays as it was printed.
import CoreDataEvolution
import Testing

// The examples of CoreDataEvolution's earlier README. Its `makeTest` did not throw yet; ours wants a `try`.

enum ActorReadme {
  enum Plain {
// printed
@NSModelActor
actor DataHandler {
    func updateItem(identifier: NSManagedObjectID, timestamp: Date) throws {
        guard let item = self[identifier, as: Item.self] else {
            throw MyError.objectNotExist
        }
        item.timestamp = timestamp
        try modelContext.save()
    }
}
// end
  }

// printed
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
// end

  enum Main {
// printed
@MainActor
@NSMainModelActor
final class DataHandler {
    func updateItem(identifier: NSManagedObjectID, timestamp: Date) throws {
        guard let item = self[identifier, as: Item.self] else {
            throw MyError.objectNotExist
        }
        item.timestamp = timestamp
        try modelContext.save()
    }
}
// end
  }

  @NSModelActor
  actor Touching {
    func touch(_ objectID: NSManagedObjectID) throws {
// printed
// Inside an actor method
guard let item = self[objectID, as: Item.self] else {
    throw MyError.objectNotFound
}
item.timestamp = .now
try modelContext.save()
// end
    }
  }

  struct OneContainer {
    typealias DataHandler = Plain.DataHandler
// printed
@Test func createItem() async throws {
    // testName defaults to #function — each test gets its own store
// end
    let container = try
// printed
    NSPersistentContainer.makeTest(model: MySchema.objectModel)
    let handler = DataHandler(container: container)
// end
    let id = try await handler.withContext { context in
      let item = Item(context: context)
      try context.save()
      return item.objectID
    }
    try await handler.updateItem(identifier: id, timestamp: .distantPast)
    let timestamp = try await handler.withContext { try ($0.existingObject(with: id) as? Item)?.timestamp }
    #expect(timestamp == .distantPast)
}
  }
}

@Suite("Examples of the earlier README")
struct ActorReadmeTests {
  @Test("What the README checks after a write holds")
  func withContext() async throws {
    let container = try TestStack().container
    let handler = ActorReadme.DataHandler(container: container, viewName: "test")
    let id = try await handler.createNemItem(.distantPast)
// printed
// Verify state after a write — single-context overload
try await handler.withContext { context in
    let request = Item.fetchRequest()
    let items = try context.fetch(request)
    #expect(items.count == 1)
}

// Access both context and container — useful for cross-context verification
try await handler.withContext { context, container in
    let verificationContext = container.newBackgroundContext()
    let request = Item.fetchRequest()
    let items = try verificationContext.fetch(request)
    #expect(items.count == 1)
}
// end
    try await ActorReadme.Plain.DataHandler(container: container)
      .updateItem(identifier: id, timestamp: .distantFuture)
    try await ActorReadme.Touching(container: container).touch(id)
    try await MainActor.run {
      let main = ActorReadme.Main.DataHandler(modelContainer: container)
      #expect(main[id, as: Item.self]!.timestamp! < .distantFuture)
      try main.updateItem(identifier: id, timestamp: .distantPast)
      #expect(main[id, as: Item.self]?.timestamp == .distantPast)
    }
  }
}
