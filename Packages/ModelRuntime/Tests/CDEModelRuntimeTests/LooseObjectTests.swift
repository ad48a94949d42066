import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Objects that were made without a context and are related to objects of one.
@Suite("Objects without a context")
struct LooseObjectTests {
  private func library() -> NSManagedObjectModel {
    let author = entity("Author", nil, [attribute("name", .stringAttributeType)])
    let book = entity("Book", nil, [attribute("title", .stringAttributeType)])
    let cover = entity("Cover", nil, [attribute("colour", .stringAttributeType)])
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType)])
    let loan = entity("Loan", nil, [attribute("to", .stringAttributeType)])
    connect(.many(author, "books"), .one(book, "author"))
    connect(.many(shelf, "books", ordered: true), .one(book, "shelf"))
    connect(.many(book, "readers"), .many(author, "read"))
    connect(.one(book, "cover"), .one(cover, "book"))
    connect(.many(book, "loans", optional: false, min: 1), .one(loan, "book", optional: false))
    point(.one(loan, "clerk"), to: author)
    return model(author, book, cover, shelf, loan)
  }

  private func loose(_ entity: String, _ stack: Stack, _ values: [String: Any] = [:]) throws
    -> NSManagedObject
  {
    let description = try #require(stack.container.managedObjectModel.entitiesByName[entity])
    let object = NSManagedObject(entity: description, insertInto: nil)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// A loan makes a book valid.
  private func lent(_ book: NSManagedObject, _ stack: Stack) throws {
    book.mutableSetValue(forKey: "loans").add(try loose("Loan", stack, ["to": "Ann"]))
  }

  @Test("An object of another class than its entity's is told by a typed fetch, and not taken for one")
  func otherClass() throws {
    let stack = try Stack([Watched.self])
    let context = stack.context()
    let entity = try #require(stack.container.managedObjectModel.entitiesByName["Watched"])
    let plain = NSManagedObject(entity: entity, insertInto: context)
    #expect(throws: ManagedObjectError.self) { try context.fetch(Watched.fetchRequest()) }
    try context.save()
    let error = #expect(throws: ManagedObjectError.self) { try context.fetch(Watched.fetchRequest()) }
    #expect(error?.message.contains("NSManagedObject, not Watched") == true)
    #expect(throws: ManagedObjectError.self) { try context.fetch(Watched.fetchRequest(), batchSize: 10) }
    #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Watched")) == [plain])
    #expect(try stack.context().fetch(Watched.fetchRequest()).count == 1)
  }

  @Test("A loose destination of each kind of relationship joins the context and is saved with the link")
  func destinations() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let book = context.make("Book", ["title": "Emma"])
      let author = try loose("Author", stack, ["name": "Austen"])
      book.setValue(author, forKey: "author")
      #expect(author.managedObjectContext === context && author.isInserted)
      try lent(book, stack)
      book.setValue(try loose("Cover", stack, ["colour": "red"]), forKey: "cover")
      book.setValue(NSSet(array: [try loose("Author", stack, ["name": "Ada"])]), forKey: "readers")
      let shelf = context.make("Shelf", ["name": "A"])
      shelf.mutableOrderedSetValue(forKey: "books").add(book)
      let second = try loose("Book", stack, ["title": "Persuasion"])
      shelf.mutableOrderedSetValue(forKey: "books").insert(second, at: 0)
      try lent(second, stack)
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let book = try #require(try other.all("Book", NSPredicate(format: "title == 'Emma'")).first)
      #expect(book.one("author")?.value(forKey: "name") as? String == "Austen")
      #expect(book.one("cover")?.value(forKey: "colour") as? String == "red")
      #expect(book.set("readers").map { $0.value(forKey: "name") as? String } == ["Ada"])
      #expect(book.set("loans").count == 1)
      let shelf = try #require(try other.all("Shelf").first)
      #expect(shelf.list("books").map { $0.value(forKey: "title") as? String } == ["Persuasion", "Emma"])
    }
  }

  @Test("A loose object that is given an object of a context joins that context")
  func owners() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let author = context.make("Author", ["name": "Austen"])
      try context.save()
      let book = try loose("Book", stack, ["title": "Emma"])
      book.setValue(author, forKey: "author")
      #expect(book.managedObjectContext === context)
      try lent(book, stack)
      // A relationship without an inverse names no other side.
      let loan = try loose("Loan", stack)
      loan.setValue(author, forKey: "clerk")
      loan.setValue(book, forKey: "book")
      try context.save()
      #expect(author.set("books") == [book])
    }
    let other = stack.context()
    try other.performAndWait { () throws in
      #expect(
        try other.all("Loan", NSPredicate(format: "clerk.name == 'Austen' AND book.title == 'Emma'")).count
          == 1)
    }
  }

  @Test("An insertion takes along all that the object reaches, however long the chain is")
  func reach() throws {
    let node = entity("Node", nil, [attribute("number", .integer64AttributeType, default: 0)])
    connect(.one(node, "next"), .one(node, "last"))
    let stack = try Stack(model: model(node))
    let context = stack.context()
    try context.performAndWait {
      let nodes = (0..<20_000).map { number in
        let made = NSManagedObject(entity: node, insertInto: nil)
        made.setValue(number, forKey: "number")
        return made
      }
      for (one, next) in zip(nodes, nodes.dropFirst()) { one.setValue(next, forKey: "next") }
      #expect(context.insertedObjects.isEmpty)
      context.insert(nodes[10_000])
      #expect(context.insertedObjects.count == nodes.count)
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait { () throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.predicate = NSPredicate(format: "next.number == number + 1 AND next.last == SELF")
      #expect(try other.count(for: request) == 19_999)
    }
  }

  @Test("The rules of validation see a loose object that was related")
  func validation() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let author = context.make("Author")
      author.mutableSetValue(forKey: "books").add(try loose("Book", stack, ["title": "Unlent"]))
      let error = try #require(throws: (any Error).self) { try context.save() }
      #expect("\(error)".contains("Book.loans"))
      try lent(try #require(author.set("books").first), stack)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1)
    }
  }

  @Test("An existing link is replaced by the link to the loose object")
  func replacing() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let book = context.make("Book", ["title": "Emma"])
      try lent(book, stack)
      book.setValue(context.make("Author", ["name": "First"]), forKey: "author")
      book.setValue(context.make("Cover", ["colour": "blue"]), forKey: "cover")
      try context.save()
      book.setValue(try loose("Author", stack, ["name": "Second"]), forKey: "author")
      book.setPrimitiveValue(try loose("Cover", stack, ["colour": "red"]), forKey: "cover")
      book.didChangeValue(forKey: "cover")
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let book = try #require(try other.all("Book").first)
      #expect(book.one("author")?.value(forKey: "name") as? String == "Second")
      #expect(book.one("cover")?.value(forKey: "colour") as? String == "red")
      #expect(
        try other.all("Author", NSPredicate(format: "name == 'First' AND books.@count == 0")).count == 1)
    }
  }

  @Test("A former partner of a loose object stays outside when the object joins a context for another one")
  func formerPartners() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let (former, author) = (try loose("Author", stack), context.make("Author", ["name": "New"]))
      let moved = try loose("Book", stack)
      moved.setValue(former, forKey: "author")
      // By the to-one side, and below by the to-many side and by a one-to-one relationship.
      moved.setValue(author, forKey: "author")
      let second = try loose("Book", stack)
      former.mutableSetValue(forKey: "books").add(second)
      author.mutableSetValue(forKey: "books").add(second)
      let (book, cover) = (try loose("Book", stack), try loose("Cover", stack))
      book.setValue(cover, forKey: "cover")
      moved.setValue(cover, forKey: "cover")
      #expect(author.set("books") == [moved, second] && former.set("books").isEmpty)
      #expect(moved.managedObjectContext === context && second.managedObjectContext === context)
      #expect(cover.managedObjectContext === context && cover.one("book") === moved)
      #expect(former.managedObjectContext == nil && book.managedObjectContext == nil)
      #expect(book.one("cover") == nil)
    }
  }

  @Test("A child context takes the object, and hands it on")
  func child() throws {
    let stack = try Stack(model: library())
    let parent = stack.context()
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait {
      let book = child.make("Book", ["title": "Emma"])
      try lent(book, stack)
      book.setValue(try loose("Author", stack, ["name": "Austen"]), forKey: "author")
      try child.save()
    }
    try parent.performAndWait {
      #expect(parent.insertedObjects.count == 3)
      try parent.save()
      #expect(try parent.all("Book").first?.one("author")?.value(forKey: "name") as? String == "Austen")
    }
  }

  @Test("An insertion that a context overrides is called, and so is the hook")
  func hooks() throws {
    final class Counting: NSManagedObjectContext, @unchecked Sendable {
      // Guard: used on the one thread that runs the test.
      nonisolated(unsafe) var inserted = 0
      override func insert(_ object: NSManagedObject) {
        inserted += 1
        super.insert(object)
      }
    }
    let stack = try Stack(model: library())
    let context = Counting(.privateQueue)
    context.persistentStoreCoordinator = stack.container.persistentStoreCoordinator
    try context.performAndWait {
      let shelf = context.make("Shelf")
      let before = context.inserted
      shelf.mutableOrderedSetValue(forKey: "books").add(try loose("Book", stack))
      #expect(context.inserted == before + 1)
    }
  }

  @Test("A rollback and an undo take the objects out again")
  func takenBack() throws {
    let stack = try Stack(model: library())
    let context = stack.context()
    try context.performAndWait {
      let author = context.make("Author", ["name": "Austen"])
      try context.save()
      author.mutableSetValue(forKey: "books").add(try loose("Book", stack))
      context.rollback()
      #expect(author.set("books").isEmpty && !context.hasChanges)
      context.undoManager = UndoManager()
      author.mutableSetValue(forKey: "books").add(try loose("Book", stack))
      context.processPendingChanges()
      context.undo()
      #expect(author.set("books").isEmpty)
      try context.save()
      #expect(try context.all("Book").isEmpty)
    }
  }

  @Test("An object whose context was reset, and one that is deleted, stay out and are reported by the save")
  func lost() throws {
    let stack = try Stack(model: library())
    let (context, other) = (stack.context(), stack.context())
    let stray = try other.performAndWait {
      let made = other.make("Author", ["name": "Stray"])
      try other.save()
      other.reset()
      return UncheckedBox(made)
    }
    try context.performAndWait {
      let cover = context.make("Cover")
      let book = context.make("Book", ["title": "Emma"])
      book.setValue(cover, forKey: "cover")
      try lent(book, stack)
      try context.save()
      book.setValue(stray.value, forKey: "author")
      let error = try #require(throws: (any Error).self) { try context.save() }
      #expect("\(error)".contains("whose context was freed or reset"))
      book.setValue(nil, forKey: "author")
      try context.save()
      context.delete(cover)
      // The loose object does not join the context of an object that is about to go.
      let loose = try loose("Book", stack)
      loose.setValue(cover, forKey: "cover")
      #expect(loose.managedObjectContext == nil)
      try context.save()
      #expect(try context.all("Book").count == 1)
    }
  }

  @Test("A loose object of another model is refused by a trap that names both")
  func anotherModel() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { () throws in
      let (left, right) = (entity("Left"), entity("Right"))
      connect(.one(left, "right"), .one(right, "left"))
      let stack = try Stack(model: model(left, right))
      let stranger = entity("Stranger")
      let other = model(stranger)
      defer { withExtendedLifetime(other) {} }
      let context = stack.context()
      context.performAndWait {
        let made = context.make("Left")
        made.setValue(NSManagedObject(entity: stranger, insertInto: nil), forKey: "right")
      }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("Left.right") && said.contains("Stranger"), "\(said)")
  }
}

private struct UncheckedBox<Value>: @unchecked Sendable {
  // Guard: used by the test's one thread.
  let value: Value
  init(_ value: Value) { self.value = value }
}
