@_spi(CDE) import CDEManagedModel
@_spi(CDE) import CDEPredicates
import CDEStore
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("Resolved conditions answer as the evaluation in memory does")
struct QueryResolverAgreementTests {
  @Test("Of any two kinds both find the same, or both refuse", arguments: [UInt64.random(in: 0 ... .max), 1])
  func kinds(seed: UInt64) throws {
    let world = QueryWorld()
    var maker = QueryMaker(world: world, random: SplitMix(state: seed))
    var (answered, refused) = (0, 0)
    for _ in 0..<400 {
      let items = maker.objects()
      let tree = maker.anyKinds()
      let filter = Result { try world.resolver("Item").filter(tree) }
      for item in items {
        let expected = Result { try tree.evaluate(with: item) }
        switch (filter, expected) {
        case (.success(let filter), .success(let expected)):
          #expect(try world.evaluator(item).holds(filter) == expected, "seed \(seed): \(tree)")
          answered += 1
        case (.failure, .failure): refused += 1
        // A value that is nil has no kind, so memory alone can't refuse.
        case (.failure, .success(let holds)):
          let hasNil = ["title", "count", "ratio", "price", "flag", "created", "link", "blob"].contains {
            item.attributes[$0] == .null && tree.description.contains($0)
          }
          #expect(hasNil, "seed \(seed): \(tree) is refused by the store and \(holds) in memory")
        case (.success, .failure(let error)): Issue.record("seed \(seed): \(tree): \(error)")
        }
      }
    }
    #expect(answered > 200 && refused > 200, "seed \(seed): \(answered) answered, \(refused) refused")
  }

  @Test("Random predicates agree on every object", arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func agreement(seed: UInt64) throws {
    let world = QueryWorld()
    var maker = QueryMaker(world: world, random: SplitMix(state: seed))
    var (compared, held, refused) = (0, 0, 0)
    for _ in 0..<25 {
      let items = maker.objects()
      for _ in 0..<40 {
        let tree = maker.tree(depth: 2)
        let filter: StoreFilter
        do {
          filter = try world.resolver("Item").filter(tree)
        } catch let error as PredicateTreeError {
          // What is refused for good reasons is the other suite's business; here it must stay rare.
          #expect([.unsupported, .operands].contains(error.code), "seed \(seed): \(error.message)")
          refused += 1
          continue
        }
        for item in items {
          let expected = try tree.evaluate(with: item)
          let found = try world.evaluator(item).holds(filter)
          compared += 1
          if found { held += 1 }
          guard found == expected else {
            Issue.record("seed \(seed): \(tree.predicateFormat) became \(filter); memory says \(expected)")
            return
          }
        }
      }
    }
    // A generator whose predicates always or never hold would prove nothing.
    #expect(compared > 4000, "seed \(seed): \(compared) compared, \(refused) refused")
    #expect(held > compared / 10 && held < compared * 9 / 10, "seed \(seed): \(held) of \(compared)")
  }
}

/// Makes small object graphs and predicates on their items, with nil and coincidence frequent.
struct QueryMaker {
  let world: QueryWorld
  var random: SplitMix

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }

  // MARK: Constants

  enum Kind: CaseIterable { case integer, real, decimal, text, date, url, data, flag }

  private mutating func constant(_ kind: Kind, nilPercent: Int = 20) -> PredicateConstant {
    if chance(nilPercent) { return .null }
    let number = Int.random(in: -1...3, using: &random)
    switch kind {
    case .integer: return .integer(Int64(number))
    case .real: return .double(Double(number) / 2)
    case .decimal: return .decimal(Decimal(number) / 10)
    case .text: return .string(pick(["", "a", "A", "b", "äb", "Ab"]))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .url: return .url(URL(string: "https://\(pick(["a", "b"])).example")!)
    case .data: return .data(Data([UInt8(number + 1)]))
    case .flag: return .bool(number > 1)
    }
  }

  // MARK: Objects

