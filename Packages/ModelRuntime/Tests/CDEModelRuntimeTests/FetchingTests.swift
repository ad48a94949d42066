import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

extension NSFetchRequest {
  /// The way a guide composes requests.
  fileprivate convenience init(_ entity: String, _ predicate: Predicate<Item>) {
    self.init(entityName: entity)
    self.predicate = NSPredicate(predicate)
  }
}

@Suite("Fetching")
struct FetchingTests {
  private func filled(_ count: Int = 10) throws -> Stack {
    let stack = try Stack()
    let context = stack.context()
    let categories = ["b", "a"].map { name in
      let category = Category(context: context)
      category.name = name
      return category
    }
    for index in 0..<count {
      let item = Item(context: context)
      item.title = "\(index)"
      item.count = index
      item.category = categories[index % 2]
    }
    try context.save()
    return stack
  }

  private func request(_ format: String? = nil, _ arguments: Any?..., limit: Int = 0, offset: Int = 0)
    -> NSFetchRequest<Item>
  {
    let request = Item.fetchRequest()
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments.map { $0 as Any }) }
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
  }

  @Test("Unsaved changes count: inserted, updated and deleted, with limit and offset")
  func pending() throws {
    let context = try filled().context()
    let all = try context.fetch(request())
    all[0].count = 100
    context.delete(all[1])
    let new = Item(context: context)
    new.count = 4
    new.title = "new"
    func titles(_ request: NSFetchRequest<Item>) throws -> String {
      try context.fetch(request).map(\.title).joined()
    }
    #expect(try titles(request()) == "234new567890" || titles(request()) == "23new4567890")
    #expect(try titles(request("count > %@", 6)) == "7890")
    #expect(try titles(request("count > %@", 6, limit: 2)) == "78")
    #expect(try titles(request("count > %@", 6, limit: 2, offset: 2)) == "90")
    #expect(try titles(request("count > %@", 6, offset: 3)) == "0")
    #expect(try titles(request("title == %@", "new")) == "new")
    #expect(try titles(request("title == %@", "1")) == "")
    #expect(try titles(request("count < %@", 2)) == "")
    #expect(try context.count(for: request("count > %@", 6)) == 4)
    let stored = request("count > %@", 6)
    stored.includesPendingChanges = false
    #expect(try titles(stored) == "789")
    #expect(try context.count(for: stored) == 3)
  }

  @Test("Counts, numbers and IDs come without objects")
  func results() throws {
    let context = try filled().context()
    let counting = NSFetchRequest<NSNumber>(entityName: "Item")
    counting.resultType = .countResultType
    counting.predicate = NSPredicate(format: "count >= %@", argumentArray: [5])
    #expect(try context.fetch(counting) == [5])
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    ids.resultType = .managedObjectIDResultType
    ids.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    ids.fetchLimit = 2
    let found = try context.fetch(ids)
    #expect(try found.map { try (context.existingObject(with: $0) as? Item)?.count } == [9, 8])
    let any = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
    #expect(try context.fetch(any).count == 10)
  }

  @Test("#Predicate and formats give the same, over relationships as well")
  func predicates() throws {
    let stack = try filled()
    let context = stack.context()
    let limit = 6
    let typed = NSFetchRequest<Item>("Item", #Predicate { $0.count > limit && $0.title != "8" })
    #expect(Set(try context.fetch(typed).map(\.count)) == [7, 9])
    #expect(try context.fetch(request("count > %@ AND title != %@", 6, "8")).map(\.count) == [7, 9])
    let named = NSFetchRequest<Item>("Item", #Predicate { $0.category?.name == "a" })
    #expect(Set(try context.fetch(named).map(\.count)) == [1, 3, 5, 7, 9])
    let category = try #require(try context.fetch(Category.fetchRequest()).first { $0.name == "b" })
    #expect(try context.fetch(request("category == %@", category)).map(\.count) == [0, 2, 4, 6, 8])
    let some = Category.fetchRequest()
    some.predicate = NSPredicate(format: "ANY items.count == %@", argumentArray: [3])
    #expect(try context.fetch(some).map(\.name) == ["a"])
    some.predicate = NSPredicate(
      format: "SUBQUERY(items, $e, $e.count > %@).@count == 2", argumentArray: [5])
    #expect(Set(try context.fetch(some).map(\.name)) == ["a", "b"])
  }

  @Test("Sorting goes by several keys, over to-one relationships, in the store and in memory")
  func sorting() throws {
    let context = try filled(6).context()
    let request = Item.fetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(key: "category.name", ascending: true),
      NSSortDescriptor(key: "count", ascending: false),
    ]
    #expect(try context.fetch(request).map(\.count) == [5, 3, 1, 4, 2, 0])
    let new = Item(context: context)
    new.count = 2
    new.category = try context.fetch(Category.fetchRequest()).first { $0.name == "a" }
    #expect(try context.fetch(request).map(\.count) == [5, 3, 2, 1, 4, 2, 0])
    new.category = nil
    #expect(try context.fetch(request).map(\.count) == [2, 5, 3, 1, 4, 2, 0])
    try context.save()
    #expect(try context.fetch(request).map(\.count) == [2, 5, 3, 1, 4, 2, 0])
  }

  @Test("What can't be answered is refused, naming the construct")
  func errors() throws {
    let context = try filled(1).context()
    let unknown = #expect(throws: ManagedObjectError.self) { try context.all("Nothing") }
    #expect(unknown?.code == .unknownEntity)
    #expect(unknown?.message.contains("\"Nothing\"") == true)
    let property = #expect(throws: ManagedObjectError.self) {
      try context.fetch(request("colour == %@", "red"))
    }
    #expect(property?.code == .predicate)
    #expect(property?.message.contains("colour") == true)
    let sort = Item.fetchRequest()
    sort.sortDescriptors = [NSSortDescriptor(key: "shape", ascending: true)]
    let unsorted = #expect(throws: ManagedObjectError.self) { try context.fetch(sort) }
    #expect(unsorted?.message.contains("shape") == true)
    let wrongClass = NSFetchRequest<Category>(entityName: "Item")
    let cast = #expect(throws: ManagedObjectError.self) { try context.fetch(wrongClass) }
    #expect(cast?.message.contains("Item") == true)
  }

  @Test("The same predicates hold in the store and in memory, over random data", arguments: 1...3)
  func differential(_ seed: UInt64) throws {
    var random = SplitMix(state: seed &* 101)
    print("Predicate differential, seed \(seed)")
    let stack = try Stack()
    let writer = stack.context()
    let words = ["", "a", "A", "ä", "Äb", "abc", "ABC", "b%_", "cab", "Zürich", "zurich"]
    let categories = (0..<4).map { index in
      let category = Category(context: writer)
      category.name = words[index + 2]
      return category
    }
    for _ in 0..<80 {
      let item = Item(context: writer)
      item.title = words.randomElement(using: &random)!
      item.note = Bool.random(using: &random) ? nil : words.randomElement(using: &random)!
      item.count = Int.random(in: -3...3, using: &random)
      item.score = Double(Int.random(in: -4...4, using: &random)) / 2
      item.flag = Bool.random(using: &random)
      item.createdAt = Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...3, using: &random)))
      item.category = Bool.random(using: &random) ? categories.randomElement(using: &random) : nil
    }
    try writer.save()
    let context = stack.context()
    let all = try context.fetch(Item.fetchRequest())
    let texts = ["title", "note", "category.name"]
    let numbers = ["count", "score", "category.items.@count"]
    func clause() -> (String, [Any]) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...2:
        let test = [
          "==", "!=", "<", ">=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "CONTAINS[cd]", "==[c]",
          "BEGINSWITH[d]", "LIKE",
        ]
        .randomElement(using: &random)!
        return (
          "%K \(test) %@", [texts.randomElement(using: &random)!, words.randomElement(using: &random)!]
        )
      case 3, 4:
        let test = ["==", "!=", "<", "<=", ">", ">="].randomElement(using: &random)!
        return (
          "%K \(test) %@", [numbers.randomElement(using: &random)!, Int.random(in: -2...3, using: &random)]
        )
      case 5:
        return (
          "%K \(Bool.random(using: &random) ? "==" : "!=") nil",
          [["note", "category", "category.name"].randomElement(using: &random)!]
        )
      case 6: return ("count IN %@", [[0, 1, -1]])
      default: return ("ANY category.items.count > %@", [Int.random(in: -3...3, using: &random)])
      }
    }
    var held = 0
    for _ in 0..<150 {
      var (format, arguments) = clause()
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let (more, others) = clause()
        format =
          "(\(format)) \(Bool.random(using: &random) ? "AND" : "OR") \(Bool.random(using: &random) ? "NOT " : "")(\(more))"
        arguments += others
      }
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      let request = Item.fetchRequest()
      request.predicate = predicate
      let found = Set(try context.fetch(request))
      let expected = Set(all.filter { predicate.evaluate(with: $0) })
      held += found.count
      try #require(found == expected, "seed \(seed): \(format) with \(arguments)")
      #expect(try context.count(for: request) == expected.count)
    }
    #expect(held > 0)
  }

  @Test("A class in two versions of a model is fetched by the version of the context", .onSQLite)
  func versions() throws {
    final class Memo: NSManagedObject {}
    func container(_ attributes: [String]) -> NSPersistentContainer {
      let entity = NSEntityDescription()
      entity.name = "Memo"
      entity.managedObjectClassName = NSStringFromClass(Memo.self)
      entity.properties = attributes.map { name in
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = .stringAttributeType
        return attribute
      }
      let model = NSManagedObjectModel()
      model.entities = [entity]
      let container = NSPersistentContainer(name: "Memos", managedObjectModel: model)
      container.persistentStoreDescriptions = [
        NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
      ]
      container.loadPersistentStores { #expect($1 == nil) }
      return container
    }
    let containers = [container(["text"]), container(["text", "author"])]
    for (number, container) in containers.enumerated() {
      let context = container.newBackgroundContext()
      for _ in 0...number { _ = Memo(context: context) }
      let found = try context.fetch(Memo.fetchRequest())
      #expect(found.count == number + 1)
      #expect((found.first as? Memo)?.entity.attributesByName.count == number + 1)
    }
  }
}
