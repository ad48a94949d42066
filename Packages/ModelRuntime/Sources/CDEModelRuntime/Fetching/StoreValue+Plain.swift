@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension StoreValue {
  /// The value in the form of key-value coding: a number as an `NSNumber`, a missing or invalid value as nil.
  func plain(as type: StoreAttributeType) -> Any? {
    switch type {
    case .integer16, .integer32, .integer64: whole.map { NSNumber(value: $0) }
    case .boolean: number.map { NSNumber(value: $0 != 0) }
    case .double: number.map { NSNumber(value: $0) }
    case .float: number.map { NSNumber(value: Float($0)) }
    case .decimal: decimal.map { NSDecimalNumber(decimal: $0) }
    case .date: number.map { Date(timeIntervalSinceReferenceDate: $0) }
    case .string: text
    case .uri: text.flatMap { URL(string: $0) }
    case .uuid: uuid
    case .binary, .transformable, .undefined, .objectID, .composite:
      if case .blob(let data) = self { data } else { nil }
    }
  }

  private var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .text(let digits): Double(digits)
    case .null, .blob, .reference: nil
    }
  }

  /// The whole part; nil for none.
  private var whole: Int64? {
    if case .integer(let value) = self { return value }
    return number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
  }

  /// Whether this is a number for which an integer of 64 bits has no place.
  var exceedsIntegers: Bool { whole == nil && number.map { !$0.isNaN } ?? false }

  /// A stored fraction has 15 digits that are exact. Objects read a decimal with as many.
  private var decimal: Decimal? {
    switch self {
    case .integer(let value): Decimal(value)
    case .real(let value): Decimal(string: String(format: "%.15g", value))
    case .text(let digits): digits.lowercased() == "nan" ? .nan : Decimal(string: digits)
    case .null, .blob, .reference: nil
    }
  }

  private var text: String? {
    switch self {
    case .text(let value): value
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .null, .blob, .reference: nil
    }
  }

  private var uuid: UUID? {
    switch self {
    case .blob(let data) where data.count == 16:
      data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    case .text(let text): UUID(uuidString: text)
    default: nil
    }
  }
}
