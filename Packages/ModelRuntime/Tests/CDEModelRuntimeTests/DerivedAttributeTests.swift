import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Derived attributes", .ownThreads)
struct DerivedAttributeTests {
  private static func derived(_ name: String, _ type: NSAttributeType, _ expression: String)
    -> NSDerivedAttributeDescription
  {
    let result = NSDerivedAttributeDescription()
    result.name = name
    result.attributeType = type
    result.derivation = expression
    return result
  }

  private static func library() -> NSManagedObjectModel {
    let book = entity(
      "Book", nil,
      [
        attribute("title", .stringAttributeType), attribute("price", .doubleAttributeType),
        derived("folded", .stringAttributeType, "canonical:(title)"),
        derived("small", .stringAttributeType, "lowercase:(title)"),
        derived("large", .stringAttributeType, "uppercase:(title)"),
        derived("changedAt", .dateAttributeType, "now()"),
        derived("shelfName", .stringAttributeType, "shelf.name"),
      ])
    let shelf = entity(
      "Shelf", nil,
      [
        attribute("name", .stringAttributeType),
        derived("bookCount", .integer64AttributeType, "books.@count"),
        derived("worth", .doubleAttributeType, "books.price.@sum"),
      ])
    connect(.one(book, "shelf"), .many(shelf, "books"))
    return model(book, shelf)
  }

