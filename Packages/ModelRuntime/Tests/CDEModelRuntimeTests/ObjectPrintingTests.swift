import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

// Source: what print(_:) shows of managed objects on Apple's platforms.
@Suite("Printed objects")
struct ObjectPrintingTests {
  private func stack() throws -> Stack {
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.isOptional = true
    place.elements = [attribute("city", .stringAttributeType), attribute("zip", .integer32AttributeType)]
    let note = attribute("note", .stringAttributeType)
    note.isTransient = true
    let person = entity(
      "Person", nil,
      [
        attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
        attribute("isAdult", .booleanAttributeType), attribute("born", .dateAttributeType),
        attribute("photo", .binaryDataAttributeType), note, place,
      ])
    let team = entity("Team", nil, [attribute("name", .stringAttributeType)])
    connect(.one(person, "team"), .many(team, "members"))
    return try Stack(model: model(person, team))
  }

  private func address(_ object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
  }

  private func id(_ object: NSManagedObject) -> String {
    "\(address(object.objectID)) <\(object.objectID.uriRepresentation().absoluteString)>"
  }

  @Test("New and fetched objects show their values in the order of their names")
  func values() throws {
    let stack = try stack()
    let context = stack.context()
    let team = context.make("Team", ["name": "red team"])
    let person = context.make(
      "Person",
      [
        "name": "Bob", "age": 12, "isAdult": false, "born": Date(timeIntervalSinceReferenceDate: 0),
        "photo": Data([1, 171]), "note": "say \"hi\"\n", "team": team,
        "place": ["city": "Ulm", "zip": 89073] as [String: Any],
      ])
    func text(_ person: NSManagedObject, _ team: NSManagedObject, note: String) -> String {
      """
      <NSManagedObject: \(address(person))> (entity: Person; id: \(id(person)); data: {
          age = 12;
          born = "2001-01-01 00:00:00 +0000";
          isAdult = 0;
          name = Bob;
          note = \(note);
          photo = {length = 2, bytes = 0x01ab};
          place = {
              city = Ulm;
              zip = 89073;
          };
          team = "\(id(team))";
      })
      """
    }
    #expect(person.description == text(person, team, note: #""say \"hi\"\n""#))
    try context.save()
    let other = stack.context()
    let fetched = try #require(try other.all("Person").first)
    let printed = fetched.description
    let found = try #require(fetched.value(forKey: "team") as? NSManagedObject)
    // The ID of the team was made for printing alone, so that its address differs.
    let pattern = /0x[0-9a-f]+ </
    #expect(
      printed.replacing(pattern, with: "<")
        == text(fetched, found, note: "nil").replacing(pattern, with: "<"))
  }

  @Test("Faults and relationships that were not read stay so")
  func faults() throws {
    let stack = try stack()
    let context = stack.context()
    let team = context.make("Team", ["name": "red"])
    #expect(team.description.contains("members =     (\n    );\n"))
    let members = (0..<2).map { context.make("Person", ["name": "p\($0)", "team": team]) }
    let lines = try #require(team.value(forKey: "members") as? Set<NSManagedObject>)
    #expect(lines == Set(members))
    for member in members { #expect(team.description.contains("        \"\(id(member))\"")) }
    try context.save()
    let other = stack.context()
    let fault = other.object(with: team.objectID)
    #expect(fault.isFault)
    #expect(
      fault.description
        == "<NSManagedObject: \(address(fault))> (entity: Team; id: \(id(fault)); data: <fault>)")
    #expect(fault.isFault)
    _ = fault.value(forKey: "name")
    #expect(
      fault.description.contains("    members = \"<relationship fault: \(address(fault)) 'members'>\";\n"))
    #expect(fault.hasFault(forRelationshipNamed: "members"))
  }

  @Test("Objects without a context, deleted ones and those of another isolation print as well")
  func others() async throws {
    let stack = try stack()
    let context = stack.context()
    let loose = NSManagedObject(
      entity: try #require(stack.container.managedObjectModel.entitiesByName["Team"]), insertInto: nil)
    loose.setValue("loose", forKey: "name")
    #expect(
      loose.description.contains("(entity: Team; data: {\n    members =     (\n    );\n    name = loose;\n})")
    )
    let team = context.make("Team", ["name": "red"])
    try context.save()
    context.delete(team)
    try context.save()
    #expect(team.description.contains("entity: Team"))
    // Guard: the object is printed only, and the context is idle.
    let made = await context.perform { Unchecked(context.make("Team", ["name": "far"])) }
    #expect(made.value.description.hasSuffix(">)"))
    #expect(!made.value.description.contains("far"))
  }
}
