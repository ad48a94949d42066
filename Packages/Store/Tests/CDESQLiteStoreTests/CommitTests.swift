import CDESQLite
@testable import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Synchronization
import Testing

@Suite("Commits", .ownThreads)
struct CommitTests {
  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Shop.schema) }

  func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch { return error as? StoreError }
  }

  func update(_ drafts: [Draft], _ slots: [PropertySet]) -> StoreTransaction {
    var transaction = StoreTransaction()
    transaction.updated = [RowUpdate(batch: store.batch("Category", drafts), changed: slots)]
    return transaction
  }

  @Test("An update writes the changed columns only and checks the version")
  func updates() throws {
    try store.insert(
      "Category", (1...3).map { Draft(key: -$0, values: ["name": .text("n\($0)"), "code": .integer($0)]) })
    let name = store.slot("Category", "name")
    let code = store.slot("Category", "code")
    _ = try store.commit(
      update(
        [
          Draft(key: 3, version: 2, values: ["name": .text("new"), "code": .integer(30)]),
          Draft(key: 1, version: 2, values: ["name": .text("ignored"), "code": .integer(10)]),
          Draft(key: 2, version: 2),
        ], [[name], [code], []]))
    #expect(
      sql(scratch.file(), "SELECT ZNAME, ZCODE, Z_OPT FROM ZCATEGORY ORDER BY Z_PK")
        == [["n1", "10", "2"], ["n2", "2", "2"], ["new", "3", "2"]])
  }

  @Test("All conflicts of a save are reported, nothing of it is written, and it can be repeated")
  func conflicts() throws {
    try store.insert("Category", (1...4).map { Draft(key: -$0, values: ["code": .integer($0)]) })
    _ = sql(
      scratch.file(), "UPDATE ZCATEGORY SET Z_OPT = 5 WHERE Z_PK = 2; DELETE FROM ZCATEGORY WHERE Z_PK = 3")
    var transaction = update(
      [
        Draft(key: 1, version: 2, values: ["code": .integer(11)]),
        Draft(key: 2, version: 2, values: ["code": .integer(12)]),
      ], [[store.slot("Category", "code")], [store.slot("Category", "code")]])
    transaction.deleted = [
      RowDeletion(entity: store.index("Category"), key: 4, version: 1),
      RowDeletion(entity: store.index("Category"), key: 3, version: 1),
    ]
    transaction.inserted = [store.batch("Tag", [Draft(key: -1)])]
    let found = error { _ = try store.commit(transaction) }
    #expect(found?.code == .conflict)
    let category = store.index("Category")
    #expect(
      Set(found?.conflicts ?? []) == [
        .init(entity: category, key: 2, expectedVersion: 1, foundVersion: 5),
        .init(entity: category, key: 3, expectedVersion: 1, foundVersion: nil),
      ])
    #expect(
      sql(scratch.file(), "SELECT Z_PK, ZCODE FROM ZCATEGORY") == [["1", "1"], ["2", "2"], ["4", "4"]])
    #expect(transaction.inserted[0].key(0) == -1)

    _ = sql(
      scratch.file(),
      "UPDATE ZCATEGORY SET Z_OPT = 1; INSERT INTO ZCATEGORY(Z_PK,Z_ENT,Z_OPT,ZCODE) VALUES(3,1,1,3)")
    let result = try store.commit(transaction)
    #expect(result.permanentKey(for: -1, root: store.root("Tag")) == 1)
    #expect(transaction.inserted[0].key(0) == 1)
    #expect(sql(scratch.file(), "SELECT Z_PK, ZCODE FROM ZCATEGORY") == [["1", "11"], ["2", "12"]])
  }

  @Test("Rows that another writer left without a version can be updated and deleted")
  func unversioned() throws {
    _ = sql(
      scratch.file(),
      "INSERT INTO ZCATEGORY(Z_PK,Z_ENT,ZCODE) VALUES (1,1,1),(2,1,2)")
    #expect(try store.row(entity: 0, key: 1)?.version == 0)
    var transaction = update(
      [Draft(key: 1, version: 1, values: ["code": .integer(9)])], [[store.slot("Category", "code")]])
    transaction.deleted = [RowDeletion(entity: 0, key: 2, version: 0)]
    _ = try store.commit(transaction)
    #expect(sql(scratch.file(), "SELECT Z_PK, ZCODE, Z_OPT FROM ZCATEGORY") == [["1", "9", "1"]])
    // The counter had not moved with them.
    try store.insert("Category", [Draft(key: -1, values: ["code": .integer(5)])])
    #expect(try store.describe("Category", 2)?["code"] == "5")
  }

  @Test(
    "A row that is only checked keeps its version, and another version of it refuses the whole transaction")
  func checks() throws {
    try store.insert(
      "Category",
      [Draft(key: -1, values: ["code": .integer(1)]), Draft(key: -2, values: ["code": .integer(2)])])
    func transaction(_ code: Int64, _ key: Int64, version: Int64) -> StoreTransaction {
      var transaction = StoreTransaction()
      transaction.inserted = [store.batch("Category", [Draft(key: -1, values: ["code": .integer(code)])])]
      transaction.checked = [RowCheck(entity: store.index("Category"), key: key, version: version)]
      return transaction
    }
    _ = try store.commit(transaction(3, 1, version: 1))
    #expect(sql(scratch.file(), "SELECT Z_OPT FROM ZCATEGORY WHERE Z_PK = 1") == [["1"]])
    for (key, version, found) in [(2, 7, 1), (9, 1, nil)] as [(Int64, Int64, Int64?)] {
      let refused = transaction(4, key, version: version)
      let error = error { _ = try store.commit(refused) }
      #expect(error?.code == .conflict)
      #expect(error?.conflicts.map(\.foundVersion) == [found])
      #expect(try store.conflicts(of: refused).versions.map(\.key) == [key])
    }
    #expect(sql(scratch.file(), "SELECT count(*) FROM ZCATEGORY") == [["3"]])
  }

  @Test("A uniqueness violation names entity and properties; a deleted row makes room")
  func uniqueness() throws {
    try store.insert("Category", [Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])])
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", [Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])])
    ]
    let found = error { _ = try store.commit(transaction) }
    #expect(found?.code == .uniqueness)
    #expect(found?.entity == "Category")
    #expect(found?.properties == ["name", "code"])
    #expect(transaction.inserted[0].key(0) == -1)
    transaction.deleted = [RowDeletion(entity: store.index("Category"), key: 1, version: 1)]
    _ = try store.commit(transaction)
    #expect(try store.describe("Category", 2)?["name"] == "a")
  }

  @Test("A full disk is an error of its own, and the same save works once there is room")
  func full() throws {
    try store.close()
    // The limit counts for the connection that sets it, so it is set by configuration.
    let tight = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.pragmas = ["max_page_count": "60"] }
    var transaction = StoreTransaction()
    transaction.inserted = [
      tight.batch(
        "Tag", (1...200).map { Draft(key: -$0, values: ["name": .text(String(repeating: "x", count: 4000))]) }
      )
    ]
    let found = error { _ = try tight.commit(transaction) }
    #expect(found?.code == .full)
    #expect(try tight.count(StoreQuery(entity: tight.index("Tag"))) == 0)
    try tight.insert("Tag", [Draft(key: -1)])
    try tight.close()
    let roomy = try SQLiteStore.file(scratch.file(), Shop.schema)
    let result = try roomy.commit(transaction)
    #expect(result.permanentKey(for: -1, root: roomy.root("Tag")) == 2)
    #expect(try roomy.count(StoreQuery(entity: roomy.index("Tag"))) == 201)
  }

  @Test("A lock that stays is reported as busy; afterwards the same save works", arguments: [true, false])
  func busy(usesLog: Bool) throws {
    try store.close()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.busyTimeout = .milliseconds(20)
      $0.journalMode = usesLog ? .wal : .delete
    }
    let other = Holder(scratch.file())
    other.run("BEGIN IMMEDIATE; INSERT INTO ZTAG(Z_PK,Z_ENT,Z_OPT) VALUES(99,5,1)")
    var transaction = StoreTransaction()
    transaction.inserted = [store.batch("Tag", [Draft(key: -1)])]
    let found = error { _ = try store.commit(transaction) }
    #expect(found?.code == .busy)
    // Reading goes on meanwhile.
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 0)
    other.run("ROLLBACK")
    _ = try store.commit(transaction)
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 1)
  }

  @Test("A COMMIT that fails leaves the transaction repeatable")
  func failingCommit() throws {
    try store.close()
    // Without a log, a reader elsewhere lets the writer begin and keeps it from committing.
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.busyTimeout = .milliseconds(20)
      $0.journalMode = .delete
    }
    try store.insert("Tag", [Draft(key: -1)])
    let other = Holder(scratch.file())
    other.run("BEGIN; SELECT * FROM ZTAG")
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", [Draft(key: -1, references: ["parent": -1])])
    ]
    let found = error { _ = try store.commit(transaction) }
    #expect(found?.code == .busy)
    #expect(transaction.inserted[0].key(0) == -1)
    other.run("COMMIT")
    let result = try store.commit(transaction)
    #expect(result.keyBase[store.root("Category")] == 0)
    #expect(try store.describe("Category", 1)?["parent"] == "1")
  }

  @Test("Writers and readers on many threads see whole commits only", arguments: [true, false])
  func concurrency(usesLog: Bool) async throws {
    try store.close()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.journalMode = usesLog ? .wal : .delete
    }
    let tag = store.index("Tag")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25 { try store.insert("Tag", [Draft(key: -1), Draft(key: -2)]) }
        }
        group.addTask {
          for _ in 0..<50 {
            let rows = try store.fetch(StoreQuery(entity: tag), isKnown: nil)
            #expect(rows.count % 2 == 0)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.count(StoreQuery(entity: tag)) == 200)
    let keys = try store.fetch(StoreQuery(entity: tag, keysOnly: true), isKnown: nil).keys
    #expect(keys == (1...200).map(Int64.init))
  }

  @Test("A long log is moved into the file while no statement waits, and closing empties it")
  func checkpoints() throws {
    let text = String(repeating: "y", count: 100_000)
    for _ in 0..<300 { try store.insert("Tag", [Draft(key: -1, values: ["name": .text(text)])]) }
    try store.close()
    #expect(scratch.bytes("Test.sqlite-wal") == nil)
    #expect((scratch.bytes()?.count ?? 0) > 29_000_000)
  }

  @Test("The log stays bounded while others read without a pause")
  func boundedLog() async throws {
    try store.close()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.checkpointLimits = Checkpointer.Limits(soft: 100, hard: 400)
    }
    let tag = store.index("Tag")
    let readers = (0..<2).map { _ in
      Task {
        while !Task.isCancelled { _ = try store.row(entity: tag, key: 1) }
      }
    }
    var longest = 0
    let text = String(repeating: "z", count: 40_000)
    for _ in 0..<400 {
      try store.insert("Tag", [Draft(key: -1, values: ["name": .text(text)])])
      let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file("Test.sqlite-wal"))
      longest = max(longest, (attributes[.size] as! NSNumber).intValue)
    }
    for reader in readers { reader.cancel() }
    for reader in readers { _ = try await reader.value }
    // 400 commits of some eleven pages each would be 18 MB.
    #expect(longest < 8_000_000)
    try store.close()
  }

  @Test("The writer moves the log itself while reads occupy the other processors")
  func copyingWriter() throws {
    try store.close()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.checkpointLimits = Checkpointer.Limits(soft: 100, hard: 100_000, processors: 2)
    }
    let tag = store.index("Tag")
    let text = String(repeating: "w", count: 40_000)
    func insert() throws { try store.insert("Tag", [Draft(key: -1, values: ["name": .text(text)])]) }
    for _ in 0..<5 { try insert() }
    let before = scratch.bytes()?.count ?? 0
    let (begun, finish) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // On a thread of its own: a blocked thread of the pool could keep other tests from going on.
    let found = Mutex<Int?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let rows = try? store.fetch(StoreQuery(entity: tag)) { _, key in
        if key == 1 {
          begun.signal()
          finish.wait()
        }
        return false
      }
      found.withLock { $0 = rows?.count }
      // Should the read have failed before.
      begun.signal()
      done.signal()
    }
    begun.wait()
    let page = 4_120
    while (scratch.bytes("Test.sqlite-wal")?.count ?? 0) <= 100 * page { try insert() }
    // What the reader does not see yet stays in the log; the rest is in the file when the commit returns.
    #expect((scratch.bytes()?.count ?? 0) > before + 5 * 40_000)
    finish.signal()
    done.wait()
    #expect(found.withLock(\.self) == 5)
    try store.close()
  }

  @Test("SQLite counts no memory once a store was opened, unless the program had started SQLite before")
  func memoryStatistics() async {
    await #expect(processExitsWith: .success) {
      let scratch = Scratch()
      let store = try SQLiteStore.file(scratch.file(), Shop.schema)
      precondition(sqlite3_memory_used() == 0)
      try store.close()
    }
    await #expect(processExitsWith: .success) {
      sqlite3_initialize()
      let scratch = Scratch()
      let store = try SQLiteStore.file(scratch.file(), Shop.schema)
      precondition(sqlite3_memory_used() > 0)
      try store.close()
    }
  }

  @Test("A read after a commit of any process sees it, and resting readers let go of the log")
  func freshness() async throws {
    let tag = store.index("Tag")
    let other = Holder(scratch.file())
    for key in Int64(1)...20 {
      #expect(try store.row(entity: tag, key: key) == nil)
      if key % 2 == 0 {
        try store.insert("Tag", [Draft(key: key)])
      } else {
        other.run("INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT) VALUES (\(key), 5, 1)")
      }
      #expect(try store.row(entity: tag, key: key)?.version == 1)
      #expect(try store.count(StoreQuery(entity: tag)) == Int(key))
    }
    // A checkpoint that restarts the log succeeds as soon as no reader rests on it.
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(20)
    var isFree = false
    while !isFree, clock.now < deadline {
      await Task.yield()
      isFree = other.query("PRAGMA wal_checkpoint(RESTART)").first == "0"
    }
    #expect(isFree)
  }

  @Test("Rows of another schema trap, by name of the rule")
  func foreignRows() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let other = try ResolvedSchema(StoreSchema(entities: [StoreEntity(name: "Other")]))
      var builder = RowBatchBuilder(layout: other.entities[0].layout)
      builder.beginRow(key: -1, version: 1)
      var transaction = StoreTransaction()
      transaction.inserted = [builder.finish()]
      let store = try SQLiteStore(
        schema: Shop.schema, configuration: .init(location: .inMemory(name: "trap")))
      _ = try store.commit(transaction)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("have to be made with the layouts of the store's own schema"))
  }

  @Test("A cancelled task's fetch stops")
  func cancellation() async throws {
    try store.insert("Tag", (1...2000).map { Draft(key: -$0) })
    let task = Task { [store] in
      while !Task.isCancelled { await Task.yield() }
      _ = try store.fetch(StoreQuery(entity: store.index("Tag")), isKnown: nil)
    }
    task.cancel()
    let result = await task.result
    #expect { try result.get() } throws: { ($0 as? StoreError)?.code == .cancelled }
  }
}
