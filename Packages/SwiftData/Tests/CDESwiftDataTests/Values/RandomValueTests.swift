@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@testable import CDESwiftData

/// A type of which random values can be drawn.
private protocol Drawable: Codable, Equatable {
  static func draw(_ random: inout SplitMix) -> Self
}

extension Bool: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Bool { random.next() & 1 == 0 }
}
extension Int: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Int {
    [Int.min, Int.max, 0, Int(truncatingIfNeeded: random.next())].randomElement(using: &random)!
  }
}
extension UInt64: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> UInt64 { random.next() }
}
extension Int8: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Int8 {
    Int8.random(in: .min ... .max, using: &random)
  }
}
extension Double: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Double {
    let drawn = Double(bitPattern: random.next())
    return drawn.isFinite ? drawn : 0.1
  }
}
extension Float: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Float {
    Float.random(in: -1e6...1e6, using: &random)
  }
}
extension String: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> String {
    let pool = ["", "a", "é", "\"", "\\", "/", "\n", "\u{0}", "😀", "{", "}", ":", "日", "e\u{0301}"]
    return (0..<Int.random(in: 0...6, using: &random)).map { _ in pool.randomElement(using: &random)! }
      .joined()
  }
}
extension Date: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Date {
    Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random))
  }
}
extension Data: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Data {
    Data((0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
  }
}
extension UUID: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> UUID {
    withUnsafeBytes(of: (random.next(), random.next())) { UUID(uuid: $0.load(as: uuid_t.self)) }
  }
}
extension URL: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> URL {
    URL(string: "https://example.org/\(random.next())?q=\(random.next())")!
  }
}
extension Decimal: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Decimal {
    Decimal(Int64(truncatingIfNeeded: random.next())) / 1000
  }
}
extension Optional: Drawable where Wrapped: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Wrapped? {
    Bool.draw(&random) ? nil : Wrapped.draw(&random)
  }
}
extension Array: Drawable where Element: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> [Element] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in Element.draw(&random) }
  }
}
extension Dictionary: Drawable where Key: Drawable, Value: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> [Key: Value] {
    Dictionary(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in (Key.draw(&random), Value.draw(&random)) }
    ) {
      first, _ in first
    }
  }
}
extension Set: Drawable where Element: Drawable {
  fileprivate static func draw(_ random: inout SplitMix) -> Set<Element> { Set([Element].draw(&random)) }
}

private enum Tone: String, Drawable, CaseIterable {
  case soft, loud
  static func draw(_ random: inout SplitMix) -> Tone { allCases.randomElement(using: &random)! }
}

private enum Side: Drawable, CaseIterable {
  case left, right, middle
  static func draw(_ random: inout SplitMix) -> Side { allCases.randomElement(using: &random)! }
}

private indirect enum Tree: Drawable {
  case leaf(Int)
  case branch(Tree, label: String?, Tree)
  case pair(left: Leaf, right: [Leaf])
  case none

  static func draw(_ random: inout SplitMix) -> Tree {
    switch random.next() % 5 {
    case 0: .branch(draw(&random), label: .draw(&random), draw(&random))
    case 1: .pair(left: .draw(&random), right: .draw(&random))
    case 2: .none
    default: .leaf(.draw(&random))
    }
  }
}

private struct Leaf: Drawable {
  var number: Int?
  var small: Int8
  var big: UInt64
  var real: Double
  var half: Float?
  var text: String
  var day: Date?
  var bytes: Data
  var key: UUID?
  var place: URL
  var price: Decimal
  var isOn: Bool?
  var tone: Tone
  var side: Side?

  static func draw(_ random: inout SplitMix) -> Leaf {
    Leaf(
      number: .draw(&random), small: .draw(&random), big: .draw(&random), real: .draw(&random),
      half: .draw(&random),
      text: .draw(&random), day: .draw(&random), bytes: .draw(&random), key: .draw(&random),
      place: .draw(&random),
      price: .draw(&random), isOn: .draw(&random), tone: .draw(&random), side: .draw(&random))
  }
}

private struct Whole: Drawable {
  var id: Int
  var leaf: Leaf
  var other: Leaf?
  var leaves: [Leaf]
  var names: [String: Int]
  var sides: Set<String>
  var tree: Tree
  var trees: [String: Tree]
  var maybe: [Int?]
  var tones: [Tone]?

  static func draw(_ random: inout SplitMix) -> Whole {
    Whole(
      id: .draw(&random), leaf: .draw(&random), other: .draw(&random), leaves: .draw(&random),
      names: .draw(&random),
      sides: .draw(&random), tree: .draw(&random), trees: .draw(&random), maybe: .draw(&random),
      tones: .draw(&random))
  }
}

@Suite("Random values")
struct RandomValueTests {
  private func check<T: Drawable>(_ type: T.Type, _ random: inout SplitMix, _ seed: UInt64) throws {
    let value = T.draw(&random)
    // The plain way of any `Codable` value, without shapes.
    let plain = try JSONDecoder().decode([T].self, from: JSONEncoder().encode([value]))[0]
    let shape = try #require(ValueShape.of(type))
    let stored = try ValueCoding.encode(value, shape, name: "value")
    let back = try ValueCoding.decode(stored, as: type, shape, name: "value")
    #expect(back == plain, "seed \(seed), \(type)")
    #expect(back == value, "seed \(seed), \(type)")
  }

  @Test("Values of every shape come back as from plain JSON")
  func againstJSON() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("RandomValueTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    for _ in 0..<300 {
      try check(Whole.self, &random, seed)
      try check(Leaf?.self, &random, seed)
      try check(Tree.self, &random, seed)
      try check(Tone?.self, &random, seed)
      try check(Side.self, &random, seed)
      try check([Leaf].self, &random, seed)
      try check([String].self, &random, seed)
      try check([[Double]].self, &random, seed)
      try check([String: [Int]].self, &random, seed)
      try check(Set<Int>.self, &random, seed)
      try check([Tree]?.self, &random, seed)
      try check([Int: Side].self, &random, seed)
    }
  }
}
