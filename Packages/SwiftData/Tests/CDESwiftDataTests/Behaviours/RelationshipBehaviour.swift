import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: relationships and inverses")
struct RelationshipBehaviour {
  @Test(
    "Setting one side of a relationship sets the other at once, without a context too", .tags(.documented))
  func detached() {
    let (writer, novel) = (Writer("Ann"), Novel("One"))
    novel.writer = writer
    #expect(writer.novels.map(\.title) == ["One"])
    writer.novels = []
    #expect(novel.writer == nil)
  }

  @Test("Setting one side of a relationship sets the other in a context", .tags(.documented))
  func attached() throws {
    let (context, writer) = try Shelf.filled()
    let other = Writer("Bea")
    context.insert(other)
    let novel = writer.novels[0]
    novel.writer = other
    #expect(writer.novels.count == 2 && other.novels.map(\.title) == ["One"])
    other.novels.removeAll()
    #expect(novel.writer == nil)
  }

  @Test("Taking a model into another array takes it out of the first", .tags(.documented))
  func moving() throws {
    let (context, writer) = try Shelf.filled()
    let other = Writer("Bea")
    context.insert(other)
    let novel = writer.novels[1]
    other.novels.append(novel)
    #expect(novel.writer === other && writer.novels.map(\.title) == ["One", "Three"])
    try context.save()
    let fresh = ModelContext(context.container)
    #expect(try fresh.same(other).novels.map(\.title) == ["Two"])
    #expect(try fresh.same(writer).novels.count == 2)
  }

  @Test("A many-to-many relationship without written inverses has both sides", .tags(.documented))
  func manyToMany() throws {
    let context = try Shelf.context()
    let (crime, love) = (Genre("Crime"), Genre("Love"))
    let (one, two) = (Novel("One"), Novel("Two"))
    one.genres = [crime, love]
    two.genres = [love]
    context.insert(one)
    context.insert(two)
    #expect(Set(love.novels.map(\.title)) == ["One", "Two"] && crime.novels.map(\.title) == ["One"])
    try context.save()
    love.novels.removeAll { $0 === one }
    #expect(one.genres.map(\.name) == ["Crime"])
    try context.save()
    let fresh = ModelContext(context.container)
    #expect(try fresh.same(one).genres.map(\.name) == ["Crime"])
    #expect(try fresh.same(love).novels.map(\.title) == ["Two"])
  }

  @Test("An array without any inverse keeps its members", .tags(.readFromFiles))
  func oneWay() throws {
    let context = try Shelf.context()
    let desk = Desk("Oak")
    desk.drawers = [Drawer("Pens"), Drawer("Paper")]
    context.insert(desk)
    try context.save()
    let fresh = try ModelContext(context.container).same(desk)
    #expect(Set(fresh.drawers.map(\.label)) == ["Pens", "Paper"])
    #expect(try context.count(Drawer.self) == 2)
  }

  @Test("An array keeps the order in which its models were added, while it is known", .tags(.decided))
  func order() throws {
    let (context, writer) = try Shelf.filled()
    writer.novels.append(Novel("Four"))
    #expect(writer.novels.map(\.title) == ["One", "Two", "Three", "Four"])
    try context.save()
    #expect(writer.novels.map(\.title) == ["One", "Two", "Three", "Four"])
  }

  @Test("A model is once in an array, however often it was appended", .tags(.widelyKnown))
  func once() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    writer.novels.append(novel)
    writer.novels.append(novel)
    try context.save()
    #expect(writer.novels.filter { $0 === novel }.count == 1)
  }

  @Test("An optional array is an empty array, once it has a context", .tags(.decided))
  func optionalArray() throws {
    let context = try Shelf.context()
    let novel = Novel("One")
    context.insert(novel)
    novel.borrowings = [Borrowing(day: 1)]
    #expect(novel.borrowings?.first?.novel === novel)
    novel.borrowings?.append(Borrowing(day: 2))
    try context.save()
    let fresh = try ModelContext(context.container).same(novel)
    #expect(Set((fresh.borrowings ?? []).map(\.day)) == [1, 2])
    novel.borrowings = nil
    try context.save()
    #expect(try context.all(Borrowing.self).allSatisfy { $0.novel == nil })
  }

  @Test("Removing a model from an array does not delete it, whatever the delete rule", .tags(.documented))
  func removing() throws {
    let (context, writer) = try Shelf.filled()
    writer.novels.remove(at: 0)
    try context.save()
    #expect(try context.count(Novel.self) == 3)
    #expect(try context.all(Novel.self).filter { $0.writer == nil }.count == 1)
  }

  @Test("A relationship is loaded when it is read, and not before", .tags(.documented))
  func lazy() throws {
    let (context, writer) = try Shelf.filled()
    let fresh = ModelContext(context.container)
    let found = try fresh.same(writer)
    #expect(found.name == "Ann")
    let id = writer.novels[0].persistentModelID
    let before: Novel? = fresh.registeredModel(for: id)
    #expect(before == nil)
    #expect(found.novels.count == 3)
    let after: Novel? = fresh.registeredModel(for: id)
    #expect(after != nil)
  }

  @Test("A relationship changes the models of both sides", .tags(.documented))
  func changedModels() throws {
    let (context, writer) = try Shelf.filled()
    let novel = writer.novels[0]
    novel.writer = nil
    context.processPendingChanges()
    #expect(novel.hasChanges && context.changedModelsArray.contains { $0 as? Novel === novel })
  }

  @Test("Two models that refer to each other are saved together", .tags(.widelyKnown))
  func cycle() throws {
    let context = ModelContext(try .inMemory(Twin.self))
    let (one, two) = (Twin("One"), Twin("Two"))
    one.other = two
    two.other = one
    context.insert(one)
    try context.save()
    let fresh = try ModelContext(context.container).fetch(
      FetchDescriptor<Twin>(sortBy: [SortDescriptor(\.name)]))
    #expect(
      fresh.map(\.name) == ["One", "Two"] && fresh[0].other === fresh[1] && fresh[1].other === fresh[0])
  }
}

@Model
final class Twin {
  var name: String
  var other: Twin?
  init(_ name: String) { self.name = name }
}
