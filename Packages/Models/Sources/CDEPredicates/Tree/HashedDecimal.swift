public import Foundation

/// A decimal that can be a member of sets and a key of dictionaries. On Linux, the hash of an `NSDecimalNumber` overflows the stack.
///
/// Nothing else may be one. The compiler lays the methods of a subclass out in another order than Foundation has them: arithmetic with
/// a subclass as its receiver calls other methods and ends the process. Comparisons, conversions and its use as an argument work.
@_spi(CDE) public final class HashedDecimal: NSDecimalNumber, @unchecked Sendable {
  // Guard: immutable.

  /// Makes the object of a decimal.
  public override init(decimal: Decimal) { super.init(decimal: decimal) }

  /// Not called: archives have Foundation's class.
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// Makes the object of a literal.
  public required convenience init(floatLiteral value: Double) { self.init(decimal: Decimal(value)) }

  /// Makes the object of a literal: 1 or 0.
  public required convenience init(booleanLiteral value: Bool) { self.init(decimal: value ? 1 : 0) }

  /// Makes the object of a literal.
  public required convenience init(integerLiteral value: Int) { self.init(decimal: Decimal(value)) }

  /// Makes the object of a number in memory.
  public required convenience init(bytes: UnsafeRawPointer, objCType: UnsafePointer<Int8>) {
    self.init(decimal: NSNumber(bytes: bytes, objCType: objCType).decimalValue)
  }

  /// The same for equal numbers, of other classes too.
  public override var hash: Int { NSNumber(value: doubleValue).hash }

  /// The class that archives and messages name.
  public override var classForCoder: AnyClass { NSDecimalNumber.self }
}
