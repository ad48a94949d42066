import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: several contexts and containers")
struct MergingBehaviour {
  @Test("What one context saves, another context finds", .tags(.documented))
  func finding() throws {
    let (context, _) = try Shelf.filled()
    let other = ModelContext(context.container)
    #expect(try other.count(Novel.self) == 3)
    other.insert(Novel("Four"))
    #expect(try context.count(Novel.self) == 3)
    try other.save()
    #expect(try context.count(Novel.self) == 4)
  }

  @Test("Instances of one row in two contexts are two, each with its context", .tags(.documented))
  func instances() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    let theirs = try other.same(writer)
    #expect(theirs !== writer && theirs.modelContext === other && writer.modelContext === context)
  }

  @Test("A registered instance gets the values that another context saved", .tags(.documented))
  func values() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    try other.same(writer).name = "Bea"
    #expect(writer.name == "Ann")
    try other.save()
    _ = try context.count(Writer.self)
    #expect(writer.name == "Bea" && !context.hasChanges)
  }

  @Test("A registered relationship gets the members that another context saved", .tags(.widelyKnown))
  func members() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    let theirs = try other.same(writer)
    theirs.novels.append(Novel("Four"))
    theirs.novels.remove(at: 0)
    try other.save()
    _ = try context.count(Writer.self)
    #expect(Set(writer.novels.map(\.title)) == ["Two", "Three", "Four"])
  }

  @Test("A row that another context deleted has no context here any more", .tags(.documented))
  func deletions() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    let other = ModelContext(context.container)
    other.delete(try other.same(novel))
    try other.save()
    #expect(try context.count(Novel.self) == 2)
    #expect(writer.novels.count == 2 && novel.modelContext == nil && novel.title == "One")
  }

  @Test("Unsaved changes win over what another context saved, property by property", .tags(.decided))
  func conflicts() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    novel.title = "Mine"
    let other = ModelContext(context.container)
    let theirs = try other.same(novel)
    theirs.title = "Theirs"
    theirs.pages = 77
    try other.save()
    try context.save()
    #expect(novel.title == "Mine" && novel.pages == 77)
    let fresh = try ModelContext(context.container).same(novel)
    #expect(fresh.title == "Mine" && fresh.pages == 77)
  }

  @Test("A model that another context deleted and this one changed is no crash at the save", .tags(.decided))
  func deletedAndChanged() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    novel.title = "Mine"
    let other = ModelContext(context.container)
    other.delete(try other.same(novel))
    try other.save()
    try? context.save()
    context.rollback()
    #expect(try ModelContext(context.container).count(Novel.self) == 2)
  }

  @Test("Inserting a model of another context leaves it there", .tags(.decided))
  func foreign() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    other.insert(writer)
    #expect(writer.modelContext === context && !other.hasChanges)
  }

  @Test("Deleting a model of another context deletes this context's instance of the row", .tags(.decided))
  func foreignDelete() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    other.delete(writer.novels[0])
    try other.save()
    #expect(try context.count(Novel.self) == 2)
  }

  @Test("Containers in memory share nothing", .tags(.documented))
  func memory() throws {
    let (context, _) = try Shelf.filled()
    #expect(try ModelContext(Shelf.container()).count(Novel.self) == 0)
    #expect(try context.count(Novel.self) == 3)
  }

  @Test("Two containers of one file see each other's saves", .tags(.widelyKnown))
  func oneFile() throws {
    let store = try TemporaryStore()
    func open() throws -> ModelContext {
      ModelContext(
        try ModelContainer(for: Writer.self, configurations: ModelConfiguration(url: store.url)))
    }
    let (one, two) = (try open(), try open())
    one.insert(Writer("Ann"))
    try one.save()
    #expect(try two.all(Writer.self).map(\.name) == ["Ann"])
  }

  @Test("A context keeps its container's stores, and knows the container", .tags(.documented))
  func container() throws {
    let (context, writer) = try Shelf.filled()
    #expect(writer.modelContext?.container == context.container)
    #expect(try ModelContext(context.container).count(Writer.self) == 1)
  }

  @Test("A container reaches the classes that its classes are related to", .tags(.documented))
  func reached() throws {
    let context = ModelContext(try .inMemory(Writer.self))
    #expect(Set(context.container.schema.entities.map(\.name)).isSuperset(of: ["Writer", "Novel", "Genre"]))
    context.insert(Genre("Crime"))
    try context.save()
    #expect(try context.count(Genre.self) == 1)
  }

  @Test("Classes are divided between the stores of two configurations", .tags(.documented))
  func configurations() throws {
    let schema = Schema([Desk.self, Seat.self])
    let container = try ModelContainer(
      for: schema,
      configurations: [
        ModelConfiguration("desks", schema: Schema([Desk.self]), isStoredInMemoryOnly: true),
        ModelConfiguration("seats", schema: Schema([Seat.self]), isStoredInMemoryOnly: true),
      ])
    let context = ModelContext(container)
    let (desk, seat) = (Desk("Oak"), Seat("A", 1, guest: "Ann"))
    context.insert(desk)
    context.insert(seat)
    try context.save()
    #expect(desk.persistentModelID.storeIdentifier != seat.persistentModelID.storeIdentifier)
    #expect(try context.count(Desk.self) == 1)
  }

  @Test("The main context is one, however often it is asked for", .tags(.documented))
  @MainActor
  func mainContext() throws {
    let container = try Shelf.container()
    #expect(container.mainContext === container.mainContext)
  }
}
