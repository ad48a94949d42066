import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

private struct OddName: Error {}

private final class Picky: NSManagedObject {
  var saves = 0
  override func validateForInsert() throws {
    try super.validateForInsert()
    if value(forKey: "name") as? String == "odd" { throw OddName() }
  }
  override func willSave() {
    saves += 1
    if value(forKey: "stamp") == nil { setValue("stamped", forKey: "stamp") }
  }
}

/// Numbers its box, and puts another thing beside each new one, when validated.
private final class Meddling: NSManagedObject {
  override func validateForInsert() throws {
    try super.validateForInsert()
    guard let context = managedObjectContext, value(forKey: "name") as? String == "first" else { return }
    let box = value(forKey: "box") as? NSManagedObject
    box?.setValue("counted", forKey: "name")
    let other = Meddling(entity: entity, insertInto: context)
    other.setValue(box, forKey: "box")
    other.setValue("second", forKey: "name")
    other.setValue(value(forKey: "stamp") == nil ? 2 : nil, forKey: "size")
  }
}

@Suite("Saving")
struct SavingTests {
  private func stack(_ type: NSManagedObject.Type? = nil) throws -> Stack {
    let thing = entity(
      "Thing", type,
      [
        attribute("name", .stringAttributeType, optional: false),
        attribute("size", .integer32AttributeType, optional: false),
        attribute("stamp", .stringAttributeType), attribute("code", .stringAttributeType),
      ])
    thing.uniquenessConstraints = [["code"]]
    let box = entity("Box", nil, [attribute("name", .stringAttributeType)])
    connect(.one(thing, "box"), .many(box, "things", min: 2, max: 3))
    return try Stack(model: model(thing, box))
  }

