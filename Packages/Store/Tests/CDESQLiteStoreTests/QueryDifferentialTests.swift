import CDESQLiteStore
import CDEStore
import Foundation
import Testing

/// Makes random rows and conditions over the shop's schema.
struct QueryMaker {
  var random: SplitMix
  let store: SQLiteStore

  static let texts = [
    "", "a", "A", "ab", "aB", "abc", "b", "bar", "Zürich", "zurich", "ZURICH", "é", "e\u{301}", "x*y", "日本",
    "ﬁ",
  ]

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  mutating func integer() -> Int64 { Int64.random(in: -3...3, using: &random) }

  func slot(_ entity: String, _ property: String) -> SlotIndex { store.slot(entity, property) }

  func path(_ scope: Int, _ names: [(String, String)], leaf: Int = 0) -> StorePath {
    StorePath(
      scope: scope, hops: names.dropLast().map { slot($0.0, $0.1) },
      end: .property(slot: slot(names.last!.0, names.last!.1), leaf: leaf))
  }

  func object(_ scope: Int, _ names: [(String, String)]) -> StorePath {
    StorePath(scope: scope, hops: names.map { slot($0.0, $0.1) }, end: .object)
  }

  static let mathematics: [StoreExpression.Function] = [
    .power, .squareRoot, .exponential, .naturalLogarithm, .logarithm, .floor, .ceiling, .truncate, .remainder,
  ]

  // MARK: Expressions

