import CDEManagedModel
import CDEModelRuntime
import CDESQLiteStore
import CDEStore
import Foundation
import Synchronization
import Testing

/// An engine of the test. Its stores have their rows in SQLite in memory, by the public contract alone.
private final class NotingEngine: StoreEngine {
  let calls = Mutex<[String]>([])
  let versions = Mutex<[URL: [String: [UInt8]]]>([:])
  /// Runs between a commit and its announcement, with the rows of the store.
  let beforeAnnouncement = Mutex(Step())

  struct Step: Sendable {
    var run: (@Sendable (SQLiteStore) throws(StoreError) -> Void)?
  }
  let migrates: Bool

  init(migrates: Bool = false) { self.migrates = migrates }

  private func note(_ call: String) { calls.withLock { $0.append(call) } }

  private func hashes(_ opening: StoreOpening) -> [String: [UInt8]] {
    let held = opening.entities.map { opening.schema.entities[$0].source }
    return Dictionary(held.map { ($0.name, $0.versionHash) }) { first, _ in first }
  }

  func open(_ opening: StoreOpening) throws -> any Store {
    note("open \(opening.description.url?.path ?? "-") \(opening.description.options["color"] ?? "-")")
    #expect(opening.modelCache?.isEmpty == false)
    if let url = opening.description.url {
      if let known = versions.withLock({ $0[url] }), known != hashes(opening) {
        throw StoreError(.incompatibleSchema, "It has another version.")
      }
      versions.withLock { $0[url] = hashes(opening) }
    }
    let rows = try SQLiteStore(
      schema: opening.schema, entities: opening.entities,
      configuration: SQLiteStore.Configuration(location: .inMemory(name: UUID().uuidString)))
    return NotingStore(rows, self) { self.note($0) }
  }

  func migrate(_ opening: StoreOpening, after refusal: StoreError) throws {
    note("migrate")
    guard migrates, let url = opening.description.url else { throw refusal }
    versions.withLock { $0[url] = hashes(opening) }
  }
}

private final class NotingStore: Store {
  private let rows: SQLiteStore
  private let engine: NotingEngine
  private let note: @Sendable (String) -> Void

  init(_ rows: SQLiteStore, _ engine: NotingEngine, _ note: @escaping @Sendable (String) -> Void) {
    self.rows = rows
    self.engine = engine
    self.note = note
  }

  var schema: ResolvedSchema { rows.schema }
  var identifier: String { rows.identifier }
  var isReadOnly: Bool { false }
  var recordsHistory: Bool { false }

  func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows { try rows.fetch(query, isKnown: isKnown) }

  func count(_ query: StoreQuery) throws(StoreError) -> Int { try rows.count(query) }

  func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    try rows.project(projection)
  }

  func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try rows.rows(entity: entity, keys: keys)
  }

  func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
    try rows.row(entity: entity, key: key)
  }

  func related(
    entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows {
    try rows.related(entity: entity, slot: slot, owners: owners, isKnown: isKnown)
  }

  func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    note("commit \(transaction.inserted.reduce(0) { $0 + $1.count })")
    guard let overtake = engine.beforeAnnouncement.withLock({ $0 }).run else {
      return try rows.commit(transaction, committed: committed)
    }
    var result = try rows.commit(transaction)
    try overtake(rows)
    result.isOvertaken = { true }
    committed(result)
    return result
  }

  func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
    try rows.conflicts(of: transaction)
  }

  func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult { try rows.commit(batch) }

  func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64] {
    try rows.allocateKeys(counts)
  }

  func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8] { try rows.externalValue(cell) }

  func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] { [] }

  func historyExtent() throws(StoreError) -> StoreHistoryExtent? { nil }

  func observeOthers(
    _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
  ) throws(StoreError) -> String? { nil }

  func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int { 0 }

  func metadata() throws(StoreError) -> StoreMetadata { try rows.metadata() }

  func setMetadata(_ metadata: StoreMetadata) throws(StoreError) { try rows.setMetadata(metadata) }

  func close() throws(StoreError) {
    note("close")
    try rows.close()
  }
}

@Suite("Engines of stores", .onSQLite)
struct StoreEngineTests {
  private func notes(_ version: Int = 1) -> NSManagedObjectModel {
    let note = entity("Note", nil, [attribute("title", .stringAttributeType)])
    if version > 1 { note.properties.append(attribute("stars", .integer16AttributeType)) }
    return model(note)
  }

