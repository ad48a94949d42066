import CDESwiftData
import Foundation
import Testing

@Suite("The interface of a schema's properties")
struct PropertyInterfaceTests {
  @Test("Every property says what it is")
  func property() throws {
    func check<Property: SchemaProperty>(_ type: Property.Type) {
      isHashable(Property.self)
      isCodable(Property.self)
      let _: KeyPath<Property, String> = \Property.name
      let _: KeyPath<Property, String> = \Property.originalName
      let _: KeyPath<Property, any Any.Type> = \Property.valueType
      let _: KeyPath<Property, Bool> = \Property.isAttribute
      let _: KeyPath<Property, Bool> = \Property.isRelationship
      let _: KeyPath<Property, Bool> = \Property.isTransient
      let _: KeyPath<Property, Bool> = \Property.isOptional
      let _: KeyPath<Property, Bool> = \Property.isUnique
    }
    isSchemaProperty(Schema.Attribute.self)
    isSchemaProperty(Schema.Relationship.self)
    isSchemaProperty(Schema.CompositeAttribute.self)
    check(Schema.Attribute.self)
    check(Schema.Relationship.self)
    check(Schema.CompositeAttribute.self)
    let trip = try #require(Schema([Journey.self]).entity(for: Journey.self))
    let name = try #require(trip.storedPropertiesByName["name"])
    #expect(name.isAttribute && !name.isRelationship && name.isUnique && !name.isTransient)
    #expect(name.originalName == "title" && name.valueType == String.self && !name.isOptional)
  }

  @Test("An attribute has its options, its type and its default")
  func attribute() throws {
    let _: (Schema.Attribute.Option..., String?, String?) -> Schema.Attribute =
      Schema.Attribute.init(_:originalName:hashModifier:)
    let _: (String, String?, [Schema.Attribute.Option], any Any.Type, Any?, String?) -> Schema.Attribute =
      Schema.Attribute.init(name:originalName:options:valueType:defaultValue:hashModifier:)
    let _: KeyPath<Schema.Attribute, String> = \Schema.Attribute.name
    let _: KeyPath<Schema.Attribute, String> = \Schema.Attribute.originalName
    let _: KeyPath<Schema.Attribute, [Schema.Attribute.Option]> = \Schema.Attribute.options
    let _: KeyPath<Schema.Attribute, any Any.Type> = \Schema.Attribute.valueType
    let _: KeyPath<Schema.Attribute, Any?> = \Schema.Attribute.defaultValue
    let _: KeyPath<Schema.Attribute, Bool> = \Schema.Attribute.isOptional
    let _: KeyPath<Schema.Attribute, String?> = \Schema.Attribute.hashModifier
    let _: KeyPath<Schema.Attribute, Bool> = \Schema.Attribute.isUnique
    let _: KeyPath<Schema.Attribute, Bool> = \Schema.Attribute.isTransformable
    isHashable(Schema.Attribute.Option.self)
    isCodable(Schema.Attribute.Option.self)
    isSendable(Schema.Attribute.Option.self)
    let options: [Schema.Attribute.Option] = [
      Schema.Attribute.Option.unique, Schema.Attribute.Option.externalStorage,
      Schema.Attribute.Option.allowsCloudEncryption, Schema.Attribute.Option.preserveValueOnDeletion,
      Schema.Attribute.Option.ephemeral, Schema.Attribute.Option.spotlight,
      Schema.Attribute.Option.transformable(by: "Name"),
      Schema.Attribute.Option.transformable(by: ValueTransformer.self),
    ]
    let _: (ValueTransformer.Type) -> Schema.Attribute.Option =
      Schema.Attribute.Option.transformable(by:)
    let _: (String) -> Schema.Attribute.Option = Schema.Attribute.Option.transformable(by:)
    #expect(Set(options).count == 8)

    let trip = try #require(Schema([Journey.self]).entity(for: Journey.self))
    let rating = try #require(trip.attributesByName["rating"])
    #expect(rating.defaultValue as? Int == 3 && rating.options.isEmpty && rating.hashModifier == nil)
    #expect(trip.attributesByName["image"]?.options == [.externalStorage])
    #expect(trip.attributesByName["name"]?.hashModifier == "2")
    let transformable = Schema.Attribute(
      name: "a", options: [.transformable(by: "Name")], valueType: Int.self)
    #expect(transformable.isTransformable && !transformable.isUnique)
    let address: Schema.Attribute? = trip.attributesByName["address"]
    let _: KeyPath<Schema.CompositeAttribute, [Schema.Attribute]> = \Schema.CompositeAttribute.properties
    let composite = try #require(address as? Schema.CompositeAttribute)
    #expect(composite.properties.map(\.name) == ["city", "zip"] && composite.isOptional)
  }