  @Test("What follows from the object itself is there after the save, and only then")
  func ownValues() throws {
    let stack = try Stack(model: Self.library())
    let context = stack.context()
    try context.performAndWait {
      let before = Date()
      let book = context.make("Book", ["title": "Über Ärger", "folded": "set by hand"])
      #expect(book.value(forKey: "large") == nil)
      try context.save()
      #expect(book.value(forKey: "folded") as? String == "uber arger")
      #expect(book.value(forKey: "small") as? String == "über ärger")
      #expect(book.value(forKey: "large") as? String == "ÜBER ÄRGER")
      let saved = try #require(book.value(forKey: "changedAt") as? Date)
      #expect(saved >= before && saved <= Date())

      book.setValue("B", forKey: "title")
      #expect(book.value(forKey: "small") as? String == "über ärger")
      try context.save()
      #expect(book.value(forKey: "small") as? String == "b")
      let again = try #require(book.value(forKey: "changedAt") as? Date)
      #expect(again > saved)

      book.setValue(nil, forKey: "title")
      try context.save()
      #expect(book.value(forKey: "folded") == nil)
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "folded") == nil)
      #expect(try context.all("Book", NSPredicate(format: "large == nil")).count == 1)
    }
  }

  @Test(
    "Counts, sums and copies follow every save, in the saving context and in those that merge")
  func otherRows() async throws {
    let stack = try Stack(model: Self.library())
    let context = stack.context()
    let sibling = stack.context()
    sibling.automaticallyMergesChangesFromParent = true
    let id = try context.performAndWait { () throws -> NSManagedObjectID in
      let shelf = context.make("Shelf", ["name": "North"])
      context.make("Book", ["price": 2.5, "shelf": shelf])
      try context.save()
      #expect(shelf.value(forKey: "bookCount") as? Int == 1)
      #expect(shelf.value(forKey: "worth") as? Double == 2.5)
      #expect(try context.all("Book")[0].value(forKey: "shelfName") as? String == "North")
      return shelf.objectID
    }
    func there(_ body: @escaping (NSManagedObject) throws -> Void) async throws {
      // Merges run in the context's queue, so a later block runs after them.
      try await sibling.perform { try body(try sibling.existingObject(with: id)) }
    }
    try await there { #expect($0.value(forKey: "bookCount") as? Int == 1) }
    try context.performAndWait {
      let shelf = try context.existingObject(with: id)
      let book = context.make("Book", ["price": 4.0])
      book.setValue(shelf, forKey: "shelf")
      try context.save()
      #expect(shelf.value(forKey: "bookCount") as? Int == 2)
      #expect(shelf.value(forKey: "worth") as? Double == 6.5)
      #expect(book.value(forKey: "shelfName") as? String == "North")
    }
    try await there { shelf in
      #expect(shelf.value(forKey: "bookCount") as? Int == 2)
      shelf.setValue("South", forKey: "name")
      try sibling.save()
    }
    try context.performAndWait {
      // Not merged here: the books were read before, and say so until they are refreshed.
      context.refreshAllObjects()
      for book in try context.all("Book") { #expect(book.value(forKey: "shelfName") as? String == "South") }
      let book = try context.all("Book", NSPredicate(format: "price == 4"))[0]
      context.delete(book)
      try context.save()
      let shelf = try context.existingObject(with: id)
      #expect(shelf.value(forKey: "bookCount") as? Int == 1)
      #expect(shelf.value(forKey: "worth") as? Double == 2.5)
    }
    try await there { #expect($0.value(forKey: "worth") as? Double == 2.5) }
  }

  @Test(
    "A copy of the object's own attribute follows it, in saves, batches and migrations, whatever its type is")
  func ownCopy() throws {
    func shop(_ hasCopies: Bool) -> NSManagedObjectModel {
      let copies = [
        Self.derived("label", .stringAttributeType, "title"),
        Self.derived("value", .decimalAttributeType, "price"),
        Self.derived("day", .dateAttributeType, "bought"),
        Self.derived("bytes", .binaryDataAttributeType, "data"),
      ]
      return model(
        entity(
          "Thing", nil,
          [
            attribute("title", .stringAttributeType),
            attribute("price", .decimalAttributeType, default: Decimal(3)),
            attribute("bought", .dateAttributeType), attribute("data", .binaryDataAttributeType),
          ] + (hasCopies ? copies : [])))
    }
    func expect(_ thing: NSManagedObject, title: String?, price: Decimal, day: Date?, data: Data?) {
      #expect(thing.value(forKey: "label") as? String == title)
      #expect((thing.value(forKey: "value") as? NSDecimalNumber)?.decimalValue == price)
      #expect(thing.value(forKey: "day") as? Date == day)
      #expect(thing.value(forKey: "bytes") as? Data == data)
    }
    let (day, data) = (Date(timeIntervalSinceReferenceDate: 7), Data([1, 2]))
    let store = try OldStore(shop(false)) { context in
      context.make("Thing", ["title": "a", "bought": day, "data": data])
      context.make("Thing", ["title": "b"])
    }
    let container = try store.opened(shop(true))
    try container.work { context in
      let things = try context.all("Thing", sort: "title")
      expect(things[0], title: "a", price: 3, day: day, data: data)
      expect(things[1], title: "b", price: 3, day: nil, data: nil)
      things[0].setValue("z", forKey: "title")
      let made = context.make("Thing", ["title": "c", "price": Decimal(5)])
      try context.save()
      expect(things[0], title: "z", price: 3, day: day, data: data)
      expect(made, title: "c", price: 5, day: nil, data: nil)
      let update = NSBatchUpdateRequest(entityName: "Thing")
      update.propertiesToUpdate = ["title": "all"]
      try context.execute(update)
      try context.execute(
        NSBatchInsertRequest(entityName: "Thing", objects: [["title": "batch", "data": data]]))
      context.reset()
      let all = try context.all("Thing", sort: "title")
      #expect(all.map { $0.value(forKey: "label") as? String } == ["all", "all", "all", "batch"])
      expect(all[3], title: "batch", price: 3, day: nil, data: data)
      #expect(try context.all("Thing", NSPredicate(format: "label == 'all' AND value == 5")).count == 1)
    }
    try container.close()
  }

  @Test("A writer that missed another's derived value does not spread the old one")
  func staleWriter() throws {
    let stack = try Stack(model: Self.library())
    let (first, second) = (stack.context(), stack.context())
    let shelf = first.make("Shelf", ["name": "North"])
    try first.save()
    second.make("Book", ["price": 1.0, "shelf": try second.existingObject(with: shelf.objectID)])
    try second.save()
    #expect(shelf.value(forKey: "bookCount") as? Int == 0)
    shelf.setValue("South", forKey: "name")
    try first.save()
    #expect(shelf.value(forKey: "bookCount") as? Int == 1)
  }

  @Test(
    "An expression that can't be kept is an error that names it",
    arguments: [
      "", "title.length", "shelf.name.first", "shelf.room.name", "books.@avg.price", "max:(books.price)",
      "canonical:(price)", "canonical:(folded)", "canonical:(shelf.name)", "title", "folded", "wrong",
      "absent", "shelf", "shelf.@count",
      "shelf.missing",
      "missing.name", "now", "@sum.price", "shelf.name",
    ])
  func unsupported(expression: String) throws {
    let model = Self.library()
    let wrong = Self.derived("wrong", .integer64AttributeType, expression)
    model.entitiesByName["Book"]!.properties.append(wrong)
    let error = #expect(throws: ManagedObjectError.self) { try Stack(model: model) }
    let cause = try #require(error?.cause as? ModelError)
    #expect(cause.code == .invalidDerivation)
    #expect((cause.entity, cause.property) == ("Book", "wrong"))
    #expect(cause.message.contains("“\(expression)”"))
  }
}
