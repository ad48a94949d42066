import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Faults of a store")
struct StoreFaultsTests {
  let scratch = Scratch()
  let faults = StoreFaults()
  let store: SQLiteStore

  init() throws {
    let name = faults.vfs
    store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.vfs = name }
  }

  func insert(_ name: String) throws {
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text(name)])])
  }

  var names: [String] { sql(scratch.file(), "SELECT ZNAME FROM ZTAG ORDER BY 1").flatMap(\.self) }

  /// Which of ten insertions were refused.
  func refused(_ plan: FaultPlan) -> [Int] {
    faults.begin(plan)
    defer { faults.end() }
    return (0..<10).filter { number in
      do {
        try insert("\(number)")
        return false
      } catch { return true }
    }
  }

  @Test("A plan strikes once, some times, from a step on, or at some operations of some files only")
  func plans() throws {
    #expect(refused(.none).isEmpty)
    #expect(refused(.next(.diskFull)) == [0])
    #expect(refused(.next(.tornWrite, times: 2)) == [0, 1])
    #expect(refused(.next(.ioError, on: [.write], of: [.log])) == [0])
    #expect(refused(.always(.ioError, of: [.journal])).isEmpty)
    #expect(refused(.at(20, .ioError)).count == 1)
    #expect(faults.events.map(\.step.number) == [20])
    #expect(refused(.at(1_000_000, .ioError)).isEmpty)
    let late = refused(.always(.diskFull, from: 20))
    #expect(!late.isEmpty && late == Array((late.first ?? 0)..<10) && late.first != 0)
    #expect(faults.events.allSatisfy { $0.step.number >= 20 && $0.step.operation == .write })
    #expect(refused(.always(.crash)) == Array(0..<10))
  }

  @Test("A plan from a seed strikes alike each time, and another seed elsewhere")
  func seeds() throws {
    // Each in a store of its own: the steps of a store depend on what has struck it before.
    func events(_ seed: UInt64) throws -> [StoreFaults.Event] {
      let other = try StoreFaultsTests()
      _ = other.refused(.drawn(seed: seed, oneIn: 20))
      #expect(other.faults.plan == .none)
      return other.faults.events
    }
    let seven = try events(7)
    #expect(!seven.isEmpty)
    #expect(try events(7).prefix(1) == seven.prefix(1))
    #expect(try Set((0..<20).map { try events($0).first?.step.number ?? 0 }).count > 5)
  }

  @Test("Locks are refused some times without a wait, and for good with an error that says so")
  func busy() throws {
    faults.begin(.next(.busy, times: 5))
    try insert("late")
    #expect(faults.events.count == 5)
    faults.begin(.always(.busy))
    let start = ContinuousClock.now
    let error = #expect(throws: StoreError.self) { try insert("never") }
    #expect(error?.code == .busy)
    // The store's own patience is ten seconds.
    #expect(ContinuousClock.now - start < .seconds(5))
    faults.end()
    try insert("at last")
    #expect(names == ["at last", "late"])
  }

  @Test(
    "A crash ends the connections that are open, for good, and their store opens again over the same faults")
  func crash() throws {
    try insert("first")
    faults.begin(.always(.crash))
    #expect(throws: StoreError.self) { try insert("second") }
    let name = faults.vfs
    #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.file(), Shop.schema) { $0.vfs = name } }
    #expect(faults.events.count == 1)
    faults.end()
    #expect(throws: StoreError.self) { try insert("third") }
    try store.close()
    let reopened = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.vfs = name }
    try reopened.insert("Tag", [Draft(key: -1, values: ["name": .text("fourth")])])
    #expect(names == ["first", "fourth"])
  }

  @Test("Half of a torn write reaches the file")
  func torn() throws {
    var log: Int { scratch.bytes("Test.sqlite-wal")!.count }
    try insert("first")
    let first = log
    try insert("second")
    let second = log
    faults.begin(.next(.crashInWrite, of: [.log], from: faults.steps.count))
    #expect(throws: StoreError.self) { try insert("third") }
    // All frames of a commit are one write.
    #expect(log == second + (second - first) / 2)
  }

  @Test("Stores under plans of their own, and stores under none, fail each for themselves")
  func apart() async throws {
    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for number in 0..<8 {
        group.addTask {
          let rig = try StoreFaultsTests()
          let plan: FaultPlan = [.none, .always(.diskFull), .always(.crash), .next(.ioError, times: 3)][
            number % 4]
          return (number % 4, rig.refused(plan).count)
        }
      }
      let expected = [0, 10, 10, 3]
      for try await (kind, count) in group { #expect(count == expected[kind]) }
    }
    try insert("untouched")
  }

  @Test("Open stores keep their faults alive, also for connections that open later")
  func lifetime() throws {
    let other = Scratch()
    let name: String
    let store: SQLiteStore
    do {
      let faults = StoreFaults()
      name = faults.vfs
      store = try SQLiteStore.file(other.file(), Shop.schema) { $0.vfs = name }
    }
    try store.insert("Tag", [Draft(key: -1)])
    #expect(try store.row(entity: store.index("Tag"), key: 1) != nil)
    try store.close()
    let error = #expect(throws: StoreError.self) {
      try SQLiteStore.file(other.file(), Shop.schema) { $0.vfs = name }
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains(name) == true)
  }

  @Test("Steps, events and plans say in words what they are")
  func words() throws {
    faults.begin(.at(1, .ioError))
    #expect(throws: StoreError.self) { try insert("first") }
    #expect(faults.events.map(\.description) == ["ioError at 1: lockIndex database"])
    #expect(faults.plan.description == "ioError at step 1")
    #expect(FaultPlan.drawn(seed: 7).description == "one step in 50 drawn from seed 7")
    #expect(FaultPlan.next(.busy, times: 3, from: 2).description == "busy, 3 from step 2 on")
  }
}
