import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Merge policies: unique values")
struct MergePolicyUniquenessTests {
  /// Authors with a unique name, their books, and notes that refer to an author who knows nothing of them.
  private struct Library {
    let stack: Stack
    let theirs: NSManagedObjectContext
    let mine: NSManagedObjectContext
    let fresh: NSManagedObjectContext

    init(_ type: NSMergePolicyType) throws {
      let author = entity(
        "Author", nil,
        [
          attribute("name", .stringAttributeType), attribute("born", .integer32AttributeType),
          attribute("country", .stringAttributeType, default: "unknown"),
          attribute("code", .integer32AttributeType),
        ])
      author.uniquenessConstraints = [["name"], ["code"]]
      let book = entity("Book", nil, [attribute("title", .stringAttributeType)])
      let prize = entity("Prize", nil, [attribute("title", .stringAttributeType)])
      let note = entity("Note", nil, [])
      let medal = entity("Medal", nil, [])
      connect(.many(author, "books"), .one(book, "author"))
      connect(.many(author, "prizes"), .many(prize, "authors"))
      connect(.one(author, "medal"), .one(medal, "author"))
      point(.one(note, "subject"), to: author)
      stack = try Stack(model: model(author, book, prize, note, medal))
      (theirs, mine, fresh) = (stack.context(), stack.context(), stack.context())
      mine.mergePolicy = NSMergePolicy(merge: type)
    }

    /// Name, year, country and code of all authors, as the store has them.
    func authors() throws -> [String] {
      fresh.reset()
      return try fresh.all("Author", sort: "name").map { author in
        ["name", "born", "country", "code"].map { author.value(forKey: $0).map { "\($0)" } ?? "-" }
          .joined(separator: " ")
      }
    }

    func names(_ key: String, of author: NSManagedObject) throws -> [String] {
      fresh.reset()
      return try fresh.existingObject(with: author.objectID).set(key).compactMap {
        $0.value(forKey: "title") as? String
      }.sorted()
    }
  }

  @Test("The error policy names the constraint, its values and who has them; another value mends it")
  func error() throws {
    let library = try Library(.errorMergePolicyType)
    let first = library.theirs.make("Author", ["name": "X", "born": 1900])
    try library.theirs.save()
    let second = library.mine.make("Author", ["name": "X"])
    let third = library.mine.make("Author", ["name": "Y"])
    let fourth = library.mine.make("Author", ["name": "Y"])
    let error = try #require(#expect(throws: ManagedObjectError.self) { try library.mine.save() })
    #expect((error.code, error.entity, error.property) == (.uniquenessConflict, "Author", "name"))
    let bridged = error as NSError
    #expect((bridged.domain, bridged.code) == (NSCocoaErrorDomain, NSManagedObjectConstraintMergeError))
    let list = try #require(
      bridged.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
    #expect(list.map(\.constraint) == [["name"], ["name"]])
    #expect(list.map { $0.constraintValues["name"] as? String } == ["X", "Y"])
    #expect(list.map(\.conflictingObjects) == [[second], [third, fourth]])
    #expect(list[0].databaseObject?.objectID == first.objectID)
    #expect(list[0].databaseSnapshot?["born"] as? Int == 1900)
    #expect(list[0].conflictingSnapshots.map(\.count) == [0])
    #expect(list[1].databaseObject == nil && list[1].databaseSnapshot == nil)
    #expect(library.mine.insertedObjects == [second, third, fourth])
    second.setValue("Z", forKey: "name")
    library.mine.delete(fourth)
    try library.mine.save()
    #expect(try library.authors().count == 3)
  }

  @Test("Conflicts of both kinds come in one error")
  func bothKinds() throws {
    let library = try Library(.errorMergePolicyType)
    let first = library.theirs.make("Author", ["name": "X"])
    try library.theirs.save()
    let seen = try library.mine.existingObject(with: first.objectID)
    _ = seen.value(forKey: "born")
    library.theirs.make("Author", ["name": "Y"])
    first.setValue(1, forKey: "born")
    try library.theirs.save()
    seen.setValue(2, forKey: "born")
    library.mine.make("Author", ["name": "Y"])
    let error = try #require(#expect(throws: ManagedObjectError.self) { try library.mine.save() })
    #expect(error.code == .saveConflict)
    #expect((error.mergeConflicts.count, error.constraintConflicts.count) == (1, 1))
    library.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try library.mine.save()
    #expect(try library.authors() == ["X 2 unknown -", "Y - unknown -"])
  }

