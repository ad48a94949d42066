import CDEPredicates
import Foundation
import Testing

@Suite("Random format strings")
struct FormatFuzzTests {
  private static let pieces = [
    "a", "b.c", "tags", "AND", "OR", "NOT", "ANY", "ALL", "NONE", "IN", "BETWEEN", "LIKE", "MATCHES",
    "CONTAINS[cd]",
    "==", "!=", "<", "(", ")", "{", "}", "[", "]", ",", ".", "@count", "@max", "$x", "%@", "%K", "%d", "'t'",
    "\"",
    "'", "\\", "1", "-2.5", "nil", "YES", "SELF", "SUBQUERY(", "TERNARY(", "CAST(", "now()", "+", "*", "**",
    "&", "|", "^", "~", "<<", ">>", "UNION", "FUNCTION(", "#", "é",
    "\u{301}", "\u{0}", "🏳️‍🌈", "0x", "1e", "99999999999999999999999", ":", "&&", "||", "!", "TRUEPREDICATE",
    " ",
  ]

  @Test("No format crashes, whatever it holds; what parses, prints and evaluates")
  func noise() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("format noise seed \(seed)")
    var random = SplitMix(seed: seed)
    var parsed = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...12, using: &random)
      let source = (0..<count).map { _ in
        Self.pieces.randomElement(using: &random)! + (Bool.random(using: &random) ? " " : "")
      }.joined()
      let predicate = NSPredicate(format: source, 1, "a", nil, [1, 2])
      guard let tree = try? predicate.predicateTree() else { continue }
      parsed += 1
      let again = try PredicateTree(format: tree.predicateFormat)
      #expect(again.predicateFormat == tree.predicateFormat, "seed \(seed): \(source)")
      _ = predicate.evaluate(with: ["a": 1, "b": ["c": "t"], "tags": [1, 2]] as [String: Any])
    }
    // Some 60 of random pieces make sense; a run with a handful is luck, one with none tests nothing.
    #expect(parsed > 10)
  }

  @Test("Damaged predicates never crash")
  func mutations() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("format mutation seed \(seed)")
    var random = SplitMix(seed: seed)
    var generator = TreeGenerator(random: SplitMix(seed: seed &+ 1))
    for _ in 0..<3_000 {
      var scalars = Array(generator.predicate(depth: 3).predicateFormat.unicodeScalars)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !scalars.isEmpty {
        let index = Int.random(in: 0..<scalars.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: scalars.remove(at: index)
        case 1: scalars.insert(Unicode.Scalar(UInt8.random(in: 0...127, using: &random)), at: index)
        default: scalars.swapAt(index, Int.random(in: 0..<scalars.count, using: &random))
        }
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      let predicate = NSPredicate(format: String(text))
      _ = predicate.evaluate(with: ["a": 1])
      if let tree = try? predicate.predicateTree() {
        #expect(try PredicateTree(format: tree.predicateFormat).predicateFormat == tree.predicateFormat)
      }
    }
  }

  @Test("Printing and parsing any tree gives the tree")
  func roundTrip() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("round trip seed \(seed)")
    var generator = TreeGenerator(random: SplitMix(seed: seed))
    for _ in 0..<5_000 {
      let tree = generator.predicate(depth: 4)
      let again = try PredicateTree(format: tree.predicateFormat)
      #expect(again == tree, "seed \(seed): \(tree.predicateFormat)")
      #expect(again.hashValue == tree.hashValue)
    }
  }
}

/// Random trees in the form that parsing gives: no decimals and booleans (printed as other numbers),
/// compounds of two or more parts, lists of constants as constants.
struct TreeGenerator {
  var random: SplitMix
  private let keys = ["a", "b_1", "naïve", "in", "SELF", "any", "size", "with space", "q\"uote", "名前"]
  private let names = ["x", "y1"]

