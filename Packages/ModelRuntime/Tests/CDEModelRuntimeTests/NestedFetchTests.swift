import CDEModelRuntime
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Fetches by conditions of many levels, compared with plain logic on the ten items' counts, from 0 to 9.
@Suite("Fetches by conditions nested without end")
struct NestedFetchTests {
  /// A format with parentheses around each compound, and whether it holds for each count.
  private struct Condition {
    var values = (0..<10).map { $0 == 5 }
    private var before: [String] = []
    private var after: [String] = []

    var format: String { before.reversed().joined() + "count == 5" + after.joined() }

    mutating func join(isAnd: Bool, _ term: Term, isOnLeft: Bool) {
      let word = isAnd ? " AND " : " OR "
      before.append(isOnLeft ? "(" : "(\(term.format)\(word)")
      after.append(isOnLeft ? "\(word)\(term.format))" : ")")
      for number in values.indices {
        values[number] = isAnd ? values[number] && term.holds(number) : values[number] || term.holds(number)
      }
    }

    mutating func negate() {
      before.append("NOT (")
      after.append(")")
      values = values.map { !$0 }
    }
  }

  private struct Term {
    let format: String
    let holds: (Int) -> Bool

    init(format: String, holds: @escaping (Int) -> Bool) { (self.format, self.holds) = (format, holds) }

    /// Some of the terms are those that a server leaves to this process, or that are unknown in SQL: the items with an
    /// even count have no title.
    init(_ number: Int, _ random: inout SplitMix) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: (format, holds) = ("count != \(number)", { $0 != number })
      case 1: (format, holds) = ("title > 'item \(number)'", { $0 % 2 == 1 && $0 > number })
      case 2: (format, holds) = ("title ==[cd] 'ITEM \(number)'", { $0 % 2 == 1 && $0 == number })
      case 3: (format, holds) = ("ANY tags.tag_name == 'tag \(number)'", { $0 == number })
      default: (format, holds) = ("count == \(number)", { $0 == number })
      }
    }
  }

  private func stack() throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack()
    let context = stack.context()
    for number in 0..<10 {
      let item = Item(context: context)
      item.count = number
      if number % 2 == 1 { item.title = "item \(number)" }
      let tag = Tag(context: context)
      tag.name = "tag \(number)"
      item.addToTags(tag)
    }
    try context.save()
    return (stack, context)
  }

  private func check(_ condition: Condition, _ context: NSManagedObjectContext, _ note: String) throws {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate(format: condition.format)
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    let expected = condition.values.indices.filter { condition.values[$0] }
    #expect(try context.fetch(request).map(\.count) == expected, "\(note)")
    #expect(try context.count(for: request) == expected.count, "\(note)")
  }

  @Test("Thousands of levels of AND and OR in turn are answered", arguments: [true, false], [true, false])
  func levels(isOnLeft: Bool, hasNegations: Bool) throws {
    let (_, context) = try stack()
    var condition = Condition()
    for level in 0..<(DrawnSteps.takesAll ? 10_000 : 3_000) {
      let isAnd = level % 2 == 0
      let number = level % 5
      let term = isAnd ? "count != \(number)" : "count == \(number)"
      condition.join(
        isAnd: isAnd, Term(format: term, holds: { ($0 == number) != isAnd }), isOnLeft: isOnLeft)
      if hasNegations { condition.negate() }
    }
    try onSmallStack { () throws in
      try check(condition, context, "left \(isOnLeft), negations \(hasNegations)")
    }
    // Memory decides for objects with unsaved changes.
    let items = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
    for item in items { item.flag = true }
    try onSmallStack { () throws in
      try check(condition, context, "unsaved, left \(isOnLeft), negations \(hasNegations)")
    }
  }

  @Test("Random conditions of up to 2,000 levels find what plain logic finds")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("nested fetch seed \(seed)")
    var random = SplitMix(state: seed)
    let (_, context) = try stack()
    for round in 0..<40 {
      // Half of them around the number of levels where the form changes.
      let levels = Int.random(in: 1...(round % 2 == 0 ? 2_000 : 40), using: &random)
      var condition = Condition()
      for _ in 0..<levels {
        if Int.random(in: 0..<5, using: &random) == 0 { condition.negate() }
        condition.join(
          isAnd: Bool.random(using: &random), Term(Int.random(in: 0..<10, using: &random), &random),
          isOnLeft: Bool.random(using: &random))
      }
      if round == 20 {
        for item in try context.fetch(NSFetchRequest<Item>(entityName: "Item")) { item.flag = true }
      }
      try onSmallStack { () throws in
        try check(condition, context, "seed \(seed), round \(round), \(levels) levels")
      }
    }
  }

  @Test("Conditions whose both sides are deep are answered")
  func bothSides() throws {
    let (_, context) = try stack()
    func deep(_ levels: Int, isAnd: Bool) -> String {
      levels == 0
        ? "count != 3"
        : "(\(deep(levels - 1, isAnd: !isAnd)) \(isAnd ? "AND" : "OR") \(deep(levels / 2, isAnd: !isAnd)))"
    }
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate(format: deep(40, isAnd: true))
    #expect(try context.count(for: request) == 9)
  }
}
