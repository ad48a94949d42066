import CDEDatabases
import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

enum Kind: CaseIterable {
  case actor, background, shared, impatient

  func make() throws -> any Database {
    let container = try Library.container()
    switch self {
    case .actor: return ModelActorDatabase(modelContainer: container)
    case .background: return BackgroundDatabase(modelContainer: container)
    case .shared: return SharedDatabase(modelContainer: container)
    case .impatient:
      return ModelActorDatabase(modelContainer: container).with(DatabasePolicy(timeout: .seconds(60)))
    }
  }
}

@Suite("Every database")
struct DatabaseTests {
  @Test("The changes of a model that the container does not have are an error")
  func changesOfUnknownModel() async throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Heap.self, Pebble.self)
    let container = NSPersistentContainer(name: "Heaps", managedObjectModel: model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, _ in }
    let error = await #expect(throws: ManagedObjectError.self) {
      _ = try await BackgroundDatabase(modelContainer: container).changes(of: Item.self)
    }
    #expect(error?.code == .unknownEntity)
  }

  @Test(
    "A closure that reads can neither save nor execute a batch request, with and without unsaved changes of the writer"
  )
  func readsRefuseWrites() async throws {
    let database = BackgroundDatabase(modelContainer: try Library.container())
    try await database.insert(Item.self) { $0.title = "a" }
    func check(changing: Bool) async throws {
      await #expect(throws: (any Error).self) {
        try await database.fetch(FetchDescriptor<Item>()) { item in
          if changing { item.title = "b" }
          try item.managedObjectContext?.save()
        }
      }
      await #expect(throws: (any Error).self) {
        try await database.fetch(FetchDescriptor<Item>()) { item in
          _ = try item.managedObjectContext?.execute(
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
        }
      }
      #expect(try await database.fetch(Item.self).map(\.title) == ["a"])
    }
    try await check(changing: true)
    try await database.withContext { Pebble(context: $0).name = "unsaved" }
    try await check(changing: false)
    try await database.save()
    #expect(try await database.count(Pebble.self) == 1)
  }

  @Test("A transaction whose closure has saved is not repeated after a conflict, and says that it has saved")
  func partlySaved() async throws {
    let container = try Library.container()
    let database = BackgroundDatabase(modelContainer: container)
    let handle = try await database.insert(Item.self) { $0.title = "a" }
    let error = await #expect(throws: DatabaseError.self) {
      try await database.transaction { context in
        Pebble(context: context).name = "kept"
        try context.save()
        let item = try context.object(for: handle)
        item.title += "b"
        let other = container.newBackgroundContext()
        try other.performAndWait {
          try other.object(for: handle).title = "c"
          try other.save()
        }
      }
    }
    #expect(error?.code == .partlySaved)
    #expect((error?.cause as? ManagedObjectError)?.code == .saveConflict)
    #expect(try await database.count(Pebble.self) == 1)
    #expect(try await database.fetch(Item.self).map(\.title) == ["c"])
  }

  @Test("Inserts, fetches, counts, updates and deletes by handle", arguments: Kind.allCases)
  func calls(kind: Kind) async throws {
    let database = try kind.make()
    let milk = try await database.insert(Item.self) { $0.title = "Milk" }
    let more = try await database.insert(Item.self, for: ["Tea", "Salt"]) { $0.title = $1 }
    #expect(more.count == 2)
    #expect(try await database.count(Item.self) == 3)
    let sorted = try await database.fetch(Item.self, sortBy: [SortDescriptor(\.title)])
    #expect(sorted.map(\.title) == ["Milk", "Salt", "Tea"])
    #expect(sorted[0].handle == milk)
    let found = try await database.fetch(#Predicate<Item> { $0.title == "Tea" })
    #expect(found.map(\.handle) == [more[0]])
    #expect(try await database.fetchOne(#Predicate<Item> { $0.title == "Salt" })?.handle == more[1])
    let lengths = try await database.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)])) {
      $0.title.count
    }
    #expect(lengths == [4, 4, 3])
    #expect(try await database.exists(#Predicate<Item> { $0.title == "Tea" }))
    let rank = try await database.update(milk) { item -> Int in
      item.rank += 7
      return item.rank
    }
    #expect(rank == 7)
    #expect(try await database.fetchOne(milk)?.rank == 7)
    try await database.delete(milk)
    #expect(try await database.fetchOne(milk) == nil)
    #expect(try await !database.exists(milk))
    #expect(try await database.delete(model: Item.self, where: #Predicate { $0.title == "Tea" }) == 1)
    #expect(try await database.fetchHandles(FetchDescriptor<Item>()) == [more[1]])
    #expect(try await database.delete(where: Optional<Predicate<Item>>.none) == 1)
    #expect(try await !database.exists(FetchDescriptor<Item>()))
  }

  @Test("Deleting or changing what is gone is an error that says so", arguments: Kind.allCases)
  func gone(kind: Kind) async throws {
    let database = try kind.make()
    let handle = try await database.insert(Item.self) { _ in }
    try await database.delete(handle)
    for attempt in 0..<2 {
      let error = await #expect(throws: ManagedObjectError.self) {
        if attempt == 0 {
          try await database.delete(handle)
        } else {
          try await database.update(handle) { _ in }
        }
      }
      #expect(error?.code == .objectNotFound)
    }
  }

  @Test("A handle of another store's object is an error that names it")
  func foreign() async throws {
    let handle = try await Kind.actor.make().insert(Item.self) { _ in }
    let error = await #expect(throws: ManagedObjectError.self) { try await Kind.actor.make().delete(handle) }
    #expect(error?.code == .objectNotFound)
    #expect(error?.message.contains("a store that this context does not have") == true)
  }

  @Test("An object of another context is deleted through its handle; one never saved is an error")
  @MainActor func deleteObject() async throws {
    let container = try Library.container()
    let database = BackgroundDatabase(modelContainer: container)
    let context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    let item = Item(context: context)
    let error = await #expect(throws: ManagedObjectError.self) { try await database.delete(item) }
    #expect(error?.code == .unsavedObject)
    try context.save()
    try await database.delete(item)
    #expect(try await database.count(Item.self) == 0)
  }

  @Test(
    "A transaction that throws leaves nothing, and what was unsaved before stays", arguments: Kind.allCases)
  func transactions(kind: Kind) async throws {
    let database = try kind.make()
    try await database.withContext { Item(context: $0).title = "unsaved" }
    await #expect(throws: Refusal.self) {
      try await database.transaction { context in
        Item(context: context).title = "refused"
        throw Refusal()
      }
    }
    try await database.transaction { Item(context: $0).title = "kept" }
    let titles = try await database.fetch(Item.self, sortBy: [SortDescriptor(\.title)]).map(\.title)
    #expect(titles == ["kept", "unsaved"])
  }

  @Test("Unsaved changes are seen by the database's own reads, by no one else until saved")
  func unsaved() async throws {
    let container = try Library.container()
    let database = ModelActorDatabase(modelContainer: container)
    let other = ModelActorDatabase(modelContainer: container)
    try await database.withContext { Item(context: $0).title = "new" }
    #expect(try await database.count(Item.self) == 1)
    #expect(try await other.count(Item.self) == 0)
    try await database.save()
    #expect(try await other.count(Item.self) == 1)
    try await database.withContext { _ = Item(context: $0) }
    try await database.rollback()
    #expect(try await database.count(Item.self) == 1)
    await #expect(throws: Refusal.self) {
      try await database.withContext { context -> Void in
        _ = Item(context: context)
        throw Refusal()
      }
    }
    #expect(try await database.count(Item.self) == 1)
  }

  @Test("A read that changes objects is an error, and leaves nothing")
  func changesInRead() async throws {
    let database = try Kind.actor.make()
    let error = await #expect(throws: DatabaseError.self) {
      try await database.read { context in Item(context: context).title = "no" }
    }
    #expect(error?.code == .changesInRead)
    try await database.save()
    #expect(try await database.count(Item.self) == 0)
  }

  @Test("What can't be saved is named, and keeps later transactions from starting until it is taken back")
  func unsavable() async throws {
    let container = try Library.container()
    let database = ModelActorDatabase(modelContainer: container)
    try await database.insert(Tag.self) { $0.name = "a" }
    try await database.withContext { Tag(context: $0).name = "a" }
    let error = await #expect(throws: DatabaseError.self) { try await database.insert(Item.self) { _ in } }
    #expect(error?.code == .unsavedChanges)
    #expect((error?.cause as? ManagedObjectError)?.code == .uniquenessConflict)
    try await database.rollback()
    try await database.insert(Item.self) { _ in }
    #expect(try await database.count(Tag.self) == 1)
  }

  @Test("Changes between snapshots are applied, or refused when the property was changed otherwise")
  func changes() async throws {
    let database = try Kind.background.make()
    let handle = try await database.insert(Item.self) { $0.title = "one" }
    let old = try #require(try await database.fetchOne(handle))
    try await database.update(handle) { $0.title = "two" }
    let new = try #require(try await database.fetchOne(handle))
    try await database.update(handle) { $0.title = "one" }
    #expect(try await database.apply(new.changes(since: old)) == ["title"])
    try await database.update(handle) { $0.title = "three" }
    let error = await #expect(throws: ManagedObjectError.self) {
      try await database.apply(new.changes(since: old))
    }
    #expect(error?.code == .changeConflict)
    #expect(try await database.fetchOne(handle)?.title == "three")
  }

  @Test("A cancelled caller's operation does not run")
  func cancellation() async throws {
    let database = try Kind.background.make()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await database.insert(Item.self) { _ in }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await database.count(Item.self) == 0)
  }
}

