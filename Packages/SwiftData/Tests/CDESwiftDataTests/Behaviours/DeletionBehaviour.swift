import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: deletion and delete rules")
struct DeletionBehaviour {
  @Test("A deleted model is deleted until the save, and has no context after it", .tags(.documented))
  func states() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    context.delete(novel)
    #expect(novel.isDeleted && novel.modelContext === context && context.hasChanges)
    #expect(context.deletedModelsArray.first as? Novel === novel)
    try context.save()
    #expect(!novel.isDeleted && novel.modelContext == nil && !context.hasChanges)
  }

  @Test("The values of a deleted model can be read after the save", .tags(.decided))
  func lastValues() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    context.delete(novel)
    try context.save()
    #expect(novel.title == "One" && novel.pages == 100)
  }

  @Test("A fetch does not return a model whose deletion is pending", .tags(.documented))
  func pending() throws {
    let (context, writer) = try Shelf.filled()
    context.delete(writer.novels[0])
    #expect(try context.all(Novel.self).map(\.title).sorted() == ["Three", "Two"])
    #expect(try context.count(Novel.self) == 2)
    #expect(try context.fetchIdentifiers(FetchDescriptor<Novel>()).count == 2)
  }

  @Test("Cascade deletes the related models, by the save at the latest", .tags(.documented))
  func cascade() throws {
    let (context, writer) = try Shelf.filled()
    context.delete(writer)
    try context.save()
    #expect(try context.count(Novel.self) == 0)
    #expect(try context.count(Writer.self) == 0)
  }

  @Test("Cascade deletes related models that were never saved", .tags(.widelyKnown))
  func cascadeToNew() throws {
    let (context, writer) = try Shelf.filled()
    writer.novels.append(Novel("New"))
    context.delete(writer)
    try context.save()
    #expect(try context.count(Novel.self) == 0)
  }

  @Test("Nullify, the default rule, keeps the related models without it", .tags(.documented))
  func nullify() throws {
    let (context, writer) = try Shelf.filled()
    let crime = Genre("Crime")
    writer.novels[0].genres = [crime]
    try context.save()
    context.delete(crime)
    try context.save()
    #expect(writer.novels[0].genres.isEmpty)
    #expect(try context.count(Novel.self) == 3)
  }

  @Test("A deleted member is out of the array of the other side", .tags(.documented))
  func outOfArray() throws {
    let (context, writer) = try Shelf.filled()
    context.delete(writer.novels[1])
    try context.save()
    #expect(writer.novels.map(\.title) == ["One", "Three"])
  }

  @Test("Deny refuses the save while there are related models, and names the property", .tags(.documented))
  func deny() throws {
    let (context, writer) = try Shelf.filled()
    let imprint = Imprint(code: "A", city: "Rome")
    writer.novels[0].imprint = imprint
    try context.save()
    context.delete(imprint)
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error == .modelValidationFailure && error.message.contains("novels"))
    context.rollback()
    #expect(!imprint.isDeleted && imprint.novels.count == 1)
    writer.novels[0].imprint = nil
    context.delete(imprint)
    try context.save()
    #expect(try context.count(Imprint.self) == 0)
  }

  @Test("delete(model:) deletes all models of a class", .tags(.documented))
  func all() throws {
    let (context, _) = try Shelf.filled()
    try context.delete(model: Novel.self)
    try context.save()
    #expect(try context.count(Novel.self) == 0)
    #expect(try context.all(Writer.self).first?.novels.isEmpty == true)
  }

  @Test("delete(model:where:) deletes the models of a condition, unsaved ones too", .tags(.decided))
  func some() throws {
    let (context, _) = try Shelf.filled()
    context.insert(Novel("Long", pages: 900))
    try context.delete(model: Novel.self, where: #Predicate { $0.pages > 150 })
    #expect(try context.all(Novel.self).map(\.title) == ["One"])
    try context.save()
    #expect(try context.all(Novel.self).map(\.title) == ["One"])
  }

  @Test("delete(model:where:) follows delete rules", .tags(.decided))
  func batchRules() throws {
    let (context, _) = try Shelf.filled()
    try context.delete(model: Writer.self, where: #Predicate { $0.name == "Ann" })
    try context.save()
    #expect(try context.count(Novel.self) == 0)
  }

  @Test("Deleting a model twice, or one without a context, changes nothing", .tags(.decided))
  func twice() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    context.delete(Novel("Loose"))
    #expect(!context.hasChanges)
    context.delete(novel)
    context.delete(novel)
    try context.save()
    context.delete(novel)
    try context.save()
    #expect(try context.count(Novel.self) == 2)
  }

  @Test("A model that is inserted again before its deletion is saved stays", .tags(.decided))
  func insertedBeforeSave() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    let id = novel.persistentModelID
    context.delete(novel)
    context.insert(novel)
    #expect(!novel.isDeleted && context.deletedModelsArray.isEmpty)
    try context.save()
    let found = try ModelContext(context.container).all(Novel.self)
    #expect(found.count == 3 && found.contains { $0.persistentModelID == id })
  }

  @Test("A deleted model can be inserted again, as a new row", .tags(.decided))
  func again() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    context.delete(novel)
    try context.save()
    context.insert(Novel(novel.title))
    try context.save()
    #expect(try context.all(Novel.self).map(\.title).sorted() == ["One", "Three", "Two"])
  }

  @Test("Deleting everything of a container leaves it usable", .tags(.documented))
  func deleteAllData() throws {
    let (context, _) = try Shelf.filled()
    context.container.deleteAllData()
    let fresh = ModelContext(context.container)
    #expect(try fresh.count(Novel.self) == 0)
    fresh.insert(Novel("Again"))
    try fresh.save()
    #expect(try fresh.count(Novel.self) == 1)
  }
}
