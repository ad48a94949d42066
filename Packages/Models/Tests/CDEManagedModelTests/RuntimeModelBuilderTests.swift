import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

final class Item: NSObject {}
final class Tag: NSObject {}
private enum Outer { final class Tag: NSObject {} }

@Suite("Models from runtime schemas")
struct RuntimeModelBuilderTests {
  private typealias Failure = CDRuntimeModelBuilderError

  private func attribute(
    _ name: String, _ storage: CDRuntimeAttributeStorage, default text: String? = nil,
    optional: Bool = false, unique: Bool = false, transient: Bool = false
  ) -> CDRuntimeAttributeSchema {
    CDRuntimeAttributeSchema(
      swiftName: name, persistentName: name, swiftTypeName: "?", isOptional: optional,
      defaultValueExpression: text, storage: storage, isUnique: unique, isTransient: transient)
  }

  private func relationship(
    _ name: String, to target: String, inverse: String, rule: RelationshipDeleteRule = .nullify,
    min: Int? = nil, max: Int? = nil, kind: CDRuntimeRelationshipKind, optional: Bool = true
  ) -> CDRuntimeRelationshipSchema {
    CDRuntimeRelationshipSchema(
      swiftName: name, persistentName: name, targetTypeName: target, inverseName: inverse, deleteRule: rule,
      minimumModelCount: min, maximumModelCount: max, kind: kind, isOptional: optional)
  }

  private func schema(
    _ name: String, _ attributes: [CDRuntimeAttributeSchema] = [],
    _ relationships: [CDRuntimeRelationshipSchema] = []
  ) -> CDRuntimeEntitySchema {
    CDRuntimeEntitySchema(
      entityName: name, managedObjectClassName: name, attributes: attributes, relationships: relationships)
  }

  private func itemsAndTags(target: String, inverse: String = "items") -> [RuntimeModelBuilder.Source] {
    [
      (Item.self, schema("Item", [], [relationship("tag", to: target, inverse: inverse, kind: .toOne)])),
      (
        Tag.self,
        schema(
          "TagEntity", [],
          [relationship("items", to: "Item", inverse: "tag", rule: .cascade, kind: .toManyArray)])
      ),
    ]
  }

