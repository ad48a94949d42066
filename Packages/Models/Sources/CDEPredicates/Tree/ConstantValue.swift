public import Foundation

/// A value of one of the kinds that attributes have, an object, or a list of these.
///
/// Equality is that of the kind and the value: `integer(1)` and `double(1)` are different, texts are equal if their bytes are, and NaN
/// equals itself. What an object is depends on the use: see ``PredicateConstant``.
public enum ConstantValue<Object: Sendable>: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case object(Object)
  case list([ConstantValue])
}

extension ConstantValue: Equatable where Object: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.decimal(let a), .decimal(let b)): a == b
    // String's own equality uses canonical equivalence. A store distinguishes the two forms.
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.date(let a), .date(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.url(let a), .url(let b)): a.absoluteString.utf8.elementsEqual(b.absoluteString.utf8)
    case (.object(let a), .object(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    default: false
    }
  }
}

extension ConstantValue: Hashable where Object: Hashable {
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .double(let value): hasher.combine(value.isNaN ? .infinity : value)
    case .url(let value): hasher.combine(value.absoluteString)
    case .object(let value): hasher.combine(value)
    case .list(let values): hasher.combine(values)
    default: if let scalar { hasher.combine(AnyHashable(scalar)) }
    }
  }
}

// The value in other forms, so that other code need not know the kinds.
@_spi(CDE) extension ConstantValue {
  /// The number, text, date or other single value; nil for nil, objects and lists.
  public var scalar: (any Encodable & Hashable & Sendable)? {
    switch self {
    case .bool(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .null, .object, .list: nil
    }
  }

  /// ``scalar`` in the form of key-value coding: a number as an `NSNumber`, the rest as Swift values.
  public var keyedScalar: Any? {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    default: scalar
    }
  }

  /// The name of the kind in messages.
  public var kindNoun: String {
    switch self {
    case .null: "nil"
    case .bool, .integer, .double, .decimal: "a number"
    case .string: "text"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .object: "an object"
    case .list: "a list"
    }
  }

  /// Whether this is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}
