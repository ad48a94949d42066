import CDEManagedModel
@_spi(CDE) import CDEModelFiles
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Migration of attributes")
struct AttributeMigrationTests {
  private func note(_ properties: NSPropertyDescription...) -> NSManagedObjectModel {
    model(entity("Note", nil, [attribute("title", .stringAttributeType)] + properties))
  }

  private func store(_ properties: NSPropertyDescription..., values: [String: Any] = [:]) throws -> OldStore {
    let model = model(entity("Note", nil, [attribute("title", .stringAttributeType)] + properties))
    return try OldStore(model) { context in
      context.make("Note", ["title": "first"].merging(values) { $1 })
      context.make("Note", ["title": "second"])
    }
  }

  private func values(_ key: String, _ store: OldStore, _ model: NSManagedObjectModel) throws
    -> [AnyHashable?]
  {
    let container = try store.opened(model)
    defer { try? container.close() }
    return try container.work { context in
      try context.all("Note", sort: "title").map { $0.value(forKey: key) as? AnyHashable }
    }
  }

  @Test("An added attribute has its default value in old objects")
  func addedAttribute() throws {
    let store = try store()
    let new = note(
      attribute("stars", .integer16AttributeType, default: 3), attribute("text", .stringAttributeType),
      attribute("price", .decimalAttributeType, optional: false, default: Decimal(string: "1.25")))
    let plan = try store.plan(new)
    #expect(plan.isNeeded && plan.modelSource == .store && plan.obstacles.isEmpty && plan.losses.isEmpty)
    #expect(plan.changes.map(\.kind) == [.addedAttribute, .addedAttribute, .addedAttribute])
    #expect(plan.rows == ["Note": 2])
    #expect(plan.rewrittenTables == ["ZNOTE"])
    #expect(try values("stars", store, new) == [3, 3])
    #expect(try values("text", store, new) == [nil, nil])
    #expect(
      try values("price", store, new) == [NSDecimalNumber(string: "1.25"), NSDecimalNumber(string: "1.25")])
    #expect(try store.plan(new).isNeeded == false)
  }

  @Test("A removed attribute loses its values, which the plan says")
  func removedAttribute() throws {
    let store = try store(attribute("stars", .integer16AttributeType), values: ["stars": 4])
    let plan = try store.plan(note())
    #expect(plan.losses.map { "\($0)" } == ["Note.stars: is removed with its values"])
    #expect(
      plan.description.contains("Values are lost:\n  Note.stars: is removed with its values (2 objects)"))
    #expect(try values("title", store, note()) == ["first", "second"])
    #expect(
      try store.sql("SELECT name FROM pragma_table_info('ZNOTE')").map { $0[0] }
        == ["Z_PK", "Z_ENT", "Z_OPT", "ZTITLE"])
  }

  @Test("A renamed attribute keeps its values")
  func renamedAttribute() throws {
    let store = try store(attribute("stars", .integer16AttributeType), values: ["stars": 4])
    let new = note(attribute("rating", .integer16AttributeType).renamed("stars"))
    #expect(try store.plan(new).changes.map { "\($0)" } == ["Note.rating: was named stars"])
    #expect(try values("rating", store, new) == [4, nil])
  }

  @Test("A renaming identifier of two versions connects a later one with both")
  func canonicalIdentifier() throws {
    let second = note(attribute("rating", .integer16AttributeType).renamed("stars"))
    let third = note(attribute("points", .integer16AttributeType).renamed("stars"))
    let first = try store(attribute("stars", .integer16AttributeType), values: ["stars": 4])
    _ = try first.opened(second).close()
    #expect(try values("points", first, third) == [4, nil])
  }

  @Test("Two attributes exchange their names")
  func exchangedNames() throws {
    let store = try store(
      attribute("a", .integer16AttributeType), attribute("b", .integer16AttributeType),
      values: ["a": 1, "b": 2])
    let new = note(
      attribute("a", .integer16AttributeType).renamed("b"),
      attribute("b", .integer16AttributeType).renamed("a"))
    // The hashes of both versions are equal without it.
    new.entities[0].versionHashModifier = "exchanged"
    #expect(try store.plan(new).changes.map(\.kind) == [.renamedAttribute, .renamedAttribute])
    #expect(try values("a", store, new) == [2, nil])
  }

  @Test("A name that was given up by a renaming is used again, and the renamed attribute keeps its values")
  func reusedName() throws {
    let store = try store(
      attribute("rating", .integer16AttributeType).renamed("stars"), values: ["rating": 4])
    let new = note(
      attribute("rating", .integer16AttributeType).renamed("stars"),
      attribute("stars", .stringAttributeType, default: "none"))
    #expect(try store.plan(new).changes.map(\.kind) == [.addedAttribute])
    #expect(try values("rating", store, new) == [4, nil])
    #expect(try values("stars", store, new) == ["none", "none"])
  }

  @Test("A number gets a wider type")
  func widenedTypes() throws {
    let widenings: [(NSAttributeType, NSAttributeType, Any)] = [
      (.booleanAttributeType, .integer16AttributeType, true),
      (.integer16AttributeType, .integer32AttributeType, 7),
      (.integer16AttributeType, .doubleAttributeType, 7),
      (.integer32AttributeType, .integer64AttributeType, 70_000),
      (.integer32AttributeType, .decimalAttributeType, 70_000),
      (.floatAttributeType, .doubleAttributeType, 1.5),
      (.doubleAttributeType, .decimalAttributeType, 2.5),
    ]
    for (old, new, value) in widenings {
      let store = try store(attribute("value", old), values: ["value": value])
      let found = try values("value", store, note(attribute("value", new)))
      #expect(
        (found[0] as? NSNumber)?.doubleValue == (value as? Bool).map { $0 ? 1 : 0 }
          ?? (value as? NSNumber)?.doubleValue)
      #expect(found[1] == nil)
    }
    let store = try store(
      attribute("value", .URIAttributeType), values: ["value": URL(string: "https://swift.org")!])
    #expect(
      try values("value", store, note(attribute("value", .stringAttributeType))) == [
        "https://swift.org", nil,
      ])
  }

  @Test("A type with values of another kind is refused, and the error names the remedy")
  func otherType() throws {
    let store = try store(attribute("value", .integer64AttributeType), values: ["value": 7])
    try store.expectRefusal(
      note(attribute("value", .dateAttributeType)), .inferredMapping, 134190,
      "Note.value was of type integer64 and is of type date")
    try store.expectRefusal(
      note(attribute("value", .stringAttributeType)), .inferredMapping, 134190, "renaming identifier")
  }

  @Test("An attribute becomes optional")
  func optional() throws {
    let store = try store(attribute("stars", .integer16AttributeType, optional: false, default: 1))
    let new = note(attribute("stars", .integer16AttributeType))
    #expect(try store.plan(new).changes.map(\.kind) == [.changedOptionality])
    #expect(try store.plan(new).rewrittenTables.isEmpty)
    #expect(try values("stars", store, new) == [1, 1])
  }

  @Test("An attribute that must have a value gets its default where there is none")
  func mandatory() throws {
    let store = try store(attribute("stars", .integer16AttributeType), values: ["stars": 4])
    #expect(
      try values(
        "stars", store, note(attribute("stars", .integer16AttributeType, optional: false, default: 9)))
        == [4, 9])
  }

  @Test("An attribute that must have a value and has no default is refused while objects lack one")
  func mandatoryWithoutDefault() throws {
    let store = try store(attribute("stars", .integer16AttributeType), values: ["stars": 4])
    let new = note(attribute("stars", .integer16AttributeType, optional: false))
    let obstacles = try store.plan(new).obstacles
    #expect(obstacles == [MigrationObstacle(.missingValues, entity: "Note", properties: ["stars"], count: 1)])
    try store.expectRefusal(
      new, .migration, 134110, "Note.stars must have a value now, and 1 object of the store has none")
    let failure = #expect(throws: (any Error).self) { try store.opened(new) }
    let info = (failure as? NSError)?.userInfo ?? [:]
    #expect(info["entity"] as? String == "Note" && info["attribute"] as? String == "stars")
    #expect((info["reason"] as? String)?.contains("must have a value now") == true)
    #expect(info["sourceURL"] as? URL == store.file && info["destinationURL"] as? URL == store.file)
    try store.expectRefusal(
      note(attribute("other", .integer16AttributeType, optional: false)), .migration, 134110,
      "2 objects of the store have none")
    _ = try store.sql("UPDATE ZNOTE SET ZSTARS = 5 WHERE ZSTARS IS NULL")
    #expect(try values("stars", store, new) == [4, 5])
  }

  @Test("A computed attribute is added, and old objects have its value")
  func derived() throws {
    let store = try store()
    func derived(_ name: String, _ expression: String, _ type: NSAttributeType = .stringAttributeType)
      -> NSDerivedAttributeDescription
    {
      let result = NSDerivedAttributeDescription()
      result.name = name
      result.attributeType = type
      result.derivation = expression
      return result
    }
    let new = note(
      derived("upper", "uppercase:(title)"), derived("folded", "canonical:(title)"),
      derived("time", "now()", .dateAttributeType))
    #expect(try values("upper", store, new) == ["FIRST", "SECOND"])
    #expect(try values("folded", store, new) == ["first", "second"])
    let times = try values("time", store, new)
    #expect(times.allSatisfy { $0 is Date })
    #expect(
      try values("upper", store, note(attribute("upper", .stringAttributeType))) == ["FIRST", "SECOND"])
  }

  @Test("The elements of a composite are added, removed and widened")
  func composite() throws {
    func place(_ elements: NSAttributeDescription...) -> NSCompositeAttributeDescription {
      let result = NSCompositeAttributeDescription()
      result.name = "place"
      result.elements = elements
      return result
    }
    let store = try store(
      place(
        attribute("x", .integer16AttributeType), attribute("y", .integer16AttributeType),
        attribute("name", .stringAttributeType)),
      values: ["place": ["x": 1, "y": 2, "name": "here"]])
    let new = note(
      place(
        attribute("name", .stringAttributeType), attribute("x", .integer32AttributeType),
        attribute("z", .integer16AttributeType)))
    let container = try store.opened(new)
    try container.work { context in
      let notes = try context.all("Note", sort: "title")
      let place = notes[0].value(forKey: "place") as? [String: Any]
      #expect(place?["x"] as? Int == 1 && place?["name"] as? String == "here")
      #expect(place?["y"] == nil && place?["z"] == nil)
      #expect(notes[1].value(forKey: "place") == nil)
    }
    try container.close()
  }

  private func composite(_ name: String, _ elements: NSAttributeDescription...)
    -> NSCompositeAttributeDescription
  {
    let result = NSCompositeAttributeDescription()
    result.name = name
    result.elements = elements
    return result
  }

  private func element(_ name: String, was former: String? = nil) -> NSAttributeDescription {
    let result = attribute(name, .stringAttributeType)
    result.renamingIdentifier = former
    return result
  }

  @Test("Renamed elements of a composite keep their values, and the plan says which are lost")
  func renamedElements() throws {
    func store() throws -> OldStore {
      try self.store(
        composite("place", element("a"), element("b"), composite("inner", element("c"), element("d"))),
        values: ["place": ["a": "A", "b": "B", "inner": ["c": "C", "d": "D"]]])
    }
    func new() -> NSManagedObjectModel {
      let renamed = composite("inside", element("d", was: "c"))
      renamed.renamingIdentifier = "inner"
      let place = composite("position", element("b", was: "a"), element("x", was: "b"), renamed)
      place.renamingIdentifier = "place"
      return note(place)
    }
    let plan = try store().plan(new())
    #expect(
      plan.losses.map { "\($0)" } == [
        "Note.position: has other elements: b was named a, x was named b, inside.d was named inner.c, inner.d is removed "
          + "with its values"
      ])
    let container = try store().opened(new())
    try container.work { context in
      let notes = try context.all("Note", sort: "title")
      let place = notes[0].value(forKey: "position") as? NSDictionary
      #expect(place == ["b": "A", "x": "B", "inside": ["d": "C"]])
      #expect(notes[1].value(forKey: "position") == nil)
    }
    try container.close()
    let added = composite(
      "place", element("a"), element("b"), composite("inner", element("c"), element("d")), element("e"))
    #expect(try store().plan(note(added)).losses.isEmpty)
  }

  @Test("An element of an unclear name, or of another kind, is named")
  func refusedElements() throws {
    func old() -> NSCompositeAttributeDescription { composite("place", element("a"), element("b")) }
    try store(old()).expectRefusal(
      note(composite("place", element("x", was: "a"), element("y", was: "a"))), .inferredMapping, 134190,
      "The element")
    let date = attribute("a", .dateAttributeType)
    try store(old()).expectRefusal(
      note(composite("place", date)), .inferredMapping, 134190,
      "Note.place.a was of type string and is of type date")
  }

  @Test("Values move between the database and files of their own")
  func externalStorage() throws {
    func data(_ external: Bool) -> NSAttributeDescription {
      let result = attribute("data", .binaryDataAttributeType)
      result.allowsExternalBinaryDataStorage = external
      return result
    }
    let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    for value in [Data([2, 1, 0, 255]), large] {
      let store = try store(data(true), values: ["data": value])
      #expect(try values("data", store, note(data(false))) == [value, nil])
      #expect(try values("data", store, note(data(true))) == [value, nil])
    }
  }
}