  mutating func objects() -> [QueryObject] {
    let schema = world.schema
    func make(_ name: String, _ count: Int) -> [QueryObject] {
      (0..<count).map { QueryObject(schema, name, key: Int64($0 + 1)) }
    }
    let categories = make("Category", 3)
    let tags = make("Tag", 3)
    var items = make("Item", 5)
    for index in items.indices where chance(30) {
      items[index] = QueryObject(schema, "SpecialItem", key: Int64(index + 1))
    }
    for category in categories {
      category.attributes = ["name": constant(.text), "rank": constant(.integer)]
      if chance(50) {
        let parent = pick(categories)
        category.toOne["parent"] = parent
        parent.toMany["children", default: []].append(category)
      }
    }
    for tag in tags {
      tag.attributes = ["name": constant(.text), "score": constant(.integer)]
      if chance(60) { link(tag, "category", "tags", pick(categories)) }
    }
    for item in items {
      for (name, kind) in Self.attributes { item.attributes[name] = constant(kind, nilPercent: 25) }
      item.leaves["location"] = [constant(.real), constant(.real), constant(.text), constant(.integer)]
      if chance(60) { link(item, "category", "items", pick(categories)) }
      for tag in tags where chance(45) {
        item.toMany["tags", default: []].append(tag)
        tag.toMany["items", default: []].append(item)
      }
    }
    return items
  }

  private func link(_ object: QueryObject, _ name: String, _ inverse: String, _ other: QueryObject) {
    object.toOne[name] = other
    other.toMany[inverse, default: []].append(object)
  }

  private static let attributes: [(String, Kind)] = [
    ("title", .text), ("count", .integer), ("ratio", .real), ("price", .decimal), ("flag", .flag),
    ("created", .date), ("link", .url), ("blob", .data),
  ]

  // MARK: Predicates

