public import Foundation

/// A typed value of an attribute, which is read without a cast. Default values have this form in a
/// ``FrozenModel``.
@_spi(CDE) public enum AttributeConstant: Sendable {
  /// No value.
  case null
  /// Integers of all three widths.
  case integer(Int64)
  case boolean(Bool)
  case double(Double)
  case float(Float)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  /// The value of a transformable, composite or undefined attribute, as in the model.
  case object(Opaque)

  /// A value of any class, shared by all readers.
  public struct Opaque: @unchecked Sendable {
    // Guard of @unchecked Sendable: belongs to an immutable model. Readers may pass it on, and it is never
    // changed.

    /// The value itself, neither nil nor an optional. It must not be changed: other threads may read it.
    public let value: Any
  }

  /// Whether the constant is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The value in the form of key-value coding: numbers as `NSNumber`, decimals as `NSDecimalNumber`, the
  /// rest as Swift values.
  public var keyedValue: Any? {
    switch self {
    case .null: nil
    case .integer(let value): NSNumber(value: value)
    case .boolean(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .float(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .object(let value): value.value
    }
  }

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
    case .booleanAttributeType: ExactNumber.boolean(value).map { .boolean($0) }
    case .doubleAttributeType: ExactNumber.double(value).map { .double($0) }
    case .floatAttributeType: ExactNumber.float(value).map { .float($0) }
    case .decimalAttributeType: ExactNumber.decimal(value).map { .decimal($0) }
    case .stringAttributeType: (value as? String).map(AttributeConstant.string)
    case .dateAttributeType:
      (value as? Date).flatMap { $0.timeIntervalSinceReferenceDate.isNaN ? nil : .date($0) }
    case .binaryDataAttributeType: (value as? Data).map(AttributeConstant.data)
    case .UUIDAttributeType: (value as? UUID).map(AttributeConstant.uuid)
    case .URIAttributeType: (value as? URL).map(AttributeConstant.url)
    case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType,
      .objectIDAttributeType:
      .object(Opaque(value: value))
    }
  }

  private static func readInteger(_ value: Any, in range: ClosedRange<Int64>) -> AttributeConstant? {
    ExactNumber.integer(value).flatMap { range.contains($0) ? .integer($0) : nil }
  }
}
