import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: identity and identifiers")
struct IdentityBehaviour {
  @Test("An identifier is temporary before the first save, and names the row after it", .tags(.documented))
  func temporary() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    let before = novel.persistentModelID
    #expect(before.storeIdentifier == nil && before.entityName == "Novel")
    try context.save()
    let after = novel.persistentModelID
    #expect(after != before && after.storeIdentifier != nil && after.entityName == "Novel")
  }

  @Test("An identifier stays the same over later saves", .tags(.documented))
  func stable() throws {
    let (context, writer) = try Shelf.filled()
    let id = writer.persistentModelID
    writer.name = "Bea"
    try context.save()
    #expect(writer.persistentModelID == id)
  }

  @Test("The id of a model is its persistent identifier", .tags(.documented))
  func identifiable() throws {
    let (context, writer) = try Shelf.filled()
    #expect(writer.id == writer.persistentModelID && writer.modelContext === context)
    #expect(Set(writer.novels.map(\.id)).count == 3)
  }

  @Test("A fetch returns the instances that the context has", .tags(.documented))
  func oneInstance() throws {
    let (context, writer) = try Shelf.filled()
    #expect(try context.all(Writer.self).first === writer)
    #expect(try context.all(Novel.self).allSatisfy { $0.writer === writer })
  }

  @Test("A temporary identifier finds the model in its context until the save", .tags(.documented))
  func temporaryIdentifier() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    let before = novel.persistentModelID
    let registered: Novel? = context.registeredModel(for: before)
    #expect(context.model(for: before) as? Novel === novel && registered === novel)
    try context.save()
    let stale: Novel? = context.registeredModel(for: before)
    #expect(stale == nil)
  }

  @Test("registeredModel gives what the context has, and nil for what it has not", .tags(.documented))
  func registered() throws {
    let (context, writer) = try Shelf.filled()
    let mine: Writer? = context.registeredModel(for: writer.persistentModelID)
    #expect(mine === writer)
    let none: Writer? = ModelContext(context.container).registeredModel(for: writer.persistentModelID)
    #expect(none == nil)
    let wrong: Novel? = context.registeredModel(for: writer.persistentModelID)
    #expect(wrong == nil)
  }

  @Test("model(for:) reads nothing until a property is used", .tags(.documented))
  func fault() throws {
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    let found = try other.same(writer)
    let same: Writer? = other.registeredModel(for: writer.persistentModelID)
    #expect(same === found && found.name == "Ann" && found.novels.count == 3)
  }

  @Test(
    "Identifiers are equal across contexts, and order as they were given", .tags(.documented),
    .enabled(if: OwnStore.underTest == nil, "A store of one's own chooses its keys."))
  func values() throws {
    let (context, writer) = try Shelf.filled()
    let other = try ModelContext(context.container).all(Writer.self)[0]
    #expect(other !== writer && other.persistentModelID == writer.persistentModelID)
    let ids = try context.all(Novel.self).map(\.persistentModelID)
    #expect(ids == ids.sorted() && Set(ids).count == 3)
  }

  @Test("An identifier survives encoding, and finds the row again", .tags(.documented))
  func coding() throws {
    let (context, writer) = try Shelf.filled()
    let data = try JSONEncoder().encode([writer.persistentModelID])
    let ids = try JSONDecoder().decode([PersistentIdentifier].self, from: data)
    #expect(ids == [writer.persistentModelID])
    let found = ModelContext(context.container).model(for: ids[0]) as? Writer
    #expect(found?.name == "Ann")
  }

  @Test("An identifier crosses to another task, and the model does not", .tags(.documented))
  func sending() async throws {
    let (context, writer) = try Shelf.filled()
    let (container, id) = (context.container, writer.persistentModelID)
    let name = await Task.detached {
      (ModelContext(container).model(for: id) as? Writer)?.name
    }.value
    #expect(name == "Ann")
  }

  @Test("A model with an id of its own keeps its persistent identifier besides", .tags(.widelyKnown))
  func ownID() throws {
    let profile = Profile("Rome")
    #expect(type(of: profile.id) == PersistentIdentifier.self)
    let named = OwnID(id: "a")
    #expect(named.id == "a" && named.persistentModelID.entityName == "OwnID")
    let context = ModelContext(try .inMemory(OwnID.self))
    context.insert(named)
    try context.save()
    let wanted = "a"
    #expect(
      try context.fetch(FetchDescriptor<OwnID>(predicate: #Predicate { $0.id == wanted })).first === named)
  }

  @Test("A set of models finds its members after the save", .tags(.widelyKnown))
  func hashing() throws {
    let context = try Shelf.context()
    let novels = (0..<5).map { Novel("\($0)") }
    let set = Set(novels)
    for novel in novels { context.insert(novel) }
    try context.save()
    #expect(novels.allSatisfy(set.contains))
  }

  @Test("The identifier of a deleted row reads as a model without values, and is no row", .tags(.decided))
  func gone() throws {
    let (context, writer) = try Shelf.filled()
    let id = writer.novels[0].persistentModelID
    context.delete(writer.novels[0])
    try context.save()
    let other = ModelContext(context.container)
    let ghost = other.model(for: id) as? Novel
    #expect(ghost?.isDeleted == true && ghost?.title == "")
    let present = other.model(for: writer.persistentModelID)
    #expect(!present.isDeleted)
    #expect(
      try other.fetchCount(FetchDescriptor<Novel>(predicate: #Predicate { $0.persistentModelID == id })) == 0)
  }
}

@Model
final class OwnID {
  @Attribute(.unique) var id: String
  init(id: String) { self.id = id }
}
