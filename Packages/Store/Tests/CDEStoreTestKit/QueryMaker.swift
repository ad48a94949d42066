@_spi(CDE) public import CDESQLiteFaults
public import CDEStore

/// Makes random rows and conditions over the shop's schema.
public struct QueryMaker {
  /// The numbers that everything is drawn with.
  @_spi(CDE) public var random: SplitMix
  /// The shop's schema, which has the slots of a store.
  public let schema: ResolvedSchema

  /// Makes a maker that draws with random numbers.
  @_spi(CDE) public init(random: SplitMix, schema: ResolvedSchema = Shop.resolved) {
    self.random = random
    self.schema = schema
  }

  public static let texts = [
    "", "a", "A", "ab", "aB", "abc", "b", "bar", "Zürich", "zurich", "ZURICH", "é", "e\u{301}", "x*y", "日本",
    "ﬁ",
  ]

  public mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
  public mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  public mutating func integer() -> Int64 { Int64.random(in: -3...3, using: &random) }

  public func index(_ entity: String) -> EntityIndex { schema.entity(named: entity)!.index }

  public func slot(_ entity: String, _ property: String) -> SlotIndex {
    schema.entity(named: entity)!.layout.slot(named: property)!
  }

  public func path(_ scope: Int, _ names: [(String, String)], leaf: Int = 0) -> StorePath {
    StorePath(
      scope: scope, hops: names.dropLast().map { slot($0.0, $0.1) },
      end: .property(slot: slot(names.last!.0, names.last!.1), leaf: leaf))
  }

  public func object(_ scope: Int, _ names: [(String, String)]) -> StorePath {
    StorePath(scope: scope, hops: names.map { slot($0.0, $0.1) }, end: .object)
  }

  public static let mathematics: [StoreExpression.Function] = [
    .power, .squareRoot, .exponential, .naturalLogarithm, .logarithm, .floor, .ceiling, .truncate, .remainder,
    .decimal,
  ]

  // MARK: Expressions

  /// A number seen from an object of the entity at a scope.
  public mutating func number(_ scopes: [String], depth: Int) -> StoreExpression {
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

  public mutating func text(_ scopes: [String], depth: Int) -> StoreExpression {
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

  public mutating func filter(_ scopes: [String], depth: Int) -> StoreFilter {
    if depth > 0, chance(60) {
      let count = Int.random(in: 0...3, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return .and((0..<count).map { _ in filter(scopes, depth: depth - 1) })
      case 1: return .or((0..<count).map { _ in filter(scopes, depth: depth - 1) })
      case 2: return .not(filter(scopes, depth: depth - 1))
      case 3:
        return .rules(
          (0..<count).map { _ in StoreFilter.Rule(filter(scopes, depth: depth - 1), holds: chance(50)) },
          otherwise: filter(scopes, depth: depth - 1))
      default: return any(scopes, depth: depth)
      }
    }
    if chance(5) { return .constant(chance(50)) }
    if chance(6), let scope = scopes.firstIndex(of: "Item") {
      let entities = pick([[], ["Item"], ["SpecialItem"], ["Item", "SpecialItem"]]).map { index($0) }
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
        chance(20) ? .value(.null) : .value(.reference(entity: index("Category"), key: key))
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
