public import Foundation

/// A type whose values are compared with attributes. Two types are comparable if their ``FilterKind`` is the same.
///
/// A program's own type that represents a stored number or text may conform. A raw-representable type needs
/// no conformance, because its raw value is compared.
public protocol CDFilterValue {
  /// One of ``CDFilterKind``'s types.
  associatedtype FilterKind
}

/// The kinds of values that filters compare. Only values of one kind can be equal or ordered.
public enum CDFilterKind {
  /// Integers and floating-point numbers of all sizes, decimals and `NSNumber`.
  public enum Number {}
  /// Truth values: `Bool`.
  public enum Flag {}
  /// Text: `String`, `Substring`, `Character` and `NSString`.
  public enum Text {}
  /// Points in time: `Date` and `NSDate`.
  public enum Moment {}
  /// Bytes: `Data` and `NSData`.
  public enum Bytes {}
  /// UUIDs: `UUID` and `NSUUID`.
  public enum Identifier {}
  /// URLs: `URL` and `NSURL`.
  public enum Address {}
}

extension Optional: CDFilterValue where Wrapped: CDFilterValue {
  /// The kind of the wrapped type. An optional property is compared like one that is not optional.
  public typealias FilterKind = Wrapped.FilterKind
}

extension Int: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Int8: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Int16: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Int32: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Int64: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension UInt: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension UInt8: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension UInt16: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension UInt32: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension UInt64: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Double: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Float: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension CGFloat: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension Decimal: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }
extension NSNumber: CDFilterValue { public typealias FilterKind = CDFilterKind.Number }

extension Bool: CDFilterValue { public typealias FilterKind = CDFilterKind.Flag }

extension String: CDFilterValue { public typealias FilterKind = CDFilterKind.Text }
extension Substring: CDFilterValue { public typealias FilterKind = CDFilterKind.Text }
extension Character: CDFilterValue { public typealias FilterKind = CDFilterKind.Text }
extension NSString: CDFilterValue { public typealias FilterKind = CDFilterKind.Text }

extension Date: CDFilterValue { public typealias FilterKind = CDFilterKind.Moment }
extension NSDate: CDFilterValue { public typealias FilterKind = CDFilterKind.Moment }

extension Data: CDFilterValue { public typealias FilterKind = CDFilterKind.Bytes }
extension NSData: CDFilterValue { public typealias FilterKind = CDFilterKind.Bytes }

extension UUID: CDFilterValue { public typealias FilterKind = CDFilterKind.Identifier }
extension NSUUID: CDFilterValue { public typealias FilterKind = CDFilterKind.Identifier }

extension URL: CDFilterValue { public typealias FilterKind = CDFilterKind.Address }
extension NSURL: CDFilterValue { public typealias FilterKind = CDFilterKind.Address }
