import Foundation

/// Makes format strings with their arguments, on the sales of `DictionaryWorld`. All constructs that stores answer occur.
struct RandomPredicates {
  var values: RandomValues
  /// The objects that a predicate may name, by entity.
  var objects: [String: [Any]]
  private var drawn: [Any] = []

  typealias Kind = RandomValues.Kind

  init(_ values: RandomValues, _ objects: [String: [Any]]) {
    self.values = values
    self.objects = objects
  }

  struct Made {
    let format: String
    let arguments: [Any]
  }

  mutating func predicate(depth: Int = 3) -> Made {
    drawn = []
    // Arguments are drawn in another order than they stand in the text, and some are not used.
    var (format, used): (String, [Any]) = ("", [])
    for (index, part) in condition(Place.sale, depth: depth).split(
      separator: Self.mark, omittingEmptySubsequences: false
    )
    .enumerated() {
      if index % 2 == 0 {
        format += part
      } else {
        format += "%@"
        used.append(drawn[Int(part)!])
      }
    }
    return Made(format: format, arguments: used)
  }

  /// Stands around the number of an argument.
  private static let mark: Character = "\u{1}"

  /// Where key paths start.
  private struct Place {
    let entity: String
    let prefix: String

    static let sale = Place(entity: "Sale", prefix: "")
  }

  private mutating func chance(_ percent: Int) -> Bool { values.chance(percent) }
  private mutating func pick<Values: Collection>(_ all: Values) -> Values.Element { values.pick(all) }

  private mutating func argument(_ value: Any) -> String {
    drawn.append(value)
    return "\(Self.mark)\(drawn.count - 1)\(Self.mark)"
  }

  // MARK: Conditions

  private mutating func condition(_ place: Place, depth: Int) -> String {
    if depth > 0, chance(45) {
      switch Int.random(in: 0..<5, using: &values.random) {
      case 0: return "NOT (\(condition(place, depth: depth - 1)))"
      case 1, 2: return "(\(condition(place, depth: depth - 1))) AND (\(condition(place, depth: depth - 1)))"
      default: return "(\(condition(place, depth: depth - 1))) OR (\(condition(place, depth: depth - 1)))"
      }
    }
    switch Int.random(in: 0..<100, using: &values.random) {
    case 0..<30: return numbers(place)
    case 30..<55: return texts(place)
    case 55..<65: return others(place)
    case 65..<75: return relations(place)
    case 75..<88: return quantified(place)
    case 88..<98: return counted(place, depth: depth)
    default: return pick(["TRUEPREDICATE", "FALSEPREDICATE"])
    }
  }

  private mutating func ordering() -> String { pick(["==", "!=", "<", "<=", ">", ">="]) }

  private mutating func numbers(_ place: Place) -> String {
    let left = number(place, depth: 2)
    switch Int.random(in: 0..<8, using: &values.random) {
    case 0:
      let items = (0..<pick([1, 2, 5])).map { _ in argument(values.number()) }
      return "\(left) IN {\(items.joined(separator: ", "))}"
    case 1: return "\(left) BETWEEN {\(argument(values.number())), \(argument(values.number()))}"
    case 2: return "\(left) \(pick(["==", "!="])) nil"
    case 3: return "\(left) \(ordering()) \(number(place, depth: 1))"
    case 4: return "\(left) IN \(argument((0..<pick([0, 1, 60])).map { _ in values.number() } as NSArray))"
    default: return "\(left) \(ordering()) \(argument(values.number()))"
    }
  }