  @Test("A new object with a taken value: who stays, with which values", arguments: NSMergePolicy.settling)
  func insertion(_ type: NSMergePolicyType) throws {
    let library = try Library(type)
    let first = library.theirs.make("Author", ["name": "X", "born": 1900, "country": "FR", "code": 7])
    let old = library.theirs.make("Book", ["title": "old"])
    old.setValue(first, forKey: "author")
    try library.theirs.save()
    let new = library.mine.make("Author", ["name": "X", "born": 1901])
    let book = library.mine.make("Book", ["title": "new"])
    book.setValue(new, forKey: "author")
    let prize = library.mine.make("Prize", ["title": "prize"])
    prize.mutableSetValue(forKey: "authors").add(new)
    let note = library.mine.make("Note")
    note.setValue(new, forKey: "subject")
    let listener = Listener(library.mine)
    try library.mine.save()
    #expect(!library.mine.hasChanges)
    let expected =
      switch type {
      case .mergeByPropertyObjectTrumpMergePolicyType: "X 1901 FR 7"
      case .overwriteMergePolicyType: "X 1901 unknown -"
      default: "X 1900 FR 7"
      }
    #expect(try library.authors() == [expected])
    // Whatever referred to the new object refers to the one that stays.
    #expect(try library.names("books", of: first) == ["new", "old"])
    #expect(try library.names("prizes", of: first) == ["prize"])
    let survivor = try #require(book.one("author"))
    #expect(survivor.objectID == first.objectID)
    #expect(note.one("subject") === survivor)
    #expect(survivor.set("books").count == 2)
    #expect(prize.set("authors") == [survivor])
    let did = listener.events.count - 1
    #expect(listener.names[did] == "did")
    if type.storeWins {
      #expect(new.isDeleted && new.managedObjectContext == nil)
      #expect(listener.objects(did, NSInsertedObjectsKey) == [book, prize, note])
    } else {
      // No object of this context had the row, so the new object stays.
      #expect(new === survivor)
      #expect(!new.objectID.isTemporaryID && !new.isInserted)
      #expect(listener.objects(did, NSUpdatedObjectsKey) == [new])
    }
    library.mine.mergePolicy = NSMergePolicy.error
    survivor.setValue(1950, forKey: "born")
    try library.mine.save()
  }

  @Test("An object that the context knows stays the object of its row and takes the new one's values")
  func knownObject() throws {
    let library = try Library(.mergeByPropertyObjectTrumpMergePolicyType)
    let first = library.theirs.make("Author", ["name": "X", "born": 1900, "country": "FR"])
    try library.theirs.save()
    let seen = try library.mine.existingObject(with: first.objectID)
    let new = library.mine.make("Author", ["name": "X", "born": 1901])
    let other = library.mine.make("Author", ["name": "X", "country": "DE"])
    let medal = library.mine.make("Medal")
    new.setValue(medal, forKey: "medal")
    let books = ["a", "b"].map { library.mine.make("Book", ["title": $0]) }
    books[0].setValue(new, forKey: "author")
    books[1].setValue(other, forKey: "author")
    try library.mine.save()
    #expect(new.isDeleted && other.isDeleted)
    #expect(try library.authors() == ["X 1901 DE -"])
    #expect(seen.value(forKey: "born") as? Int == 1901)
    #expect(seen.set("books") == Set(books))
    #expect(seen.one("medal") === medal && medal.one("author") === seen)
    #expect(try library.names("books", of: first) == ["a", "b"])
  }

  @Test(
    "New objects that share a value become one, the first, in the order of their making",
    arguments: NSMergePolicy.settling)
  func amongThemselves(_ type: NSMergePolicyType) throws {
    let library = try Library(type)
    let objects = [1, 2, 3].map { library.mine.make("Author", ["name": "X", "born": $0]) }
    let books = objects.map { author in
      let book = library.mine.make("Book", ["title": "b"])
      book.setValue(author, forKey: "author")
      return book
    }
    objects[1].setValue("DE", forKey: "country")
    try library.mine.save()
    let expected =
      switch type {
      case .mergeByPropertyObjectTrumpMergePolicyType: "X 3 DE -"
      case .overwriteMergePolicyType: "X 3 unknown -"
      default: "X 1 unknown -"
      }
    #expect(try library.authors() == [expected])
    #expect(!objects[0].isDeleted && objects[1].isDeleted && objects[2].isDeleted)
    #expect(books.allSatisfy { $0.one("author") === objects[0] })
  }

