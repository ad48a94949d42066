@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// One validation predicate of a property, made ready to be asked once per saved value.
///
/// The three forms that Core Data's model editor knows, bounds of numbers and dates, bounds of text
/// lengths, and patterns, are compared directly: evaluating a tree costs some twenty times as much, and a
/// bulk insert asks each object.
struct ValidationRule: @unchecked Sendable {
  // Guard: made with the model and never changed; its predicate is the model's own, immutable with it.
  private enum Check {
    case bound(PredicateOperator, PredicateConstant)
    case length(PredicateOperator, Int)
    case predicate
  }

  /// The rule as a format string.
  let format: String
  let code: ManagedObjectError.Code?
  /// What the model says about a failure.
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

  /// Whether a value that is not nil keeps the rule.
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
      // As NSString counts, whose `length` the predicate asks for.
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

extension NSManagedObject {
  /// The rules of a property that its value breaks.
  func ruleFailures(_ info: PropertyInfo) -> [ManagedObjectError] {
    let type: StoreAttributeType
    if case .attribute(let found) = info.kind { type = found } else { type = .composite }
    let value = attributeValue(info)
    switch value {
    case .null, .unset: return []
    default: break
    }
    var failures: [ManagedObjectError] = []
    for rule in info.rules {
      var cause: (any Error)?
      do {
        if try rule.holds(for: value, as: type) { continue }
      } catch {
        cause = error
      }
      failures.append(failure(of: rule, info, value, type, cause))
    }
    return failures
  }

  private func failure(
    of rule: ValidationRule, _ info: PropertyInfo, _ value: _PropertyValue, _ type: StoreAttributeType,
    _ cause: (any Error)?
  ) -> ManagedObjectError {
    var shown = value.any(as: type).map(UnfitValue.shown) ?? "nil"
    if shown.count > 80 { shown = shown.prefix(80) + "…" }
    if case .text = value { shown = "\"\(shown)\"" }
    var message = "\(_binding.name).\(info.name) is \(shown), which breaks its rule \(rule.format)"
    message += " (\(objectID.uriRepresentation().absoluteString))."
    if let warning = rule.warning { message += " \(warning)" }
    if let cause { message += " The rule can't be evaluated with it: \(cause)" }
    return ManagedObjectError(
      rule.code ?? .invalidValue, message, cause: cause, entity: _binding.name, property: info.name,
      objectID: objectID, rule: rule.format, value: value.sendable(as: type))
  }

  /// Why a changed transformable value can't be stored. The data it makes is kept for the row that the save
  /// writes next.
  func encodingFailure(_ info: PropertyInfo) -> ManagedObjectError? {
    guard case .attribute(.transformable) = info.kind, !info.isTransient,
      let value = _overlay?.values[info.slot]
    else { return nil }
    do {
      try value.keepEncoding(info, of: _binding)
      return nil
    } catch {
      var failure = error
      failure.objectID = objectID
      return failure
    }
  }
}

extension _PropertyValue {
  /// Keeps the bytes of a transformable value with it, or says why there are none.
  func keepEncoding(_ info: PropertyInfo, of binding: EntityBinding) throws(ManagedObjectError) {
    guard case .attribute(.transformable) = info.kind, case .object(let box) = self else { return }
    do {
      box.encoded = try TransformableCoding.encode(
        box.value, transformer: info.transformerName, entity: binding.name, property: info.name)
    } catch {
      throw ManagedObjectError(
        .invalidValue, (error as? ModelError)?.message ?? "\(error)", cause: error, entity: binding.name,
        property: info.name)
    }
  }
}

extension _PropertyValue {
  /// The value of a scalar, as an error may carry it anywhere.
  fileprivate func sendable(as type: StoreAttributeType) -> (any Sendable)? {
    switch self {
    case .integer(let value): type == .boolean ? value != 0 : value
    case .real(let value): type == .date ? Date(timeIntervalSinceReferenceDate: value) : value
    case .text(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .decimal(let value): value
    case .url(let value): value
    case .unset, .null, .object, .toOne, .toMany: nil
    }
  }
}
