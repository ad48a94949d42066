import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Values of every kind through every setter: what is read back is what was set, or the save refuses it by name.
@Suite("Mutated values")
struct MutatedValueTests {
  /// 100,000 is the long run.
  private static let count =
    ProcessInfo.processInfo.environment["CDE_MUTATED_VALUES"].flatMap(Int.init) ?? 500
  private static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 1

  private var random = SplitMix(state: Self.seed)
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    stack = try Stack(model: try ValueModel.make())
    context = stack.context()
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements.randomElement(using: &random)!
  }

  private mutating func integer() -> Int64 {
    let edges: [Int64] = [
      0, 1, -1, 127, 128, 255, 32_767, 32_768, -32_768, -32_769, 2_147_483_647, 2_147_483_648, .max, .min,
    ]
    return Bool.random(using: &random)
      ? pick(edges) : Int64(truncatingIfNeeded: random.next()) >> Int.random(in: 0..<63, using: &random)
  }

  private mutating func double() -> Double {
    let edges = [0, -0.0, 0.1, 1.5, .nan, .infinity, -.infinity, 1e300, .leastNonzeroMagnitude, 9.3e18, 1e15]
    return Bool.random(using: &random) ? pick(edges) : Double(bitPattern: random.next())
  }

  private mutating func decimal() -> Decimal {
    let edges: [Decimal] = [
      .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0, Decimal(string: "-1.5")!,
    ]
    if Bool.random(using: &random) { return pick(edges) }
    // As many digits as a column keeps.
    let digits = Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &random)
    return Decimal(
      sign: .plus, exponent: Int.random(in: -128...100, using: &random), significand: Decimal(digits))
  }

  private mutating func text() -> String {
    let parts = ["", "a", "é", "e\u{301}", "\0", "💥", "'", "$null", String(repeating: "x", count: 300)]
    return (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(parts) }.joined()
  }

  private mutating func data() -> Data {
    Data((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  private mutating func number() -> Any {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: integer()
    case 1: double()
    case 2: decimal()
    case 3: UInt64(truncatingIfNeeded: integer())
    case 4: Float(double())
    default: NSDecimalNumber(decimal: decimal())
    }
  }

  private static let numbers = [
    "small", "smallOrNil", "medium", "large", "whole", "real", "realOrNil", "short", "price", "flag",
  ]

  /// A property and a value for it.
  private mutating func draw() -> (String, Any?) {
    if Int.random(in: 0..<12, using: &random) == 0 {
      return (pick(Self.numbers + ["text", "date", "place", "keywords", "picture"]), nil)
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return (pick(["text", "textOrNil", "status"]), text())
    case 1: return (pick(["date", "dateOrNil"]), Date(timeIntervalSinceReferenceDate: double()))
    case 2: return (pick(["data", "dataOrNil", "picture", "settings"]), data())
    case 3: return ("keywords", [text(), text()])
    case 4: return ("place", ["latitude": number(), "lng": double(), "name": text()])
    case 5: return ("uuid", UUID())
    default: return (pick(Self.numbers), number())
    }
  }

  @Test("What was set is read back after the save, exactly, or the save refuses it")
  mutating func setters() throws {
    let specimen = Specimen(context: context)
    ValueModel.fill(specimen, 1)
    try context.save()
    var refused = 0
    for round in 0..<Self.count {
      let (name, value) = draw()
      let shown = (value as? Date).map { "\($0.timeIntervalSinceReferenceDate) s" } ?? "\(value ?? "nil")"
      let place = "CDE_SEED=\(Self.seed), round \(round): \(name) = \(shown)"
      let before = specimen.value(forKey: name)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        specimen.willChangeValue(forKey: name)
        specimen.setPrimitiveValue(value, forKey: name)
        specimen.didChangeValue(forKey: name)
      case 1 where setTyped(specimen, name, value): break
      default: specimen.setValue(value, forKey: name)
      }
      _ = ValueModel.read(specimen)
      do {
        try context.save()
        context.refresh(specimen, mergeChanges: false)
        // Not within the expectation, which would describe the values: Foundation ends the process over some dates.
        let isSame = Self.equal(specimen.value(forKey: name), value, name)
        try #require(isSame, "\(place) reads as something else")
      } catch let error as ManagedObjectError {
        refused += 1
        try #require(
          [.invalidValue, .missingMandatoryProperty, .unreadValue].contains(error.code), "\(place): \(error)")
        try #require(error.property == name, "\(place): \(error)")
        context.rollback()
        let isKept = Self.equal(specimen.value(forKey: name), before, name)
        try #require(isKept, "\(place) was refused, and changed the value")
      }
      _ = ValueModel.read(specimen)
      if !specimen.hasChanges { context.refresh(specimen, mergeChanges: false) }
    }
    #expect(refused > Self.count / 20)
  }

  /// Sets by the property's own setter, where its type takes the value.
  private func setTyped(_ specimen: Specimen, _ name: String, _ value: Any?) -> Bool {
    switch (name, value) {
    case ("real", let value as Double): specimen.real = value
    case ("realOrNil", let value as Double?): specimen.realOrNil = value
    case ("short", let value as Float): specimen.short = value
    case ("large", let value as Int64): specimen.large = value
    case ("price", let value as Decimal): specimen.price = value
    case ("date", let value as Date): specimen.date = value
    case ("text", let value as String): specimen.text = value
    case ("data", let value as Data): specimen.data = value
    default: return false
    }
    return true
  }

  /// Whether a value read is the value set. A column keeps 32 bits of a float and 15 digits of a decimal number.
  private static func equal(_ read: Any?, _ set: Any?, _ name: String) -> Bool {
    switch (read, set) {
    case (nil, nil): return true
    case (let read as [String: Any], let set as [String: Any]):
      return set.allSatisfy { equal(read[$0.key], $0.value, $0.key) }
    case (let read as [String], let set as [String]):
      return read.elementsEqual(set) { $0.utf8.elementsEqual($1.utf8) }
    case (let read as String, let set as String): return read.utf8.elementsEqual(set.utf8)
    case (let read as NSDecimalNumber, let set?): return isClose(read.doubleValue, set)
    case (let read as NSNumber, let set?):
      if name == "short" {
        return (set as? NSNumber)?.floatValue == read.floatValue || isClose(read.doubleValue, set)
      }
      // Foundation's conversion of decimals to floating-point numbers is not the nearest one.
      if let set = set as? Decimal {
        let wanted = NSDecimalNumber(decimal: set).doubleValue
        return read.decimalValue == set || abs(read.doubleValue - wanted) <= abs(wanted) * 1e-14
      }
      return (set as? NSNumber).map { $0.doubleValue == read.doubleValue } ?? false
    case (let read as NSObject, let set as NSObject): return read == set
    case (let read as Date, let set as Date): return read == set
    case (let read as Data, let set as Data): return read == set
    case (let read as UUID, let set as UUID): return read == set
    default: return false
    }
  }

  private static func isClose(_ read: Double, _ set: Any) -> Bool {
    let wanted =
      (set as? Decimal).map { NSDecimalNumber(decimal: $0).doubleValue } ?? (set as? NSNumber)?.doubleValue
    guard let wanted else { return false }
    return read == wanted || abs(read - wanted) <= abs(wanted) * 1e-7
  }
}
