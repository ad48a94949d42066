import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Fills itself when it is read.
private final class Riser: NSManagedObject {
  var awakenings = 0
  override func awakeFromFetch() {
    awakenings += 1
    setValue("awake", forKey: "note")
    setValue("cached", forKey: "cache")
    if let owner = value(forKey: "owner") as? NSManagedObject {
      owner.setValue("seen", forKey: "name")
      setValue(owner, forKey: "guest")
    }
  }
}

@Suite("Values that are set without a change")
struct SilentValueTests {
  private func stack() throws -> Stack {
    let riser = entity(
      "Riser", Riser.self,
      [
        attribute("name", .stringAttributeType), attribute("note", .stringAttributeType),
        attribute("cache", .stringAttributeType, transient: true),
      ])
    let owner = entity(
      "Owner", nil, [attribute("name", .stringAttributeType), attribute("count", .integer32AttributeType)])
    connect(.one(riser, "owner"), .many(owner, "risers"))
    connect(.one(riser, "guest"), .many(owner, "guests"))
    return try Stack(model: model(riser, owner))
  }

  /// A store with one riser and its owner.
  private func stored() throws -> (Stack, NSManagedObjectID) {
    let stack = try stack()
    let writer = stack.context()
    let riser = writer.make("Riser", ["name": "stored"])
    riser.setValue(writer.make("Owner", ["name": "stored", "count": 1]), forKey: "owner")
    try writer.save()
    return (stack, riser.objectID)
  }

  private func stored(_ stack: Stack, _ key: String, entity: String = "Owner") throws -> String? {
    try stack.context().all(entity).first?.committedValues(forKeys: [key])[key] as? String
  }

  @Test("What awakeFromFetch sets leaves the object, its partners and the context without changes")
  func awakening() throws {
    let (stack, id) = try stored()
    for way in 0..<4 {
      let context = stack.context()
      let listener = Listener(context)
      let riser: NSManagedObject
      switch way {
      case 0: riser = try #require(try context.all("Riser").first)
      case 1: riser = try context.existingObject(with: id)
      case 2:
        riser = context.object(with: id)
        #expect(riser.isFault)
      default:
        riser = try #require(try context.all("Owner").first?.set("risers").first)
      }
      #expect(riser.value(forKey: "note") as? String == "awake")
      #expect(riser.value(forKey: "cache") as? String == "cached")
      #expect((riser as? Riser)?.awakenings == 1)
      let owner = try #require(riser.one("owner"))
      #expect(owner.value(forKey: "name") as? String == "seen")
      #expect(!riser.hasChanges && !owner.hasChanges && !context.hasChanges)
      #expect(riser.changedValues().isEmpty && context.updatedObjects.isEmpty)
      context.processPendingChanges()
      try context.save()
      #expect(listener.names.isEmpty)
    }
    #expect(try stored(stack, "name") == "stored")
    #expect(try stored(stack, "note", entity: "Riser") == nil)
  }

  @Test("What awakeFromFetch set is saved along with a change")
  func awakeningAndChange() throws {
    let (stack, id) = try stored()
    let context = stack.context()
    let riser = try context.existingObject(with: id)
    riser.setValue("changed", forKey: "name")
    #expect(riser.changedValues().keys.sorted() == ["name"])
    try context.save()
    #expect(try stored(stack, "note", entity: "Riser") == "awake")
    // The owner had no change of its own.
    #expect(try stored(stack, "name") == "stored")
  }

  @Test("setPrimitiveValue alone changes nothing; between willChangeValue and didChangeValue it does")
  func primitive() throws {
    let (stack, _) = try stored()
    let context = stack.context()
    let owner = try #require(try context.all("Owner").first)
    let listener = Listener(context)
    owner.setPrimitiveValue("quiet", forKey: "name")
    #expect(owner.value(forKey: "name") as? String == "quiet")
    #expect(owner.primitiveValue(forKey: "name") as? String == "quiet")
    #expect(!owner.hasChanges && !context.hasChanges && owner.changedValues().isEmpty)
    try context.save()
    #expect(listener.names.isEmpty)
    #expect(try stored(stack, "name") == "stored")

    owner.willChangeValue(forKey: "name")
    owner.setPrimitiveValue("loud", forKey: "name")
    owner.didChangeValue(forKey: "name")
    #expect(owner.hasChanges && owner.changedValues()["name"] as? String == "loud")
    try context.save()
    #expect(listener.names == ["change", "will", "did"])
    #expect(try stored(stack, "name") == "loud")
  }

