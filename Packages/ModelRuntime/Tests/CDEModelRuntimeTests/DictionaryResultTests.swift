import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Dictionary results")
struct DictionaryResultTests {
  let world: DictionaryWorld
  var context: NSManagedObjectContext { world.context }

  init() throws {
    world = try DictionaryWorld()
    try world.fill()
  }

  private func sorted(
    _ request: NSFetchRequest<NSDictionary>, by keys: String...
  ) -> NSFetchRequest<NSDictionary> {
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }

  // MARK: Values

  @Test("Every kind of attribute comes as key-value coding gives it, and a nil value leaves its key out")
  func values() throws {
    let request = world.request(fetching: [
      "title", "count", "big", "amount", "weight", "price", "flag", "day", "token", "link", "blob", "photo",
      "meta",
      "spot", "spot.lat", "lower",
    ])
    request.predicate = NSPredicate(format: "title == %@ AND seller.name == %@", "Apple", "Ann")
    let found = try #require(try context.fetch(request).first)
    #expect(found["title"] as? String == "Apple" && found["lower"] as? String == "apple")
    #expect(found["count"] as? Int == 3 && found["count"] as? NSNumber == 3)
    #expect(found["big"] as? Int64 == .max)
    #expect(found["amount"] as? Double == 1.5)
    #expect(found["weight"] as? Float == 1.1)
    #expect((found["price"] as? NSDecimalNumber)?.decimalValue == Decimal(string: "0.1"))
    #expect(found["flag"] as? Bool == true)
    #expect(found["day"] as? Date == DictionaryWorld.day)
    #expect(found["token"] as? UUID == DictionaryWorld.token)
    #expect(found["link"] as? URL == URL(string: "https://example.org/a"))
    #expect(found["blob"] as? Data == Data([1, 2]))
    #expect(found["photo"] as? Data == Data(repeating: 7, count: 300_000))
    #expect((found["meta"] as? NSArray)?.count == 2)
    #expect((found["spot"] as? [String: Any])?["lat"] as? Double == 52.5)
    #expect((found["spot"] as? [String: Any])?["label"] as? String == "here")
    #expect(found["spot.lat"] as? Double == 52.5)
    #expect(found.count == 16)

    let object = try #require(try context.all("Sale", request.predicate).first)
    for key in ["title", "count", "big", "amount", "weight", "price", "flag", "day", "blob", "lower"] {
      #expect((found[key] as? NSObject) == (object.value(forKey: key) as? NSObject), "\(key)")
    }

    request.predicate = NSPredicate(format: "title == nil")
    #expect(try context.fetch(request).map(\.count) == [0])
  }

