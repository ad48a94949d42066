@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// One validation predicate of a property, prepared for evaluation once per saved value.
///
/// Three forms are compared directly: bounds of numbers and dates, bounds of text lengths, and patterns. Core
/// Data's model editor makes exactly these. Evaluating a tree costs some twenty times as much, and a bulk
/// insertion checks each object.
struct ValidationRule: @unchecked Sendable {
  // Guard: made with the model and never changed. Its predicate belongs to the model and is immutable with
  // it.
  private enum Check {
    case bound(PredicateOperator, PredicateConstant)
    case length(PredicateOperator, Int)
    case predicate
  }

  /// The rule as a format string.
  let format: String
  let code: ManagedObjectError.Code?
  /// The model's message for a failure.
  let warning: String?
  private let check: Check
  private let predicate: NSPredicate

  static func rules(of property: NSPropertyDescription) -> [ValidationRule] {
    zip(property.validationPredicates, property.validationWarnings).map { ValidationRule($0, $1) }
  }

  private init(_ predicate: NSPredicate, _ warning: Any) {
    self.predicate = predicate
    let tree = try? predicate.predicateTree()
    format = tree?.predicateFormat ?? "BLOCKPREDICATE"
    let number = (warning as? NSNumber)?.intValue ?? (warning as? String).flatMap(Int.init)
    code = number.flatMap { Self.codes[$0] }
    self.warning = (warning as? String).flatMap { $0.isEmpty || number != nil ? nil : $0 }
    guard case .comparison(let comparison)? = tree, comparison.modifier == .direct,
      case .constant(let constant) = comparison.right,
      [.less, .lessOrEqual, .greater, .greaterOrEqual, .equal].contains(comparison.op)
    else {
      check = .predicate
      return
    }
    switch (comparison.left, constant) {
    case (.keyPath(["length"]), .integer(let length)),
      (.function(.length, [.evaluatedObject]), .integer(let length)):
      check = .length(comparison.op, Int(length))
    case (.evaluatedObject, .integer), (.evaluatedObject, .double), (.evaluatedObject, .date):
      check = .bound(comparison.op, constant)
    default: check = .predicate
    }
  }

  private static let codes: [Int: ManagedObjectError.Code] = [
    NSValidationNumberTooLargeError: .numberTooLarge, NSValidationNumberTooSmallError: .numberTooSmall,
    NSValidationDateTooLateError: .dateTooLate, NSValidationDateTooSoonError: .dateTooSoon,
    NSValidationStringTooLongError: .stringTooLong, NSValidationStringTooShortError: .stringTooShort,
    NSValidationStringPatternMatchingError: .stringPatternMatching,
  ]

  /// Whether a value that is not nil satisfies the rule.
  ///
  /// - Throws: when the predicate can't be evaluated with such a value.
  func holds(for value: _PropertyValue, as type: StoreAttributeType) throws -> Bool {
    switch check {
    case .bound(let op, .integer(let bound)):
      switch value {
      case .integer(let value) where type != .boolean: return Self.compare(value, op, bound)
      case .real(let value) where type != .date: return Self.compare(value, op, Double(bound))
      case .decimal(let value): return Self.compare(value, op, Decimal(bound))
      default: break
      }
    case .bound(let op, .double(let bound)):
      switch value {
      case .integer(let value) where type != .boolean: return Self.compare(Double(value), op, bound)
      case .real(let value) where type != .date: return Self.compare(value, op, bound)
      default: break
      }
    case .bound(let op, .date(let bound)):
      if case .real(let value) = value, type == .date {
        return Self.compare(value, op, bound.timeIntervalSinceReferenceDate)
      }
    case .length(let op, let bound):
      // Counted in UTF-16 units, because the predicate uses `length` of NSString.
      if case .text(let text) = value { return Self.compare(text.utf16.count, op, bound) }
      if case .data(let data) = value { return Self.compare(data.count, op, bound) }
    default: break
    }
    return try predicate.matches(value.any(as: type))
  }

  private static func compare<Value: Comparable>(
    _ value: Value, _ op: PredicateOperator, _ bound: Value
  ) -> Bool {
    switch op {
    case .less: value < bound
    case .lessOrEqual: value <= bound
    case .greater: value > bound
    case .greaterOrEqual: value >= bound
    default: value == bound
    }
  }
}
