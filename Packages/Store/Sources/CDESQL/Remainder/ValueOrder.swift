import CDEStore
import Foundation

/// How values compare, as on SQLite: numbers by size, texts and bytes byte by byte.
enum ValueOrder {
  /// Below zero, zero or above zero; nil if one value is nil or the values can't be compared.
  static func compare(_ left: StoreValue, _ right: StoreValue) -> Int? {
    switch (left, right) {
    case (.null, _), (_, .null): return nil
    case (.text(let left), .text(let right)): return order(left.utf8, right.utf8)
    case (.blob(let left), .blob(let right)): return order(left, right)
    default: break
    }
    if let left = left.integer, let right = right.integer { return left < right ? -1 : left > right ? 1 : 0 }
    if let left = left.integer, case .real(let right) = right { return order(left, right) }
    if case .real(let left) = left, let right = right.integer { return order(right, left).map { -$0 } }
    guard let left = left.number, let right = right.number else { return nil }
    return left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
  }

  /// Nil equals nil and nothing else.
  static func equal(_ left: StoreValue, _ right: StoreValue) -> Bool {
    if left == .null || right == .null { return left == right }
    return compare(left, right) == 0
  }

  /// The place in a sorted result, in which nil comes first.
  static func order(_ left: StoreValue, _ right: StoreValue, _ options: StoreFilter.TextOptions) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.text(let left), .text(let right)) where options.contains(.localizedStandard):
      left.localizedStandardCompare(right).rawValue
    case (.text(let left), .text(let right)) where options.contains(.localized):
      left.localizedCompare(right).rawValue
    default: compare(left, right) ?? 0
    }
  }

  static func folded(_ value: StoreValue, _ options: StoreFilter.TextOptions) -> StoreValue {
    guard !options.isEmpty, case .text(let text) = value else { return value }
    return .text(TextFolding.folded(text, options))
  }

  /// Whether a text contains another one, byte by byte.
  static func contains(_ text: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.utf8), Array(part.utf8))
    guard let first = part.first else { return true }
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) where text[start] == first {
      if text[start..<(start + part.count)].elementsEqual(part) { return true }
    }
    return false
  }

  /// A whole number and one with a floating point, without rounding; nil for what is no number.
  private static func order(_ whole: Int64, _ real: Double) -> Int? {
    if real.isNaN { return nil }
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let truncated = Int64(real.rounded(.towardZero))
    if whole != truncated { return whole < truncated ? -1 : 1 }
    let fraction = real - real.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }

  private static func order(
    _ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>
  ) -> Int {
    if left.elementsEqual(right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}

extension StoreValue {
  /// The whole number; nil for other values.
  var integer: Int64? {
    switch self {
    case .integer(let value), .reference(_, let value): value
    default: nil
    }
  }

  /// The number, also of a text of digits, as which a fraction is compared with a decimal.
  var number: Double? {
    switch self {
    case .integer(let value), .reference(_, let value): Double(value)
    case .real(let value): value
    case .text(let digits): Double(digits)
    case .null, .blob: nil
    }
  }
}
