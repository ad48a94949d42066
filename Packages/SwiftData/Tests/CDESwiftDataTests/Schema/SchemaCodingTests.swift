import CDEManagedModel
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Schemas as files")
struct SchemaCodingTests {
  private func url() -> URL { ProcessFolder.url.appendingPathComponent("\(UUID().uuidString).json") }

  @Test("A schema that was saved is equal, and its model has the same hashes, elements and indexes")
  func saved() throws {
    let url = url()
    for schema in [
      Schema(Bar.Cocktail.self), Schema(SchemaTests.Travel.Trip.self), Schema(InverseTests.Node.self),
    ] {
      try schema.save(to: url)
      let read = try Schema.load(from: url)
      #expect(read == schema)
      #expect(read.hashValue == schema.hashValue)
      let (model, other) = (try schema.managedObjectModel(), try read.managedObjectModel())
      #expect(model == other)
      #expect(model.entityVersionHashesByName == other.entityVersionHashesByName)
    }
  }

  @Test("Types, default values, inverses and versions are kept")
  func parts() throws {
    let url = url()
    try Schema([SchemaTests.Travel.Trip.self], version: Schema.Version(1, 2, 3)).save(to: url)
    let read = try Schema.load(from: url)
    #expect(read.version == Schema.Version(1, 2, 3))
    #expect(read.encodingVersion == Schema.Version(1, 0, 0))
    let trip = try #require(read.entitiesByName["Trip"])
    #expect(trip.attributesByName["code"]?.defaultValue as? Int == 7)
    #expect(trip.attributesByName["photo"]?.valueType == Data?.self)
    #expect(trip.relationshipsByName["stays"]?.inverseName == "trip")
    #expect(trip.relationshipsByName["stays"]?.keypath == nil)
    #expect(read.types.isEmpty)
  }

  @Test("A schema whose types this program lacks keeps its layout")
  func foreignTypes() throws {
    let url = url()
    try Schema(Bar.Cocktail.self).save(to: url)
    var text = try String(contentsOf: url, encoding: .utf8)
    // Names of types in this module, as the compiler mangles them.
    text = text.replacingOccurrences(of: "17CDESwiftDataTests", with: "17CDESwiftDataTexts")
    try Data(text.utf8).write(to: url)
    let read = try Schema.load(from: url)
    #expect(
      try read.managedObjectModel().entityVersionHashesByName
        == Schema(Bar.Cocktail.self).managedObjectModel().entityVersionHashesByName)
    #expect(read.entitiesByName["Cocktail"]?.attributesByName["glasswareType"]?.valueType == Any.self)
  }

  @Test("Another file is no schema, which is an error that names it")
  func otherFile() throws {
    let url = url()
    try Data("{}".utf8).write(to: url)
    let error = #expect(throws: SwiftDataError.self) { try Schema.load(from: url) }
    #expect(error?.code == .unreadable && error?.message.contains(url.lastPathComponent) == true)
    #expect(error?.cause is DecodingError)
    #expect(throws: SwiftDataError.self) { try Schema.load(from: url.appendingPathExtension("none")) }
  }

  @Test("Schemas differ if a store could tell them apart")
  func equality() {
    #expect(Schema(Bar.Cocktail.self) == Schema(Bar.Garnish.self))
    #expect(Schema(Bar.Cocktail.self) != Schema([Bar.Cocktail.self], version: Schema.Version(1, 0, 1)))
    #expect(Schema(Bar.Cocktail.self) != Schema(Bar.Ingredient.self))
    func entity(_ attribute: Schema.Attribute) -> Schema { Schema(Schema.Entity("A", properties: attribute)) }
    let base = entity(Schema.Attribute(name: "a", valueType: Int.self))
    #expect(base == entity(Schema.Attribute(name: "a", valueType: Int64.self)))
    #expect(base != entity(Schema.Attribute(name: "a", valueType: Int?.self)))
    #expect(base != entity(Schema.Attribute(name: "a", valueType: Int32.self)))
    #expect(base != entity(Schema.Attribute(name: "a", options: [.unique], valueType: Int.self)))
    #expect(base != entity(Schema.Attribute(name: "a", valueType: Int.self, hashModifier: "x")))
  }
}
