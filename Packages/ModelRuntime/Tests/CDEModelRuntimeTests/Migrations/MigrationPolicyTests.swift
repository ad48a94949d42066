import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import CDEPredicates
import CDEStore
import Foundation
import Testing

/// The error of an application.
private struct Refusal: Error, Equatable { let place: String }

/// Notes the calls of all policies of a test, and can refuse one.
private final class Recorder: @unchecked Sendable {
  // Guard: a test and its migration run on one thread.
  var calls: [String] = []
  var refused: String?
  var cancelled: String?
  var progress: [Float] = []

  func note(
    _ method: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager,
    _ object: NSManagedObject? = nil
  ) throws {
    let key = object.flatMap { object in
      ["name", "text", "title"].first { object.entity.attributesByName[$0] != nil }
    }
    let text = key.flatMap { object?.value(forKey: $0) as? String }
    let call = "\(method) \(mapping.name ?? "")" + (text.map { " \($0)" } ?? "")
    calls.append(call)
    progress.append(manager.migrationProgress)
    #expect(manager.currentEntityMapping === mapping)
    if call == refused { throw Refusal(place: call) }
    if call == cancelled { manager.cancelMigrationWithError(Refusal(place: call)) }
  }
}

private final class RecordingPolicy: NSEntityMigrationPolicy {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try recorder(manager).note("begin", mapping, manager)
    try super.begin(mapping, with: manager)
  }

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try recorder(manager).note("create", mapping, manager, source)
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try recorder(manager).note("endInstances", mapping, manager)
    try super.endInstanceCreation(forMapping: mapping, manager: manager)
  }

  override func createRelationships(
    forDestination made: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try recorder(manager).note("relate", mapping, manager, made)
    try super.createRelationships(forDestination: made, in: mapping, manager: manager)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    try recorder(manager).note("endRelationships", mapping, manager)
    try super.endRelationshipCreation(forMapping: mapping, manager: manager)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    try recorder(manager).note("validate", mapping, manager)
    try super.performCustomValidation(forMapping: mapping, manager: manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try recorder(manager).note("end", mapping, manager)
    try super.end(mapping, manager: manager)
  }

  override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
    (arguments[0] as? String).flatMap { Int($0) }
  }

  private func recorder(_ manager: NSMigrationManager) throws -> Recorder {
    try #require(manager.userInfo?["recorder"] as? Recorder)
  }
}

@Suite("Migration policies", .onSQLite)
struct MigrationPolicyTests {
  private func store() throws -> OldStore { try OldStore(Library.old()) { try Library.fill($0, books: 2) } }

  private func mapping() -> NSMappingModel {
    let mapping = Library.mapping()
    for entity in mapping.entityMappings {
      entity.entityMigrationPolicyClassName = NSStringFromClass(RecordingPolicy.self)
    }
    return mapping
  }

  private func migrate(_ store: OldStore, _ recorder: Recorder, to file: URL = Library.place()) throws {
    let manager = NSMigrationManager(sourceModel: Library.old(), destinationModel: Library.new())
    manager.userInfo = ["recorder": recorder]
    _ = try Library.migrate(store, mapping(), to: file, manager)
  }

  /// Core Data's order for the mappings of `Library`, with two books.
  static let order = [
    "begin BookToBook", "create BookToBook book 0", "create BookToBook book 1", "endInstances BookToBook",
    "begin ShelfToShelf", "create ShelfToShelf shelf 0", "create ShelfToShelf shelf 1",
    "endInstances ShelfToShelf",
    "begin LabelToLabel", "create LabelToLabel label 0", "create LabelToLabel label 1",
    "create LabelToLabel label 2",
    "endInstances LabelToLabel", "begin Gone", "create Gone gone", "endInstances Gone", "begin Catalogue",
    "endInstances Catalogue",
    "relate BookToBook book 0", "relate BookToBook book 1", "endRelationships BookToBook",
    "relate ShelfToShelf shelf 0", "relate ShelfToShelf shelf 1", "endRelationships ShelfToShelf",
    "relate LabelToLabel label 0", "relate LabelToLabel label 1", "relate LabelToLabel label 2",
    "endRelationships LabelToLabel", "endRelationships Gone", "endRelationships Catalogue",
    "validate BookToBook", "end BookToBook", "validate ShelfToShelf", "end ShelfToShelf",
    "validate LabelToLabel",
    "end LabelToLabel", "validate Gone", "end Gone", "validate Catalogue", "end Catalogue",
  ]

