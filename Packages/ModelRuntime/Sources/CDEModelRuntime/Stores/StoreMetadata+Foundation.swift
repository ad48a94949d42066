@_spi(CDE) internal import CDEOperators
internal import CDEStore
internal import Foundation

// The metadata of a store as applications see it: values of a property list.

extension StoreMetadata {
  init(foundationValues: [String: Any]) {
    self.init(values: foundationValues.compactMapValues(Value.init(foundationValue:)))
  }
}

extension StoreMetadata.Value {
  /// The value in the form that a property list contains.
  var foundationValue: Any {
    switch self {
    case .string(let value): value
    case .integer(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .boolean(let value): NSNumber(value: value)
    case .date(let value): Date(timeIntervalSinceReferenceDate: value)
    case .data(let value): Data(value)
    case .array(let values): values.map(\.foundationValue)
    case .dictionary(let values): values.mapValues(\.foundationValue)
    }
  }

  /// The value of an application's metadata; nil for what a property list can't contain.
  init?(foundationValue: Any) {
    switch foundationValue {
    case let value as String: self = .string(value)
    case let value as Data: self = .data(Array(value))
    case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
    case let value as [Any]: self = .array(value.compactMap(Self.init(foundationValue:)))
    case let value as [String: Any]: self = .dictionary(value.compactMapValues(Self.init(foundationValue:)))
    case let value as Bool where type(of: foundationValue) == Bool.self: self = .boolean(value)
    case let value as NSNumber:
      switch NumberKind(value) {
      case .boolean: self = .boolean(value.boolValue)
      case .floating, .decimal: self = .real(value.doubleValue)
      case .signed, .unsigned: self = .integer(value.int64Value)
      }
    default: return nil
    }
  }
}
