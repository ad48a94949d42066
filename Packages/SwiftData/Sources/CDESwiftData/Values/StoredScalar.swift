internal import CDEStore
internal import Foundation

/// A type whose values fill one column as they are.
protocol StoredScalar: Codable {
  /// The type of the column.
  static var kind: StoreAttributeType { get }
  /// Any value, for finding out what an initialiser does with one.
  static var sample: Self { get }
  /// The value in the form of key-value coding.
  var stored: Any { get }
  /// The value from the form of key-value coding; nil if that is of another type.
  init?(stored: Any)
}

extension Bool: StoredScalar {
  static var kind: StoreAttributeType { .boolean }
  static var sample: Bool { false }
  var stored: Any { NSNumber(value: self) }
  init?(stored: Any) {
    guard let number = stored as? NSNumber else { return nil }
    self = number.boolValue
  }
}

protocol StoredInteger: StoredScalar, FixedWidthInteger {}

extension StoredInteger {
  // The kind is the smallest column for all values. There is no column for 64 bits without a sign: Core Data's integers have a
  // sign, so the largest values keep their bits and read as they were written.
  static var kind: StoreAttributeType {
    let bits = isSigned ? bitWidth : bitWidth + 1
    return bits <= 16 ? .integer16 : bits <= 32 ? .integer32 : .integer64
  }
  static var sample: Self { 0 }
  var stored: Any { NSNumber(value: Int64(truncatingIfNeeded: self)) }
  init?(stored: Any) {
    guard let number = stored as? NSNumber else { return nil }
    let value = number.int64Value
    if Self.bitWidth == 64 {
      self.init(truncatingIfNeeded: value)
    } else {
      self.init(exactly: value)
    }
  }
}

extension Int: StoredInteger {}
extension Int8: StoredInteger {}
extension Int16: StoredInteger {}
extension Int32: StoredInteger {}
extension Int64: StoredInteger {}
extension UInt: StoredInteger {}
extension UInt8: StoredInteger {}
extension UInt16: StoredInteger {}
extension UInt32: StoredInteger {}
extension UInt64: StoredInteger {}

extension Double: StoredScalar {
  static var kind: StoreAttributeType { .double }
  static var sample: Double { 0 }
  var stored: Any { NSNumber(value: self) }
  init?(stored: Any) {
    guard let number = stored as? NSNumber else { return nil }
    self = number.doubleValue
  }
}

extension Float: StoredScalar {
  static var kind: StoreAttributeType { .float }
  static var sample: Float { 0 }
  var stored: Any { NSNumber(value: self) }
  init?(stored: Any) {
    guard let number = stored as? NSNumber else { return nil }
    self = number.floatValue
  }
}

extension CGFloat: StoredScalar {
  static var kind: StoreAttributeType { .double }
  static var sample: CGFloat { 0 }
  var stored: Any { NSNumber(value: Double(self)) }
  init?(stored: Any) {
    guard let number = stored as? NSNumber else { return nil }
    self = CGFloat(number.doubleValue)
  }
}

extension Decimal: StoredScalar {
  static var kind: StoreAttributeType { .decimal }
  static var sample: Decimal { 0 }
  var stored: Any { NSDecimalNumber(decimal: self) }
  init?(stored: Any) {
    if let decimal = stored as? Decimal {
      self = decimal
    } else if let number = stored as? NSNumber {
      self = number.decimalValue
    } else {
      return nil
    }
  }
}

extension String: StoredScalar {
  static var kind: StoreAttributeType { .string }
  static var sample: String { "" }
  var stored: Any { self }
  init?(stored: Any) {
    guard let text = stored as? String else { return nil }
    self = text
  }
}

extension Date: StoredScalar {
  static var kind: StoreAttributeType { .date }
  static var sample: Date { Date(timeIntervalSinceReferenceDate: 0) }
  var stored: Any { self }
  init?(stored: Any) {
    guard let date = stored as? Date else { return nil }
    self = date
  }
}

extension Data: StoredScalar {
  static var kind: StoreAttributeType { .binary }
  static var sample: Data { Data() }
  var stored: Any { self }
  init?(stored: Any) {
    guard let data = stored as? Data else { return nil }
    self = data
  }
}

extension UUID: StoredScalar {
  static var kind: StoreAttributeType { .uuid }
  static var sample: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
  var stored: Any { self }
  init?(stored: Any) {
    guard let uuid = stored as? UUID else { return nil }
    self = uuid
  }
}

extension URL: StoredScalar {
  static var kind: StoreAttributeType { .uri }
  static var sample: URL { URL(fileURLWithPath: "/") }
  var stored: Any { self }
  init?(stored: Any) {
    guard let url = stored as? URL else { return nil }
    self = url
  }
}

/// The scalars that most structs have, without asking for conformances.
enum CommonScalar {
  /// The value of a stored one; nil if the type is another, or the stored value is of another.
  static func read<T>(_ stored: Any, as type: T.Type) -> T? {
    if type == String.self || type == Date.self || type == UUID.self || type == Data.self || type == URL.self
    {
      return stored as? T
    }
    func number<Value>(_ value: (NSNumber) -> Value) -> T? {
      // The caller has compared the two types.
      (stored as? NSNumber).map { unsafeBitCast(value($0), to: type) }
    }
    if type == Int.self { return number(\.intValue) }
    if type == Double.self { return number(\.doubleValue) }
    if type == Bool.self { return number(\.boolValue) }
    return nil
  }
}

extension StoreAttributeType {
  private static var scalars: [any StoredScalar.Type] {
    [
      Bool.self, Int16.self, Int32.self, Int64.self, Double.self, Float.self, Decimal.self, String.self,
      Date.self, Data.self, UUID.self, URL.self,
    ]
  }

  private var scalar: (any StoredScalar.Type)? { Self.scalars.first { $0.kind == self } }

  /// Whether a column of the type holds one value as it is.
  var isScalar: Bool { scalar != nil }

  /// Any value of a column of one value, in the form of key-value coding.
  var sample: Any? { scalar?.sample.stored }

  /// The optional of the type that key-value coding has for a column of one value.
  var optionalType: any Any.Type {
    func optional<Scalar: StoredScalar>(_ type: Scalar.Type) -> any Any.Type { Scalar?.self }
    return scalar.map { optional($0) } ?? Any?.self
  }
}
