@_spi(CDE) public import CDEPredicates
internal import Foundation

/// A typed value of an attribute, which is read without a cast. Default values have this form in a
/// ``FrozenModel``. Floats are doubles. An object is the value of a transformable, composite or undefined attribute, as in the model.
@_spi(CDE) public typealias AttributeConstant = ConstantValue<AttributeObject>

/// A value of any class, shared by all readers.
@_spi(CDE) public struct AttributeObject: @unchecked Sendable {
  // Guard of @unchecked Sendable: belongs to an immutable model. Readers may pass it on, and it is never
  // changed.

  /// The value itself, neither nil nor an optional. It must not be changed: other threads may read it.
  public let value: Any
}

@_spi(CDE) extension ConstantValue where Object == AttributeObject {
  /// Reads `value` as a value of `type`.
  ///
  /// Accepts the Swift type, Foundation's class for it and, for numbers, any number that the type can
  /// represent exactly.
  /// - Returns: `nil` when the value does not fit the type.
  public init?(_ value: Any?, as type: NSAttributeType) {
    guard let value = value.flatMap(Self.flattened) else {
      self = .null
      return
    }
    guard let constant = Self.typed(value, as: type) else { return nil }
    self = constant
  }

  /// Removes the optionals that wrap a value inside an `Any`.
  private static func flattened(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value is NSNull ? nil : value }
    return mirror.children.first.flatMap { flattened($0.value) }
  }

  private static func typed(_ value: Any, as type: NSAttributeType) -> AttributeConstant? {
    switch type {
    case .integer16AttributeType: readInteger(value, in: Int64(Int16.min)...Int64(Int16.max))
    case .integer32AttributeType: readInteger(value, in: Int64(Int32.min)...Int64(Int32.max))
    case .integer64AttributeType: readInteger(value, in: Int64.min...Int64.max)
    case .booleanAttributeType: ExactNumber.boolean(value).map { .bool($0) }
    case .doubleAttributeType: ExactNumber.double(value).map { .double($0) }
    case .floatAttributeType: ExactNumber.float(value).map { .double(Double($0)) }
    case .decimalAttributeType: ExactNumber.decimal(value).map { .decimal($0) }
    case .stringAttributeType: (value as? String).map(AttributeConstant.string)
    case .dateAttributeType:
      (value as? Date).flatMap { $0.timeIntervalSinceReferenceDate.isNaN ? nil : .date($0) }
    case .binaryDataAttributeType: (value as? Data).map(AttributeConstant.data)
    case .UUIDAttributeType: (value as? UUID).map(AttributeConstant.uuid)
    case .URIAttributeType: (value as? URL).map(AttributeConstant.url)
    case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType,
      .objectIDAttributeType:
      .object(AttributeObject(value: value))
    }
  }

  private static func readInteger(_ value: Any, in range: ClosedRange<Int64>) -> AttributeConstant? {
    ExactNumber.integer(value).flatMap { range.contains($0) ? .integer($0) : nil }
  }
}
