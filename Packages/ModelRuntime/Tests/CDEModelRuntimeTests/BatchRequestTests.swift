import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Batch requests")
struct BatchRequestTests {
  private func filled(_ count: Int = 4) throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack()
    let context = stack.context()
    for number in 0..<count {
      let item = Item(context: context)
      item.title = "t\(number)"
      item.count = number
    }
    try context.save()
    return (stack, context)
  }

  private func items(_ stack: Stack) throws -> [Item] {
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    return try stack.context().fetch(request)
  }

  private func update(_ values: [AnyHashable: Any], _ format: String? = nil) -> NSBatchUpdateRequest {
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.propertiesToUpdate = values
    return request
  }

  private func code(_ body: () throws -> Void) -> ManagedObjectError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? ManagedObjectError)?.code }
  }

  // MARK: Updating

  @Test("An update sets values where the predicate holds, and gives status, count or IDs")
  func update() throws {
    let (stack, context) = try filled()
    let request = update(["title": "new", "flag": true, "note": "n"], "count >= 2")
    let status = try #require(try context.execute(request) as? NSBatchUpdateResult)
    #expect(status.result as? Bool == true)
    request.resultType = .updatedObjectsCountResultType
    #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 2)
    request.resultType = .updatedObjectIDsResultType
    let ids = try #require(
      (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
    let found = try items(stack)
    #expect(found.map(\.title) == ["t0", "t1", "new", "new"])
    #expect(found.map(\.flag) == [false, false, true, true])
    #expect(found.map(\.note) == [nil, nil, "n", "n"])
    #expect(ids == found[2...].map(\.objectID))
  }

  @Test("All kinds of values arrive, nil included")
  func values() throws {
    let (stack, context) = try filled(1)
    let uuid = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 77.5)
    let link = try #require(URL(string: "https://example.org/a"))
    let price = try #require(Decimal(string: "12.34"))
    try context.execute(
      update([
        "score": 1.5, "createdAt": date, "uuid": uuid, "price": price, "link": link,
        "payload": Data([1, 2, 3]), "count": NSNumber(value: -7),
      ]))
    var item = try items(stack)[0]
    #expect(item.score == 1.5)
    #expect(item.createdAt == date)
    #expect(item.uuid == uuid)
    #expect(item.price == price)
    #expect(item.link == link)
    #expect(item.payload == Data([1, 2, 3]))
    #expect(item.count == -7)
    let nothing: String? = nil
    try context.execute(update(["uuid": NSNull(), "note": nothing as Any, "payload": NSNull()]))
    item = try items(stack)[0]
    #expect(item.uuid == nil)
    #expect(item.payload == nil)
  }

  @Test("Contexts and their notifications know nothing of a batch until its IDs are merged")
  func merging() throws {
    let (stack, context) = try filled(2)
    let reader = stack.context()
    let first = try #require(try reader.all("Item", sort: "count").first as? Item)
    #expect(first.title == "t0")
    let listener = Listener(reader)
    let own = Listener(context)
    let request = update(["title": "new"])
    request.resultType = .updatedObjectIDsResultType
    let ids = (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
    #expect(first.title == "t0")
    #expect(listener.names == [] && own.names == [])
    merge(NSUpdatedObjectIDsKey, try #require(ids), into: reader)
    #expect(first.title == "new")
    #expect(listener.names == ["change", "merge"])
    #expect(!reader.hasChanges)
  }

  @Test("A save based on values older than a batch update conflicts")
  func versions() throws {
    let (stack, context) = try filled(1)
    let item = try #require(try context.all("Item").first as? Item)
    try stack.context().execute(update(["note": "batch"]))
    item.title = "mine"
    #expect(code { try context.save() } == .saveConflict)
  }

  @Test("An update without matches changes nothing and counts none")
  func nothing() throws {
    let (stack, context) = try filled(2)
    let request = update(["title": "x"], "count > 100")
    request.resultType = .updatedObjectsCountResultType
    #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 0)
    #expect(try items(stack).map(\.title) == ["t0", "t1"])
  }

  @Test("A predicate over a relationship finds its rows")
  func overRelationship() throws {
    let (stack, context) = try filled(3)
    let category = Category(context: context)
    category.name = "c"
    for case let item as Item in try context.all("Item", NSPredicate(format: "count < 2")) {
      item.category = category
    }
    try context.save()
    try context.execute(update(["title": "found"], "category.name == 'c'"))
    #expect(try items(stack).map(\.title) == ["found", "found", "t2"])
  }

  @Test("What an update can't set is refused with the property's name, and nothing is written")
  func refused() throws {
    let (stack, context) = try filled(1)
    let mistakes: [([AnyHashable: Any], ManagedObjectError.Code)] = [
      (["nonsense": 1], .unsupportedRequest), (["category": NSNull()], .unsupportedRequest),
      (["count": "three"], .invalidValue), (["title": NSNull()], .missingMandatoryProperty),
      ([:], .unsupportedRequest), ([3: 4], .unsupportedRequest),
      (["note": "good", "uuid": 5], .invalidValue),
    ]
    for (values, expected) in mistakes {
      #expect(code { try context.execute(update(values)) } == expected, "\(values)")
    }
    #expect(code { try context.execute(NSBatchUpdateRequest(entityName: "No")) } == .unknownEntity)
    #expect(code { try context.execute(update(["note": "x"], "nonsense == 1")) } == .predicate)
    #expect(try items(stack)[0].note == nil)
  }

  @Test("An update that would repeat a unique value fails as a whole")
  func uniqueness() throws {
    let stack = try Stack()
    let context = stack.context()
    for name in ["a", "b"] { Tag(context: context).name = name }
    try context.save()
    let request = NSBatchUpdateRequest(entityName: "Tag")
    request.propertiesToUpdate = ["tag_name": "c"]
    #expect(code { try context.execute(request) } == .uniquenessConflict)
    #expect(Set(try stack.context().fetch(Tag.fetchRequest()).map(\.name)) == ["a", "b"])
  }

  @Test(
    "Derived attributes follow an update: from the values, the time and other rows")
  func derived() throws {
    let shelf = entity("Shelf")
    let book = entity("Book")
    let folded = NSDerivedAttributeDescription()
    (folded.name, folded.attributeType, folded.isOptional) = ("folded", .stringAttributeType, true)
    folded.derivation = "canonical:(title)"
    let total = NSDerivedAttributeDescription()
    (total.name, total.attributeType, total.isOptional) = ("total", .integer64AttributeType, true)
    total.derivation = "books.pages.@sum"
    book.properties = [
      attribute("title", .stringAttributeType), attribute("pages", .integer64AttributeType), folded,
    ]
    shelf.properties = [total]
    connect(.many(shelf, "books"), .one(book, "shelf"))
    let stack = try Stack(model: model(shelf, book))
    let context = stack.context()
    let owner = context.make("Shelf")
    for pages in [10, 20] {
      context.make("Book", ["title": "x", "pages": pages]).setValue(owner, forKey: "shelf")
    }
    try context.save()
    #expect(owner.value(forKey: "total") as? Int == 30)
    let request = NSBatchUpdateRequest(entityName: "Book")
    request.propertiesToUpdate = ["title": "Ünder", "pages": 7]
    request.resultType = .updatedObjectIDsResultType
    let result = try context.execute(request) as? NSBatchUpdateResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    merge(NSUpdatedObjectIDsKey, ids, into: context)
    #expect(try context.all("Book").map { $0.value(forKey: "folded") as? String } == ["under", "under"])
    #expect(owner.value(forKey: "total") as? Int == 14)
    let delete = NSBatchDeleteRequest(objectIDs: [ids[0]])
    delete.resultType = .resultTypeObjectIDs
    let gone = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
    merge(NSDeletedObjectIDsKey, try #require(gone), into: context)
    #expect(owner.value(forKey: "total") as? Int == 7)
    #expect(owner.set("books").count == 1)
  }

  // MARK: Deleting

  @Test("A deletion takes a request without a named type, and one of a class")
  func inferredTypes() throws {
    let (stack, context) = try filled()
    let none = Item.fetchRequest()
    none.predicate = NSPredicate(format: "count == 0")
    try context.execute(NSBatchDeleteRequest(fetchRequest: none))
    #expect(try items(stack).count == 3)
    try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
    #expect(try items(stack).isEmpty)
  }

  @Test("A deletion takes what the request finds, and gives status, count or IDs")
  func delete() throws {
    let (stack, context) = try filled(6)
    func request(_ format: String) -> NSBatchDeleteRequest {
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      fetch.predicate = NSPredicate(format: format)
      return NSBatchDeleteRequest(fetchRequest: fetch)
    }
    #expect((try context.execute(request("count == 0")) as? NSBatchDeleteResult)?.result as? Bool == true)
    let counting = request("count == 1 OR count == 2")
    counting.resultType = .resultTypeCount
    #expect((try context.execute(counting) as? NSBatchDeleteResult)?.result as? Int == 2)
    let expected = try items(stack)[0].objectID
    let naming = request("count == 3")
    naming.resultType = .resultTypeObjectIDs
    #expect(
      (try context.execute(naming) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] == [expected])
    #expect(try items(stack).map(\.count) == [4, 5])
  }

  @Test("Limit, offset and order of the request choose what is deleted")
  func deleteSome() throws {
    let (stack, context) = try filled(6)
    let fetch = Item.fetchRequest()
    fetch.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    fetch.fetchLimit = 2
    fetch.fetchOffset = 1
    try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
    #expect(try items(stack).map(\.count) == [0, 1, 2, 5])
  }

  @Test("Merged deletions let go of objects, and of their places in relationships")
  func mergedDeletion() throws {
    let (stack, context) = try filled(3)
    let category = Category(context: context)
    let tag = Tag(context: context)
    for case let item as Item in try context.all("Item") {
      item.category = category
      item.addToTags(tag)
    }
    try context.save()
    let reader = stack.context()
    let seen = try #require(try reader.fetch(Category.fetchRequest()).first)
    let seenTag = try #require(try reader.fetch(Tag.fetchRequest()).first)
    #expect(seen.itemsCount == 3 && seenTag.itemsCount == 3)
    let fetch = Item.fetchRequest()
    fetch.predicate = NSPredicate(format: "count < 2")
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    let ids = (try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
    merge(NSDeletedObjectIDsKey, try #require(ids), into: reader)
    #expect(seen.itemsCount == 1 && seenTag.itemsCount == 1)
    #expect(reader.deletedObjects.isEmpty && !reader.hasChanges)
  }

  @Test("IDs of several entities, and temporary ones, can't be deleted in a batch")
  func foreignIDs() throws {
    let (_, context) = try filled(1)
    let tag = Tag(context: context)
    try context.save()
    let item = try #require(try context.all("Item").first)
    let ids = [item.objectID, tag.objectID]
    #expect(code { try context.execute(NSBatchDeleteRequest(objectIDs: ids)) } == .unsupportedRequest)
    let new = [Item(context: context).objectID]
    #expect(code { try context.execute(NSBatchDeleteRequest(objectIDs: new)) } == .unsupportedRequest)
    let none = NSBatchDeleteRequest(objectIDs: [])
    none.resultType = .resultTypeCount
    #expect((try context.execute(none) as? NSBatchDeleteResult)?.result as? Int == 0)
  }

  @Test("A denial, and a required relationship to a deleted object, fail the whole deletion")
  func denied() throws {
    let owner = entity("Owner", nil, [attribute("n", .integer64AttributeType)])
    let part = entity("Part")
    let note = entity("Note")
    connect(.many(owner, "parts", rule: .denyDeleteRule), .one(part, "owner"))
    connect(.many(owner, "notes"), .one(note, "owner", optional: false))
    let stack = try Stack(model: model(owner, part, note))
    let context = stack.context()
    let owners = (0..<3).map { context.make("Owner", ["n": $0]) }
    context.make("Part").setValue(owners[0], forKey: "owner")
    context.make("Note").setValue(owners[1], forKey: "owner")
    try context.save()
    func delete(_ format: String) -> ManagedObjectError.Code? {
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      fetch.predicate = NSPredicate(format: format)
      return code { try context.execute(NSBatchDeleteRequest(fetchRequest: fetch)) }
    }
    #expect(delete("n == 0") == .relationshipDeniedDelete)
    #expect(delete("n == 1") == .relationshipDeniedDelete)
    #expect(delete("n >= 0") == .relationshipDeniedDelete)
    #expect(try stack.context().all("Owner").count == 3)
    #expect(delete("n == 2") == nil)
    #expect(try stack.context().all("Owner").count == 2)
  }

  // MARK: Inserting

  @Test("Dictionaries are inserted with defaults for what they leave out; status, count and IDs")
  func insertDictionaries() throws {
    let stack = try Stack()
    let context = stack.context()
    let objects: [[String: Any]] = [["title": "a", "count": 1], ["title": "b", "note": "n", "count": 2]]
    let request = NSBatchInsertRequest(entityName: "Item", objects: objects)
    #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Bool == true)
    request.resultType = .count
    #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
    request.resultType = .objectIDs
    let ids = try #require(
      (try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    let found = try ids.map { try #require(try context.existingObject(with: $0) as? Item) }
    #expect(found.map(\.title) == ["a", "b"])
    #expect(found.map(\.note) == [nil, "n"])
    #expect(found.map(\.createdAt.timeIntervalSinceReferenceDate) == [0, 0])
    #expect(try items(stack).count == 6)
    found[0].title = "changed"
    try context.save()
  }

  @Test("A dictionary handler is asked until it says that there is no more")
  func insertByHandler() throws {
    let stack = try Stack()
    var next = 0
    let request = NSBatchInsertRequest(entityName: "Item") { (values: NSMutableDictionary) in
      if next == 10_000 { return true }
      values["title"] = "n\(next)"
      values["count"] = next
      if next % 2 == 0 { values["note"] = "even" }
      next += 1
      return false
    }
    request.resultType = .count
    #expect((try stack.context().execute(request) as? NSBatchInsertResult)?.result as? Int == 10_000)
    let found = try items(stack)
    #expect(found.count == 10_000)
    #expect(found.indices.allSatisfy { found[$0].count == $0 && found[$0].title == "n\($0)" })
    #expect(found.count { $0.note == nil } == 5_000)
  }

  @Test("An object handler fills the same object each time, with the defaults")
  func insertByObject() throws {
    let stack = try Stack()
    var next = 0
    let request = NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
      guard next < 3, let item = object as? Item else { return true }
      #expect(item.title == "" && item.note == nil)
      item.title = "o\(next)"
      item.count = next
      if next == 1 { item.note = "one" }
      next += 1
      return false
    }
    try stack.context().execute(request)
    let found = try items(stack)
    #expect(found.map(\.title) == ["o0", "o1", "o2"])
    #expect(found.map(\.note) == [nil, "one", nil])
  }

  @Test("A hundred thousand objects are inserted, updated and deleted, each in one request")
  func large() throws {
    let stack = try Stack()
    let context = stack.context()
    let clock = ContinuousClock()
    var next = 0
    let insert = NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
      guard next < 100_000, let item = object as? Item else { return true }
      item.count = next
      item.title = "title"
      next += 1
      return false
    }
    let inserting = try clock.measure { try context.execute(insert) }
    let change = update(["note": "changed"], "count >= 50000")
    change.resultType = .updatedObjectsCountResultType
    var changed: Int?
    let updating = try clock.measure {
      changed = (try context.execute(change) as? NSBatchUpdateResult)?.result as? Int
    }
    #expect(changed == 50_000)
    let fetch = Item.fetchRequest()
    fetch.predicate = NSPredicate(format: "note == nil")
    let delete = NSBatchDeleteRequest(fetchRequest: fetch)
    delete.resultType = .resultTypeCount
    var deleted: Int?
    let deleting = try clock.measure {
      deleted = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int
    }
    #expect(deleted == 50_000)
    #expect(try context.count(for: Item.fetchRequest()) == 50_000)
    print("batches of 100,000: inserted in \(inserting), updated in \(updating), deleted in \(deleting)")
  }

  @Test("One bad object fails the whole insertion")
  func badInsert() throws {
    let stack = try Stack()
    let context = stack.context()
    let good: [String: Any] = ["title": "good"]
    func insert(_ bad: [String: Any]) -> ManagedObjectError.Code? {
      code { try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [good, bad])) }
    }
    #expect(insert(["title": NSNull()]) == .missingMandatoryProperty)
    #expect(insert(["count": "many"]) == .invalidValue)
    #expect(insert(["nonsense": 1]) == .unsupportedRequest)
    #expect(insert(["tags": []]) == .unsupportedRequest)
    let twice = [["tag_name": "x"], ["tag_name": "x"]]
    #expect(
      code { try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: twice)) }
        == .uniquenessConflict)
    #expect(try items(stack).isEmpty)
    #expect(try context.count(for: Tag.fetchRequest()) == 0)
    try context.execute(NSBatchInsertRequest(entityName: "Item", objects: []))
    #expect(try items(stack).isEmpty)
  }
}

/// Merges IDs into contexts that were never entered, on the test's own thread.
func merge(_ key: String, _ ids: [NSManagedObjectID], into contexts: NSManagedObjectContext...) {
  for context in contexts {
    context.mergeChanges(
      fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, userInfo: [key: Set(ids)]))
  }
}
