import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// As rewritten sources declare a variable with `@objc`, and a transient property with a getter of its own.
private final class Reader: NSManagedObject {
  override func _cdComputedValue(forKey key: String) -> Any?? {
    switch key {
    case "initial": .some((value(forKey: "name") as? String)?.prefix(1).uppercased())
    case "label": .some("\(value(forKey: "name") as? String ?? "?")!")
    default: nil
    }
  }
}

/// As rewritten sources declare variables with `@objc` whose accessors reach the values of properties.
private final class Contact: NSManagedObject {
  enum Kind: Int16 { case friend = 0, colleague = 1 }
  var kind: Kind {
    get { (primitiveValue(forKey: "kind") as? Int16).flatMap { Kind(rawValue: $0) } ?? .friend }
    set { setPrimitiveValue(newValue.rawValue, forKey: "kind") }
  }
  var email: String? {
    get {
      willAccessValue(forKey: "email")
      defer { didAccessValue(forKey: "email") }
      return (primitiveValue(forKey: "email") as? String).map { "<\($0)>" }
    }
    set {
      willChangeValue(forKey: "email")
      defer { didChangeValue(forKey: "email") }
      setPrimitiveValue(newValue?.lowercased(), forKey: "email")
    }
  }
  var age: Int16 {
    get { primitiveValue(forKey: "age") as? Int16 ?? -1 }
    set { setPrimitiveValue(newValue + 1, forKey: "age") }
  }
  var friends: Set<Contact> {
    get { Set((primitiveValue(forKey: "friends") as? NSSet)?.compactMap { $0 as? Contact } ?? []) }
    set { _cdSet(_CDName("friends", 0x82a6_b147_33b2_685a), newValue) }
  }

  override class var _cdAccessorKeys: Set<String> { ["email", "age", "friends", "kind"] }
  override func _cdComputedValue(forKey key: String) -> Any?? {
    switch key {
    case "email": .some(email)
    case "age": .some(age)
    case "friends": .some(friends)
    case "kind": .some(kind)
    default: nil
    }
  }
  override func _cdSetComputedValue(_ value: Any?, forKey key: String) -> Bool {
    switch key {
    case "email": _cdAssign(value, forKey: key) { self.email = $0 }
    case "age": _cdAssign(value, forKey: key) { self.age = $0 }
    case "friends": _cdAssign(value, forKey: key) { self.friends = $0 }
    case "kind": _cdAssign(value, forKey: key) { self.kind = $0 }
    default: false
    }
  }
}

@Suite("Properties of the model with accessors of the class's own")
struct OwnAccessorTests {
  private func context() throws -> NSManagedObjectContext {
    let contact = entity(
      "Contact", nil,
      [
        attribute("email", .stringAttributeType), attribute("age", .integer16AttributeType),
        attribute("name", .stringAttributeType), attribute("kind", .integer16AttributeType),
      ])
    contact.managedObjectClassName = NSStringFromClass(Contact.self)
    connect(.many(contact, "friends"), .many(contact, "admirers"))
    return try Stack(model: model(contact)).context()
  }

  @Test("Key-value coding calls the accessors in all its forms, and primitive values pass them by")
  func forms() throws {
    let context = try context()
    let contact = try #require(context.make("Contact") as? Contact)
    contact.setValue("C@D", forKey: "email")
    #expect(contact.primitiveValue(forKey: "email") as? String == "c@d")
    #expect(contact.changedValues()["email"] as? String == "c@d")
    #expect(contact.value(forKey: "email") as? String == "<c@d>")
    #expect(contact.value(forKeyPath: "email") as? String == "<c@d>")
    #expect(contact.value(forKeyPath: "email.length") as? Int == 5)
    #expect(contact.dictionaryWithValues(forKeys: ["email"])["email"] as? String == "<c@d>")
    contact.setValuesForKeys(["email": "E@F", "age": 3, "name": "Eve"])
    #expect(contact.primitiveValue(forKey: "email") as? String == "e@f")
    #expect(contact.primitiveValue(forKey: "age") as? Int == 4)
    #expect(contact.value(forKey: "age") is NSNumber)
    #expect(contact.value(forKey: "name") as? String == "Eve")
    contact.setValue("G@H", forKeyPath: "email")
    #expect(contact.primitiveValue(forKey: "email") as? String == "g@h")
    for value in [nil, NSNull()] as [Any?] {
      contact.setValue("x", forKey: "email")
      contact.setValue(value, forKey: "email")
      #expect(contact.value(forKey: "email") == nil)
    }
  }