  /// A number seen from an object of the entity at a scope.
  mutating func number(_ scopes: [String], depth: Int) -> StoreExpression {
    if chance(30) { return chance(10) ? .value(.null) : .value(.integer(integer())) }
    if depth > 0, chance(25) {
      let arguments = [number(scopes, depth: depth - 1), number(scopes, depth: depth - 1)]
      switch Int.random(in: 0..<14, using: &random) {
      case 0: return .function(.add, arguments)
      case 1: return .function(.subtract, arguments)
      case 2: return .function(.multiply, arguments)
      case 3: return .function(.divide, arguments)
      case 4: return .function(.modulus, arguments)
      case 5: return .function(.negate, [arguments[0]])
      case 6: return .function(.absolute, [arguments[0]])
      case 7: return .function(.firstNonNil, arguments)
      case 8: return .function(.bitAnd, arguments)
      case 9: return .function(.bitOr, arguments)
      case 10: return .function(.bitNot, [arguments[0]])
      // Small distances, so that the model's integers do not overflow.
      case 11: return .function(.shiftLeft, [arguments[0], .value(.integer(Int64(chance(50) ? 1 : -2)))])
      case 12: return .function(.shiftRight, [arguments[0], .value(.integer(Int64(chance(50) ? 3 : -1)))])
      default: return .conditional(filter(scopes, depth: depth - 1), arguments[0], arguments[1])
      }
    }
    if chance(10) { return .function(.length, [text(scopes, depth: 0)]) }
    let scope = Int.random(in: 0..<scopes.count, using: &random)
    switch scopes[scope] {
    case "Item":
      switch Int.random(in: 0..<7, using: &random) {
      case 0: return .path(path(scope, [("Item", "small")]))
      case 1: return .path(path(scope, [("Item", "big")]))
      case 2: return .path(path(scope, [("Item", "category"), ("Category", "code")]))
      case 3: return .path(path(scope, [("Item", "category"), ("Category", "parent"), ("Category", "code")]))
      case 4: return .count(object(scope, [("Item", "tags")]))
      case 5: return .count(object(scope, [("Item", "category"), ("Category", "items")]))
      default:
        guard depth > 0 else { return .path(path(scope, [("Item", "big")])) }
        return .countWhere(
          object(scope, [("Item", "tags")]), matching: filter(scopes + ["Tag"], depth: depth - 1))
      }
    case "Category":
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return .path(path(scope, [("Category", "code")]))
      case 1: return .count(object(scope, [("Category", "items")]))
      case 2:
        return .aggregate(
          pick([.min, .max, .sum]), path(scope, [("Category", "items"), ("Item", "small")]))
      default: return .count(object(scope, [("Category", "featured")]))
      }
    default: return .count(object(scope, [("Tag", pick(["items", "related"]))]))
    }
  }

  mutating func text(_ scopes: [String], depth: Int) -> StoreExpression {
    if chance(30) { return chance(10) ? .value(.null) : .value(.text(pick(Self.texts))) }
    if depth > 0, chance(20) {
      let argument = text(scopes, depth: depth - 1)
      switch Int.random(in: 0..<5, using: &random) {
      case 4: return .function(.canonical, [argument])
      case 0: return .function(.lowercase, [argument])
      case 1: return .function(.uppercase, [argument])
      case 2: return .function(.concatenate, [argument, text(scopes, depth: depth - 1)])
      default: return .function(.firstNonNil, [argument, text(scopes, depth: depth - 1)])
      }
    }
    let scope = Int.random(in: 0..<scopes.count, using: &random)
    switch scopes[scope] {
    case "Item":
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return .path(path(scope, [("Item", "category"), ("Category", "name")]))
      case 1: return .path(path(scope, [("Item", "place")], leaf: 1))
      default: return .path(path(scope, [("Item", "title")]))
      }
    case "Category":
      return chance(50)
        ? .path(path(scope, [("Category", "name")]))
        : .path(path(scope, [("Category", "parent"), ("Category", "name")]))
    default: return .path(path(scope, [("Tag", "name")]))
    }
  }

  // MARK: Conditions

  mutating func filter(_ scopes: [String], depth: Int) -> StoreFilter {
    if depth > 0, chance(60) {
      let count = Int.random(in: 0...3, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: return .and((0..<count).map { _ in filter(scopes, depth: depth - 1) })
      case 1: return .or((0..<count).map { _ in filter(scopes, depth: depth - 1) })
      case 2: return .not(filter(scopes, depth: depth - 1))
      default: return any(scopes, depth: depth)
      }
    }
    if chance(5) { return .constant(chance(50)) }
    if chance(6), let scope = scopes.firstIndex(of: "Item") {
      let entities = pick([[], ["Item"], ["SpecialItem"], ["Item", "SpecialItem"]]).map { store.index($0) }
      return .entity(StorePath(scope: scope, end: .object), isIn: entities)
    }
    if chance(8) {
      let argument = number(scopes, depth: 0)
      let value: StoreExpression
      switch pick(Self.mathematics) {
      case let function where [.power, .remainder].contains(function):
        value = .function(function, [argument, number(scopes, depth: 0)])
      case let function: value = .function(function, [argument])
      }
      return .comparison(value, pick([.less, .greaterOrEqual, .notEqual]), .value(.integer(integer())), [])
    }
    if chance(8) {
      return .keys((0..<pick([0, 3, 100])).map { _ in Int64.random(in: 1...80, using: &random) })
    }
    if chance(12), let scope = scopes.firstIndex(of: "Item") {
      // Object against object, and against nil.
      let key = Int64.random(in: 1...8, using: &random)
      let right: StoreExpression =
        chance(20) ? .value(.null) : .value(.reference(entity: store.index("Category"), key: key))
      return .comparison(
        .path(object(scope, [("Item", "category")])), pick([.equal, .notEqual]), right, [])
    }
    if chance(45) { return textComparison(scopes, depth: depth) }
    let left = number(scopes, depth: depth)
    if chance(15) {
      let list = (0..<pick([0, 1, 4, 90])).map { _ in StoreExpression.value(.integer(integer())) }
      let extra: [StoreExpression] =
        chance(30) ? [.value(.null)] : chance(20) ? [number(scopes, depth: 0)] : []
      return .comparison(left, .in, .list(list + extra), [])
    }
    if chance(15) {
      return .comparison(left, .between, .list([number(scopes, depth: 0), number(scopes, depth: 0)]), [])
    }
    return .comparison(
      left, pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
      number(scopes, depth: depth), [])
  }

  private mutating func textComparison(_ scopes: [String], depth: Int) -> StoreFilter {
    let options: StoreFilter.TextOptions = pick([
      [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ])
    let left = text(scopes, depth: depth)
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let list = (0..<pick([1, 3])).map { _ in StoreExpression.value(.text(pick(Self.texts))) }
      return .comparison(left, .in, .list(chance(20) ? list + [.value(.null)] : list), options)
    case 1:
      return .comparison(
        left, .like, .value(.text(pick(["*", "a*", "?", "*b*", "?b?", "", "z?rich", "*é"]))), options)
    case 2:
      return .comparison(left, .matches, .value(.text(pick(["a.*", "[ab]+", "", "z.rich", "x\\*y"]))), [])
    case 3:
      return .comparison(left, pick([.beginsWith, .endsWith, .contains]), text(scopes, depth: 0), options)
    default:
      return .comparison(
        left, pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
        text(scopes, depth: depth), options)
    }
  }

  private mutating func any(_ scopes: [String], depth: Int) -> StoreFilter {
    let scope = Int.random(in: 0..<scopes.count, using: &random)
    let ways: [([(String, String)], String)]
    switch scopes[scope] {
    case "Item":
      ways = [
        ([("Item", "tags")], "Tag"), ([("Item", "category"), ("Category", "children")], "Category"),
        ([("Item", "tags"), ("Tag", "items")], "Item"),
        ([("Item", "tags"), ("Tag", "items"), ("Item", "category")], "Category"),
      ]
    case "Category":
      ways = [
        ([("Category", "items")], "Item"), ([("Category", "featured")], "Item"),
        ([("Category", "children"), ("Category", "items")], "Item"),
      ]
    default: ways = [([("Tag", "items")], "Item"), ([("Tag", "related")], "Tag")]
    }
    let (names, entity) = pick(ways)
    return .any(
      object(scope, names),
      matching: chance(10) ? .constant(true) : filter(scopes + [entity], depth: depth - 1))
  }
}

