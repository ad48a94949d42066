import CDEPredicates
import Foundation
import Testing

@Suite("Two-valued truth")
struct TruthTableTests {
  private static let operators: [(PredicateOperator, leftNil: Bool, rightNil: Bool, both: Bool)] = [
    (.equal, false, false, true), (.notEqual, true, true, false), (.less, false, false, false),
    (.lessOrEqual, false, false, false), (.greater, false, false, false),
    (.greaterOrEqual, false, false, false),
    (.beginsWith, false, false, false), (.endsWith, false, false, false), (.contains, false, false, false),
    (.like, false, false, false), (.matches, false, false, false), (.in, false, false, false),
  ]

  @Test("Comparisons with nil are true or false, and NOT negates them")
  func nilOperands() throws {
    for row in Self.operators {
      let cases: [(Any?, Any?, Bool)] = [
        (nil, "x", row.leftNil), ("x", nil, row.rightNil), (nil, nil, row.both),
        (nil, 5, row.0 == .notEqual), (5, nil, row.0 == .notEqual),
      ]
      for (left, right, expected) in cases {
        let object: [String: Any?] = ["l": left, "r": right]
        let text = "l \(row.0.rawValue) r"
        #expect(try holds(text, object) == expected, "\(text) with \(object)")
        #expect(try holds("NOT (\(text))", object) == !expected, "NOT \(text) with \(object)")
        #expect(try holds("NOT NOT \(text)", object) == expected)
      }
    }
  }

  @Test("Lists and bounds with nil")
  func lists() throws {
    let empty: [String: Any] = [:]
    #expect(try holds("x IN {1, nil}", empty))
    #expect(try !holds("x IN {1, 2}", empty))
    #expect(try holds("NOT x IN {1, 2}", empty))
    #expect(try !holds("x IN {}", ["x": 1]))
    #expect(try !holds("x BETWEEN {1, 5}", empty))
    #expect(try !holds("x BETWEEN {nil, 5}", ["x": 1]))
    #expect(try !holds("x BETWEEN {1, nil}", ["x": 1]))
    #expect(try holds("x BETWEEN {1, 5}", ["x": 5]))
    #expect(try holds("x BETWEEN {1, 5}", ["x": 1]))
    #expect(try !holds("x BETWEEN {5, 1}", ["x": 3]))
    #expect(try holds("x != 5", empty))
    #expect(try holds("NOT (x < 5)", empty))
  }

  @Test("A path through a nil relationship is nil")
  func nilRelationship() throws {
    let orphan = Thing(1, ["name": "o"])
    #expect(try holds("parent == nil", orphan))
    #expect(try holds("parent.name == nil", orphan))
    #expect(try holds("parent.name != 'x'", orphan))
    #expect(try !holds("parent.name == 'x'", orphan))
    #expect(try !holds("parent.name BEGINSWITH 'x'", orphan))
    #expect(try holds("parent.tags.@count == 0", orphan))
    #expect(try !holds("ANY parent.tags.name == nil", orphan))
    let child = Thing(2, [:], parent: orphan)
    #expect(try holds("parent.name == 'o' AND parent == %@ AND parent.parent == nil", child, orphan))
    #expect(try !holds("parent == %@", child, child))
    #expect(try holds("parent != %@ AND SELF == %@", child, child, child))
  }

  @Test("Random predicates over nullable columns agree with a model written out by hand")
  func model() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("truth model seed \(seed)")
    var random = SplitMix(seed: seed)
    func column() -> Int? { Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil }
    func atom() -> (String, (Int?, Int?) -> Bool) {
      let n = Int.random(in: 0...3, using: &random)
      switch Int.random(in: 0...8, using: &random) {
      case 0: return ("a == \(n)", { a, _ in a == n })
      case 1: return ("a != \(n)", { a, _ in a != n })
      case 2: return ("a < b", { a, b in a.flatMap { a in b.map { a < $0 } } ?? false })
      case 3: return ("b >= \(n)", { _, b in b.map { $0 >= n } ?? false })
      case 4: return ("a == b", { a, b in a == b })
      case 5: return ("a != b", { a, b in a != b })
      case 6: return ("b == nil", { _, b in b == nil })
      case 7: return ("a IN {\(n), 2}", { a, _ in a == n || a == 2 })
      default: return ("a BETWEEN {1, \(n)}", { a, _ in a.map { $0 >= 1 && $0 <= n } ?? false })
      }
    }
    func tree(_ depth: Int) -> (String, (Int?, Int?) -> Bool) {
      guard depth > 0 else { return atom() }
      let (left, right) = (tree(depth - 1), tree(depth - 1))
      switch Int.random(in: 0...3, using: &random) {
      case 0: return ("(\(left.0)) AND (\(right.0))", { left.1($0, $1) && right.1($0, $1) })
      case 1: return ("(\(left.0)) OR (\(right.0))", { left.1($0, $1) || right.1($0, $1) })
      case 2: return ("NOT (\(left.0))", { !left.1($0, $1) })
      default: return atom()
      }
    }
    for _ in 0..<2_000 {
      let (text, expected) = tree(Int.random(in: 0...3, using: &random))
      let predicate = try PredicateTree(format: text)
      for _ in 0..<5 {
        let (a, b) = (column(), column())
        #expect(
          try predicate.evaluate(with: ["a": a, "b": b]) == expected(a, b),
          "seed \(seed): \(text) with \(a as Any), \(b as Any)")
      }
    }
  }
}
