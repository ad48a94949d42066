import CDEPredicates
import Foundation
import Testing

/// Forms that many published programs contain.
@Suite("Widely used formats")
struct WidelyUsedFormatTests {
  @Test("The time of the evaluation is cast to a number, computed with, and cast back")
  func castOfNow() throws {
    let day = 86_400.0
    let last = "when >= CAST(CAST(now(), 'NSNumber') - 86400, 'NSDate')"
    for (age, isRecent) in [(day / 2, true), (day * 2, false), (-day, true)] {
      #expect(try holds(last, ["when": Date(timeIntervalSinceNow: -age)]) == isRecent)
    }
    #expect(try holds("when < CAST(CAST(now(), 'NSNumber') + %d, 'NSDate')", ["when": Date()], 60))
    #expect(try holds("CAST(now(), 'NSNumber') - CAST(now() - 60, 'NSNumber') BETWEEN {50, 70}", nil))
    #expect(try holds("CAST(CAST(100, 'NSDate'), 'NSNumber') == 100", nil))
    #expect(try holds("CAST(CAST(100, 'NSDate') + 5, 'NSNumber') == 105", nil))
    #expect(try holds("CAST(CAST(now(), 'NSDate'), 'NSNumber') > 0", nil))
    for format in [last, "CAST(now(), 'NSNumber') > 5"] {
      let tree = try PredicateTree(format: format)
      #expect(try PredicateTree(format: tree.predicateFormat) == tree, "\(tree)")
    }
  }

  @Test("noindex: is its argument")
  func noIndex() throws {
    #expect(try PredicateTree(format: "noindex:(name) == 'a'") == PredicateTree(format: "name == 'a'"))
    #expect(try holds("noindex:(n + 1) == 3 AND noindex(n) == 2", ["n": 2]))
    #expect(throws: PredicateTreeError.self) { try PredicateTree(format: "noindex:(a, b) == 1") }
  }

  @Test("indexed:by: is its first argument")
  func indexed() throws {
    #expect(try holds("indexed:by:(n, 'byNumber') BETWEEN {1, 3}", ["n": 2]))
    #expect(throws: PredicateTreeError.self) { try PredicateTree(format: "indexed:by:(a) == 1") }
  }

  @Test("Methods of numbers and texts may be called")
  func methods() throws {
    #expect(try holds("FUNCTION(n, 'stringValue') == '12'", ["n": 12]))
    #expect(try holds("FUNCTION(n, 'stringValue') == '0.5'", ["n": 0.5]))
    #expect(try holds("FUNCTION(t, 'intValue') == 12 AND FUNCTION(t, 'length') == 5", ["t": "12.50"]))
    #expect(
      try holds("FUNCTION(t, 'doubleValue') == 12.5 AND FUNCTION(t, 'boolValue') == YES", ["t": "12.50"]))
    #expect(
      try holds("FUNCTION(t, 'uppercaseString') == 'AB' AND FUNCTION(u, 'intValue') == nil", ["t": "ab"]))
    #expect(try holds("FUNCTION(n, 'boolValue') == YES AND FUNCTION(n, 'decimalValue') == 2", ["n": 2]))
    #expect(throws: PredicateTreeError.self) { try holds("FUNCTION(n, 'uppercaseString') == 'AB'", ["n": 2]) }
  }

  @Test("Unions of objects collect the values of members, with and without duplicates")
  func unions() throws {
    let thing = Thing(tags: [Thing(1, ["name": "a"]), Thing(2, ["name": "b"]), Thing(3, ["name": "a"])])
    let keys = ["tags.@distinctUnionOfObjects.name", "tags.@unionOfObjects.name"]
    for (key, count) in zip(keys, [2, 3]) {
      #expect(try holds("\(key).@count == %d", thing, count))
      #expect(try holds("%K == %d", thing, "\(key).@count", count))
      #expect(try holds("'a' IN \(key) AND NOT 'c' IN %K AND ANY \(key) == 'b'", thing, key))
      let tree = try PredicateTree(format: "\(key).@count == 2")
      #expect(try PredicateTree(format: tree.predicateFormat) == tree)
    }
    #expect(try holds("tags.@distinctUnionOfObjects.name.@count == 0", Thing()))
  }

  @Test(
    "A conversion takes the letters behind it that name a whole number, too",
    arguments: ["lud", "llui", "du", "ld"])
  func doubledConversions(letters: String) throws {
    #expect(try holds("n == %\(letters) AND m == %d", ["n": 5, "m": 6], 5, 6))
    #expect(try holds("n IN {%\(letters), 1}", ["n": 5], 5))
    let predicate = withVaList([5, 6]) { NSPredicate(format: "n == %\(letters) AND m == %ld", arguments: $0) }
    #expect(format(predicate) == "n == 5 AND m == 6")
  }

  @Test("A conversion ends before another letter, and before a name")
  func endsOfConversions() {
    for source in ["n == %dx", "n == %udata", "n == %@d"] {
      #expect((NSPredicate(format: source, 5) as? TreePredicate)?.error != nil, "\(source)")
    }
  }

  @Test(
    "A date prints as Core Data prints it, and exactly",
    arguments: [
      (1500, "1500.000000"), (0, "0.000000"), (-0.5, "-0.500000"), (725_846_400.125, "725846400.125000"),
      (0.1234567, "0.1234567"), (1e-9, "1e-09"),
    ] as [(Double, String)])
  func dates(seconds: Double, text: String) throws {
    let tree = PredicateTree.compare(
      .keyPath(["when"]), .equal, .constant(.date(Date(timeIntervalSinceReferenceDate: seconds))))
    #expect(tree.predicateFormat == "when == CAST(\(text), \"NSDate\")")
    #expect(try PredicateTree(format: tree.predicateFormat) == tree)
  }
}
