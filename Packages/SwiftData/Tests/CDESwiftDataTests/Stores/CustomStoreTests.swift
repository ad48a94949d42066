@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

/// What a context does over stores of an application's own.
@Suite("Custom stores")
struct CustomStoreTests {
  private func filled(_ store: OwnStore) throws -> ModelContainer {
    let container = try store.container(Writer.self, Novel.self, Genre.self, Imprint.self, Borrowing.self)
    let context = ModelContext(container)
    let ann = Writer("Ann")
    for (title, pages) in [("One", 100), ("Two", 200), ("Three", 300)] {
      ann.novels.append(Novel(title, pages: pages))
    }
    context.insert(ann)
    context.insert(Novel("Loose", pages: 50))
    let genres = ["epic", "noir"].map { Genre($0) }
    ann.novels[0].genres = genres
    ann.novels[1].genres = [genres[0]]
    try context.save()
    return container
  }

  private func titles(_ novels: [Novel]) -> [String] { novels.map(\.title).sorted() }

  @Test(
    "Saved models are read by another context, with both sides of their relationships",
    arguments: OwnStore.allCases)
  func relationships(store: OwnStore) throws {
    let context = ModelContext(try filled(store))
    let writers = try context.fetch(FetchDescriptor<Writer>())
    #expect(writers.count == 1)
    let ann = try #require(writers.first)
    #expect(titles(ann.novels) == ["One", "Three", "Two"])
    #expect(ann.novels.allSatisfy { $0.writer === ann })
    let genres = try context.fetch(FetchDescriptor<Genre>(sortBy: [SortDescriptor(\.name)]))
    #expect(genres.map(\.name) == ["epic", "noir"])
    #expect(titles(genres[0].novels) == ["One", "Two"] && titles(genres[1].novels) == ["One"])
    let one = try #require(ann.novels.first { $0.title == "One" })
    #expect(one.genres.map(\.name).sorted() == ["epic", "noir"])
    let loose = try #require(try context.fetch(FetchDescriptor<Novel>()).first { $0.title == "Loose" })
    #expect(loose.writer == nil && loose.genres.isEmpty)
  }

