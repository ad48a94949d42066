import CDEPredicates
import Foundation
import Testing

@Suite("Format strings")
struct FormatTests {
  @Test(
    "The canonical print puts arguments in place",
    arguments: [
      ("%K == nil", ["category"], "category == nil"),
      ("%K != nil", ["category"], "category != nil"),
      ("%K == %@", ["owner.name", "Ada"], "owner.name == \"Ada\""),
      ("%K > %@", ["location.x", 80], "location.x > 80"),
      ("%K >= %@", ["n", 1.5], "n >= 1.5"),
      ("%K CONTAINS %@", ["title", "a\"b\\"], "title CONTAINS \"a\\\"b\\\\\""),
      ("%K CONTAINS[cd] %@", ["title", "x"], "title CONTAINS[cd] \"x\""),
      ("ANY %K == %@", ["tags.tag_name", "Swift"], "ANY tags.tag_name == \"Swift\""),
      (
        "SUBQUERY(%K, $e, $e.%K == %@).@count == 0", ["tags", "tag_name", "Swift"],
        "SUBQUERY(tags, $e, $e.tag_name == \"Swift\").@count == 0"
      ),
      (
        "SUBQUERY(%K, $e, $e.%K CONTAINS[cd] %@).@count == 0", ["tags", "tag_name", "legacy"],
        "SUBQUERY(tags, $e, $e.tag_name CONTAINS[cd] \"legacy\").@count == 0"
      ),
      (
        "SUBQUERY(%K, $e, NOT ($e.%K > %@)).@count == 0", ["tags", "score", 80],
        "SUBQUERY(tags, $e, NOT $e.score > 80).@count == 0"
      ),
      ("%K NOT CONTAINS[cd] %@", ["title", "x"], "NOT title CONTAINS[cd] \"x\""),
      ("display_name == %@", ["x"], "display_name == \"x\""),
    ] as [(String, [any Sendable], String)])
  func canonicalPrint(source: String, arguments: [any Sendable], expected: String) throws {
    let predicate = NSPredicate(format: source, argumentArray: arguments)
    #expect(format(predicate) == expected)
    #expect(predicate.description == expected)
  }

