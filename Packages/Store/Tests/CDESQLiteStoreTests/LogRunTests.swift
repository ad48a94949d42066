@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Synchronization
import Testing

@Suite("The pages of a commit are written to the log together", .timeLimit(.minutes(5)))
struct LogRunTests {
  private let scratch = Scratch()
  private let faults = StoreFaults()

  private func open(_ synchronous: SQLiteStore.Configuration.Synchronous = .normal) throws -> SQLiteStore {
    let name = faults.vfs
    return try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.vfs = name
      $0.synchronous = synchronous
    }
  }

  private func tag(_ name: String) -> Draft { Draft(key: -1, values: ["name": .text(name)]) }

  /// The writes and syncs of the log during some work.
  private func logSteps(_ work: () throws -> Void) rethrows -> [StoreStep.Operation] {
    faults.begin(.none)
    defer { faults.end() }
    try work()
    return faults.steps.filter { $0.file == .log && [.write, .sync].contains($0.operation) }.map(\.operation)
  }

  @Test("A small commit is one write, and one sync after it with full durability")
  func small() throws {
    for (synchronous, expected) in [
      (SQLiteStore.Configuration.Synchronous.normal, [StoreStep.Operation.write]), (.full, [.write, .sync]),
    ] {
      let store = try open(synchronous)
      // The first commit to a log has a header to write and to sync.
      try store.insert("Tag", [tag("first \(synchronous)")])
      for number in 0..<5 {
        let steps = try logSteps { try store.insert("Tag", [tag("\(number) \(synchronous)")]) }
        #expect(steps == expected, "\(synchronous)")
      }
      try store.close()
    }
  }

  @Test("A large commit is a write for each 128 KB, and another connection reads all of it")
  func large() throws {
    let store = try open()
    try store.insert("Tag", [tag("first")])
    let before = scratch.bytes("Test.sqlite-wal")!.count
    let text = String(repeating: "x", count: 3_000)
    let steps = try logSteps {
      try store.insert(
        "Tag", (1...500).map { Draft(key: Int64(-$0), values: ["name": .text("\($0) \(text)")]) })
    }
    let size = scratch.bytes("Test.sqlite-wal")!.count - before
    #expect(size > 1_500_000)
    // 31 frames are in a run, and the 24 bytes of the next one's header.
    #expect(steps.count == (size + 31 * 4_120 - 1) / (31 * 4_120))
    let raw = try RawSQLite(scratch.file())
    #expect(try raw.run("SELECT count(*), sum(length(ZNAME) > 3000) FROM ZTAG") == [["501", "500"]])
    #expect(try raw.run("PRAGMA integrity_check") == [["ok"]])
    try store.close()
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }

  @Test("Another connection finds each commit as soon as it has returned, and no half of one")
  func readers() async throws {
    let store = try open()
    let path = scratch.file()
    try store.insert("Tag", [tag("0")])
    let isOver = Flag()
    defer { isOver.set() }
    async let counts: [Int] = Task.detached {
      let raw = try RawSQLite(path)
      var counts: [Int] = []
      while counts.last != 601, !isOver.isSet {
        let row = try raw.run("SELECT count(*), count(DISTINCT ZNAME) FROM ZTAG")[0]
        guard row[0] == row[1], let count = Int(row[0]), count % 3 == 1 else {
          Issue.record("A part of a commit is seen: \(row)")
          break
        }
        counts.append(count)
      }
      return counts
    }.value
    let own = try RawSQLite(path)
    for number in 1...200 {
      try store.insert(
        "Tag", (1...3).map { Draft(key: Int64(-$0), values: ["name": .text("\(number) \($0)")]) })
      #expect(try own.run("SELECT count(*) FROM ZTAG") == [["\(number * 3 + 1)"]])
    }
    let seen = try await counts
    #expect(seen == seen.sorted())
    try store.close()
  }

  @Test(
    "Random commits, of which some find no room, beside another writer: each is there or not, none comes later",
    arguments: [3, 17, 92])
  func failures(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let store = try open(seed.isMultiple(of: 2) ? .full : .normal)
    let raw = try RawSQLite(scratch.file())
    var expected: Set<String> = []
    var refused = 0
    for number in 0..<150 {
      let names = (0..<Int.random(in: 1...40, using: &random)).map {
        "\(number) \($0) " + String(repeating: "y", count: Int.random(in: 0...4_000, using: &random))
      }
      if Bool.random(using: &random) {
        let fault = [StoreFault.diskFull, .tornWrite, .ioError].randomElement(using: &random)!
        faults.begin(.next(fault, on: [.write], of: [.log]))
      }
      do {
        try store.insert(
          "Tag", names.enumerated().map { Draft(key: Int64(-1 - $0), values: ["name": .text($1)]) })
        expected.formUnion(names)
      } catch { refused += 1 }
      faults.end()
      if Int.random(in: 0..<3, using: &random) == 0 {
        let name = "other \(number)"
        try raw.run(
          "INSERT INTO ZTAG (Z_ENT, Z_OPT, ZNAME) SELECT Z_ENT, 1, '\(name)' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'"
        )
        try raw.run(
          "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZTAG) WHERE Z_NAME = 'Tag'")
        expected.insert(name)
      }
      let found = Set(try raw.run("SELECT ZNAME FROM ZTAG").map { $0[0] })
      #expect(found == expected, "seed \(seed), commit \(number)")
    }
    #expect(refused > 20)
    try store.close()
    #expect(try RawSQLite(scratch.file()).run("PRAGMA integrity_check") == [["ok"]])
  }
}