  /// - Parameter isComputedWith: whether it is computed with. Memory computes decimals with all their digits, a store with
  ///   those of a double, as Core Data.
  private mutating func number(_ place: Place, depth: Int, isComputedWith: Bool = false) -> String {
    if depth > 0, chance(30) {
      let inner = number(place, depth: depth - 1, isComputedWith: true)
      let other =
        chance(60) ? argument(values.binaryNumber()) : number(place, depth: depth - 1, isComputedWith: true)
      switch Int.random(in: 0..<14, using: &values.random) {
      case 0, 1: return "(\(inner) + \(other))"
      case 2: return "(\(inner) - \(other))"
      case 3: return "(\(inner) * \(other))"
      case 4: return "(\(inner) / \(other))"
      case 5: return "modulus:by:(\(inner), \(other))"
      case 6: return "\(pick(["abs", "floor", "ceiling", "trunc"])):(\(inner))"
      case 7: return "\(pick(["sqrt", "exp", "ln", "log"])):(\(inner))"
      case 8: return "(\(inner) ** \(other))"
      case 9: return "coalesce(\(inner), \(other))"
      case 10: return "TERNARY(\(condition(place, depth: 0)), \(inner), \(other))"
      case 11:
        return
          "(\(place.prefix)\(whole(place)) \(pick(["&", "|", "^", "<<", ">>"])) \(pick([0, 1, 2, 5, 63])))"
      case 12: return "(-\(inner))"
      default: return "length:(\(text(place, depth: 0)))"
      }
    }
    switch place.entity {
    case "Sale":
      if !isComputedWith, chance(15) { return place.prefix + pick(["price", "origin.price"]) }
      return place.prefix
        + pick([
          "count", "big", "amount", "weight", "flag", "spot.lat", "seller.rank", "seller.boss.rank",
          "origin.count", "title.length", "tags.@count", "followers.@sum.count", "tags.@max.score",
          "tags.@min.score", "tags.@avg.score", "followers.@max.big",
        ])
    case "Seller":
      return place.prefix + pick(["rank", "boss.rank", "sales.@count", "sales.@sum.count", "team.@max.rank"])
    default: return place.prefix + pick(["score", "sales.@count", "sales.@min.amount"])
    }
  }

  private mutating func whole(_ place: Place) -> String {
    switch place.entity {
    case "Sale": pick(["count", "big"])
    case "Seller": "rank"
    default: "score"
    }
  }

  // MARK: Texts

  private mutating func options() -> String { chance(50) ? "" : pick(["[c]", "[d]", "[cd]", "[n]"]) }

  private mutating func texts(_ place: Place) -> String {
    let left = text(place, depth: 2)
    switch Int.random(in: 0..<9, using: &values.random) {
    case 0: return "\(left) BEGINSWITH\(options()) \(textOperand(place))"
    case 1: return "\(left) ENDSWITH\(options()) \(textOperand(place))"
    case 2, 3: return "\(left) CONTAINS\(options()) \(textOperand(place))"
    case 4:
      let patterns = [
        "*", "?", "a*", "*b", "*A*", "?b", "??", "\\*", "*\\?*", "é*", "*ß*", "", "*i*", "z?rich",
      ]
      return "\(left) LIKE\(options()) \(argument(pick(patterns)))"
    case 5:
      let patterns = [
        ".*", "a.*", "[ab]+", ".", "..", "", "(?i)a.*", "\\p{L}+", ".*\\d.*", "[^a]*", "z.rich",
      ]
      return "\(left) MATCHES\(chance(70) ? "" : "[c]") \(argument(pick(patterns)))"
    case 6:
      let list = (0..<pick([1, 3, 70])).map { _ in values.value(.text) }
      return "\(left) IN\(options()) \(argument(list as NSArray))"
    case 7: return "\(left) \(pick(["==", "!="])) nil"
    default: return "\(left) \(ordering())\(options()) \(textOperand(place))"
    }
  }

  private mutating func textOperand(_ place: Place) -> String {
    chance(80) ? argument(values.value(.text)) : text(place, depth: 0)
  }

  private mutating func text(_ place: Place, depth: Int) -> String {
    if depth > 0, chance(20) {
      let inner = text(place, depth: depth - 1)
      switch Int.random(in: 0..<4, using: &values.random) {
      case 0: return "\(pick(["lowercase", "uppercase", "canonical"])):(\(inner))"
      case 1: return "coalesce(\(inner), \(argument(values.value(.text))))"
      case 2: return "TERNARY(\(condition(place, depth: 0)), \(inner), \(argument(values.value(.text))))"
      default: return "coalesce(\(inner), \(text(place, depth: 0)))"
      }
    }
    switch place.entity {
    case "Sale":
      return place.prefix
        + pick(["title", "title", "spot.label", "seller.name", "seller.boss.name", "origin.title", "lower"])
    case "Seller": return place.prefix + pick(["name", "boss.name"])
    default: return place.prefix + "name"
    }
  }

  // MARK: Other attributes