  mutating func tree(depth: Int) -> PredicateTree {
    if depth > 0, chance(45) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .not(tree(depth: depth - 1))
      case 1: return .and([tree(depth: depth - 1), tree(depth: depth - 1)])
      default: return .or([tree(depth: depth - 1), tree(depth: depth - 1)])
      }
    }
    return leaf(depth: depth)
  }

  private mutating func leaf(depth: Int) -> PredicateTree {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35:
      let (left, kind) = scalar(depth: 1)
      return comparison(left, kind, .direct)
    case 35..<60:
      let (path, kind) = pick(Self.collections)
      return comparison(.keyPath(path), kind, pick([.any, .any, .all]))
    case 60..<63:
      return .comparison(
        PredicateComparison(
          .keyPath(["tags", "score"]), ordering(), count(depth: depth), modifier: pick([.any, .all])))
    case 63..<66: return .compare(count(depth: depth), .in, .keyPath(["tags", "score"]))
    case 66..<75: return objects(depth: depth)
    case 75..<90:
      return .compare(count(depth: depth), ordering(), .constant(constant(.integer, nilPercent: 5)))
    default:
      let aggregate = pick([PredicateAggregate.minimum, .maximum, .sum, .average])
      let path = pick([["tags", "score"], ["category", "items", "count"], ["tags", "category", "rank"]])
      return comparison(.aggregate(aggregate, of: .keyPath(path)), .integer, .direct)
    }
  }

  private static let collections: [([String], Kind)] = [
    (["tags", "name"], .text), (["tags", "score"], .integer), (["tags", "category", "rank"], .integer),
    (["tags", "items", "title"], .text), (["category", "items", "price"], .decimal),
    (["tags", "category", "items", "count"], .integer),
    (["category", "children", "parent", "tags", "name"], .text),
    (["category", "rank"], .integer), (["tags", "items", "location", "address", "zip"], .integer),
  ]

  private mutating func scalar(depth: Int) -> (ExpressionTree, Kind) {
    if depth > 0, chance(30) {
      let (value, kind) = scalar(depth: depth - 1)
      switch kind {
      case .integer, .real, .decimal, .flag:
        let function = pick([PredicateFunction.add, .subtract, .multiply, .divide])
        if chance(30) { return (.function(pick([.abs, .negate]), [value]), kind) }
        if chance(30) { return (.function(pick([.floor, .ceiling, .truncate]), [value]), kind) }
        if chance(20) {
          return (
            .function(pick([.squareRoot, .exponential, .naturalLogarithm, .logarithm]), [value]), .real
          )
        }
        if chance(20) {
          return (.function(pick([.power, .modulus]), [value, .constant(constant(.integer))]), .real)
        }
        return (.function(function, [value, .constant(constant(.integer))]), kind)
      case .text:
        if chance(50) { return (.function(pick([.lowercase, .uppercase, .canonical]), [value]), kind) }
        return (
          .function(.coalesce, [value, .keyPath(["category", "name"]), .constant(constant(.text))]), kind
        )
      case .date where chance(60):
        let seconds = ExpressionTree.constant(constant(pick([.integer, .real]), nilPercent: 5))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return (.function(.add, [value, seconds]), .date)
        case 1: return (.function(.add, [seconds, value]), .date)
        case 2: return (.function(.subtract, [value, seconds]), .date)
        default: return (.function(.subtract, [value, .keyPath(["created"])]), .real)
        }
      case .date, .url, .data:
        return (.conditional(tree(depth: 0), then: value, else: .constant(constant(kind))), kind)
      }
    }
    if chance(30) {
      return pick([
        (.keyPath(["category", "name"]), .text), (.keyPath(["category", "parent", "rank"]), .integer),
        (.keyPath(["location", "lat"]), .real), (.keyPath(["location", "address", "city"]), .text),
        (.function(.length, [.keyPath(["title"])]), .integer), (.keyPath(["title", "length"]), .integer),
        (.keyPath(["category", "name", "length"]), .integer),
        (
          .function(pick([.bitAnd, .bitOr, .bitXor]), [.keyPath(["count"]), .constant(.integer(5))]), .integer
        ),
        (
          .function(pick([.shiftLeft, .shiftRight]), [.keyPath(["count"]), .constant(.integer(-1))]), .integer
        ),
        (.function(.bitNot, [.keyPath(["count"])]), .integer),
      ])
    }
    let (name, kind) = pick(Self.attributes)
    return (.keyPath([name]), kind)
  }

  /// One comparison of an attribute with a constant or another attribute, of any kinds.
  mutating func anyKinds() -> PredicateTree {
    let (name, _) = pick(Self.attributes)
    var right = ExpressionTree.constant(constant(pick(Kind.allCases)))
    if chance(30) { right = .constant(.string(pick(["0", "1", "-1", "0.5", " 1", "1x", "nan", "1e0"]))) }
    if chance(15) { right = .keyPath([pick(Self.attributes).0]) }
    let op = ordering()
    if chance(20) {
      return .compare(.keyPath([name]), .in, .constant(.list([constant(pick(Kind.allCases)), .null])))
    }
    return chance(50) ? .compare(.keyPath([name]), op, right) : .compare(right, op, .keyPath([name]))
  }

  private mutating func ordering() -> PredicateOperator {
    pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
  }

  private mutating func comparison(
    _ left: ExpressionTree, _ kind: Kind, _ modifier: PredicateModifier
  ) -> PredicateTree {
    // Now and then a value of another kind.
    let other = chance(8) ? pick(Kind.allCases) : kind
    var options: PredicateTextOptions = []
    if chance(30) {
      options = pick([.caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized])
    }
    var op = ordering()
    var right = ExpressionTree.constant(constant(other))
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      op = .in
      right = .constant(.list([constant(other), constant(kind), constant(kind)]))
    case 2:
      op = .between
      right = .list([.constant(constant(other, nilPercent: 8)), .constant(constant(kind, nilPercent: 8))])
    case 3: right = scalar(depth: 0).0
    case 4, 5, 6:
      if kind == .text {
        op = pick([.beginsWith, .endsWith, .contains, .like, .matches, .in])
        right = .constant(pick([.null, .string("a"), .string("a*"), .string("B"), .string("?b")]))
        if op == .matches || op == .in { right = .constant(.string("a.*")) }
      }
    default: break
    }
    return .comparison(PredicateComparison(left, op, right, modifier: modifier, options: options))
  }

  private mutating func reference() -> PredicateConstant {
    let name = pick(["Category", "Tag", "Item", "SpecialItem"])
    return .object(PredicateObject(world.reference(name, Int64.random(in: 1...4, using: &random))))
  }

  private func entity(_ name: String) -> PredicateConstant {
    .object(PredicateObject(EntityReference(name: name)))
  }

  private mutating func objects(depth: Int) -> PredicateTree {
    let toOne: ExpressionTree = pick([
      .keyPath(["category"]), .keyPath(["category", "parent"]), .evaluatedObject,
    ])
    let toMany: ExpressionTree = pick([
      .keyPath(["tags"]), .keyPath(["category", "items"]), .keyPath(["tags", "category", "items"]),
      subquery(depth: depth),
    ])
    switch Int.random(in: 0..<11, using: &random) {
    case 8:
      let path = pick([["entity"], ["category", "entity"], ["category", "parent", "entity"]])
      let names = ["Item", "SpecialItem", "Category"]
      if chance(30) {
        return .compare(
          .keyPath(path), .in, .constant(.list([entity(pick(names)), .null, entity(pick(names))])))
      }
      return .compare(
        .keyPath(path), pick([.equal, .notEqual]),
        chance(15) ? .constant(.null) : .constant(entity(pick(names))))
    case 9:
      return .compare(
        .keyPath(pick([["entity", "name"], ["category", "entity", "name"]])),
        pick([.equal, .notEqual, .contains]),
        .constant(.string(pick(["Item", "SpecialItem", "Category"]))))
    case 10:
      return .compare(
        .keyPath(pick([["objectID"], ["category", "objectID"], ["category", "self"]])),
        pick([.equal, .notEqual]), .constant(reference()))
    case 0: return .compare(toOne, pick([.equal, .notEqual]), .constant(chance(30) ? .null : reference()))
    case 1: return .compare(toOne, .in, .constant(.list([reference(), .null, reference(), reference()])))
    case 2: return .compare(toMany, pick([.equal, .notEqual]), .constant(.null))
    case 3: return .compare(toMany, .contains, .constant(chance(10) ? .null : reference()))
    case 4: return .compare(toOne, .in, toMany)
    case 5: return .compare(toMany, .equal, .constant(.list([reference(), reference()])))
    case 6: return .compare(.keyPath(["category"]), .equal, .keyPath(["category", "parent"]))
    default:
      return .comparison(
        PredicateComparison(toMany, pick([.equal, .notEqual]), toOne, modifier: pick([.any, .all])))
    }
  }

  private mutating func subquery(depth: Int) -> ExpressionTree {
    let variable = "v\(depth)"
    var parts = [
      comparison(.variableKeyPath(variable, ["name"]), .text, .direct),
      comparison(.variableKeyPath(variable, ["category", "rank"]), .integer, .direct),
      .compare(.variableKeyPath(variable, ["score"]), ordering(), .keyPath(["count"])),
    ]
    if depth > 0 { parts.append(leaf(depth: depth - 1)) }
    return .subquery(collection: .keyPath(["tags"]), variable: variable, where: pick(parts))
  }

  private mutating func count(depth: Int) -> ExpressionTree {
    let collection: ExpressionTree = pick([
      .keyPath(["tags"]), .keyPath(["tags", "category"]), .keyPath(["tags", "category", "items"]),
      .keyPath(["category", "children", "tags", "name"]), subquery(depth: depth),
      .projection(of: subquery(depth: depth), ["category", "name"]),
      .subquery(
        collection: .keyPath(["tags", "category", "items"]), variable: "w",
        where: comparison(.variableKeyPath("w", ["price"]), .decimal, .direct)),
      .projection(of: subquery(depth: depth), ["items"]),
    ])
    return .aggregate(.count, of: collection)
  }
}
