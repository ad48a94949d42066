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
