import CDEManagedModel
@_spi(CDE) import CDEModelFiles
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Migration of numbers to other types")
struct NumberMigrationTests {
  private struct Change {
    let name: String
    let old: NSAttributeType
    let new: NSAttributeType
    let values: [NSNumber]

    func results(_ fit: NumberKinds.Fit) -> Int {
      values.filter { NumberKinds.converted($0, to: new).fit == fit }.count
    }
  }

  /// Each pair of different types.
  private let changes = NumberKinds.types.flatMap { old in
    NumberKinds.types.filter { $0 != old }.map { new in
      Change(
        name: "v\(old.rawValue)to\(new.rawValue)", old: old, new: new, values: NumberKinds.extremes(of: old))
    }
  }

  private func model(_ type: (Change) -> NSAttributeType) -> NSManagedObjectModel {
    let entity = entity("Sample", nil, [attribute("number", .integer64AttributeType)])
    entity.properties += changes.map { attribute($0.name, type($0)) }
    return CDEModelRuntimeTests.model(entity)
  }

  private func note(_ properties: NSPropertyDescription...) -> NSManagedObjectModel {
    CDEModelRuntimeTests.model(
      entity("Note", nil, [attribute("title", .stringAttributeType)] + properties))
  }

  private func store(_ type: NSAttributeType, _ values: [Any]) throws -> OldStore {
    try OldStore(note(attribute("value", type))) { context in
      for (number, value) in values.enumerated() {
        context.make("Note", ["title": "\(number)", "value": value])
      }
    }
  }

  private func values(_ store: OldStore, _ model: NSManagedObjectModel) throws -> [NSNumber?] {
    let container = try store.opened(model)
    defer { try? container.close() }
    return try container.work { context in
      try context.all("Note", sort: "title").map { $0.value(forKey: "value") as? NSNumber }
    }
  }

  private func fill(_ context: NSManagedObjectContext, _ keeps: (NSNumber, Change) -> Bool) throws {
    let longest = changes.map(\.values.count).max() ?? 0
    for number in 0..<longest {
      let object = context.make("Sample", ["number": number])
      for change in changes where change.values.indices.contains(number) {
        let value = change.values[number]
        if keeps(value, change) { object.setValue(value, forKey: change.name) }
      }
    }
  }

