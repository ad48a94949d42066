import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Apple's documentation of `setQueryGenerationFrom(_:)` is the source; what moves a context to the next generation is from its
/// presentation in 2016.
@Suite("Query generations", .ownThreads)
struct QueryGenerationTests {
  private func titles(_ context: NSManagedObjectContext) throws -> [String] {
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.performAndWait { try context.fetch(request).map(\.title) }
  }

  private func add(_ title: String, _ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let item = Item(context: context)
      item.title = title
      try context.save()
    }
  }

  @Test("A pinned context reads the state of its first read, in fetches, counts, faults and dictionaries")
  func pinned() throws {
    let stack = try Stack()
    // Its store is removed with it.
    defer { withExtendedLifetime(stack) {} }
    let (writer, reader) = (stack.context(), stack.context())
    try add("a", writer)
    try add("b", writer)
    #expect(reader.queryGenerationToken == nil)
    try reader.setQueryGenerationFrom(.current)
    #expect(reader.queryGenerationToken == .current)
    // The state is that of the first read, not that of the call.
    try add("c", writer)
    let faults = Item.fetchRequest()
    faults.includesPropertyValues = false
    faults.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let held = try reader.performAndWait { try reader.fetch(faults) }
    #expect(held.count == 3)
    #expect(reader.queryGenerationToken != .current)
    try writer.performAndWait {
      for item in try writer.fetch(Item.fetchRequest()) where item.title != "c" { item.title += "!" }
      try writer.fetch(Item.fetchRequest()).filter { $0.title == "c" }.forEach(writer.delete)
      try writer.save()
    }
    try reader.performAndWait {
      #expect(held.map(\.title) == ["a", "b", "c"])
      let count = try reader.count(for: Item.fetchRequest())
      #expect(count == 3)
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Item")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["title"]
      let found = try reader.fetch(dictionaries).compactMap { $0["title"] as? String }
      #expect(found.sorted() == ["a", "b", "c"])
    }
    try reader.setQueryGenerationFrom(nil)
    reader.performAndWait { reader.refreshAllObjects() }
    #expect(try titles(reader) == ["a!", "b!"])
  }

  @Test("A token takes another context to the same state")
  func shared() throws {
    let stack = try Stack()
    // Its store is removed with it.
    defer { withExtendedLifetime(stack) {} }
    let (writer, first, second) = (stack.context(), stack.context(), stack.context())
    try add("a", writer)
    try first.setQueryGenerationFrom(.current)
    #expect(try titles(first) == ["a"])
    try add("b", writer)
    try second.setQueryGenerationFrom(first.queryGenerationToken)
    #expect(try titles(second) == ["a"])
    #expect(second.queryGenerationToken == first.queryGenerationToken)
  }

  @Test("A save, a merge and a reset move a pinned context to the state of its next read", arguments: 0..<3)
  func moving(way: Int) throws {
    let stack = try Stack()
    // Its store is removed with it.
    defer { withExtendedLifetime(stack) {} }
    let (writer, reader) = (stack.context(), stack.context())
    try add("a", writer)
    try reader.setQueryGenerationFrom(.current)
    #expect(try titles(reader) == ["a"])
    try add("b", writer)
    #expect(try titles(reader) == ["a"])
    switch way {
    case 0: try add("mine", reader)
    case 1:
      let id = try writer.performAndWait { try writer.fetch(Item.fetchRequest()).map(\.objectID) }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectIDsKey: id], into: [reader])
    default: reader.performAndWait { reader.reset() }
    }
    // A merge by IDs reads the rows itself.
    #expect(way == 1 || reader.queryGenerationToken == .current)
    #expect(try titles(reader) == (way == 0 ? ["a", "b", "mine"] : ["a", "b"]))
    try add("later", writer)
    #expect(try titles(reader).contains("later") == false)
  }

  @Test("A save from a pinned context meets the changes of others as conflicts")
  func conflicts() throws {
    let stack = try Stack()
    // Its store is removed with it.
    defer { withExtendedLifetime(stack) {} }
    let (writer, reader) = (stack.context(), stack.context())
    try add("a", writer)
    try reader.setQueryGenerationFrom(.current)
    let item = try reader.performAndWait { try #require(try reader.fetch(Item.fetchRequest()).first) }
    try writer.performAndWait {
      try writer.fetch(Item.fetchRequest())[0].title = "theirs"
      try writer.save()
    }
    try reader.performAndWait {
      item.title = "mine"
      #expect(throws: (any Error).self) { try reader.save() }
      reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try reader.save()
      #expect(item.title == "mine")
    }
  }

  @Test("A token of another coordinator and a child context are refused")
  func refused() throws {
    let (stack, other) = (try Stack(), try Stack())
    defer { withExtendedLifetime((stack, other)) {} }
    let (context, foreign) = (stack.context(), other.context())
    try foreign.setQueryGenerationFrom(.current)
    _ = try titles(foreign)
    let token = foreign.queryGenerationToken
    #expect(throws: (any Error).self) { try context.setQueryGenerationFrom(token) }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    #expect(throws: (any Error).self) { try child.setQueryGenerationFrom(.current) }
  }
}
