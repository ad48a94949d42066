@_spi(CDE) import CDEOperators
import Foundation
import Testing

@_spi(CDE) import CDEPredicates

@Suite("Evaluation in memory")
struct EvaluationTests {
  @Test("Case and diacritics are folded as Unicode has it, and only when asked")
  func folding() throws {
    let object = ["t": "Crème Brûlée STRASSE"]
    #expect(try !holds("t CONTAINS 'creme'", object))
    #expect(try !holds("t CONTAINS[c] 'creme'", object))
    #expect(try holds("t CONTAINS[c] 'CRÈME'", object))
    #expect(try holds("t CONTAINS[d] 'Creme Brulee'", object))
    #expect(try holds("t CONTAINS[cd] 'CREME BRULEE straße'", object))
    #expect(try holds("t BEGINSWITH[cd] 'creme' AND t ENDSWITH[c] 'strasse'", object))
    #expect(try holds("t ==[cd] 'creme brulee strasse'", object))
    #expect(try holds("t !=[c] 'creme brulee strasse'", object))
    #expect(try holds("t LIKE[cd] '*brulee*' AND t MATCHES[cd] 'creme.*'", object))
    #expect(try !holds("t CONTAINS[n] 'creme'", object))
    #expect(try holds("'Review generated flow' CONTAINS[cd] 'Generated'", object))
    #expect(try holds("'apple' <[c] 'Banana' AND NOT 'apple' < 'Banana'", object))
    #expect(TextComparison.folded("ÀÉ Straße", [.caseInsensitive, .diacriticInsensitive]) == "ae strasse")
    #expect(TextComparison.folded("ÀÉ", []) == "ÀÉ")
    #expect(TextComparison.folded("ABC", .diacriticInsensitive) == "ABC")
    #expect(TextComparison.folded("ABC", .caseInsensitive) == "abc")
    #expect(TextComparison.folded("Àb", [.caseInsensitive, .normalized]) == "Àb")
  }

