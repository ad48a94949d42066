@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import CDEPredicates
import Foundation
import Testing

@Suite("Compiled models")
struct CompiledModelTests {
  /// A model with every kind of thing that a model file can say.
  static let everything = """
    <entity name="Base" representedClassName=".Base" isAbstract="YES" elementID="OldBase" \
    versionHashModifier="2"><attribute name="id" attributeType="UUID"/><userInfo><entry key="k" value="v"/>\
    </userInfo><uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint>\
    </uniquenessConstraints></entity>
    <entity name="Item" representedClassName="Item" parentEntity="Base">
      <attribute name="i16" attributeType="Integer 16" defaultValueString="-3" minValueString="-5" \
    maxValueString="9"/>
      <attribute name="i32" attributeType="Integer 32" defaultValueString="70000"/>
      <attribute name="i64" attributeType="Integer 64" defaultValueString="9223372036854775807"/>
      <attribute name="dec" attributeType="Decimal" defaultValueString="-12.50" minValueString="0.5"/>
      <attribute name="dbl" attributeType="Double" defaultValueString="0.1" maxValueString="1.5"/>
      <attribute name="flt" attributeType="Float" defaultValueString="0.1"/>
      <attribute name="str" attributeType="String" defaultValueString="Grüße $null" minValueString="1" \
    maxValueString="20" regularExpressionString="a.*" renamed="x" elementID="oldStr"/>
      <attribute name="nul" attributeType="String" defaultValueString="$null"/>
      <attribute name="yes" attributeType="Boolean" defaultValueString="YES"/>
      <attribute name="day" optional="YES" attributeType="Date" defaultDateTimeInterval="1.5" \
    minDateTimeInterval="0" maxDateTimeInterval="100"/>
      <attribute name="bin" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="uid" optional="YES" attributeType="UUID" indexed="YES" preserveAfterDeletion="YES" \
    defaultValueString="6F9619FF-8B86-D011-B42D-00C04FC964FF"/>
      <attribute name="uri" optional="YES" attributeType="URI" defaultValueString="https://example.org/"/>
      <attribute name="obj" optional="YES" attributeType="Transformable" customClassName="Color" \
    valueTransformerName="ColorTransformer" versionHashModifier="c"/>
      <attribute name="tmp" optional="YES" transient="YES"/>
      <attribute name="info" attributeType="String"><userInfo><entry key="a" value=""/></userInfo></attribute>
      <attribute name="count" attributeType="Integer 64" derived="YES" derivationExpression="parts.@count"/>
      <attribute name="fold" attributeType="String" derived="YES" derivationExpression="canonical:(str)"/>
      <attribute name="owned" attributeType="String" derived="YES" derivationExpression="owner.name"/>
      <attribute name="now" attributeType="Date" derived="YES" derivationExpression="now()"/>
      <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
      <relationship name="parts" optional="YES" toMany="YES" ordered="YES" minCount="1" maxCount="9" \
    deletionRule="Cascade" destinationEntity="Owner" inverseName="item" inverseEntity="Owner"/>
      <relationship name="owner" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Owner"/>
      <relationship name="same" toMany="YES" deletionRule="No Action" destinationEntity="Item" \
    inverseName="same" inverseEntity="Item"/>
      <fetchedProperty name="found" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" \
    entity="Owner" predicateString="name == $FETCH_SOURCE.str AND TRUEPREDICATE"/></fetchedProperty>
      <fetchIndex name="by"><fetchIndexElement property="str" type="Binary" order="descending"/>\
    <fetchIndexElement property="i16" type="Binary" order="ascending"/></fetchIndex>
      <fetchIndex name="near" partialIndexPredicate="dbl != nil"><fetchIndexElement property="dbl" \
    type="RTree" order="ascending"/><fetchIndexElement property="flt" type="RTree" order="ascending"/>\
    </fetchIndex>
      <fetchIndex name="folded"><fetchIndexElement expression="lowercase:(str)" type="Binary" \
    order="ascending"/></fetchIndex>
      <compoundIndexes><compoundIndex><index value="str"/><index value="i16"/></compoundIndex></compoundIndexes>
    </entity>
    <entity name="Owner" representedClassName="Other.Owner"><attribute name="name" attributeType="String"/>
      <relationship name="item" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Item" \
    inverseName="parts" inverseEntity="Item"/></entity>
    <composite name="Place"><attribute name="lat" attributeType="Double" defaultValueString="1"/>
      <attribute name="inner" attributeType="Composite" composite="Inner"/></composite>
    <composite name="Inner"><attribute name="x" optional="YES" attributeType="Integer 16"/></composite>
    <fetchRequest name="one" entity="Item" predicateString="NOT (str BEGINSWITH[cd] $S OR ANY parts.name IN \
    {'a', 'b'}) AND i16 BETWEEN {1, $MAX} AND str LIKE 'x*' AND SUBQUERY(parts, $p, $p.name == 'q').@count \
    &gt; 0 AND i16 + 1 != 2 AND parts.@avg.name &lt;= 5" fetchLimit="7" fetchBatchSize="3" resultType="2" \
    includeSubentities="NO" returnDistinctResults="YES"/>
    <fetchRequest name="all" entity="Owner" includesPendingChanges="NO" returnObjectsAsFaults="NO"/>
    <fetchRequest name="const" entity="Item" predicateString="day == CAST(5, 'NSDate') OR str == nil OR yes == \
    YES OR dec == 1.5"/>
    <configuration name="Local"><memberEntity name="Item"/><memberEntity name="Base"/></configuration>
    <configuration name="Empty"/>
    """