@Suite("Finding the database")
struct EnvironmentTests {
  @Test("Tasks inherit the database given around them")
  func environment() async throws {
    let database = try Kind.background.make()
    struct Importer {
      @CurrentDatabase var database
      func add() async throws { try await database.insert(Item.self) { _ in } }
    }
    try await withDatabase(database) {
      try await Importer().add()
      async let child: Void = Importer().add()
      try await child
      try await Task { try await Importer().add() }.value
    }
    #expect(try await database.count(Item.self) == 3)
  }

  #if DEBUG
    @Test("Without one, a debug build ends with what to do")
    func missing() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = try await DatabaseEnvironment.current.count(Item.self)
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("No database was set, so count can't run. Run the code inside withDatabase(_:)."))
    }
  #else
    @Test("Without one, a release build throws what to do")
    func missing() async {
      let error = await #expect(throws: NotImplementedError.self) {
        try await DatabaseEnvironment.current.count(Item.self)
      }
      #expect(error?.message.contains("Run the code inside withDatabase(_:).") == true)
    }
  #endif

  @Test("A shared database opens its store at the first use")
  func shared() async throws {
    let folder = ProcessFolder.newURL()
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = SharedDatabase(
      modelTypes: [Item.self, Tag.self], url: folder.appendingPathComponent("shared.sqlite"))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    async let first = database.insert(Item.self) { $0.title = "a" }
    async let second = database.insert(Item.self) { $0.title = "b" }
    _ = try await (first, second)
    #expect(try await database.count(Item.self) == 2)
    #expect(database.modelContainer.persistentStoreCoordinator.persistentStores.count == 1)
  }
}
