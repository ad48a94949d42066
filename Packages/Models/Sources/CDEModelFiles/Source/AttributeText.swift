@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Values that a model file writes as text, in the forms that Xcode has written them in over the years.
enum AttributeText {
  /// The default value of an attribute; `nil` if there is none, or if the text is none of that type.
  static func defaultValue(of attribute: ModelSource.Attribute) -> Any? {
    if attribute.type == .dateAttributeType {
      return number(attribute.defaultSeconds ?? attribute.defaultText).flatMap(ModelFiles.date)
    }
    guard let text = attribute.defaultText else { return nil }
    switch attribute.type {
    case .integer16AttributeType:
      return integer(text).flatMap { Int16(exactly: $0) }.map { NSNumber(value: $0) }
    case .integer32AttributeType:
      return integer(text).flatMap { Int32(exactly: $0) }.map { NSNumber(value: $0) }
    case .integer64AttributeType: return integer(text).map { NSNumber(value: $0) }
    case .booleanAttributeType: return boolean(text).map { NSNumber(value: $0) }
    case .doubleAttributeType: return number(text).map { NSNumber(value: $0) }
    case .floatAttributeType:
      return number(text).map(Float.init).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
    case .decimalAttributeType: return decimal(text).map { NSDecimalNumber(decimal: $0) }
    case .stringAttributeType: return text
    case .UUIDAttributeType: return UUID(uuidString: text)
    case .URIAttributeType: return text.isEmpty ? nil : URL(string: text)
    default: return nil
    }
  }

  /// What is wrong with the texts of an attribute: sentences without their subject.
  static func mistakes(in attribute: ModelSource.Attribute) -> [String] {
    var result: [String] = []
    let type = attribute.type.sourceNames.first ?? "value of its type"
    // The default of a date is a number of seconds. Objects and bytes have none in an editor.
    let isText = attribute.type != .dateAttributeType && attribute.type.isWrittenAsText
    if isText, let text = attribute.defaultText, !text.isEmpty, defaultValue(of: attribute) == nil {
      result.append("has the default value “\(text)”, which is no \(type), so it has none.")
    }
    for (name, text) in [("minimum", attribute.minimum), ("maximum", attribute.maximum)] {
      guard let text, !isBound(text, of: attribute.type) else { continue }
      result.append("has the \(name) “\(text)”, which is no number, so it has none.")
    }
    if attribute.type == .stringAttributeType, let pattern = attribute.pattern {
      do { _ = try NSRegularExpression(pattern: pattern) } catch {
        result.append("has the regular expression “\(pattern)”, which can't be read, so no text is valid.")
      }
    }
    return result
  }

  /// Whether a text is a bound of numbers, or of the lengths of texts. Other types have no bounds as texts.
  private static func isBound(_ text: String, of type: NSAttributeType) -> Bool {
    type == .stringAttributeType
      ? integer(text) != nil : !type.isNumber || bound(text, type) != nil
  }

  /// The rules that the editor's fields for minimum, maximum and pattern make, with Core Data's error codes.
  static func validations(of attribute: ModelSource.Attribute) -> [(NSPredicate, Any)] {
    var result: [(NSPredicate, Any)] = []
    func add(
      _ side: ExpressionTree, _ op: PredicateOperator, _ bound: PredicateConstant?, _ code: Int
    ) {
      guard let bound else { return }
      result.append((TreePredicate(.compare(side, op, .constant(bound))), NSNumber(value: code)))
    }
    switch attribute.type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType:
      add(.evaluatedObject, .greaterOrEqual, bound(attribute.minimum, attribute.type), 1620)
      add(.evaluatedObject, .lessOrEqual, bound(attribute.maximum, attribute.type), 1610)
    case .dateAttributeType:
      func date(_ text: String?) -> PredicateConstant? {
        number(text).flatMap(ModelFiles.date).map { .date($0) }
      }
      add(.evaluatedObject, .greaterOrEqual, date(attribute.minimumSeconds), 1640)
      add(.evaluatedObject, .lessOrEqual, date(attribute.maximumSeconds), 1630)
    case .stringAttributeType:
      func length(_ text: String?) -> PredicateConstant? {
        text.flatMap(integer).map { .integer($0) }
      }
      add(.keyPath(["length"]), .greaterOrEqual, length(attribute.minimum), 1670)
      add(.keyPath(["length"]), .lessOrEqual, length(attribute.maximum), 1660)
      add(.evaluatedObject, .matches, attribute.pattern.map { .string($0) }, 1680)
    default: break
    }
    return result
  }

  private static func bound(_ text: String?, _ type: NSAttributeType) -> PredicateConstant? {
    guard let text else { return nil }
    if let integer = Int64(text) { return .integer(integer) }
    if type == .decimalAttributeType { return decimal(text).map { .decimal($0) } }
    return number(text).map { value in
      Int64(exactly: value).map { .integer($0) } ?? .double(value)
    }
  }

  private static func integer(_ text: String) -> Int64? {
    Int64(text) ?? number(text).flatMap { Int64(exactly: $0) }
  }

  private static func boolean(_ text: String) -> Bool? {
    number(text).map { $0 != 0 }
  }

  /// A finite number. `YES` and `NO` are 1 and 0, because an attribute's type may have been changed.
  private static func number(_ text: String?) -> Double? {
    switch text {
    case nil: nil
    case "YES"?, "true"?: 1
    case "NO"?, "false"?: 0
    case let text?: Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
  }

  private static func decimal(_ text: String) -> Decimal? {
    // Foundation's parser ignores what stands behind the number.
    guard number(text) != nil, text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else {
      return number(text).map { Decimal($0) }
    }
    let value = Decimal(string: text)
    return value.flatMap { $0.isNaN ? nil : $0 }
  }
}