  @Test("A model is the same after it was compiled and loaded")
  func roundTrip() throws {
    let original = try model(Self.everything)
    let compiled = try ModelCompiler.data(of: original)
    let loaded = try NSManagedObjectModel(compiledModel: compiled)
    let (before, after) = (ModelText.lines(original), ModelText.lines(loaded))
    for (one, other) in zip(before, after) { #expect(one == other) }
    #expect(before.count == after.count)
    #expect(before.count > 40)
    #expect(!before.contains { $0.contains("failed") })
    #expect(try ModelCompiler.data(of: loaded) == compiled)
    #expect(try ModelCompiler.data(of: model(Self.everything)) == compiled, "equal models, equal bytes")
    #expect(original.versionChecksum == loaded.versionChecksum)
    _ = try loaded.freeze()
    #expect(try ModelCompiler.data(of: loaded) == compiled, "a model in use")
  }

  @Test("A folder of versions is compiled, and the current version loaded with its hashes")
  func folders() throws {
    let url = try folder([
      "M.xcdatamodeld/.xccurrentversion": currentVersion("M 2.xcdatamodel"),
      "M.xcdatamodeld/M.xcdatamodel/contents": xml("<entity name=\"Old\" representedClassName=\".Old\"/>"),
      "M.xcdatamodeld/M 2.xcdatamodel/contents": xml("<entity name=\"New\" representedClassName=\".New\"/>"),
      "out/M.momd/gone.mom": Data(), "out/M.momd/kept.txt": Data(),
    ])
    let source = url.appendingPathComponent("M.xcdatamodeld")
    let compiled = url.appendingPathComponent("out/M.momd")
    try ModelCompiler.compile(source, to: compiled)
    let names = try FileManager.default.contentsOfDirectory(atPath: compiled.path).sorted()
    #expect(names == ["M 2.mom", "M.mom", "VersionInfo.plist", "kept.txt"])
    let model = try #require(NSManagedObjectModel(contentsOf: compiled))
    #expect(model.entities.map(\.name) == ["New"])
    #expect(
      try model.entity("New").managedObjectClassName == "CDEModelFilesTests.New", "the module that asks")
    #expect(
      try NSManagedObjectModel(modelFile: compiled, module: "App").entity("New").managedObjectClassName
        == "App.New", "the dot is kept in the file")
    let old = try NSManagedObjectModel(modelFile: compiled.appendingPathComponent("M.mom"))
    #expect(old.entities.map(\.name) == ["Old"])

