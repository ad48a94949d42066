import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDEPredicates
import Foundation
import Testing

/// Each case is one random predicate on 40 objects: what memory says of each object has to be what a fetch finds.
@Suite("Random requests find in the store what memory says")
struct RequestFuzzTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let cases = environment["CDE_PREDICATES"].flatMap(Int.init) ?? 500
  private static let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
  /// Predicates on the same objects.
  private static let casesInAWorld = 500
  private static let shownFailures = 10

  private let world: DictionaryWorld

  init() throws { world = try DictionaryWorld() }

  private var context: NSManagedObjectContext { world.context }

  @Test("Random predicates agree on every object, saved or changed")
  func predicates() throws {
    var tally = Tally()
    var failures = 0
    for start in stride(from: 0, to: Self.cases, by: Self.casesInAWorld) {
      let seed = Self.seed &+ UInt64(start)
      var values = RandomValues(random: SplitMix(state: seed))
      try empty()
      let objects = try fill(&values)
      var predicates = RandomPredicates(values, objects)
      for turn in 0..<min(Self.casesInAWorld, Self.cases - start) {
        let made = predicates.predicate()
        let place = "seed \(seed), turn \(turn)"
        if try !compare(made, &tally, place) { failures += 1 }
        // Now and then with unsaved changes. As in Core Data, memory decides of the changed objects alone.
        if turn % 25 == 24 {
          try change(&predicates.values)
          if try !compare(made, &tally, place + ", changed", of: \.hasChanges) { failures += 1 }
          context.rollback()
        }
        // More would only hide the first ones.
        if failures >= Self.shownFailures { return }
      }
    }
    print("Random predicates: seed \(Self.seed), \(tally)")
    #expect(tally.answered > Self.cases * 3 / 4, "\(tally)")
    #expect(tally.found > tally.compared / 20 && tally.found < tally.compared * 19 / 20, "\(tally)")
  }

  @Test("Random orders, ranges, batches and forms of a result agree with the objects sorted in memory")
  func requests() throws {
    var random = SplitMix(state: Self.seed)
    var answered = 0
    for start in stride(from: 0, to: Self.cases / 10, by: Self.casesInAWorld) {
      let seed = Self.seed &+ UInt64(start)
      var values = RandomValues(random: SplitMix(state: seed))
      try empty()
      var predicates = RandomPredicates(values, try fill(&values))
      for turn in 0..<min(Self.casesInAWorld, Self.cases / 10 - start) {
        let made = predicates.predicate(depth: 1)
        let predicate = NSPredicate(format: made.format, argumentArray: made.arguments)
        let orders = (0..<Int.random(in: 1...3, using: &random)).map { _ in order(&random) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sale")
        let all = try context.fetch(request)
        guard let found = try? all.filter({ try predicate.matches($0) }) else { continue }
        request.predicate = predicate
        request.sortDescriptors = orders
        let place = "seed \(seed), turn \(turn): \(made.format) by \(orders)"
        guard let sorted = try? context.fetch(request) else { continue }
        guard isSorted(sorted, orders), Set(sorted) == Set(found), sorted.count == found.count else {
          Issue.record(
            "\(place): the fetch finds \(sorted.count) objects out of order, or others than memory's \(found.count)"
          )
          return
        }
        answered += 1
        request.fetchOffset = [0, 0, 1, 7, 100].randomElement(using: &random)!
        request.fetchLimit = [0, 1, 5, 100].randomElement(using: &random)!
        request.fetchBatchSize = [0, 0, 1, 4].randomElement(using: &random)!
        request.returnsObjectsAsFaults = Bool.random(using: &random)
        request.includesPropertyValues = Bool.random(using: &random)
        let rest = sorted.dropFirst(request.fetchOffset)
        let expected = Array(request.fetchLimit == 0 ? rest[...] : rest.prefix(request.fetchLimit))
        let part = try context.fetch(request)
        let batched = try context.fetch(request, batchSize: Int.random(in: 1...9, using: &random))
        #expect(batched.elementsEqual(part, by: ===), "\(place), in batches")
        // Objects that are equal by all orders have no order among themselves.
        let agrees =
          part.count == expected.count && Set(part).isSubset(of: found)
          && zip(part, expected).allSatisfy { one, other in
            orders.allSatisfy { $0.compare(one, to: other) == .orderedSame }
          }
        guard agrees else {
          Issue.record(
            "\(place), from \(request.fetchOffset), at most \(request.fetchLimit): \(part.count) objects")
          return
        }
        #expect(try context.count(for: request) == expected.count, "\(place)")
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Sale")
        ids.predicate = predicate
        ids.sortDescriptors = orders
        ids.resultType = .managedObjectIDResultType
        #expect(Set(try context.fetch(ids)) == Set(found.map(\.objectID)), "\(place)")
      }
    }
    print("Random requests: seed \(Self.seed), \(answered) answered")
    #expect(answered > Self.cases / 10 * 9 / 10, "\(answered) answered")
  }

  private func order(_ random: inout SplitMix) -> NSSortDescriptor {
    let texts = ["title", "seller.name", "spot.label", "origin.title"]
    let others = [
      "count", "big", "amount", "weight", "price", "flag", "day", "seller.rank", "origin.amount", "token",
    ]
    let isAscending = Bool.random(using: &random)
    guard Bool.random(using: &random) else {
      return NSSortDescriptor(key: others.randomElement(using: &random)!, ascending: isAscending)
    }
    let collation = SortTextCollation.allCases.randomElement(using: &random)!
    let keyPath = texts.randomElement(using: &random)!.split(separator: ".").map(String.init)
    return NSSortDescriptor(SortTerm(keyPath: keyPath, ascending: isAscending, collation: collation))
  }

  private func isSorted(_ objects: [NSManagedObject], _ orders: [NSSortDescriptor]) -> Bool {
    zip(objects, objects.dropFirst()).allSatisfy { one, other in
      for order in orders {
        switch order.compare(one, to: other) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return true
    }
  }

  private struct Tally: CustomStringConvertible {
    var answered = 0
    var refused = 0
    var compared = 0
    var found = 0

    var description: String {
      "\(answered) answered, \(refused) refused by both or the store, \(found) of \(compared) objects found"
    }
  }

  /// - Returns: whether memory and store agree.
  private func compare(
    _ made: RandomPredicates.Made, _ tally: inout Tally, _ place: String,
    of isCompared: (NSManagedObject) -> Bool = { _ in true }
  ) throws -> Bool {
    let predicate = NSPredicate(format: made.format, argumentArray: made.arguments)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Sale")
    let all = try context.fetch(request).filter(isCompared)
    request.predicate = predicate
    let fetched = Result { try context.fetch(request) }
    let expected = Result { try all.filter { try predicate.matches($0) } }
    let text = "\(place): \(made.format) with \(made.arguments)"
    switch (fetched, expected) {
    case (.success(let fetched), .success(let expected)):
      tally.answered += 1
      tally.compared += all.count
      tally.found += expected.count
      let difference = Set(fetched.filter(isCompared)).symmetricDifference(expected)
      if let object = difference.first {
        Issue.record(
          "\(text): memory \(expected.contains(object)), store \(fetched.contains(object)) for \(values(object))"
        )
        return false
      }
      let count = try context.count(for: request)
      #expect(count == fetched.count, "\(text)")
      return count == fetched.count
    case (.failure, _): tally.refused += 1
    case (.success, .failure(let error)):
      Issue.record("\(text): the store answers, memory says \(error)")
      return false
    }
    return true
  }

  // MARK: Objects

  private func values(_ object: NSManagedObject) -> String {
    object.entity.propertiesByName.keys.sorted().map { "\($0): \(object.value(forKey: $0) ?? "nil")" }.joined(
      separator: ", ")
  }

  private func empty() throws {
    for name in ["Sale", "Seller", "Tag"] {
      for object in try context.all(name) { context.delete(object) }
    }
    try context.save()
  }

  private static let kinds: [(String, RandomValues.Kind)] = [
    ("title", .text), ("count", .integer), ("big", .big), ("amount", .real), ("weight", .single),
    ("price", .decimal),
    ("flag", .flag), ("day", .date), ("token", .uuid), ("link", .url), ("blob", .data),
  ]

  private func fill(_ values: inout RandomValues) throws -> [String: [Any]] {
    let sellers = (0..<4).map { _ in context.make("Seller") }
    let tags = (0..<4).map { _ in context.make("Tag") }
    for seller in sellers {
      if values.chance(80) { seller.setValue(values.value(.text), forKey: "name") }
      if values.chance(80) { seller.setValue(values.value(.integer), forKey: "rank") }
      if values.chance(60) { seller.setValue(values.pick(sellers), forKey: "boss") }
    }
    for tag in tags {
      if values.chance(80) { tag.setValue(values.value(.text), forKey: "name") }
      if values.chance(80) { tag.setValue(values.value(.small), forKey: "score") }
    }
    let sales = (0..<40).map { _ in context.make(values.chance(25) ? "Refund" : "Sale") }
    for sale in sales { setAll(sale, &values, sellers, tags, sales) }
    try context.save()
    return ["Sale": sales, "Seller": sellers, "Tag": tags]
  }

  private func setAll(
    _ sale: NSManagedObject, _ values: inout RandomValues, _ sellers: [NSManagedObject],
    _ tags: [NSManagedObject],
    _ sales: [NSManagedObject]
  ) {
    for (name, kind) in Self.kinds where values.chance(80) { sale.setValue(values.value(kind), forKey: name) }
    if values.chance(60) {
      let spot: [String: Any] = ["lat": values.value(.real), "label": values.value(.text)]
      sale.setValue(spot, forKey: "spot")
    }
    if values.chance(75) { sale.setValue(values.pick(sellers), forKey: "seller") }
    if values.chance(50) { sale.setValue(values.pick(sales), forKey: "origin") }
    for tag in tags where values.chance(35) { sale.mutableSetValue(forKey: "tags").add(tag) }
  }

  private func change(_ values: inout RandomValues) throws {
    let (sales, sellers, tags) = (try context.all("Sale"), try context.all("Seller"), try context.all("Tag"))
    for sale in sales where values.chance(20) { setAll(sale, &values, sellers, tags, sales) }
    for sale in sales where values.chance(5) { context.delete(sale) }
    for _ in 0..<3 { setAll(context.make("Sale"), &values, sellers, tags, sales) }
  }
}
