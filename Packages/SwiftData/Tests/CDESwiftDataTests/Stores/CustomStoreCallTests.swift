@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

/// What a container asks of the stores of an application's own.
@Suite("Calls of custom stores")
struct CustomStoreCallTests {
  private func served() throws -> (Service, ModelContainer) {
    let service = Service()
    let container = try ModelContainer(
      for: Writer.self, Novel.self, Desk.self, Drawer.self,
      configurations: ServerConfiguration(service: service))
    let context = ModelContext(container)
    for name in ["Ann", "Bob"] {
      let writer = Writer(name)
      writer.novels = [Novel("\(name) 1"), Novel("\(name) 2")]
      context.insert(writer)
    }
    let desk = Desk("oak")
    desk.drawers = [Drawer("top"), Drawer("low")]
    context.insert(desk)
    try context.save()
    service.forgetRequests()
    return (service, container)
  }

  /// The same service in another process.
  private func again(_ service: Service) throws -> ModelContainer {
    try ModelContainer(
      for: Writer.self, Novel.self, Desk.self, Drawer.self,
      configurations: ServerConfiguration(service: service))
  }

  @Test("A save is one call, and so is a fetch")
  func requests() throws {
    let (service, container) = try served()
    let context = ModelContext(container)
    let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
    #expect(writers.map(\.name) == ["Ann", "Bob"])
    #expect(service.requests == ["GET /Writer"])
    writers[0].name = "Amy"
    writers[1].novels.append(Novel("Bob 3"))
    service.forgetRequests()
    try context.save()
    // Both sides of the new relationship are written.
    #expect(service.requests == ["PUT 3"])
    try context.save()
    #expect(service.requests == ["PUT 3"])
  }

  @Test("Related models are read when they are used, together and once")
  func faulting() throws {
    let (service, _) = try served()
    let context = ModelContext(try again(service))
    let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
    #expect(service.requests == ["GET /Writer"])
    service.forgetRequests()
    #expect(writers[0].novels.map(\.title).sorted() == ["Ann 1", "Ann 2"])
    #expect(service.requests == ["GET /Novel?keys=2"])
    #expect(writers[0].novels.allSatisfy { $0.writer === writers[0] })
    #expect(service.requests.count == 1)
    let desk = try #require(try context.fetch(FetchDescriptor<Desk>()).first)
    service.forgetRequests()
    #expect(desk.drawers.map(\.label).sorted() == ["low", "top"])
    #expect(service.requests == ["GET /Drawer?keys=2"])
  }