    let list =
      try PropertyListSerialization.propertyList(
        from: Data(contentsOf: compiled.appendingPathComponent("VersionInfo.plist")), format: nil)
      as! [String: Any]
    #expect(list["NSManagedObjectModel_CurrentVersionName"] as? String == "M 2")
    let hashes = list["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
    #expect(hashes == ["M": old.entityVersionHashesByName, "M 2": model.entityVersionHashesByName])
    let checksums = list["NSManagedObjectModel_VersionChecksums"] as? [String: String]
    #expect(checksums == ["M": old.versionChecksum, "M 2": model.versionChecksum])

    func written() throws -> [Date?] {
      try names.map {
        try FileManager.default.attributesOfItem(atPath: compiled.appendingPathComponent($0).path)[
          .modificationDate] as? Date
      }
    }
    let before = try written()
    try ModelCompiler.compile(source, to: compiled)
    #expect(try written() == before, "unchanged files are not written again")

    try ModelCompiler.compile(source, to: url.appendingPathComponent("App.momd"), module: "App")
    let named = try NSManagedObjectModel(modelFile: url.appendingPathComponent("App.momd"))
    #expect(try named.entity("New").managedObjectClassName == "App.New")
    let sole = url.appendingPathComponent("S.mom")
    try ModelCompiler.compile(source.appendingPathComponent("M.xcdatamodel"), to: sole)
    #expect(try NSManagedObjectModel(modelFile: sole).entities.map(\.name) == ["Old"])
  }

  @Test("What can't be compiled is refused by name, and nothing is written")
  func refused() throws {
    let url = try folder([
      "M.xcdatamodel/contents": xml(
        "<entity name=\"E\"/><fetchRequest name=\"f\" entity=\"E\" predicateString=\"a === (\"/>")
    ])
    let target = url.appendingPathComponent("M.mom")
    let error = fileError {
      try ModelCompiler.compile(url.appendingPathComponent("M.xcdatamodel"), to: target)
    }
    #expect(error?.code == .unsupportedExpression)
    #expect(error?.element == "the fetch request f")
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }

  @Test("Apple's early archive is read")
  func early() throws {
    let model = try NSManagedObjectModel(compiledModel: try AppleArchives.all()[0])
    #expect(model.entities.compactMap(\.name) == ["Dog", "Pet", "Owner"])
    let pet = try model.entity("Pet")
    #expect(try model.entity("Dog").superentity === pet)
    #expect(pet.ownProperties.count == 17)
    #expect(try pet.attribute("double").defaultValue as? Double == 0)
    #expect(try pet.attribute("decimal").defaultValue as? NSDecimalNumber == 0)
    #expect(try pet.attribute("color").attributeValueClassName == "Color")
    #expect(try pet.attribute("uri").attributeType == .URIAttributeType)
    let parts = try pet.relationship("parts")
    #expect(parts.isToMany && parts.destinationEntity?.name == "Owner")
    #expect(try parts.inverseRelationship === model.entity("Owner").relationship("parts"))
    #expect(parts.inverseRelationship?.isToMany == false)
    #expect(model.versionIdentifiers == [""])
    _ = try model.freeze()
  }