  @Test("Without propertiesToFetch the dictionaries have all attributes of the entity, and no relationships")
  func all() throws {
    let request = world.request(fetching: nil)
    request.predicate = NSPredicate(format: "count == 3")
    let keys = try context.fetch(request).first?.allKeys.compactMap { $0 as? String }
    #expect(
      keys?.sorted() == [
        "amount", "big", "blob", "count", "day", "flag", "link", "lower", "meta", "photo", "price", "spot",
        "title",
        "token", "weight",
      ])
  }

  @Test("Key paths, relationships and the object itself: values over to-one relationships, and object IDs")
  func paths() throws {
    let request = sorted(
      world.request(fetching: ["title", "seller.name", "seller", "seller.boss", "origin", "objectID", "self"]
      ),
      by: "count")
    request.predicate = NSPredicate(format: "count > 3")
    let found = try context.fetch(request)
    #expect(found.map { $0["seller.name"] as? String } == ["Bob", "Bob", "Ann"])
    let sales = try context.all("Sale", request.predicate, sort: "count")
    #expect(found.map { $0["objectID"] as? NSManagedObjectID } == sales.map(\.objectID))
    #expect(found.map { $0["self"] as? NSManagedObjectID } == sales.map(\.objectID))
    #expect(found.map { ($0["objectID"] as? NSManagedObjectID)?.entity.name } == ["Sale", "Refund", "Sale"])
    #expect(found.map { $0["seller"] as? NSManagedObjectID } == sales.map { $0.one("seller")?.objectID })
    #expect(
      found.map { $0["seller.boss"] as? NSManagedObjectID }
        == sales.map { $0.one("seller")?.one("boss")?.objectID })
    #expect(found.map { $0["origin"] as? NSManagedObjectID } == sales.map { $0.one("origin")?.objectID })
    let id = try #require(found[1]["objectID"] as? NSManagedObjectID)
    #expect(try context.existingObject(with: id).value(forKey: "reason") as? String == "rotten")
  }

  @Test("Descriptions of properties stand for their names, and the older casts of the results work")
  func descriptions() throws {
    let entity = try #require(world.stack.container.managedObjectModel.entitiesByName["Sale"])
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sale")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [
      entity.attributesByName["title"]!, entity.relationshipsByName["seller"]!,
      entity.propertiesByName["count"]!,
    ]
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    let found = try context.fetch(request)
    let casts = try #require(found as? [[String: Any]])
    #expect(casts.map { $0["count"] as? Int } == [6, 5, 4, 3, nil])
    #expect(casts.allSatisfy { $0["seller"] is NSManagedObjectID || $0["count"] == nil })
    let dictionaries = try #require(found as? [NSDictionary])
    #expect(dictionaries[0].value(forKey: "title") as? String == "apple")
    #expect((dictionaries[0].object(forKey: "count") as? NSNumber)?.intValue == 6)
    let wrong = NSFetchRequest<NSManagedObject>(entityName: "Sale")
    wrong.resultType = .dictionaryResultType
    let error = #expect(throws: ManagedObjectError.self) { try context.fetch(wrong) }
    #expect(error?.code == .unsupportedRequest)
  }

  @Test("An entity's own properties and those it inherits are fetched, with and without sub-entities")
  func inheritance() throws {
    #expect(
      try world.fetched(world.request("Refund", fetching: ["title", "reason"])) == [
        "reason: rotten, title: Apple"
      ])
    let request = world.request(fetching: [computed("n", "count:(SELF)")])
    #expect(try world.fetched(request) == ["n: 5"])
    request.includesSubentities = false
    #expect(try world.fetched(request) == ["n: 4"])
    let error = #expect(throws: ManagedObjectError.self) {
      try context.fetch(world.request(fetching: ["reason"]))
    }
    #expect(error?.message.contains("only its sub-entity Refund has") == true)
  }

  // MARK: Expressions

  @Test("Aggregates over all objects give one dictionary, also where there is no object")
  func aggregates() throws {
    let expressions = [
      computed("n", "count:(SELF)"), computed("counted", "count:(amount)"), computed("sum", "sum:(count)"),
      computed("least", "min:(amount)"), computed("most", "max:(title)"),
      computed("average", "average:(count)"),
      computed("exact", "sum:(price)"), computed("last", "max:(day)", .dateAttributeType),
    ]
    let request = world.request(fetching: expressions)
    let found = try #require(try context.fetch(request).first)
    #expect(found["n"] as? Int == 5 && found["counted"] as? Int == 3 && found["sum"] as? Int == 18)
    #expect(found["least"] as? Double == 1.5 && found["most"] as? String == "apple")
    #expect(found["average"] as? Double == 4.5)
    #expect((found["exact"] as? NSDecimalNumber)?.decimalValue == Decimal(string: "0.3"))
    #expect(found["last"] as? Date == DictionaryWorld.day)
    request.predicate = NSPredicate(value: false)
    #expect(try world.fetched(request) == ["counted: 0, exact: 0, n: 0, sum: 0"])
    #expect(try context.count(for: request) == 1)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    #expect(try context.fetch(request).count == 1)
  }

  @Test("Core Data's ways to make an expression")
  func spellings() throws {
    for (expression, expected) in [
      (TreeExpression(forFunction: "max:", arguments: [TreeExpression(forKeyPath: "count")]), 6),
      (TreeExpression(forKeyPath: "@max.count"), 6), (TreeExpression(format: "@max.count"), 6),
      (TreeExpression(forFunction: "max:", arguments: [TreeExpression(forKeyPath: "seller.rank")]), 2),
      (TreeExpression(forFunction: "count:", arguments: [TreeExpression.expressionForEvaluatedObject()]), 5),
      (TreeExpression(forFunction: "count:", arguments: [TreeExpression(forKeyPath: "objectID")]), 5),
      (TreeExpression(forKeyPath: "@count"), 5),
    ] {
      let description = NSExpressionDescription()
      description.name = "value"
      description.expression = expression
      description.resultType = .integer64
      let request = world.request(fetching: [description])
      #expect(try context.fetch(request).first?["value"] as? Int == expected, "\(expression)")
      #expect((description.copy() as? NSExpressionDescription)?.expression === expression)
      #expect(description.expressionResultType == .integer64AttributeType)
    }
  }

  @Test("Values computed for each object: arithmetic, texts, choices, and collection operators over to-many")
  func perObject() throws {
    let request = sorted(
      world.request(fetching: [
        computed("double", "count * 2"), computed("upper", "uppercase:(title)"), "tags.@count",
        computed("best", "tags.@max.score"), computed("size", "TERNARY(count > 4, 'big', 'small')"),
        computed("me", "SELF", .objectIDAttributeType), computed("one", "1"),
      ]), by: "count")
    request.predicate = NSPredicate(format: "count != nil")
    let found = try context.fetch(request)
    #expect(found.map { $0["double"] as? Int } == [6, 8, 10, 12])
    #expect(found.map { $0["upper"] as? String } == ["APPLE", "PEAR", "APPLE", "APPLE"])
    #expect(found.map { $0["tags.@count"] as? Int } == [3, 1, 0, 0])
    #expect(found.map { $0["best"] as? Int } == [3, 1, nil, nil])
    #expect(found.map { $0["size"] as? String } == ["small", "small", "big", "big"])
    #expect(found.allSatisfy { $0["me"] is NSManagedObjectID && $0["one"] as? Int == 1 })
    // An aggregate over all objects of a value computed for each.
    #expect(try world.fetched(world.request(fetching: [computed("all", "sum:(tags.@count)")])) == ["all: 4"])
  }

  @Test("The result type of an expression decides the type of the value")
  func types() throws {
    func value(_ format: String, _ type: NSAttributeType) throws -> Any? {
      try context.fetch(world.request(fetching: [computed("v", format, type)])).first?["v"]
    }
    #expect(try value("average:(count)", .integer32AttributeType) as? Int == 4)
    #expect(try value("sum:(count)", .doubleAttributeType) as? Double == 18)
    #expect(try value("sum:(count)", .decimalAttributeType) is NSDecimalNumber)
    #expect(try value("sum:(amount)", .decimalAttributeType) as? NSDecimalNumber == 8)
    #expect(try value("max:(flag)", .booleanAttributeType) as? Bool == true)
    #expect(try value("max:(flag)", .undefinedAttributeType) as? Bool == true)
    #expect(try value("max:(day)", .doubleAttributeType) as? Double == 86_400)
    #expect(try value("max:(link)", .stringAttributeType) as? String == "https://example.org/a")
    #expect(try value("max:(amount) * 1.1", .integer64AttributeType) as? Int64 == 4)
    for type in [NSAttributeType.integer16AttributeType, .integer64AttributeType] {
      let error = #expect(throws: ManagedObjectError.self) { try value("sum:(amount) * 1e300", type) }
      #expect(error?.code == .invalidValue && error?.property == "v", "\(error!)")
    }
    #expect(try value("sum:(amount) * 1e300", .doubleAttributeType) as? Double == 8e300)
    for (format, type) in [
      ("max:(title)", NSAttributeType.integer32AttributeType), ("sum:(count)", .stringAttributeType),
      ("max:(token)", .dateAttributeType), ("SELF", .stringAttributeType), ("spot", .stringAttributeType),
      ("meta", .stringAttributeType),
    ] {
      let error = #expect(throws: ManagedObjectError.self) { try value(format, type) }
      #expect(
        error?.message.contains("expressionResultType \(type.storeName)") == true, "\(format): \(error!)")
    }
  }

  // MARK: Groups

  @Test("Groups: by a value, a key path, an object and a computed value, with conditions and an order")
  func groups() throws {
    let total = computed("total", "sum:(count)")
    let bySeller = world.request(fetching: ["seller.name", total, computed("n", "count:(SELF)")])
    bySeller.propertiesToGroupBy = ["seller.name"]
    #expect(
      try world.fetched(sorted(bySeller, by: "seller.name")) == [
        "n: 1, total: 0", "n: 2, seller.name: Ann, total: 9", "n: 2, seller.name: Bob, total: 9",
      ])
    bySeller.sortDescriptors = [
      NSSortDescriptor(key: "total", ascending: false),
      NSSortDescriptor(key: "seller.name", ascending: false),
    ]
    #expect(try context.fetch(bySeller).map { $0["total"] as? Int } == [9, 9, 0])
    bySeller.fetchOffset = 1
    bySeller.fetchLimit = 1
    #expect(try world.fetched(bySeller) == ["n: 2, seller.name: Ann, total: 9"])
    #expect(try context.count(for: bySeller) == 1)

    let byObject = world.request(fetching: ["seller", computed("first", "min:(title)")])
    byObject.propertiesToGroupBy = [
      try #require(
        world.stack.container.managedObjectModel.entitiesByName["Sale"]?.propertiesByName["seller"])
    ]
    byObject.predicate = NSPredicate(format: "seller != nil")
    let sellers = try context.fetch(byObject).compactMap { $0["seller"] as? NSManagedObjectID }
    #expect(Set(sellers) == Set(try context.all("Seller").map(\.objectID)))

    let folded = computed("name", "lowercase:(title)")
    let byExpression = world.request(fetching: [folded, computed("n", "count:(SELF)")])
    byExpression.propertiesToGroupBy = [folded]
    byExpression.predicate = NSPredicate(format: "title != nil")
    #expect(try world.fetched(sorted(byExpression, by: "name")) == ["n: 3, name: apple", "n: 1, name: pear"])
  }

  @Test(
    "A condition on groups names grouped values, aggregates, and expressions by key, by variable, or as an argument",
    arguments: [
      "n > 1", "$n > 1", "count:(SELF) > 1", "%@ > 1", "title == 'Apple'", "n > 1 AND title != nil",
    ])
  func having(_ format: String) throws {
    let number = TreeExpression(
      forFunction: "count:", arguments: [TreeExpression.expressionForEvaluatedObject()])
    let request = world.request(fetching: ["title", computed("n", "count:(SELF)")])
    request.propertiesToGroupBy = ["title"]
    request.havingPredicate = NSPredicate(format: format, argumentArray: [number])
    #expect(try world.fetched(request) == ["n: 2, title: Apple"])
  }

  @Test("Distinct dictionaries, in an order of their values")
  func distinct() throws {
    let request = world.request(fetching: ["seller.name", "flag"])
    request.returnsDistinctResults = true
    let found = try context.fetch(sorted(request, by: "seller.name", "flag"))
    #expect(found.map { $0["seller.name"] as? String } == [nil, "Ann", "Bob", "Bob"])
    #expect(found.map { $0["flag"] as? Bool } == [nil, true, nil, false])
    #expect(try context.count(for: request) == 4)
    request.returnsDistinctResults = false
    #expect(try context.count(for: request) == 5)
    request.returnsDistinctResults = true
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    #expect(throws: ManagedObjectError.self) { try context.fetch(request) }
  }

  // MARK: Rules

  @Test("Unsaved changes are not in dictionaries, and an affected store without the entity gives none")
  func pending() throws {
    context.make("Sale", ["title": "new", "count": 100])
    let request = world.request(fetching: [computed("most", "max:(count)")])
    #expect(try world.fetched(request) == ["most: 6"])
    try context.save()
    #expect(try world.fetched(request) == ["most: 100"])
    request.affectedStores = []
    #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
  }

  @Test("What can't be fetched is an error that names it and the remedy")
  func mistakes() throws {
    func message(_ properties: [Any]?, _ configure: (NSFetchRequest<NSDictionary>) -> Void = { _ in }) throws
      -> String
    {
      let request = world.request(fetching: properties)
      configure(request)
      let error = try #require(#expect(throws: ManagedObjectError.self) { try context.fetch(request) })
      #expect(throws: ManagedObjectError.self) { try context.count(for: request) }
      return error.message
    }
    let count = computed("n", "count:(SELF)")
    #expect(try message(["titel"]).contains("title"))
    #expect(try message(["scratch"]).contains("transient"))
    #expect(try message(["tags"]).contains("tags.@count"))
    #expect(try message(["tags.name"]).contains("to-many"))
    #expect(try message([7]).contains("Int"))
    #expect(try message([NSExpressionDescription()]).contains("without a name"))
    let empty = NSExpressionDescription()
    empty.name = "empty"
    #expect(try message([empty]).contains("without an expression"))
    #expect(try message([computed("x", "sum:(title)")]).contains("sums and averages are of numbers"))
    #expect(try message([computed("x", "max:(seller)")]).contains("not objects"))
    #expect(try message([computed("x", "max:(max:(count))")]).contains("aggregate over the same objects"))
    #expect(try message([computed("x", "count +")]).contains("end"))
    #expect(try message(["title", count]).contains("propertiesToGroupBy"))
    #expect(try message(nil) { $0.propertiesToGroupBy = ["title"] }.contains("no propertiesToFetch"))
    #expect(
      try message(["title"]) { $0.havingPredicate = NSPredicate(value: true) }.contains("havingPredicate"))
    #expect(
      try message(["flag", count]) { $0.propertiesToGroupBy = ["title"] }.contains("max:(flag)"))
    #expect(
      try message(["title"]) {
        $0.propertiesToGroupBy = ["title"]
        $0.havingPredicate = NSPredicate(format: "flag == YES")
      }.contains("Move that condition"))
    #expect(
      try message(["title"]) {
        $0.propertiesToGroupBy = ["title"]
        $0.sortDescriptors = [NSSortDescriptor(key: "day", ascending: true)]
      }.contains("sorted by day"))
    #expect(
      try message(["title"]) {
        $0.propertiesToGroupBy = [count]
      }.contains("is an aggregate"))
    #expect(
      try message(["title"]) { $0.predicate = NSPredicate(format: "count:(count) > 1") }.contains(
        "collection"))
  }
}

extension NSAttributeType {
  /// The name of the type in messages.
  fileprivate var storeName: String {
    switch self {
    case .integer32AttributeType: "integer32"
    case .dateAttributeType: "date"
    default: "string"
    }
  }
}
