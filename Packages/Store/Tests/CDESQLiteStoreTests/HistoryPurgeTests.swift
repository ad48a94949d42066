@_spi(CDE) import CDEExecutors
@_spi(CDE) import CDESQLiteFaults
@testable import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Purging a history in steps")
struct HistoryPurgeTests {
  private let scratch = Scratch()

  private func open() throws -> SQLiteStore {
    try SQLiteStore.file(
      scratch.file(),
      StoreSchema(entities: [
        StoreEntity(name: "Note", attributes: [StoreAttribute(name: "title", type: .string)])
      ])
    ) { $0.tracksHistory = true }
  }

  private func insert(_ store: SQLiteStore, _ count: Int) throws {
    var transaction = StoreTransaction()
    transaction.inserted = [store.batch("Note", (1...count).map { Draft(key: Int64(-$0)) })]
    _ = try store.commit(transaction)
  }

  private func step(_ purge: HistoryPurge, _ store: SQLiteStore) throws -> HistoryPurge {
    try store.pool.write(.batch) { (connection) throws(StoreError) in
      var purge = purge
      try purge.step(on: connection)
      return purge
    }
  }

  private func numbers(_ store: SQLiteStore) throws -> [Int64] {
    try store.history(StoreHistoryQuery()).map(\.number)
  }

  @Test("After each step the rest has no gap, and no transaction has lost a change")
  func steps() throws {
    let seed = UInt64.random(in: 0...9_999)
    var random = SplitMix(seed: seed)
    let store = try open()
    var sizes: [Int] = []
    for _ in 0..<60 {
      sizes.append(Int.random(in: 1...(Bool.random(using: &random) ? 3 : 40), using: &random))
      try insert(store, sizes.last!)
    }
    let last = Int64.random(in: 20...59, using: &random)
    var purge = HistoryPurge(through: last, atMost: Int64.random(in: 1...12, using: &random))
    var steps = 0
    while !purge.isOver {
      purge = try step(purge, store)
      steps += 1
      let left = try store.history(StoreHistoryQuery())
      #expect(left.map(\.number) == Array(Int64(purge.removed) + 1...60), "seed \(seed)")
      #expect(left.map(\.changes.count) == Array(sizes[purge.removed...]), "seed \(seed)")
    }
    #expect(purge.removed == Int(last), "seed \(seed)")
    #expect(steps > 1, "seed \(seed)")
    try insert(store, 1)
    #expect(try numbers(store).last == 61)
    try store.close()
  }

  @Test("Of a step, one transaction is removed whole, however many changes it has")
  func large() throws {
    let store = try open()
    for count in [500, 1, 1] { try insert(store, count) }
    var purge = HistoryPurge(through: 2, atMost: 10)
    purge = try step(purge, store)
    #expect(purge.removed == 1)
    #expect(try store.history(StoreHistoryQuery()).map(\.changes.count) == [1, 1])
    purge = try step(HistoryPurge(through: 0), store)
    #expect(purge.isOver)
    #expect(purge.removed == 0)
    try store.close()
  }

  @Test("Saves go on between the steps of a purge, and none is lost")
  func writers() throws {
    let store = try open()
    for _ in 0..<3_000 { try insert(store, 1) }
    let saved = Lock(0)
    let isOver = Lock(false)
    let failure = Lock<String?>(nil)
    let end = DispatchGroup()
    end.enter()
    Thread.detachNewThread {
      defer { end.leave() }
      do {
        repeat {
          try insert(store, 1)
          saved.withLock { $0 += 1 }
        } while !isOver.withLock { $0 }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
    }
    #expect(try store.purgeHistory(.before(number: 3_001)) == 3_000)
    isOver.withLock { $0 = true }
    end.wait()
    #expect(failure.withLock { $0 } == nil)
    let count = saved.withLock { $0 }
    #expect(try numbers(store) == (0..<count).map { Int64(3_001 + $0) })
    #expect(try store.purgeHistory(.beforeTime(.greatestFiniteMagnitude)) == count)
    #expect(try store.historyExtent() == StoreHistoryExtent(first: nil, last: Int64(3_000 + count)))
    #expect(try store.purgeHistory(.beforeTime(.greatestFiniteMagnitude)) == 0)
    try store.close()
  }
}