  @Test("Apple's late archive is read: classes, derivations, requests, indexes, configurations")
  func late() throws {
    let model = try NSManagedObjectModel(compiledModel: try AppleArchives.all()[1], module: "App")
    #expect(model.entities.count == 8)
    #expect(try model.entity("Owner").managedObjectClassName == "App.Owner")
    #expect(try model.entity("Odd").managedObjectClassName == "Some.Other.Module.Odd")
    #expect(try model.entity("Pet").managedObjectClassName == "CustomPet")
    let dog = try model.entity("Dog")
    #expect(dog.userInfo as? [String: String] == ["key": "value"])
    func derivation(_ name: String) throws -> String? {
      (try dog.attribute(name) as? NSDerivedAttributeDescription)?.derivation
    }
    #expect(try derivation("foldedNote") == "canonical:(note)")
    #expect(try derivation("now") == "now()")
    #expect(try derivation("partCount") == "count:(parts)")
    let visit = try model.entity("Visit")
    #expect(try model.entity("Thing").isAbstract)
    #expect(visit.uniquenessConstraints as? [[String]] == [["identifier"]])
    #expect(visit.indexes.map(\.name) == ["byIdentifier"])
    #expect(visit.indexes[0].elements.map(\.propertyName) == ["identifier"])
    #expect(try visit.attribute("identifier").isIndexed)
    let pet = try model.entity("Pet")
    #expect(try pet.relationship("parts").isOrdered)
    #expect(try pet.attribute("transient").isTransient)
    #expect(
      try pet.attribute("integerOptionSet").userInfo as? [String: String]
        == ["nonOptionalInit": "true", "rawType": "Flags", "unwrap": "true"])
    let found = try #require(pet.propertiesByName["found"] as? NSFetchedPropertyDescription)
    #expect(found.template?.entityName == "Visit")
    #expect(try found.template?.predicate?.predicateTree().predicateFormat == "1 == 1")
    #expect(model.configurations == ["CustomTransformer"])
    #expect(model.entities(forConfigurationName: "CustomTransformer")?.map(\.name) == ["Visit"])
    let templates = model.fetchRequestTemplates
    #expect(templates.keys.sorted() == ["asDictionaries", "asIDs", "asObjects"])
    func format(_ name: String) throws -> String? {
      try templates[name]?.predicate?.predicateTree().predicateFormat
    }
    #expect(try format("asObjects") == "uuid == $UUID")
    #expect(try format("asIDs") == "partner.name == $NAME OR string == $NEEDLE")
    #expect(try format("asDictionaries") == nil)
    #expect(templates["asObjects"]?.resultType == 0)
    #expect(templates["asIDs"]?.resultType == 1)
    #expect(templates["asDictionaries"]?.resultType == 2)
    #expect(templates["asObjects"]?.returnsDistinctResults == true)
    #expect(templates["asIDs"]?.includesPropertyValues == false)
    #expect(templates["asDictionaries"]?.includesPendingChanges == false)
    #expect(templates["asDictionaries"]?.includesSubentities == true)
  }

  @Test("An archive of Apple's, compiled again, has the same classes with the same keys")
  func sameShape() throws {
    func shape(_ objects: [PropertyListNode]) -> [String: Set<String>] {
      var result: [String: Set<String>] = [:]
      for case .dictionary(let fields) in objects {
        guard case .reference(let index)? = fields["$class"],
          case .dictionary(let description) = objects[index],
          case .string(let name)? = description["$classname"],
          case .array(let chain)? = description["$classes"]
        else { continue }
        let parents = chain.compactMap { if case .string(let name) = $0 { name } else { nil } }
        result[name + " " + parents.joined(separator: " "), default: []].formUnion(fields.keys)
      }
      return result
    }
    for (data, objects) in zip(try AppleArchives.all(), try AppleArchives.objects()) {
      let model = try NSManagedObjectModel(compiledModel: data)
      guard case .dictionary(let top)? = BinaryPropertyListReader.read(try ModelCompiler.data(of: model)),
        case .array(let written)? = top["$objects"]
      else {
        Issue.record("no archive")
        continue
      }
      var expected = shape(objects)
      // The version of Apple's compiler, which this one is not.
      let root = "NSManagedObjectModel NSManagedObjectModel NSObject"
      expected[root]?.subtract(["CDMCompilerToolVersion", "CDMCompilerXcodeVersion"])
      let made = shape(written)
      for (name, keys) in expected { #expect(made[name] == keys, "\(name)") }
      #expect(Set(made.keys) == Set(expected.keys))
    }
  }

  @Test("Inherited properties that stores repeat, and stand-ins for them, are read once")
  func repeated() throws {
    var objects = try AppleArchives.objects()[0]
    // The child's own properties become the parent's `double`, and a stand-in for `friends`.
    objects.append(
      .dictionary(["$classname": .string("_NSPropertyDescriptionProxy"), "$classes": .array([])]))
    objects.append(
      .dictionary(["$class": .reference(objects.count - 1), "NSUnderlyingProperty": .reference(50)]))
    objects[10] = .dictionary([
      "NS.keys": .array([.reference(16), .reference(24)]),
      "NS.objects": .array([.reference(33), .reference(objects.count - 1)]), "$class": .reference(9),
    ])
    let data = BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
    let model = try NSManagedObjectModel(compiledModel: data)
    #expect(try model.entity("Dog").ownProperties.isEmpty)
    #expect(try model.entity("Dog").properties.count == 17)
    _ = try model.freeze()
  }

  @Test("A description of an application's own subclass is read as what it is at least")
  func subclasses() throws {
    var objects = try AppleArchives.objects()[0]
    for (index, object) in objects.enumerated() {
      guard case .dictionary(var fields) = object,
        case .string("NSAttributeDescription")? = fields["$classname"],
        case .array(let chain)? = fields["$classes"]
      else { continue }
      fields["$classname"] = .string("App.Attribute")
      fields["$classes"] = .array([.string("App.Attribute")] + chain)
      objects[index] = .dictionary(fields)
    }
    let data = BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
    let (read, plain) = (
      try NSManagedObjectModel(compiledModel: data),
      try NSManagedObjectModel(compiledModel: try AppleArchives.all()[0])
    )
    #expect(ModelText.lines(read) == ModelText.lines(plain))
  }

  @Test("Objects that share collections can't stand for a model without end")
  func shared() throws {
    var objects: [PropertyListNode] = [.string("$null")]
    func add(_ fields: [String: PropertyListNode]) -> PropertyListNode {
      objects.append(.dictionary(fields))
      return .reference(objects.count - 1)
    }
    func text(_ text: String) -> PropertyListNode {
      objects.append(.string(text))
      return .reference(objects.count - 1)
    }
    func type(_ name: String) -> PropertyListNode { add(["$classname": .string(name)]) }
    let root = add([:])
    let attribute = type("NSAttributeDescription")
    let dictionary = type("NSDictionary")
    let names = (0..<2000).map { text("a\($0)") }
    let attributes = names.map { add(["$class": attribute, "NSPropertyName": $0]) }
    let properties = add(["NS.keys": .array(names), "NS.objects": .array(attributes), "$class": dictionary])
    let entity = type("NSEntityDescription")
    let entityNames = (0..<2000).map { text("E\($0)") }
    let entities = entityNames.map {
      add(["$class": entity, "NSEntityName": $0, "NSProperties": properties, "NSUserInfo": properties])
    }
    let list = add(["NS.keys": .array(entityNames), "NS.objects": .array(entities), "$class": dictionary])
    guard case .reference(let place) = root else { return }
    objects[place] = .dictionary(["$class": type("NSManagedObjectModel"), "NSEntities": list])
    let data = BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": root]), "$objects": .array(objects)]))
    let error = fileError { _ = try NSManagedObjectModel(compiledModel: data) }
    #expect(error?.code == .damaged)
  }

  @Test("A file that is no compiled model is refused by name")
  func noModel() throws {
    func code(_ data: Data) -> ModelFileError.Code? {
      fileError { _ = try NSManagedObjectModel(compiledModel: data) }?.code
    }
    #expect(code(Data()) == .unsupportedFormat)
    #expect(code(Data("<?xml?>".utf8)) == .unsupportedFormat)
    #expect(code(Data("bplist00".utf8)) == .damaged)
    #expect(code(BinaryPropertyListWriter.data(.array([]))) == .unsupportedFormat)
    var objects = try AppleArchives.objects()[0]
    // The parent of Pet is Dog, whose parent is Pet.
    guard case .dictionary(var pet) = objects[7] else { return }
    pet["NSSuperentity"] = .reference(6)
    objects[7] = .dictionary(pet)
    let circle = BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
    #expect(code(circle) == .damaged)
    let url = try folder(["A.momd/VersionInfo.plist": Data("bplist00".utf8), "B.momd/x.mom": Data()])
    for name in ["A.momd", "B.momd"] {
      let file = url.appendingPathComponent(name)
      #expect(NSManagedObjectModel(contentsOf: file) == nil)
      #expect(fileError { _ = try NSManagedObjectModel(modelFile: file) } != nil)
    }
  }
}
