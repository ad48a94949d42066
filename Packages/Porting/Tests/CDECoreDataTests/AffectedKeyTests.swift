import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

/// A person whose full name, title and badge are computed.
private final class Person: NSManagedObject, _CDKeyPathNaming {
  static func predicateKey(for keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \Person.fullName: "fullName"
    case \Person.title: "title"
    default: nil
    }
  }

  private func text(_ key: String) -> String { value(forKey: key) as? String ?? "" }
  var fullName: String { "\(text("first")) \(text("last"))" }
  var title: String { "\(fullName), \(value(forKeyPath: "department.name") as? String ?? "alone")" }
  var boss: NSManagedObject? { value(forKeyPath: "department.boss") as? NSManagedObject }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    switch key {
    case "fullName": ["first", "last"]
    case "title": ["fullName", "department.name", "title"]
    case "boss": ["department.boss"]
    // Two keys that affect each other, over another object.
    case "ring": ["department.boss.ring", "first"]
    case "crowd": ["department.people.last"]
    default: super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }

  override func value(forUndefinedKey key: String) -> Any? {
    switch key {
    case "fullName": fullName
    case "title": title
    case "boss": boss
    case "ring": "ring"
    default: super.value(forUndefinedKey: key)
    }
  }
}

@Suite("Observing keys that other keys affect")
struct AffectedKeyTests {
  typealias Log = ObservingTests.Log

