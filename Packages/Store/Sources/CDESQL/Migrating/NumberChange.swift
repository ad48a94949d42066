public import CDEStore

/// A change of an attribute from one type of numbers to another.
@_spi(CDE) public struct NumberChange: Hashable, Sendable {
  /// The type before.
  public let old: StoreAttributeType
  /// The type afterwards.
  public let new: StoreAttributeType

  /// Makes a change.
  ///
  /// - Returns: nil if one of the types has no numbers, or both are the same.
  public init?(from old: StoreAttributeType, to new: StoreAttributeType) {
    guard Self.isNumber(old), Self.isNumber(new), old != new else { return nil }
    self.old = old
    self.new = new
  }

  /// Decimals beyond have no place in Foundation's type, whatever their digits are.
  public static let greatestDecimal = 1e127
  /// Foundation's decimals have no digits so far behind the point.
  public static let leastDecimal = 1e-110

  /// Whether a decimal has a place for a number of 15 digits, whatever they are.
  public static func isDecimal(_ number: Double) -> Bool {
    number == 0 || (abs(number) >= leastDecimal && abs(number) < greatestDecimal)
  }

  /// Whether the new type lacks a place for some value of the old one.
  public var mayNotFit: Bool {
    switch (old, new) {
    case (.boolean, _): false
    case (_, .boolean): true
    case (_, .integer16), (_, .integer32), (_, .integer64):
      !isInteger(old) || bits(new) < bits(old)
    // A decimal may be NaN, which other columns do not hold. Other reals may be too great for a decimal.
    default: !isInteger(old) && (old != .float || new != .double)
    }
  }

  /// Whether the new type has only a neighbour of some value of the old one.
  public var mayRound: Bool {
    switch (old, new) {
    case (.boolean, _), (_, .boolean), (.integer16, _), (.float, .double): false
    case (.integer32, _): new == .float
    case (.integer64, _): new == .float || new == .double
    default: true
    }
  }

  /// Whether columns that hold any number hold the new value, once the value is known to have a place.
  public var keepsCell: Bool {
    switch new {
    case .float: !mayRound
    case .decimal, .integer16, .integer32, .integer64: isInteger(old) || old == .boolean
    default: true
    }
  }

  /// The whole numbers that the new type has; nil for other types.
  public var integers: ClosedRange<Int64>? {
    switch new {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: Int64.min...Int64.max
    default: nil
    }
  }

  private func isInteger(_ type: StoreAttributeType) -> Bool { bits(type) > 0 }

  private func bits(_ type: StoreAttributeType) -> Int {
    switch type {
    case .integer16: 16
    case .integer32: 32
    case .integer64: 64
    default: 0
    }
  }

  private static func isNumber(_ type: StoreAttributeType) -> Bool {
    [.boolean, .integer16, .integer32, .integer64, .float, .double, .decimal].contains(type)
  }
}