  @Test(
    "A saved object that takes another's value gives it up again, or the other goes",
    arguments: NSMergePolicy.settling)
  func update(_ type: NSMergePolicyType) throws {
    let library = try Library(type)
    let objects = [
      library.theirs.make("Author", ["name": "X", "born": 1]),
      library.theirs.make("Author", ["name": "Y", "born": 2]),
    ]
    try library.theirs.save()
    let mine = try library.mine.existingObject(with: objects[1].objectID)
    mine.setValue("X", forKey: "name")
    mine.setValue(22, forKey: "born")
    let book = library.mine.make("Book", ["title": "b"])
    book.setValue(mine, forKey: "author")
    try library.mine.save()
    let expected =
      switch type {
      case .mergeByPropertyStoreTrumpMergePolicyType: ["X 1 unknown -", "Y 22 unknown -"]
      case .rollbackMergePolicyType: ["X 1 unknown -", "Y 2 unknown -"]
      default: ["X 22 unknown -"]
      }
    #expect(try library.authors() == expected)
    #expect(book.one("author") === mine)
    #expect(mine.value(forKey: "name") as? String == (type.storeWins ? "Y" : "X"))
  }

  @Test("An object in the way of two rows takes both their values, and one row is left")
  func twoConstraints() throws {
    let library = try Library(.mergeByPropertyObjectTrumpMergePolicyType)
    library.theirs.make("Author", ["name": "X", "code": 1])
    library.theirs.make("Author", ["name": "Y", "code": 2])
    try library.theirs.save()
    let new = library.mine.make("Author", ["name": "X", "code": 2, "born": 9])
    try library.mine.save()
    #expect(try library.authors() == ["X 9 unknown 2"])
    #expect(!new.isDeleted)
  }

  @Test(
    "An object in the way of one row over two constraints is one row afterwards",
    arguments: NSMergePolicy.settling)
  func oneRowTwice(_ type: NSMergePolicyType) throws {
    let library = try Library(type)
    library.theirs.make("Author", ["name": "X", "code": 1, "born": 1900])
    try library.theirs.save()
    let new = library.mine.make("Author", ["name": "X", "code": 1, "born": 1901])
    try library.mine.save()
    #expect(try library.authors() == [type.storeWins ? "X 1900 unknown 1" : "X 1901 unknown 1"])
    #expect(new.isDeleted == type.storeWins)
    // Once more, now that the context may know the row's object.
    library.mine.make("Author", ["name": "X", "code": 1, "born": 1902])
    try library.mine.save()
    #expect(try library.authors() == [type.storeWins ? "X 1900 unknown 1" : "X 1902 unknown 1"])
  }

  @Test("A row of another entity of the tree keeps its entity and takes what both have")
  func inheritance() throws {
    let base = entity(
      "Base", nil, [attribute("name", .stringAttributeType), attribute("size", .integer32AttributeType)])
    base.uniquenessConstraints = [["name"]]
    let one = entity("One", nil, [attribute("extra", .stringAttributeType)])
    let two = entity("Two", nil, [attribute("other", .stringAttributeType)])
    base.subentities = [one, two]
    let stack = try Stack(model: model(base, one, two))
    let (theirs, mine) = (stack.context(), stack.context())
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    theirs.make("One", ["name": "X", "size": 1, "extra": "e"])
    try theirs.save()
    let new = mine.make("Two", ["name": "X", "size": 2, "other": "o"])
    try mine.save()
    #expect(new.isDeleted)
    let fresh = stack.context()
    let all = try fresh.all("Base")
    #expect(all.map { $0.entity.name } == ["One"])
    #expect(all.first?.value(forKey: "size") as? Int == 2)
    #expect(all.first?.value(forKey: "extra") as? String == "e")
  }

  @Test("Importing the same records again and again keeps one row for each, and its key")
  func imports() throws {
    let library = try Library(.mergeByPropertyObjectTrumpMergePolicyType)
    var keys: Set<NSManagedObjectID> = []
    for round in 0..<3 {
      let context = library.stack.context()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let made = (0..<200).map { context.make("Author", ["name": "n\($0)", "born": $0 + round]) }
      try context.save()
      keys.formUnion(made.map(\.objectID))
    }
    #expect(keys.count == 200)
    library.fresh.reset()
    let authors = try library.fresh.all("Author")
    #expect(authors.count == 200)
    #expect(
      authors.allSatisfy { author in
        let born = author.value(forKey: "born") as? Int ?? -1
        return author.value(forKey: "name") as? String == "n\(born - 2)"
      })
  }

  @Test("A policy of one's own deletes the object that is in the way")
  func custom() throws {
    let library = try Library(.errorMergePolicyType)
    let first = library.theirs.make("Author", ["name": "X", "born": 1])
    try library.theirs.save()
    library.mine.mergePolicy = Replacing(merge: .errorMergePolicyType)
    let new = library.mine.make("Author", ["name": "X"])
    try library.mine.save()
    #expect(try library.authors() == ["X - unknown -"])
    #expect(new.objectID != first.objectID)
  }

  private final class Replacing: NSMergePolicy, @unchecked Sendable {
    // Guard: has no state.
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
      for case let object? in list.map(\.databaseObject) { object.managedObjectContext?.delete(object) }
    }
  }
}
