import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Dictionary results are what the same computation gives for objects")
struct DictionaryRandomisedTests {
  private static let values = [
    "count", "amount", "title", "flag", "day", "seller.name", "seller.rank", "spot.label",
  ]
  private static let numbers = [
    "count", "amount", "seller.rank", "count + seller.rank", "tags.@count", "spot.lat",
  ]

  private func fill(_ world: DictionaryWorld, _ random: inout SplitMix) throws {
    let context = world.context
    func maybe<T>(_ value: T) -> Any { Int.random(in: 0..<4, using: &random) == 0 ? NSNull() : value }
    let texts = ["a", "A", "b", "é", "e\u{301}", ""]
    let sellers = (0..<3).map { _ in
      context.make(
        "Seller",
        [
          "name": maybe(texts.randomElement(using: &random)!),
          "rank": maybe(Int.random(in: 0...2, using: &random)),
        ])
    }
    let tags = (0..<3).map { context.make("Tag", ["score": $0]) }
    for _ in 0..<40 {
      let sale = context.make(
        Bool.random(using: &random) ? "Sale" : "Refund",
        [
          "title": maybe(texts.randomElement(using: &random)!),
          "count": maybe(Int.random(in: -2...2, using: &random)),
          "amount": maybe(Double(Int.random(in: -4...4, using: &random)) / 2),
          "flag": maybe(Bool.random(using: &random)),
          "day": maybe(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...2, using: &random)))),
          "spot": maybe(
            [
              "lat": Double(Int.random(in: 0...3, using: &random)) / 4,
              "label": texts.randomElement(using: &random)!,
            ] as [String: Any]),
          "seller": maybe(sellers.randomElement(using: &random)!),
        ])
      for tag in tags where Bool.random(using: &random) { sale.mutableSetValue(forKey: "tags").add(tag) }
    }
    try context.save()
  }

  /// A value as text that differs for values that differ.
  private func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let text as String: "text \(Array(text.utf8))"
    case let date as Date: "date \(date.timeIntervalSinceReferenceDate)"
    case let number as NSNumber: "number \(number.doubleValue)"
    case let other?: "other \(other)"
    }
  }

  private func aggregate(_ function: String, _ values: [Any?]) -> Any? {
    let present = values.compactMap { $0 }
    if function == "count" { return NSNumber(value: present.count) }
    if let texts = present as? [String], !texts.isEmpty {
      let sorted = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      return function == "min" ? sorted.first : sorted.last
    }
    let numbers = present.compactMap {
      ($0 as? Date)?.timeIntervalSinceReferenceDate ?? ($0 as? NSNumber)?.doubleValue
    }
    switch function {
    case "sum": return NSNumber(value: numbers.reduce(0, +))
    case "average":
      return numbers.isEmpty ? nil : NSNumber(value: numbers.reduce(0, +) / Double(numbers.count))
    default:
      let best = function == "min" ? numbers.min() : numbers.max()
      if present.first is Date { return best.map { Date(timeIntervalSinceReferenceDate: $0) } }
      return best.map { NSNumber(value: $0) }
    }
  }

  @Test("Random columns, groups and conditions", arguments: [UInt64.random(in: 0 ... .max), 1, 2, 3])
  func agreement(seed: UInt64) throws {
    let world = try DictionaryWorld()
    var random = SplitMix(state: seed)
    try fill(world, &random)
    let context = world.context
    var found = 0
    for round in 0..<60 {
      let entity = round % 5 == 0 ? "Refund" : "Sale"
      let condition = ["TRUEPREDICATE", "count > 0", "seller.rank == 1 OR flag == YES", "tags.@count < 2"]
        .randomElement(
          using: &random)!
      let objects = try context.all(entity, NSPredicate(format: condition))
      var groups: [String] = []
      for _ in 0..<[0, 0, 1, 2].randomElement(using: &random)! {
        groups.append(Self.values.randomElement(using: &random)!)
      }
      let isGrouped = !groups.isEmpty || Bool.random(using: &random)
      var columns: [(name: String, function: String?, format: String)] = []
      for index in 0...Int.random(in: 0...2, using: &random) {
        if isGrouped, index > 0 || groups.isEmpty || Bool.random(using: &random) {
          let function = ["count", "sum", "average", "min", "max"].randomElement(using: &random)!
          let isNumeric = ["sum", "average"].contains(function)
          let format = (isNumeric ? Self.numbers : Self.numbers + Self.values).randomElement(using: &random)!
          columns.append(("c\(index)", function, format))
        } else {
          let format = (isGrouped ? groups : Self.values + Self.numbers).randomElement(using: &random)!
          columns.append(("c\(index)", nil, format))
        }
      }
      let request = world.request(
        entity,
        fetching: columns.map { name, function, format in
          computed(name, function.map { "\($0):(\(format))" } ?? format)
        })
      request.predicate = NSPredicate(format: condition)
      if !groups.isEmpty { request.propertiesToGroupBy = groups }
      let minimum = Int.random(in: 1...3, using: &random)
      let hasCondition = !groups.isEmpty && Bool.random(using: &random)
      if hasCondition { request.havingPredicate = NSPredicate(format: "count:(SELF) >= \(minimum)") }
      request.returnsDistinctResults = Int.random(in: 0..<4, using: &random) == 0

      func value(_ format: String, _ object: NSManagedObject) throws -> Any? {
        try TreeExpression(format: format).value(for: object)
      }
      var rows: [[NSManagedObject]] = isGrouped ? [objects] : objects.map { [$0] }
      if !groups.isEmpty {
        rows = try Dictionary(grouping: objects) { object in
          try groups.map { text(try value($0, object)) }
        }.values.filter { !hasCondition || $0.count >= minimum }
      }
      var expected = try rows.map { group in
        try columns.map { _, function, format in
          let values = try group.map { try value(format, $0) }
          return text(function.map { aggregate($0, values) } ?? values[0])
        }
      }
      if request.returnsDistinctResults { expected = Array(Set(expected)) }
      let dictionaries = try context.fetch(request)
      let actual = dictionaries.map { dictionary in columns.map { text(dictionary[$0.name]) } }
      func ordered(_ rows: [[String]]) -> [String] { rows.map { $0.joined(separator: " | ") }.sorted() }
      try #require(
        ordered(actual) == ordered(expected),
        "seed \(seed), round \(round): \(columns) of \(entity) where \(condition), grouped by \(groups)")
      #expect(try context.count(for: request) == dictionaries.count, "seed \(seed), round \(round)")
      found += dictionaries.count
    }
    #expect(found > 200, "seed \(seed): \(found) dictionaries")
  }
}
