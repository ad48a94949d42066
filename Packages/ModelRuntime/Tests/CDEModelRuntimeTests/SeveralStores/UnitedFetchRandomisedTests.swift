import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// The same objects once in one store, and once spread over three.
@Suite("A fetch over several stores is the fetch of one store with all the rows")
struct UnitedFetchRandomisedTests {
  private static let texts = ["a", "A", "b", "é", "e\u{301}", "", "Zz", "10", "9"]

  /// Groups of objects, each in one store, with the same values in both worlds.
  private func fill(_ worlds: [(NSManagedObjectContext, [NSPersistentStore])], _ random: inout SplitMix)
    throws
  {
    var number = 0
    for group in 0..<6 {
      let seed = random.next()
      let start = number
      for (context, stores) in worlds {
        var random = SplitMix(state: seed)
        number = start
        let store = stores[group % stores.count]
        func maybe<T>(_ value: T) -> Any { Int.random(in: 0..<4, using: &random) == 0 ? NSNull() : value }
        let owners = (0..<2).map { _ in
          context.make(
            "Owner", in: store,
            [
              "name": maybe(Self.texts.randomElement(using: &random)!),
              "rank": Int.random(in: 0...3, using: &random),
            ])
        }
        for _ in 0..<7 {
          number += 1
          let part = context.make(
            Bool.random(using: &random) ? "Part" : "SpecialPart", in: store,
            [
              "n": number, "text": maybe(Self.texts.randomElement(using: &random)!),
              "price": maybe(NSDecimalNumber(value: Double(Int.random(in: -4...40, using: &random)) / 4)),
              "ratio": maybe(Double(Int.random(in: -3...3, using: &random)) / 2),
              "day": maybe(
                Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...3, using: &random)))),
            ])
          part.setValue(maybe(owners.randomElement(using: &random)!), forKey: "owner")
        }
        try context.save()
      }
    }
  }

  private static let predicates = [
    "TRUEPREDICATE", "n > 12", "text == 'a'", "text CONTAINS[cd] 'e'", "owner.rank >= 1", "owner == nil",
    "owner.name BEGINSWITH[c] 'a'", "price > 2.5", "ratio < 0 OR text == nil", "day >= CAST(2, 'NSDate')",
    "owner.parts.@count > 3", "ANY owner.parts.n == 5", "NOT (n IN {1, 2, 3, 20})", "FALSEPREDICATE",
    "tags.@count == 0", "entity.name == 'SpecialPart'",
  ]

  private func sort(_ random: inout SplitMix) -> [NSSortDescriptor] {
    let keys = ["text", "price", "ratio", "day", "owner.name", "owner.rank"]
    var sort: [NSSortDescriptor] = []
    for key in keys.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)) {
      let ascending = Bool.random(using: &random)
      if ["text", "owner.name"].contains(key) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
          sort.append(
            KeySortDescriptor(
              term: SortTerm(
                keyPath: key.split(separator: ".").map(String.init), ascending: ascending,
                collation: .localizedStandard)))
          continue
        case 1:
          sort.append(
            KeySortDescriptor(
              term: SortTerm(
                keyPath: key.split(separator: ".").map(String.init), ascending: ascending,
                collation: .caseInsensitive)))
          continue
        default: break
        }
      }
      sort.append(NSSortDescriptor(key: key, ascending: ascending))
    }
    return sort
  }

  @Test("Objects, numbers and IDs", arguments: [1, 2, 3])
  func objects(round: UInt64) throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    print("United fetches, seed \(seed)")
    var random = SplitMix(state: seed)
    let (one, three) = (try TwoStores(["All"]), try TwoStores(["A", "B", "C"]))
    let contexts = [(one.context(), one.stores), (three.context(), three.stores)]
    try fill(contexts, &random)
    for step in 0..<80 {
      let format = Self.predicates.randomElement(using: &random)!
      let isTotal = Int.random(in: 0..<4, using: &random) > 0
      let order = sort(&random) + (isTotal ? [NSSortDescriptor(key: "n", ascending: true)] : [])
      let (limit, offset) = (Int.random(in: 0...12, using: &random), Int.random(in: 0...20, using: &random))
      let type: NSFetchRequestResultType =
        Bool.random(using: &random) ? .managedObjectResultType : .managedObjectIDResultType
      let batch = Int.random(in: 0...1, using: &random) * 4
      let keepsObjects = Bool.random(using: &random)
      let pending = Int.random(in: 0..<6, using: &random) == 0
      let answers = try contexts.map { context, _ -> ([Int], Int) in
        if pending { context.make("Part", ["n": 1000 + step]) }
        defer { if pending { context.rollback() } }
        if !keepsObjects { context.reset() }
        if pending, !keepsObjects { context.make("Part", ["n": 1000 + step]) }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Part")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = order
        request.fetchLimit = limit
        request.fetchOffset = offset
        request.resultType = type
        request.fetchBatchSize = batch
        let found = try context.fetch(request)
        let numbers = found.map { result -> Int in
          let object =
            (result as? NSManagedObject) ?? context.object(with: result as! NSManagedObjectID)
          return object.value(forKey: "n") as! Int
        }
        request.fetchBatchSize = 0
        return (numbers, try context.count(for: request))
      }
      let what = "step \(step): \(format), \(order), limit \(limit), offset \(offset), seed \(seed)"
      if isTotal {
        #expect(answers[0].0 == answers[1].0, "\(what)")
      } else {
        #expect(answers[0].0.count == answers[1].0.count, "\(what)")
      }
      #expect(Set(answers[1].0).count == answers[1].0.count, "\(what)")
      #expect(answers[0].1 == answers[1].1, "\(what)")
      #expect(answers[1].1 == answers[1].0.count, "\(what)")
    }
  }

  @Test("Dictionaries, groups and aggregates", arguments: [1, 2, 3])
  func dictionaries(round: UInt64) throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    print("United dictionaries, seed \(seed)")
    var random = SplitMix(state: seed)
    let (one, three) = (try TwoStores(["All"]), try TwoStores(["A", "B", "C"]))
    let contexts = [(one.context(), one.stores), (three.context(), three.stores)]
    try fill(contexts, &random)
    func named(_ name: String, _ format: String) -> NSExpressionDescription {
      let description = NSExpressionDescription()
      description.name = name
      description.expression = TreeExpression(format: format)
      return description
    }
    let aggregates = [
      ("least", "min:(n)"), ("most", "max:(price)"), ("total", "sum:(n)"), ("mean", "average:(ratio)"),
      ("number", "count:(text)"), ("first", "min:(text)"), ("all", "count:(n)"),
      ("spread", "max:(n) - min:(n)"),
      ("middle", "average:(n)"), ("late", "max:(day)"),
    ]
    for step in 0..<60 {
      let request = NSFetchRequest<NSDictionary>(entityName: "Part")
      request.resultType = .dictionaryResultType
      request.predicate = NSPredicate(format: Self.predicates.randomElement(using: &random)!)
      let keys = Array(
        ["text", "ratio", "owner.rank", "owner.name"].shuffled(using: &random)
          .prefix(Int.random(in: 1...2, using: &random)))
      var order: [NSSortDescriptor] = []
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        request.propertiesToFetch = keys + ["n"]
        order = sort(&random) + [NSSortDescriptor(key: "n", ascending: true)]
      case 1:
        request.propertiesToFetch = keys
        request.returnsDistinctResults = true
        order = keys.map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &random)) }
      case 2:
        request.propertiesToFetch = aggregates.shuffled(using: &random).prefix(3).map { named($0.0, $0.1) }
      default:
        let chosen = aggregates.shuffled(using: &random).prefix(3).map { named($0.0, $0.1) }
        request.propertiesToFetch = keys + chosen
        request.propertiesToGroupBy = keys
        order = keys.map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &random)) }
        if Bool.random(using: &random) {
          request.havingPredicate = NSPredicate(
            format: ["sum:(n) > 20", "count:(n) >= 2", "max:(n) < 30 AND average:(n) > 3"].randomElement(
              using: &random)!)
        }
      }
      request.sortDescriptors = order
      request.fetchLimit = Int.random(in: 0...6, using: &random)
      request.fetchOffset = Int.random(in: 0...4, using: &random)
      if request.propertiesToGroupBy == nil, order.isEmpty {
        (request.fetchLimit, request.fetchOffset) = (0, 0)
      }
      let answers = try contexts.map { context, _ in try context.fetch(request).map(Self.text) }
      let counts = try contexts.map { context, _ in try context.count(for: request) }
      #expect(answers[0] == answers[1], "step \(step): \(request), seed \(seed)")
      #expect(counts[0] == counts[1], "step \(step): \(request), seed \(seed)")
    }
  }

  private static func text(_ dictionary: NSDictionary) -> String {
    let keys = dictionary.allKeys.compactMap { $0 as? String }.sorted()
    return keys.map { key -> String in
      switch dictionary[key] {
      case let number as NSNumber: "\(key): \((number.doubleValue * 1e6).rounded())"
      case let text as String: "\(key): \(Array(text.utf8))"
      case let other: "\(key): \(other ?? "nil")"
      }
    }.joined(separator: ", ")
  }
}
