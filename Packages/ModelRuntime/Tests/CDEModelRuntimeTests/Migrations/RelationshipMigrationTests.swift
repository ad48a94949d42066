import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@Suite("Migration of relationships")
struct RelationshipMigrationTests {
  private typealias Make = (NSEntityDescription, NSEntityDescription) -> Void

  private func people(_ make: Make) -> NSManagedObjectModel {
    let person = entity("Person", nil, [attribute("name", .stringAttributeType)])
    let house = entity("House", nil, [attribute("name", .stringAttributeType)])
    make(person, house)
    return model(person, house)
  }

  /// Two persons in one house, and one alone in another.
  private func store(_ make: Make, key: String = "house", many: Bool = false) throws -> OldStore {
    try OldStore(people(make)) { context in
      let houses = ["h1", "h2", "h3"].map { context.make("House", ["name": $0]) }
      for (name, house) in [("p1", 0), ("p2", 0), ("p3", 1), ("p4", nil as Int?)] {
        let person = context.make("Person", ["name": name])
        guard let house else { continue }
        person.setValue(many ? NSSet(object: houses[house]) : houses[house], forKey: key)
      }
    }
  }

  private func name(_ object: NSManagedObject?) -> String? { object?.value(forKey: "name") as? String }

  private func related(
    _ entity: String, _ key: String, _ container: NSPersistentContainer
  ) throws -> [String: [String]] {
    try container.work { context in
      var result: [String: [String]] = [:]
      for object in try context.all(entity) {
        let value = object.value(forKey: key)
        var names: [String?] = []
        if let one = value as? NSManagedObject {
          names = [name(one)]
        } else if let list = value as? NSOrderedSet {
          names = list.array.map { name($0 as? NSManagedObject) }
        } else {
          names = object.set(key).map { name($0) }.sorted { $0 ?? "" < $1 ?? "" }
        }
        if !names.isEmpty { result[name(object) ?? ""] = names.compactMap(\.self) }
      }
      return result
    }
  }

