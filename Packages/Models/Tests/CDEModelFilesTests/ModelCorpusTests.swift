@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import CDEPredicates
import Foundation
import Testing

/// Forms of model files as applications have them, beside those of ``ModelSourceTests``.
@Suite("Model files as they are found")
struct ModelCorpusTests {
  @Test("What Xcode writes about itself and about the editor's picture changes nothing")
  func editor() throws {
    let body = """
      <entity name="Item" representedClassName="Item" syncable="YES" codeGenerationType="class">
        <attribute name="title" optional="YES" attributeType="String" syncable="YES"/>
      </entity>
      <entity name="Kept" syncable="NO" coreSpotlightDisplayNameExpression="title"/>
      <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Item"/></configuration>
      """
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model name="Shop" type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
      lastSavedToolsVersion="22522" minimumToolsVersion="Automatic" systemVersion="23C71" sourceLanguage="Swift" \
      macOSVersion="Automatic" iOSVersion="Automatic" usedWithCloudKit="false" usedWithSwiftData="YES" \
      userDefinedModelVersionIdentifier="2.0">\(body)
        <elements>
          <element name="Item" positionX="-63" positionY="-18.5" width="128" height="44"/>
          <element name="Gone" positionX="" positionY="9e99" width="-1" height=""/>
        </elements>
      </model>
      """
    let full = try ModelSource(xml: Data(text.utf8), file: "contents").makeModel()
    #expect(full.versionIdentifiers == ["2.0"])
    full.versionIdentifiers = [""]
    #expect(ModelText.lines(full) == ModelText.lines(try model(body)))
    #expect(full.entities(forConfigurationName: "Cloud")?.map(\.name) == ["Item"])
  }

  @Test(
    "Relationships have all flags, names and user info that attributes have, and counts at the to-one side")
  func relationships() throws {
    let (model, entity) = try item(
      """
      <relationship name="owner" optional="YES" transient="YES" indexed="YES" spotlightIndexingEnabled="YES" \
      syncable="YES" elementID="holder" minCount="1" maxCount="1" deletionRule="Nullify" ordered="NO" \
      destinationEntity="Item"><userInfo><entry key="sync.remoteKey" value="owner_id"/></userInfo></relationship>
      <relationship name="odd" toMany="YES" minCount="-1" maxCount="many" deletionRule="Explode" ordered="YES" \
      destinationEntity="Item" inverseName="" inverseEntity=""/>
      <relationship name="lost" maxCount="1" destinationEntity="Item" inverseName="nowhere" inverseEntity="Item"/>
      """)
    let owner = try entity.relationship("owner")
    #expect(owner.isOptional && owner.isTransient && owner.isIndexed && owner.isIndexedBySpotlight)
    #expect(owner.renamingIdentifier == "holder")
    #expect((owner.minCount, owner.maxCount) == (1, 1))
    #expect(owner.userInfo as? [String: String] == ["sync.remoteKey": "owner_id"])
    let odd = try entity.relationship("odd")
    #expect((odd.minCount, odd.maxCount) == (0, 0))
    #expect(odd.isToMany && odd.isOrdered && odd.deleteRule == .nullifyDeleteRule)
    #expect(odd.inverseRelationship == nil)
    #expect(try entity.relationship("lost").inverseRelationship == nil)
    _ = try model.freeze()
  }

  @Test(
    "Names of transformers are kept as they are written",
    arguments: [
      ("valueTransformerName=\"NSSecureUnarchiveFromData\"", "NSSecureUnarchiveFromData"),
      (
        "valueTransformerName=\"NSSecureUnarchiveFromDataTransformer\"",
        "NSSecureUnarchiveFromDataTransformer"
      ),
      (
        "valueTransformerName=\"StringCryptoTransformer\" customClassName=\"NSArray\"",
        "StringCryptoTransformer"
      ),
      ("valueTransformerName=\"\"", nil), ("", nil),
    ] as [(String, String?)])
  func transformers(attributes: String, name: String?) throws {
    let (model, entity) = try item("<attribute name=\"a\" attributeType=\"Transformable\" \(attributes)/>")
    #expect(try entity.attribute("a").valueTransformerName == name)
    _ = try model.freeze()
  }

  @Test(
    "An attribute without a type is undefined, whether the name is missing or empty",
    arguments: ["", "Undefined"])
  func undefined(type: String) throws {
    let (model, entity) = try item(
      "<attribute name=\"a\" optional=\"YES\" transient=\"YES\" attributeType=\"\(type)\"/>")
    #expect(try entity.attribute("a").attributeType == .undefinedAttributeType)
    _ = try model.freeze()
    let error = fileError { _ = try item("<attribute name=\"a\"\nattributeType=\"Integer 128\"/>") }
    #expect(error?.code == .unsupportedFormat)
    #expect(error?.element == "attribute")
  }

  @Test(
    "Every derivation that occurs is read, compiled, and read again",
    arguments: [
      "category.name", "now()", "canonical:(name)", "canonical:(optionalString)", "articles.@count",
      "oneToMany.@count", "photos.@count", "otherAccount.serverId", "lastMessage.createdAt", "pages.@count",
    ])
  func derivations(text: String) throws {
    let names = ["articles", "oneToMany", "photos", "pages"]
    let relationships =
      names.map { "<relationship name=\"\($0)\" toMany=\"YES\" destinationEntity=\"Item\"/>" }
      + ["category", "otherAccount", "lastMessage"].map {
        "<relationship name=\"\($0)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Item\"/>"
      }
    let type =
      text.hasSuffix("@count") ? "Integer 64" : text == "now()" || text.hasSuffix("At") ? "Date" : "String"
    let (model, entity) = try item(
      """
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="optionalString" optional="YES" attributeType="String"/>
      <attribute name="serverId" optional="YES" attributeType="String"/>
      <attribute name="createdAt" optional="YES" attributeType="Date"/>
      <attribute name="derivedOne" optional="YES" attributeType="\(type)" derived="YES" \
      derivationExpression="\(text)"/>\(relationships.joined())
      """)
    let derived = try #require(try entity.attribute("derivedOne") as? NSDerivedAttributeDescription)
    #expect(derived.derivation == text)
    let compiled = try NSManagedObjectModel(compiledModel: try ModelCompiler.data(of: model))
    #expect(compiled.versionChecksum == model.versionChecksum)
    #expect(compiled.entitiesByName["Item"]?.attributesByName["derivedOne"] is NSDerivedAttributeDescription)
    _ = try model.freeze()
  }

  @Test(
    "Every condition of a request or a fetched property that occurs is read",
    arguments: [
      "uuid == $UUID", "oneToOne.name == $NAME OR string == $NEEDLE", "humanName == $humanName",
      "parent == $parent", "parent.parentName == $parentName", "name ==[cd] $NAME", "true == true",
      "taskIdentifier == $FETCH_SOURCE.identifier", "",
    ])
  func conditions(text: String) throws {
    let model = try model(
      """
      <entity name="Item"><fetchedProperty name="found" optional="YES"><fetchRequest \
      name="fetchedPropertyFetchRequest" entity="Item" predicateString="\(text)"/><userInfo>\
      <entry key="jsonKeyPath"/></userInfo></fetchedProperty></entity>
      <fetchRequest name="template" entity="Item" predicateString="\(text)" fetchLimit="-1" fetchBatchSize="x" \
      resultType="2"><sortDescriptors/></fetchRequest>
      """)
    let property = try #require(
      try model.entity("Item").propertiesByName["found"] as? NSFetchedPropertyDescription)
    #expect(property.userInfo as? [String: String] == ["jsonKeyPath": ""])
    let template = try #require(model.fetchRequestTemplates["template"])
    #expect((template.fetchLimit, template.fetchBatchSize, template.resultType) == (0, 0, 2))
    for predicate in [property.template?.predicate, template.predicate] {
      #expect((predicate == nil) == text.isEmpty)
      _ = try predicate?.predicateTree()
    }
    let compiled = try NSManagedObjectModel(compiledModel: try ModelCompiler.data(of: model))
    #expect(ModelText.lines(compiled) == ModelText.lines(model))
  }

  @Test("A mapping of a relationship names another path and another mapping of entities")
  func mappedRelationships() throws {
    let text = MappingFixtures.database(
      MappingFixtures.models + MappingFixtures.entity(2, "Person", "Person", 2)
        + MappingFixtures.entity(3, "Place", "Place", 1, [("name", "Homes")])
        + MappingFixtures.entity(
          4, "Place", "Place", 3, [("name", "Places"), ("mappingtypename", "Undefined")])
        + MappingFixtures.relationship(
          5, of: 2, "home", [("sourcekeypath", "home"), ("sourcemappingname", "Homes")]))
    let folder = try MappingFixtures.folder(text)
    let mapping = try NSMappingModel(mappingFile: folder.appendingPathComponent("App/Mapping.xcmappingmodel"))
    #expect(mapping.entityMappings.map(\.name) == ["Homes", "PersonToPerson", "Places"])
    let home = mapping.entityMappingsByName["PersonToPerson"]?.relationshipMappings?.first
    #expect(
      home?.valueExpression?.description.contains(
        "destinationInstancesForEntityMappingNamed:sourceInstances:") == true)
    #expect(home?.valueExpression?.arguments?.first?.constantValue as? String == "Homes")
  }
}
