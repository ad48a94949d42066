import CDEManagedModel
import Testing

@testable import CDESwiftData

@Suite("Entities that inherit")
struct InheritanceTests {
  private func schema() -> Schema {
    let boat = Schema.Entity("Boat", properties: Schema.Attribute(name: "sails", valueType: Int.self))
    let ferry = Schema.Entity("Ferry", subentities: [boat], properties: [])
    return Schema(
      Schema.Entity(
        "Vehicle", subentities: ferry,
        Schema.Entity("Car", properties: Schema.Attribute(name: "doors", valueType: Int.self)),
        properties: Schema.Attribute(name: "name", valueType: String.self)))
  }

  @Test("Entities below are in the schema and in the model, and have the properties above")
  func tree() throws {
    let schema = schema()
    #expect(schema.entities.map(\.name) == ["Vehicle", "Car", "Ferry", "Boat"])
    let boat = try #require(schema.entitiesByName["Boat"])
    #expect(boat.superentityName == "Ferry" && boat.superentity?.superentity?.name == "Vehicle")
    #expect(boat.properties.map(\.name) == ["name", "sails"])
    #expect(boat.inheritedPropertiesByName.keys.sorted() == ["name"])
    #expect(boat.storedPropertiesByName.keys.sorted() == ["sails"])
    #expect(schema.entitiesByName["Vehicle"]?.subentities.map(\.name).sorted() == ["Car", "Ferry"])
    let model = try schema.managedObjectModel()
    #expect(model.entitiesByName["Boat"]?.superentity?.name == "Ferry")
    #expect(model.entitiesByName["Vehicle"]?.subentities.map(\.name) == ["Car", "Ferry"])
    #expect(model.entitiesByName["Boat"]?.attributesByName.keys.sorted() == ["name", "sails"])
  }

  @Test("All entities of a tree share a table", .onSQLite)
  func table() throws {
    let stack = try Stack(schema())
    let tables = try stack.file.rows("SELECT sql FROM sqlite_master WHERE name = 'ZVEHICLE'").map { $0[0] }
    #expect(
      tables == [
        "CREATE TABLE ZVEHICLE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDOORS INTEGER, ZSAILS INTEGER, "
          + "ZNAME VARCHAR )"
      ])
  }

  @Test("A property that two entities of one line declare is an error")
  func twice() throws {
    let child = Schema.Entity("Child", properties: Schema.Attribute(name: "name", valueType: Int.self))
    let schema = Schema(
      Schema.Entity(
        "Parent", subentities: child, properties: Schema.Attribute(name: "name", valueType: String.self)))
    let error = try #require(throws: SwiftDataError.self) { try schema.managedObjectModel() }
    #expect(
      error.message == "Child.name is declared twice, inherited properties included. Rename one of the two.")
    #expect((error.entity, error.property) == ("Child", "name"))
  }

  @Test("A saved tree is the same tree")
  func coding() throws {
    let schema = schema()
    let copy = try JSONForm.value(Schema.self, of: JSONForm.data(of: schema))
    #expect(copy == schema)
    #expect(copy.entitiesByName["Boat"]?.superentity?.name == "Ferry")
    #expect(try copy.managedObjectModel() == schema.managedObjectModel())
  }

  class Animal: Sketch {
    var name: String { absent() }
    var owner: Keeper? { absent() }
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [property("name", \Animal.name, Schema.Attribute(.unique)), property("owner", \Animal.owner)]
    }
  }

  class Bird: Animal {
    var wings: Int { absent() }
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("wings", \Bird.wings),
        property("", \Bird.self, Schema.Index<Bird>([\Bird.wings])),
      ]
    }
  }

  final class Owl: Bird {
    var age: Int { absent() }
    // A class may repeat what it inherits.
    override class var schemaMetadata: [Schema.PropertyMetadata] {
      super.schemaMetadata + [
        property("age", \Owl.age), property("", \Owl.self, Schema.Index<Owl>([\.age])),
      ]
    }
  }

  final class Keeper: Sketch {
    var animals: [Animal] { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [property("animals", \Keeper.animals, Schema.Relationship(inverse: \Animal.owner))]
    }
  }

  @Test("A class brings the classes that it inherits from, and has their properties once")
  func classes() throws {
    let schema = Schema(Owl.self)
    #expect(schema.entities.map(\.name) == ["Animal", "Keeper", "Bird", "Owl"])
    let owl = try #require(schema.entitiesByName["Owl"])
    #expect(owl.storedProperties.map(\.name) == ["age"])
    #expect(owl.properties.map(\.name) == ["name", "owner", "wings", "age"])
    #expect(owl.superentityName == "Bird" && schema.entitiesByName["Bird"]?.superentityName == "Animal")
    let model = try schema.managedObjectModel()
    #expect(model.entitiesByName["Owl"]?.relationshipsByName["owner"]?.inverseRelationship?.name == "animals")
    #expect(model.entitiesByName["Bird"]?.indexes.map(\.name) == ["SwiftDataIndexOnBinarywings"])
    #expect(owl.indices == [["age"]])
    #expect(model.entitiesByName["Animal"]?.uniquenessConstraints as? [[String]] == [["name"]])
  }
}