  @Test("All methods of all policies are called in Core Data's order")
  func sequence() throws {
    let recorder = Recorder()
    try migrate(try store(), recorder)
    #expect(recorder.calls == Self.order)
    #expect(recorder.progress == recorder.progress.sorted())
    #expect(recorder.progress.first == 0)
  }

  @Test(
    "An error of a method ends the migration there, and leaves the old store whole and no new one",
    arguments: [
      "begin ShelfToShelf", "create BookToBook book 1", "endInstances LabelToLabel",
      "relate ShelfToShelf shelf 0",
      "endRelationships BookToBook", "validate LabelToLabel", "end Catalogue",
    ])
  func refusals(_ place: String) throws {
    let (store, file, recorder) = (try store(), Library.place(), Recorder())
    recorder.refused = place
    try store.expectFailure(.migrationPolicy, "RecordingPolicy") {
      do { try migrate(store, recorder, to: file) } catch {
        #expect((error as NSError).code == NSEntityMigrationPolicyError)
        #expect((error as? ManagedObjectError)?.cause as? Refusal == Refusal(place: place))
        throw error
      }
    }
    #expect(recorder.calls == Array(Self.order[...Self.order.firstIndex(of: place)!]))
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(
    "A cancelled migration ends after the method that runs, with the given error",
    arguments: [
      "begin BookToBook", "create LabelToLabel label 0", "relate BookToBook book 1", "end Catalogue",
    ])
  func cancellation(_ place: String) throws {
    let (store, file, recorder) = (try store(), Library.place(), Recorder())
    recorder.cancelled = place
    try store.expectFailure(.migrationCancelled, "cancelled") {
      do { try migrate(store, recorder, to: file) } catch {
        #expect((error as NSError).code == NSMigrationCancelledError)
        #expect((error as? ManagedObjectError)?.cause as? Refusal == Refusal(place: place))
        throw error
      }
    }
    #expect(recorder.calls.last == place)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test("Mistakes in mapping models are typed errors that name the mapping")
  func mistakes() throws {
    let store = try store()
    func check(_ code: ManagedObjectError.Code, _ part: String, _ change: (NSMappingModel) throws -> Void)
      throws
    {
      let mapping = Library.mapping()
      try change(mapping)
      let file = Library.place()
      try store.expectFailure(code, part) { _ = try Library.migrate(store, mapping, to: file) }
      #expect(!FileManager.default.fileExists(atPath: file.path), "\(part)")
    }
    func book(_ mapping: NSMappingModel) throws -> NSEntityMapping {
      try #require(mapping.entityMappingsByName["BookToBook"])
    }
    try check(.migrationPolicy, "lacks") { try book($0).sourceEntityName = "Brook" }
    try check(.migrationPolicy, "lacks") { try book($0).destinationEntityName = "Brook" }
    try check(.migrationPolicy, "no name") { try book($0).name = nil }
    try check(.migrationPolicy, "Two mappings") { try book($0).name = "ShelfToShelf" }
    try check(.migrationPolicy, "another version") { try book($0).sourceEntityVersionHash = Data([1]) }
    try check(.migrationPolicy, "no class of this name") {
      try book($0).entityMigrationPolicyClassName = "No.Policy"
    }
    try check(.migrationPolicy, "no class of this name") {
      try book($0).entityMigrationPolicyClassName = "a b.c(d"
    }
    try check(.migrationPolicy, "no NSEntityMigrationPolicy") {
      try book($0).entityMigrationPolicyClassName = NSStringFromClass(Item.self)
    }
    try check(.migrationPolicy, "no function") { try book($0).entityMigrationPolicyClassName = nil }
    func attribute(_ name: String, _ format: String?) -> (NSMappingModel) throws -> Void {
      { try book($0).attributeMappings = [Library.property(name, format), Library.property("name", "'x'")] }
    }
    try check(.migrationPolicy, "lacks", attribute("no", "1"))
    try check(.invalidValue, "can't be stored", attribute("pages", "'many'"))
    try check(.invalidValue, "can't be stored", attribute("stars", "100000"))
    try check(.migrationPolicy, "can't be computed", attribute("pages", "$nothing"))
    try check(.migrationPolicy, "can't be computed", attribute("pages", "(("))
    try check(.migrationPolicy, "no such function", attribute("pages", "FUNCTION($manager, 'no:', 1)"))
    try check(.multipleValidationErrors, "name") {
      try book($0).attributeMappings = [Library.property("pages", "1")]
    }
    func relation(_ name: String, _ format: String) -> (NSMappingModel) throws -> Void {
      { try book($0).relationshipMappings = [Library.property(name, format)] }
    }
    try check(.migrationPolicy, "lacks", relation("shelf", Library.destinations("No", "shelf")))
    try check(.invalidValue, "can't hold", relation("shelf", "$source.shelf"))
    try check(.invalidValue, "can't hold", relation("shelf", "$source"))
    try check(.invalidValue, "can't hold", relation("shelf", "5"))
    try check(.invalidValue, "can't hold", relation("labels", Library.destinations("ShelfToShelf", "shelf")))
    try check(
      .invalidValue, "place for one",
      relation(
        "shelf",
        "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'ShelfToShelf', $source.labels.books.shelf)"
      ))
    func source(
      _ arguments: [String], _ selector: String = "fetchRequestForSourceEntityNamed:predicateString:"
    ) -> (NSMappingModel) throws -> Void {
      {
        try book($0).sourceExpression = TreeExpression(
          .call(
            target: .variable("manager"), selector: selector, arguments.map { .constant(.string($0)) }))
      }
    }
    try check(.migrationPolicy, "lacks", source(["No", "TRUEPREDICATE"]))
    try check(.predicate, "can't be used", source(["Book", "(("]))
    try check(.predicate, "author", source(["Book", "author == 1"]))
    try check(.migrationPolicy, "no such function", source(["Book"]))
    try check(.migrationPolicy, "neither") {
      try book($0).sourceExpression = TreeExpression(forConstantValue: 5)
    }
    try check(.migrationPolicy, "can't be computed") {
      try book($0).sourceExpression = TreeExpression(format: "$nothing")
    }
  }

  @Test("Missing and unfit stores are typed errors")
  func stores() throws {
    let store = try store()
    try store.expectFailure(.migrationLacksMappingModel, "inferredMappingModel") {
      try NSMigrationManager(sourceModel: Library.old(), destinationModel: Library.new()).migrateStore(
        from: store.file, sourceType: NSSQLiteStoreType, with: nil, toDestinationURL: Library.place(),
        destinationType: NSSQLiteStoreType)
    }
    try store.expectFailure(.migrationSourceStore, "no store at") {
      _ = try Library.migrate(OldStore(at: Library.place()), Library.mapping())
    }
    try store.expectFailure(.migrationSourceStore, "model with which") {
      let manager = NSMigrationManager(sourceModel: Library.new(), destinationModel: Library.new())
      _ = try Library.migrate(store, NSMappingModel(), manager)
    }
    try store.expectFailure(.migrationDestinationStore, "folder exists") {
      _ = try Library.migrate(
        store, Library.mapping(), to: Library.place().appendingPathComponent("no/way.sqlite"))
    }
    try store.expectFailure(.migrationDestinationStore, "new model") {
      let other = try self.store()
      _ = try Library.migrate(store, Library.mapping(), to: other.file)
    }
    try store.expectFailure(.invalidStoreType, "NSSQLiteStoreType") {
      try NSMigrationManager(sourceModel: Library.old(), destinationModel: Library.new()).migrateStore(
        from: store.file, sourceType: "Binary", with: Library.mapping(), toDestinationURL: Library.place(),
        destinationType: NSSQLiteStoreType)
    }
    try store.expectFailure(.migrationDestinationStore, "no name") {
      let broken = NSManagedObjectModel()
      broken.entities = [NSEntityDescription()]
      _ = try Library.migrate(
        store, NSMappingModel(), NSMigrationManager(sourceModel: Library.old(), destinationModel: broken))
    }
  }
}
