import CDEManagedModel
import CDEPredicates
import Foundation

/// The conditions of an attribute's values as traits of `@Attribute`.
struct ValidationRules {
  /// `.range(…)`, `.length(…)` and `.matching(…)`.
  private(set) var traits: [String] = []
  /// Whether there are conditions that no trait says.
  private(set) var hasOthers = false

  init(_ attribute: NSAttributeDescription) {
    var range: (low: String?, high: String?)
    var length: (low: String?, high: String?)
    let value = attribute.defaultValue
    for predicate in attribute.validationPredicates {
      guard case .comparison(let comparison)? = try? predicate.predicateTree(),
        case .constant(let constant) = comparison.right
      else {
        hasOthers = true
        continue
      }
      let bound = Self.text(of: constant)
      switch (comparison.left, comparison.op, bound) {
      case (.evaluatedObject, .greaterOrEqual, let bound?)
      where Self.isNumber(attribute) && Self.keeps(value, atLeast: bound):
        range.low = bound
      case (.evaluatedObject, .lessOrEqual, let bound?)
      where Self.isNumber(attribute) && Self.keeps(value, atMost: bound):
        range.high = bound
      case (.keyPath(["length"]), .greaterOrEqual, let bound?)
      where attribute.attributeType == .stringAttributeType && Self.keeps(Self.length(value), atLeast: bound):
        length.low = bound
      case (.keyPath(["length"]), .lessOrEqual, let bound?)
      where attribute.attributeType == .stringAttributeType && Self.keeps(Self.length(value), atMost: bound):
        length.high = bound
      default:
        if case .string(let pattern) = constant, case .evaluatedObject = comparison.left,
          comparison.op == .matches, attribute.attributeType == .stringAttributeType,
          Self.matches(value, pattern)
        {
          traits.append(".matching(\(DefaultLiteral.string(pattern)))")
        } else {
          hasOthers = true
        }
      }
    }
    if let text = Self.text(length) { traits.insert(".length(\(text))", at: 0) }
    if let text = Self.text(range) { traits.insert(".range(\(text))", at: 0) }
  }

  private static func isNumber(_ attribute: NSAttributeDescription) -> Bool {
    [
      .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType,
    ].contains(attribute.attributeType)
  }

  /// A number as a literal.
  private static func text(of constant: PredicateConstant) -> String? {
    switch constant {
    case .integer(let value): "\(value)"
    case .double(let value) where value.isFinite && value == value.rounded() && abs(value) < 1e15:
      "\(Int64(value))"
    case .double(let value) where value.isFinite: "\(value)"
    case .decimal(let value) where !value.isNaN: value.description
    default: nil
    }
  }

  private static func length(_ value: Any?) -> Any? {
    (value as? String).map { NSNumber(value: $0.utf16.count) }
  }

  /// Whether the default keeps the condition: `@Attribute` refuses one that does not.
  private static func keeps(_ value: Any?, atLeast bound: String) -> Bool {
    guard let number = (value as? NSNumber)?.doubleValue, let bound = Double(bound) else { return true }
    return number >= bound
  }

  private static func keeps(_ value: Any?, atMost bound: String) -> Bool {
    guard let number = (value as? NSNumber)?.doubleValue, let bound = Double(bound) else { return true }
    return number <= bound
  }

  private static func matches(_ value: Any?, _ pattern: String) -> Bool {
    guard let text = value as? String else { return true }
    guard let regex = try? Regex(pattern) else { return false }
    return (try? regex.wholeMatch(in: text)) != nil
  }

  private static func text(_ bounds: (low: String?, high: String?)) -> String? {
    switch bounds {
    case (nil, nil): nil
    case (let low?, nil): low.hasPrefix("-") ? "(\(low))..." : "\(low)..."
    case (nil, let high?): "...\(high.hasPrefix("-") ? "(\(high))" : high)"
    case (let low?, let high?): "\(low)...\(high.hasPrefix("-") ? "(\(high))" : high)"
    }
  }
}
