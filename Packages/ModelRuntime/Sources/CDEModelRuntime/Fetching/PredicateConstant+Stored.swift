internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension PredicateConstant {
  /// The constant in the form of rows. Nil, lists and objects give nil, because they are resolved elsewhere.
  var stored: StoreValue {
    switch self {
    case .null, .object, .list: .null
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .double(let value): .real(value)
    case .decimal(let value): Self.stored(value)
    case .string(let value): .text(value)
    case .date(let value): .real(value.timeIntervalSinceReferenceDate)
    case .data(let value): .blob(value)
    case .uuid(let value): .blob(withUnsafeBytes(of: value.uuid) { Data($0) })
    case .url(let value): .text(value.absoluteString)
    }
  }

  // Converts the digits, because NSDecimalNumber's own conversion does not always give the nearest double.
  private static func stored(_ decimal: Decimal) -> StoreValue {
    let text = decimal.description
    if let integer = Int64(text) { return .integer(integer) }
    return Double(text).map { .real($0) } ?? .real(.nan)
  }
}
