internal import Foundation

/// A decimal in a keyed archive, with the keys of `NSDecimalNumber`.
///
/// On Linux, `NSKeyedArchiver` overflows the stack at an `NSDecimalNumber`, and `NSKeyedUnarchiver` reads each
/// as zero.
final class ArchivedDecimal: NSObject, NSSecureCoding, ConstantRepresenting {
  static var supportsSecureCoding: Bool { true }

  let value: Decimal

  var constant: PredicateConstant { .decimal(value) }

  init(_ value: Decimal) { self.value = value }

  // The mantissa is of eight 16-bit digits, the lowest first.
  private static let digits = 8

  init?(coder: NSCoder) {
    let length = Int(coder.decodeInt32(forKey: "NS.length"))
    let exponent = Int(coder.decodeInt32(forKey: "NS.exponent"))
    let isNegative = coder.decodeBool(forKey: "NS.negative")
    guard (0...Self.digits).contains(length), (-128...127).contains(exponent) else { return nil }
    if length == 0, isNegative {
      value = .nan
      return
    }
    let bytes = coder.withDecodedUnsafeBufferPointer(forKey: "NS.mantissa") { $0.map(Array.init) }
    guard let bytes, bytes.count >= 2 * length else { return nil }
    // The byte order of the machine that wrote: 2 is big-endian.
    let isBig = coder.decodeInt32(forKey: "NS.mantissa.bo") == 2
    var mantissa = Decimal(0)
    for index in (0..<length).reversed() {
      let (low, high) =
        isBig ? (bytes[2 * index + 1], bytes[2 * index]) : (bytes[2 * index], bytes[2 * index + 1])
      mantissa = mantissa * 65_536 + Decimal(Int(high) << 8 | Int(low))
    }
    value = Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: mantissa)
  }

  func encode(with coder: NSCoder) {
    var bytes: [UInt8] = []
    var rest = value.isNaN ? 0 : value.significand.magnitude
    while rest > 0 {
      var (quotient, whole) = (rest / 65_536, Decimal())
      NSDecimalRound(&whole, &quotient, 0, .down)
      let digit = UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: rest - whole * 65_536).intValue)
      bytes += [UInt8(digit & 255), UInt8(digit >> 8)]
      rest = whole
    }
    coder.encode(Int32(bytes.count / 2), forKey: "NS.length")
    coder.encode(Int32(value.isNaN ? 0 : value.exponent), forKey: "NS.exponent")
    coder.encode(value.isNaN || value.isSignMinus, forKey: "NS.negative")
    coder.encode(true, forKey: "NS.compact")
    coder.encode(Int32(1), forKey: "NS.mantissa.bo")
    bytes += Array(repeating: 0, count: 2 * Self.digits - bytes.count)
    bytes.withUnsafeBufferPointer {
      coder.encodeBytes($0.baseAddress, length: $0.count, forKey: "NS.mantissa")
    }
  }
}