@Suite("Queries mean what a plain evaluation of them means")
struct QueryDifferentialTests {
  let scratch = Scratch()

  func fill(_ maker: inout QueryMaker) throws -> MemoryModel {
    let store = maker.store
    var model = MemoryModel(schema: store.schema)
    let (category, item, special, tag) = (
      store.index("Category"), store.index("Item"), store.index("SpecialItem"), store.index("Tag")
    )
    var transaction = StoreTransaction()
    func value(_ value: StoreValue) -> Draft.Value? {
      switch value {
      case .integer(let integer): .integer(integer)
      case .text(let text): .text(text)
      default: nil
      }
    }
    var categories: [Draft] = []
    for key in 1...Int64(8) {
      // Different codes keep the uniqueness constraint happy.
      let name: StoreValue = maker.chance(20) ? .null : .text(maker.pick(QueryMaker.texts))
      let parent: Int64? = maker.chance(50) ? Int64.random(in: 1...8, using: &maker.random) : nil
      var row = MemoryModel.Row(entity: category)
      row.values[store.slot("Category", "name")] = [name]
      row.values[store.slot("Category", "code")] = [.integer(key - 4)]
      row.values[store.slot("Category", "parent")] = [parent.map { .integer($0) } ?? .null]
      for property in ["items", "children", "featured"] { row.toMany[store.slot("Category", property)] = [] }
      model.rows[store.schema.entities[category].root, default: [:]][key] = row
      categories.append(
        Draft(
          key: -key, values: ["name": value(name), "code": .integer(key - 4)].compactMapValues { $0 },
          references: parent.map { ["parent": -$0] } ?? [:]))
    }
    for (key, row) in model.rows[store.schema.entities[category].root]! {
      if case .integer(let parent)? = row.values[store.slot("Category", "parent")]?.first {
        model.rows[store.schema.entities[category].root]![parent]!.toMany[store.slot("Category", "children")]!
          .append(key)
      }
    }
    transaction.inserted.append(store.batch("Category", categories))

    for key in 1...Int64(60) {
      let isSpecial = maker.chance(30)
      let numbers = (0..<2).map { _ in maker.chance(25) ? StoreValue.null : .integer(maker.integer()) }
      let texts = (0..<2).map { _ in maker.chance(25) ? StoreValue.null : .text(maker.pick(QueryMaker.texts))
      }
      let owner: Int64? = maker.chance(75) ? Int64.random(in: 1...8, using: &maker.random) : nil
      var row = MemoryModel.Row(entity: isSpecial ? special : item)
      row.values[store.slot("Item", "small")] = [numbers[0]]
      row.values[store.slot("Item", "big")] = [numbers[1]]
      row.values[store.slot("Item", "title")] = [texts[0]]
      row.values[store.slot("Item", "place")] = [.null, texts[1]]
      row.values[store.slot("Item", "category")] = [owner.map { .integer($0) } ?? .null]
      row.toMany[store.slot("Item", "tags")] = []
      model.rows[store.schema.entities[item].root, default: [:]][key] = row
      if let owner {
        model.rows[store.schema.entities[category].root]![owner]!.toMany[store.slot("Category", "items")]!
          .append(key)
      }
      let draft = Draft(
        key: -key,
        values: [
          "small": value(numbers[0]), "big": value(numbers[1]), "title": value(texts[0]),
          "place.title": value(texts[1]),
        ].compactMapValues { $0 }, references: owner.map { ["category": -$0] } ?? [:])
      transaction.inserted.append(store.batch(isSpecial ? "SpecialItem" : "Item", [draft]))
      if maker.chance(20) {
        let owner = Int64.random(in: 1...8, using: &maker.random)
        model.rows[store.schema.entities[category].root]![owner]!.toMany[store.slot("Category", "featured")]!
          .append(key)
        transaction.links.append(
          LinkChange(
            kind: .add, entity: category, slot: store.slot("Category", "featured"), owner: -owner,
            member: -key))
      }
    }

    for key in 1...Int64(6) {
      let name: StoreValue = maker.chance(15) ? .null : .text(maker.pick(QueryMaker.texts))
      var row = MemoryModel.Row(entity: tag)
      row.values[store.slot("Tag", "name")] = [name]
      row.toMany[store.slot("Tag", "items")] = []
      row.toMany[store.slot("Tag", "related")] = []
      model.rows[store.schema.entities[tag].root, default: [:]][key] = row
      transaction.inserted.append(
        store.batch("Tag", [Draft(key: -key, values: ["name": value(name)].compactMapValues { $0 })]))
      for member in 1...Int64(60) where maker.chance(20) {
        model.rows[store.schema.entities[tag].root]![key]!.toMany[store.slot("Tag", "items")]!.append(member)
        model.rows[store.schema.entities[item].root]![member]!.toMany[store.slot("Item", "tags")]!.append(key)
        transaction.links.append(
          LinkChange(
            kind: .add, entity: tag, slot: store.slot("Tag", "items"), owner: -key, member: -member,
            order: member))
      }
    }
    for left in 1...Int64(6) {
      for right in left...6 where maker.chance(25) {
        model.rows[store.schema.entities[tag].root]![left]!.toMany[store.slot("Tag", "related")]!.append(
          right)
        if left != right {
          model.rows[store.schema.entities[tag].root]![right]!.toMany[store.slot("Tag", "related")]!.append(
            left)
        }
        transaction.links.append(
          LinkChange(
            kind: .add, entity: tag, slot: store.slot("Tag", "related"), owner: -left, member: -right))
      }
    }
    _ = try store.commit(transaction)
    return model
  }

