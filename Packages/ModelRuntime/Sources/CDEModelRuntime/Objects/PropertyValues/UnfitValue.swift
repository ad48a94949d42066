@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// The reason why an attribute can't hold a value.
struct UnfitValue: Error {
  /// Whether the value has another type. That is a mistake of the program and not of the data.
  var isWrongType = false
  var reason: String
  var value: (any Sendable)?

  static func wrongType(_ value: Any, _ type: StoreAttributeType) -> UnfitValue {
    UnfitValue(
      isWrongType: true,
      reason:
        "A value of type \(Swift.type(of: value)) can't be stored in an attribute of type \(type.rawValue). "
        + "Set \(type.settable).")
  }

  /// A number, or a date, outside of the type's range.
  static func outOfRange(_ value: Any, _ type: StoreAttributeType) -> UnfitValue {
    UnfitValue(
      reason:
        "\(shown(value)) can't be stored in an attribute of type \(type.rawValue), which holds \(type.range).",
      value: sendable(value))
  }

  /// A value as text for a message. Foundation ends the process when it describes a date outside its
  /// calendars.
  static func shown(_ value: Any) -> String {
    guard let date = value as? Date, !isDescribable(date) else { return "\(value)" }
    return "\(date.timeIntervalSinceReferenceDate) s since 2001"
  }

  private static func isDescribable(_ date: Date) -> Bool { abs(date.timeIntervalSinceReferenceDate) < 2e11 }

  /// The value as a `Sendable` value that an error can contain.
  private static func sendable(_ value: Any) -> (any Sendable)? {
    switch value {
    case let number as NSDecimalNumber: number.decimalValue
    // Test frameworks and logs describe errors. A date that can't be described is given in seconds.
    case let date as Date: isDescribable(date) ? date : date.timeIntervalSinceReferenceDate
    case let decimal as Decimal: decimal
    case let number as NSNumber: ExactNumber.integer(number).map { $0 } ?? number.doubleValue
    default: "\(value)"
    }
  }

  func error(for info: PropertyInfo, of entity: String) -> ManagedObjectError {
    ManagedObjectError(
      .invalidValue, "\(entity).\(info.name): \(reason)", entity: entity, property: info.name, value: value)
  }
}

extension StoreAttributeType {
  /// The types that an attribute of the type can be set to by key, as text for a message.
  fileprivate var settable: String {
    switch self {
    case .integer16, .integer32, .integer64: "an integer or an NSNumber"
    case .double, .float: "a floating-point number or an NSNumber"
    case .decimal: "a Decimal or an NSDecimalNumber"
    case .boolean: "a Bool"
    case .string: "a String"
    case .date: "a Date"
    case .binary: "Data"
    case .uuid: "a UUID"
    case .uri: "a URL"
    case .composite: "a dictionary of its elements"
    case .transformable, .undefined, .objectID: "a value of that type"
    }
  }

  /// The range of the type's values, as text for a message.
  fileprivate var range: String {
    switch self {
    case .integer16: "whole numbers from \(Int16.min) to \(Int16.max)"
    case .integer32: "whole numbers from \(Int32.min) to \(Int32.max)"
    case .integer64: "whole numbers from \(Int64.min) to \(Int64.max)"
    case .boolean: "true and false, or 1 and 0"
    case .double: "numbers of 64 bits, with infinity but without NaN"
    case .float: "numbers of 32 bits, with infinity but without NaN"
    case .date: "dates, of which NaN is none"
    case .decimal: "decimal numbers up to about 1e142, without NaN"
    case .string, .binary, .uuid, .uri, .transformable, .composite, .undefined, .objectID: "other values"
    }
  }

  fileprivate var integers: ClosedRange<Int64> {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: Int64.min...Int64.max
    }
  }
}

