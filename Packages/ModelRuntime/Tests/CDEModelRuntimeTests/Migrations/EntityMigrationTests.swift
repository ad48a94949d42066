import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Migration of entities")
struct EntityMigrationTests {
  private func named(_ name: String, _ properties: NSPropertyDescription...) -> NSEntityDescription {
    entity(name, nil, [attribute("name", .stringAttributeType)] + properties)
  }

  private func names(_ entity: String, _ container: NSPersistentContainer) throws -> [String] {
    try container.work { context in
      try context.all(entity, sort: "name").map { $0.value(forKey: "name") as? String ?? "nil" }
    }
  }

  @Test("An added entity has a table, and numbers are those of a new store")
  func addedEntity() throws {
    let store = try OldStore(model(named("Banana"), named("Date"))) { context in
      context.make("Banana", ["name": "b"])
      context.make("Date", ["name": "d"])
    }
    let container = try store.opened(model(named("Apple"), named("Banana"), named("Cherry"), named("Date")))
    #expect(try names("Banana", container) == ["b"])
    #expect(try names("Date", container) == ["d"])
    #expect(try names("Apple", container).isEmpty)
    try container.work { context in
      context.make("Apple", ["name": "a"])
      context.make("Date", ["name": "e"])
      try context.save()
    }
    try container.close()
    #expect(
      try store.sql("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1") == [
        ["1", "Apple", "0", "1"], ["2", "Banana", "0", "1"], ["3", "Cherry", "0", "0"],
        ["4", "Date", "0", "2"],
      ])
    #expect(try store.sql("SELECT DISTINCT Z_ENT FROM ZDATE") == [["4"]])
  }

  @Test("A removed entity goes with its table and its objects")
  func removedEntity() throws {
    let store = try OldStore(model(named("Apple"), named("Banana"))) { context in
      for _ in 0..<3 { context.make("Apple") }
      context.make("Banana", ["name": "b"])
    }
    let new = model(named("Banana"))
    #expect(try store.plan(new).description.contains("Apple: is removed with its objects (3 objects)"))
    let container = try store.opened(new)
    #expect(try names("Banana", container) == ["b"])
    try container.close()
    #expect(try store.sql("SELECT name FROM sqlite_master WHERE name LIKE 'ZAPPLE%'").isEmpty)
  }

  @Test("A renamed entity keeps its objects, their keys and versions")
  func renamedEntity() throws {
    let store = try OldStore(model(named("Note"))) { context in
      let first = context.make("Note", ["name": "a"])
      let second = context.make("Note", ["name": "b"])
      try context.save()
      second.setValue("c", forKey: "name")
      context.delete(first)
    }
    let before = try store.sql("SELECT Z_PK, Z_OPT, ZNAME FROM ZNOTE")
    let item = named("Item")
    item.renamingIdentifier = "Note"
    #expect(try store.plan(model(item)).changes.map { "\($0)" } == ["Item: was named Note"])
    try store.opened(model(item.copy() as! NSEntityDescription)).close()
    #expect(try store.sql("SELECT Z_PK, Z_OPT, ZNAME FROM ZITEM") == before)
    #expect(try store.sql("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY") == [["Item", "2"]])
  }

  @Test("Two entities of the new model that come from one are refused")
  func ambiguousEntities() throws {
    let store = try OldStore(model(named("Note")))
    let item = named("Item")
    item.renamingIdentifier = "Note"
    try store.expectRefusal(
      model(named("Note"), item), .inferredMapping, 134190, "The entities Item and Note both come from Note")
  }

  @Test("Entities come below a new parent, and the references to their objects are right")
  func addedParent() throws {
    func entities() -> (NSEntityDescription, NSEntityDescription, NSEntityDescription) {
      let (dog, cat, owner) = (named("Dog"), named("Cat"), named("Owner"))
      connect(.one(dog, "owner"), .many(owner, "dogs"))
      connect(.one(cat, "owner"), .many(owner, "cats"))
      connect(.many(dog, "chased"), .many(cat, "chasers"))
      return (dog, cat, owner)
    }
    let old = entities()
    let store = try OldStore(model(old.0, old.1, old.2)) { context in
      let owner = context.make("Owner", ["name": "o"])
      for index in 0..<3 {
        let dog = context.make("Dog", ["name": "d\(index)", "owner": owner])
        let cat = context.make("Cat", ["name": "c\(index)", "owner": owner])
        dog.setValue(NSSet(object: cat), forKey: "chased")
      }
    }
    let new = entities()
    let animal = NSEntityDescription()
    animal.name = "Animal"
    animal.isAbstract = true
    // The attribute moves up.
    animal.properties = [attribute("name", .stringAttributeType)]
    for child in [new.0, new.1] { child.properties = child.properties.filter { $0.name != "name" } }
    animal.subentities = [new.0, new.1]
    let container = try store.opened(model(animal, new.0, new.1, new.2))
    #expect(try names("Animal", container) == ["c0", "c1", "c2", "d0", "d1", "d2"])
    try container.work { context in
      let owner = try context.all("Owner")[0]
      #expect(Set(owner.set("dogs").map { $0.value(forKey: "name") as? String }) == ["d0", "d1", "d2"])
      for dog in owner.set("dogs") {
        let name = dog.value(forKey: "name") as? String ?? ""
        #expect(dog.set("chased").map { $0.value(forKey: "name") as? String } == ["c\(name.suffix(1))"])
      }
      context.make("Dog", ["name": "d3"])
      try context.save()
    }
    try container.close()
    #expect(try store.sql("SELECT COUNT(DISTINCT Z_PK), MAX(Z_PK) FROM ZANIMAL") == [["7", "7"]])
    #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Animal'") == [["7"]])
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]])

    // And back: the parent is removed.
    let again = entities()
    let back = try store.opened(model(again.0, again.1, again.2))
    #expect(try names("Dog", back) == ["d0", "d1", "d2", "d3"])
    #expect(try names("Cat", back) == ["c0", "c1", "c2"])
    try back.work { context in
      let dog = try context.all("Dog", NSPredicate(format: "name == %@", "d1"))[0]
      #expect(dog.one("owner")?.value(forKey: "name") as? String == "o")
      #expect(dog.set("chased").map { $0.value(forKey: "name") as? String } == ["c1"])
    }
    try back.close()
  }

  @Test(
    "An entity that leaves its parent loses the relationship that leads to the parent, which the plan says")
  func leavesParent() throws {
    func entities(movesPhoto: Bool) -> NSManagedObjectModel {
      let (note, attachment, tag) = (named("Note"), named("Attachment"), named("Tag"))
      let (photo, sound) = (entity("Photo", nil, []), entity("Sound", nil, []))
      connect(.one(attachment, "note"), .many(note, "attachments"))
      attachment.subentities = movesPhoto ? [sound] : [photo, sound]
      tag.subentities = movesPhoto ? [photo] : []
      return model(note, attachment, tag, photo, sound)
    }
    let store = try OldStore(entities(movesPhoto: false)) { context in
      let note = context.make("Note", ["name": "n"])
      context.make("Photo", ["name": "p", "note": note])
      context.make("Sound", ["name": "s", "note": note])
    }
    let new = entities(movesPhoto: true)
    #expect(try store.plan(new).losses.map { "\($0)" } == ["Photo.note: is removed with its values"])
    let container = try store.opened(new)
    #expect(try names("Tag", container) == ["p"])
    try container.work { context in
      let note = try context.all("Note")[0]
      #expect(note.set("attachments").map { $0.value(forKey: "name") as? String } == ["s"])
    }
    try container.close()
  }

  @Test("A reference to an entity with new sub-entities knows the entity of its object")
  func addedChild() throws {
    func entities(_ child: Bool) -> NSManagedObjectModel {
      let (book, page) = (named("Book"), named("Page"))
      point(.one(page, "book"), to: book)
      guard child else { return model(book, page) }
      let novel = named("Novel")
      novel.properties = []
      book.subentities = [novel]
      return model(book, novel, page)
    }
    let store = try OldStore(entities(false)) { context in
      context.make("Page", ["name": "p", "book": context.make("Book", ["name": "b"])])
    }
    let container = try store.opened(entities(true))
    try container.work { context in
      let page = try context.all("Page")[0]
      #expect(page.one("book")?.value(forKey: "name") as? String == "b")
      page.setValue(context.make("Novel", ["name": "n"]), forKey: "book")
      try context.save()
    }
    try container.close()
    let back = try store.opened(entities(false))
    try back.work { context in
      let page = try context.all("Page")[0]
      // The novel is removed, so nothing is left to refer to.
      #expect(page.one("book") == nil)
      #expect(try context.all("Book").count == 1)
    }
    try back.close()
  }

  @Test("An entity that becomes abstract is refused while it has objects")
  func abstract() throws {
    let store = try OldStore(model(named("Note"))) { $0.make("Note") }
    let note = named("Note")
    note.isAbstract = true
    try store.expectRefusal(
      model(note), .migration, 134110, "Note is abstract now, and the store has 1 object of it")
  }

  @Test("Rows of no entity are not lost with the table that they are in", .onSQLite)
  func unknownEntities() throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      let (note, special) = (named("Note"), entity("Special", nil, []))
      note.subentities = [special]
      if number > 1 { note.properties.append(attribute("stars", .integer16AttributeType)) }
      return model(note, special)
    }
    let store = try OldStore(version(1)) { context in
      context.make("Note", ["name": "a"])
      context.make("Special", ["name": "b"])
    }
    _ = try store.sql(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (7, 99, 1, 'c'), (8, NULL, 1, 'd')")
    let obstacle = MigrationObstacle(.unknownEntities, entity: "Note", properties: [], count: 2)
    #expect(try store.plan(version(2)).obstacles == [obstacle])
    try store.expectRefusal(version(2), .migration, 134110, "The table of Note has 2 rows whose Z_ENT")
    _ = try store.sql("DELETE FROM ZNOTE WHERE Z_PK > 6")
    try store.opened(version(2)).close()
    #expect(try store.sql("SELECT ZNAME FROM ZNOTE ORDER BY 1") == [["a"], ["b"]])
  }

  @Test("Duplicates under a new constraint are reported, and none is dropped")
  func constraints() throws {
    let store = try OldStore(model(named("Note"))) { context in
      for name in ["a", "b", "b", "c", "c", "c"] { context.make("Note", ["name": name]) }
      context.make("Note")
      context.make("Note")
    }
    let unique = named("Note")
    unique.uniquenessConstraints = [["name"]]
    let obstacle = MigrationObstacle(.duplicateValues, entity: "Note", properties: ["name"], count: 2)
    let new = model(unique)
    #expect(try store.plan(new).obstacles == [obstacle])
    try store.expectRefusal(new, .migrationConstraint, 134111, "2 values are shared by several objects")
    _ = try store.sql("UPDATE ZNOTE SET ZNAME = ZNAME || Z_PK WHERE ZNAME IS NOT NULL")
    let container = try store.opened(new)
    #expect(try names("Note", container).count == 8)
    try container.close()
    #expect(
      try store.sql("SELECT name FROM sqlite_master WHERE name LIKE '%UNIQUE%'") == [["Z_Note_UNIQUE_name"]])
    #expect(try store.plan(new).rewrittenTables.isEmpty)
    // And away again: the table stays, its index goes.
    #expect(try store.plan(model(named("Note"))).rewrittenTables.isEmpty)
    try store.opened(model(named("Note"))).close()
    #expect(try store.sql("SELECT name FROM sqlite_master WHERE name LIKE '%UNIQUE%'").isEmpty)
  }

  @Test("Indexes are made and removed together with another change, spatial ones filled", .onSQLite)
  func indexes() throws {
    func place(_ index: NSFetchIndexElementType?, _ extra: String) -> NSManagedObjectModel {
      let place = named("Place", attribute("x", .doubleAttributeType), attribute("y", .doubleAttributeType))
      place.versionHashModifier = extra
      if let index {
        place.indexes = [
          NSFetchIndexDescription(
            name: "byPlace",
            elements: ["x", "y"].map {
              NSFetchIndexElementDescription(property: place.propertiesByName[$0]!, collationType: index)
            })
        ]
      }
      return model(place)
    }
    let store = try OldStore(place(nil, "1")) { context in
      context.make("Place", ["x": 1.0, "y": 2.0])
      context.make("Place", ["x": 3.0])
    }
    try store.opened(place(.binary, "2")).close()
    #expect(try store.sql("SELECT name FROM sqlite_master WHERE name = 'Z_Place_byPlace'").count == 1)
    try store.opened(place(.rTree, "3")).close()
    #expect(try store.sql("SELECT name FROM sqlite_master WHERE name = 'Z_Place_byPlace'").isEmpty)
    #expect(try store.sql("SELECT ZX_MIN, ZY_MAX FROM Z_RT_Place_byPlace") == [["1.0", "2.0"]])
    try store.opened(place(nil, "4")).close()
    #expect(try store.sql("SELECT name FROM sqlite_master WHERE name LIKE 'Z_RT%'").isEmpty)
    #expect(try store.sql("SELECT COUNT(*) FROM ZPLACE") == [["2"]])
  }
}
