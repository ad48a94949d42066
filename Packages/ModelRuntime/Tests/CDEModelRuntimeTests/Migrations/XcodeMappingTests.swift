import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import Foundation
import Testing

/// The functions that expressions of the generated mapping models call, and a value that only the policy sets.
final class XcodePolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    made.first?.setValue("policy", forKey: "mark")
  }

  override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
    switch selector {
    case "shout:": return (arguments.first as? String).map { "\($0)!" }
    case "half:": return (arguments.first as? NSNumber).map { $0.doubleValue / 2 }
    default: return try super.value(ofFunction: selector, arguments: arguments)
    }
  }
}

@Suite("Random mapping models as Xcode saves them", .onSQLite)
struct XcodeMappingTests {
  @Test("Random mapping models load, and their migrations give what a plain model of them gives")
  func agreement() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    print("Random mapping models, seed \(seed)")
    for round in 0..<(environment["CDE_XCODE_MAPPINGS"].flatMap(Int.init) ?? 12) {
      try run(seed: seed &+ UInt64(round))
    }
  }

  private func run(seed: UInt64) throws {
    var random = MigrationRandom(seed: seed)
    let world = XcodeWorld(&random)
    let place = Comment("seed \(seed)")
    do {
      let files = try world.files(policy: NSStringFromClass(XcodePolicy.self), &random)
      let old = try NSManagedObjectModel(modelFile: files.old)
      let new = try NSManagedObjectModel(modelFile: files.new)
      let mapping = try NSMappingModel(mappingFile: files.mapping)
      // What is compiled says the same.
      let compiled = try NSMappingModel(compiledMapping: try ModelCompiler.data(of: mapping))
      let store = try OldStore(old) { world.fill($0) }
      let first = try store.opened(old)
      let orders = try first.work { try world.orders($0) }
      try first.close()
      let container = NSPersistentContainer(name: "Test", managedObjectModel: new)
      let description = NSPersistentStoreDescription(url: store.file)
      description.shouldInferMappingModelAutomatically = false
      description.migrationMappingModels = [Bool.random(using: &random) ? mapping : compiled]
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      let (found, expected) = (
        try container.work { try world.found($0) }, world.expected(orders: orders)
      )
      for id in Set(found.keys).union(expected.keys).sorted() where found[id] != expected[id] {
        Issue.record("\(place), object \(id): \(found[id] ?? [:]) and not \(expected[id] ?? [:])")
      }
      for name in world.added {
        #expect(try container.work { try $0.all(name).count } == 0, place)
      }
      try container.close()
    } catch {
      Issue.record("\(place): \(error)")
    }
  }
}
