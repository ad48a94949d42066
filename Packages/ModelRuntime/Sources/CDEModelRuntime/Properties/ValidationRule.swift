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
  enum Check {
    case bound(PredicateOperator, PredicateConstant)
    case length(PredicateOperator, Int)
    case predicate
  }

  /// The rule as a format string.
  let format: String
  let code: ManagedObjectError.Code?
  /// The model's message for a failure.
  let warning: String?
  let check: Check
  let predicate: NSPredicate

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
}
