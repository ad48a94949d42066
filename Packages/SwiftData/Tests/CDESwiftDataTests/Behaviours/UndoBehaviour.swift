import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: rollback and undo")
struct UndoBehaviour {
  @Test("A rollback restores values", .tags(.documented))
  func values() throws {
    let (context, writer) = try Shelf.filled()
    writer.name = "Bea"
    writer.born = .now
    context.rollback()
    #expect(writer.name == "Ann" && writer.born == nil && !context.hasChanges && !writer.hasChanges)
  }

  @Test("A rollback restores both sides of relationships", .tags(.documented))
  func relationships() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    writer.novels.removeAll()
    context.rollback()
    #expect(writer.novels.count == 3 && novel.writer === writer)
  }

  @Test("A rollback takes new models out of the context", .tags(.documented))
  func inserted() throws {
    let (context, writer) = try Shelf.filled()
    let novel = Novel("Four")
    writer.novels.append(novel)
    context.rollback()
    #expect(novel.modelContext == nil && novel.title == "Four" && writer.novels.count == 3)
    #expect(try context.count(Novel.self) == 3)
  }

  @Test("A new model that was rolled back can be related again, from either side", arguments: [true, false])
  func relatedAgain(fromOwner: Bool) throws {
    let (context, writer) = try Shelf.filled()
    let novel = Novel("Four")
    writer.novels.append(novel)
    context.rollback()
    #expect(!novel.isDeleted && novel.writer == nil && !context.hasChanges)
    if fromOwner { writer.novels.append(novel) } else { novel.writer = writer }
    #expect(novel.modelContext === context && writer.novels.contains(novel))
    try context.save()
    let other = ModelContext(context.container)
    let stored = try other.fetch(FetchDescriptor<Novel>(predicate: #Predicate { $0.title == "Four" }))
    #expect(stored.map { $0.writer?.name } == ["Ann"])
  }

  @Test("A rollback brings deleted models back", .tags(.documented))
  func deleted() throws {
    let (context, writer) = try Shelf.filled()
    context.delete(writer)
    context.processPendingChanges()
    context.rollback()
    #expect(!writer.isDeleted && writer.modelContext === context && writer.novels.count == 3)
    try context.save()
    #expect(try context.count(Novel.self) == 3)
  }

  @Test("A rollback restores a struct, an enumeration and an array", .tags(.documented))
  func codable() throws {
    let context = try Shelf.context()
    let profile = Profile("Rome")
    profile.nicknames = ["a"]
    context.insert(profile)
    try context.save()
    profile.address.city = "Oslo"
    profile.level = .gold
    profile.nicknames.append("b")
    context.rollback()
    #expect(profile.address.city == "Rome" && profile.level == .basic && profile.nicknames == ["a"])
  }

  @Test("A rollback wakes the readers of restored values", .tags(.widelyKnown))
  func observers() throws {
    let (context, writer) = try Shelf.filled()
    writer.name = "Bea"
    let wakes = Wakes { _ = writer.name }
    context.rollback()
    #expect(wakes.count == 1)
  }

  @Test("A context has no undo manager at first, and records none", .tags(.documented))
  func none() throws {
    #expect(try Shelf.context().undoManager == nil)
  }

  @Test("An undo takes a change of a value back, and a redo makes it again", .tags(.documented))
  func undo() throws {
    let (context, writer) = try Shelf.filled()
    let manager = UndoManager()
    context.undoManager = manager
    writer.name = "Bea"
    context.processPendingChanges()
    #expect(manager.canUndo)
    manager.undo()
    #expect(writer.name == "Ann")
    manager.redo()
    #expect(writer.name == "Bea")
  }

  @Test("An undo takes an insertion back", .tags(.documented))
  func undoInsert() throws {
    let (context, writer) = try Shelf.filled()
    let manager = UndoManager()
    context.undoManager = manager
    writer.novels.append(Novel("Four"))
    context.processPendingChanges()
    manager.undo()
    context.processPendingChanges()
    #expect(writer.novels.count == 3)
    #expect(try context.count(Novel.self) == 3)
  }

  @Test("An undo takes a deletion back, with the relationships", .tags(.documented))
  func undoDelete() throws {
    let (context, writer) = try Shelf.filled()
    let manager = UndoManager()
    context.undoManager = manager
    let novel = writer.novels[0]
    context.delete(novel)
    context.processPendingChanges()
    manager.undo()
    context.processPendingChanges()
    #expect(!novel.isDeleted && novel.writer === writer && writer.novels.count == 3)
    try context.save()
    #expect(try ModelContext(context.container).same(writer).novels.count == 3)
  }
}