  private func check(
    _ store: OldStore, _ make: Make, _ expected: [(entity: String, key: String, pairs: [String: [String]])],
    _ place: SourceLocation = #_sourceLocation
  ) throws {
    let container = try store.opened(people(make))
    for expectation in expected {
      #expect(
        try related(expectation.entity, expectation.key, container) == expectation.pairs,
        sourceLocation: place)
    }
    try container.close()
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]], sourceLocation: place)
  }

  private let toHouse = ["p1": ["h1"], "p2": ["h1"], "p3": ["h2"]]
  private let toPersons = ["h1": ["p1", "p2"], "h2": ["p3"]]

  private let oneToMany: Make = { person, house in connect(.one(person, "house"), .many(house, "persons")) }

  @Test("A relationship is added, and it is empty")
  func added() throws {
    try check(
      try store(oneToMany),
      { person, house in
        connect(.one(person, "house"), .many(house, "persons"))
        connect(.many(person, "visited"), .many(house, "visitors"))
        connect(.one(person, "friend"), .one(person, "friendOf"))
      }, [("Person", "house", toHouse), ("Person", "visited", [:]), ("Person", "friend", [:])])
  }

  @Test("A relationship is removed with its pairs")
  func removed() throws {
    let store = try store(oneToMany)
    let new = people { _, _ in }
    #expect(
      try store.plan(new).losses.map { "\($0)" }
        == ["House.persons: is removed with its values", "Person.house: is removed with its values"])
    try store.opened(new).close()
    #expect(
      try store.sql("SELECT name FROM pragma_table_info('ZPERSON')").map { $0[0] }
        == ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"])
  }

  @Test("Both ends are renamed")
  func renamed() throws {
    try check(
      try store(oneToMany),
      { person, house in
        connect(.one(person, "home"), .many(house, "residents"))
        person.relationshipsByName["home"]?.renamingIdentifier = "house"
        house.relationshipsByName["residents"]?.renamingIdentifier = "persons"
      }, [("Person", "home", toHouse), ("House", "residents", toPersons)])
  }

  @Test("A many-to-many relationship gets another table when an end is renamed")
  func renamedManyToMany() throws {
    try check(
      try store({ connect(.many($0, "house"), .many($1, "persons")) }, many: true),
      { person, house in
        connect(.many(person, "homes"), .many(house, "residents"))
        person.relationshipsByName["homes"]?.renamingIdentifier = "house"
        house.relationshipsByName["residents"]?.renamingIdentifier = "persons"
      }, [("Person", "homes", toHouse), ("House", "residents", toPersons)])
  }

  @Test("To-one becomes to-many, with the inverse as it was")
  func toMany() throws {
    try check(
      try store(oneToMany), { connect(.many($0, "house"), .many($1, "persons")) },
      [("Person", "house", toHouse), ("House", "persons", toPersons)])
  }

  @Test("To-many becomes to-one where no object has several")
  func toOne() throws {
    try check(
      try store({ connect(.many($0, "house"), .many($1, "persons")) }, many: true), oneToMany,
      [("Person", "house", toHouse), ("House", "persons", toPersons)])
  }

  @Test("To-many does not become to-one while an object has several")
  func severalObjects() throws {
    let store = try store(oneToMany)
    try store.expectRefusal(
      people { connect(.one($0, "house"), .one($1, "persons")) }, .migration, 134110,
      "House.persons leads to one object now, and 1 object of the store has several there")
    _ = try store.sql("UPDATE ZPERSON SET ZHOUSE = NULL WHERE ZNAME = 'p2'")
    try check(
      store, { connect(.one($0, "house"), .one($1, "persons")) },
      [
        ("Person", "house", ["p1": ["h1"], "p3": ["h2"]]),
        ("House", "persons", ["h1": ["p1"], "h2": ["p3"]]),
      ])
  }

  @Test(
    "Objects of a removed entity are no surplus, and the one that stays is found behind them",
    arguments: [true, false])
  func surplusOfARemovedEntity(isManyToMany: Bool) throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      let house = entity("House", nil, [attribute("name", .stringAttributeType)])
      let person = entity("Person", nil, [attribute("name", .stringAttributeType)])
      let isFirst = number == 1
      if isFirst { person.subentities = [entity("Ghost", nil, [])] }
      let persons = End.many(house, "persons")
      connect(
        isFirst ? persons : .one(house, "persons"),
        isFirst && isManyToMany ? .many(person, "house") : .one(person, "house"))
      return isFirst ? model(house, person, person.subentities[0]) : model(house, person)
    }
    func store(people: Int) throws -> OldStore {
      try OldStore(version(1)) { context in
        let house = context.make("House", ["name": "h"])
        // The ghost's key is the lowest.
        for (entity, count) in [("Ghost", 1), ("Person", people)] {
          for number in 0..<count {
            let person = context.make(entity, ["name": "\(entity) \(number)"])
            person.setValue(isManyToMany ? NSSet(object: house) : house, forKey: "house")
            try context.save()
          }
        }
      }
    }
    let single = try store(people: 1)
    #expect(try single.plan(version(2)).obstacles.isEmpty)
    let container = try single.opened(version(2))
    let found = try container.work { context in
      try context.all("House").map { $0.one("persons")?.value(forKey: "name") as? String }
    }
    #expect(found == ["Person 0"])
    try container.close()
    try store(people: 2).expectRefusal(
      version(2), .migration, 134110, "1 object of the store has several there")
  }

  @Test("An inverse is added to a relationship that had none, and removed")
  func inverses() throws {
    let store = try store { point(.one($0, "house"), to: $1) }
    try check(store, oneToMany, [("Person", "house", toHouse), ("House", "persons", toPersons)])
    let new = people { point(.one($0, "house"), to: $1) }
    #expect(try store.plan(new).losses.isEmpty)
    try check(store, { point(.one($0, "house"), to: $1) }, [("Person", "house", toHouse)])
    // The other end stays instead: a to-many relationship without an inverse.
    try check(store, oneToMany, [("House", "persons", toPersons)])
    try check(store, { point(.many($1, "persons"), to: $0) }, [("House", "persons", toPersons)])
    try check(store, oneToMany, [("Person", "house", toHouse)])
  }

  @Test("An order is added in the order of the keys, and removed")
  func ordering() throws {
    let ordered: Make = { connect(.one($0, "house"), .many($1, "persons", ordered: true)) }
    let store = try store(oneToMany)
    try check(store, ordered, [("House", "persons", toPersons)])
    #expect(
      try store.sql("SELECT Z_FOK_HOUSE FROM ZPERSON WHERE ZHOUSE = 1 ORDER BY 1") == [["2048"], ["3072"]])
    let container = try store.opened(people(ordered))
    try container.work { context in
      let house = try context.all("House", NSPredicate(format: "name == %@", "h1"))[0]
      house.setValue(NSOrderedSet(array: Array(house.list("persons").reversed())), forKey: "persons")
      try context.save()
    }
    try container.close()
    // The order stays when something else changes.
    try check(
      store,
      { person, house in
        connect(.one(person, "house"), .many(house, "persons", ordered: true))
        house.properties.append(attribute("size", .integer16AttributeType))
      }, [("House", "persons", ["h1": ["p2", "p1"], "h2": ["p3"]])])
    try check(
      store, { connect(.many($0, "house"), .many($1, "persons", ordered: true)) },
      [("House", "persons", ["h1": ["p2", "p1"], "h2": ["p3"]])])
    try check(store, oneToMany, [("House", "persons", toPersons)])
  }

  @Test("The order of a many-to-many relationship is added")
  func orderedPairs() throws {
    try check(
      try store({ connect(.many($0, "house"), .many($1, "persons")) }, many: true),
      { connect(.many($0, "house"), .many($1, "persons", ordered: true)) },
      [("House", "persons", toPersons), ("Person", "house", toHouse)])
  }

  @Test("A relationship that leads to another entity is refused")
  func otherDestination() throws {
    let store = try store { point(.one($0, "house"), to: $1) }
    try store.expectRefusal(
      people { person, _ in point(.one(person, "house"), to: person) }, .inferredMapping, 134190,
      "Person.house led to House and leads to Person")
  }

  @Test(
    "A relationship to an entity that is removed is lost with its objects, and leads to another entity then")
  func removedDestination() throws {
    func version(_ destination: String) -> NSManagedObjectModel {
      let person = entity("Person", nil, [attribute("name", .stringAttributeType)])
      let place = entity(destination, nil, [attribute("name", .stringAttributeType)])
      connect(.one(person, "home"), .many(place, "people"))
      return model(person, place)
    }
    let store = try OldStore(version("House")) { context in
      context.make("Person", ["name": "p", "home": context.make("House", ["name": "h"])])
    }
    let plan = try store.plan(version("Boat"))
    #expect(
      plan.losses.map { "\($0)" } == [
        "Person.home: is removed with its values", "House: is removed with its objects",
      ])
    let container = try store.opened(version("Boat"))
    try container.work { context in
      let person = try #require(try context.all("Person").first)
      #expect(person.value(forKey: "name") as? String == "p" && person.one("home") == nil)
      person.setValue(context.make("Boat", ["name": "b"]), forKey: "home")
      try context.save()
      #expect(try context.all("Boat").first?.set("people") == [person])
    }
    try container.close()
  }

  @Test("Ends that come from two relationships are refused")
  func divergedEnds() throws {
    let store = try store { person, house in
      connect(.one(person, "house"), .many(house, "persons"))
      connect(.one(person, "office"), .many(house, "workers"))
    }
    try store.expectRefusal(
      people { connect(.one($0, "house"), .many($1, "workers")) }, .inferredMapping, 134190,
      "come from two relationships")
  }

  @Test("A computed count is added and follows later saves")
  func derivedCount() throws {
    let count: Make = { person, house in
      connect(.one(person, "house"), .many(house, "persons"))
      let derived = NSDerivedAttributeDescription()
      derived.name = "count"
      derived.attributeType = .integer32AttributeType
      derived.derivation = "persons.@count"
      house.properties.append(derived)
    }
    let store = try store(oneToMany)
    let container = try store.opened(people(count))
    try container.work { context in
      #expect(
        try context.all("House", sort: "name").map { $0.value(forKey: "count") as? Int } == [2, 1, 0])
      context.make("Person", ["house": try context.all("House", sort: "name")[2]])
      try context.save()
    }
    try container.close()
    #expect(try store.sql("SELECT ZCOUNT FROM ZHOUSE ORDER BY ZNAME") == [["2"], ["1"], ["1"]])
    // The same with another change, for which the triggers are made anew.
    try check(
      store,
      { person, house in
        count(person, house)
        person.properties.append(attribute("age", .integer16AttributeType))
      }, [])
    if StoresUnderTest.areSQLite {
      #expect(try store.sql("SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") != [["0"]])
    }
    try check(store, oneToMany, [])
    #expect(try store.sql("SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == [["0"]])
  }
}