  @Test("Conditions of many terms", arguments: [UInt64.random(in: 0 ... .max), 3])
  func manyTerms(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), store: store)
    let model = try fill(&maker)
    let item = store.index("Item")
    for round in 0..<40 {
      let isAnd = maker.chance(50)
      // Terms that nearly all hold, or nearly none, so that the whole does sometimes.
      let terms = (0..<Int.random(in: 60...300, using: &maker.random)).map { _ -> StoreFilter in
        let subject = StoreExpression.path(maker.path(0, [("Item", maker.pick(["small", "big"]))]))
        switch Int.random(in: 0..<20, using: &maker.random) {
        case 0: return .not(.comparison(subject, .equal, .value(.null), []))
        case 1:
          let text = StoreExpression.path(maker.path(0, [("Item", "title")]))
          return .comparison(
            text, isAnd ? .notEqual : .equal, .value(.text(maker.pick(QueryMaker.texts))),
            maker.pick([[], .caseInsensitive]))
        case 2...10:
          return .comparison(
            subject, isAnd ? .notEqual : .equal,
            .value(.integer(Int64.random(in: 3...400, using: &maker.random))), [])
        default:
          return .comparison(
            subject, isAnd ? .less : .greater,
            .value(.integer(Int64.random(in: 3...400, using: &maker.random))), [])
        }
      }
      let some = maker.chance(50) ? terms : terms.filter { if case .not = $0 { false } else { true } }
      let whole: StoreFilter = isAnd ? .and(some) : .or(some)
      for filter in [whole, .not(whole)] {
        let found = try store.fetch(StoreQuery(entity: item, filter: filter), isKnown: nil).keys.sorted()
        let expected = model.rows[store.schema.entities[item].root]!.keys.filter {
          model.holds(filter, [(item, $0)])
        }.sorted()
        #expect(found == expected, "seed \(seed), round \(round): \(filter)")
      }
    }
  }

  @Test(
    "Random conditions, sorts and limits",
    arguments: [UInt64.random(in: 0 ... .max), 1, 2, 16_917_700_076_176_702_862])
  func differential(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), store: store)
    let model = try fill(&maker)
    var found = 0
    for round in 0..<300 {
      let name = maker.pick(["Item", "Item", "SpecialItem", "Category", "Tag"])
      let scopeName = name == "SpecialItem" ? "Item" : name
      var query = StoreQuery(entity: store.index(name))
      // Slots are those of the fetched entity, which a sub-entity numbers its own way.
      if name == "SpecialItem" {
        query.filter = .keys((0..<20).map { _ in Int64.random(in: 1...60, using: &maker.random) })
      } else {
        query.filter = maker.filter([scopeName], depth: 3)
      }
      query.includesSubentities = maker.chance(80)
      let entities =
        query.includesSubentities
        ? store.schema.entities[query.entity].subtree : query.entity..<(query.entity + 1)
      let root = store.schema.entities[query.entity].root
      let expected = model.rows[root]!.filter { key, row in
        entities.contains(row.entity) && model.holds(query.filter, [(query.entity, key)])
      }.keys.sorted()
      let context = "seed \(seed), round \(round): \(query)"
      let rows = try store.fetch(query, isKnown: nil)
      try #require(rows.keys.sorted() == expected, "\(context)")
      try #require(try store.count(query) == expected.count, "\(context)")
      found += expected.count

      guard name != "SpecialItem" else { continue }
      let options: StoreFilter.TextOptions = maker.pick([[], .caseInsensitive])
      let expression =
        maker.chance(50) ? maker.number([scopeName], depth: 1) : maker.text([scopeName], depth: 1)
      let sort = StoreSort(expression, isAscending: maker.chance(50), options: options)
      query.sort = [sort]
      query.limit = maker.chance(50) ? Int.random(in: 0...20, using: &maker.random) : nil
      query.offset = maker.chance(50) ? Int.random(in: 0...20, using: &maker.random) : 0
      func sortValue(_ key: Int64) -> StoreValue {
        model.folded(model.value(expression, [(query.entity, key)]), options)
      }
      var sorted = expected.map(sortValue).sorted { model.precedes($0, $1) }
      if !sort.isAscending { sorted.reverse() }
      sorted = Array(sorted.dropFirst(query.offset).prefix(query.limit ?? .max))
      let actual = try store.fetch(query, isKnown: nil).keys
      try #require(actual.map(sortValue) == sorted, "\(context), sorted by \(sort)")
      try #require(try store.count(query) == sorted.count, "\(context)")
    }
    #expect(found > 300, "seed \(seed): the conditions hold for too few rows to show anything")
  }
}
