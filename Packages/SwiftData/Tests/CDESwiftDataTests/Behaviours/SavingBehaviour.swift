import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: saving, transactions and notifications")
struct SavingBehaviour {
  @Test("A save without changes does nothing, and posts nothing", .tags(.documented))
  func nothing() throws {
    let (context, _) = try Shelf.filled()
    let heard = Heard(ModelContext.didSave, of: context)
    defer { heard.stop() }
    try context.save()
    #expect(heard.notes.isEmpty)
  }

  @Test("A context that code makes does not save by itself, and the main context does", .tags(.documented))
  @MainActor
  func autosaveDefaults() throws {
    let container = try Shelf.container()
    #expect(container.mainContext.autosaveEnabled && !ModelContext(container).autosaveEnabled)
  }

  @Test("A change and a change back are no change of the row", .tags(.decided))
  func changedBack() throws {
    let (context, writer) = try Shelf.filled()
    writer.name = "Bea"
    #expect(writer.hasChanges && context.hasChanges)
    writer.name = "Ann"
    try context.save()
    #expect(!context.hasChanges && writer.name == "Ann")
  }

  @Test("Changed models are listed until the save", .tags(.documented))
  func changedModels() throws {
    let (context, writer) = try Shelf.filled()
    writer.novels[1].pages = 250
    #expect(context.changedModelsArray.compactMap { ($0 as? Novel)?.title } == ["Two"])
    #expect(context.insertedModelsArray.isEmpty && context.deletedModelsArray.isEmpty)
    try context.save()
    #expect(context.changedModelsArray.isEmpty)
  }

  @Test("A save that fails keeps the changes, and a corrected one saves them", .tags(.documented))
  func failure() throws {
    let context = ModelContext(try .inMemory(Strict.self, StrictPart.self))
    let strict = Strict("A")
    context.insert(strict)
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(context.hasChanges && strict.modelContext === context)
    strict.parts = [StrictPart(), StrictPart()]
    try context.save()
    #expect(try context.count(StrictPart.self) == 2)
  }

  @Test("Too many related models are an error of the save", .tags(.documented))
  func tooMany() throws {
    let context = ModelContext(try .inMemory(Strict.self, StrictPart.self))
    let strict = Strict("A")
    strict.parts = (0..<4).map { _ in StrictPart() }
    context.insert(strict)
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error == .modelValidationFailure && error.property == "parts")
  }

  @Test("A transaction saves at its end", .tags(.documented))
  func transaction() throws {
    let (context, writer) = try Shelf.filled()
    try context.transaction {
      writer.name = "Bea"
      writer.novels.append(Novel("Four"))
      #expect(context.hasChanges)
    }
    #expect(!context.hasChanges)
    #expect(try ModelContext(context.container).same(writer).novels.count == 4)
  }

  @Test("A transaction whose block throws does not save, and passes the error on", .tags(.documented))
  func failedTransaction() throws {
    struct Failure: Error {}
    let (context, writer) = try Shelf.filled()
    #expect(throws: Failure.self) {
      try context.transaction {
        writer.name = "Bea"
        throw Failure()
      }
    }
    #expect(try ModelContext(context.container).same(writer).name == "Ann")
    context.rollback()
    #expect(writer.name == "Ann")
  }

  @Test("willSave is posted before didSave, once each, by the context", .tags(.documented))
  func order() throws {
    let (context, writer) = try Shelf.filled()
    let (will, did) = (Heard(ModelContext.willSave, of: context), Heard(ModelContext.didSave, of: context))
    defer {
      will.stop()
      did.stop()
    }
    writer.name = "Bea"
    try context.save()
    #expect(will.notes.count == 1 && did.notes.count == 1)
  }

  @Test(
    "didSave has identifiers of inserted, updated and deleted models, by texts as keys", .tags(.widelyKnown))
  func identifiers() throws {
    let (context, writer) = try Shelf.filled()
    let heard = Heard(ModelContext.didSave, of: context)
    defer { heard.stop() }
    let (two, one) = (writer.novels[1], writer.novels[0])
    let deleted = one.persistentModelID
    let genre = Genre("Crime")
    context.insert(genre)
    two.pages = 1
    context.delete(one)
    try context.save()
    let note = try #require(heard.notes.first)
    #expect(note.ids["inserted"] == [genre.persistentModelID])
    #expect(note.ids["updated"]?.contains(two.persistentModelID) == true)
    #expect(note.ids["deleted"] == [deleted])
    #expect(ModelContext.NotificationKey.insertedIdentifiers.rawValue == "inserted")
    #expect(ModelContext.NotificationKey.updatedIdentifiers.rawValue == "updated")
    #expect(ModelContext.NotificationKey.deletedIdentifiers.rawValue == "deleted")
  }

  @Test("Identifiers of inserted models in didSave are those of their rows", .tags(.widelyKnown))
  func permanent() throws {
    let context = try Shelf.context()
    let heard = Heard(ModelContext.didSave, of: context)
    defer { heard.stop() }
    for number in 0..<3 { context.insert(Novel("\(number)")) }
    try context.save()
    let ids = try #require(heard.notes.first?.ids["inserted"])
    #expect(ids.count == 3 && ids.allSatisfy { $0.storeIdentifier != nil })
    #expect(Set(ids) == Set(try context.fetchIdentifiers(FetchDescriptor<Novel>())))
  }

  @Test("An observer for any context hears every context of the program", .tags(.widelyKnown))
  func anyContext() throws {
    let heard = Heard(ModelContext.didSave, of: nil)
    defer { heard.stop() }
    let (context, writer) = try Shelf.filled()
    let other = ModelContext(context.container)
    try other.same(writer).name = "Bea"
    try other.save()
    let updated = heard.notes.compactMap { $0.ids["updated"] }.joined()
    #expect(updated.contains(writer.persistentModelID))
  }

  @Test("What an observer of willSave changes is saved too", .tags(.widelyKnown))
  func changedByObserver() throws {
    let (context, writer) = try Shelf.filled()
    nonisolated(unsafe) let carried = writer
    // Guard: the observer runs on this thread, in the save below.
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: context, queue: nil
    ) { _ in if carried.born == nil { carried.born = Date(timeIntervalSince1970: 1) } }
    defer { NotificationCenter.default.removeObserver(token) }
    writer.name = "Bea"
    try context.save()
    #expect(!context.hasChanges)
    #expect(try ModelContext(context.container).same(writer).born == Date(timeIntervalSince1970: 1))
  }

  @Test("A failed save posts no didSave", .tags(.documented))
  func failedNotification() throws {
    let context = ModelContext(try .inMemory(Strict.self, StrictPart.self))
    let heard = Heard(ModelContext.didSave, of: context)
    defer { heard.stop() }
    context.insert(Strict("A"))
    #expect(throws: (any Error).self) { try context.save() }
    #expect(heard.notes.isEmpty)
  }

  @Test("The author of a context is that of its saves", .tags(.documented))
  func author() throws {
    let (context, writer) = try Shelf.filled()
    #expect(context.author == nil)
    context.author = "importer"
    writer.name = "Bea"
    try context.save()
    #expect(context.author == "importer")
  }
}

@Model
final class Strict {
  var name: String
  @Relationship(minimumModelCount: 2, maximumModelCount: 3) var parts: [StrictPart] = []
  init(_ name: String) { self.name = name }
}

@Model
final class StrictPart {
  var strict: Strict?
  init() {}
}
