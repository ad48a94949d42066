import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: making and inserting")
struct MakingBehaviour {
  @Test("A model that was made has its values and no context", .tags(.documented))
  func made() {
    let novel = Novel("One", pages: 7)
    #expect(novel.title == "One" && novel.pages == 7 && novel.modelContext == nil)
    #expect(!novel.hasChanges && !novel.isDeleted)
  }

  @Test("Default values of declarations are evaluated for each instance", .tags(.readFromFiles))
  func defaults() {
    let (one, other) = (Profile("Rome"), Profile("Rome"))
    #expect(one.key != other.key && one.level == .basic && one.nicknames == [])
  }

  @Test("An inserted model has the context at once, before a save", .tags(.documented))
  func inserted() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    #expect(novel.modelContext === context && context.hasChanges && novel.hasChanges)
    #expect(context.insertedModelsArray.count == 1)
    #expect(context.insertedModelsArray.first as? Novel === novel)
  }

  @Test("Inserting twice is inserting once", .tags(.widelyKnown))
  func twice() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    context.insert(novel)
    try context.save()
    context.insert(novel)
    #expect(!context.hasChanges)
    #expect(try context.count(Novel.self) == 1)
  }

  @Test("Inserting inserts what the model is related to", .tags(.documented))
  func reached() throws {
    let context = try Shelf.context()
    let writer = Writer("Ann")
    writer.novels = [Novel("One"), Novel("Two")]
    writer.novels[1].genres = [Genre("Crime")]
    context.insert(writer)
    #expect(context.insertedModelsArray.count == 4)
    #expect(writer.novels[1].genres[0].modelContext === context)
  }

  @Test("Inserting a model inserts the model on the other side of a to-one relationship", .tags(.widelyKnown))
  func reachedUp() throws {
    let context = try Shelf.context()
    let writer = Writer("Ann")
    context.insert(Novel("One", writer: writer))
    #expect(writer.modelContext === context)
    try context.save()
    #expect(try context.all(Writer.self).map(\.name) == ["Ann"])
  }

  @Test("A model appended to a relationship of an inserted one is inserted", .tags(.documented))
  func appended() throws {
    let (context, writer) = try Shelf.filled()
    let novel = Novel("Four")
    writer.novels.append(novel)
    #expect(novel.modelContext === context && novel.writer === writer)
    try context.save()
    #expect(try context.count(Novel.self) == 4)
  }

  @Test("A model whose to-one is set to an inserted one is inserted", .tags(.widelyKnown))
  func setToOne() throws {
    let (context, writer) = try Shelf.filled()
    let novel = Novel("Four")
    novel.writer = writer
    #expect(novel.modelContext === context)
    #expect(writer.novels.last === novel)
  }

  @Test("Unsaved models are listed in the order of their insertion", .tags(.decided))
  func order() throws {
    let context = try Shelf.context()
    for number in 0..<20 { context.insert(Novel("\(number)")) }
    #expect(context.insertedModelsArray.compactMap { ($0 as? Novel)?.title } == (0..<20).map { "\($0)" })
  }

  @Test("A fetch without an order has saved models in the order of their insertion", .tags(.decided))
  func fetchOrder() throws {
    let context = try Shelf.context()
    for number in 0..<20 { context.insert(Novel("\(number)")) }
    #expect(try context.all(Novel.self).map(\.title) == (0..<20).map { "\($0)" })
    try context.save()
    #expect(try context.all(Novel.self).map(\.title) == (0..<20).map { "\($0)" })
    #expect(try ModelContext(context.container).all(Novel.self).map(\.title) == (0..<20).map { "\($0)" })
  }

  @Test("A value that is set after the insertion is saved with it", .tags(.documented))
  func changedAfter() throws {
    let context = try Shelf.context()
    let novel = Novel("Draft")
    context.insert(novel)
    novel.title = "Final"
    try context.save()
    #expect(try ModelContext(context.container).all(Novel.self).map(\.title) == ["Final"])
  }

  @Test("A new model that is deleted before the save is never stored", .tags(.widelyKnown))
  func deletedBefore() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    context.delete(novel)
    try context.save()
    #expect(try context.count(Novel.self) == 0)
    #expect(novel.modelContext == nil && novel.title == "One")
  }

  @Test("A transient property is not stored, and has its default in another context", .tags(.documented))
  func transient() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    novel.isOpen = true
    context.insert(novel)
    try context.save()
    #expect(novel.isOpen)
    #expect(try ModelContext(context.container).same(novel).isOpen == false)
  }
}
