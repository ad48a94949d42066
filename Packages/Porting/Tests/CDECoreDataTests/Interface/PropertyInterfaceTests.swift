import CDECoreData
import Testing

@Suite("The interface of attributes and indexes")
struct PropertyInterfaceTests {
  private typealias Attribute = NSAttributeDescription

  @Test("An attribute has Core Data's members")
  func attribute() {
    let _: ReferenceWritableKeyPath<Attribute, NSAttributeDescription.AttributeType> =
      \NSAttributeDescription.type
    let _: ReferenceWritableKeyPath<Attribute, NSAttributeType> = \NSAttributeDescription.attributeType
    let _: ReferenceWritableKeyPath<Attribute, String?> = \NSAttributeDescription.attributeValueClassName
    let _: ReferenceWritableKeyPath<Attribute, Any?> = \NSAttributeDescription.defaultValue
    let _: ReferenceWritableKeyPath<Attribute, String?> = \NSAttributeDescription.valueTransformerName
    let _: ReferenceWritableKeyPath<Attribute, Bool> =
      \NSAttributeDescription.allowsExternalBinaryDataStorage
    let _: ReferenceWritableKeyPath<Attribute, Bool> =
      \NSAttributeDescription.preservesValueInHistoryOnDeletion
    let _: ReferenceWritableKeyPath<Attribute, Bool> = \NSAttributeDescription.allowsCloudEncryption
    let attribute = NSAttributeDescription()
    #expect(attribute.attributeType == .undefinedAttributeType && attribute.defaultValue == nil)
    attribute.type = .integer64
    #expect(attribute.attributeType == .integer64AttributeType)
    #expect(!attribute.allowsExternalBinaryDataStorage && !attribute.preservesValueInHistoryOnDeletion)
    attribute.allowsCloudEncryption = true
    #expect(attribute.allowsCloudEncryption)
  }

  @Test("Types of attributes have Core Data's numbers, in both spellings")
  func types() {
    let older: [NSAttributeType] = [
      NSAttributeType.undefinedAttributeType, NSAttributeType.integer16AttributeType,
      NSAttributeType.integer32AttributeType, NSAttributeType.integer64AttributeType,
      NSAttributeType.decimalAttributeType, NSAttributeType.doubleAttributeType,
      NSAttributeType.floatAttributeType, NSAttributeType.stringAttributeType,
      NSAttributeType.booleanAttributeType, NSAttributeType.dateAttributeType,
      NSAttributeType.binaryDataAttributeType, NSAttributeType.UUIDAttributeType,
      NSAttributeType.URIAttributeType, NSAttributeType.transformableAttributeType,
      NSAttributeType.objectIDAttributeType, NSAttributeType.compositeAttributeType,
    ]
    let newer: [NSAttributeDescription.AttributeType] = [
      NSAttributeDescription.AttributeType.undefined,
      NSAttributeDescription.AttributeType.integer16,
      NSAttributeDescription.AttributeType.integer32,
      NSAttributeDescription.AttributeType.integer64,
      NSAttributeDescription.AttributeType.decimal,
      NSAttributeDescription.AttributeType.double,
      NSAttributeDescription.AttributeType.float,
      NSAttributeDescription.AttributeType.string,
      NSAttributeDescription.AttributeType.boolean,
      NSAttributeDescription.AttributeType.date,
      NSAttributeDescription.AttributeType.binaryData,
      NSAttributeDescription.AttributeType.uuid,
      NSAttributeDescription.AttributeType.uri,
      NSAttributeDescription.AttributeType.transformable,
      NSAttributeDescription.AttributeType.objectID,
      NSAttributeDescription.AttributeType.composite,
    ]
    #expect(
      older.map(\.rawValue) == [
        0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000, 2100,
      ])
    #expect(newer.map(\.rawValue) == older.map(\.rawValue))
  }

  @Test("Attributes that are derived, composed, fetched or computed have Core Data's members")
  func others() {
    let _: ReferenceWritableKeyPath<NSDerivedAttributeDescription, CDECoreData.NSExpression?> =
      \NSDerivedAttributeDescription.derivationExpression
    let _: ReferenceWritableKeyPath<NSCompositeAttributeDescription, [NSAttributeDescription]> =
      \NSCompositeAttributeDescription.elements
    let _: ReferenceWritableKeyPath<NSFetchedPropertyDescription, NSFetchRequest<any NSFetchRequestResult>?> =
      \NSFetchedPropertyDescription.fetchRequest
    let _: ReferenceWritableKeyPath<NSExpressionDescription, CDECoreData.NSExpression?> =
      \NSExpressionDescription.expression
    let _: ReferenceWritableKeyPath<NSExpressionDescription, NSAttributeType> =
      \NSExpressionDescription.expressionResultType
    let _: ReferenceWritableKeyPath<NSExpressionDescription, NSAttributeDescription.AttributeType> =
      \NSExpressionDescription.resultType
    let attributes: [NSAttributeDescription] = [
      NSDerivedAttributeDescription(), NSCompositeAttributeDescription(),
    ]
    let properties: [NSPropertyDescription] =
      attributes + [NSFetchedPropertyDescription(), NSExpressionDescription()]
    #expect(properties.count == 4)
    let sum = NSExpressionDescription()
    sum.expression = NSExpression(forKeyPath: "rank")
    sum.expressionResultType = .integer64AttributeType
    #expect(sum.expression?.keyPath == "rank" && sum.resultType == .integer64)
  }

  @Test("An index has Core Data's members")
  func indexes() {
    typealias Index = NSFetchIndexDescription
    typealias Element = NSFetchIndexElementDescription
    let _: (String, [NSFetchIndexElementDescription]?) -> NSFetchIndexDescription =
      NSFetchIndexDescription.init(name:elements:)
    let _: ReferenceWritableKeyPath<Index, String> = \NSFetchIndexDescription.name
    let _: ReferenceWritableKeyPath<Index, [NSFetchIndexElementDescription]> =
      \NSFetchIndexDescription.elements
    let _: KeyPath<Index, NSEntityDescription?> = \NSFetchIndexDescription.entity
    let _: ReferenceWritableKeyPath<Index, NSPredicate?> = \NSFetchIndexDescription.partialIndexPredicate
    let _: (NSPropertyDescription, NSFetchIndexElementType) -> NSFetchIndexElementDescription =
      NSFetchIndexElementDescription.init(property:collationType:)
    let _: KeyPath<Element, NSPropertyDescription?> = \NSFetchIndexElementDescription.property
    let _: KeyPath<Element, String?> = \NSFetchIndexElementDescription.propertyName
    let _: ReferenceWritableKeyPath<Element, NSFetchIndexElementType> =
      \NSFetchIndexElementDescription.collationType
    let _: ReferenceWritableKeyPath<Element, Bool> = \NSFetchIndexElementDescription.isAscending
    let types: [NSFetchIndexElementType] = [NSFetchIndexElementType.binary, NSFetchIndexElementType.rTree]
    #expect(types.map(\.rawValue) == [0, 1])
    let attribute = NSAttributeDescription()
    attribute.name = "rank"
    let element = NSFetchIndexElementDescription(property: attribute, collationType: .binary)
    let index = NSFetchIndexDescription(name: "byRank", elements: [element])
    #expect(element.propertyName == "rank" && element.isAscending && index.elements == [element])
    #expect(index.name == "byRank" && index.entity == nil && index.partialIndexPredicate == nil)
  }
}