  private mutating func others(_ place: Place) -> String {
    guard place.entity == "Sale" else { return numbers(place) }
    switch Int.random(in: 0..<5, using: &values.random) {
    case 0: return "\(place.prefix)token \(pick(["==", "!="])) \(argument(values.value(.uuid)))"
    case 1: return "\(place.prefix)link \(pick(["==", "!="])) \(argument(values.value(.url)))"
    case 2: return "\(place.prefix)blob \(pick(["==", "!="])) \(argument(values.value(.data)))"
    case 3:
      let list = (0..<3).map { _ in values.value(.date) }
      return "\(place.prefix)day IN \(argument(list as NSArray))"
    default:
      let day = pick(["day", "origin.day", "(day + 1)", "(day - 86400)", "(day + amount)"])
      let left = day.hasPrefix("(") ? "(\(place.prefix)\(day.dropFirst())" : place.prefix + day
      return "\(left) \(ordering()) \(argument(values.value(.date)))"
    }
  }

  // MARK: Relationships

  private mutating func object(_ entity: String) -> String { argument(pick(objects[entity]!)) }

  private mutating func relations(_ place: Place) -> String {
    let prefix = place.prefix
    guard place.entity == "Sale" else {
      return chance(50)
        ? "\(prefix)sales CONTAINS \(object("Sale"))"
        : "\(prefix)sales.@count \(ordering()) \(pick(0...3))"
    }
    switch Int.random(in: 0..<9, using: &values.random) {
    case 0: return "\(prefix)seller \(pick(["==", "!="])) \(object("Seller"))"
    case 1: return "\(prefix)seller.boss == \(object("Seller"))"
    case 2: return "\(prefix)seller \(pick(["==", "!="])) nil"
    case 3: return "\(prefix)tags CONTAINS \(object("Tag"))"
    case 4:
      let list = (0..<pick([0, 1, 3])).map { _ in pick(objects["Seller"]!) }
      return "\(prefix)seller IN \(argument(list as NSArray))"
    case 5: return "\(object("Tag")) IN \(prefix)tags"
    case 6: return "\(prefix)origin.seller == \(prefix)seller"
    case 7: return "\(prefix)entity.name == \(argument(pick(["Sale", "Refund"])))"
    default:
      return prefix.isEmpty
        ? "SELF \(pick(["==", "!="])) \(object("Sale"))" : "\(prefix)origin != nil"
    }
  }

  private mutating func quantified(_ place: Place) -> String {
    let modifier = pick(["ANY", "ANY", "ALL", "NONE"])
    let (paths, texts): ([String], [String]) =
      switch place.entity {
      case "Sale":
        (
          [
            "tags.score", "followers.count", "followers.price", "followers.seller.rank", "seller.sales.big",
            "tags.sales.amount",
          ],
          ["tags.name", "followers.title", "seller.team.name", "followers.spot.label"]
        )
      case "Seller": (["sales.count", "team.rank", "sales.tags.score"], ["sales.title", "team.name"])
      default: (["sales.count", "sales.seller.rank"], ["sales.title"])
      }
    if chance(60) {
      let path = place.prefix + pick(paths)
      return chance(25)
        ? "\(modifier) \(path) IN \(argument((0..<3).map { _ in values.number() } as NSArray))"
        : "\(modifier) \(path) \(ordering()) \(argument(values.number()))"
    }
    let path = place.prefix + pick(texts)
    let comparison = pick(["==", "!=", "BEGINSWITH", "CONTAINS", "ENDSWITH", "<", ">"])
    return "\(modifier) \(path) \(comparison)\(options()) \(argument(values.value(.text)))"
  }

  private mutating func counted(_ place: Place, depth: Int) -> String {
    let (path, entity): (String, String) =
      switch place.entity {
      case "Sale":
        pick([("tags", "Tag"), ("followers", "Sale"), ("seller.sales", "Sale"), ("seller.team", "Seller")])
      case "Seller": pick([("sales", "Sale"), ("team", "Seller")])
      default: ("sales", "Sale")
      }
    if chance(30) { return "\(place.prefix)\(path).@count \(ordering()) \(pick(0...3))" }
    let variable = "$v\(depth)"
    let inner = condition(Place(entity: entity, prefix: variable + "."), depth: min(depth, 2) - 1)
    return "SUBQUERY(\(place.prefix)\(path), \(variable), \(inner)).@count \(ordering()) \(pick(0...3))"
  }
}