  @Test("Predicates, orders, limits, offsets and counts are as over rows", arguments: OwnStore.allCases)
  func fetches(store: OwnStore) throws {
    let context = ModelContext(try filled(store))
    let long = #Predicate<Novel> { $0.pages >= 100 }
    var descriptor = FetchDescriptor(predicate: long, sortBy: [SortDescriptor(\Novel.pages, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.title) == ["Three", "Two", "One"])
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.title) == ["Three", "Two"])
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.title) == ["Two", "One"])
    #expect(try context.fetchCount(descriptor) == 2)
    #expect(try context.fetchCount(FetchDescriptor(predicate: long)) == 3)
    #expect(try context.fetchCount(FetchDescriptor<Novel>()) == 4)
    let ids = try context.fetchIdentifiers(descriptor)
    #expect(ids.count == 2 && ids.allSatisfy { $0.entityName == "Novel" && $0.storeIdentifier != nil })
    #expect(ids.compactMap { (context.model(for: $0) as? Novel)?.title } == ["Two", "One"])
    var paged = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)])
    paged.fetchOffset = 3
    #expect(try context.fetch(paged).map(\.title) == ["Two"])
    paged.fetchOffset = 9
    #expect(try context.fetch(paged).isEmpty)
    var unsorted = FetchDescriptor<Novel>()
    unsorted.fetchLimit = 3
    #expect(try context.fetch(unsorted).count == 3)
    unsorted.fetchOffset = 2
    #expect(try context.fetch(unsorted).count == 2)
    let ofAnn = #Predicate<Novel> { $0.writer?.name == "Ann" && $0.genres.contains { $0.name == "epic" } }
    #expect(titles(try context.fetch(FetchDescriptor(predicate: ofAnn))) == ["One", "Two"])
    let writer = try #require(try context.fetch(FetchDescriptor<Writer>()).first).persistentModelID
    let byID = #Predicate<Writer> { $0.persistentModelID == writer }
    #expect(try context.fetch(FetchDescriptor(predicate: byID)).map(\.name) == ["Ann"])
  }

  @Test(
    "Changes, deletions by every rule and their saves reach another context", arguments: OwnStore.allCases)
  func changes(store: OwnStore) throws {
    let container = try filled(store)
    let (first, second) = (ModelContext(container), ModelContext(container))
    let mine = try #require(try first.fetch(FetchDescriptor<Writer>()).first)
    let theirs = try #require(try second.fetch(FetchDescriptor<Writer>()).first)
    #expect(theirs.novels.count == 3)
    mine.name = "Bea"
    let two = try #require(mine.novels.first { $0.title == "Two" })
    two.writer = nil
    try first.save()
    _ = try second.fetch(FetchDescriptor<Writer>())
    #expect(theirs.name == "Bea" && titles(theirs.novels) == ["One", "Three"])
    first.delete(mine)
    try first.save()
    #expect(titles(try second.fetch(FetchDescriptor<Novel>())) == ["Loose", "Two"])
    #expect(try second.fetch(FetchDescriptor<Writer>()).isEmpty && theirs.modelContext == nil)
    let epic = try #require(try second.fetch(FetchDescriptor<Genre>()).first { $0.name == "epic" })
    #expect(titles(epic.novels) == ["Two"])
    let imprint = Imprint(code: "P", city: "Oslo")
    second.insert(imprint)
    imprint.novels = try second.fetch(FetchDescriptor<Novel>())
    try second.save()
    second.delete(imprint)
    #expect(throws: SwiftDataError.modelValidationFailure) { try second.save() }
    second.rollback()
    #expect(imprint.novels.count == 2 && !imprint.isDeleted)
    let fresh = ModelContext(container)
    #expect(try fresh.fetch(FetchDescriptor<Imprint>()).map(\.novels.count) == [2])
  }

  @Test("Unsaved changes count in fetches, and a rollback drops them", arguments: OwnStore.allCases)
  func pending(store: OwnStore) throws {
    let context = ModelContext(try filled(store))
    let novels = try context.fetch(FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.pages)]))
    novels[0].pages = 999
    context.delete(novels[1])
    context.insert(Novel("New", pages: 400))
    let long = #Predicate<Novel> { $0.pages >= 300 }
    var descriptor = FetchDescriptor(predicate: long, sortBy: [SortDescriptor(\Novel.pages)])
    #expect(try context.fetch(descriptor).map(\.title) == ["Three", "New", "Loose"])
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.title) == ["Three", "New"])
    #expect(try context.fetchCount(FetchDescriptor<Novel>()) == 4)
    descriptor.includePendingChanges = false
    descriptor.fetchLimit = nil
    #expect(try context.fetchCount(descriptor) == 1)
    context.rollback()
    #expect(novels[0].pages == 50)
    #expect(titles(try context.fetch(FetchDescriptor<Novel>())) == ["Loose", "One", "Three", "Two"])
  }

  @Test("Batches, enumerations and transactions work", arguments: OwnStore.allCases)
  func enumerations(store: OwnStore) throws {
    let container = try filled(store)
    let context = ModelContext(container)
    let all = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)])
    let batches = try context.fetch(all, batchSize: 2)
    #expect(batches.map(\.title) == ["Loose", "One", "Three", "Two"])
    #expect(try context.fetchIdentifiers(all, batchSize: 2).count == 4)
    var seen: [String] = []
    try context.enumerate(all, batchSize: 3) { seen.append($0.title) }
    #expect(seen == ["Loose", "One", "Three", "Two"])
    try context.transaction {
      for novel in batches { novel.pages += 1 }
      context.insert(Writer("Cy"))
    }
    let other = ModelContext(container)
    #expect(try other.fetch(all).map(\.pages) == [51, 101, 301, 201])
    #expect(try other.fetchCount(FetchDescriptor<Writer>()) == 2)
  }

  @Test("Several models are deleted by a condition", arguments: OwnStore.allCases)
  func deletions(store: OwnStore) throws {
    let container = try filled(store)
    let context = ModelContext(container)
    context.insert(Novel("Long", pages: 800))
    try context.delete(model: Novel.self, where: #Predicate { $0.pages >= 200 })
    try context.save()
    #expect(titles(try ModelContext(container).fetch(FetchDescriptor<Novel>())) == ["Loose", "One"])
    try context.delete(model: Novel.self)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Novel>()) == 0)
    let ann = try #require(try ModelContext(container).fetch(FetchDescriptor<Writer>()).first)
    #expect(ann.novels.isEmpty)
  }

  @Test("A second model with a unique value replaces the stored one", arguments: OwnStore.allCases)
  func unique(store: OwnStore) throws {
    let container = try filled(store)
    let context = ModelContext(container)
    context.insert(Genre("noir", weight: 7))
    try context.save()
    let genres = try ModelContext(container).fetch(FetchDescriptor<Genre>(sortBy: [SortDescriptor(\.name)]))
    #expect(genres.map(\.name) == ["epic", "noir"] && genres.map(\.weight) == [0, 7])
  }

  @Test("Values of every kind come back", arguments: OwnStore.allCases)
  func values(store: OwnStore) throws {
    let container = try store.container(Profile.self)
    let context = ModelContext(container)
    let profile = Profile("Oslo")
    profile.level = .gold
    profile.mood = .wild
    profile.second = Profile.Address(street: "Side", city: "Bergen", zip: "5003")
    profile.nicknames = ["a", "b"]
    profile.scores = ["x": 3]
    profile.photo = Data(repeating: 7, count: 5_000)
    profile.price = Decimal(string: "12.345")!
    profile.site = URL(string: "https://example.org/a?b=c")
    context.insert(profile)
    context.insert(Profile("Rome"))
    try context.save()
    let other = ModelContext(container)
    let rome = try #require(
      try other.fetch(FetchDescriptor<Profile>(predicate: #Predicate { $0.address.city == "Rome" })).first)
    #expect(rome.mood == nil && rome.second == nil && rome.photo == nil && rome.nicknames.isEmpty)
    let read = try #require(try other.fetch(FetchDescriptor<Profile>()).first { $0.address.city == "Oslo" })
    #expect(read.key == profile.key && read.level == .gold && read.mood == .wild)
    #expect(read.second == profile.second && read.nicknames == ["a", "b"] && read.scores == ["x": 3])
    #expect(read.photo == profile.photo && read.price == profile.price && read.site == profile.site)
  }

  @Test("Models of a hierarchy are found by each class above", arguments: OwnStore.allCases)
  func inheritance(store: OwnStore) throws {
    let container = try store.container(Artwork.self, Painting.self, Fresco.self)
    let context = ModelContext(container)
    context.insert(Artwork(title: "a"))
    context.insert(Painting(title: "b", width: 2))
    context.insert(Fresco(title: "c", width: 3, wall: "north"))
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Artwork>()).map(\.title).sorted() == ["a", "b", "c"])
    #expect(try other.fetch(FetchDescriptor<Painting>()).map(\.title).sorted() == ["b", "c"])
    #expect(try other.fetch(FetchDescriptor<Fresco>()).map(\.wall) == ["north"])
    #expect(try other.fetchCount(FetchDescriptor<Painting>()) == 2)
  }

  @Test("Erasing a container empties its store, and contexts lose their models", arguments: OwnStore.allCases)
  func erasing(store: OwnStore) throws {
    let container = try filled(store)
    let context = ModelContext(container)
    let ann = try #require(try context.fetch(FetchDescriptor<Writer>()).first)
    try container.erase()
    #expect(try context.fetch(FetchDescriptor<Writer>()).isEmpty)
    #expect(ann.modelContext == nil)
    context.insert(Writer("Dee"))
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Writer>()).map(\.name) == ["Dee"])
  }

  @Test("The main context saves by itself over a custom store", arguments: OwnStore.allCases)
  @MainActor
  func autosaving(store: OwnStore) async throws {
    let container = try store.container(Writer.self, Novel.self)
    let context = container.mainContext
    #expect(context.autosaveEnabled)
    context.insert(Writer("Eve"))
    context.processPendingChanges()
    while context.hasChanges { await Task.yield() }
    #expect(try ModelContext(container).fetch(FetchDescriptor<Writer>()).map(\.name) == ["Eve"])
  }
}
