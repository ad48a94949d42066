@_spi(CDE) import CDEPredicates
import CDEStore
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("Predicates and sort terms become a store's conditions")
struct QueryResolverTests {
  let world = QueryWorld()

  private func filter(_ format: String, _ arguments: Any?..., entity: String = "Item") throws -> StoreFilter {
    let tree = try PredicateTree(format: format, arguments: arguments)
    return try world.resolver(entity).filter(tree)
  }

  private func path(
    _ names: String..., leaf: Int = 0, from entity: String = "Item", scope: Int = 0
  ) -> StoreExpression {
    .path(world.path(names, leaf: leaf, from: entity, scope: scope))
  }

  private func object(_ names: String..., from entity: String = "Item", scope: Int = 0) -> StorePath {
    world.objectPath(names, from: entity, scope: scope)
  }

  private func refusal(_ format: String, _ arguments: Any?..., entity: String = "Item") -> CDEPredicates
    .PredicateTreeError?
  {
    do {
      let tree = try PredicateTree(format: format, arguments: arguments)
      _ = try world.resolver(entity).filter(tree)
      return nil
    } catch {
      return error as? PredicateTreeError
    }
  }

  @Test("Constants take the form that rows have")
  func constants() throws {
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    let id = UUID()
    let bytes = withUnsafeBytes(of: id.uuid) { Data($0) }
    #expect(
      try filter("created > %@", date) == .comparison(path("created"), .greater, .value(.real(12.5)), []))
    #expect(try filter("token == %@", id) == .comparison(path("token"), .equal, .value(.blob(bytes)), []))
    let url = try #require(URL(string: "https://a.example/b"))
    #expect(
      try filter("link == %@", url)
        == .comparison(path("link"), .equal, .value(.text("https://a.example/b")), []))
    #expect(try filter("flag == YES") == .comparison(path("flag"), .equal, .value(.integer(1)), []))
    #expect(
      try filter("price == %@", Decimal(3)) == .comparison(path("price"), .equal, .value(.integer(3)), []))
    #expect(
      try filter("price < %@", Decimal(string: "10.11"))
        == .comparison(path("price"), .less, .value(.text("10.11")), []))
    #expect(
      try filter("ratio < %@", Decimal(string: "10.11"))
        == .comparison(path("ratio"), .less, .value(.real(10.11)), []))
    #expect(
      try filter("title CONTAINS[cd] %@", "x")
        == .comparison(
          path("title"), .contains, .value(.text("x")), [.caseInsensitive, .diacriticInsensitive]))
  }

  @Test("A constant takes the kind of the attribute where Core Data converts it")
  func conversions() throws {
    let five = StoreExpression.value(.integer(5))
    #expect(try filter("count == '5'") == .comparison(path("count"), .equal, five, []))
    #expect(try filter("'5' == count") == .comparison(five, .equal, path("count"), []))
    #expect(try filter("flag == '1'") == .comparison(path("flag"), .equal, .value(.integer(1)), []))
    #expect(try filter("ratio < '2.5e1'") == .comparison(path("ratio"), .less, .value(.real(25)), []))
    #expect(try filter("price == '0.1'") == .comparison(path("price"), .equal, .value(.text("0.1")), []))
    #expect(try filter("created > 1500") == .comparison(path("created"), .greater, .value(.real(1500)), []))
    #expect(
      try filter("created BETWEEN {1, %@}", Date(timeIntervalSinceReferenceDate: 2))
        == .comparison(path("created"), .between, .list([.value(.real(1)), .value(.real(2))]), []))
    #expect(
      try filter("count IN {1, '2', nil}")
        == .comparison(
          path("count"), .in, .list([.value(.integer(1)), .value(.integer(2)), .value(.null)]), []))
    #expect(
      try filter("tags.@count == '2'") == .comparison(.count(object("tags")), .equal, .value(.integer(2)), [])
    )
    #expect(try filter("count == %@", Double.nan) == .constant(false))
    #expect(try filter("1 == 'a'") == .constant(false))
  }

  @Test(
    "A comparison that could hold for no object is refused with both kinds",
    arguments: [
      ("title == 5", "== compares Item.title, which is text, with a number"),
      ("title != 5", "== compares Item.title, which is text, with a number"),
      ("5 < title", "< compares Item.title, which is text, with a number"),
      ("count == 'five'", "== compares Item.count, which is a number, with text"),
      ("count == '0x5'", "Item.count, which is a number"), ("count == ''", "Item.count, which is a number"),
      ("count IN {1, 'a', nil}", "IN compares Item.count, which is a number, with text"),
      ("created < 'today'", "< compares Item.created, which is a date, with text"),
      ("created == YES", "Item.created, which is a date"),
      ("created BETWEEN {1, 'b'}", "BETWEEN compares Item.created, which is a date, with text"),
      ("link == 'https://a.example'", "== compares Item.link, which is a URL, with text"),
      ("token == 'x'", "== compares Item.token, which is a UUID, with text"),
      ("blob > 1", "> compares Item.blob, which is data, with a number"),
      ("title == count", "== compares Item.title, which is text, with Item.count, which is a number"),
      ("created > count", "> compares Item.created, which is a date, with Item.count, which is a number"),
      ("category == 5", "== compares Category, which is an object, with a number"),
      ("ANY tags.name > 5", "> compares Tag.name, which is text, with a number"),
      ("5 IN tags.name", "IN compares Tag.name, which is text, with a number"),
      ("length(title) == 'a'", "which is a number, with text"),
      ("title CONTAINS 5", "CONTAINS is for text, but it is given a number"),
    ])
  func mismatches(format: String, message: String) throws {
    let error = try #require(refusal(format))
    #expect(error.code == .operands)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test("An operand that comes to stand among other elements refers to its own")
  func lifting() throws {
    let inner = StoreFilter.comparison(
      path("score", from: "Tag", scope: 2), .greater, .value(.integer(1)), [])
    #expect(
      try filter("ANY tags.score > SUBQUERY(tags, $t, $t.score > 1).@count")
        == .any(
          object("tags"),
          matching: .comparison(
            path("score", from: "Tag", scope: 1), .greater, .countWhere(object("tags"), matching: inner), []))
    )
    #expect(
      try filter("SUBQUERY(tags, $t, $t.score > 1).@count IN tags.score")
        == .any(
          object("tags"),
          matching: .comparison(
            path("score", from: "Tag", scope: 1), .equal, .countWhere(object("tags"), matching: inner), [])))
  }

  @Test("A key path longer than a store joins is refused by name")
  func longPaths() throws {
    let long = Array(repeating: "parent", count: 80).joined(separator: ".")
    let error = try #require(refusal("\(long).name == 'a'", entity: "Category"))
    #expect(error.message.contains("parent.parent.parent… has 81 steps"), "\(error.message)")
  }

  @Test("Objects are compared by key, within their tree alone")
  func objects() throws {
    let category = world.reference("Category", 7)
    let special = world.reference("SpecialItem", 4)
    #expect(
      try filter("category == %@", category)
        == .comparison(
          .path(object("category")), .equal, .value(.reference(entity: world.index("Category"), key: 7)), []))
    #expect(try filter("category == %@", world.reference("Tag", 7)) == .constant(false))
    #expect(try filter("SELF == %@", special) == .keys([4]))
    #expect(try filter("SELF != %@", special) == .not(.keys([4])))
    #expect(try filter("SELF IN %@", [special, category, world.reference("Item", 9)]) == .keys([4, 9]))
    #expect(try filter("SELF == nil") == .constant(false))
    #expect(
      try filter("category == nil") == .comparison(.path(object("category")), .equal, .value(.null), []))
    #expect(
      try filter("ANY items == %@", special, entity: "Tag")
        == .any(
          object("items", from: "Tag"),
          matching: .comparison(
            .path(StorePath(scope: 1, end: .object)), .equal,
            .value(.reference(entity: world.index("SpecialItem"), key: 4)), [])))
  }

  @Test("Composites are reached leaf by leaf and are nil when all leaves are")
  func composites() throws {
    #expect(
      try filter("location.address.zip > 5")
        == .comparison(path("location", leaf: 3), .greater, .value(.integer(5)), []))
    #expect(
      try filter("location.address == nil")
        == .and([
          .comparison(path("location", leaf: 2), .equal, .value(.null), []),
          .comparison(path("location", leaf: 3), .equal, .value(.null), []),
        ]))
    #expect(refusal("location == 5")?.message.contains("Item.location is a composite") == true)
    #expect(refusal("location.height == 5")?.code == .unknownKey)
  }

  @Test("ANY, ALL and membership become conditions on elements, numbered inward")
  func collections() throws {
    let named = StoreFilter.comparison(
      path("name", from: "Tag", scope: 1), .equal, .value(.text("a")), [])
    #expect(try filter("ANY tags.name == \"a\"") == .any(object("tags"), matching: named))
    #expect(try filter("NONE tags.name == \"a\"") == .not(.any(object("tags"), matching: named)))
    #expect(try filter("ALL tags.name == \"a\"") == .not(.any(object("tags"), matching: named.opposite)))
    #expect(try filter("tags == nil") == .not(.any(object("tags"), matching: .constant(true))))
    #expect(try filter("tags.@count > 0") == .any(object("tags"), matching: .constant(true)))
    #expect(
      try filter("tags.@count > 2")
        == .comparison(.count(object("tags")), .greater, .value(.integer(2)), []))
    #expect(
      try filter("tags.@max.score >= count")
        == .comparison(
          .aggregate(.max, world.path(["tags", "score"], leaf: 0, from: "Item", scope: 0)), .greaterOrEqual,
          path("count"), []))
    #expect(
      try filter("SUBQUERY(tags, $t, SUBQUERY($t.items, $i, $i.count > $t.score).@count > 3).@count == 0")
        == .not(
          .any(
            object("tags"),
            matching: .comparison(
              .countWhere(
                object("items", from: "Tag", scope: 1),
                matching: .comparison(
                  path("count", scope: 2), .greater, path("score", from: "Tag", scope: 1), [])),
              .greater, .value(.integer(3)), []))))
  }

  @Test(
    "What only memory can answer is refused by name",
    arguments: [
      ("computed == 1", "Item.computed is transient and has no column: evaluate it in memory"),
      ("meta == 1", "Item.meta is transformable"), ("picture == title", "Item.picture may be kept outside"),
      ("title ==[l] \"a\"", "locale"),
      ("count CONTAINS \"1\"", "CONTAINS is for text, but Item.count is a number"),
      ("link BEGINSWITH \"a\"", "Item.link is a URL"), ("tags == 5", "Item.tags is a collection"),
      ("tags > 5", "Item.tags is a collection"), ("nothing == 1", "Item has no property nothing"),
      ("category.nothing == 1", "Category has no property nothing"),
      ("bonus == 1", "only its sub-entity SpecialItem has"),
      ("title == $X", "nothing was substituted for $X"),
      ("title.size == 1", "Item.title, which is text and has no keys"),
      ("tags[0] == 1", "a member by its index has no form in a store"),
      ("entity == category", "given as values"),
      ("entity.size == 1", "compare the entity, or its name"), ("entity + 1 == 2", "is a description"),
      ("title + 1 == 2", "+ is for numbers, but Item.title is text"),
      ("title MATCHES \"(\"", "regular expression"), ("tags.@sum.name == 1", "Tag.name is text"),
      ("SUBQUERY(tags, $t, $t.score > 1).@max.score > 1", "can only count"),
      ("tags.@max == 1", "not objects"),
    ])
  func refusals(format: String, message: String) throws {
    let error = try #require(refusal(format))
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test("Nested conjunctions become one")
  func flattening() throws {
    let conjunction = try filter("((count > 1 AND ratio > 1) AND flag == YES) AND TRUEPREDICATE")
    guard case .and(let parts) = conjunction else {
      Issue.record("\(conjunction) is no conjunction")
      return
    }
    #expect(parts.count == 3)
    #expect(try filter("count > 1 AND FALSEPREDICATE") == .constant(false))
    #expect(try filter("NOT (count > 1 OR TRUEPREDICATE)") == .constant(false))
  }

  @Test("Expressions of constants are evaluated, choices and arithmetic translated")
  func expressions() throws {
    #expect(
      try filter("count > 2 * 3 + 1") == .comparison(path("count"), .greater, .value(.integer(7)), []))
    #expect(
      try filter("coalesce(title, \"x\", link) == \"x\"")
        == .comparison(
          .function(.firstNonNil, [path("title"), .value(.text("x"))]), .equal, .value(.text("x")), []))
    #expect(
      try filter("price / 2 > 1")
        == .comparison(
          .function(
            .decimal,
            [
              .function(
                .divide, [.function(.multiply, [path("price"), .value(.real(1))]), .value(.integer(2))])
            ]),
          .greater,
          .value(.integer(1)), []))
    #expect(
      try filter("TERNARY(flag == YES, count, 0) == 1")
        == .comparison(
          .conditional(
            .comparison(path("flag"), .equal, .value(.integer(1)), []), path("count"), .value(.integer(0))),
          .equal, .value(.integer(1)), []))
    #expect(try filter("floor(count) == 1") == .comparison(path("count"), .equal, .value(.integer(1)), []))
  }

  @Test("Columns that cannot be compared can be tested for nil")
  func nilOfOpaqueColumns() throws {
    #expect(try filter("meta == nil") == .comparison(path("meta"), .equal, .value(.null), []))
    #expect(try filter("picture != nil") == .comparison(path("picture"), .notEqual, .value(.null), []))
    #expect(
      try filter("bonus == nil", entity: "SpecialItem")
        == .comparison(path("bonus", from: "SpecialItem"), .equal, .value(.null), []))
  }

  @Test("Sort terms become expressions with a collation")
  func sorting() throws {
    let sort = try world.resolver("Item").sort([
      SortTerm(keyPath: ["category", "name"], ascending: false, collation: .caseInsensitive),
      SortTerm(keyPath: ["location", "lon"]), SortTerm(keyPath: ["count"], collation: .localizedStandard),
      SortTerm(keyPath: ["title"], collation: .localized), SortTerm(keyPath: []),
    ])
    #expect(
      sort == [
        StoreSort(path("category", "name"), isAscending: false, options: .caseInsensitive),
        StoreSort(path("location", leaf: 1)), StoreSort(path("count")),
        StoreSort(path("title"), options: .localized), StoreSort(.path(StorePath(end: .object))),
      ])
  }

  @Test(
    "Orders that only memory can apply are refused by name",
    arguments: [
      (SortTerm(keyPath: ["title"], comparator: { _, _ in .orderedSame }), "comparator"),
      (SortTerm(keyPath: ["tags", "name"]), "Item.tags.name is a collection"),
      (SortTerm(keyPath: ["tags", "@count"]), "@count"), (SortTerm(keyPath: ["location"]), "composite"),
      (SortTerm(keyPath: ["computed"]), "transient"), (SortTerm(keyPath: ["meta"]), "transformable"),
      (SortTerm(keyPath: ["title", "x"]), "has no keys"),
    ])
  func refusedSorts(term: SortTerm, message: String) {
    let error = #expect(throws: PredicateTreeError.self) {
      try world.resolver("Item").sort([term])
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }
}
