@_spi(CDE) import CDEExecutors
import CDESQLite
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Dispatch
import Foundation
import Testing

@Suite("Commits of other connections", .timeLimit(.minutes(10)), .ownThreads)
struct OtherWritersTests {
  static let schema = StoreSchema(entities: [
    StoreEntity(name: "Note", attributes: [StoreAttribute(name: "text", type: .string)])
  ])

  /// Collects what an observer gets, and waits for it.
  private final class Reports: Sendable {
    private let found = Lock<[StoreForeignCommits]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func observe(_ store: SQLiteStore) throws -> String? {
      try store.observeOthers { report in
        self.found.withLock { $0.append(report) }
        return { self.arrived.signal() }
      }
    }

    func add(_ report: StoreForeignCommits) { found.withLock { $0.append(report) } }
    func signal() { arrived.signal() }

    var all: [StoreForeignCommits] { found.withLock { $0 } }
    var numbers: [Int64] { all.flatMap { $0.transactions ?? [] }.map(\.number) }
    func wait() { arrived.wait() }
    func wait(_ isDone: () -> Bool) { while !isDone() { arrived.wait() } }
  }

  private let scratch = Scratch()

  private func open(_ tracks: Bool, _ mode: SQLiteStore.Configuration.JournalMode = .wal) throws
    -> SQLiteStore
  {
    try SQLiteStore.file(scratch.file(), Self.schema) {
      $0.tracksHistory = tracks
      $0.journalMode = mode
    }
  }

  private func insert(_ store: SQLiteStore, _ text: String) throws {
    var transaction = StoreTransaction()
    transaction.author = text
    transaction.inserted = [store.batch("Note", [Draft(key: -1, values: ["text": .text(text)])])]
    _ = try store.commit(transaction)
  }

  @Test("With a history each commit of another store is reported once, in order, without own commits")
  func history() throws {
    let (mine, theirs) = (try open(true), try open(true))
    try insert(theirs, "before")
    let reports = Reports()
    #expect(try reports.observe(mine) == nil)
    for index in 0..<60 { try insert(index % 4 == 0 ? mine : theirs, "\(index)") }
    reports.wait { reports.numbers.count >= 45 }
    let foreign = (0..<60).filter { $0 % 4 != 0 }
    #expect(reports.numbers == foreign.map { Int64($0 + 2) })
    #expect(reports.all.flatMap { $0.transactions ?? [] }.allSatisfy { $0.changes.count == 1 })
    try mine.close()
    try theirs.close()
  }

  @Test("Each commit of another process is reported once, in both journal modes", arguments: [true, false])
  func process(usesLog: Bool) async throws {
    let store = try open(true, usesLog ? .wal : .delete)
    let reports = Reports()
    #expect(try reports.observe(store) == nil)
    await commitElsewhere(usesLog: usesLog)
    try insert(store, "own")
    reports.wait { reports.numbers.count >= 100 }
    #expect(reports.numbers == (1...100).map { Int64($0) })
    try store.close()
  }

  @Test(
    "A store for reading only reports each commit, of this process and of others, whether or not the file was in use",
    arguments: [true, false], [true, false])
  func readOnly(usesLog: Bool, isInUse: Bool) async throws {
    let first = try open(true, usesLog ? .wal : .delete)
    if !isInUse { try first.close() }
    let store = try SQLiteStore.file(scratch.file(), Self.schema) { $0.isReadOnly = true }
    let reports = Reports()
    #expect(try reports.observe(store) == nil)
    await commitElsewhere(usesLog: usesLog)
    reports.wait { reports.numbers.count >= 100 }
    let second = isInUse ? first : try open(true, usesLog ? .wal : .delete)
    try insert(second, "here")
    reports.wait { reports.numbers.count >= 101 }
    #expect(reports.numbers == (1...101).map { Int64($0) })
    #expect(try store.count(StoreQuery(entity: store.index("Note"))) == 101)
    try store.close()
    try second.close()
  }

  /// Makes a hundred commits in another process.
  private func commitElsewhere(usesLog: Bool) async {
    await #expect(processExitsWith: .success) {
      [path = scratch.file() as String, usesLog = usesLog as Bool] in
      let store = try SQLiteStore.file(path, OtherWritersTests.schema) {
        $0.tracksHistory = true
        $0.journalMode = usesLog ? .wal : .delete
      }
      for index in 0..<100 {
        var transaction = StoreTransaction()
        transaction.inserted = [store.batch("Note", [Draft(key: -1, values: ["text": .text("\(index)")])])]
        _ = try store.commit(transaction)
      }
      try store.close()
    }
  }

  @Test(
    "Commits that were purged before they were seen are reported as unknown, and those after them by themselves",
    arguments: [false, true])
  func purged(isPartly: Bool) throws {
    let (mine, theirs) = (try open(true), try open(true))
    let reports = Reports()
    let (isEntered, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Lock(true)
    _ = try mine.observeOthers { report in
      reports.add(report)
      // The observer stays with the first commit while others are made and purged.
      if isFirst.withLock({ wasFirst in
        defer { wasFirst = false }; return wasFirst
      }) {
        isEntered.signal()
        mayGoOn.wait()
      }
      return { reports.signal() }
    }
    try insert(theirs, "seen")
    isEntered.wait()
    try insert(theirs, "missed")
    _ = try theirs.purgeHistory(.before(number: 3))
    if isPartly { try insert(theirs, "kept") }
    mayGoOn.signal()
    reports.wait { reports.all.contains { $0.transactions == nil } }
    try insert(theirs, "later")
    let last: Int64 = isPartly ? 4 : 3
    reports.wait { reports.numbers.contains(last) }
    #expect(reports.numbers == [1, last])
    #expect(reports.all.count { $0.transactions == nil } == 1)
    // Own commits that are purged are no gap.
    try insert(mine, "own")
    _ = try mine.purgeHistory(.before(number: last + 2))
    try insert(theirs, "end")
    reports.wait { reports.numbers.contains(last + 2) }
    #expect(reports.all.count { $0.transactions == nil } == 1)
    try mine.close()
    try theirs.close()
  }

  @Test("Without a history a commit of another store is reported as unknown")
  func unknown() throws {
    let (mine, theirs) = (try open(false), try open(false))
    let reports = Reports()
    #expect(try reports.observe(mine) == nil)
    try insert(theirs, "a")
    reports.wait()
    #expect(reports.all.first.map { $0.transactions == nil } == true)
    try mine.close()
    try theirs.close()
  }

  @Test("After closing nothing is reported, and other stores of the file keep their locks")
  func closing() throws {
    let (mine, theirs) = (try open(true), try open(true))
    let (reports, others) = (Reports(), Reports())
    #expect(try reports.observe(mine) == nil)
    #expect(try others.observe(theirs) == nil)
    try mine.close()
    let third = try open(true)
    try insert(third, "a")
    others.wait()
    #expect(others.numbers == [1])
    #expect(reports.numbers.isEmpty)
    try insert(theirs, "b")
    #expect(try third.history(StoreHistoryQuery()).count == 2)
    try third.close()
    try theirs.close()
  }

  @Test("A store in memory has no other writers")
  func memory() throws {
    let store = try SQLiteStore(
      schema: Self.schema, configuration: .init(location: .inMemory(name: "others")))
    let reports = Reports()
    #expect(try reports.observe(store) == nil)
    try insert(store, "a")
    #expect(reports.all.isEmpty)
    try store.close()
  }
}
