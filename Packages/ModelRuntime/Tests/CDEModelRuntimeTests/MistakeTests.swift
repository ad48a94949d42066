import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

private struct NoName: LocalizedError {
  var errorDescription: String? { "A visitor needs a name." }
}

private final class Visitor: NSManagedObject {
  override func validateForInsert() throws {
    try super.validateForInsert()
    if value(forKey: "name") == nil { throw NoName() }
  }
}

/// Collects the notes that go to no caller.
private final class Notes: Sendable {
  static func taken(_ work: () throws -> Void) rethrows -> [String] {
    nonisolated(unsafe) var notes: [String] = []
    // Guard: the work reads on this thread alone.
    Diagnostics.handler = { notes.append($0) }
    defer { Diagnostics.handler = nil }
    try work()
    return notes
  }
}

// Each says what happened, where, why and what to do. The table of Docs/Troubleshooting.md quotes them.
@Suite("Mistakes of the first hour", .serialized)
struct MistakeTests {
  /// The text that a body's error prints as.
  func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no error"
    } catch let error as ManagedObjectError {
      return error.message
    } catch {
      return "\(error)"
    }
  }

  /// The text of the error that loading a store gives.
  private func loading(_ model: NSManagedObjectModel, at url: URL, migrates: Bool = true) -> String {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.shouldMigrateStoreAutomatically = migrates
    container.persistentStoreDescriptions = [description]
    var texts: [String] = []
    container.loadPersistentStores { _, error in
      texts.append((error as? ManagedObjectError)?.message ?? error.map { "\($0)" } ?? "no error")
    }
    return texts.joined(separator: " / ")
  }

  private func expect(_ text: String?, _ parts: String..., line: Int = #line) {
    for part in parts {
      #expect(text?.contains(part) == true, "line \(line): \(part)\nnot in: \(text ?? "nothing")")
    }
  }

  @Test("A misspelt key")
  func misspeltKey() async throws {
    let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Item(context: try Stack().context()).setValue("x", forKey: "titel")
    }
    expect(
      set?.text, "The entity Item is not key value coding-compliant for the key \"titel\"",
      "Did you mean \"title\"?")
    let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Tag(context: try Stack().context()).value(forKey: "name")
    }
    expect(read?.text, "Did you mean \"tag_name\"?")
    let far = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Tag(context: try Stack().context()).value(forKey: "zzz")
    }
    expect(far?.text, "Its properties are: items, tag_name.")
    let context = try Stack().context()
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate(format: "titel == 'x'")
    expect(message { _ = try context.fetch(request) }, "Item", "titel", "Did you mean \"title\"?")
    request.predicate = nil
    request.sortDescriptors = [NSSortDescriptor(key: "titel", ascending: true)]
    expect(message { _ = try context.fetch(request) }, "Item", "titel", "Did you mean \"title\"?")
  }

  @Test("A context that is confined to a thread")
  func confinedContext() async throws {
    let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // The case itself warns where it is named.
      _ = NSManagedObjectContext(
        concurrencyType: try #require(NSManagedObjectContext.ConcurrencyType(rawValue: 0)))
    }
    expect(
      made?.text, "There are no contexts that are confined to a thread. Use privateQueueConcurrencyType")
  }

  @Test("A value of the wrong type")
  func wrongType() async throws {
    let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Item(context: try Stack().context()).setValue("many", forKey: "count")
    }
    expect(
      set?.text,
      "Unacceptable value for Item.count: A value of type String can't be stored in an attribute of type integer64. "
        + "Set an integer or an NSNumber.")
    let date = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Item(context: try Stack().context()).setValue("today", forKey: "createdAt")
    }
    expect(date?.text, "Set a Date.")
  }

  @Test("An object on a wrong actor", .enabled(if: isDebug))
  func wrongActor() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      context.name = "importer"
      let item = await context.perform { Unchecked(Item(context: context)) }
      item.value.title = "elsewhere"
    }
    expect(result?.text, "Item was used outside its context \"importer\". Use it inside perform { }")
  }

  @Test("Stores that were not loaded")
  func notLoaded() throws {
    let container = NSPersistentContainer(
      name: "Test",
      managedObjectModel: try NSManagedObjectModel.makeRuntimeModel([Item.self, Category.self, Tag.self]))
    let context = container.newBackgroundContext()
    let text =
      "No store is loaded. Call loadPersistentStores before fetching or saving, and look at the error it reports."
    #expect(message { _ = try context.fetch(Item.fetchRequest()) } == text)
    #expect(message { _ = try context.count(for: Item.fetchRequest()) } == text)
    let item = Item(context: context)
    item.title = "kept"
    #expect(message { try context.save() } == text)
    #expect(message { try context.obtainPermanentIDs(for: [item]) } == text)
    #expect(context.insertedObjects == [item])
    let lone = NSManagedObjectContext(.privateQueue)
    expect(
      message { _ = try lone.fetch(Item.fetchRequest()) },
      "has no persistentStoreCoordinator. Take it from a container, or set one.")
  }

  @Test("A model that changed since the store was made", .onSQLite)
  func changedModel() throws {
    let stack = try Stack(model: model(entity("Note", nil, [attribute("text", .stringAttributeType)])))
    let store = stack.container.persistentStoreCoordinator.persistentStores[0]
    try stack.container.persistentStoreCoordinator.remove(store)
    let changed = model(
      entity(
        "Note", nil, [attribute("text", .stringAttributeType), attribute("stars", .integer16AttributeType)]))
    let text = loading(changed, at: try #require(store.url), migrates: false)
    expect(
      text, "The store at \(store.url!.path) can't be opened: ", "Note", "shouldMigrateStoreAutomatically")
    let narrowed = model(entity("Note", nil, [attribute("text", .integer16AttributeType)]))
    expect(
      loading(narrowed, at: store.url!),
      "The store at \(store.url!.path) can't be migrated to the new model, and stays as it is: Note.text was of type"
    )
    let demanding = model(
      entity(
        "Note", nil,
        [
          attribute("text", .stringAttributeType),
          attribute("stars", .integer16AttributeType, optional: false),
        ]))
    try RawSQLite(store.url!.path).run("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
    expect(
      loading(demanding, at: store.url!), "The store at \(store.url!.path) was not migrated: ",
      "Note.stars must have a value now")
  }

  @Test("A folder that takes no files, one that can't be made, and a path that is a folder", .onSQLite)
  func places() throws {
    let model = model(entity("Note", nil, [attribute("text", .stringAttributeType)]))
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // No user may make files there.
    let closed = loading(model, at: URL(fileURLWithPath: "/proc/cde.sqlite"))
    expect(
      closed, "The store at /proc/cde.sqlite can't be opened: ",
      "Check that the folder exists and may be read and written.")
    let file = folder.appendingPathComponent("file")
    try Data("x".utf8).write(to: file)
    let unmade = loading(model, at: file.appendingPathComponent("sub/Test.sqlite"))
    expect(
      unmade, "The store at \(file.path)/sub/Test.sqlite can't be opened: ",
      "\(file.path) is a file and no folder. Name another place, or move that file away.")
    let link = folder.appendingPathComponent("link")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "gone")
    expect(
      loading(model, at: link.appendingPathComponent("Test.sqlite")),
      "The store at \(link.path)/Test.sqlite can't be opened: its folder can't be made, because ",
      "\(link.path) is a symbolic link that leads to no folder. Set the description's url to another place, or change that one."
    )
    let circle = folder.appendingPathComponent("circle.sqlite")
    try FileManager.default.createSymbolicLink(atPath: circle.path, withDestinationPath: "circle.sqlite")
    expect(
      loading(model, at: circle), "The store at \(circle.path) can't be opened: ",
      "The symbolic links at \(circle.path) lead back to themselves, so there is no file.")
    let parent = folder.appendingPathComponent("new")
    let long = parent.appendingPathComponent(String(repeating: "f/", count: 250) + "Test.sqlite")
    let count = long.path.utf8.count
    expect(
      loading(model, at: long), "The store at \(long.path) can't be opened: ",
      "The path is too long: it has \(count) bytes, \(count - 504) more than the 504 that SQLite opens. Name a place with a "
        + "shorter path.")
    #expect(!FileManager.default.fileExists(atPath: parent.path))
    let path = loading(model, at: folder)
    expect(
      path, "The store at \(folder.path) can't be opened: ", "\(folder.path) is a folder. Name a file in it.")
  }

  @Test("A store that may only be read")
  func readOnly() throws {
    let stack = try Stack()
    let url = try #require(stack.container.persistentStoreDescriptions[0].url)
    let container = NSPersistentContainer(
      name: "Test", managedObjectModel: stack.container.managedObjectModel)
    let description = NSPersistentStoreDescription(url: url)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    _ = Item(context: context)
    expect(
      message { try context.save() }, "open for reading only. Open it with isReadOnly set to false to write.")
  }

  @Test("A file that is no store", .onSQLite)
  func corrupt() throws {
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Test.sqlite")
    try Data(String(repeating: "no database ", count: 1000).utf8).write(to: url)
    let text = loading(model(entity("Note", nil, [attribute("text", .stringAttributeType)])), at: url)
    expect(text, "The store at \(url.path) can't be opened: ", "backup")
  }

  @Test("Two entities of one name")
  func duplicateNames() throws {
    let text = loading(
      model(entity("Note", nil, [attribute("text", .stringAttributeType)]), entity("Note")),
      at: URL(fileURLWithPath: "/dev/null"))
    expect(
      text, "The model can't be used: ",
      "Two entities are named Note. Rename one of them: names must be unique in a model.")
  }

  @Test("A required property without a value, and an object that is not valid")
  func invalid() throws {
    let stack = try Stack(
      model: model(
        entity(
          "Visitor", Visitor.self,
          [
            attribute("name", .stringAttributeType),
            attribute("email", .stringAttributeType, optional: false),
          ])))
    let context = stack.context()
    let visitor = context.make("Visitor", ["name": "Ann"])
    #expect(
      message { try context.save() }
        == "Visitor.email is required and has no value. Set it before saving, give it a default, or make it optional."
    )
    visitor.setValue(nil, forKey: "name")
    visitor.setValue("a@example.org", forKey: "email")
    let error = #expect(throws: NoName.self) { try context.save() }
    #expect(error?.localizedDescription == "A visitor needs a name.")
    let second = context.make("Visitor", ["email": "b@example.org"])
    expect(
      message { try context.save() }, "2 values can't be saved",
      "Visitor is not valid: A visitor needs a name.")
    context.delete(second)
  }

  @Test("A predicate that no store can answer")
  func unsupportedPredicate() throws {
    let context = try Stack().context()
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate { _, _ in true }
    expect(
      message { _ = try context.fetch(request) },
      "The fetch of Item can't be used: a block predicate can be evaluated in memory only. Use a format string, #Predicate"
    )
  }

  @Test("An entity that is not there, or not the one meant")
  func wrongEntity() async throws {
    let context = try Stack().context()
    expect(
      message { _ = try context.fetch(NSFetchRequest<Item>(entityName: "Itm")) },
      "The model has no entity named \"Itm\". Did you mean \"Item\"?")
    let inserted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Itm", into: try Stack().context())
    }
    expect(inserted?.text, "The model has no entity named \"Itm\". Did you mean \"Item\"?")
    _ = Category(context: context)
    expect(
      message { _ = try context.fetch(NSFetchRequest<Item>(entityName: "Category")) }, "Category", "Item")
    let related = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      Item(context: context).setValue(Tag(context: context), forKey: "category")
    }
    expect(
      related?.text,
      "An object of Tag can't be the value of Item.category, which holds objects of Category.")
  }

  @Test("A deleted object that is used")
  func deletedObject() throws {
    let stack = try Stack()
    let (context, other) = (stack.context(), stack.context())
    let (item, category) = (Item(context: context), Category(context: context))
    (item.title, item.category, category.name) = ("kept", category, "kept")
    try context.save()
    let seen = try #require(try other.fetch(Item.fetchRequest()).first)
    let seenCategory = try #require(seen.category)
    #expect(seen.title == "kept" && seenCategory.name == "kept")
    let notes = try Notes.taken {
      context.delete(category)
      category.name = "changed"
      #expect(item.category == nil && category.isDeleted)
      // Related again to an object that is to be deleted.
      item.category = category
      #expect(item.category == nil)
      #expect(
        message { try context.save() }
          == "Item.category can't hold an object of Category that is deleted, and was left as it was. "
          + "Set another object or nil, and save again.")
      item.category = nil
      try context.save()
      // After the save the values are the last ones, and nothing can be changed any more.
      category.name = "later"
      _ = (category.items, category.itemsCount)
      #expect(!context.hasChanges)
      context.delete(category)
      context.refresh(category, mergeChanges: true)
      item.category = category
      #expect(item.category == nil)
      #expect(
        message { try context.save() }
          == "Item.category can't hold an object of Category that is deleted, and was left as it was. "
          + "Set another object or nil, and save again.")
      // A deleted object takes no living one along, whichever side is set.
      let living = Item(context: context)
      category.addToItems(living)
      #expect(living.category == nil)
      expect(
        message { try context.save() }, "2 values can't be saved",
        "Item.category can't hold an object of Category that is deleted")
      living.category = nil
      let tag = Tag(context: context)
      tag.name = "tag"
      context.delete(living)
      tag.addToItems(living)
      #expect(
        message { try context.save() }.hasPrefix("2 values can't be saved"))
      tag.removeFromItems(living)
      item.category = nil
      try context.save()

      // Another context that has not heard of it.
      seenCategory.name = "theirs"
      let id = seenCategory.objectID.uriRepresentation().absoluteString
      #expect(
        message { try other.save() }
          == "Category \(id) was deleted by another writer since it was read. Refresh it "
          + "(refresh(_:mergeChanges: true)) and save again, roll back, or set a mergePolicy.")
      other.rollback()
      seen.category = nil
      seen.category = seenCategory
      let created = Item(context: other)
      created.category = seenCategory
      expect(
        message { try other.save() },
        "Item.category refers to an object of Category that another writer deleted")
    }
    #expect(notes.isEmpty)
  }

  @Test("A store that is removed while its objects are in use")
  func removedStore() throws {
    let stack = try Stack()
    let context = stack.context()
    let (item, category) = (Item(context: context), Category(context: context))
    (item.title, item.category) = ("kept", category)
    try context.save()
    let other = stack.context()
    let seen = try #require(try other.fetch(Item.fetchRequest()).first)
    let fault = other.object(with: category.objectID)
    let coordinator = stack.container.persistentStoreCoordinator
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    let text = "The store of Item was removed. Load a store before fetching or saving, or reset the context."
    item.title = "later"
    _ = Item(context: context)
    #expect(message { try context.save() } == text)
    #expect(item.title == "later" && context.hasChanges)
    #expect(message { _ = try other.fetch(Item.fetchRequest()) } == text)
    // It is known with its row.
    #expect(message { _ = try other.existingObject(with: seen.objectID) } == "no error")
    let notes = Notes.taken {
      #expect(seen.title == "kept")
      _ = (fault as? Category)?.name
      _ = (fault as? Category)?.name
      _ = seen.tags
      _ = seen.tags
    }
    for note in notes { expect(note, "could not be read: The store of", "was removed.") }
    #expect(notes.count == 2, "\(notes)")
    context.rollback()
    context.reset()
  }

  @Test("Objects whose context is gone or was reset say once what they can't read", arguments: [true, false])
  func lostContext(resets: Bool) throws {
    let stack = try Stack()
    do {
      let writer = stack.context()
      let item = Item(context: writer)
      (item.title, item.category, item.count) = ("kept", Category(context: writer), 5)
      item.addToTags(Tag(context: writer))
      try writer.save()
    }
    let (seen, fault): (Item, Item) = try {
      let (context, other) = (stack.context(), stack.context())
      let seen = try #require(try context.fetch(Item.fetchRequest()).first)
      #expect(seen.title == "kept")
      let fault = try #require(other.object(with: seen.objectID) as? Item)
      if resets {
        context.reset()
        other.reset()
      }
      return (seen, fault)
    }()
    let notes = Notes.taken {
      for _ in 0..<2 {
        #expect(seen.title == "kept" && seen.count == 5)
        #expect(seen.category == nil && seen.tags.isEmpty)
        #expect(fault.title == "" && fault.count == 0 && fault.note == nil && fault.category == nil)
      }
    }
    #expect(notes.count == 3, "\(notes)")
    for (note, what) in zip(notes, ["Item.category of x-", "Item.tags of x-", "Item of x-"]) {
      expect(note, what, "could not be read: its context was freed or reset. Keep the context", "snapshot()")
    }
    let free = Notes.taken {
      let item = Item(entity: seen.entity, insertInto: nil)
      #expect(item.category == nil && item.tags.isEmpty && item.title == "")
    }
    #expect(free.isEmpty)
  }

  @Test("A store that is removed between and during the saves of another thread is one error")
  func removedDuringSaves() async throws {
    for _ in 0..<5 {
      let stack = try Stack()
      let context = stack.context()
      let (saves, gate) = AsyncStream.makeStream(of: Void.self)
      let saver = Task.detached {
        while true {
          do {
            try context.performAndWait {
              Item(context: context).title = "kept"
              try context.save()
            }
            gate.yield()
          } catch {
            return error
          }
        }
      }
      var count = 0
      for await _ in saves {
        count += 1
        if count == 3 { break }
      }
      let coordinator = stack.container.persistentStoreCoordinator
      try coordinator.remove(try #require(coordinator.persistentStores.first))
      let error = try #require(await saver.value as? ManagedObjectError)
      #expect(error.code == .noStore)
      expect(
        error.message, "The store",
        "was removed. Load a store before fetching or saving, or reset the context.")
      context.performAndWait { #expect(context.insertedObjects.count == 1) }
    }
  }
}

private let isDebug: Bool = {
  #if DEBUG
    true
  #else
    false
  #endif
}()
