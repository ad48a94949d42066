@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import CDEPredicates
import Foundation
import Testing

/// One small model for each element and attribute of model files, with the odd forms in which they occur.
@Suite("Reading models as they are edited")
struct ModelSourceTests {
  // MARK: Entities

  @Test("An entity has its name, abstractness, renaming identifier, modifier and user info")
  func entity() throws {
    let model = try model(
      """
      <entity name="Base" isAbstract="YES" elementID="OldBase" versionHashModifier="2" syncable="YES">
        <userInfo><entry key="k" value="v"/><entry key="empty" value=""/></userInfo>
      </entity>
      <entity name="Plain"/>
      """)
    let base = try model.entity("Base")
    #expect(base.isAbstract)
    #expect(base.renamingIdentifier == "OldBase")
    #expect(base.versionHashModifier == "2")
    #expect(base.userInfo as? [String: String] == ["k": "v", "empty": ""])
    let plain = try model.entity("Plain")
    #expect(!plain.isAbstract)
    #expect(plain.renamingIdentifier == "Plain")
    #expect(plain.managedObjectClassName == "NSManagedObject")
    #expect(plain.userInfo == nil)
    #expect(model.entities.map(\.name) == ["Base", "Plain"])
    #expect(model.versionIdentifiers == [""])
  }

  @Test(
    "A class is found in the module that asks when it is written with a dot",
    arguments: [
      ("Name", nil, "Name"), (".Name", "Shop", "Shop.Name"), (".Name", nil, "Name"),
      ("Other.Name", "Shop", "Other.Name"), ("", "Shop", "NSManagedObject"), (".", "Shop", "."),
    ] as [(String, String?, String)])
  func className(written: String, module: String?, found: String) throws {
    let model = try model("<entity name=\"E\" representedClassName=\"\(written)\"/>", module: module)
    #expect(try model.entity("E").managedObjectClassName == found)
  }

  @Test("Parents and children are connected, whatever their order in the file")
  func inheritance() throws {
    let model = try model(
      """
      <entity name="C" parentEntity="B"/><entity name="B" parentEntity="A"><attribute name="b" \
      optional="YES" attributeType="String"/></entity><entity name="A"><attribute name="a" \
      attributeType="String"/></entity><entity name="D" parentEntity="A"/>
      """)
    #expect(try model.entity("C").superentity?.superentity?.name == "A")
    #expect(try model.entity("A").subentities.map(\.name) == ["B", "D"])
    #expect(try model.entity("C").propertiesByName.keys.sorted() == ["a", "b"])
    _ = try model.freeze()
  }

  // MARK: Attributes

  @Test("Every name of a type is read")
  func types() throws {
    let names: [(String, NSAttributeType)] = [
      ("Integer 16", .integer16AttributeType), ("Integer 32", .integer32AttributeType),
      ("Integer 64", .integer64AttributeType), ("Decimal", .decimalAttributeType),
      ("Double", .doubleAttributeType), ("Float", .floatAttributeType), ("String", .stringAttributeType),
      ("Boolean", .booleanAttributeType), ("Date", .dateAttributeType), ("Binary", .binaryDataAttributeType),
      ("UUID", .UUIDAttributeType), ("URI", .URIAttributeType),
      ("Transformable", .transformableAttributeType), ("Undefined", .undefinedAttributeType),
    ]
    for (name, type) in names {
      let entity = try item("<attribute name=\"a\" attributeType=\"\(name)\"/>").entity
      #expect(try entity.attribute("a").attributeType == type)
      #expect(try !entity.attribute("a").isOptional)
    }
    let transient = try item("<attribute name=\"t\" optional=\"YES\" transient=\"YES\"/>")
    #expect(try transient.entity.attribute("t").attributeType == .undefinedAttributeType)
    _ = try transient.model.freeze()
  }