  @Test("Text without options is compared by bytes")
  func bytes() throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(try !holds("%@ == %@", nil, composed, decomposed))
    #expect(try holds("%@ ==[d] %@", nil, composed, decomposed))
    #expect(try holds("'Z' < 'a' AND 'a' < 'é' AND 'a' < 'ab' AND '' < 'a'", nil))
    #expect(PredicateConstant.string(composed) != .string(decomposed))
  }

  @Test("Numbers of every kind compare by value, exactly")
  func numbers() throws {
    let values: [Any] = [
      1, Int16(1), 1.0, Float(1), Decimal(1), true, NSNumber(value: 1), NSDecimalNumber(value: 1),
    ]
    for left in values {
      for right in values {
        #expect(
          try holds("%@ == %@ AND %@ <= %@ AND NOT %@ < %@", nil, left, right, left, right, left, right))
      }
    }
    #expect(try holds("9007199254740993 > 9007199254740992.0", nil))
    #expect(try holds("9223372036854775807 < 9223372036854775808.0", nil))
    #expect(try holds("%@ < %@", nil, Int64.min, -9.3e17 * 9.9))
    #expect(try !holds("%@ == %@", nil, Double.nan, Double.nan))
    #expect(try holds("%@ != %@ AND NOT %@ < 1", nil, Double.nan, 1, Double.nan))
    #expect(try holds("%@ == 1.25", nil, Decimal(string: "1.25")))
    #expect(try holds("%@ < %@", nil, Decimal(string: "0.1"), Decimal(string: "0.10000000000000000001")))
  }

  @Test("Products and quotients of decimals that no decimal holds are those of floating-point numbers")
  func extremes() throws {
    let (small, large) = (Decimal(string: "1e-100")!, Decimal(string: "1e100")!)
    for (format, expected) in [
      ("%@ * %@ > 0", true), ("%@ * %@ < 1e-199", true), ("%@ * -1 * %@ < 0", true),
    ] {
      #expect(try holds(format, nil, small, small) == expected, "\(format)")
    }
    #expect(try holds("%@ * %@ > 1e199", nil, large, large))
    #expect(try holds("%@ / %@ > 1e199", nil, large, small))
    #expect(try holds("%@ / %@ < 1e-199 AND %@ / %@ > 0", nil, small, large, small, large))
    #expect(try holds("%@ * %@ == 1", nil, small, large))
    #expect(try holds("%@ * 0.1 == 0.03", nil, Decimal(string: "0.3")!))
  }

  @Test("Values of different kinds are unequal and have no order")
  func kinds() throws {
    let values: [Any] = [
      1, "1", Date(timeIntervalSinceReferenceDate: 1), Data([1]), UUID(), URL(string: "a:1")!,
    ]
    for (i, left) in values.enumerated() {
      for (j, right) in values.enumerated() where i != j {
        #expect(try holds("%@ != %@ AND NOT %@ == %@", nil, left, right, left, right))
        #expect(try !holds("%@ < %@ OR %@ >= %@", nil, left, right, left, right))
      }
      #expect(try holds("%@ == %@ AND %@ <= %@", nil, left, left, left, left))
    }
    let now = Date()
    #expect(try holds("%@ > %@", nil, now.addingTimeInterval(0.001), now))
    #expect(try holds("%@ < %@", nil, Data([1, 2]), Data([1, 3])))
  }

  @Test("A constant takes the kind of the value it is compared with where Core Data converts it")
  func conversions() throws {
    let object: [String: Any] = [
      "n": 5, "d": 0.5, "m": Decimal(string: "0.1")!, "w": Date(timeIntervalSinceReferenceDate: 9),
    ]
    #expect(try holds("n == '5' AND '4' < n AND n IN {'5'} AND n BETWEEN {'1', '5.5'}", object))
    #expect(try holds("d == '5e-1' AND m == '0.1' AND w == 9 AND w > 8.5 AND 10 > w", object))
    #expect(try !holds("n == '0x5' OR n == ' 5' OR n == '5x' OR w == '9' OR n == %@", object, Date()))
    #expect(try holds("n != 'x' AND w != YES", object))
  }

  @Test("With an option, composed and decomposed characters are the same")
  func composition() throws {
    for (left, right) in [
      ("é", "e\u{301}"), ("Ǆ", "ǆ"), ("\u{212B}", "a\u{30A}"), ("\u{1112}\u{1161}", "\u{D558}"),
    ] {
      #expect(try holds("%@ ==[c] %@ AND %@ ==[cd] %@", nil, left, right, right, left))
      #expect(try holds("%@ IN[c] %@ AND %@ LIKE[c] %@", nil, left, "x\(right)", "a\(left)b", "a\(right)?"))
      #expect(
        try holds("%@ BEGINSWITH[c] %@ AND %@ ENDSWITH[c] %@", nil, left + "x", right, "x" + left, right))
      #expect(try holds("%@ != %@ AND %@ !=[n] %@", nil, left, right, left, right))
      let same = left.compare(right, options: .caseInsensitive) == .orderedSame
      #expect(same)
    }
    #expect(try !holds("%@ ==[c] 'e'", nil, "e\u{301}"))
  }

  @Test("A long constant is folded once for all objects")
  func foldingOnce() throws {
    let long = String(repeating: "É", count: 100_000)
    let predicate = NSPredicate(format: "t CONTAINS[cd] %@ OR t ==[c] %@ OR t LIKE[c] %@", long, long, long)
    let clock = ContinuousClock()
    let once = clock.measure { _ = long.folding(options: .caseInsensitive, locale: nil) }
    let all = try clock.measure {
      for _ in 0..<300 {
        let holds = try predicate.matches(["t": "Größe"])
        #expect(!holds)
      }
    }
    #expect(all < once * 60 + .milliseconds(500), "\(once) for one folding, \(all) for 300 objects")
  }

  @Test("Quantifiers, with empty collections and nil members")
  func quantifiers() throws {
    let tags = [("a", 90), ("b", nil), ("c", 70)].enumerated().map { index, tag in
      Thing(index + 10, tag.1.map { ["name": tag.0, "score": $0] } ?? ["name": tag.0])
    }
    let full = Thing(1, [:], tags: tags)
    let empty = Thing(2)
    #expect(try holds("ANY tags.score > 80", full) && !holds("ANY tags.score > 80", empty))
    #expect(try holds("ANY tags.score == nil", full) && !holds("ANY tags.score == nil", empty))
    #expect(try !holds("ALL tags.score > 60", full) && holds("ALL tags.score > 60", empty))
    #expect(try holds("ALL tags.score != 5", full))
    #expect(try holds("NONE tags.score > 95", full) && holds("NONE tags.score > 5", empty))
    #expect(try !holds("NONE tags.score > 80", full))
    #expect(try holds("ANY tags.name IN {'x', 'b'}", full))
    #expect(try holds("ANY tags.name CONTAINS[c] 'C'", full))
    #expect(try holds("ANY tags == %@ AND tags CONTAINS %@ AND %@ IN tags", full, tags[1], tags[1], tags[1]))
    #expect(try !holds("tags CONTAINS %@", full, empty))
    #expect(try holds("ANY tags IN %@", full, [tags[2], empty]))
    #expect(try holds("tags == nil AND tags.@count == 0", empty) && holds("tags != nil", full))
    #expect(try holds("tags == %@", full, [tags[2], tags[0], tags[1]]))
    #expect(try holds("SUBQUERY(tags, $e, NOT ($e.score > 80)).@count == 2", full))
    #expect(try holds("SUBQUERY(tags, $e, $e.name == 'zz').@count == 0", empty))
    #expect(try holds("SUBQUERY(tags, $e, $e.score > 60).@sum.score == 160", full))
    #expect(try holds("tags.@max.score == 90 AND tags.@min.score == 70 AND tags.@avg.score == 80", full))
    #expect(try holds("tags.@max.name == 'c'", full))
    #expect(try holds("tags.@sum.score == 0 AND tags.@avg.score == nil AND tags.@max.score == nil", empty))
    let nested = Thing(3, [:], tags: [full, empty, full])
    #expect(try holds("tags.tags.@count == 6 AND ANY tags.tags.name == 'c'", nested))
    #expect(
      try holds(
        "SUBQUERY(tags, $t, SUBQUERY($t.tags, $u, $u.score == 90 AND $t.tags.@count == 3).@count == 1)"
          + ".@count == 2",
        nested))
  }

  @Test("What cannot be compared throws where it may and is false elsewhere")
  func misuse() throws {
    let object = Thing(1, ["name": "x"], tags: [Thing(2)])
    for text in [
      "tags < 1", "tags == 1", "tags BEGINSWITH 'x'", "name.size == 1", "$unbound == 1",
      "sum(tags) == 1",
      "name MATCHES '['", "SUBQUERY(name, $x, $x == 1).@count == 0", "name + 1 == 2", "length(1) == 1",
    ] {
      let predicate = NSPredicate(format: text)
      #expect(throws: PredicateTreeError.self, "\(text)") { try predicate.matches(object) }
      #expect(predicate.evaluate(with: object) == false)
    }
  }

  @Test("LIKE and MATCHES take the whole text")
  func patterns() throws {
    for (text, pattern, expected) in [
      ("abc", "a*", true), ("abc", "*c", true), ("abc", "*b*", true), ("abc", "a?c", true),
      ("abc", "ab", false),
      ("abc", "a??c", false), ("", "*", true), ("", "?", false), ("a*c", "a\\*c", true),
      ("abc", "a\\*c", false),
      ("aXbXc", "a*b*c", true), ("aaaaaaaaaaaaaaaaaaaaaaaab", "a*a*a*a*a*a*a*c", false), ("é", "?", true),
      ("a\\", "a\\", true), ("mississippi", "m*iss*pi", true), ("a.c", "a.c", true), ("abc", "a.c", false),
    ] {
      #expect(TextPattern(like: pattern, []).matches(text) == expected, "\(text) LIKE \(pattern)")
      #expect(try holds("%@ LIKE %@", nil, text, pattern) == expected)
    }
    for (text, pattern, expected) in [
      ("abc", "a.c", true), ("abc", "b", false), ("a1", "[a-z]\\d", true), ("a\n", "a", false),
      ("ab", "a|ab", true),
      ("x", "", false), ("", "", true), ("日本", "..", true),
    ] {
      #expect(
        TextPattern(matching: pattern, [])?.matches(text) == expected, "\(text) MATCHES \(pattern)")
      #expect(try holds("%@ MATCHES %@", nil, text, pattern) == expected)
    }
    #expect(TextPattern(matching: "(", []) == nil)
  }

  @Test("Functions follow SQLite's arithmetic")
  func functions() throws {
    let object: [String: Any] = [
      "a": 7, "b": 2, "s": "Äbc", "d": 7.0, "when": Date(timeIntervalSinceReferenceDate: 100),
      "list": [5, 7, 9],
      "map": ["k": 3], "maps": [["k": 3]], "names": ["ab", "c"],
    ]
    for text in [
      "a / b == 3", "d / b == 3.5", "modulus:by:(a, b) == 1", "a / 0 == nil", "a + nil == nil", "-a == -7",
      "a ** b == 49", "abs(-3) == 3", "floor(2.5) == 2 AND ceiling(2.5) == 3 AND trunc(-2.5) == -2",
      "sqrt(9) == 3", "sqrt(-1) == nil",
      "lowercase(s) == 'äbc' AND uppercase(s) == 'ÄBC' AND length(s) == 3",
      "canonical(s) == 'abc'", "coalesce(nil, missing, a) == 7", "TERNARY(a > b, 'x', 'y') == 'x'",
      "9223372036854775807 + 1 > 9223372036854775807", "now() > CAST(0, 'NSDate')", "sum({1, 2, 3}) == 6",
      "s.length == 3 AND names.length == {2, 1}", "(-1) ** 0.5 == nil",
      "when + 60 == CAST(160, 'NSDate') AND 60 + when > when AND when - 60 == CAST(40, 'NSDate')",
      "when - CAST(40, 'NSDate') == 60",
      "list[0] == 5 AND list[FIRST] == 5 AND list[LAST] == 9 AND list[SIZE] == 3",
      "list[7] == nil AND list[b] == 9 AND {1, 2}[1] == 2 AND missing[0] == nil",
      "map['k'] == 3 AND list[1] + 1 == 8",
      "maps[0].k == 3",
      "a * b - 4 == 10 AND (a - b) * 2 == 10", "count({1, 2}) == 2", "max({1, 3, 2}) == 3",
    ] {
      #expect(try holds(text, object), "\(text)")
    }
  }

  @Test("Plain values, dictionaries and plain objects can be evaluated with")
  func plainObjects() throws {
    struct Point { var x = 1 }
    class Base { let name: String? = "n" }
    final class Derived: Base { let point = Point() }
    #expect(NSPredicate(format: "SELF BEGINSWITH 'a'").evaluate(with: "abc"))
    #expect(NSPredicate(format: "SELF > 3").evaluate(with: 4))
    #expect(NSPredicate(format: "SELF IN %@", [1, 2]).evaluate(with: 2))
    #expect(NSPredicate(format: "point.x == 1 AND name == 'n'").evaluate(with: Derived()))
    #expect(NSPredicate(format: "a.b == 1").evaluate(with: NSDictionary(dictionary: ["a": ["b": 1]])))
    #expect(NSPredicate(format: "SELF == nil").evaluate(with: nil))
    #expect(throws: PredicateTreeError.self) { try NSPredicate(format: "nope == 1").matches(Point()) }
    let same = Derived()
    #expect(try NSPredicate(format: "o == $o").matches(["o": same], substitutionVariables: ["o": same]))
    #expect(try !NSPredicate(format: "o == $o").matches(["o": same], substitutionVariables: ["o": Derived()]))
  }
}