  @Test(
    "A number of any type reaches the accessor; none, and one too great, are left to the property's rules",
    arguments: [
      (5, 6), (Int16(5), 6), (5.0, 6), (NSNumber(value: 5), 6), (nil, nil), (70_000, 1),
    ] as [((any Sendable)?, Int?)])
  func numbers(_ value: (any Sendable)?, _ stored: Int?) throws {
    let contact = try context().make("Contact")
    contact.setPrimitiveValue(1, forKey: "age")
    contact.setValue(value, forKey: "age")
    #expect(contact.primitiveValue(forKey: "age") as? Int == stored)
  }

  @Test("An enumeration is read and set by its raw value; a value of no case is left to the property's rules")
  func enumerations() throws {
    let contact = try #require(try context().make("Contact") as? Contact)
    contact.setValue(1, forKey: "kind")
    #expect(contact.kind == .colleague)
    #expect(contact.value(forKey: "kind") as? Int16 == 1)
    #expect(contact.value(forKey: "kind") is NSNumber)
    #expect(NSPredicate(format: "kind == 1").evaluate(with: contact))
    contact.setValue(Contact.Kind.friend, forKey: "kind")
    #expect(contact.kind == .friend)
    contact.setValue(9, forKey: "kind")
    #expect(contact.primitiveValue(forKey: "kind") as? Int == 9)
  }

  @Test("A relationship's members reach the accessor as the type that it takes")
  func relationships() throws {
    let context = try context()
    let contacts = (0..<3).compactMap { _ in context.make("Contact") as? Contact }
    contacts[0].setValue(NSSet(array: [contacts[1]]), forKey: "friends")
    #expect(contacts[0].friends == [contacts[1]])
    contacts[0].setValue([contacts[1], contacts[2]], forKey: "friends")
    #expect(contacts[0].friends.count == 2)
    #expect((contacts[0].value(forKey: "friends") as? NSSet)?.count == 2)
    #expect((contacts[2].value(forKey: "admirers") as? NSSet)?.contains(contacts[0]) == true)
    contacts[0].setValue(nil, forKey: "friends")
    #expect(contacts[0].friends.isEmpty)
    #expect(contacts[0].value(forKeyPath: "friends.@count") as? Int == 0)
  }

  @Test("Predicates and orders in memory read what the accessors return, and a store what is stored")
  func memory() throws {
    let context = try context()
    let contacts = ["b", "a"].map { context.make("Contact", ["email": $0]) }
    #expect(NSPredicate(format: "email == '<b>'").evaluate(with: contacts[0]))
    #expect(!NSPredicate(format: "email == 'b'").evaluate(with: contacts[0]))
    #expect(NSPredicate(format: "age < 0").evaluate(with: contacts[0]))
    let sorted = (contacts as NSArray).sortedArray(using: [NSSortDescriptor(key: "email", ascending: true)])
    #expect(sorted.first as? NSManagedObject === contacts[1])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Contact")
    request.predicate = NSPredicate(format: "email == 'b'")
    #expect(try context.fetch(request) == [contacts[0]])
    try context.save()
    #expect(try context.fetch(request) == [contacts[0]])
  }

  @Test("A plain object of the entity has no accessors")
  func plain() throws {
    let context = try context()
    let made = try #require(context.make("Contact") as? Contact)
    let plain = NSManagedObject(entity: made.entity, insertInto: context)
    plain.setValue("C@D", forKey: "email")
    #expect(plain.value(forKey: "email") as? String == "C@D")
  }
}