extension _PropertyValue {
  /// A value given through key-value coding, in the form of the attribute's type.
  ///
  /// - Throws: ``UnfitValue`` when the value is of another kind, or the type can't represent it exactly.
  init(any value: Any?, as type: StoreAttributeType) throws(UnfitValue) {
    if let plain = value.flatMap({ Self.plain($0, as: type) }) {
      self = plain
      return
    }
    guard let value = Self.unwrap(value), !(value is NSNull) else {
      self = .null
      return
    }
    switch type {
    case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal:
      guard ExactNumber.isNumber(value) else { throw .wrongType(value, type) }
      guard let number = Self.number(value, as: type) else { throw .outOfRange(value, type) }
      self = number
    case .date:
      guard let date = value as? Date else { throw .wrongType(value, type) }
      if date.timeIntervalSinceReferenceDate.isNaN {
        throw .outOfRange(date, type)
      }
      self = .real(date.timeIntervalSinceReferenceDate)
    case .string:
      guard let text = value as? String else { throw .wrongType(value, type) }
      self = .text(text)
    case .binary:
      guard let data = value as? Data else { throw .wrongType(value, type) }
      self = .data(data)
    case .uuid:
      guard let uuid = value as? UUID else { throw .wrongType(value, type) }
      self = .uuid(uuid)
    case .uri:
      guard let url = value as? URL else { throw .wrongType(value, type) }
      self = .url(url)
    case .transformable, .composite, .undefined, .objectID:
      self = .object(_ObjectBox(value))
    }
  }

  /// A value of the Swift type that most code uses for an attribute of the type; nil for other values, which may fit nevertheless.
  ///
  /// Comparing types takes a tenth of the time of the casts that find numbers, texts and optionals of any class.
  private static func plain(_ value: Any, as type: StoreAttributeType) -> _PropertyValue? {
    let found = Swift.type(of: value)
    switch type {
    case .string: return found == String.self ? .text(value as! String) : nil
    case .integer16, .integer32, .integer64:
      guard found == Int.self, type.integers.contains(Int64(value as! Int)) else { return nil }
      return .integer(Int64(value as! Int))
    case .boolean: return found == Bool.self ? .integer(value as! Bool ? 1 : 0) : nil
    case .double:
      guard found == Double.self, !(value as! Double).isNaN else { return nil }
      return .real(value as! Double)
    case .date:
      guard found == Date.self, !(value as! Date).timeIntervalSinceReferenceDate.isNaN else { return nil }
      return .real((value as! Date).timeIntervalSinceReferenceDate)
    default: return nil
    }
  }

  private static func number(_ value: Any, as type: StoreAttributeType) -> _PropertyValue? {
    switch type {
    case .boolean: ExactNumber.boolean(value).map { .integer($0 ? 1 : 0) }
    case .double: ExactNumber.double(value).map { .real($0) }
    case .float: ExactNumber.float(value) == nil ? nil : ExactNumber.double(value).map { .real($0) }
    case .decimal: ExactNumber.decimal(value).map { .decimal($0) }
    case .integer16, .integer32, .integer64:
      ExactNumber.integer(value).flatMap { type.integers.contains($0) ? .integer($0) : nil }
    case .string, .date, .binary, .uuid, .uri, .transformable, .composite, .undefined, .objectID: nil
    }
  }

  /// A composite given through key-value coding.
  ///
  /// - Throws: ``UnfitValue`` when the value is no dictionary, or contains a value that its element can't
  ///   hold.
  init(any value: Any?, elements: [StoreAttribute]) throws(UnfitValue) {
    guard let value = Self.unwrap(value), !(value is NSNull) else {
      self = .null
      return
    }
    guard let dictionary = value as? [String: Any] else { throw .wrongType(value, .composite) }
    self = .object(_ObjectBox(value))
    if let unfit = elements.unfitValue(in: dictionary) { throw unfit }
  }

  /// Why a value that was set without a check can't be stored; nil when it can.
  func unfitness(for info: PropertyInfo) -> UnfitValue? {
    guard case .attribute(let type) = info.kind else {
      guard case .object(let box) = self else { return nil }
      guard let dictionary = box.value as? [String: Any] else { return .wrongType(box.value, .composite) }
      return info.elements.unfitValue(in: dictionary)
    }
    switch self {
    case .integer(let value):
      return type.integers.contains(value) ? nil : .outOfRange(value, type)
    case .real(let value):
      let isBeyond = type == .float && value.isFinite && !Float(value).isFinite
      guard value.isNaN || isBeyond else { return nil }
      return type == .date
        ? .outOfRange(Date(timeIntervalSinceReferenceDate: value), type) : .outOfRange(value, type)
    case .decimal(let value): return ExactNumber.isStorable(value) ? nil : .outOfRange(value, type)
    case .unset, .null, .text, .data, .uuid, .url, .object, .toOne, .toMany: return nil
    }
  }
}
