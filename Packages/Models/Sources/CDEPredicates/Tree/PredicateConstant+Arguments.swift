@_spi(CDE) internal import CDEOperators
internal import Foundation

extension PredicateConstant {
  /// The constant for an argument of a format string, a substitution variable or a captured value.
  ///
  /// Accepts numbers, booleans, text, dates, data, UUIDs and URLs in their Swift and Foundation forms,
  /// objects (``PredicateObjectConvertible``), nil and `NSNull`, and arrays, sets and ordered sets of these.
  ///
  /// - Returns: nil if the value has another type.
  public init?(_ value: Any?) {
    if let value, let usual = Self.usual(value) {
      self = usual
      return
    }
    // This is the first check, because lists of objects can be long, and all other checks of a class cost
    // more.
    if let value, let object = ObjectClasses.constant(value) {
      self = object
      return
    }
    guard let value = Self.unwrapped(value) else {
      self = .null
      return
    }
    // Before other casts, because a cast of a Swift array to a Foundation class copies the array.
    if let list = value as? any MemberListing {
      guard let constants = list.constants else { return nil }
      self = .list(constants)
    } else if let scalar = Self.scalar(value) {
      self = scalar
    } else if let constants = Self.foundationMembers(of: value)?.constants {
      self = .list(constants)
    } else {
      return nil
    }
  }

  /// The value without the layers of `Optional` inside an `Any`.
  static func unwrapped(_ value: Any?) -> Any? {
    var value = value
    while let inner = value {
      guard let optional = inner as? any OptionalUnwrapping else { return inner }
      value = optional.wrappedAny
    }
    return nil
  }

  /// The members of an array, set or ordered set, in Swift's or Foundation's form. The members of sets have
  /// no order.
  static func members(of value: Any) -> [Any]? {
    (value as? any MemberListing)?.members ?? foundationMembers(of: value)
  }

  private static func foundationMembers(of value: Any) -> [Any]? {
    switch value {
    case let array as NSArray: array.map { $0 }
    case let set as NSSet: set.map { $0 }
    case let set as NSOrderedSet: set.map { $0 }
    default: nil
    }
  }

  private static func scalar(_ value: Any) -> PredicateConstant? {
    switch value {
    case let value as PredicateConstant: value
    case let value as any PredicateObjectConvertible: .object(PredicateObject(value.predicateObjectReference))
    case let value as any PredicateObjectReference: .object(PredicateObject(value))
    case let value as PredicateObject: .object(value)
    case is NSNull: .null
    case let value as any ConstantRepresenting: value.constant
    case let value as String: .string(value)
    case let value as Substring: .string(String(value))
    case let value as Character: .string(String(value))
    case let value as Date: .date(value)
    case let value as Data: .data(value)
    case let value as UUID: .uuid(value)
    case let value as URL: .url(value)
    default: number(value)
    }
  }

  // Swift's own types are checked before NSNumber, because on Linux each of them can be cast to NSNumber.
  private static func number(_ value: Any) -> PredicateConstant? {
    if type(of: value) is AnyClass { return (value as? NSNumber).flatMap(foundationNumber) }
    switch value {
    case let value as Bool: return .bool(value)
    case let value as Double: return .double(value)
    case let value as Float: return .double(Double(value))
    case let value as Decimal: return .decimal(value)
    case let value as any BinaryInteger:
      if let integer = Int64(exactly: value) { return .integer(integer) }
      return Decimal(string: "\(value)").map { .decimal($0) }
    case let value as any BinaryFloatingPoint: return .double(Double(value))
    default: return nil
    }
  }

  private static func foundationNumber(_ number: NSNumber) -> PredicateConstant? {
    switch NumberKind(number) {
    case .decimal: return .decimal(number.decimalValue)
    case .boolean: return .bool(number.boolValue)
    case .floating: return .double(number.doubleValue)
    case .unsigned:
      let value = number.uint64Value
      return Int64(exactly: value).map { .integer($0) } ?? .decimal(Decimal(value))
    case .signed: return .integer(number.int64Value)
    }
  }
}

/// Detects an array or set in an `Any` by one cast, for any element type.
private protocol MemberListing {
  var members: [Any] { get }
  /// The members as constants; nil if a member can't be a constant.
  var constants: [PredicateConstant]? { get }
}

extension Array: MemberListing {
  fileprivate var members: [Any] {
    if Element.self == AnyHashable.self, let hashables = self as? [AnyHashable] {
      return hashables.map(\.base)
    }
    return self
  }

  fileprivate var constants: [PredicateConstant]? {
    // Lists can be long. Facts that follow from their type are not checked for each member.
    if Element.self == String.self, let texts = self as? [String] { return texts.map { .string($0) } }
    if Element.self == Int.self, let numbers = self as? [Int] { return numbers.map { .integer(Int64($0)) } }
    if let objects = ObjectClasses.conforming(Element.self) { return references(objects) }
    var list: [PredicateConstant] = []
    list.reserveCapacity(count)
    for member in members {
      guard let constant = PredicateConstant(member) else { return nil }
      list.append(constant)
    }
    return list
  }

  /// - Precondition: `type` is `Element`.
  private func references<Object: PredicateObjectConvertible>(_ type: Object.Type) -> [PredicateConstant] {
    // A cast would check each member, although this is the type of the array itself.
    unsafeBitCast(self, to: [Object].self).map { .object(PredicateObject($0.predicateObjectReference)) }
  }
}

extension Set: MemberListing {
  fileprivate var members: [Any] { Array(self).members }
  fileprivate var constants: [PredicateConstant]? { Array(self).constants }
}

/// Detects an optional in an `Any`.
protocol OptionalUnwrapping {
  static var wrappedType: Any.Type { get }
  var wrappedAny: Any? { get }
}

extension Optional: OptionalUnwrapping {
  static var wrappedType: Any.Type { Wrapped.self }
  var wrappedAny: Any? { self }
}

/// An object that stands for a constant which Foundation's own objects can't represent.
protocol ConstantRepresenting: AnyObject {
  var constant: PredicateConstant { get }
}
