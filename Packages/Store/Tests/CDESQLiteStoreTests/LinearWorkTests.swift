@_spi(CDE) import CDEOperators
@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

/// Work is compared between two sizes, so that a slow machine changes nothing: eight or sixteen times the input may
/// take as many times the work and some more, where work that grows with the square takes 64 or 256 times as much.
@Suite("Work grows with the input, and not with its square", .serialized)
struct LinearWorkTests {
  private static let chain = StoreSchema(entities: [
    StoreEntity(
      name: "Node", attributes: [StoreAttribute(name: "n", type: .integer32)],
      relationships: [
        StoreRelationship(name: "next", destination: "Node", inverse: "previous", isToMany: false),
        StoreRelationship(name: "previous", destination: "Node", inverse: "next", isToMany: false),
        StoreRelationship(name: "children", destination: "Node", inverse: "parent", isToMany: true),
        StoreRelationship(name: "parent", destination: "Node", inverse: "children", isToMany: false),
      ])
  ])

  /// How many steps SQLite took to delete the first of `count` nodes with all that its cascade reaches.
  private func stepsOfDeletion(
    _ count: Int64, along relationship: String, _ references: (Int64) -> [String: Int64]
  ) throws -> Int64 {
    let store = try SQLiteStore(
      schema: Self.chain, configuration: .init(location: .inMemory(name: UUID().uuidString)))
    try store.insert("Node", (1...count).map { Draft(key: -$0, references: references($0)) })
    let node = store.index("Node")
    let key = StoreExpression.path(StorePath(end: .object))
    let query = StoreQuery(
      entity: node, filter: .comparison(key, .equal, .value(.reference(entity: node, key: 1)), []))
    let result = try store.commit(
      .delete(
        StoreBatchDelete(query: query, rules: [[store.slot("Node", relationship): .cascade]])))
    #expect(result.rows.count == 1)
    #expect(result.cascaded.count == Int(count) - 1)
    #expect(try store.count(StoreQuery(entity: node)) == 0)
    return try store.pool.write(.upkeep) { (connection) throws(StoreError) in
      var steps: Int64 = 0
      var statement = sqlite3_next_stmt(connection.handle, nil)
      while let current = statement {
        steps += Int64(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
        statement = sqlite3_next_stmt(connection.handle, current)
      }
      return steps
    }
  }

  @Test("A batch deletion visits each row of a chain once")
  func chains() throws {
    func steps(_ count: Int64) throws -> Int64 {
      try stepsOfDeletion(count, along: "next") { key in
        key < count
          ? ["next": -(key + 1), "previous": -max(key - 1, 1)] : ["previous": -(key - 1)]
      }
    }
    let (short, long) = (try steps(500), try steps(8_000))
    #expect(long < short * 20, "\(short) steps for 500 rows, \(long) for 8,000")
  }

  @Test("A batch deletion visits each row of a wide tree once")
  func trees() throws {
    func steps(_ count: Int64) throws -> Int64 {
      try stepsOfDeletion(count, along: "children") { key in key == 1 ? [:] : ["parent": -max(key / 50, 1)] }
    }
    let (small, large) = (try steps(1_000), try steps(8_000))
    #expect(large < small * 12, "\(small) steps for 1,000 rows, \(large) for 8,000")
  }

  @Test("Conditions of many terms are planned term by term", arguments: [true, false])
  func terms(areAlternatives: Bool) throws {
    let store = try SQLiteStore(
      schema: Shop.schema, configuration: .init(location: .inMemory(name: UUID().uuidString)))
    try store.insert("Item", [Draft(key: -1, values: ["big": .integer(7)])])
    let item = store.index("Item")
    func path(_ name: String) -> StoreExpression {
      .path(StorePath(end: .property(slot: store.slot("Item", name), leaf: 0)))
    }
    func seconds(_ count: Int) throws -> Duration {
      let terms = (0..<count).map { index -> StoreFilter in
        let value = StoreExpression.value(.integer(Int64(index)))
        return areAlternatives
          ? .and([
            .comparison(path("big"), .greater, value, []),
            .comparison(path("small"), .lessOrEqual, value, []),
          ])
          : .comparison(path("big"), .less, .value(.integer(Int64(1_000_000 + index))), [])
      }
      let query = StoreQuery(entity: item, filter: areAlternatives ? .or(terms) : .and(terms))
      return try ProcessorTime.least {
        let count = try store.count(query)
        #expect(count == (areAlternatives ? 0 : 1))
      }
    }
    let (few, many) = (try seconds(1_500), try seconds(12_000))
    #expect(many < few * 30 + .milliseconds(200), "\(few) for 1,500 terms, \(many) for 12,000")
  }

  @Test(
    "A constant is folded once and not once a row",
    arguments: [StoreFilter.Comparison.contains, .beginsWith, .endsWith, .like, .equal])
  func folding(comparison: StoreFilter.Comparison) throws {
    let store = try SQLiteStore(
      schema: Shop.schema, configuration: .init(location: .inMemory(name: UUID().uuidString)))
    try store.insert("Item", (1...400).map { Draft(key: -$0, values: ["title": .text("Größe")]) })
    let item = store.index("Item")
    let text = StoreExpression.value(.text(String(repeating: "É", count: 100_000)))
    let title = StoreExpression.path(StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
    let once = ProcessorTime.least {
      _ = TextComparison.folded(String(repeating: "É", count: 100_000), [.caseInsensitive])
    }
    for (left, right) in [(title, text), (text, title)] {
      let query = StoreQuery(
        entity: item, filter: .comparison(left, comparison, right, .caseInsensitive))
      let all = try ProcessorTime.least {
        let count = try store.count(query)
        #expect(count == 0)
      }
      #expect(all < once * 40 + .milliseconds(200), "\(once) for one folding, \(all) for 400 rows")
    }
  }
}