  @Test("Attributes get types, flags and constraints by their storage")
  func attributes() throws {
    let field = CDRuntimeCompositionFieldSchema(
      persistentName: "x", swiftTypeName: "Double", primitiveType: .double, isOptional: false,
      defaultValueExpression: nil)
    let model = try RuntimeModelBuilder.build([
      (
        Item.self,
        schema(
          "Item",
          [
            attribute("code", .primitive(.string), unique: true),
            attribute("cache", .primitive(.int64), optional: true, transient: true),
            attribute("raw", .raw(backingTypeName: "Swift.Int16"), default: ".first"),
            attribute("encoded", .codable, default: "nil", optional: true),
            attribute("named", .transformed(transformerName: "T"), optional: true),
            attribute("point", .composition(fields: [field]), optional: true),
          ])
      )
    ])
    let entity = try #require(model.entities.first)
    #expect(ManagedClassRegistry.lookup(entity.managedObjectClassName) == Item.self)
    #expect(entity.uniquenessConstraints as? [[String]] == [["code"]])
    let attributes = entity.attributesByName
    #expect(
      attributes["code"]?.attributeType == .stringAttributeType && attributes["code"]?.isOptional == false)
    #expect(attributes["cache"]?.isTransient == true && attributes["cache"]?.isOptional == true)
    #expect(attributes["raw"]?.attributeType == .integer16AttributeType)
    #expect(attributes["raw"]?.defaultValue == nil)
    #expect(attributes["encoded"]?.attributeType == .binaryDataAttributeType)
    #expect(attributes["named"]?.attributeType == .transformableAttributeType)
    #expect(attributes["named"]?.valueTransformerName == "T")
    #expect(attributes["point"]?.attributeType == .transformableAttributeType)
    #expect(attributes["point"]?.valueTransformerName == "NSSecureUnarchiveFromData")
    _ = try model.freeze()
  }

  @Test("Default expressions become values of the attribute's Swift type")
  func defaults() throws {
    func check<Value: Equatable>(
      _ text: String, _ type: CDRuntimePrimitiveAttributeType, _ expected: Value,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let model = try RuntimeModelBuilder.build([
        (Item.self, schema("Item", [attribute("a", .primitive(type), default: text)]))
      ])
      let value = model.entities[0].attributesByName["a"]?.defaultValue
      #expect(value as? Value == expected, "\(text)", sourceLocation: sourceLocation)
      _ = try model.freeze()
    }
    try check(#""a\n\"b\" \u{e9}""#, .string, "a\n\"b\" é")
    try check(##"#"a\n"b" \#u{e9}\#n"#"##, .string, #"a\n"b" é"# + "\n")
    try check(
      "\"\"\"\n    one\n      two \\\"\n\n    three \\  \n    four\n    \"\"\"", .string,
      "one\n  two \"\n\nthree four")
    try check("\"\"\"\n\"\"\"", .string, "")
    try check("##\"\"\"\n  a \\n \\##t\n  \"\"\"##", .string, "a \\n \t")
    try check("\"\"", .string, "")
    try check("true", .bool, true)
    try check("1_000", .int16, Int16(1000))
    try check("-5", .int32, Int32(-5))
    try check("0xFF", .int64, Int64(255))
    try check("9_223_372_036_854_775_807", .int64, Int64.max)
    try check("1.5", .float, Float(1.5))
    try check("1_234.5e-1", .double, 123.45)
    try check("3", .double, 3.0)
    try check("-0x1.8p4", .double, -24.0)
    try check("0xFF", .double, 255.0)
    try check("0b1_0", .float, Float(2))
    try check("0xFFFF_FFFF_FFFF", .decimal, Decimal(0xFFFF_FFFF_FFFF))
    try check("Date(timeIntervalSince1970: 0x10)", .date, Date(timeIntervalSince1970: 16))
    try check("12.345", .decimal, Decimal(string: "12.345")!)
    try check("Decimal(string: \"0.1\")", .decimal, Decimal(string: "0.1")!)
    try check(".distantPast", .date, Date.distantPast)
    try check("Date.distantFuture", .date, Date.distantFuture)
    try check("Date(timeIntervalSince1970: 1_000)", .date, Date(timeIntervalSince1970: 1000))
    try check(
      ".init(timeIntervalSinceReferenceDate: -2.5)", .date, Date(timeIntervalSinceReferenceDate: -2.5))
    try check("Data()", .data, Data())
    try check(".init()", .data, Data())
    try check("Data(base64Encoded: \"AQI=\")!", .data, Data([1, 2]))
    let uuid = "9B1DEB4D-3B7D-4BAD-9BDD-2B0D7B3DCB6D"
    try check("\"\(uuid)\"", .uuid, UUID(uuidString: uuid)!)
    try check("UUID(uuidString: \"\(uuid)\")!", .uuid, UUID(uuidString: uuid)!)
    try check("\"https://example.org\"", .url, URL(string: "https://example.org")!)
    try check("URL(string: \"https://example.org/a\")!", .url, URL(string: "https://example.org/a")!)
    try check("URL(fileURLWithPath: \"/tmp/x\")", .url, URL(fileURLWithPath: "/tmp/x"))
  }

  @Test("No default and nil give none")
  func noDefault() throws {
    for text in [nil, "nil", " nil "] {
      let model = try RuntimeModelBuilder.build([
        (Item.self, schema("Item", [attribute("a", .primitive(.int64), default: text, optional: true)]))
      ])
      #expect(model.entities[0].attributesByName["a"]?.defaultValue == nil)
    }
  }

  @Test(
    "Expressions that need a compiler are refused",
    arguments: [
      ("Date()", CDRuntimePrimitiveAttributeType.date), ("UUID()", .uuid), ("40_000", .int16), ("x", .int64),
      ("\"a\\(b)\"", .string), ("\"a\" + \"b\"", .string), ("\"", .string), ("#\"a\"", .string),
      ("\"\"\"\n  a\n b\n  \"\"\"", .string), ("\"a\\\"", .string), ("1.5", .int32), ("yes", .bool),
      ("nan", .double),
      ("Data(\"x\".utf8)", .data), ("\"no uuid\"", .uuid),
    ])
  func unsupportedDefault(text: String, type: CDRuntimePrimitiveAttributeType) {
    #expect(
      throws: Failure.unsupportedDefaultValueExpression(
        entityName: "Item", attributeName: "a", expression: text, primitiveType: type)
    ) {
      try RuntimeModelBuilder.build([
        (Item.self, schema("Item", [attribute("a", .primitive(type), default: text)]))
      ])
    }
  }

  @Test(
    "Targets are found by class name, qualified name and entity name",
    arguments: ["Tag", "CDEManagedModelTests.Tag", "TagEntity"])
  func targets(name: String) throws {
    let model = try RuntimeModelBuilder.build(itemsAndTags(target: name))
    #expect(model.entities.map(\.name) == ["Item", "TagEntity"])
    let tag = try #require(model.entities[0].relationshipsByName["tag"])
    let items = try #require(model.entities[1].relationshipsByName["items"])
    #expect(tag.destinationEntity === model.entities[1] && tag.inverseRelationship === items)
    #expect(items.inverseRelationship === tag && items.deleteRule == .cascadeDeleteRule)
    #expect(tag.maxCount == 1 && tag.minCount == 0 && !tag.isOrdered)
    #expect(items.maxCount == 0 && items.isOrdered && items.isToMany)
    _ = try model.freeze()
  }

  @Test("A required relationship to one has one object, and one to many may be empty unless a count is given")
  func counts() throws {
    let model = try RuntimeModelBuilder.build([
      (
        Item.self,
        schema(
          "Item", [],
          [
            relationship("a", to: "Item", inverse: "a", min: 2, max: 5, kind: .toManySet),
            relationship("b", to: "Item", inverse: "b", kind: .toManySet, optional: false),
            relationship("c", to: "Item", inverse: "c", kind: .toOne, optional: false),
          ])
      )
    ])
    let found = model.entities[0].relationshipsByName
    #expect(found["a"]?.minCount == 2 && found["a"]?.maxCount == 5)
    #expect(
      found["b"]?.minCount == 0 && found["c"]?.minCount == 1 && found["b"]?.maxCount == 0
        && found["b"]?.isOptional == false)
  }

  @Test("A name that fits two classes is ambiguous; the qualified name is not")
  func ambiguity() throws {
    func sources(_ target: String) -> [RuntimeModelBuilder.Source] {
      var result = itemsAndTags(target: target)
      result.append((Outer.Tag.self, schema("OtherTag")))
      return result
    }
    #expect(
      throws: Failure.ambiguousRelationshipTarget(
        entityName: "Item", relationshipName: "tag", targetTypeName: "Tag")
    ) { try RuntimeModelBuilder.build(sources("Tag")) }
    let model = try RuntimeModelBuilder.build(sources("CDEManagedModelTests.Tag"))
    #expect(model.entities[0].relationshipsByName["tag"]?.destinationEntity?.name == "TagEntity")
  }

  @Test("Lists that make no model are refused with the names concerned")
  func failures() {
    #expect(throws: Failure.emptyInput) { try RuntimeModelBuilder.makeModel(schemas: []) }
    #expect(throws: Failure.duplicateEntityName("Item")) {
      try RuntimeModelBuilder.build([(Item.self, schema("Item")), (Tag.self, schema("Item"))])
    }
    #expect(
      throws: Failure.unknownRelationshipTarget(
        entityName: "Item", relationshipName: "tag", targetTypeName: "Missing")
    ) { try RuntimeModelBuilder.build(itemsAndTags(target: "Missing")) }
    #expect(
      throws: Failure.missingInverse(
        entityName: "Item", relationshipName: "tag", targetEntityName: "TagEntity")
    ) { try RuntimeModelBuilder.build(itemsAndTags(target: "Tag", inverse: "nothing")) }
    #expect(
      throws: Failure.unsupportedRawBackingType(
        entityName: "Item", attributeName: "a", backingTypeName: "Double")
    ) {
      try RuntimeModelBuilder.build([
        (Item.self, schema("Item", [attribute("a", .raw(backingTypeName: "Double"))]))
      ])
    }
  }

  @Test("The same classes in the same order give the same model, from any thread; another order another one")
  func identity() async throws {
    let list = itemsAndTags(target: "Tag")
    let model = try RuntimeModelBuilder.makeModel(schemas: list)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<16 {
        group.addTask {
          try RuntimeModelBuilder.makeModel(schemas: itemsAndTags(target: "Tag")) === model
        }
      }
      for try await same in group { #expect(same) }
    }
    #expect(try RuntimeModelBuilder.makeModel(schemas: list.reversed()) !== model)
  }
}