  private func container(
    _ type: String, _ url: URL? = URL(string: "journal://notes"), _ version: Int = 1
  ) -> (NSPersistentContainer, NSPersistentStoreDescription) {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: notes(version))
    let description = NSPersistentStoreDescription()
    description.type = type
    description.url = url
    container.persistentStoreDescriptions = [description]
    return (container, description)
  }

  private func load(_ container: NSPersistentContainer) -> (any Error)? {
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    return failure
  }

  @Test("A registered engine opens the stores of its type, which contexts use like any other")
  func registered() throws {
    let engine = NotingEngine()
    let type = "Noting-\(UUID())"
    NSPersistentStoreCoordinator.registerStoreEngine(engine, forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
    #expect(NSPersistentStoreCoordinator.registeredStoreEngines[type] != nil)
    let (container, description) = container(type)
    description.setOption("red", forKey: "color")
    #expect(load(container) == nil)
    try container.work { context in
      for title in ["b", "a", "c"] { context.make("Note", ["title": title]) }
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.predicate = NSPredicate(format: "title > %@", "a")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      #expect(try context.fetch(request).map { $0.value(forKey: "title") as? String } == ["b", "c"])
    }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.type == type)
    #expect(store.metadata[NSStoreTypeKey] as? String == type)
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    try container.close()
    #expect(engine.calls.withLock { $0 } == ["open  red", "commit 3", "close"])
  }

  @Test("A context reads the rows of a commit that a later one has overtaken")
  func overtaken() async throws {
    let engine = NotingEngine()
    let type = "Noting-\(UUID())"
    NSPersistentStoreCoordinator.registerStoreEngine(engine, forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
    let (container, _) = container(type)
    #expect(load(container) == nil)
    let writer = container.newBackgroundContext()
    let reader = container.newBackgroundContext()
    let id = try await writer.perform { () throws in
      let note = writer.make("Note", ["title": "first"])
      try writer.save()
      return note.objectID
    }
    try await reader.perform { () throws in
      reader.automaticallyMergesChangesFromParent = true
      #expect(try reader.existingObject(with: id).value(forKey: "title") as? String == "first")
    }
    // Another change of the row follows the save, and no context gets it.
    engine.beforeAnnouncement.withLock {
      $0.run = { (rows) throws(StoreError) in
        let entity = rows.schema.entities[EntityIndex(0)]
        let row = try rows.rows(entity: entity.index, keys: [1]).batches[0]
        let slot = row.layout.slot(named: "title")!
        var changed = RowBatchBuilder(layout: row.layout)
        changed.beginRow(copying: row, 0, key: 1, version: row.version(0) + 1)
        changed.setString(row.layout.cells.firstIndex { $0.name == "title" }!, "third")
        var transaction = StoreTransaction()
        transaction.updated = [RowUpdate(batch: changed.finish(), changed: [[slot]])]
        _ = try rows.commit(transaction)
      }
    }
    try await writer.perform { () throws in
      try writer.existingObject(with: id).setValue("second", forKey: "title")
      try writer.save()
    }
    try await reader.perform { () throws in
      #expect(try reader.existingObject(with: id).value(forKey: "title") as? String == "third")
    }
    try container.close()
  }

  @Test("A store's URL has no password, and the store is found by the URL with it or without")
  func passwords() throws {
    let type = "Noting-\(UUID())"
    NSPersistentStoreCoordinator.registerStoreEngine(NotingEngine(), forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
    let url = try #require(URL(string: "journal://app:tops3cret@host/notes?password=s3cond&size=3"))
    let (container, _) = container(type, url)
    #expect(load(container) == nil)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(store.url?.absoluteString == "journal://app@host/notes?size=3")
    #expect(coordinator.persistentStore(for: url) === store)
    #expect(coordinator.persistentStore(for: try #require(store.url)) === store)
    try container.close()
  }

  @Test("A store of another version goes to the engine's migration, and by default the refusal is the error")
  func migration() throws {
    for migrates in [false, true] {
      let engine = NotingEngine(migrates: migrates)
      let type = "Noting-\(UUID())"
      NSPersistentStoreCoordinator.registerStoreEngine(engine, forStoreType: type)
      defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
      let (first, _) = container(type)
      #expect(load(first) == nil)
      try first.close()
      let (second, _) = container(type, URL(string: "journal://notes"), 2)
      let failure = load(second)
      #expect((failure == nil) == migrates)
      if !migrates { #expect((failure as? NSError)?.code == NSPersistentStoreIncompatibleVersionHashError) }
      try second.close()
      let opened = engine.calls.withLock { $0.filter { $0.hasPrefix("open") }.count }
      #expect(opened == (migrates ? 3 : 2))
    }
  }

  @Test("An engine's error is that of the opening, and a removed engine's type is unknown")
  func errors() throws {
    struct FailingEngine: StoreEngine {
      func open(_ opening: StoreOpening) throws -> any Store {
        throw StoreError(.cannotOpen, "The server is away.")
      }
    }
    let type = "Failing-\(UUID())"
    NSPersistentStoreCoordinator.registerStoreEngine(FailingEngine(), forStoreType: type)
    let (container, description) = container(type)
    let failure = try #require(load(container) as? ManagedObjectError)
    #expect(failure.message.contains("The server is away."))
    #expect((failure.cause as? StoreError)?.code == .cannotOpen)
    #expect(throws: ManagedObjectError.self) {
      _ = try container.persistentStoreCoordinator.migrationPlan(for: description)
    }
    NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type)
    let unknown = try #require(load(container) as? ManagedObjectError)
    #expect(unknown.code == .invalidStoreType)
  }
}
