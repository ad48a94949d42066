import CDEModelFiles
import CDEPredicates
import Foundation
import Testing

/// What Xcode writes into the sources of mapping models beside that which it needs.
@Suite("Mapping models as Xcode saves them")
struct PublishedMappingTests {
  private func read(_ objects: String) throws -> NSMappingModel {
    let folder = try MappingFixtures.folder(MappingFixtures.database(objects + MappingFixtures.models))
    return try NSMappingModel(mappingFile: folder.appendingPathComponent("App/Mapping.xcmappingmodel"))
  }

  private func value(_ model: NSMappingModel, _ mapping: String, _ property: String) -> String? {
    let mapping = model.entityMappingsByName[mapping]
    return ((mapping?.attributeMappings ?? []) + (mapping?.relationshipMappings ?? []))
      .first { $0.name == property }?.valueExpression?.description
  }

  private func call(_ selector: String, _ name: String, _ objects: ExpressionTree) -> String {
    TreeExpression(
      .call(target: .variable("manager"), selector: selector, [.constant(.string(name)), objects])
    ).description
  }

  @Test(
    "The source key path of an attribute may begin with a variable",
    arguments: [
      ("born", "$source.born"), ("$source.born", "$source.born"),
      ("home.title", "$source.home.title"), ("$source.home.title", "$source.home.title"),
      ("$source", "$source"), ("$sourceObject.born", "$source.born"), ("$sourceObject", "$source"),
      ("$manager.userInfo", "$manager.userInfo"), ("$entityMapping.name", "$entityMapping.name"),
      ("$entityPolicy", "$entityPolicy"),
    ])
  func attributePath(written: String, expected: String) throws {
    let model = try read(
      MappingFixtures.entity(2, "Person", "Person", 1)
        + MappingFixtures.attribute(3, of: 2, "birthday", [("sourcekeypath", written)]))
    #expect(value(model, "PersonToPerson", "birthday") == expected)
  }

  @Test(
    "The source key path of a relationship may begin with a variable",
    arguments: [
      ("home", ExpressionTree.variableKeyPath("source", ["home"])),
      ("$source.home", .variableKeyPath("source", ["home"])), ("$source", .variable("source")),
    ])
  func relationshipPath(written: String, objects: ExpressionTree) throws {
    let model = try read(
      MappingFixtures.entity(2, "Person", "Person", 1) + MappingFixtures.entity(3, "Place", "Place", 2)
        + MappingFixtures.relationship(4, of: 2, "home", [("sourcekeypath", written)])
        + MappingFixtures.relationship(
          5, of: 2, "friends", [("sourcekeypath", written), ("sourcemappingname", "PlaceToPlace")]))
    let expected = call(
      "destinationInstancesForEntityMappingNamed:sourceInstances:", "PlaceToPlace", objects)
    #expect(value(model, "PersonToPerson", "home") == expected)
    #expect(value(model, "PersonToPerson", "friends") == expected)
  }

  @Test("Across an inheritance tree the name of the relationship is asked for without the variable")
  func inheritedRelationshipPath() throws {
    for (path, objects) in [
      ("$source.vehicles", ExpressionTree.variableKeyPath("source", ["vehicles"])),
      ("$source", .variable("source")),
    ] {
      let model = try read(
        MappingFixtures.entity(2, "Garage", "Garage", 1) + MappingFixtures.entity(3, "Car", "Car", 2)
          + MappingFixtures.entity(4, "Bike", "Bike", 3)
          + MappingFixtures.relationship(5, of: 2, "vehicles", [("sourcekeypath", path)]))
      #expect(
        value(model, "GarageToGarage", "vehicles")
          == call("destinationInstancesForSourceRelationshipNamed:sourceInstances:", "vehicles", objects))
    }
  }

  @Test("The mappings of properties that no mapping of an entity owns are left out")
  func orphans() throws {
    let kept =
      MappingFixtures.entity(2, "Person", "Person", 1) + MappingFixtures.attribute(3, of: 2, "name")
    let clean = try read(kept)
    let model = try read(
      MappingFixtures.attribute(40, of: 99, "name") + kept
        + MappingFixtures.object("XDDEVATTRIBUTEMAPPING", 41, [("name", "note")])
        + MappingFixtures.object("XDDEVRELATIONSHIPMAPPING", 42, [])
        + MappingFixtures.relationship(43, of: 98, "home", [("sourcekeypath", "$source.home")])
        + MappingFixtures.attribute(44, of: 99, "name", [("valueexpressiondata", "%%%")]))
    func names(_ model: NSMappingModel) -> [String?] {
      model.entityMappings.flatMap { mapping in
        [mapping.name]
          + ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).map(\.name)
      }
    }
    #expect(names(model) == ["PersonToPerson", "name"])
    #expect(names(model) == names(clean))
  }

  @Test("A mapping of an entity owns the properties that it lists, although they refer to another object")
  func listedProperties() throws {
    let model = try read(
      MappingFixtures.object(
        "XDDEVENTITYMAPPING", 2, [("sourcename", "Person"), ("destinationname", "Person")],
        [("attributemappings", [3])]) + MappingFixtures.attribute(3, of: 99, "name"))
    #expect(value(model, "PersonToPerson", "name") == "$source.name")
  }
}