  private static func makeModel() -> NSManagedObjectModel {
    func text(_ name: String) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      return attribute
    }
    func relationship(_ name: String, _ destination: NSEntityDescription, isToMany: Bool = false)
      -> NSRelationshipDescription
    {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.maxCount = isToMany ? 0 : 1
      return relationship
    }
    let person = NSEntityDescription()
    person.name = "Person"
    person.managedObjectClassName = NSStringFromClass(Person.self)
    let department = NSEntityDescription()
    department.name = "Department"
    let (own, people) = (
      relationship("department", department), relationship("people", person, isToMany: true)
    )
    own.inverseRelationship = people
    people.inverseRelationship = own
    person.properties = [text("first"), text("last"), own]
    department.properties = [text("name"), relationship("boss", person), people]
    let model = NSManagedObjectModel()
    model.entities = [person, department]
    return model
  }

  private struct World {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    let ada: Person
    let boss: Person
    let maths: NSManagedObject
    let physics: NSManagedObject
    let log = Log()

    func observe(_ path: String, _ options: NSKeyValueObservingOptions = [.new, .old]) {
      ada.addObserver(log, forKeyPath: path, options: options, context: nil)
    }
  }

  /// Runs a test with a person in a department, of which both are saved.
  private static func inWorld(_ body: (World) throws -> Void) throws {
    let container = NSPersistentContainer(name: "People", managedObjectModel: makeModel())
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: ProcessFolder.newURL().appendingPathComponent("People.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
      }
      let boss = make("Person", ["first": "Emmy", "last": "Noether"])
      let maths = make("Department", ["name": "Maths", "boss": boss])
      let physics = make("Department", ["name": "Physics"])
      let ada = make("Person", ["first": "Ada", "last": "Byron", "department": maths])
      try context.save()
      try body(
        World(
          container: container, context: context, ada: ada as! Person, boss: boss as! Person, maths: maths,
          physics: physics))
    }
  }

  @Test("A computed key changes once with each key that affects it, and with those that affect these")
  func computed() throws {
    try Self.inWorld { world in
      world.observe("fullName")
      world.observe("title", [.new])
      world.ada.setValue("Lovelace", forKey: "last")
      #expect(
        world.log.take().sorted() == [
          "fullName: Ada Byron -> Ada Lovelace", "title: - -> Ada Lovelace, Maths",
        ])
      world.maths.setValue("Analysis", forKey: "name")
      #expect(world.log.take() == ["title: - -> Ada Lovelace, Analysis"])
      world.ada.setValue("Ada", forKey: "first")
      #expect(world.log.take().count == 2, "an equal value is told, too")
      world.boss.setValue("Amalie", forKey: "first")
      #expect(world.log.take() == [])
    }
  }

  @Test("A path leads to the present object, and former ones are no longer observed")
  func paths() throws {
    try Self.inWorld { world in
      world.observe("department.name")
      world.maths.setValue("Analysis", forKey: "name")
      #expect(world.log.take() == ["department.name: Maths -> Analysis"])
      world.ada.setValue(world.physics, forKey: "department")
      #expect(world.log.take() == ["department.name: Analysis -> Physics"])
      world.maths.setValue("Maths", forKey: "name")
      #expect(world.log.take() == [])
      world.physics.setValue("Optics", forKey: "name")
      #expect(world.log.take() == ["department.name: Physics -> Optics"])
      world.physics.setValue(NSSet(), forKey: "people")
      #expect(world.log.take() == ["department.name: Optics -> nil"])
      world.physics.setValue("Physics", forKey: "name")
      #expect(world.log.take() == [])
      world.maths.mutableSetValue(forKey: "people").add(world.ada)
      #expect(world.log.take() == ["department.name: nil -> Maths"])
      world.context.delete(world.maths)
      world.context.processPendingChanges()
      #expect(world.log.take() == ["department.name: Maths -> nil"])
    }
  }

  @Test("A path leads over a computed key, and to one")
  func longPaths() throws {
    try Self.inWorld { world in
      world.observe("boss.last")
      world.observe("department.boss.fullName")
      world.boss.setValue("N.", forKey: "last")
      #expect(
        world.log.take().sorted() == [
          "boss.last: Noether -> N.", "department.boss.fullName: Emmy Noether -> Emmy N.",
        ])
      world.maths.setValue(world.ada, forKey: "boss")
      #expect(
        world.log.take().sorted() == [
          "boss.last: N. -> Byron", "department.boss.fullName: Emmy N. -> Ada Byron",
        ])
      world.boss.setValue("Noether", forKey: "last")
      #expect(world.log.take() == [])
      world.ada.setValue("King", forKey: "last")
      #expect(world.log.take().count == 2)
    }
  }

  @Test("Objects of a path stay observed when the program has no other reference to them")
  func freed() throws {
    try Self.inWorld { world in
      world.observe("department.name")
      let id = world.maths.objectID
      world.context.refresh(world.ada, mergeChanges: false)
      world.context.refresh(try world.context.existingObject(with: id), mergeChanges: false)
      _ = world.log.take()
      try world.context.existingObject(with: id).setValue("Logic", forKey: "name")
      #expect(world.log.take() == ["department.name: Maths -> Logic"])
    }
  }

  @Test("A rollback, a refresh and a merge tell what they have changed of a path and of a computed key")
  func otherWriters() throws {
    try Self.inWorld { world in
      world.observe("department.name")
      world.observe("fullName")
      world.maths.setValue("Analysis", forKey: "name")
      world.ada.setValue("Augusta", forKey: "first")
      _ = world.log.take()
      world.context.rollback()
      #expect(
        world.log.take().sorted() == [
          "department.name: Analysis -> Maths", "fullName: Augusta Byron -> Ada Byron",
        ])

      let other = world.container.newBackgroundContext()
      let mail = ObservingTests.Mailbox()
      let (ada, maths, physics) = (world.ada.objectID, world.maths.objectID, world.physics.objectID)
      try other.performAndWait {
        let token = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { mail.value = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        let person = try other.existingObject(with: ada)
        person.setValue("Lovelace", forKey: "last")
        person.setValue(try other.existingObject(with: physics), forKey: "department")
        try other.existingObject(with: maths).setValue("Unseen", forKey: "name")
        try other.save()
      }
      world.context.mergeChanges(fromContextDidSave: try #require(mail.value))
      #expect(
        world.log.take().sorted() == [
          "department.name: Maths -> Physics", "fullName: Ada Byron -> Ada Lovelace",
        ])
      world.physics.setValue("Optics", forKey: "name")
      #expect(world.log.take() == ["department.name: Physics -> Optics"])
    }
  }

  @Test("A key path of Swift observes a computed variable, with its values")
  func swiftKeyPaths() throws {
    try Self.inWorld { world in
      var lines: [String] = []
      let observation = world.ada.observe(\.fullName, options: [.initial, .new, .old]) { person, change in
        lines.append("\(change.oldValue ?? "-") -> \(change.newValue ?? "-")")
      }
      let path = _cdNamed(\Person.boss?.objectID, "boss.objectID")
      #expect(path == \Person.boss?.objectID)
      world.ada.setValue("Lovelace", forKey: "last")
      observation.invalidate()
      world.ada.setValue("King", forKey: "last")
      #expect(lines == ["- -> Ada Byron", "Ada Byron -> Ada Lovelace"])
    }
  }

  @Test("A class says by itself that a computed key has changed")
  func announced() throws {
    try Self.inWorld { world in
      world.observe("fullName", [.new])
      world.ada.willChangeValue(forKey: "fullName")
      world.ada.didChangeValue(forKey: "fullName")
      #expect(world.log.take() == ["fullName: - -> Ada Byron"])
      #expect(!world.ada.hasChanges)
    }
  }

  @Test("Keys that affect each other are followed once, and an ended observation keeps no object")
  func endings() throws {
    try Self.inWorld { world in
      world.maths.setValue(world.ada, forKey: "boss")
      world.observe("ring", [.new])
      world.ada.setValue("Ada", forKey: "first")
      #expect(world.log.take() == ["ring: - -> ring"])
      world.ada.removeObserver(world.log, forKeyPath: "ring")
      world.ada.setValue("Augusta", forKey: "first")
      #expect(world.log.take() == [])

      var short: NSManagedObject? = NSEntityDescription.insertNewObject(
        forEntityName: "Department", into: world.context)
      weak let isGone = short
      world.ada.setValue(short, forKey: "department")
      try world.context.save()
      world.observe("department.name")
      short = nil
      world.ada.removeObserver(world.log, forKeyPath: "department.name")
      world.context.refresh(world.ada, mergeChanges: false)
      #expect(isGone == nil)
    }
  }

  @Test("A path over a to-many relationship, and one to nowhere, end the program with a sentence")
  func misuse() async {
    let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inWorld { $0.observe("department.people") }
      try Self.inWorld { $0.observe("department.people.first") }
    }
    #expect(
      text(many).contains("Person.department.people.first can't be observed: Department.people is a to-many"))
    let crowd = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inWorld { $0.observe("crowd") }
    }
    #expect(text(crowd).contains("Person.crowd can't be observed: Department.people is a to-many"))
    let attribute = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inWorld { $0.observe("first.length") }
    }
    #expect(text(attribute).contains("Person.first is an attribute. Observe first itself."))
    let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inWorld { $0.observe("department.nam") }
    }
    #expect(text(unknown).contains("the model gives Department no property nam"))
  }

  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }
}