  @Test("Announcing a change of a variable outside the model leaves the object unchanged")
  func unmodelledChange() throws {
    let (stack, _) = try stored()
    let context = stack.context()
    let owner = try #require(try context.all("Owner").first)
    owner.willAccessValue(forKey: "initials")
    owner.didAccessValue(forKey: "initials")
    owner.willChangeValue(forKey: "initials")
    owner.didChangeValue(forKey: "initials")
    #expect(!owner.isFault)
    #expect(!owner.hasChanges && !context.hasChanges && owner.changedValues().isEmpty)
  }

  @Test("What setPrimitiveValue set is saved along with a change, and only then")
  func primitiveAndChange() throws {
    let (stack, _) = try stored()
    let context = stack.context()
    let owner = try #require(try context.all("Owner").first)
    owner.setPrimitiveValue("quiet", forKey: "name")
    owner.setValue(2, forKey: "count")
    try context.save()
    #expect(try stored(stack, "name") == "quiet")
    #expect(!owner.hasChanges && owner.value(forKey: "name") as? String == "quiet")

    // The same value again is none to write.
    owner.setPrimitiveValue("quiet", forKey: "name")
    owner.setValue(3, forKey: "count")
    let listener = Listener(context)
    try context.save()
    let commit = try #require(
      listener.events.last?.info[CommittedTransaction.userInfoKey] as? CommittedTransaction)
    #expect(commit.sequence > 0)
    #expect(try stored(stack, "name") == "quiet")
  }

  @Test("What setPrimitiveValue set stays over a merge and goes with a rollback or a refresh")
  func primitiveElsewhere() throws {
    let (stack, _) = try stored()
    let (context, other) = (stack.context(), stack.context())
    let owner = try #require(try context.all("Owner").first)
    let twin = try #require(try other.all("Owner").first)
    owner.setPrimitiveValue("quiet", forKey: "name")
    twin.setValue(7, forKey: "count")
    let listener = Listener(other)
    try other.save()
    context.mergeChanges(
      fromContextDidSave: Notification(
        name: .NSManagedObjectContextDidSave, object: other,
        userInfo: try #require(listener.events.last?.info)))
    #expect(owner.value(forKey: "count") as? Int == 7)
    #expect(owner.value(forKey: "name") as? String == "quiet")
    context.refresh(owner, mergeChanges: true)
    #expect(owner.value(forKey: "name") as? String == "quiet")
    context.refresh(owner, mergeChanges: false)
    #expect(owner.value(forKey: "name") as? String == "stored")

    owner.setPrimitiveValue("quiet", forKey: "name")
    owner.setValue(9, forKey: "count")
    context.rollback()
    #expect(owner.value(forKey: "name") as? String == "stored")
    owner.setValue(9, forKey: "count")
    try context.save()
    #expect(try stored(stack, "name") == "stored")
  }

  @Test("setPrimitiveValue on a new object is saved, and a required value that it took away is missed")
  func primitiveOfNew() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    item.setPrimitiveValue("first", forKey: "title")
    try context.save()
    #expect(try stack.context().fetch(Item.fetchRequest()).map(\.title) == ["first"])
    item.setPrimitiveValue(nil, forKey: "title")
    #expect(!context.hasChanges)
    item.count = 1
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty && error?.property == "title")
  }
}

/// Does what its test says when it is to be saved.
private final class Hooked: NSManagedObject {
  nonisolated(unsafe) static var hook: ((Hooked) -> Void)?
  // Guard: the tests of the suite run one after the other.
  nonisolated(unsafe) static var calls: [String] = []
  // Guard: the same.

  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var count: Int {
    get { value(forKey: "count") as? Int ?? 0 }
    set { setValue(newValue, forKey: "count") }
  }

  override func willSave() {
    Self.calls.append(name)
    Self.hook?(self)
  }
}

