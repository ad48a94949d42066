/// Format strings of every shape: each operator with each option and modifier, and then the rest.
enum PredicateCorpus {
  static let formats: [String] = comparisons + quantified + logic + values + functions + collections

  private static let operators = [
    "==", "!=", "<", "<=", ">", ">=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN",
  ]

  private static let comparisons = operators.flatMap { op in
    ["", "[c]", "[d]", "[cd]", "[n]", "[l]", "[cdl]"].map { options in
      "name \(op)\(options) \(op == "IN" ? "{\"a\", \"b\"}" : "\"ab?\"")"
    }
  }

  private static let quantified = operators.flatMap { op in
    ["ANY", "ALL", "NONE", "SOME"].map { modifier in
      "\(modifier) tags.name \(op) \(op == "IN" ? "{1, 2}" : "other")"
    }
  }

  private static let logic = [
    "a == 1 AND b == 2", "a == 1 OR b == 2", "NOT a == 1", "NOT (a == 1 AND b == 2)",
    "a == 1 AND (b == 2 OR c == 3)", "(a == 1 OR b == 2) AND (c == 3 OR NOT d == 4)",
    "NOT NOT a == 1", "NOT (NOT a == 1 OR b == 2)", "a == 1 AND b == 2 AND c == 3",
    "(a == 1 AND b == 2) AND c == 3", "a == 1 OR (b == 2 OR c == 3)", "TRUEPREDICATE", "FALSEPREDICATE",
    "TRUEPREDICATE AND a == 1", "NOT FALSEPREDICATE", "a = 1 && b <> 2 || !(c => 3)",
    "a NOT IN {1, 2}", "a NOT CONTAINS[cd] 'x'", "(((a == 1)))",
  ]

  private static let values = [
    "a == nil", "a != NULL", "a == -1", "a == -1.5", "a == 1e100", "a == 0x1F", "a == 9223372036854775807",
    "a == YES", "a == FALSE", "a == ''", "a == \"say \\\"x\\\"\"", "a == 'tab\\t\\n\\\\'",
    "a == 'naïve 名前 🏳️‍🌈'", "a BETWEEN {1, 5}", "a BETWEEN {b, c + 1}", "a BETWEEN $BOUNDS",
    "a IN {}", "a IN {1, 2.5, 'x', nil}", "a IN {b, 1}", "a IN $LIST", "a == {1, {2, 3}}",
    "when > CAST(10.5, 'NSDate')", "id == CAST('1B4E28BA-2FA1-11D2-883F-0016D3CCA427', 'NSUUID')",
    "link == CAST('https://example.org/a?b=c', 'NSURL')", "blob == CAST('AQID', 'NSData')",
    "SELF == 1", "SELF.a == 1", "SELF IN {1, 2}", "$x == 1", "$x.a.b == $y", "#in == 1", "a.#any == 2",
    "#'with space' == 3", "any == 1", "owner.address.city == 'Rome'", "1 == a", "'x' IN name",
  ]

  private static let functions = [
    "a + 1 == 2", "a - 1 == 2", "a * 2 == 4", "a / 2 == 1", "a ** 2 == 4", "-a == 1", "-(a + b) == 1",
    "a + b * c - d / e == 0", "(a + b) * c == 0", "a - (b - c) == 0", "modulus:by:(a, 2) == 0",
    "add:to:(a, b) == 1", "from:subtract:(a, b) == 1", "multiply:by:(a, b) == 1", "divide:by:(a, b) == 1",
    "raise:toPower:(a, 2) == 4", "abs(a) == 1", "abs:(a) == 1", "floor(a) == 1", "ceiling(a) == 1",
    "trunc(a) == 1", "sqrt(a) == 1", "exp(a) == 1", "ln(a) == 1", "log(a) == 1", "lowercase(name) == 'x'",
    "uppercase:(name) == 'X'", "canonical:(name) == 'x'", "length(name) == 1", "coalesce(a, b, 1) == 1",
    "now() > when", "flags & 4 != 0", "flags | 1 == 1", "flags ^ 3 == 0", "~flags == 0", "1 << n == 8",
    "flags >> 2 == 1", "(flags & (1 << n)) != 0", "a | b & c ^ d == 1", "bitwiseAnd:with:(a, b) == 1",
    "bitwiseOr:with:(a, b) == 1", "bitwiseXor:with:(a, b) == 1", "leftshift:by:(a, 1) == 2",
    "rightshift:by:(a, 1) == 2", "onesComplement:(a) == 1", "TERNARY(a == 1, b, c) == 3",
    "TERNARY(a == 1 OR b == 2, TERNARY(TRUEPREDICATE, 1, 2), {c}) == 3",
    "FUNCTION(SELF, 'rating') > 3", "FUNCTION($m, 'find:in:', a, {1, b}) == nil",
    "FUNCTION(owner, 'valueForKey', 'a') == 1",
  ]

  private static let collections = [
    "tags.@count == 0", "tags[SIZE] > 2", "tags[0] == 1", "tags[LAST].name == 'x'", "{1, 2}[n] == 1",
    "a.map['k'] == 1", "tags.@max.score > 2", "tags.@min.score < 2",
    "tags.@sum.score == 2", "tags.@avg.score == 2", "tags.owner.@avg.age > 2", "@count == 1",
    "$x.@count == 1", "$x.tags.@max.score == 1", "max({1, a}) == 1", "count:(tags) == 1",
    "sum(tags.score) > 1", "average:({1, 2}) == 1.5", "tags CONTAINS 1", "1 IN tags", "tags == {1, 2}",
    "SUBQUERY(tags, $t, $t.a == 1).@count > 0", "SUBQUERY(tags, $t, $t.a == 1 AND NOT $t.b == 2).@count == 0",
    "SUBQUERY(tags, $t, TRUEPREDICATE).@max.score == 3", "ANY SUBQUERY(tags, $t, $t.a == 1).score == 3",
    "SUBQUERY(tags, $t, SUBQUERY($t.items, $i, $i.x == $t.y).@count > 1).@count == 0",
    "SUBQUERY(SUBQUERY(tags, $t, $t.a == 1), $u, $u.b == 1).@count == 0",
    "a UNION b == {1}", "a INTERSECT {1, 2} == {}", "a MINUS b UNION c == {}",
    "SUBQUERY(a UNION b, $x, $x == 1).@count == 1",
  ]
}