  @Test("A model is read by its identifier alone, and one that is gone reads as defaults")
  func identifiers() throws {
    let (service, container) = try served()
    let ids = try ModelContext(container).fetchIdentifiers(
      FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)]))
    let stored = try JSONDecoder().decode(
      [PersistentIdentifier].self, from: JSONEncoder().encode(ids))
    let context = ModelContext(try again(service))
    service.forgetRequests()
    let novel = try #require(context.model(for: stored[2]) as? Novel)
    #expect(service.requests.isEmpty && novel.persistentModelID == stored[2])
    #expect(novel.title == "Bob 1" && novel.writer?.name == "Bob")
    #expect(service.requests == ["GET /Novel?keys=1", "GET /Writer?keys=1"])
    #expect(context.registeredModel(for: stored[2]) as Novel? === novel)
    #expect(context.registeredModel(for: stored[0]) as Novel? == nil)
    service.drop("Novel")
    let gone = try #require(context.model(for: stored[0]) as? Novel)
    #expect(gone.title == "")
    #expect(try context.fetch(FetchDescriptor<Novel>()).isEmpty)
    #expect(novel.modelContext == nil)
  }

  @Test("What another client changes arrives with the next fetch, and wakes the readers of what changed")
  func others() throws {
    let (service, container) = try served()
    let context = ModelContext(container)
    let novels = try context.fetch(FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)]))
    let (title, pages) = (Wakes { _ = novels[0].title }, Wakes { _ = novels[0].pages })
    try service.change("Novel") { $0["pages"] = 7 }
    #expect(novels[0].pages == 100)
    #expect(try context.fetch(FetchDescriptor<Novel>()).allSatisfy { $0.pages == 100 || $0.pages == 7 })
    _ = try context.fetchCount(FetchDescriptor<Writer>())
    #expect(novels.allSatisfy { $0.pages == 7 })
    #expect(pages.count == 1 && title.count == 0)
    novels[1].title = "mine"
    try service.change("Novel") { $0["title"] = "theirs" }
    _ = try context.fetch(FetchDescriptor<Novel>())
    context.processPendingChanges()
    #expect(novels[1].title == "mine")
    context.rollback()
    service.drop("Novel")
    _ = try context.fetch(FetchDescriptor<Novel>())
    let writers = try context.fetch(FetchDescriptor<Writer>())
    #expect(novels.allSatisfy { $0.modelContext == nil } && writers.allSatisfy { $0.novels.isEmpty })
  }

  @Test("An error of the store is the error of the call, and nothing is lost")
  func errors() throws {
    let (service, container) = try served()
    let context = ModelContext(container)
    let ann = try #require(try context.fetch(FetchDescriptor<Writer>()).first { $0.name == "Ann" })
    let failure = Service.Failure(reason: "The service is away.")
    service.fail(failure)
    ann.name = "Amy"
    context.insert(Writer("New"))
    #expect(throws: failure) { try context.save() }
    #expect(context.hasChanges && ann.name == "Amy")
    #expect(
      context.insertedModelsArray.count == 1
        && context.insertedModelsArray[0].persistentModelID.storeIdentifier == nil)
    #expect(throws: failure) { try context.fetch(FetchDescriptor<Novel>()) }
    #expect(throws: failure) { try context.fetchCount(FetchDescriptor<Novel>()) }
    service.fail(nil)
    context.rollback()
    ann.name = "Amy"
    context.insert(Writer("New"))
    try context.save()
    let names = try ModelContext(container).fetch(FetchDescriptor<Writer>()).map(\.name).sorted()
    #expect(names == ["Amy", "Bob", "New"])
  }

  @Test("Two contexts that change one model: the last save wins by property, as over rows")
  func conflicts() throws {
    let (_, container) = try served()
    let (first, second) = (ModelContext(container), ModelContext(container))
    let title = #Predicate<Novel> { $0.title == "Ann 1" }
    let mine = try #require(try first.fetch(FetchDescriptor(predicate: title)).first)
    let theirs = try #require(try second.fetch(FetchDescriptor(predicate: title)).first)
    mine.pages = 1
    theirs.rating = 2
    try first.save()
    try second.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor(predicate: title)).first)
    #expect(read.pages == 1 && read.rating == 2)
  }

  @Test("A store that filters and sorts is asked with the whole descriptor")
  func descriptors() throws {
    let configuration = RelayConfiguration()
    let container = try ModelContainer(for: Writer.self, Novel.self, configurations: configuration)
    let context = ModelContext(container)
    context.author = "importer"
    let ann = Writer("Ann")
    ann.novels = [Novel("One", pages: 1), Novel("Two", pages: 2)]
    context.insert(ann)
    try context.save()
    #expect(configuration.log.all == ["save 3 0 0 by importer"])
    configuration.log.clear()
    let descriptor = FetchDescriptor(
      predicate: #Predicate<Novel> { $0.writer?.name == "Ann" },
      sortBy: [SortDescriptor(\Novel.title, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.title) == ["Two", "One"])
    #expect(try context.fetchCount(descriptor) == 2)
    #expect(try context.fetchIdentifiers(descriptor) == context.fetch(descriptor).map(\.persistentModelID))
    #expect(
      configuration.log.all.sorted() == [
        "count Novel by importer", "fetch Novel by importer", "fetch Novel by importer",
        "identifiers Novel by importer",
      ])
    configuration.log.clear()
    ann.novels[0].pages = 5
    try context.save()
    context.delete(ann)
    try context.save()
    #expect(configuration.log.all == ["save 0 1 0 by importer", "save 0 0 3 by importer"])
  }

  @Test("A store that deletes by conditions does so at once, and contexts lose the models")
  func batches() throws {
    let configuration = RelayConfiguration()
    let container = try ModelContainer(for: Writer.self, Novel.self, configurations: configuration)
    let context = ModelContext(container)
    let ann = Writer("Ann")
    ann.novels = [Novel("One", pages: 1), Novel("Two", pages: 2)]
    context.insert(ann)
    try context.save()
    configuration.log.clear()
    try context.delete(model: Novel.self, where: #Predicate { $0.pages > 1 })
    #expect(configuration.log.all.first == "delete Novel" && !context.hasChanges)
    #expect(ann.novels.map(\.title) == ["One"])
    try context.delete(model: Writer.self)
    // The store cascades.
    #expect(ann.modelContext == nil)
    #expect(try context.fetchCount(FetchDescriptor<Novel>()) == 0)
  }

  @Test("A store without deletions by conditions gets them with the next save")
  func refusedBatches() throws {
    var configuration = RelayConfiguration()
    configuration.refusesBatches = true
    let container = try ModelContainer(for: Writer.self, Novel.self, configurations: configuration)
    let context = ModelContext(container)
    for pages in 1...3 { context.insert(Novel("\(pages)", pages: pages)) }
    try context.save()
    try context.delete(model: Novel.self, where: #Predicate { $0.pages > 1 })
    #expect(context.deletedModelsArray.count == 2)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Novel>()) == 3)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Novel>()) == 1)
  }

  @Test("One container has a custom store beside one of rows, and a save writes both or none")
  func mixed() throws {
    let service = Service()
    let file = ProcessFolder.newURL("rows").appendingPathExtension("store")
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema([Writer.self, Novel.self, Desk.self, Drawer.self]),
        configurations: ServerConfiguration(schema: Schema([Writer.self, Novel.self]), service: service),
        ModelConfiguration("rows", schema: Schema([Desk.self, Drawer.self]), url: file))
    }
    let container = try open()
    #expect(container.configurations.map(\.name) == ["rows"])
    let context = ModelContext(container)
    context.insert(Writer("Ann"))
    context.insert(Desk("oak"))
    try context.save()
    #expect(service.requests == ["PUT 1"])
    let failure = Service.Failure(reason: "The service is away.")
    context.insert(Writer("Bob"))
    context.insert(Desk("ash"))
    service.fail(failure)
    #expect(throws: failure) { try context.save() }
    #expect(context.insertedModelsArray.count == 2)
    #expect(try ModelContext(container).fetch(FetchDescriptor<Desk>()).map(\.name) == ["oak"])
    service.fail(nil)
    try context.save()
    let second = ModelContext(try open())
    #expect(try second.fetch(FetchDescriptor<Writer>()).map(\.name).sorted() == ["Ann", "Bob"])
    #expect(try second.fetch(FetchDescriptor<Desk>()).map(\.name).sorted() == ["ash", "oak"])
  }

  @Test("Several actors work over one store at a time")
  func actors() async throws {
    let (service, container) = try served()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          let context = ModelContext(container)
          for index in 0..<10 {
            context.insert(Writer("\(worker)-\(index)"))
            try context.save()
            _ = try context.fetchCount(FetchDescriptor<Writer>())
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try ModelContext(try again(service)).fetchCount(FetchDescriptor<Writer>()) == 42)
  }

  @Test("A store that keeps temporary identifiers of its own snapshots is understood in its process")
  func temporary() throws {
    let container = try OwnStore.json.container(Writer.self, Novel.self)
    let context = ModelContext(container)
    let ann = Writer("Ann")
    ann.novels = [Novel("One")]
    context.insert(ann)
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Novel>()).first?.writer?.name == "Ann")
  }
}
