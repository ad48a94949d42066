import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDEPredicates
import CDEStore
import Foundation
import Testing

@Suite("Batch updates with computed values")
struct BatchExpressionTests {
  private func filled(_ count: Int = 5) throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack()
    let context = stack.context()
    for number in 0..<count {
      let item = Item(context: context)
      item.title = "Title \(number)"
      item.count = number
      item.score = Double(number) / 2
      item.note = number.isMultiple(of: 2) ? "n\(number)" : nil
      item.price = Decimal(number)
    }
    try context.save()
    return (stack, context)
  }

  private func items(_ context: NSManagedObjectContext) throws -> [Item] {
    context.reset()
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request)
  }

  private func update(
    _ values: [AnyHashable: Any], _ format: String? = nil, entity: String = "Item"
  ) -> NSBatchUpdateRequest {
    let request = NSBatchUpdateRequest(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    request.propertiesToUpdate = values
    return request
  }

  private func tree(_ format: String, _ arguments: Any?...) throws -> ExpressionTree {
    try ExpressionTree(format: format, arguments: arguments)
  }

  @Test(
    "Each object's value is computed from its own values as they were, beside values that are the same for all"
  )
  func computed() throws {
    let (stack, context) = try filled()
    let request = update(
      [
        "count": try tree("count * 2 + %@", 1), "score": try tree("score + count"),
        "flag": try tree("TERNARY(count > 2, 1, 0)"),
        "note": try tree("uppercase:(title)"), "link": URL(string: "https://example.org")!,
      ], "count >= 1")
    request.resultType = .updatedObjectsCountResultType
    #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 4)
    let found = try items(stack.context())
    #expect(found.map(\.count) == [0, 3, 5, 7, 9])
    #expect(found.map(\.score) == [0, 1.5, 3, 4.5, 6])
    #expect(found.map(\.flag) == [false, false, false, true, true])
    #expect(found.map(\.note) == ["n0", "TITLE 1", "TITLE 2", "TITLE 3", "TITLE 4"])
    #expect(found.map { $0.link?.host } == [nil, "example.org", "example.org", "example.org", "example.org"])
  }

  @Test(
    "What is computed in the store is what the same expression gives in memory",
    arguments: [
      "count + 1", "count - 7", "0 - count", "count * count", "modulus:by:(count, 3)", "abs:(count - 2)",
      "TERNARY(note == nil, count, count + 100)", "length:(title) + count", "count / 2",
      "count & 3", "count | 8", "count ^ 5", "~count", "count << 3", "(count + 9) >> 1", "count << (0 - 1)",
    ])
  func agreement(_ format: String) throws {
    let (stack, context) = try filled()
    let expression = try tree(format)
    let expected = try items(context).map { item -> Int? in
      guard case .constant(.integer(let value)) = try expression.evaluate(with: item) else { return nil }
      return Int(value)
    }
    try context.execute(update(["count": expression]))
    #expect(try items(stack.context()).map { $0.count } == expected)
  }

  @Test("Core Data's expression objects are computed, and their constants are values")
  func objects() throws {
    let (stack, context) = try filled()
    let values: [String: Any] = [
      "count": TreeExpression(
        forFunction: "bitwiseOr:with:", arguments: [TreeExpression(forKeyPath: "count"), 8]),
      "note": TreeExpression(forConstantValue: "same"), "link": TreeExpression(forConstantValue: nil),
      "flag": TreeExpression(forConstantValue: true),
    ]
    try context.execute(update(values))
    let found = try items(stack.context())
    #expect(found.map(\.count) == [8, 9, 10, 11, 12] && found.allSatisfy(\.flag))
    #expect(found.map(\.note) == Array(repeating: "same", count: 5) && found.allSatisfy { $0.link == nil })
    #expect(throws: PredicateTreeError.self) {
      try context.execute(update(["count": TreeExpression(format: "+")]))
    }
  }

  @Test("A whole number takes the whole part, a decimal keeps its fraction, and a Boolean is true or false")
  func conversions() throws {
    let (stack, context) = try filled()
    try context.execute(
      update(["count": try tree("score * 3"), "price": try tree("price + 0.25"), "flag": try tree("count")]))
    let found = try items(stack.context())
    #expect(found.map(\.count) == [0, 1, 3, 4, 6])
    #expect(found.map(\.price) == ["0.25", "1.25", "2.25", "3.25", "4.25"].map { Decimal(string: $0) })
    #expect(found.map(\.flag) == [false, true, true, true, true])
  }

  @Test("A computed number that its attribute has no place for is refused, and nothing is written")
  func overflow() throws {
    let (stack, context) = try filled()
    for item in try items(context) { (item.count, item.score) = (Int(Int64.max) - item.count, 1e130) }
    try context.save()
    for (key, format) in [
      ("count", "count + 1"), ("count", "count * count"), ("count", "0 - count - count"), ("count", "score"),
      ("price", "price + score"), ("price", "price + 1 / score / 1e10"),
    ] {
      let error = #expect(throws: ManagedObjectError.self, "\(format)") {
        try context.execute(update([key: try tree(format)]))
      }
      #expect(error?.code == .invalidValue && error?.property == key, "\(format)")
    }
    let found = try items(stack.context())
    #expect(found.map(\.count) == (0..<5).map { Int(Int64.max) - $0 })
    #expect(found.map(\.price) == (0..<5).map { Decimal($0) })
    try context.execute(update(["count": try tree("0 - count - 1")]))
    #expect(try items(stack.context()).map(\.count) == (0..<5).map { Int(Int64.min) + $0 })
  }

  @Test("A computed decimal is found by the value that objects read")
  func decimals() throws {
    let (stack, context) = try filled()
    try context.execute(update(["price": try tree("price * 0.1 * 3")]))
    let found = try items(stack.context())
    #expect(found.map(\.price) == (0..<5).map { Decimal($0 * 3) / 10 })
    for item in found {
      let price = try #require(item.price)
      let request = Item.fetchRequest()
      request.predicate = NSPredicate(format: "price == %@", price as NSDecimalNumber)
      #expect(try stack.context().fetch(request).map(\.title) == [item.title])
    }
  }

  @Test("Increments of many contexts at once add up, without a conflict and without reading")
  func atomic() async throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    try context.save()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let writer = stack.context()
          await writer.perform {
            for _ in 0..<25 {
              let request = NSBatchUpdateRequest(entityName: "Item")
              request.propertiesToUpdate = [
                "count": ExpressionTree.function(.add, [.keyPath(["count"]), .constant(.integer(1))])
              ]
              #expect(throws: Never.self) { try writer.execute(request) }
            }
          }
        }
      }
    }
    // The context's own copy is old, so its save must notice.
    item.title = "mine"
    #expect(throws: ManagedObjectError.self) { try context.save() }
    context.refresh(item, mergeChanges: true)
    #expect(item.count == 200)
    try context.save()
  }

  @Test("Aggregates over members of another entity are computed too; #Expression makes the same trees")
  func aggregates() throws {
    let (stack, context) = try filled()
    let category = Category(context: context)
    for item in try context.fetch(Item.fetchRequest()).prefix(3) { item.category = category }
    try context.save()
    try context.execute(
      update(["name": try tree("TERNARY(items.@count > 2, 'big', 'small')")], entity: "Category"))
    #expect(try stack.context().fetch(Category.fetchRequest()).map(\.name) == ["big"])
    let made = try ExpressionTree(#Expression<Item, Int> { $0.count + 1 })
    #expect(made == (try tree("count + 1")))
    try context.execute(update(["count": made]))
    #expect(try items(stack.context()).map(\.count) == [1, 2, 3, 4, 5])
  }

  @Test("The result's IDs know what was computed")
  func identities() throws {
    let (_, context) = try filled(1)
    let seen = try items(context)[0]
    let witness = BatchWitness()
    context.observer = witness
    let request = update(["count": try tree("count + 5"), "note": "n"])
    request.resultType = .updatedObjectIDsResultType
    let ids = try #require(
      (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
    context.performAndWait {
      #expect(seen.count == 5)
      let names = IndexedArray<SlotIndex, String>(seen.entity.properties.map(\.name).sorted())
      #expect(witness.changes.flatMap { $0.properties?.map { names[$0] } ?? [] } == ["count", "note"])
    }
  }

  @Test("What can't be computed in the store is refused before anything is written", .onSQLite)
  func refusals() throws {
    let (stack, context) = try filled()
    func refusal(_ values: [AnyHashable: Any], entity: String = "Item") -> ManagedObjectError? {
      #expect(throws: ManagedObjectError.self) { try context.execute(update(values, entity: entity)) }
    }
    #expect(refusal(["count": try tree("category.name")])?.code == .invalidValue)
    #expect(refusal(["note": try tree("category.name")])?.code == .unsupportedRequest)
    #expect(refusal(["count": try tree("title")])?.code == .invalidValue)
    #expect(refusal(["title": try tree("count")])?.code == .invalidValue)
    #expect(refusal(["title": try tree("nothing")])?.code == .predicate)
    #expect(refusal(["count": try tree("$x + 1")])?.code == .predicate)
    #expect(refusal(["count": try tree("tags[0].name.length")])?.code == .predicate)
    #expect(refusal(["category": try tree("category")])?.code == .unsupportedRequest)
    #expect(refusal(["nothing": try tree("count")])?.code == .unsupportedRequest)
    #expect(refusal(["title": try tree("nil")])?.code == .missingMandatoryProperty)
    // Some rows have no note.
    let missing = refusal(["title": try tree("note")])
    #expect((missing?.code, missing?.property) == (.missingMandatoryProperty, "title"))
    #expect(refusal(["count": try tree("count / 0")])?.code == .missingMandatoryProperty)
    let found = try items(stack.context())
    #expect(found.map(\.title) == (0..<5).map { "Title \($0)" })
    #expect(found.map(\.count) == Array(0..<5))
  }

  @Test("Small integers, sub-entities, unique and derived attributes keep their rules", .onSQLite)
  func rules() throws {
    let base = entity(
      "Base", nil,
      [
        attribute("small", .integer16AttributeType), attribute("name", .stringAttributeType),
        attribute("code", .integer32AttributeType),
      ])
    base.uniquenessConstraints = [["code"]]
    let derived = NSDerivedAttributeDescription()
    (derived.name, derived.attributeType, derived.derivation) = (
      "folded", .stringAttributeType, "canonical:(name)"
    )
    base.properties.append(derived)
    let special = entity("Special", nil, [attribute("extra", .integer64AttributeType)])
    base.subentities = [special]
    connect(.one(base, "parent"), .many(base, "children"))
    let stack = try Stack(model: model(base, special))
    let context = stack.context()
    context.make("Base", ["small": 30_000, "name": "a", "code": 1])
    context.make("Special", ["small": 2, "name": "b", "code": 2, "extra": 1])
    try context.save()
    func refusal(_ values: [AnyHashable: Any]) -> ManagedObjectError.Code? {
      #expect(throws: ManagedObjectError.self) { try context.execute(update(values, entity: "Base")) }?.code
    }
    #expect(refusal(["small": try tree("small * 2")]) == .invalidValue)
    #expect(refusal(["code": try tree("small - small + 7")]) == .uniquenessConflict)
    #expect(refusal(["name": try tree("uppercase:(name)")]) == .unsupportedRequest)
    #expect(refusal(["small": try tree("children.@count")]) == .unsupportedRequest)
    #expect(refusal(["small": try tree("extra")]) == .predicate)
    try context.execute(update(["small": try tree("small - 1"), "name": "C"], entity: "Base"))
    let fresh = stack.context()
    let all = try fresh.all("Base", sort: "code")
    #expect(all.map { $0.value(forKey: "small") as? Int } == [29_999, 1])
    #expect(all.map { $0.value(forKey: "folded") as? String } == ["c", "c"])
  }
}

/// Keeps what a domain would hear of merges.
private final class BatchWitness: ContextObserver {
  private(set) var changes: [ObjectChange] = []
  func contextWillTrack(_ object: NSManagedObject) {}
  func contextDidSave(_ changes: [ObjectChange], commit: CommittedTransaction) {}
  func contextDidMerge(_ changes: [ObjectChange], _ source: MergeSource) { self.changes += changes }
  func contextDidRefresh(_ objects: [NSManagedObject]) {}
  func contextDidReset() {}
}