@Suite("willSave until nothing changes any more", .serialized)
struct WillSaveTests {
  private func context(_ hook: @escaping (Hooked) -> Void) throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack(
      model: model(
        entity(
          "Hooked", Hooked.self,
          [attribute("name", .stringAttributeType), attribute("count", .integer32AttributeType)])))
    Hooked.hook = hook
    Hooked.calls = []
    return (stack, stack.context())
  }

  private func counts(_ stack: Stack) throws -> [Int] {
    Hooked.hook = nil
    return try stack.context().all("Hooked", sort: "name").map { $0.value(forKey: "count") as? Int ?? 0 }
  }

  @Test("A hook is called again as long as it changes its object")
  func again() throws {
    let (stack, context) = try context { if $0.count < 5 { $0.count += 1 } }
    let object = Hooked(context: context)
    object.name = "a"
    let listener = Listener(context)
    try context.save()
    #expect(Hooked.calls.count == 6)
    #expect(listener.names == ["change", "will", "did"])
    #expect(try counts(stack) == [5])
  }

  @Test("A hook is called again when another object's hook changed its object, new or not")
  func others() throws {
    nonisolated(unsafe) var first: Hooked?
    // Guard: one thread.
    let (stack, context) = try context { object in
      if object.name == "b", let first, first.count == 0 { first.count = 7 }
      if object.name == "a", object.count == 7, let context = object.managedObjectContext {
        object.count = 8
        let made = Hooked(context: context)
        made.name = "c"
      }
    }
    first = Hooked(context: context)
    first?.name = "a"
    Hooked(context: context).name = "b"
    try context.save()
    #expect(Hooked.calls.filter { $0 == "a" }.count == 3)
    #expect(Hooked.calls.filter { $0 == "b" }.count == 1)
    #expect(Hooked.calls.filter { $0 == "c" }.count == 1)
    #expect(try counts(stack) == [8, 0, 0])
  }

  @Test("A hook that sets what is there already, or a primitive value, ends the rounds")
  func equal() throws {
    let (stack, context) = try context { object in
      object.name = object.name.lowercased()
      object.setPrimitiveValue(object.count + 1, forKey: "count")
    }
    Hooked(context: context).name = "A"
    try context.save()
    #expect(Hooked.calls.count <= 3)
    #expect(try counts(stack)[0] == Hooked.calls.count)
    let calls = Hooked.calls.count
    Hooked.hook = { $0.name = $0.name.lowercased() }
    let object = try #require(try context.all("Hooked").first as? Hooked)
    object.count = 100
    try context.save()
    #expect(Hooked.calls.count - calls <= 3)
  }

  @Test("A hook that deletes its object keeps no other object from its own")
  func deleting() throws {
    let (stack, context) = try context { object in
      if object.name == "a" {
        object.managedObjectContext?.delete(object)
      } else {
        object.count += object.count == 0 ? 1 : 0
      }
    }
    for name in ["a", "b", "c"] { Hooked(context: context).name = name }
    try context.save()
    #expect(try counts(stack) == [1, 1])
  }

  @Test("A hook without an end is an error that names the objects, and nothing is lost")
  func endless() throws {
    let (stack, context) = try context { $0.count += 1 }
    let object = Hooked(context: context)
    object.name = "a"
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code.rawValue == "unsettledChanges")
    #expect(error?.entity == "Hooked" && error?.property == "count")
    #expect(
      error?.message.hasPrefix(
        "After 1,000 rounds of willSave() the save still finds changes: Hooked.count of ") == true)
    #expect(error?.message.contains("setPrimitiveValue") == true)
    #expect(Hooked.calls.count == 1000)
    #expect(context.insertedObjects == [object])
    #expect(try stack.context().count(for: NSFetchRequest<NSManagedObject>(entityName: "Hooked")) == 0)
    Hooked.hook = nil
    try context.save()
    #expect(try counts(stack) == [1000])
  }

  @Test("What an observer of changes changes during a save has its hook; one without an end is an error")
  func observers() throws {
    let (stack, context) = try context { _ in }
    let (first, second) = (Hooked(context: context), Hooked(context: context))
    (first.name, second.name) = ("a", "b")
    try context.save()
    Hooked.calls = []
    first.count = 1
    let held = Unchecked(second)
    do {
      let listener = Listener(context) { note in
        if note.name == .NSManagedObjectContextObjectsDidChange, held.value.count == 0 {
          held.value.count = 2
        }
      }
      try context.save()
      withExtendedLifetime(listener) {}
    }
    #expect(Hooked.calls == ["a", "b"])
    #expect(try counts(stack) == [1, 2])
    first.count = 3
    let listener = Listener(context) { note in
      if note.name == .NSManagedObjectContextObjectsDidChange { held.value.count += 1 }
    }
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    withExtendedLifetime(listener) {}
    #expect(error?.code.rawValue == "unsettledChanges")
  }
}
