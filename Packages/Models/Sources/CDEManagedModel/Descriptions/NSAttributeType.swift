public import CDEStore

/// The types of attributes, with the codes that Core Data writes into compiled models.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
  case compositeAttributeType = 2100
}

/// What happens to related objects when an object is deleted.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
  /// The related objects do not change and keep their references to the deleted object.
  case noActionDeleteRule = 0
  /// The inverse references of the related objects are cleared.
  case nullifyDeleteRule = 1
  /// The related objects are deleted as well.
  case cascadeDeleteRule = 2
  /// The deletion fails while there are related objects.
  case denyDeleteRule = 3
}

extension NSAttributeType {
  /// The same type in the store layer.
  @_spi(CDE) public var storeType: StoreAttributeType {
    switch self {
    case .undefinedAttributeType: .undefined
    case .integer16AttributeType: .integer16
    case .integer32AttributeType: .integer32
    case .integer64AttributeType: .integer64
    case .decimalAttributeType: .decimal
    case .doubleAttributeType: .double
    case .floatAttributeType: .float
    case .stringAttributeType: .string
    case .booleanAttributeType: .boolean
    case .dateAttributeType: .date
    case .binaryDataAttributeType: .binary
    case .UUIDAttributeType: .uuid
    case .URIAttributeType: .uri
    case .transformableAttributeType: .transformable
    case .objectIDAttributeType: .objectID
    case .compositeAttributeType: .composite
    }
  }

  /// The type of attributes that the store layer has as this one.
  @_spi(CDE) public init(_ type: StoreAttributeType) {
    self = Self.allCases.first { $0.storeType == type } ?? .undefinedAttributeType
  }

  /// The type that key-value coding has for values; nil if the attribute type does not determine one.
  @_spi(CDE) public var keyedTypeName: String? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "String"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Data"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URL"
    case .objectIDAttributeType: "NSManagedObjectID"
    case .compositeAttributeType: "[String : Any]"
    case .undefinedAttributeType, .transformableAttributeType: nil
    }
  }

  /// The Swift type that holds every value; nil for types without one.
  @_spi(CDE) public var swiftTypeName: String? {
    switch self {
    case .integer16AttributeType: "Int16"
    case .integer32AttributeType: "Int32"
    case .integer64AttributeType: "Int64"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .booleanAttributeType: "Bool"
    case .decimalAttributeType: "Decimal"
    case .stringAttributeType, .dateAttributeType, .binaryDataAttributeType, .UUIDAttributeType,
      .URIAttributeType:
      keyedTypeName
    case .objectIDAttributeType, .compositeAttributeType, .undefinedAttributeType,
      .transformableAttributeType:
      nil
    }
  }

  /// Whether model files write the type's values as texts, for defaults.
  @_spi(CDE) public var isWrittenAsText: Bool { swiftTypeName != nil && self != .binaryDataAttributeType }

  /// Whether values have an order of numbers, so that a model may bound them.
  @_spi(CDE) public var isNumber: Bool {
    self != .booleanAttributeType && keyedTypeName?.hasSuffix("Number") == true
  }

  /// The names that Xcode's model files have had for the type.
  @_spi(CDE) public var sourceNames: [String] {
    switch self {
    case .undefinedAttributeType: ["Undefined", ""]
    case .integer16AttributeType: ["Integer 16"]
    case .integer32AttributeType: ["Integer 32"]
    case .integer64AttributeType: ["Integer 64"]
    case .decimalAttributeType: ["Decimal"]
    case .doubleAttributeType: ["Double"]
    case .floatAttributeType: ["Float"]
    case .stringAttributeType: ["String"]
    case .booleanAttributeType: ["Boolean"]
    case .dateAttributeType: ["Date"]
    case .binaryDataAttributeType: ["Binary", "Binary Data"]
    case .UUIDAttributeType: ["UUID"]
    case .URIAttributeType: ["URI"]
    case .transformableAttributeType: ["Transformable"]
    case .objectIDAttributeType: ["ObjectID", "Object ID"]
    case .compositeAttributeType: ["Composite"]
    }
  }

  /// The class that Core Data reports for values of the type; `nil` if the type does not determine one.
  var valueClassName: String? {
    self == .compositeAttributeType
      ? "NSDictionary" : keyedTypeName.map { $0.hasPrefix("NS") ? $0 : "NS" + $0 }
  }
}
