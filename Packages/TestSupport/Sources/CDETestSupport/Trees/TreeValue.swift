@_spi(CDE) public import CDEPredicates
@_spi(CDE) internal import CDEStore
public import Foundation

/// A property's value in an ``ObjectTree``.
///
/// What an attribute takes is decided by its type: a date may be written as a date, as an ISO 8601 text or as
/// seconds since 2001; data as Base 64; identifiers, URLs and decimals as text.
public nonisolated enum TreeValue: Sendable, Hashable {
  /// Nil, a number, a text, a date or another single value; a text is the name of an object where a relationship stands.
  case constant(PredicateConstant)
  /// A related object, or the fields of a composite value.
  case object(ObjectTree)
  /// The objects of a to-many relationship, or an array within a transformable value.
  case list([TreeValue])
}

nonisolated extension TreeValue {
  /// Nil.
  public static let null = TreeValue.constant(.null)
  /// True or false.
  public static func bool(_ value: Bool) -> TreeValue { .constant(.bool(value)) }
  /// A whole number.
  public static func integer(_ value: Int64) -> TreeValue { .constant(.integer(value)) }
  /// A number with a floating point.
  public static func real(_ value: Double) -> TreeValue { .constant(.double(value)) }
  /// A decimal number.
  public static func decimal(_ value: Decimal) -> TreeValue { .constant(.decimal(value)) }
  /// A text; the name of an object where a relationship stands.
  public static func text(_ value: String) -> TreeValue { .constant(.string(value)) }
  /// A date.
  public static func date(_ value: Date) -> TreeValue { .constant(.date(value)) }
  /// Bytes.
  public static func data(_ value: Data) -> TreeValue { .constant(.data(value)) }
  /// A UUID.
  public static func uuid(_ value: UUID) -> TreeValue { .constant(.uuid(value)) }
  /// A URL.
  public static func url(_ value: URL) -> TreeValue { .constant(.url(value)) }
}

extension TreeValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(arrayLiteral elements: TreeValue...) { self = .list(elements) }
  public init(dictionaryLiteral elements: (String, TreeValue)...) {
    self = .object(ObjectTree(nil, nil, Dictionary(elements) { _, last in last }))
  }
}

extension TreeValue: CustomStringConvertible {
  /// The value as differences of stores show it: exact, but data by length and checksum.
  public var description: String {
    switch self {
    case .constant(.null): "nil"
    case .constant(.string(let value)): "\"\(value)\""
    case .constant(.date(let value)): TreeDate.text(value)
    case .constant(.data(let value)): "\(value.count) bytes \(Self.checksum(value))"
    case .constant(.url(let value)): value.absoluteString
    case .constant(let value): value.scalar.map { "\($0)" } ?? "\(value)"
    case .object(let value): "\(value)"
    case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    }
  }

  private static func checksum(_ data: Data) -> String {
    SHA256.hash(data).prefix(4).map { byte in
      let hex = String(byte, radix: 16)
      return hex.count == 1 ? "0" + hex : hex
    }.joined()
  }

  /// Properties and their values, by name.
  static func list(_ values: [String: TreeValue]) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

/// Dates as ISO 8601 writes them where that is exact, and as seconds since 2001 where it is not.
enum TreeDate {
  private static let whole = Date.ISO8601FormatStyle()
  private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  static func text(_ date: Date) -> String {
    exactText(date) ?? "\(date.timeIntervalSinceReferenceDate) s since 2001"
  }

  /// Nil where the text would stand for another instant.
  static func exactText(_ date: Date) -> String? {
    // The calendar's arithmetic is for years that people write.
    guard abs(date.timeIntervalSinceReferenceDate) < 2e11 else { return nil }
    for style in [whole, fractional] {
      let text = style.format(date)
      if parse(text) == date { return text }
    }
    return nil
  }

  static func parse(_ text: String) -> Date? {
    (try? whole.parse(text)) ?? (try? fractional.parse(text))
  }
}

/// A type whose values stand in object trees as they are.
public nonisolated protocol TreeValueConvertible {
  /// The value as it stands in a tree.
  var treeValue: TreeValue { get }
}

extension TreeValue: TreeValueConvertible { public var treeValue: TreeValue { self } }
extension Bool: TreeValueConvertible { public var treeValue: TreeValue { .bool(self) } }
extension Int: TreeValueConvertible { public var treeValue: TreeValue { .integer(Int64(self)) } }
extension Int16: TreeValueConvertible { public var treeValue: TreeValue { .integer(Int64(self)) } }
extension Int32: TreeValueConvertible { public var treeValue: TreeValue { .integer(Int64(self)) } }
extension Int64: TreeValueConvertible { public var treeValue: TreeValue { .integer(self) } }
extension Double: TreeValueConvertible { public var treeValue: TreeValue { .real(self) } }
extension Float: TreeValueConvertible { public var treeValue: TreeValue { .real(Double(self)) } }
extension Decimal: TreeValueConvertible { public var treeValue: TreeValue { .decimal(self) } }
extension String: TreeValueConvertible { public var treeValue: TreeValue { .text(self) } }
extension Date: TreeValueConvertible { public var treeValue: TreeValue { .date(self) } }
extension Data: TreeValueConvertible { public var treeValue: TreeValue { .data(self) } }
extension UUID: TreeValueConvertible { public var treeValue: TreeValue { .uuid(self) } }
extension URL: TreeValueConvertible { public var treeValue: TreeValue { .url(self) } }
extension Optional: TreeValueConvertible where Wrapped: TreeValueConvertible {
  /// The wrapped value, or null.
  public var treeValue: TreeValue { self?.treeValue ?? .null }
}