  @Test(
    "Every construct of the grammar prints canonically",
    arguments: [
      ("a = 1 and b <> 2", "a == 1 AND b != 2"),
      ("a==1||b==2&&c==3", "a == 1 OR (b == 2 AND c == 3)"),
      ("(a == 1 OR b == 2) AND NOT c => 3", "(a == 1 OR b == 2) AND NOT c >= 3"),
      ("!(a == 1 && b =< 2)", "NOT (a == 1 AND b <= 2)"),
      ("name BeginsWith[c] 'x'", "name BEGINSWITH[c] \"x\""),
      ("name like[cd] \"*x?\"", "name LIKE[cd] \"*x?\""),
      ("name MATCHES 'a\\\\d'", "name MATCHES \"a\\\\d\""),
      ("a IN {1, 2.5, 'x', nil}", "a IN {1, 2.5, \"x\", nil}"),
      ("a NOT IN {}", "NOT a IN {}"),
      ("a BETWEEN {1, b}", "a BETWEEN {1, b}"),
      ("SOME tags.x == 1", "ANY tags.x == 1"),
      ("NONE tags.x == 1", "NOT ANY tags.x == 1"),
      ("ALL tags.x == 1", "ALL tags.x == 1"),
      ("tags.@count > 2", "tags.@count > 2"),
      ("tags[SIZE] > 2", "tags.@count > 2"),
      ("tags.@max.score > 2", "tags.@max.score > 2"),
      ("tags.owner.@avg.age > 2", "tags.owner.@avg.age > 2"),
      ("SUBQUERY(tags, $t, $t.a == 1).@max.score == 3", "SUBQUERY(tags, $t, $t.a == 1).@max.score == 3"),
      ("max({1, 2}) == 2", "max:({1, 2}) == 2"),
      ("a + b * 2 - 1 == 0", "(a + (b * 2)) - 1 == 0"),
      ("-a < -1", "-(a) < -1"),
      ("modulus:by:(a, 2) == 0", "modulus:by:(a, 2) == 0"),
      ("length:(name) == 0 AND lowercase(name) == ''", "length:(name) == 0 AND lowercase:(name) == \"\""),
      ("flags & 4 != 0", "flags & 4 != 0"), ("(a & b | c ^ ~d) == 1", "(a & b) | (c ^ (~(d))) == 1"),
      ("1<<a+1 == b >> 2", "1 << (a + 1) == b >> 2"),
      ("onesComplement:(a) == bitwiseAnd:with:(a, b)", "~(a) == a & b"),
      ("a union {1} == b MINUS c", "a UNION {1} == b MINUS c"),
      ("FUNCTION($m, 'find:in:', a, 'x') == nil", "FUNCTION($m, \"find:in:\", a, \"x\") == nil"),
      ("ln(a) + log(a) + exp:(a) > 0", "(ln:(a) + log:(a)) + exp:(a) > 0"),
      ("TERNARY(a == 1, b, c) == 3", "TERNARY(a == 1, b, c) == 3"),
      ("when > CAST(10, 'NSDate')", "when > CAST(10.000000, \"NSDate\")"),
      (
        "id == CAST('1B4E28BA-2FA1-11D2-883F-0016D3CCA427', 'NSUUID')",
        "id == CAST(\"1B4E28BA-2FA1-11D2-883F-0016D3CCA427\", \"NSUUID\")"
      ),
      ("SELF == $x AND $x.y == SELF.z", "SELF == $x AND $x.y == z"),
      ("when < CAST(1e999, 'NSDate')", "when < CAST(CAST(\"inf\", \"NSNumber\"), \"NSDate\")"),
      ("TRUEPREDICATE", "TRUEPREDICATE"), ("falsepredicate", "FALSEPREDICATE"),
      ("a == YES", "a == 1"), ("true == true", "1 == 1"),
      ("#in == 1 AND a.in == 2 AND #any.x == 3", "#in == 1 AND a.#in == 2 AND #any.x == 3"),
      ("any == 1", "#any == 1"),
      ("taskIdentifier == $FETCH_SOURCE.identifier", "taskIdentifier == $FETCH_SOURCE.identifier"),
      ("oneToOne.name == $NAME OR string == $NEEDLE", "oneToOne.name == $NAME OR string == $NEEDLE"),
      ("name ==[cd] $NAME", "name ==[cd] $NAME"),
      ("a == 0x1F AND b == -9223372036854775808", "a == 31 AND b == -9223372036854775808"),
      ("a == .5 AND b == 1e3", "a == 0.5 AND b == 1000.0"),
      ("naïve == 'é\\u00e9\\n'", "naïve == \"éé\\n\""),
    ])
  func grammar(source: String, expected: String) throws {
    let tree = try PredicateTree(format: source)
    #expect(tree.predicateFormat == expected)
    #expect(try PredicateTree(format: expected).predicateFormat == expected)
  }

  @Test("Derivation expressions of models are read")
  func derivations() throws {
    #expect(try ExpressionTree(format: "articles.@count") == .aggregate(.count, of: .keyPath(["articles"])))
    #expect(try ExpressionTree(format: "canonical:(name)") == .function(.canonical, [.keyPath(["name"])]))
    #expect(try ExpressionTree(format: "now()") == .function(.now, []))
    #expect(try ExpressionTree(format: "category.name") == .keyPath(["category", "name"]))
  }

  /// Nothing that a predicate could compare with.
  private struct Holder {}