  @Test(
    "Defaults are read in all the forms that occur, and what is no value is left out",
    arguments: [
      ("Integer 16", "9999", 9999), ("Integer 16", "70000", nil), ("Integer 32", "NO", 0),
      ("Integer 32", "YES", 1), ("Integer 64", "0.0", 0), ("Integer 64", "-1", -1),
      ("Integer 64", "1.5", nil),
      ("Integer 64", "9223372036854775807", 9_223_372_036_854_775_807), ("Integer 64", "1e300", nil),
      ("Boolean", "YES", true), ("Boolean", "NO", false), ("Boolean", "1", true), ("Boolean", "0.0", false),
      ("Boolean", "maybe", nil), ("Double", "0", 0.0), ("Double", "-1.5", -1.5), ("Double", "nan", nil),
      ("Float", "1.5", 1.5), ("Float", "1e300", nil),
    ] as [(String, String, NSNumber?)])
  func numbers(type: String, text: String, expected: NSNumber?) throws {
    let (model, entity) = try item(
      "<attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
    #expect(try entity.attribute("a").defaultValue as? NSNumber == expected)
    _ = try model.freeze()
  }

  @Test("Defaults of the other types")
  func defaults() throws {
    let (model, entity) = try item(
      """
      <attribute name="text" attributeType="String" defaultValueString="a &lt;&amp;&#10; b"/>
      <attribute name="empty" attributeType="String" defaultValueString=""/>
      <attribute name="none" attributeType="String"/>
      <attribute name="decimal" attributeType="Decimal" defaultValueString="12.345678901234567890"/>
      <attribute name="junkDecimal" attributeType="Decimal" defaultValueString="12 apples"/>
      <attribute name="date" attributeType="Date" defaultDateTimeInterval="-978307200" \
      defaultValueString="1970"/>
      <attribute name="oldDate" attributeType="Date" defaultValueString="0"/>
      <attribute name="junkDate" attributeType="Date" defaultValueString="tomorrow"/>
      <attribute name="uuid" attributeType="UUID" defaultValueString="empy"/>
      <attribute name="realUUID" attributeType="UUID" \
      defaultValueString="6F9619FF-8B86-D011-B42D-00C04FC964FF"/>
      <attribute name="data" attributeType="Binary" defaultValueString=""/>
      <attribute name="uri" attributeType="URI" defaultValueString="https://example.org/a"/>
      """)
    #expect(try entity.attribute("text").defaultValue as? String == "a <&\n b")
    #expect(try entity.attribute("empty").defaultValue as? String == "")
    #expect(try entity.attribute("none").defaultValue == nil)
    #expect(
      try entity.attribute("decimal").defaultValue as? NSDecimalNumber
        == NSDecimalNumber(string: "12.345678901234567890"))
    #expect(try entity.attribute("junkDecimal").defaultValue == nil)
    #expect(try entity.attribute("date").defaultValue as? Date == Date(timeIntervalSince1970: 0))
    #expect(
      try entity.attribute("oldDate").defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 0))
    #expect(try entity.attribute("junkDate").defaultValue == nil)
    #expect(try entity.attribute("uuid").defaultValue == nil)
    #expect(
      try entity.attribute("realUUID").defaultValue as? UUID
        == UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
    #expect(try entity.attribute("data").defaultValue == nil)
    #expect(try entity.attribute("uri").defaultValue as? URL == URL(string: "https://example.org/a"))
    _ = try model.freeze()
  }

  @Test("Flags, names and user info of an attribute")
  func attributeFlags() throws {
    let (model, entity) = try item(
      """
      <attribute name="a" optional="YES" transient="NO" attributeType="Transformable" indexed="YES" \
      customClassName="Color" valueTransformerName="NSSecureUnarchiveFromData" elementID="old" \
      versionHashModifier="m" allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES" \
      spotlightIndexingEnabled="YES" allowsCloudEncryption="YES" storedInTruthFile="YES" syncable="YES" \
      usesScalarValueType="NO" somethingNew="YES"><userInfo/><somethingNew><deep a="b"/></somethingNew></attribute>
      """)
    let attribute = try entity.attribute("a")
    #expect(attribute.isOptional)
    #expect(!attribute.isTransient)
    #expect(attribute.isIndexed)
    #expect(attribute.attributeValueClassName == "Color")
    #expect(attribute.valueTransformerName == "NSSecureUnarchiveFromData")
    #expect(attribute.renamingIdentifier == "old")
    #expect(attribute.versionHashModifier == "m")
    #expect(attribute.allowsExternalBinaryDataStorage)
    #expect(attribute.preservesValueInHistoryOnDeletion)
    #expect(attribute.isIndexedBySpotlight)
    #expect(attribute.allowsCloudEncryption)
    #expect(attribute.userInfo?.isEmpty == true)
    _ = try model.freeze()
    let copy = try (model.copy() as! NSManagedObjectModel).entity("Item").attribute("a")
    #expect(copy.isIndexedBySpotlight)
    #expect(copy.allowsCloudEncryption)
  }

  @Test("Bounds become conditions with Core Data's codes")
  func validation() throws {
    let entity = try item(
      """
      <attribute name="n" attributeType="Integer 16" minValueString="1" maxValueString="9"/>
      <attribute name="d" attributeType="Double" minValueString="0.5"/>
      <attribute name="s" attributeType="String" minValueString="1" maxValueString="5" \
      regularExpressionString="\\A[^@]+@([^@\\.]+\\.)+[^@\\.]+\\z"/>
      <attribute name="t" attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="60" \
      minValueString="1.1.2001"/>
      <attribute name="junk" attributeType="Integer 16" minValueString="few"/>
      """
    ).entity
    func rules(_ name: String) throws -> [String] {
      let attribute = try entity.attribute(name)
      return try zip(attribute.validationPredicates, attribute.validationWarnings).map { predicate, warning in
        "\(try predicate.predicateTree().predicateFormat) \((warning as? NSNumber)?.intValue ?? 0)"
      }
    }
    #expect(try rules("n") == ["SELF >= 1 1620", "SELF <= 9 1610"])
    #expect(try rules("d") == ["SELF >= 0.5 1620"])
    #expect(
      try rules("s") == [
        "length >= 1 1670", "length <= 5 1660",
        #"SELF MATCHES "\\A[^@]+@([^@\\.]+\\.)+[^@\\.]+\\z" 1680"#,
      ])
    #expect(
      try rules("t") == [
        "SELF >= CAST(0.000000, \"NSDate\") 1640", "SELF <= CAST(60.000000, \"NSDate\") 1630",
      ])
    #expect(try rules("junk") == [])
    let pattern = try #require(try entity.attribute("s").validationPredicates.last)
    #expect(pattern.evaluate(with: "a@b.c"))
    #expect(!pattern.evaluate(with: "ab.c"))
  }

  @Test("Derived attributes and composites, nested ones too")
  func derivedAndComposite() throws {
    let (model, entity) = try item(
      """
      <attribute name="name" attributeType="String"/>
      <attribute name="folded" attributeType="String" derived="YES" derivationExpression="canonical:(name)"/>
      <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/></entity>
      <composite name="Place"><attribute name="lat" attributeType="Double" defaultValueString="1"/>
      <attribute name="inner" attributeType="Composite" composite="Inner"/></composite>
      <composite name="Inner"><attribute name="x" attributeType="Integer 16"/></composite>
      <composite name="Empty"/>
      <entity name="Other">
      """)
    let derived = try #require(try entity.attribute("folded") as? NSDerivedAttributeDescription)
    #expect(derived.derivation == "canonical:(name)")
    let place = try #require(try entity.attribute("place") as? NSCompositeAttributeDescription)
    #expect(place.elements.map(\.name) == ["lat", "inner"])
    #expect((place.elements[1] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["x"])
    _ = try model.freeze()
  }

  // MARK: Relationships

  @Test("Relationships have counts, rules, orders and inverses")
  func relationships() throws {
    let model = try model(
      """
      <entity name="A">
        <relationship name="one" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="B" \
      inverseName="many" inverseEntity="B"/>
        <relationship name="some" toMany="YES" minCount="3" maxCount="10" deletionRule="Deny" ordered="YES" \
      destinationEntity="B"/>
        <relationship name="self" maxCount="1" deletionRule="No Action" destinationEntity="A" \
      inverseName="self" inverseEntity="A"/>
        <relationship name="transient" transient="YES" optional="YES" maxCount="1" destinationEntity="B"/>
      </entity>
      <entity name="B"><relationship name="many" toMany="YES" deletionRule="Nullify" destinationEntity="A" \
      inverseName="one" inverseEntity="A"/></entity>
      <entity name="C" parentEntity="B"/>
      <entity name="D"><relationship name="c" toMany="YES" destinationEntity="C" inverseName="many"/></entity>
      """)
    let a = try model.entity("A")
    let one = try a.relationship("one")
    #expect(!one.isToMany && one.isOptional && one.deleteRule == .cascadeDeleteRule && one.minCount == 0)
    #expect(try one.inverseRelationship === model.entity("B").relationship("many"))
    let some = try a.relationship("some")
    #expect(some.isToMany && some.isOrdered && !some.isOptional)
    #expect((some.minCount, some.maxCount) == (3, 10))
    #expect(some.deleteRule == .denyDeleteRule)
    #expect(try a.relationship("self").inverseRelationship === a.relationship("self"))
    #expect(try a.relationship("self").deleteRule == .noActionDeleteRule)
    #expect(try a.relationship("transient").isTransient)
    let many = try model.entity("B").relationship("many")
    #expect(many.maxCount == 0 && many.deleteRule == .nullifyDeleteRule)
    #expect(try model.entity("D").relationship("c").inverseRelationship === many, "an inherited inverse")
  }

  // MARK: Indexes and constraints

  @Test("Indexes of every kind, and constraints")
  func indexes() throws {
    let (model, entity) = try item(
      """
      <attribute name="x" optional="YES" attributeType="Double"/>
      <attribute name="y" optional="YES" attributeType="Double"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <fetchIndex name="byXY"><fetchIndexElement property="x" type="Binary" order="descending"/>
      <fetchIndexElement property="y" type="Binary" order="ascending"/></fetchIndex>
      <fetchIndex name="near"><fetchIndexElement property="x" type="RTree" order="ascending"/>
      <fetchIndexElement property="y" type="RTree" order="ascending"/></fetchIndex>
      <fetchIndex name="some" partialIndexPredicate="x != nil AND name != nil">
      <fetchIndexElement property="x" type="Binary" order="ascending"/></fetchIndex>
      <fetchIndex name="folded"><fetchIndexElement expression="canonical:(name)" expressionType="String" \
      type="Binary" order="ascending"/></fetchIndex>
      <uniquenessConstraints><uniquenessConstraint><constraint value="name"/><constraint value="x"/>\
      </uniquenessConstraint><uniquenessConstraint/></uniquenessConstraints>
      <compoundIndexes><compoundIndex><index value="name"/><index value="y"/></compoundIndex></compoundIndexes>
      """)
    #expect(entity.indexes.map(\.name) == ["byXY", "near", "some", "folded"])
    let first = entity.indexes[0].elements
    #expect(first.map(\.propertyName) == ["x", "y"])
    #expect(first.map(\.isAscending) == [false, true])
    #expect(entity.indexes[1].elements.map(\.collationType) == [.rTree, .rTree])
    #expect(entity.indexes[2].partialNotNil == ["x", "name"])
    #expect(
      try entity.indexes[2].partialIndexPredicate?.predicateTree().predicateFormat
        == "x != nil AND name != nil")
    #expect(entity.indexes[3].elements[0].expressionFormat == "canonical:(name)")
    #expect(entity.indexes[3].elements[0].propertyName == nil)
    #expect(entity.uniquenessConstraints as? [[String]] == [["name", "x"]])
    #expect(entity.compoundIndexes as? [[String]] == [["name", "y"]])
    let frozen = try model.freeze()
    #expect(
      frozen.schema.entities[0].indexes.map(\.name) == ["byXY", "near", "some", "name_y"],
      "the store makes no index of an expression")
    let copy = try (model.copy() as! NSManagedObjectModel).entity("Item")
    #expect(copy.indexes[3].elements[0].expressionFormat == "canonical:(name)")
    #expect(copy.indexes[2].partialIndexPredicate != nil)
  }

  // MARK: Requests and configurations

  @Test("Fetched properties, templates and configurations")
  func requests() throws {
    let model = try model(
      """
      <entity name="Item"><attribute name="uuid" attributeType="UUID"/>
      <fetchedProperty name="all" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" \
      entity="Other" predicateString="uuid == $FETCH_SOURCE.uuid"/></fetchedProperty>
      <fetchedProperty name="any"><fetchRequest name="fetchedPropertyFetchRequest" entity="Other"/>\
      </fetchedProperty></entity>
      <entity name="Other"><attribute name="uuid" attributeType="UUID"/></entity>
      <fetchRequest name="byID" entity="Item" predicateString="uuid == $UUID" fetchLimit="5" \
      fetchBatchSize="2" resultType="1" includeSubentities="NO" includePropertyValues="NO" \
      includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
      <fetchRequest name="plain" entity="Item"/>
      <fetchRequest name="malformed" entity="Item" predicateString="uuid === ("/>
      <configuration name="Local" usedWithCloudKit="YES"><memberEntity name="Item"/></configuration>
      <configuration name="Empty"/>
      <elements><element name="Item" positionX="0"/></elements>
      """)
    let all = try #require(try model.entity("Item").propertiesByName["all"] as? NSFetchedPropertyDescription)
    #expect(all.isOptional && all.isTransient)
    #expect(all.template?.entityName == "Other")
    #expect(
      try all.template?.predicate?.predicateTree().predicateFormat == "uuid == $FETCH_SOURCE.uuid")
    let request = try #require(model.fetchRequestTemplates["byID"])
    #expect((request.fetchLimit, request.fetchBatchSize, request.resultType) == (5, 2, 1))
    #expect(!request.includesSubentities && !request.includesPropertyValues)
    #expect(!request.includesPendingChanges && !request.returnsObjectsAsFaults)
    #expect(request.returnsDistinctResults)
    let plain = try #require(model.fetchRequestTemplates["plain"])
    #expect(plain.predicate == nil && plain.includesSubentities && plain.returnsObjectsAsFaults)
    let malformed = try #require(model.fetchRequestTemplates["malformed"]?.predicate)
    #expect(throws: PredicateTreeError.self) { _ = try malformed.predicateTree() }
    #expect(model.configurations == ["Empty", "Local"])
    #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Item"])
    #expect(model.entities(forConfigurationName: "Empty")?.isEmpty == true)
    let copy = model.copy() as! NSManagedObjectModel
    #expect(copy.fetchRequestTemplates.keys.sorted() == ["byID", "malformed", "plain"])
    #expect(NSManagedObjectModel(byMerging: [model])?.fetchRequestTemplates.count == 3)
    let copied = try copy.entity("Item").propertiesByName["all"] as? NSFetchedPropertyDescription
    #expect(copied?.template?.entityName == "Other")
    _ = try model.freeze()
  }
}