  @Test("All failures come at once, as NSError in Apple's terms, and nothing is lost")
  func allFailures() throws {
    let context = try stack().context()
    let thing = context.make("Thing")
    let other = context.make("Thing", ["name": "n"])
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .multipleValidationErrors)
    #expect(error?.failures.count == 3)
    let bridged = try #require(error as NSError?)
    #expect(bridged.domain == NSCocoaErrorDomain)
    #expect(bridged.code == NSValidationMultipleErrorsError)
    let details = try #require(bridged.userInfo[NSDetailedErrorsKey] as? [NSError])
    #expect(Set(details.map(\.code)) == [NSValidationMissingMandatoryPropertyError])
    #expect(Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String }) == ["name", "size"])
    #expect(context.insertedObjects == [thing, other])
    thing.setValue("a", forKey: "name")
    thing.setValue(1, forKey: "size")
    other.setValue(2, forKey: "size")
    try context.save()
    #expect(!context.hasChanges)
  }

  @Test("What a validation changes elsewhere is validated and saved as well")
  func meddling() throws {
    let stack = try stack(Meddling.self)
    let context = stack.context()
    let box = context.make("Box", ["name": "new"])
    try context.save()
    let listener = Listener(context)
    let first = context.make("Thing", ["name": "first", "size": 1, "stamp": "strict"])
    first.setValue(box, forKey: "box")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty)
    #expect(error?.property == "size")
    context.rollback()

    let again = context.make("Thing", ["name": "first", "size": 1])
    again.setValue(box, forKey: "box")
    try context.save()
    #expect(!context.hasChanges)
    let saved = listener.objects(listener.events.count - 1, NSInsertedObjectsKey)
    #expect(saved.count == 2 && saved.contains(again))
    let reader = stack.context()
    let names = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).map {
      $0.value(forKey: "name") as? String
    }
    #expect(Set(names) == ["first", "second"])
    let boxes = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box"))
    #expect(boxes.map { $0.value(forKey: "name") as? String } == ["counted"])
  }

  @Test("A required value set to nil stays readable after the failed save, which then succeeds")
  func invalidNil() throws {
    let stack = try stack()
    let context = stack.context()
    let thing = context.make("Thing", ["name": "a", "size": 1])
    try context.save()
    thing.setValue(nil, forKey: "name")
    thing.setValue(5, forKey: "size")
    let listener = Listener(context)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty)
    #expect(error?.objectID == thing.objectID)
    #expect(listener.names == ["change", "will"])
    #expect(context.hasChanges)
    #expect(context.updatedObjects == [thing])
    #expect(thing.value(forKey: "name") == nil)
    #expect(try context.existingObject(with: thing.objectID).value(forKey: "name") == nil)
    #expect(try stack.context().all("Thing").map { $0.value(forKey: "size") as? Int } == [1])
    thing.setValue("b", forKey: "name")
    try context.save()
    #expect(try stack.context().all("Thing").map { $0.value(forKey: "name") as? String } == ["b"])
  }

  @Test("Counts of members are checked, also when members go")
  func counts() throws {
    let stack = try stack()
    let context = stack.context()
    let box = context.make("Box")
    let things = (0..<4).map { context.make("Thing", ["name": "\($0)", "size": 0]) }
    box.mutableSetValue(forKey: "things").add(things[0])
    #expect(throws: ManagedObjectError.self) { try context.save() }
    do { try context.save() } catch let error as ManagedObjectError {
      #expect(error.code == .relationshipLacksMinimumCount)
      #expect(error.property == "things")
    }
    box.mutableSetValue(forKey: "things").addObjects(from: things)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .relationshipExceedsMaximumCount)
    things[3].setValue(nil, forKey: "box")
    try context.save()
    // The owner is in no variable here.
    let other = stack.context()
    for thing in try other.all("Thing", NSPredicate(format: "box != nil"), sort: "name").prefix(2) {
      other.delete(thing)
    }
    let lacking = #expect(throws: ManagedObjectError.self) { try other.save() }
    #expect(lacking?.code == .relationshipLacksMinimumCount)
    // An optional relationship may be empty.
    for thing in try other.all("Thing", NSPredicate(format: "box != nil")) { other.delete(thing) }
    try other.save()
  }

  @Test("A class's own validation and willSave have their say")
  func hooks() throws {
    let context = try stack(Picky.self).context()
    let picky = try #require(context.make("Thing", ["name": "odd", "size": 1]) as? Picky)
    #expect(throws: OddName.self) { try context.save() }
    #expect(picky.value(forKey: "stamp") as? String == "stamped")
    let empty = context.make("Thing")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.failures.count == 3)
    #expect(error?.failures.contains { $0.cause is OddName } == true)
    context.delete(empty)
    picky.setValue("even", forKey: "name")
    try context.save()
    // Once more, because it changed itself.
    #expect(picky.saves == 4)
  }

  @Test("Two writers of one row: the second learns of it, refreshes and saves")
  func conflict() throws {
    let stack = try stack()
    let (one, other) = (stack.context(), stack.context())
    let mine = one.make("Thing", ["name": "a", "size": 1])
    try one.save()
    let theirs = try #require(try other.all("Thing").first)
    mine.setValue(2, forKey: "size")
    theirs.setValue("b", forKey: "name")
    try one.save()
    let error = #expect(throws: ManagedObjectError.self) { try other.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.conflicts == [theirs.objectID])
    #expect((error as NSError?)?.code == NSManagedObjectMergeError)
    #expect(other.updatedObjects == [theirs])
    other.refresh(theirs, mergeChanges: true)
    #expect(theirs.value(forKey: "name") as? String == "b")
    #expect(theirs.value(forKey: "size") as? Int == 2)
    try other.save()
    one.refresh(mine, mergeChanges: false)
    #expect(mine.value(forKey: "name") as? String == "b")
  }

  @Test("Deleted here and changed there, changed here and deleted there")
  func deleteConflicts() throws {
    let stack = try stack()
    let (one, other) = (stack.context(), stack.context())
    let mine = ["a", "b"].map { one.make("Thing", ["name": $0, "size": 1]) }
    try one.save()
    let theirs = try other.all("Thing", sort: "name")
    mine[0].setValue(2, forKey: "size")
    one.delete(mine[1])
    try one.save()
    other.delete(theirs[0])
    theirs[1].setValue(3, forKey: "size")
    let error = #expect(throws: ManagedObjectError.self) { try other.save() }
    #expect(error?.code == .saveConflict)
    #expect(Set(error?.conflicts ?? []) == Set(theirs.map(\.objectID)))
    for object in theirs { other.refresh(object, mergeChanges: true) }
    #expect(theirs[1].isDeleted)
    #expect(theirs[1].managedObjectContext == nil)
    #expect(other.deletedObjects == [theirs[0]])
    try other.save()
    #expect(try stack.context().all("Thing").isEmpty)
  }

  @Test("A value that must be unique and is not fails by name; the save works with another")
  func uniqueness() throws {
    let stack = try stack()
    let context = stack.context()
    context.make("Thing", ["name": "a", "size": 1]).setValue("X", forKey: "code")
    try context.save()
    let second = context.make("Thing", ["name": "b", "size": 1, "code": "X"])
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .uniquenessConflict)
    #expect(error?.entity == "Thing")
    #expect(error?.property == "code")
    #expect((error as NSError?)?.code == NSManagedObjectConstraintMergeError)
    #expect(second.objectID.isTemporaryID)
    #expect(context.insertedObjects == [second])
    second.setValue("Y", forKey: "code")
    try context.save()
    #expect(try stack.context().all("Thing").count == 2)
  }

  @Test("Without a loaded store a save says so, and an empty save does nothing")
  func noStore() throws {
    let thing = entity("Thing", nil, [attribute("name", .stringAttributeType)])
    let container = NSPersistentContainer(name: "None", managedObjectModel: model(thing))
    let context = container.newBackgroundContext()
    try context.save()
    context.make("Thing")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .noStore)
    #expect(throws: ManagedObjectError.self) { try context.all("Thing") }
    #expect(context.hasChanges)
  }

  @Test("Saving an object that ended unchanged posts nothing but its change")
  func nothing() throws {
    let context = try stack().context()
    let listener = Listener(context)
    context.delete(context.make("Thing"))
    try context.save()
    try context.save()
    #expect(!listener.names.contains("will"))
    #expect(!listener.names.contains("did"))
  }

  @Test("Each configuration has its store; a save over two of them writes both", .onSQLite)
  func configurations() throws {
    let left = entity("Left", nil, [attribute("name", .stringAttributeType)])
    let right = entity("Right", nil, [attribute("name", .stringAttributeType)])
    let both = model(left, right)
    both.setEntities([left], forConfigurationName: "L")
    both.setEntities([right], forConfigurationName: "R")
    let folder = ProcessFolder.newURL()
    let container = NSPersistentContainer(name: "Two", managedObjectModel: both)
    container.persistentStoreDescriptions = ["L", "R"].map { name in
      let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
      description.configuration = name
      return description
    }
    var failures: [any Error] = []
    container.loadPersistentStores { _, error in if let error { failures.append(error) } }
    #expect(failures.isEmpty)
    let context = container.newBackgroundContext()
    let one = context.make("Left", ["name": "l"])
    try context.save()
    let two = context.make("Right", ["name": "r"])
    try context.save()
    #expect(one.objectID.persistentStore !== two.objectID.persistentStore)
    // Objects that came and went, or took their change back, take no part.
    context.delete(context.make("Right", ["name": "short-lived"]))
    two.setValue("dropped", forKey: "name")
    context.refresh(two, mergeChanges: false)
    one.setValue("l", forKey: "name")
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.all("Left").map { $0.value(forKey: "name") as? String } == ["l"])
    #expect(try other.all("Right").map { $0.value(forKey: "name") as? String } == ["r"])
    one.setValue("x", forKey: "name")
    two.setValue("y", forKey: "name")
    try context.save()
    #expect(try other.all("Left").isEmpty == false && !context.hasChanges)
    // Each file is that of a model without the other entity.
    for (store, name) in zip(container.persistentStoreCoordinator.persistentStores, ["Left", "Right"]) {
      let metadata = container.persistentStoreCoordinator.metadata(for: store)
      let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
      #expect(hashes == [name: try #require(both.entityVersionHashesByName[name])])
      #expect(both.isConfiguration(withName: String(name.prefix(1)), compatibleWithStoreMetadata: metadata))
      #expect(!both.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
    // Which a model of that entity alone opens, without a configuration.
    let alone = try #require(both.copy() as? NSManagedObjectModel)
    alone.entities = alone.entities.filter { $0.name == "Right" }
    let reader = NSPersistentContainer(name: "One", managedObjectModel: alone)
    reader.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: folder.appendingPathComponent("R.sqlite"))
    ]
    reader.loadPersistentStores { _, error in if let error { failures.append(error) } }
    #expect(failures.isEmpty)
    #expect(
      try reader.newBackgroundContext().all("Right").map { $0.value(forKey: "name") as? String } == ["y"])
  }

  @Test("Two objects swap a unique value in one save; a deleted one gives its value to a new one")
  func swappedUniqueValues() throws {
    let stack = try Stack()
    let context = stack.context()
    let tags = ["a", "b", "c"].map { context.make("Tag", ["tag_name": $0]) }
    try context.save()
    tags[0].setValue("b", forKey: "tag_name")
    tags[1].setValue("a", forKey: "tag_name")
    context.delete(tags[2])
    context.make("Tag", ["tag_name": "c"])
    try context.save()
    let saved = try stack.context().all("Tag").map { ($0.objectID, $0.value(forKey: "tag_name") as? String) }
    let names = Dictionary(uniqueKeysWithValues: saved)
    #expect((names[tags[0].objectID], names[tags[1].objectID]) == ("b", "a"))
    #expect(names.values.compactMap { $0 }.sorted() == ["a", "b", "c"])
    tags[0].setValue("c", forKey: "tag_name")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect((error?.code, error?.entity, error?.property) == (.uniquenessConflict, "Tag", "tag_name"))
  }

  @Test("A relationship that leaves its configuration is refused when the store is opened")
  func crossingConfigurations() throws {
    let left = entity("Left", nil, [])
    let right = entity("Right", nil, [])
    connect(.one(left, "right"), .many(right, "lefts"))
    let both = model(left, right)
    both.setEntities([left], forConfigurationName: "L")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: both)
    let error = #expect(throws: ManagedObjectError.self) {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: "L", at: nil, options: nil)
    }
    #expect((error?.cause as? ModelError)?.code == .crossesConfiguration)
    #expect(error?.message.contains("Left.right leads from configuration L to Right outside of it") == true)
  }
}
