import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Merging saves of other contexts")
struct MergingTests {
  /// Two contexts that both know one category with one item.
  private struct Pair {
    let stack: Stack
    let writer: NSManagedObjectContext
    let reader: NSManagedObjectContext
    let (item, category): (Item, Category)
    let (seenItem, seenCategory): (Item, Category)

    init() throws {
      stack = try Stack()
      writer = stack.context()
      reader = stack.context()
      item = Item(context: writer)
      category = Category(context: writer)
      item.category = category
      item.title = "old"
      try writer.save()
      seenItem = try #require(try reader.fetch(Item.fetchRequest()).first)
      seenCategory = try #require(seenItem.category)
      #expect(seenCategory.itemsCount == 1)
    }

    /// Saves the writer and gives its didSave notification.
    func save() throws -> Notification {
      let listener = Listener(writer)
      try writer.save()
      let event = try #require(listener.events.last)
      return Notification(name: event.name, object: writer, userInfo: event.info)
    }
  }

  @Test("Clean objects take the saved values; new members show; both notifications come once")
  func clean() throws {
    let pair = try Pair()
    let other = Item(context: pair.writer)
    other.category = pair.category
    pair.item.title = "new"
    let note = try pair.save()
    let listener = Listener(pair.reader)
    pair.reader.mergeChanges(fromContextDidSave: note)
    #expect(pair.seenItem.title == "new")
    #expect(pair.seenCategory.itemsCount == 2)
    #expect(listener.names == ["change", "merge"])
    #expect(listener.events[0].info[NSObjectsChangedByMergeChangesKey] != nil)
    #expect(listener.objects(0, NSRefreshedObjectsKey) == [pair.seenItem, pair.seenCategory])
    #expect(listener.events[0].info[NSUpdatedObjectsKey] == nil)
    #expect(listener.events[1].info[NSInsertedObjectIDsKey] as? Set == [other.objectID])
    #expect(
      listener.events[1].info[NSUpdatedObjectIDsKey] as? Set == [pair.item.objectID, pair.category.objectID])
    #expect(listener.events[1].info[NSDeletedObjectIDsKey] == nil)
    #expect(!pair.reader.hasChanges)
  }

  @Test("Dirty objects keep their own changes, take the rest and can be saved")
  func dirty() throws {
    let pair = try Pair()
    pair.seenItem.title = "mine"
    pair.item.title = "theirs"
    pair.item.count = 9
    pair.reader.mergeChanges(fromContextDidSave: try pair.save())
    #expect(pair.seenItem.title == "mine")
    #expect(pair.seenItem.count == 9)
    #expect(pair.reader.updatedObjects == [pair.seenItem])
    try pair.reader.save()
    #expect(try pair.stack.context().fetch(Item.fetchRequest()).map(\.title) == ["mine"])
  }

  @Test("A reference changed on both sides stays as it is here, and both owners agree")
  func dirtyReference() throws {
    let pair = try Pair()
    let theirs = Category(context: pair.writer)
    pair.item.category = theirs
    let mine = Category(context: pair.reader)
    pair.seenItem.category = mine
    pair.reader.mergeChanges(fromContextDidSave: try pair.save())
    #expect(pair.seenItem.category === mine)
    #expect(mine.items == [pair.seenItem])
    let seenTheirs = try #require(try pair.reader.existingObject(with: theirs.objectID) as? Category)
    #expect(seenTheirs.items.isEmpty)
    #expect(pair.seenCategory.items.isEmpty)
    try pair.reader.save()
    pair.writer.reset()
    let stored = try #require(try pair.writer.fetch(Item.fetchRequest()).first)
    #expect(stored.category?.objectID == mine.objectID)
  }

  @Test("Members added on both sides are all there")
  func bothAdd() throws {
    let pair = try Pair()
    let (tag, other) = (Tag(context: pair.writer), Tag(context: pair.writer))
    tag.name = "a"
    other.name = "b"
    pair.reader.mergeChanges(fromContextDidSave: try pair.save())
    let seen = try #require(try pair.reader.fetch(Tag.fetchRequest()) as [Tag]?).sorted { $0.name < $1.name }
    pair.item.addToTags(tag)
    pair.seenItem.addToTags(seen[0])
    pair.seenItem.addToTags(seen[1])
    #expect(pair.seenItem.tagsCount == 2)
    pair.reader.mergeChanges(fromContextDidSave: try pair.save())
    #expect(pair.seenItem.tags == Set(seen))
    pair.seenItem.removeFromTags(seen[0])
    #expect(pair.seenItem.tags == [seen[1]])
    try pair.reader.save()
    pair.writer.reset()
    #expect(try pair.writer.fetch(Item.fetchRequest()).first?.tags.map(\.name) == ["b"])
  }

  @Test("Deleted objects go, without counting as deleted here")
  func deleted() throws {
    let pair = try Pair()
    pair.writer.delete(pair.item)
    let note = try pair.save()
    let listener = Listener(pair.reader)
    pair.reader.mergeChanges(fromContextDidSave: note)
    #expect(pair.seenItem.isDeleted)
    #expect(pair.seenItem.managedObjectContext == nil)
    #expect(pair.seenItem.title == "old")
    #expect(pair.seenCategory.items.isEmpty)
    #expect(pair.reader.deletedObjects.isEmpty)
    #expect(!pair.reader.hasChanges)
    #expect(listener.objects(0, NSDeletedObjectsKey) == [pair.seenItem])
    #expect(listener.events[1].info[NSDeletedObjectIDsKey] as? Set == [pair.seenItem.objectID])
  }

  @Test("Changes known by their IDs alone are read again")
  func byID() throws {
    let pair = try Pair()
    let second = Item(context: pair.writer)
    second.category = pair.category
    pair.item.title = "new"
    _ = try pair.save()
    let listener = Listener(pair.reader)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        NSUpdatedObjectIDsKey: [pair.item.objectID], NSInsertedObjectIDsKey: [second.objectID],
      ], into: [pair.reader])
    pair.reader.performAndWait {
      #expect(pair.seenItem.title == "new")
      #expect(pair.seenCategory.itemsCount == 2)
      #expect(listener.names == ["change", "merge"])
      #expect(listener.events[1].info[NSUpdatedObjectIDsKey] as? Set == [pair.item.objectID])
    }
    pair.writer.delete(pair.item)
    _ = try pair.save()
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: [pair.item.objectID.uriRepresentation()]],
      into: [pair.reader])
    pair.reader.performAndWait {
      #expect(pair.seenItem.isDeleted)
      #expect(pair.seenCategory.itemsCount == 1)
      #expect(!pair.reader.hasChanges)
    }
  }

  @Test("A save of another container counts where it concerns the same store, and only there")
  func otherContainer() throws {
    let pair = try Pair()
    func container(_ url: URL) throws -> NSPersistentContainer {
      let model = try NSManagedObjectModel.makeRuntimeModel(Tag.self, Item.self, Category.self)
      let container = NSPersistentContainer(name: "Other", managedObjectModel: model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      return container
    }
    func rename(_ container: NSPersistentContainer) throws -> Notification {
      let context = container.newBackgroundContext()
      let item = try context.fetch(Item.fetchRequest()).first ?? Item(context: context)
      item.title = "foreign"
      let listener = Listener(context)
      try context.save()
      return Notification(
        name: .NSManagedObjectContextDidSave, object: context,
        userInfo: try #require(listener.events.last).info)
    }
    let elsewhere = try container(pair.stack.folder.appendingPathComponent("Elsewhere.sqlite"))
    pair.reader.mergeChanges(fromContextDidSave: try rename(elsewhere))
    #expect(pair.seenItem.title == "old")
    let same = try container(pair.stack.folder.appendingPathComponent("Test.sqlite"))
    pair.reader.mergeChanges(fromContextDidSave: try rename(same))
    #expect(pair.seenItem.title == "foreign")
  }

  @Test("The main context follows by itself, in order, once for each save, and not for its own")
  @MainActor func automatic() async throws {
    let stack = try Stack()
    let view = stack.container.viewContext
    #expect(!view.automaticallyMergesChangesFromParent)
    view.automaticallyMergesChangesFromParent = true
    let own = Item(context: view)
    own.title = "0"
    try view.save()
    let listener = Listener(view)
    let keeper = Keeper(container: stack.container)
    for index in 1...20 { try await keeper.rename(own.objectID, to: "\(index)") }
    var titles: [String] = []
    let deadline = ContinuousClock.now + .seconds(60)
    while own.title != "20", .now < deadline {
      if titles.last != own.title { titles.append(own.title) }
      await Task.yield()
    }
    #expect(own.title == "20")
    #expect(titles.compactMap(Int.init) == titles.compactMap(Int.init).sorted())
    #expect(listener.names.filter { $0 == "merge" }.count == 20)
    #expect(listener.names.filter { $0 == "did" }.isEmpty)
    #expect(!view.hasChanges)
    own.title = "21"
    try view.save()
    await Task.yield()
    #expect(listener.names.filter { $0 == "merge" }.count == 20)
  }
}
