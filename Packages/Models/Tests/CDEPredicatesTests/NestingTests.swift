import CDEPredicates
import Foundation
import Testing

/// All of it on a thread with 512 KB of stack.
@Suite("Conditions nested without end")
struct NestingTests {
  /// More than 512 KB of stack hold of calls that call themselves. Long runs have as many as an archive may have.
  static let count = isLong ? 10_000 : 3_000
  private static let isLong = ProcessInfo.processInfo.environment["CDE_EVERY_STEP"] == "1"
  private static let numbers = [1, 5, 8]

  private func check(_ tree: PredicateTree, _ condition: NestedCondition, _ note: String) throws {
    for number in Self.numbers {
      #expect(try tree.evaluate(with: ["n": number]) == condition.values[number], "\(note), \(number)")
    }
  }

  @Test("A format of any depth is parsed, printed and evaluated", arguments: NestedCondition.Shape.allCases)
  func formats(shape: NestedCondition.Shape) throws {
    try onSmallStack { () throws in
      let condition = NestedCondition(shape, levels: Self.count)
      let tree = try PredicateTree(format: condition.format)
      try check(tree, condition, "\(shape)")
      if shape != .negation { #expect(tree == condition.tree) }
      let again = try PredicateTree(format: tree.predicateFormat)
      #expect(again == tree && again.hashValue == tree.hashValue)
      #expect(again.predicateFormat == tree.predicateFormat)

      let predicate = NSPredicate(format: condition.format)
      for number in Self.numbers {
        #expect(predicate.evaluate(with: ["n": number]) == condition.values[number], "\(shape), \(number)")
      }
      try check(try predicate.predicateTree(), condition, "\(shape)")
    }
  }

  @Test("A tree that code builds is evaluated, compared and freed", arguments: NestedCondition.Shape.allCases)
  func trees(shape: NestedCondition.Shape) throws {
    // The compiler's code frees a chain of NOT alone, by recursion.
    try onSmallStack(bytes: shape == .negation ? 8 << 20 : 512 << 10) { () throws in
      let condition = NestedCondition(shape, levels: Self.count)
      let tree = condition.tree
      try check(tree, condition, "\(shape)")
      let same = NestedCondition(shape, levels: Self.count).tree
      #expect(tree == same && tree.hashValue == same.hashValue)
      #expect(tree != NestedCondition(shape, levels: Self.count + 1).tree)
      let predicate = NSPredicate(tree)
      #expect(try predicate.matches(["n": 5]) == condition.values[5])
      if shape != .negation { #expect(predicate == NSPredicate(format: condition.format)) }
    }
  }

  @Test("Objects have the parts of a tree, and are freed", arguments: NestedCondition.Shape.allCases)
  func parts(shape: NestedCondition.Shape) throws {
    try onSmallStack { () throws in
      let condition = NestedCondition(shape, levels: Self.count)
      var levels = 0
      var predicate: NSPredicate? = NSPredicate(format: condition.format)
      let outermost = predicate
      while let compound = predicate as? NSCompoundPredicate {
        levels += 1
        predicate = compound.subpredicates.first { $0 is NSCompoundPredicate } ?? compound.subpredicates.first
      }
      #expect(predicate is TreeComparisonPredicate)
      let isFlat = [.conjunction, .disjunction, .negation].contains(shape)
      #expect(isFlat ? levels <= 64 : levels >= Self.count)
      #expect(outermost?.evaluate(with: ["n": 5]) == condition.values[5])
    }
  }

  @Test("Variables are replaced", arguments: [NestedCondition.Shape.right, .mixed, .disjunction])
  func substitution(shape: NestedCondition.Shape) throws {
    try onSmallStack { () throws in
      let condition = NestedCondition(shape, levels: Self.count)
      let predicate = NSPredicate(format: condition.format.replacingOccurrences(of: "== 5", with: "== $five"))
      #expect(!predicate.evaluate(with: ["n": 5]))
      for number in Self.numbers {
        #expect(
          try predicate.matches(["n": number], substitutionVariables: ["five": 5]) == condition.values[number]
        )
      }
      let replaced = predicate.withSubstitutionVariables(["five": 5])
      #expect(replaced == NSPredicate(format: condition.format))
      #expect(replaced.canonicalFormat == NSPredicate(format: condition.format).canonicalFormat)
    }
  }

  @Test("Archives keep the condition", arguments: NestedCondition.Shape.allCases, [200])
  func archives(shape: NestedCondition.Shape, levels: Int) throws {
    try onSmallStack { () throws in
      let condition = NestedCondition(shape, levels: levels)
      let predicate = NSPredicate(format: condition.format)
      let read = try PredicateArchives.predicate(from: PredicateArchives.data(of: predicate))
      #expect(read == predicate)
      let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
      let unarchived = try NSKeyedUnarchiver.unarchivedObject(
        ofClasses: [TreePredicate.self, TreeCompoundPredicate.self], from: data)
      #expect(unarchived as? NSPredicate == predicate)
    }
  }

  @Test("An archive has thousands of levels, and refuses a number for which no stack is large enough")
  func deepArchives() throws {
    try onSmallStack { () throws in
      let predicate = NSPredicate(format: NestedCondition(.right, levels: Self.count).format)
      #expect(try PredicateArchives.predicate(from: PredicateArchives.data(of: predicate)) == predicate)
      let deeper = NSPredicate(format: NestedCondition(.right, levels: 20_001).format)
      let error = #expect(throws: PredicateTreeError.self) { try PredicateArchives.data(of: deeper) }
      #expect(error?.message.contains("20000 compound predicates") == true)
    }
  }

  @Test("Compounds of objects are evaluated, converted and freed", arguments: [true, false])
  func compounds(hasBlock: Bool) throws {
    let some = hasBlock ? NSPredicate { _, _ in true } : NSPredicate(format: "n == 5")
    try onSmallStack { () throws in
      for shape in 0..<5 {
        var holds = true
        let compound = (0..<Self.count).reduce(some as NSPredicate) { inner, level in
          switch shape {
          case 0: return TreeCompoundPredicate(type: .and, subpredicates: [inner, some])
          case 1: return TreeCompoundPredicate(type: .or, subpredicates: [some, inner])
          case 2:
            holds.toggle()
            return TreeCompoundPredicate(type: .not, subpredicates: [inner])
          case 3:
            return TreeCompoundPredicate(type: level % 2 == 0 ? .and : .or, subpredicates: [inner, some])
          default:
            let both = TreeCompoundPredicate(type: level % 2 == 0 ? .and : .or, subpredicates: [inner, some])
            holds = level % 2 == 0 ? !holds : false
            return TreeCompoundPredicate(type: .not, subpredicates: [both])
          }
        }
        #expect(try compound.matches(["n": 5]) == holds, "\(shape)")
        #expect(compound.evaluate(with: ["n": 5]) == holds, "\(shape)")
        #expect(compound.isEqual(compound))
        _ = compound.hash
        let copy = compound.withSubstitutionVariables(["x": 1])
        #expect(copy == compound)
        #expect(copy.canonicalFormat == compound.canonicalFormat)
        if hasBlock {
          #expect(throws: PredicateTreeError.self) { try compound.predicateTree() }
        } else {
          #expect(try compound.predicateTree().evaluate(with: ["n": 5]) == holds)
        }
      }
    }
  }

  @Test(
    "Compounds that Foundation made are answered",
    arguments: [NSCompoundPredicate.LogicalType.and, .or, .not])
  func foundation(type: NSCompoundPredicate.LogicalType) throws {
    let some = NSPredicate(format: "n == 5")
    for alternates in [false, true] {
      let compound = (0..<Self.count).reduce(some as NSPredicate) { inner, level in
        switch type {
        case .not: NSCompoundPredicate(notPredicateWithSubpredicate: inner)
        default:
          NSCompoundPredicate(
            type: alternates && level % 2 == 0 ? .or : type, subpredicates: [inner, some])
        }
      }
      // Foundation frees its own chain by recursion.
      defer { takeApart(compound) }
      try onSmallStack { () throws in
        #expect(try compound.matches(["n": 5]))
        #expect(try !compound.matches(["n": 4]) || type == .not)
        let tree = try compound.predicateTree()
        #expect(try tree.evaluate(with: ["n": 5]))
        switch tree {
        case .and(let parts) where !alternates && type == .and: #expect(parts.count == Self.count + 1)
        case .or(let parts) where !alternates && type == .or: #expect(parts.count == Self.count + 1)
        default: #expect(alternates || type == .not)
        }
        #expect(compound.withSubstitutionVariables(["x": 1]).canonicalFormat == compound.canonicalFormat)
      }
    }
  }

  private func takeApart(_ predicate: NSPredicate) {
    var next: NSPredicate? = predicate
    while let compound = next as? NSCompoundPredicate {
      next = compound.subpredicates.first
      compound.subpredicates = []
    }
  }

  @Test("Random conditions of up to 2,000 levels have the values of plain logic")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("nesting seed \(seed)")
    try onSmallStack { () throws in
      var random = SplitMix(seed: seed)
      for _ in 0..<(Self.isLong ? 60 : 20) {
        let levels = Int.random(in: 1...2_000, using: &random)
        let condition = NestedCondition(levels: levels, random: &random)
        let note = "seed \(seed), \(levels) levels"
        let parsed = try PredicateTree(format: condition.format)
        try check(parsed, condition, note)
        #expect(try PredicateTree(format: parsed.predicateFormat) == parsed, "\(note)")
        let object = NSPredicate(condition.tree)
        for number in 0..<10 {
          #expect(try object.matches(["n": number]) == condition.values[number], "\(note)")
        }
        if levels < 200 {
          #expect(
            try PredicateArchives.predicate(from: PredicateArchives.data(of: object)) == object, "\(note)")
        }
      }
    }
  }

  @Test("Any number of parentheses is parsed, or missed")
  func parentheses() throws {
    try onSmallStack { () throws in
      func parse(_ count: Int, _ before: String, _ middle: String, closing: Int) throws -> PredicateTree {
        let (open, close) = (String(repeating: "(", count: count), String(repeating: ")", count: closing))
        return try PredicateTree(format: before + open + middle + close)
      }
      // Each has a few bytes of stack.
      let many = Self.isLong ? 1_000_000 : 100_000
      #expect(try parse(many, "", "n == 5", closing: many).predicateFormat == "n == 5")
      #expect(throws: PredicateTreeError.self) { try parse(many, "", "", closing: 0) }
      let count = Self.count
      #expect(try parse(count, "n == ", "5", closing: count).predicateFormat == "n == 5")
      for (middle, closing) in [("n == 5", 0), ("n == 5", count - 1), ("n == 5", count + 1), ("", count)] {
        let error = #expect(throws: PredicateTreeError.self) {
          try parse(count, "", middle, closing: closing)
        }
        #expect(error?.code == .malformedFormat)
      }
    }
  }

  @Test(
    "An expression that nests too deep is refused with a sentence",
    arguments: [
      "n == " + String(repeating: "-", count: count) + "5",
      "n == 1" + String(repeating: " + n", count: count),
      "n == " + String(repeating: "2 ** ", count: count) + "1",
      "n == " + String(repeating: "(1 + ", count: count) + "n" + String(repeating: ")", count: count),
      "n == " + String(repeating: "-(", count: count) + "n" + String(repeating: ")", count: count),
      "n == " + String(repeating: "abs(", count: count) + "n" + String(repeating: ")", count: count),
      String(repeating: "SUBQUERY(", count: count) + "n",
      "n == " + String(repeating: "TERNARY(n == 1, ", count: count) + "n",
      "n == n" + String(repeating: "[0]", count: count),
      "n IN " + String(repeating: "{", count: count) + "1",
    ])
  func expressions(format: String) throws {
    try onSmallStack { () throws in
      let error = try #require(throws: PredicateTreeError.self) { try PredicateTree(format: format) }
      #expect(error.message.contains("levels"), "\(error.message)")
      #expect(
        NSPredicate(format: format).withSubstitutionVariables(["x": 1]).canonicalFormat == "FALSEPREDICATE")
    }
  }

  @Test("An expression of a tree that is too deep is an error where it is used")
  func deepTrees() throws {
    let expression = (0..<Self.count).reduce(ExpressionTree.keyPath(["n"])) { inner, _ in
      .function(.negate, [inner])
    }
    let predicate = NSPredicate(.compare(expression, .equal, .constant(.integer(5))))
    let error = #expect(throws: PredicateTreeError.self) { try predicate.predicateTree() }
    #expect(error?.message.contains("deeper than 200 levels") == true)
    #expect(throws: PredicateTreeError.self) { try predicate.matches(["n": 5]) }
  }

  @Test("A condition in a subquery may be deep, too")
  func subquery() throws {
    try onSmallStack { () throws in
      let inner = NestedCondition(.left, levels: Self.count)
      let format =
        "SUBQUERY(list, $x, \(inner.format.replacingOccurrences(of: "n ", with: "$x "))).@count == "
      let numbers = Array(0..<10)
      let count = inner.values.count { $0 }
      #expect(try NSPredicate.parsing(format: format + "\(count)").matches(["list": numbers]))
      #expect(try !NSPredicate.parsing(format: format + "\(count + 1)").matches(["list": numbers]))
    }
  }
}
