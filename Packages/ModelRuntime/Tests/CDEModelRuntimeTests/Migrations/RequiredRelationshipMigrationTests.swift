import CDEManagedModel
import CDEModelRuntime
import CDEStore
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Migrations to relationships that must lead to more or to fewer objects than before.
@Suite("Migration to required relationships")
struct RequiredRelationshipMigrationTests {
  private typealias Make = (NSEntityDescription, NSEntityDescription) -> Void

  private func people(_ make: Make) -> NSManagedObjectModel {
    let person = entity("Person", nil, [attribute("name", .stringAttributeType)])
    let house = entity("House", nil, [attribute("name", .stringAttributeType)])
    make(person, house)
    return model(person, house)
  }

  /// Houses with two persons, with one, and with none, and a person without a house.
  private func store(_ make: Make, many: Bool = false, related: Bool = true) throws -> OldStore {
    try OldStore(people(make)) { context in
      let houses = ["h1", "h2", "h3"].map { context.make("House", ["name": $0]) }
      for (name, house) in [("p1", 0), ("p2", 0), ("p3", 1), ("p4", nil as Int?)] {
        let person = context.make("Person", ["name": name])
        guard let house, related else { continue }
        person.setValue(many ? NSSet(object: houses[house]) : houses[house], forKey: "house")
      }
    }
  }

  private let oneToMany: Make = { connect(.one($0, "house"), .many($1, "persons")) }
  private let manyToMany: Make = { connect(.many($0, "house"), .many($1, "persons")) }

  private func expectObstacle(
    _ store: OldStore, _ make: Make, _ kind: MigrationObstacle.Kind, _ entity: String, _ property: String,
    _ count: Int,
    _ place: SourceLocation = #_sourceLocation
  ) throws {
    let model = people(make)
    let wanted = MigrationObstacle(kind, entity: entity, properties: [property], count: count)
    #expect(try store.plan(model).obstacles == [wanted], sourceLocation: place)
    let objects = count == 1 ? "1 object of the store has" : "\(count) objects of the store have"
    try store.expectRefusal(
      model, .migration, 134110,
      "\(entity).\(property) \(kind == .missingObjects ? "must lead to more" : "may lead to fewer") objects now than \(objects)",
      place)
  }

  @Test("An optional to-one relationship can't be made required while an object lacks it")
  func madeRequired() throws {
    let store = try store(oneToMany)
    let required: Make = { connect(.one($0, "house", optional: false), .many($1, "persons")) }
    try expectObstacle(store, required, .missingObjects, "Person", "house", 1)
    _ = try store.sql("UPDATE ZPERSON SET ZHOUSE = 1 WHERE ZNAME = 'p4'")
    let container = try store.opened(people(required))
    let persons = try container.work { try $0.all("Person").map { $0.one("house") != nil } }
    #expect(persons == [true, true, true, true])
    try container.close()
    // What another program wrote since is no matter of the next version.
    _ = try store.sql("UPDATE ZPERSON SET ZHOUSE = NULL WHERE ZNAME = 'p4'")
    try store.opened(
      people {
        required($0, $1)
        $0.properties.append(attribute("age", .integer64AttributeType))
      }
    ).close()
  }

  @Test("A new required relationship needs a store without objects of its entity", arguments: [true, false])
  func newRequired(isToMany: Bool) throws {
    let store = try store({ _, _ in }, related: false)
    let required: Make = {
      isToMany
        ? connect(.many($0, "house", optional: false, min: 1), .many($1, "persons"))
        : connect(.one($0, "house", optional: false), .many($1, "persons"))
    }
    try expectObstacle(store, required, .missingObjects, "Person", "house", 4)
    _ = try store.sql("DELETE FROM ZPERSON")
    try store.opened(people(required)).close()
  }

  @Test(
    "A least number of members counts objects with fewer, and empty ones unless it is optional",
    arguments: [true, false])
  func raisedMinimum(isManyToMany: Bool) throws {
    let store = try store(isManyToMany ? manyToMany : oneToMany, many: isManyToMany)
    func house(_ person: NSEntityDescription) -> End {
      isManyToMany ? .many(person, "house") : .one(person, "house")
    }
    try expectObstacle(
      store, { connect(house($0), .many($1, "persons", optional: false, min: 1)) }, .missingObjects, "House",
      "persons", 1)
    try expectObstacle(
      store, { connect(house($0), .many($1, "persons", optional: false, min: 2)) }, .missingObjects, "House",
      "persons", 2)
    try expectObstacle(
      store, { connect(house($0), .many($1, "persons", min: 2)) }, .missingObjects, "House", "persons", 1)
    try store.opened(people { connect(house($0), .many($1, "persons", min: 1)) }).close()
    // The next version has the rule already, and a stricter one is checked again.
    try expectObstacle(
      store, { connect(house($0), .many($1, "persons", min: 2)) }, .missingObjects, "House", "persons", 1)
  }

  @Test("A greatest number of members counts objects with more", arguments: [true, false])
  func loweredMaximum(isManyToMany: Bool) throws {
    let store = try store(isManyToMany ? manyToMany : oneToMany, many: isManyToMany)
    func house(_ person: NSEntityDescription) -> End {
      isManyToMany ? .many(person, "house") : .one(person, "house")
    }
    try store.opened(people { connect(house($0), .many($1, "persons", max: 3)) }).close()
    try store.opened(people { connect(house($0), .many($1, "persons", max: 2)) }).close()
    let three: Make = { connect(house($0), .many($1, "persons", max: 3)) }
    try store.opened(people(three)).close()
    let container = try store.opened(people(three))
    try container.work { context in
      let house = try #require(try context.all("House", NSPredicate(format: "name == 'h1'")).first)
      house.mutableSetValue(forKey: "persons").add(context.make("Person", ["name": "p5"]))
      try context.save()
    }
    try container.close()
    try expectObstacle(
      store, { connect(house($0), .many($1, "persons", max: 2)) }, .surplusObjects, "House", "persons", 1)
  }

  @Test("An empty step does not lead around the check, and a step that relates the objects does", .onSQLite)
  func steps() throws {
    let store = try store(oneToMany)
    let new = people { connect(.one($0, "house", optional: false), .many($1, "persons", max: 3)) }
    func open(_ body: @escaping @Sendable (MigrationStep.Old, MigrationStep.New) throws -> Void) throws
      -> NSPersistentContainer
    {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: new)
      let description = NSPersistentStoreDescription(url: store.file)
      description.migrationSteps = [MigrationStep(from: people(oneToMany), to: new, body)]
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      return container
    }
    let before = try store.contents()
    let error = #expect(throws: ManagedObjectError.self) { _ = try open { _, _ in } }
    #expect(error?.code == .migration && error?.message.contains("Person.house") == true)
    #expect(try store.contents() == before)
    let container = try open { _, new in
      let house = try new.objects(of: "House")[0]
      for person in try new.objects(of: "Person") where try person.related("house").isEmpty {
        try person.relate("house", to: house)
      }
    }
    let persons = try container.work { try $0.all("Person").map { $0.one("house") != nil } }
    #expect(persons == [true, true, true, true])
    try container.close()
  }
}