  init(random: SplitMix) {
    self.random = random
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
  private mutating func path() -> [String] { (0...pick(3)).map { _ in keys[pick(keys.count)] } }

  mutating func predicate(depth: Int) -> PredicateTree {
    switch depth <= 0 ? 3 + pick(5) : pick(8) {
    case 0: return .and((0...1 + pick(2)).map { _ in predicate(depth: depth - 1) })
    case 1: return .or((0...1 + pick(2)).map { _ in predicate(depth: depth - 1) })
    case 2: return .not(predicate(depth: depth - 1))
    case 3: return .constant(pick(2) == 0)
    default:
      let op = PredicateOperator.allCases[pick(PredicateOperator.allCases.count)]
      let modifier = PredicateModifier.allCases[pick(PredicateModifier.allCases.count)]
      let right = op == .between ? bounds(depth: depth - 1) : expression(depth: depth - 1)
      return .comparison(
        PredicateComparison(
          expression(depth: depth - 1), op, right, modifier: modifier,
          options: PredicateTextOptions(rawValue: UInt8(pick(16)))))
    }
  }

  private mutating func bounds(depth: Int) -> ExpressionTree {
    list([expression(depth: depth), expression(depth: depth)])
  }

  private func list(_ members: [ExpressionTree]) -> ExpressionTree {
    let constants = members.compactMap { if case .constant(let constant) = $0 { constant } else { nil } }
    return constants.count == members.count ? .constant(.list(constants)) : .list(members)
  }

  mutating func expression(depth: Int) -> ExpressionTree {
    switch depth <= 0 ? pick(5) : pick(13) {
    case 0: return .constant(constant(depth: depth))
    case 1: return .evaluatedObject
    case 2: return .keyPath(path())
    case 3: return .variable(names[pick(2)])
    case 4: return .variableKeyPath(names[pick(2)], path())
    case 5: return .projection(of: subquery(depth: depth - 1), path())
    case 6:
      let aggregate = PredicateAggregate.allCases[pick(PredicateAggregate.allCases.count)]
      let bases: [ExpressionTree] = [
        .keyPath(path()), .variableKeyPath("x", path()), .variable("y1"), .evaluatedObject,
        subquery(depth: depth - 1), list([expression(depth: depth - 1), expression(depth: depth - 1)]),
        .projection(of: subquery(depth: depth - 1), path()),
        .function(.add, [.keyPath(path()), .keyPath(path())]),
      ]
      return .aggregate(aggregate, of: bases[pick(bases.count)])
    case 7: return subquery(depth: depth - 1)
    case 8: return list((0..<pick(4)).map { _ in expression(depth: depth - 1) })
    case 9:
      return .conditional(
        predicate(depth: depth - 1), then: expression(depth: depth - 1), else: expression(depth: depth - 1))
    case 10:
      return .call(
        target: expression(depth: depth - 1), selector: ["now", "find:in:"][pick(2)],
        (0..<pick(3)).map { _ in expression(depth: depth - 1) })
    default: return function(depth: depth - 1)
    }
  }

  private mutating func subquery(depth: Int) -> ExpressionTree {
    .subquery(collection: .keyPath(path()), variable: names[pick(2)], where: predicate(depth: depth))
  }

  private mutating func function(depth: Int) -> ExpressionTree {
    let function = PredicateFunction.allCases[pick(PredicateFunction.allCases.count)]
    switch function {
    case .now: return .function(.now, [])
    case .coalesce: return .function(.coalesce, (0...pick(3)).map { _ in expression(depth: depth) })
    case .add, .subtract, .multiply, .divide, .modulus, .power, .bitAnd, .bitOr, .bitXor, .shiftLeft,
      .shiftRight, .union, .intersect, .minus, .element:
      return .function(function, [expression(depth: depth), expression(depth: depth)])
    default: return .function(function, [expression(depth: depth)])
    }
  }

  private mutating func constant(depth: Int) -> PredicateConstant {
    switch pick(depth > 0 ? 9 : 8) {
    case 0: return .null
    case 1: return .integer(Int64(truncatingIfNeeded: random.next()) >> pick(60))
    case 2:
      return .double(
        [0, -0.1, 1e300, Double.leastNonzeroMagnitude, .nan, .infinity, Double(pick(1000)) / 7][pick(7)])
    case 3, 4: return .string(["", "x", "a\"b\\c\n\t\u{1}", "%@ %K", "é🏳️‍🌈", "'"][pick(6)])
    case 5: return .date(Date(timeIntervalSinceReferenceDate: Double(pick(1_000_000)) / 3))
    case 6: return .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(pick(256)))))
    case 7:
      return pick(2) == 0
        ? .data(Data((0..<pick(9)).map { UInt8($0) })) : .url(URL(string: "https://a.b/c?d=e")!)
    default: return .list((0..<pick(4)).map { _ in constant(depth: depth - 1) })
    }
  }
}
