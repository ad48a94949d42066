import CDEManagedModel
import Testing

@testable import CDESwiftData

@Suite("Versions of schemas")
struct SchemaVersionTests {
  @Test("A version is ordered by its numbers, and printed with dots")
  func order() {
    #expect(Schema.Version(1, 9, 9) < Schema.Version(1, 10, 0))
    #expect(Schema.Version(2, 0, 0) > Schema.Version(1, 10, 0))
    #expect(Schema.Version(1, 2, 3).description == "1.2.3")
  }

  enum SchemaV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 1, 0) }
    static var models: [any PersistentModel.Type] { [Bar.Garnish.self] }
  }

  @Test("The schema of a version has its number, and the classes that its models reach")
  func versioned() throws {
    let schema = Schema(versionedSchema: SchemaV2.self)
    #expect(schema.version == Schema.Version(2, 1, 0))
    #expect(Set(schema.entities.map(\.name)) == ["Garnish", "Cocktail", "Ingredient", "IngredientBase"])
    #expect(try schema.managedObjectModel().versionIdentifiers == ["2.1.0"])
  }
}