  @Test("Each type of numbers becomes each other one, and extreme values are kept, rounded or counted")
  func everyPair() throws {
    let (old, new) = (model(\.old), model(\.new))
    let refused = try OldStore(old) { try fill($0) { _, _ in true } }
    let plan = try refused.plan(new)
    for change in changes {
      let obstacle = plan.obstacles.first { $0.properties == [change.name] }
      #expect(obstacle?.count ?? 0 == change.results(.unfit), "\(change.name)")
      #expect(obstacle.map { $0.kind == .unfitValues && $0.entity == "Sample" } ?? true)
      let rounding = plan.roundings.first { $0.attribute == change.name }
      #expect(rounding?.count ?? 0 == change.results(.rounded), "\(change.name)")
    }
    try refused.expectRefusal(new, .migration, 134110, "has a type now that has no place for the number")

    let store = try OldStore(old) {
      try fill($0) { NumberKinds.converted($0, to: $1.new).fit != .unfit }
    }
    #expect(try store.plan(new).obstacles.isEmpty)
    let container = try store.opened(new)
    try container.work { context in
      let samples = try context.all("Sample", sort: "number")
      for change in changes {
        for (sample, value) in zip(samples, change.values) {
          let expected = NumberKinds.converted(value, to: change.new).value
          #expect(
            sample.value(forKey: change.name) as? NSNumber == expected, "\(change.name): \(value)")
        }
      }
    }
    try container.close()
  }

  @Test(
    "Whole numbers of 64 bits become floating-point numbers of 32, and the plan warns of those that are rounded"
  )
  func integerToFloat() throws {
    let store = try store(.integer64AttributeType, [7, 16_777_217, -3])
    let new = note(attribute("value", .floatAttributeType))
    let plan = try store.plan(new)
    #expect(plan.obstacles.isEmpty && plan.losses.isEmpty)
    #expect(plan.roundings == [MigrationRounding(entity: "Note", attribute: "value", count: 1)])
    #expect(plan.changes.map { "\($0)" } == ["Note.value: is of type float now, was integer64"])
    #expect(plan.description.contains("Numbers are rounded:\n  Note.value (1 object)\n"))
    #expect(try values(store, new) == [7, 16_777_216, -3])
    let container = try store.opened(new)
    try container.work { context in
      // The column has the rounded number, too, so that the database finds what the object has.
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.predicate = NSPredicate(format: "value == 16777216")
      let found = try context.count(for: request)
      #expect(found == 1)
    }
    try container.close()
  }

  @Test("Numbers that become equal by rounding are an obstacle where they must be unique")
  func unique() throws {
    let old = note(attribute("value", .integer64AttributeType))
    old.entities[0].uniquenessConstraints = [["value"]]
    let store = try OldStore(old) { context in
      for (number, value) in [16_777_216, 16_777_217, 5].enumerated() {
        context.make("Note", ["title": "\(number)", "value": value])
      }
    }
    let new = note(attribute("value", .floatAttributeType))
    new.entities[0].uniquenessConstraints = [["value"]]
    #expect(
      try store.plan(new).obstacles == [
        MigrationObstacle(.duplicateValues, entity: "Note", properties: ["value"], count: 1)
      ])
    try store.expectRefusal(new, .migrationConstraint, 134111, "must be unique")
  }

  @Test("A required attribute keeps its numbers, and gets its default in the new type where there is none")
  func required() throws {
    let store = try OldStore(note(attribute("value", .doubleAttributeType))) { context in
      context.make("Note", ["title": "0", "value": 2.75])
      context.make("Note", ["title": "1"])
    }
    let new = note(attribute("value", .integer32AttributeType, optional: false, default: 9))
    #expect(try values(store, new) == [2, 9])
  }

  @Test("The elements of a composite are converted, and counted by their paths")
  func composite() throws {
    func place(_ type: NSAttributeType) -> NSManagedObjectModel {
      let composite = NSCompositeAttributeDescription()
      composite.name = "place"
      composite.elements = [attribute("x", type), attribute("name", .stringAttributeType)]
      return note(composite)
    }
    let store = try OldStore(place(.doubleAttributeType)) { context in
      context.make("Note", ["title": "0", "place": ["x": 1.5, "name": "here"]])
      context.make("Note", ["title": "1", "place": ["x": 70_000.0, "name": "there"]])
    }
    #expect(
      try store.plan(place(.integer16AttributeType)).obstacles == [
        MigrationObstacle(.unfitValues, entity: "Note", properties: ["place.x"], count: 1)
      ])
    let new = place(.integer32AttributeType)
    #expect(try store.plan(new).roundings.map { "\($0)" } == ["Note.place.x (1 object)"])
    let container = try store.opened(new)
    try container.work { context in
      let places = try context.all("Note", sort: "title").map { $0.value(forKey: "place") as? [String: Any] }
      #expect(places.map { $0?["x"] as? Int } == [1, 70_000])
    }
    try container.close()
  }

  @Test("A decimal that is not a number has a place among decimals only", .onSQLite)
  func notANumber() throws {
    let store = try store(.decimalAttributeType, [NSDecimalNumber(string: "1.5")])
    _ = try store.sql("UPDATE ZNOTE SET ZVALUE = 'NaN'")
    for type in NumberKinds.types where type != .decimalAttributeType {
      #expect(
        try store.plan(note(attribute("value", type))).obstacles == [
          MigrationObstacle(.unfitValues, entity: "Note", properties: ["value"], count: 1)
        ])
    }
  }

  @Test(
    "A step carries numbers into types that have a place for all of them, and leaves the others to its code")
  func step() throws {
    let old = note(attribute("value", .integer64AttributeType))
    for (type, expected) in [(NSAttributeType.floatAttributeType, 5), (.integer16AttributeType, 1)] {
      let store = try store(.integer64AttributeType, [5, 1 << 40])
      let new = note(attribute("value", type, optional: false, default: 1))
      let container = NSPersistentContainer(name: "Test", managedObjectModel: new)
      let description = NSPersistentStoreDescription(url: store.file)
      description.migrationSteps = [MigrationStep(from: old, to: new) { _, _ in }]
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      #expect(failure == nil)
      try container.work { context in
        let first = try #require(try context.all("Note", sort: "title").first)
        #expect((first.value(forKey: "value") as? NSNumber)?.intValue == expected)
      }
      try container.close()
    }
  }

  @Test("A mapping model rounds the numbers that it copies in the same way", .onSQLite)
  func mappingModel() throws {
    let copied = changes.filter { $0.old != .booleanAttributeType && $0.new != .booleanAttributeType }
    for change in copied {
      // A copied decimal keeps its digits, and a lightweight migration reads those of the column.
      let values = change.values.filter { NumberKinds.converted($0, to: change.new).fit != .unfit }
      if change.new == .decimalAttributeType || values.isEmpty { continue }
      let store = try store(change.old, values)
      let (old, new) = (
        note(attribute("value", change.old)), note(attribute("value", change.new))
      )
      let file = Library.place()
      try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: store.file, sourceType: NSSQLiteStoreType,
        with: try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new),
        toDestinationURL: file, destinationType: NSSQLiteStoreType)
      let made = try self.values(OldStore(at: file), new).compactMap(\.?.doubleValue).sorted()
      let expected = values.compactMap { NumberKinds.converted($0, to: change.new).value?.doubleValue }
      #expect(made == expected.sorted(), "\(change.name)")
    }
  }
}
