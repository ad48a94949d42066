import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Requests that can't be answered say so, and those that can are")
struct QueryMistakeTests {
  private func request(_ format: String, _ arguments: Any...) -> NSFetchRequest<Item> {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    return request
  }

  private func stack() throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack()
    let context = stack.context()
    for (index, title) in ["é", "e\u{301}", "É", "f"].enumerated() {
      let item = Item(context: context)
      item.title = title
      item.count = index + 4
      item.createdAt = Date(timeIntervalSinceReferenceDate: Double(index) * 1_000)
    }
    try context.save()
    return (stack, context)
  }

  /// Runs a body with a context that answers by the store, and with one whose unsaved changes make it ask memory too.
  private func inBoth(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let (_, stored) = try stack()
    try body(stored)
    let (_, pending) = try stack()
    for item in try pending.fetch(NSFetchRequest<Item>(entityName: "Item")) { item.flag = true }
    #expect(pending.hasChanges)
    try body(pending)
  }

  @Test("A constant takes the attribute's kind, in the store and in memory")
  func conversions() throws {
    try inBoth { (context) throws in
      #expect(try context.count(for: request("createdAt > 1500")) == 2)
      #expect(try context.fetch(request("count == '5'")).map(\.count) == [5])
      #expect(try Set(context.fetch(request("count IN {'4', 7}")).map(\.count)) == [4, 7])
      #expect(try context.count(for: request("createdAt BETWEEN {500, 2500.5}")) == 2)
      let all = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
      #expect(all.count { NSPredicate(format: "createdAt > 1500 AND count > '5'").evaluate(with: $0) } == 2)
    }
  }

  @Test(
    "A comparison that could hold for no object throws, whatever asks",
    arguments: [
      ("title > 5", "Item.title, which is text, with a number"),
      ("count == 'five'", "Item.count, which is a number, with text"),
      ("createdAt == 'now'", "Item.createdAt, which is a date, with text"),
      ("uuid == 'x'", "Item.uuid, which is a UUID, with text"),
      ("title == count", "Item.title, which is text, with Item.count, which is a number"),
      ("ANY tags.tag_name == 1", "Tag.tag_name, which is text, with a number"),
    ])
  func mismatches(format: String, message: String) throws {
    try inBoth { (context) throws in
      let predicate = NSPredicate(format: format)
      let update = NSBatchUpdateRequest(entityName: "Item")
      update.predicate = predicate
      update.propertiesToUpdate = ["note": "x"]
      let delete = NSBatchDeleteRequest(fetchRequest: request(format))
      let ways: [() throws -> Void] = [
        { _ = try context.fetch(request(format)) }, { _ = try context.count(for: request(format)) },
        { _ = try context.fetch(FetchDescriptor<Item>(predicate: predicate)) },
        { _ = try context.fetchSnapshots(FetchDescriptor<Item>(predicate: predicate)) },
        { _ = try context.execute(update) }, { _ = try context.execute(delete) },
      ]
      for way in ways {
        let error = #expect(throws: ManagedObjectError.self) { try way() }
        #expect(error?.code == .predicate && error?.message.contains(message) == true, "\(error as Any)")
      }
      #expect(try context.count(for: NSFetchRequest<Item>(entityName: "Item")) == 4)
    }
  }

  @Test("An object in memory refuses what the store refuses")
  func memory() throws {
    let (_, context) = try stack()
    let item = try #require(try context.fetch(request("count == 4")).first)
    for format in ["title > 5", "count == 'x'", "createdAt < 'x'", "title CONTAINS 5", "category == 5"] {
      let predicate = NSPredicate(format: format)
      #expect(!predicate.evaluate(with: item))
      if format.hasPrefix("category") { continue }
      #expect(throws: PredicateTreeError.self, "\(format)") { try predicate.matches(item) }
    }
  }

  @Test("With [c] composed and decomposed accents are the same, without options they are not")
  func composition() throws {
    try inBoth { (context) throws in
      for accent in ["é", "e\u{301}", "É"] {
        for format in ["title ==[c] %@", "title IN[c] %@", "title BEGINSWITH[c] %@", "title LIKE[c] %@"] {
          let argument: Any = format.contains("IN[") && !format.contains("BEGINS") ? [accent] : accent
          #expect(
            try context.count(for: request(format, argument)) == 3, "\(format) \(accent.unicodeScalars)")
        }
      }
      #expect(try context.count(for: request("title == %@", "é")) == 1)
      #expect(try context.count(for: request("title ==[c] 'e'")) == 0)
      #expect(try context.count(for: request("title ==[cd] 'e'")) == 3)
    }
  }

  @Test("Many conditions are answered, however they were joined")
  func manyConditions() throws {
    let (_, context) = try stack()
    let part = NSPredicate(format: "count > 4")
    let nested = (0..<10_000).reduce(part as NSPredicate) { joined, _ in
      NSCompoundPredicate(type: .and, subpredicates: [joined, part])
    }
    let flat = NSCompoundPredicate(
      type: .or, subpredicates: (0..<10_000).map { NSPredicate(format: "count == %d", $0) })
    let fetch = NSFetchRequest<Item>(entityName: "Item")
    for (predicate, expected) in [(nested, 3), (flat, 4)] {
      fetch.predicate = predicate
      #expect(try context.count(for: fetch) == expected)
    }
  }

  @Test("What nests too deep for SQLite is a sentence with a remedy, not the engine's own words")
  func nesting() throws {
    let (_, context) = try stack()
    func deep(_ levels: Int, _ tag: String) -> String {
      if levels == 0 { return "\(tag)tag_name == 'a'" }
      let inner = deep(levels - 1, "$b\(levels).")
      return
        "SUBQUERY(\(tag)items, $a\(levels), SUBQUERY($a\(levels).tags, $b\(levels), \(inner)).@count > 1)"
        + ".@count > 1"
    }
    let requests: [(String, String)] = [
      ("Tag", deep(12, "")),
      ("Item", (0..<45).reduce("count == 1") { "(\($0) \($1 % 2 == 0 ? "AND" : "OR") count != \($1))" }),
      ("Item", "category." + Array(repeating: "items.category.", count: 30).joined() + "name == 'a'"),
      ("Item", "ANY category." + Array(repeating: "items.category.", count: 20).joined() + "name == 'a'"),
    ]
    for (entity, format) in requests {
      let fetch = NSFetchRequest<NSManagedObject>(entityName: entity)
      fetch.predicate = NSPredicate(format: format)
      do {
        _ = try context.fetch(fetch)
      } catch let error as ManagedObjectError {
        #expect(error.code == .predicate)
        #expect(!error.message.contains("parser") && !error.message.contains("slot"), "\(error.message)")
        #expect(error.message.contains("key path") || error.message.contains("levels"), "\(error.message)")
      }
    }
  }

  @Test("IN over a to-many path needs a quantifier, and says so; with one it finds")
  func membership() throws {
    let (_, context) = try stack()
    let tag = Tag(context: context)
    tag.name = "a"
    let item = try #require(try context.fetch(request("count == 5")).first)
    item.addToTags(tag)
    try context.save()
    #expect(try context.fetch(request("ANY tags.tag_name IN {'a', 'b'}")) == [item])
    #expect(try context.fetch(request("ANY tags IN %@", [tag])) == [item])
    #expect(try context.fetch(request("'a' IN tags.tag_name")) == [item])
    #expect(
      try context.fetch(request("SUBQUERY(tags, $t, $t.tag_name == 'a').@count IN tags.items.count")).isEmpty)
    let error = #expect(throws: ManagedObjectError.self) {
      try context.fetch(request("tags.tag_name IN {'a'}"))
    }
    #expect(
      error?.message.contains("Item.tags.tag_name is a collection; quantify it with ANY or ALL") == true)
  }

  @Test("A sort descriptor that can't be applied is an error that names it")
  func sorting() throws {
    try inBoth { (context) throws in
      let fetch = NSFetchRequest<Item>(entityName: "Item")
      let backwards: Comparator = { left, right in (right as! String).compare(left as! String) }
      let cases: [(NSSortDescriptor, String)] = [
        (NSSortDescriptor(key: "title", ascending: true, comparator: backwards), "title has a comparator"),
        (
          NSSortDescriptor(keyPath: \Item.title, ascending: true, comparator: backwards),
          "title has a comparator"
        ),
        (
          NSSortDescriptor(keyPath: \Item.note, ascending: true, comparator: backwards),
          "note has a comparator"
        ),
        (NSSortDescriptor(key: "titel", ascending: true), "no property titel"),
        (NSSortDescriptor(key: "tags", ascending: true), "Item.tags is a collection"),
        (NSSortDescriptor(key: "tags.tag_name", ascending: true), "Item.tags.tag_name is a collection"),
        (NSSortDescriptor(keyPath: \Item.title.count, ascending: true), "none of its stored properties"),
      ]
      for (descriptor, message) in cases {
        fetch.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true), descriptor]
        let error = #expect(throws: ManagedObjectError.self) { try context.fetch(fetch) }
        #expect(error?.message.contains(message) == true, "\(error as Any)")
      }
      for descriptor in [
        NSSortDescriptor(keyPath: \Item.count, ascending: false),
        NSSortDescriptor(keyPath: \Item.createdAt, ascending: false),
      ] {
        fetch.sortDescriptors = [descriptor]
        #expect(try context.fetch(fetch).map(\.count) == [7, 6, 5, 4])
      }
      fetch.sortDescriptors = [NSSortDescriptor(keyPath: \Item.title, ascending: true)]
      #expect(try context.fetch(fetch).map(\.count) == [5, 7, 6, 4])
    }
  }

  @Test("A request asks only the stores that it names")
  func affectedStores() throws {
    let left = entity("Left", nil, [attribute("name", .stringAttributeType)])
    let right = entity("Right", nil, [attribute("name", .stringAttributeType)])
    let both = model(left, right)
    both.setEntities([left], forConfigurationName: "L")
    both.setEntities([right], forConfigurationName: "R")
    let container = NSPersistentContainer(name: "Two", managedObjectModel: both)
    let folder = ProcessFolder.newURL()
    container.persistentStoreDescriptions = ["L", "R"].map { name in
      let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
      description.configuration = name
      return description
    }
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    context.make("Left", ["name": "saved"])
    try context.save()
    context.make("Left", ["name": "pending"])
    let coordinator = container.persistentStoreCoordinator
    let stores = try ["L", "R"].map { name in
      try #require(coordinator.persistentStores.first { $0.url?.lastPathComponent == "\(name).sqlite" })
    }
    func request(_ stores: [NSPersistentStore]?) -> NSFetchRequest<NSManagedObject> {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Left")
      request.affectedStores = stores
      return request
    }
    for (given, count) in [(nil, 2), ([stores[0]], 2), (stores, 2), ([stores[1]], 0), ([], 0)] {
      #expect(try context.fetch(request(given)).count == count)
      #expect(try context.count(for: request(given)) == count)
      let copy = try #require(request(given).copy() as? NSFetchRequest<NSManagedObject>)
      #expect(try context.fetch(copy).count == count)
    }
    func update(_ stores: [NSPersistentStore]?) throws -> Int? {
      let update = NSBatchUpdateRequest(entityName: "Left")
      update.propertiesToUpdate = ["name": "x"]
      update.resultType = .updatedObjectsCountResultType
      update.affectedStores = stores
      return ((try context.execute(update) as? NSBatchUpdateResult)?.result as? NSNumber)?.intValue
    }
    func delete(_ stores: [NSPersistentStore]?, _ inner: [NSPersistentStore]?) throws -> Int? {
      let delete = NSBatchDeleteRequest(fetchRequest: request(inner))
      delete.resultType = .resultTypeCount
      delete.affectedStores = stores
      return ((try context.execute(delete) as? NSBatchDeleteResult)?.result as? NSNumber)?.intValue
    }
    let insert = NSBatchInsertRequest(entityName: "Left", objects: [["name": "y"]])
    insert.affectedStores = [stores[1]]
    #expect(throws: ManagedObjectError.self) { try context.execute(insert) }
    insert.affectedStores = [stores[0]]
    _ = try context.execute(insert)
    #expect(try update([stores[1]]) == 0)
    #expect(try update([stores[0]]) == 2)
    #expect(try delete([stores[1]], nil) == 0)
    #expect(try delete(nil, [stores[1]]) == 0)
    let other = try #require(try Stack().container.persistentStoreCoordinator.persistentStores.first)
    for way in [
      { _ = try context.fetch(request([other])) },
      { _ = try context.count(for: request([stores[0], other])) },
      { _ = try update([other]) }, { _ = try delete([other], nil) },
    ] as [() throws -> Void] {
      let error = #expect(throws: ManagedObjectError.self) { try way() }
      #expect(
        error?.message.contains("Test.sqlite, which its coordinator does not have") == true, "\(error as Any)"
      )
    }
    #expect(try delete([stores[0]], nil) == 2)
  }
}
