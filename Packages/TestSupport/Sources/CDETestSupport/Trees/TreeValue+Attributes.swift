internal import CDEManagedModel
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
    switch (type, self) {
    case (.integer16AttributeType, .integer(let value)): Int16(exactly: value)
    case (.integer32AttributeType, .integer(let value)): Int32(exactly: value)
    case (.integer64AttributeType, .integer(let value)): value
    case (.booleanAttributeType, .bool(let value)): value
    case (.doubleAttributeType, .real(let value)): value
    case (.doubleAttributeType, .integer(let value)): Double(exactly: value)
    case (.floatAttributeType, .real(let value)): Float(value)
    case (.floatAttributeType, .integer(let value)): Float(exactly: value)
    case (.decimalAttributeType, .decimal(let value)): value
    case (.decimalAttributeType, .integer(let value)): Decimal(value)
    case (.decimalAttributeType, .real(let value)): value.isFinite ? Decimal(string: "\(value)") : nil
    case (.decimalAttributeType, .text(let value)): Self.decimal(value)
    case (.stringAttributeType, .text(let value)): value
    case (.dateAttributeType, .date(let value)): value
    case (.dateAttributeType, .text(let value)): TreeDate.parse(value)
    case (.dateAttributeType, .real(let value)): Date(timeIntervalSinceReferenceDate: value)
    case (.dateAttributeType, .integer(let value)): Date(timeIntervalSinceReferenceDate: Double(value))
    case (.binaryDataAttributeType, .data(let value)): value
    case (.binaryDataAttributeType, .text(let value)): Data(base64Encoded: value)
    case (.UUIDAttributeType, .uuid(let value)): value
    case (.UUIDAttributeType, .text(let value)): UUID(uuidString: value)
    case (.URIAttributeType, .url(let value)): value
    case (.URIAttributeType, .text(let value)): URL(string: value)
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
    case .null: NSNull()
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .text(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
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

  /// The number as what it was made of: as `Bool`, one can't be told from true.
  private init(number: NSNumber) {
    switch String(cString: number.objCType) {
    case "c", "B": self = .bool(number.boolValue)
    case "d", "f": self = .real(number.doubleValue)
    default: self = .integer(number.int64Value)
    }
  }

  /// A value that archives hold, or a text that describes what a tree can't.
  private init(propertyList value: Any) {
    switch value {
    case let value as String: self = .text(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .url(value)
    case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
    case let value as Decimal: self = .decimal(value)
    case let value as NSNumber: self.init(number: value)
    case let values as [Any]: self = .list(values.map(TreeValue.init(propertyList:)))
    case let values as [String: Any]:
      self = .object(ObjectTree(nil, nil, values.mapValues(TreeValue.init(propertyList:))))
    case is NSNull: self = .null
    default: self = .text("\(value)")
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
