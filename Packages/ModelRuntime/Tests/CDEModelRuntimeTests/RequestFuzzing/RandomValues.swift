import Foundation

/// Values at the ends of what a store holds, and values that are easily confused with each other.
struct RandomValues {
  var random: SplitMix

  enum Kind: CaseIterable, Hashable {
    case small, integer, big, real, single, decimal, text, flag, date, uuid, url, data

    var isNumber: Bool {
      switch self {
      case .small, .integer, .big, .real, .single, .decimal, .flag: true
      default: false
      }
    }
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func pick<Values: Collection>(_ values: Values) -> Values.Element {
    values.randomElement(using: &random)!
  }

  static let texts = [
    "", " ", "a", "A", "b", "ab", "aB", "Ab", "abc", "a b", "é", "e\u{301}", "É", "ß", "SS", "ss", "ſ", "İ",
    "i", "ı", "I",
    "Å", "\u{212B}", "A\u{30A}", "ﬁ", "fi", "Σ", "σ", "ς", "й", "и\u{306}", "日本", "😀", "👨‍👩‍👧",
    "\u{1F1E9}\u{1F1EA}", "a*b",
    "a?b", "*", "?", "%", "_", "\\", "\\*", "'", "''", "\"", "a\nb", "\t", "0", "1", "-1", "1.5", "01", "1e3",
    "nan", "\u{7F}",
    "\u{80}", "\u{FFFD}", "\u{FFFF}", "\u{10FFFF}", "z", "zz", "Zürich", "zurich",
  ]
  // No negative zero, of which SQLite stores no sign.
  private static let reals: [Double] = [
    0, 1, -1, 0.1, 0.5, -0.5, 1.5, 2, 3, 1e15, -1e15, 9_007_199_254_740_992, 1e-300, 1e300,
    .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 9.223372036854775e18, -9.223372036854775808e18, 9.3e18,
    .pi,
  ]
  private static let bigs: [Int64] = [
    .min, .min + 1, -9_007_199_254_740_993, -2_147_483_649, -1, 0, 1, 2, 3, 2_147_483_648,
    9_007_199_254_740_992,
    9_007_199_254_740_993, .max - 1, .max,
  ]
  private static let decimals = [
    "0", "1", "-1", "0.1", "0.5", "1.5", "-0.5", "2", "3", "100", "0.30000000000000000000000000000000000001",
    "12345678901234567890", "0.00000000000000000001", "-99999999999999999999.5", "9007199254740993",
  ]
  static let dates: [TimeInterval] = [
    -63_114_076_800, -978_307_200, -1, -0.001, 0, 0.001, 0.5, 1, 2, 86_400, 8e8, 8e8 + 0.0001, 64_092_211_200,
  ]

  mutating func value(_ kind: Kind) -> Any {
    switch kind {
    case .small: NSNumber(value: pick([Int16.min, -1, 0, 1, 2, 3, Int16.max]))
    case .integer: NSNumber(value: pick([Int32.min, -1, 0, 1, 2, 3, Int32.max]))
    case .big: NSNumber(value: pick(Self.bigs))
    case .real: NSNumber(value: pick(Self.reals))
    case .single:
      NSNumber(value: pick([Float(0), 1, -1, 0.1, 0.5, 1.5, 2, 16_777_216, .greatestFiniteMagnitude]))
    case .decimal: Decimal(string: pick(Self.decimals), locale: nil)! as NSDecimalNumber
    case .text: pick(Self.texts)
    case .flag: NSNumber(value: chance(50))
    case .date: Date(timeIntervalSinceReferenceDate: pick(Self.dates))
    case .uuid:
      UUID(uuid: (UInt8.random(in: 0...2, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    case .url: URL(string: "https://\(pick(["a", "A", "b"])).example/\(pick(["", "x", "%20"]))")!
    case .data: Data((0..<pick([0, 1, 2, 40])).map { _ in UInt8.random(in: 0...1, using: &random) })
    }
  }

  /// A number that a double or an integer holds.
  mutating func binaryNumber() -> Any { value(pick([.small, .integer, .big, .real, .single, .flag])) }

  /// A number of another kind that may be equal to one of `kind`.
  mutating func number() -> Any {
    value(pick([.small, .integer, .big, .real, .single, .decimal, .flag]))
  }
}
