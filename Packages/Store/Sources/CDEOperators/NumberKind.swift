public import Foundation

/// What a number of Foundation's was made of.
@_spi(CDE) public enum NumberKind: Sendable {
  case boolean
  /// A whole number of 64 bits with a sign.
  case signed
  /// A whole number that may need 64 bits without a sign.
  case unsigned
  case floating
  case decimal

  /// The kind of a number.
  public init(_ number: NSNumber) {
    if number is NSDecimalNumber {
      self = .decimal
      return
    }
    switch UInt8(bitPattern: number.objCType.pointee) {
    // NSNumber stores a Bool as a char ("c", or "B") and widens an Int8, so a char is always a Bool.
    case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .boolean
    case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .floating
    case UInt8(ascii: "Q"): self = .unsigned
    default: self = .signed
    }
  }
}