@Suite("Keys that the model does not have")
struct ComputedKeyTests {
  private func stack() throws -> Stack {
    let reader = entity(
      "Reader", nil, [attribute("name", .stringAttributeType), attribute("label", .stringAttributeType)])
    reader.attributesByName["label"]?.isTransient = true
    reader.managedObjectClassName = NSStringFromClass(Reader.self)
    let group = entity("Group", nil, [])
    connect(.many(group, "readers"), .one(reader, "group"))
    return try Stack(model: model(reader, group))
  }

  @Test("Key-value coding reads the properties of every managed object, along paths too")
  func ownKeys() throws {
    let context = try stack().context()
    let (reader, group) = (context.make("Reader", ["name": "ann"]), context.make("Group"))
    reader.setValue(group, forKey: "group")
    #expect(reader.value(forKey: "objectID") as? NSManagedObjectID == reader.objectID)
    #expect(reader.value(forKey: "self") as? NSManagedObject === reader)
    #expect(reader.value(forKeyPath: "entity.name") as? String == "Reader")
    #expect(reader.value(forKeyPath: "name.length") as? Int == 3)
    #expect(reader.value(forKey: "managedObjectContext") as? NSManagedObjectContext === context)
    #expect(
      ["isInserted", "hasChanges", "isDeleted", "isUpdated", "isFault"].map {
        reader.value(forKey: $0) as? Bool
      }
        == [true, true, false, false, false])
    try context.save()
    #expect(reader.value(forKey: "isInserted") as? Bool == false)
    let ids = group.value(forKeyPath: "readers.objectID") as? Set<NSManagedObjectID>
    #expect(ids == [reader.objectID])
  }

  @Test(
    "A predicate in memory reads what the class computes, and what every object has",
    arguments: [
      ("initial == 'A'", true), ("initial == 'B'", false), ("label == 'ann!'", true),
      ("hasChanges == YES", true),
      ("isDeleted == NO", true), ("managedObjectContext != nil", true),
      ("managedObjectContext == nil", false),
      ("ANY group.readers.initial == 'A'", true), ("entity.name == 'Reader'", true),
    ])
  func predicates(_ format: String, _ holds: Bool) throws {
    let context = try stack().context()
    let reader = context.make("Reader", ["name": "ann"])
    reader.setValue(context.make("Group"), forKey: "group")
    #expect(NSPredicate(format: format).evaluate(with: reader) == holds)
    #expect(try NSPredicate(format: format).matches(reader) == holds)
  }

  @Test("Objects are sorted by what their class computes")
  func sorting() throws {
    let context = try stack().context()
    let readers = ["cid", "ann", "bob"].map { context.make("Reader", ["name": $0]) }
    let sorted = (readers as NSArray).sortedArray(using: [NSSortDescriptor(key: "initial", ascending: true)])
    #expect(
      sorted.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["ann", "bob", "cid"])
  }

  /// In a process of its own: the handler of notes is the process's.
  @Test("A predicate and an order over an unknown key are told once; the predicate is false")
  func unknown() async {
    await #expect(processExitsWith: .success) {
      let notes = Unchecked(NSMutableArray())
      Diagnostics.handler = { notes.value.add($0) }
      let context = try ComputedKeyTests().stack().context()
      let readers = ["ann", "bob"].map { context.make("Reader", ["name": $0]) }
      let predicate = NSPredicate(format: "nmae == 'ann'")
      for reader in readers { #expect(!predicate.evaluate(with: reader)) }
      _ = (readers as NSArray).sortedArray(using: [NSSortDescriptor(key: "nmae", ascending: true)])
      let told = notes.value.compactMap { $0 as? String }
      exit(
        told.count == 2 && told.allSatisfy { $0.contains("could not be evaluated") && $0.contains("nmae") }
          ? 0 : 1)
    }
  }
}