  @Test("A relationship has its destination, its inverse, its rule and its counts")
  func relationship() throws {
    let _:
      (
        Schema.Relationship.Option..., Schema.Relationship.DeleteRule, Int?, Int?, String?, AnyKeyPath?,
        String?
      ) -> Schema.Relationship =
        Schema.Relationship.init(
          _:deleteRule:minimumModelCount:maximumModelCount:originalName:inverse:hashModifier:)
    let _: KeyPath<Schema.Relationship, String> = \Schema.Relationship.name
    let _: KeyPath<Schema.Relationship, String> = \Schema.Relationship.originalName
    let _: KeyPath<Schema.Relationship, AnyKeyPath?> = \Schema.Relationship.keypath
    let _: KeyPath<Schema.Relationship, [Schema.Relationship.Option]> = \Schema.Relationship.options
    let _: KeyPath<Schema.Relationship, any Any.Type> = \Schema.Relationship.valueType
    let _: KeyPath<Schema.Relationship, String> = \Schema.Relationship.destination
    let _: KeyPath<Schema.Relationship, Schema.Relationship.DeleteRule> = \Schema.Relationship.deleteRule
    let _: KeyPath<Schema.Relationship, String?> = \Schema.Relationship.inverseName
    let _: KeyPath<Schema.Relationship, AnyKeyPath?> = \Schema.Relationship.inverseKeyPath
    let _: KeyPath<Schema.Relationship, Int?> = \Schema.Relationship.minimumModelCount
    let _: KeyPath<Schema.Relationship, Int?> = \Schema.Relationship.maximumModelCount
    let _: KeyPath<Schema.Relationship, String?> = \Schema.Relationship.hashModifier
    let _: KeyPath<Schema.Relationship, Bool> = \Schema.Relationship.isToOneRelationship
    let _: KeyPath<Schema.Relationship, Bool> = \Schema.Relationship.isOptional
    let rules: [Schema.Relationship.DeleteRule] = [
      Schema.Relationship.DeleteRule.noAction, Schema.Relationship.DeleteRule.nullify,
      Schema.Relationship.DeleteRule.cascade, Schema.Relationship.DeleteRule.deny,
    ]
    #expect(Set(rules).count == 4)
    isCodable(Schema.Relationship.DeleteRule.self)
    #expect([Schema.Relationship.Option.unique] == [.unique])

    let stops = try #require(Schema([Journey.self]).entity(for: Journey.self)?.relationshipsByName["stops"])
    #expect(stops.destination == "Halt" && stops.inverseName == "trip" && stops.deleteRule == .cascade)
    #expect(stops.inverseKeyPath == \Halt.trip && stops.keypath == \Journey.stops)
    #expect(stops.maximumModelCount == 9 && stops.minimumModelCount == 0 && stops.hashModifier == "3")
    #expect(!stops.isToOneRelationship && !stops.isOptional && stops.originalName == "places")
    let plain = Schema.Relationship()
    #expect(plain.deleteRule == .nullify && plain.minimumModelCount == 0 && plain.options.isEmpty)
  }

  @Test("What @Model says of a property has its name, its key path, its default and its options")
  func metadata() {
    let _: (String, AnyKeyPath, Any?, Any?) -> Schema.PropertyMetadata =
      Schema.PropertyMetadata.init(name:keypath:defaultValue:metadata:)
    let _: KeyPath<Schema.PropertyMetadata, String> = \Schema.PropertyMetadata.name
    let _: KeyPath<Schema.PropertyMetadata, AnyKeyPath> = \Schema.PropertyMetadata.keypath
    let _: KeyPath<Schema.PropertyMetadata, Any?> = \Schema.PropertyMetadata.defaultValue
    let _: KeyPath<Schema.PropertyMetadata, Any?> = \Schema.PropertyMetadata.metadata
    let name = Journey.schemaMetadata.first
    #expect(name?.name == "name" && name?.keypath == \Journey.name && name?.defaultValue == nil)
    #expect((name?.metadata as? Schema.Attribute)?.options == [.unique])
  }

  @Test("Constraints and indexes are made of key paths")
  func constraints() {
    let _: ([PartialKeyPath<Journey>]...) -> Schema.Unique<Journey> = Schema.Unique<Journey>.init(_:)
    let _: ([PartialKeyPath<Journey>]...) -> Schema.Index<Journey> = Schema.Index<Journey>.init(_:)
    let _: (Schema.Index<Journey>.Types<Journey>...) -> Schema.Index<Journey> = Schema.Index<Journey>.init(_:)
    let _: ([PartialKeyPath<Journey>]) -> Schema.Index<Journey>.Types<Journey> =
      Schema.Index<Journey>.Types<Journey>.binary(_:)
    let _: ([PartialKeyPath<Journey>]) -> Schema.Index<Journey>.Types<Journey> =
      Schema.Index<Journey>.Types<Journey>.rtree(_:)
    #expect(Schema.Unique<Journey>([\.name]).constraints == [[\Journey.name]])
    #expect(Schema.Index<Journey>([\.name], [\.start]).indices.count == 2)
  }
}
