import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// As the plug-in rewrites a class with `@objc(Lonely)`.
final class LonelyClass: NSManagedObject {
  override class var _cdObjectiveCName: String? { "Lonely" }
  override func awakeFromInsert() { setValue("awake", forKey: "title") }
}

/// The list that the plug-in adds to a target.
nonisolated public final class _CDEPortedClasses: CDPortedClasses {
  public static var classes: [(name: String, type: NSManagedObject.Type)] { [("Lonely", LonelyClass.self)] }
  public static var modules: [String] { [] }
}

/// Each in a process of its own, which has used none of the classes.
@Suite("Classes that a model in code names")
struct ClassNameTests {
  fileprivate static func context(className: String?) throws -> NSManagedObjectContext {
    let model = makeModel()
    model.entitiesByName["Note"]?.managedObjectClassName = className
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("A bare name finds a class that no code has used yet")
  func bareName() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let context = try ClassNameTests.context(className: "Lonely")
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      exit(note.value(forKey: "title") as? String == "awake" && "\(type(of: note))" == "LonelyClass" ? 0 : 1)
    }
  }

  @Test("What NSManagedObject(entity:insertInto:) of rewritten sources makes is of the entity's class")
  func made() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let context = try ClassNameTests.context(className: "Lonely")
      let entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
      guard let note = entities["Note"], let tag = entities["Tag"] else { exit(2) }
      let inserted = NSManagedObject._cdMade(entity: note, insertInto: context)
      let alone = NSManagedObject._cdMade(entity: note, insertInto: nil)
      let plain = NSManagedObject._cdMade(entity: tag, insertInto: context)
      let areRight =
        inserted is LonelyClass && inserted.value(forKey: "title") as? String == "awake"
        && alone is LonelyClass && alone.managedObjectContext == nil
        && type(of: plain) == NSManagedObject.self
        && context.insertedObjects == [inserted, plain]
      context.insert(alone)
      exit(areRight && alone.value(forKey: "title") as? String == "awake" ? 0 : 1)
    }
  }

  @Test("NSClassFromString finds a class of another ported module")
  func classFromString() async {
    await #expect(processExitsWith: .success) {
      exit(_cdClassFromString("Lonely", "Elsewhere/File.swift") == LonelyClass.self ? 0 : 1)
    }
  }

  @Test("A name that no class has is told once; objects of the entity are plain, and no name is told nothing")
  func unknownName() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      @MainActor in
      for name in ["Lonly", "NSManagedObject", nil] {
        let context = try ClassNameTests.context(className: name)
        for _ in 0..<2 {
          let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
          if type(of: note) != NSManagedObject.self { exit(2) }
          note.setValue("", forKey: "title")
        }
        try context.save()
        _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      }
      exit(0)
    }
    let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let notes = told.split(separator: "\n").filter { $0.contains(" names the class ") }
    #expect(
      notes.count == 1 && notes.first?.contains("The entity Note names the class Lonly, and the") == true,
      "\(told)")
  }
}