  @Test("Arguments of every kind become constants")
  func arguments() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let uuid = UUID()
    let url = try #require(URL(string: "https://example.org/a"))
    let cases: [(Any?, PredicateConstant)] = [
      (1, .integer(1)), (Int16(2), .integer(2)), (UInt64.max, .decimal(Decimal(UInt64.max))),
      (1.5, .double(1.5)), (Float(0.5), .double(0.5)), (true, .bool(true)), (Decimal(3), .decimal(3)),
      (NSNumber(value: 7), .integer(7)), (NSNumber(value: true), .bool(true)),
      (NSNumber(value: 2.5), .double(2.5)),
      (NSDecimalNumber(string: "1.25"), .decimal(Decimal(string: "1.25")!)),
      ("x", .string("x")), (NSString("y"), .string("y")), (date, .date(date)), (Data([1]), .data(Data([1]))),
      (uuid, .uuid(uuid)), (url, .url(url)), (nil, .null), (NSNull(), .null),
      (Optional<Optional<Int>>.some(nil) as Any?, .null), (Optional(5) as Any?, .integer(5)),
      ([1, 2], .list([.integer(1), .integer(2)])), (NSArray(array: ["a"]), .list([.string("a")])),
      (Set([3]), .list([.integer(3)])), (NSOrderedSet(array: [4, 5]), .list([.integer(4), .integer(5)])),
      (Thing(9), .object(PredicateObject(Thing.Reference(number: 9)))),
      (["a", "b"], .list([.string("a"), .string("b")])), ([] as [Thing], .list([])),
      ([Thing(1), Thing(2)], .list([1, 2].map { .object(PredicateObject(Thing.Reference(number: $0))) })),
      (Set([AnyHashable(6)]), .list([.integer(6)])),
      ([7, "c"] as [AnyHashable], .list([.integer(7), .string("c")])),
      ([1.5, nil] as [Double?], .list([.double(1.5), .null])),
      ([8, NSNull(), uuid] as [Any], .list([.integer(8), .null, .uuid(uuid)])),
      ([[1], ["d"]] as [Any], .list([.list([.integer(1)]), .list([.string("d")])])),
    ]
    for (value, constant) in cases {
      let tree = try PredicateTree(format: "a == %@", arguments: [value])
      #expect(tree == .compare(.keyPath(["a"]), .equal, .constant(constant)))
    }
    #expect(PredicateConstant([1, Holder()] as [Any]) == nil && PredicateConstant([Holder()]) == nil)
    let tree = try PredicateTree(
      format: "a == %d AND b == %ld AND c == %lld AND d == %u AND e == %f AND f == %i",
      arguments: [1, 2, 3, 4, 5.5, 6])
    #expect(tree.predicateFormat == "a == 1 AND b == 2 AND c == 3 AND d == 4 AND e == 5.5 AND f == 6")
  }

  @Test("Arguments are read from a C argument list, in registers and behind them")
  func argumentLists() throws {
    let format =
      "%K == %@ AND '%d' != %d AND a == %ld AND b > %f AND c == %lld AND d == %u AND e == %i AND f == %lf"
    let arguments: [any CVarArg] = [
      "owner.name", "Ada", -5, Int.min, 1.5, Int64.max, UInt32.max, Int32(-7), -0.25,
    ]
    let expected =
      "owner.name == \"Ada\" AND \"%d\" != -5 AND a == \(Int.min) AND b > 1.5 AND c == \(Int64.max) "
      + "AND d == \(UInt32.max) AND e == -7 AND f == -0.25"
    let predicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    #expect(predicate.canonicalFormat == expected)
    let many = Array(repeating: "x == %d AND y == %f", count: 20).joined(separator: " AND ")
    let numbers = (0..<20).flatMap { [$0, Double($0) + 0.5] as [any CVarArg] }
    let long = withVaList(numbers) { NSPredicate(format: many, arguments: $0) }
    #expect(
      long.canonicalFormat
        == (0..<20).map { "x == \($0) AND y == \(Double($0) + 0.5)" }.joined(separator: " AND "))
    let expression = withVaList(["a", 3]) { TreeExpression(format: "%K + %d", arguments: $0) }
    #expect(expression.description == "a + 3")
    let broken = withVaList([]) { NSPredicate(format: "a ==", arguments: $0) }
    #expect(throws: PredicateTreeError.self) { try broken.predicateTree() }
  }

  @Test("Placeholders inside quotes are text")
  func quotedPlaceholders() throws {
    let predicate = NSPredicate(format: "a == '%@ 100%% %K' AND b == %@", "x")
    #expect(format(predicate) == "a == \"%@ 100%% %K\" AND b == \"x\"")
  }

  @Test(
    "What is wrong is named with its place, and nothing traps",
    arguments: [
      ("", "end", 0), ("a ==", "end", 4), ("a == 1 b", "end", 7), ("a", "comparison", 0),
      ("a == 'x", "string", 5), ("(a == 1", "the parenthesis", 7), ("a == %q", "%", 5),
      ("a == 1 AND", "end", 10), ("a IN {1, }", "}", 9), ("a BETWEEN {1}", "BETWEEN", 10),
      ("a ==[x] 1", "options", 4), ("a == 1 == 2", "comparison", 7), ("a := 1", ":=", 2),
      ("a == %@", "%@", 5), ("%K == 1", "%K", 0), ("foo(a) == 1", "foo", 0), ("a[0 == 1", "the index", 4),
      ("SUBQUERY(a, b, c == 1).@count == 1", "SUBQUERY", 12), ("FUNCTION(a, b) == 1", "FUNCTION", 12),
      ("a.@distinctUnionOfSets.b == 1", "@distinctUnionOfSets", 2), ("ANY a", "comparison", 5),
      ("a == \u{1}", "\u{1}", 5), ("AND == 1", "AND", 0), ("a == (b == 1)", "expression", 5),
      ("NOT", "end", 3), ("$ == 1", "$", 0), ("@ == 1", "@", 0), ("a. == 1", "key path", 3),
      ("a == '\\uZZZZ'", "escape", 6), ("CAST(a, 'NSDate') == 1", "CAST", 5),
      ("a IN FETCH(b, c, NO)", "FETCH", 5), ("1.a == 2", "key path", 2),
    ])
  func errors(source: String, construct: String, position: Int) throws {
    let predicate = NSPredicate(format: source)
    let error = try #require((predicate as? TreePredicate)?.error)
    #expect(error.construct == construct)
    #expect(error.position == position)
    #expect(error.message.contains("at offset \(position)"))
    #expect(predicate.evaluate(with: ["a": 1]) == false)
    #expect(throws: error) { try predicate.predicateTree() }
    #expect(throws: error) { try NSPredicate.parsing(format: source) }
    #expect(throws: error) { try predicate.matches(["a": 1]) }
  }

  @Test("FETCH of Core Data's mapping models says what to write instead; an unknown function is named")
  func fetch() {
    func message(_ format: String) -> String? {
      (NSPredicate(format: format) as? TreePredicate)?.error?.message
    }
    let source =
      "fetch(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'E', 'TRUEPREDICATE'), 1, NO)"
    let told = message("\(source) == nil") ?? ""
    #expect(told.hasPrefix("at offset 0: FETCH is not understood in format strings."), "\(told)")
    #expect(told.contains("FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\","))
    #expect(message("a == fob(1)") == "at offset 5: there is no function named fob")
  }

  @Test("An argument of an unknown type is refused by its type, not its value")
  func foreignArgument() throws {
    struct Secret { var text = "hidden" }
    let predicate = try #require(NSPredicate(format: "a == %@", Secret()) as? TreePredicate)
    let error = try #require(predicate.error)
    #expect(error.code == .argument)
    #expect(error.message.contains("Secret"))
    #expect(!error.message.contains("hidden"))
    #expect(throws: PredicateTreeError.self) { try PredicateTree(format: "a == %d", arguments: ["x"]) }
    #expect(throws: PredicateTreeError.self) { try PredicateTree(format: "%K == 1", arguments: ["a..b"]) }
  }

  @Test("Wide conditions are parsed")
  func width() throws {
    let wide = Array(repeating: "a == 1", count: 20_000).joined(separator: " OR ")
    #expect(try PredicateTree(format: wide).evaluate(with: ["a": 1]))
  }
}
