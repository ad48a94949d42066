internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

extension TreeValue {
  /// The value as key-value coding takes it for an attribute.
  ///
  /// - Throws: ``TestSupportError`` with code `.wrongType`.
  func value(for attribute: NSAttributeDescription, at place: String) throws -> Any? {
    if self == .null { return nil }
    if let composite = attribute as? NSCompositeAttributeDescription {
      return try fields(of: composite, at: place)
    }
    if attribute.attributeType == .transformableAttributeType {
      guard
        attribute.valueTransformerName == nil
          || attribute.valueTransformerName
            == NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
      else {
        throw mismatch(
          place, "a value that \(attribute.valueTransformerName ?? "") makes, which can only be set in code")
      }
      return propertyList
    }
    if let value = plainValue(as: attribute.attributeType) { return value }
    throw mismatch(place, attribute.attributeType.treeForms)
  }

  private func plainValue(as type: NSAttributeType) -> Any? {
    guard case .constant(let constant) = self else { return nil }
    return switch (type, constant) {
    case (.integer16AttributeType, .integer(let value)): Int16(exactly: value)
    case (.integer32AttributeType, .integer(let value)): Int32(exactly: value)
    case (.integer64AttributeType, .integer(let value)): value
    case (.booleanAttributeType, .bool(let value)): value
    case (.doubleAttributeType, .double(let value)): value
    case (.doubleAttributeType, .integer(let value)): Double(exactly: value)
    case (.floatAttributeType, .double(let value)): Float(value)
    case (.floatAttributeType, .integer(let value)): Float(exactly: value)
    case (.decimalAttributeType, .decimal(let value)): value
    case (.decimalAttributeType, .integer(let value)): Decimal(value)
    case (.decimalAttributeType, .double(let value)): value.isFinite ? Decimal(string: "\(value)") : nil
    case (.decimalAttributeType, .string(let value)): Self.decimal(value)
    case (.stringAttributeType, .string(let value)): value
    case (.dateAttributeType, .date(let value)): value
    case (.dateAttributeType, .string(let value)): TreeDate.parse(value)
    case (.dateAttributeType, .double(let value)): Date(timeIntervalSinceReferenceDate: value)
    case (.dateAttributeType, .integer(let value)): Date(timeIntervalSinceReferenceDate: Double(value))
    case (.binaryDataAttributeType, .data(let value)): value
    case (.binaryDataAttributeType, .string(let value)): Data(base64Encoded: value)
    case (.UUIDAttributeType, .uuid(let value)): value
    case (.UUIDAttributeType, .string(let value)): UUID(uuidString: value)
    case (.URIAttributeType, .url(let value)): value
    case (.URIAttributeType, .string(let value)): URL(string: value)
    default: nil
    }
  }

  /// `Decimal(string:)` takes what it understands and leaves the rest of the text alone.
  private static func decimal(_ text: String) -> Decimal? {
    let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
    return isNumber ? Decimal(string: text) : nil
  }

  private func fields(of composite: NSCompositeAttributeDescription, at place: String) throws -> [String: Any]
  {
    guard case .object(let tree) = self, tree.entity == nil, tree.name == nil else {
      throw mismatch(place, "an object of its fields")
    }
    var result: [String: Any] = [:]
    for (name, value) in tree.values {
      guard let element = composite.elements.first(where: { $0.name == name }) else {
        throw TestSupportError(
          .unknownProperty,
          "\(place) has no field \"\(name)\". It has: "
            + composite.elements.map(\.name).joined(separator: ", ") + ".", place: place)
      }
      result[name] = try value.value(for: element, at: "\(place).\(name)")
    }
    return result
  }

  /// The value as archives hold it.
  private var propertyList: Any {
    switch self {
    case .constant(let value): value.keyedScalar ?? NSNull()
    case .list(let values): values.map(\.propertyList)
    case .object(let tree): tree.values.filter { $0.value != .null }.mapValues(\.propertyList)
    }
  }

  func mismatch(_ place: String, _ wanted: String) -> TestSupportError {
    TestSupportError(.wrongType, "\(place) takes \(wanted), not \(self).", place: place)
  }

  /// What key-value coding gives for an attribute.
  init(_ value: Any?, of attribute: NSAttributeDescription) {
    switch (attribute.attributeType, value) {
    case (_, nil): self = .null
    case (.booleanAttributeType, let number as NSNumber): self = .bool(number.boolValue)
    case (.integer16AttributeType, let number as NSNumber), (.integer32AttributeType, let number as NSNumber),
      (.integer64AttributeType, let number as NSNumber):
      self = .integer(number.int64Value)
    case (.doubleAttributeType, let number as NSNumber), (.floatAttributeType, let number as NSNumber):
      self = .real(number.doubleValue)
    case (_, let value?): self.init(propertyList: value)
    }
  }

  /// A value that archives hold, or a text that describes what a tree can't.
  private init(propertyList value: Any) {
    switch value {
    case let values as [Any]: self = .list(values.map(TreeValue.init(propertyList:)))
    case let values as [String: Any]:
      self = .object(ObjectTree(nil, nil, values.mapValues(TreeValue.init(propertyList:))))
    default:
      let constant = PredicateConstant(value)
      self = .constant(constant.flatMap { $0.isNull || $0.scalar != nil ? $0 : nil } ?? .string("\(value)"))
    }
  }
}

extension NSAttributeType {
  /// What a tree may say for an attribute of the type, for people.
  fileprivate var treeForms: String {
    switch self {
    case .integer16AttributeType: "an integer of 16 bits"
    case .integer32AttributeType: "an integer of 32 bits"
    case .integer64AttributeType: "an integer"
    case .decimalAttributeType: "a decimal number, or its text"
    case .doubleAttributeType, .floatAttributeType: "a number"
    case .stringAttributeType: "a text"
    case .booleanAttributeType: "true or false"
    case .dateAttributeType: "a date, its ISO 8601 text, or seconds since 2001"
    case .binaryDataAttributeType: "data, or its Base 64 text"
    case .UUIDAttributeType: "a UUID, or its text"
    case .URIAttributeType: "a URL, or its text"
    case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType,
      .objectIDAttributeType:
      "a value that can only be set in code"
    }
  }
}
