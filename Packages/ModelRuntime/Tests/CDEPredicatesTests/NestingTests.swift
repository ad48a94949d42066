import CDEPredicates
import Foundation
import Testing

/// What nests too deep to be walked is answered in another form or refused; the stack is not at stake.
@Suite("Predicates nested without end")
struct NestingTests {
  static let count = 10_000
  private let object: [String: Any] = ["n": 5]

  @Test(
    "A format string is refused with a sentence",
    arguments: [
      String(repeating: "NOT ", count: count) + "n == 5", String(repeating: "!", count: count) + "(n == 5)",
      String(repeating: "(", count: count) + "n == 5" + String(repeating: ")", count: count),
      "n == " + String(repeating: "-", count: count) + "5",
      "n == 1" + String(repeating: " + n", count: count),
      "n == " + String(repeating: "abs(", count: count) + "n" + String(repeating: ")", count: count),
      String(repeating: "SUBQUERY(", count: count) + "n",
      "n == " + String(repeating: "TERNARY(n == 1, ", count: count) + "n",
      "n IN " + String(repeating: "{", count: count) + "1",
    ])
  func formats(format: String) throws {
    let error = try #require(throws: PredicateTreeError.self) { try PredicateTree(format: format) }
    #expect(error.message.contains("levels") || error.message.contains("operators"), "\(error.message)")
  }

  @Test("Conditions joined one by one are one conjunction", arguments: [true, false])
  func chains(isAnd: Bool) throws {
    let some = NSPredicate(format: "n == 5")
    let all = (0..<Self.count).reduce(some as NSPredicate) { joined, _ in
      NSCompoundPredicate(type: isAnd ? .and : .or, subpredicates: [joined, some])
    }
    #expect(try all.matches(object))
    switch try all.predicateTree() {
    case .and(let parts) where isAnd: #expect(parts.count == Self.count + 1)
    case .or(let parts) where !isAnd: #expect(parts.count == Self.count + 1)
    case let tree: Issue.record("\(tree)")
    }
    #expect(all.canonicalFormat.hasPrefix("n == 5 \(isAnd ? "AND" : "OR") n == 5"))

    let tree = try some.predicateTree()
    let joined = (0..<Self.count).reduce(tree) {
      isAnd ? .and($1 % 2 == 0 ? [$0, tree] : [tree, $0]) : .or([$0, tree])
    }
    #expect(try NSPredicate(joined).matches(object))
  }

  @Test("Negations cancel out")
  func negations() throws {
    let some = NSPredicate(format: "n == 5")
    for count in [Self.count, Self.count + 1] {
      let all = (0..<count).reduce(some as NSPredicate) { inner, _ in
        NSCompoundPredicate(notPredicateWithSubpredicate: inner)
      }
      #expect(try all.matches(object) == (count == Self.count))
      let tree = (0..<count).reduce(try some.predicateTree()) { inner, _ in .not(inner) }
      #expect(try NSPredicate(tree).matches(object) == (count == Self.count))
    }
  }

  @Test("What stays deep is an error where it is used")
  func alternations() throws {
    let some = NSPredicate(format: "n == 5")
    let compound = (0..<Self.count).reduce(some as NSPredicate) { inner, index in
      NSCompoundPredicate(type: index % 2 == 0 ? .and : .or, subpredicates: [inner, some])
    }
    let tree = (0..<Self.count).reduce(try some.predicateTree()) { inner, index in
      index % 2 == 0 ? .and([inner, .constant(true)]) : .or([inner, .constant(false)])
    }
    let expression = (0..<Self.count).reduce(ExpressionTree.keyPath(["n"])) { inner, _ in
      .function(.negate, [inner])
    }
    let computed = NSPredicate(.compare(expression, .equal, .constant(.integer(5))))
    for predicate in [compound, NSPredicate(tree), computed] {
      let error = #expect(throws: PredicateTreeError.self) { try predicate.predicateTree() }
      #expect(error?.message.contains("deeper than 200 levels") == true)
      #expect(throws: PredicateTreeError.self) { try predicate.matches(object) }
      #expect(predicate.withSubstitutionVariables(["x": 1]).canonicalFormat == "FALSEPREDICATE")
    }
  }
}
