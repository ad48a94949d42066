@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

extension MemoryModel {
  /// The results of a projection, in any order, each with the values that its order compares.
  func project(_ projection: StoreProjection) -> [(values: [StoreValue], keys: [StoreValue])] {
    let entities =
      projection.includesSubentities
      ? schema.entities[projection.entity].subtree : projection.entity..<(projection.entity + 1)
    let found = (rows[schema.entities[projection.entity].root] ?? [:]).filter { key, row in
      entities.contains(row.entity) && holds(projection.filter, [(projection.entity, key)])
    }.keys.sorted().map { (entity: projection.entity, key: $0) }
    var groups: [[Element]]
    if !projection.grouping.isEmpty {
      groups = Dictionary(grouping: found) { row in projection.grouping.map { value($0, [row]).bytewise } }
        .values.map { $0 }
    } else if projection.columns.contains(where: {
      if case .value(let value) = $0 { Self.isGroup(value) } else { false }
    }) {
      groups = [found]
    } else {
      groups = found.map { [$0] }
    }
    groups = groups.filter { group in holds(filled(projection.having, group), group.prefix(1).map { $0 }) }
    var results = groups.map { group -> (values: [StoreValue], keys: [StoreValue]) in
      let scopes = Array(group.prefix(1))
      return (
        projection.columns.map { column in
          switch column {
          case .value(let expression): return value(filled(expression, group), scopes)
          case .object(let path):
            guard let element = elements(path.hops, from: scopes[0]).first, let row = row(element) else {
              return .null
            }
            return .reference(entity: row.entity, key: element.key)
          }
        },
        projection.sort.map { folded(value(filled($0.expression, group), scopes), $0.options) }
      )
    }
    if projection.isDistinct {
      var seen: Set<[StoreValue]> = []
      results = results.filter { seen.insert($0.values.map(\.bytewise)).inserted }
    }
    return results
  }

  private static func isGroup(_ expression: StoreExpression) -> Bool {
    switch expression {
    case .group: true
    case .function(_, let arguments): arguments.contains(where: isGroup)
    default: false
    }
  }

  /// An expression with the aggregates over a group replaced by their values.
  private func filled(_ expression: StoreExpression, _ group: [Element]) -> StoreExpression {
    switch expression {
    case .group(let aggregate, let inner):
      .value(self.aggregate(aggregate, group.map { value(inner, [$0]) }))
    case .function(let function, let arguments): .function(function, arguments.map { filled($0, group) })
    default: expression
    }
  }

  private func filled(_ filter: StoreFilter, _ group: [Element]) -> StoreFilter {
    switch filter {
    case .comparison(let left, let comparison, let right, let options):
      .comparison(filled(left, group), comparison, filled(right, group), options)
    case .and(let parts): .and(parts.map { filled($0, group) })
    case .or(let parts): .or(parts.map { filled($0, group) })
    case .not(let part): .not(filled(part, group))
    case .rules(let rules, let otherwise):
      .rules(
        rules.map { StoreFilter.Rule(filled($0.condition, group), holds: $0.holds) },
        otherwise: filled(otherwise, group))
    default: filter
    }
  }
}

extension StoreValue {
  /// The value with a text as its bytes. Swift takes composed and decomposed characters for equal, a store does not.
  fileprivate var bytewise: StoreValue {
    if case .text(let text) = self { .blob(Data(text.utf8)) } else { self }
  }
}

extension QueryMaker {
  /// What may stand in a grouped result.
  fileprivate mutating func grouped(_ grouping: [StoreExpression]) -> StoreExpression {
    if !grouping.isEmpty, chance(35) { return pick(grouping) }
    if chance(15) {
      return .group(pick([.min, .max, .count]), text(["Item"], depth: 1))
    }
    let aggregate = StoreExpression.group(
      pick([.min, .max, .sum, .average, .count]), number(["Item"], depth: 1))
    if case .group(.average, _) = aggregate { return aggregate }
    return chance(20) ? .function(.add, [aggregate, .value(.integer(1))]) : aggregate
  }

  fileprivate mutating func projection() -> StoreProjection {
    var projection = StoreProjection(
      entity: index("Item"), includesSubentities: chance(80), filter: filter(["Item"], depth: 2),
      columns: [])
    let isGrouped = chance(60)
    if isGrouped {
      for _ in 0..<pick([0, 1, 1, 2]) {
        projection.grouping.append(
          pick([
            number(["Item"], depth: 0), text(["Item"], depth: 0), .path(object(0, [("Item", "category")])),
          ]))
      }
      for _ in 0..<pick([1, 2, 3]) { projection.columns.append(.value(grouped(projection.grouping))) }
      // Only an aggregate makes one group of all rows.
      projection.columns.append(.value(.group(.count, .path(StorePath(end: .object)))))
      if !projection.grouping.isEmpty, chance(50) {
        projection.having = .comparison(
          .group(pick([.sum, .max, .count]), number(["Item"], depth: 1)),
          pick([.less, .greaterOrEqual, .notEqual]),
          .value(.integer(integer())), [])
      }
    } else {
      for _ in 0..<pick([1, 2, 3]) {
        switch pick([0, 1, 2]) {
        case 0: projection.columns.append(.value(number(["Item"], depth: 1)))
        case 1: projection.columns.append(.value(text(["Item"], depth: 1)))
        default:
          projection.columns.append(.object(chance(50) ? object(0, [("Item", "category")]) : object(0, [])))
        }
      }
    }
    projection.isDistinct = chance(40)
    if chance(70), projection.grouping.isEmpty != isGrouped {
      // The order of a distinct result is one of its columns.
      let columns = projection.columns.compactMap { column -> StoreExpression? in
        if case .value(let expression) = column { expression } else { nil }
      }
      let expression =
        projection.isDistinct
        ? columns.first : isGrouped ? grouped(projection.grouping) : number(["Item"], depth: 1)
      if let expression { projection.sort = [StoreSort(expression, isAscending: chance(50))] }
    }
    return projection
  }
}

@Suite("Values computed from rows")
struct ProjectionTests {
  let scratch = Scratch()

  @Test(
    "Random columns, groups, conditions on groups and orders are as a plain computation has them",
    arguments: [UInt64.random(in: 0 ... .max), 1, 2])
  func differential(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), schema: store.schema)
    let model = try QueryDifferentialTests().fill(store, &maker)
    var (found, groups) = (0, 0)
    for round in 0..<300 {
      var projection = maker.projection()
      let expected = model.project(projection)
      let rows = try store.project(projection)
      let context = "seed \(seed), round \(round): \(projection)"
      let actual = (0..<rows.count).map { row in projection.columns.indices.map { rows[row, $0] } }
      try #require(counted(actual) == counted(expected.map(\.values)), "\(context)")
      found += rows.count
      if !projection.grouping.isEmpty { groups += rows.count }

      guard let sort = projection.sort.first,
        let column = projection.columns.firstIndex(of: .value(sort.expression))
      else { continue }
      projection.limit = maker.chance(50) ? Int.random(in: 0...6, using: &maker.random) : nil
      projection.offset = Int.random(in: 0...4, using: &maker.random)
      var keys = expected.map { $0.keys[0] }.sorted { model.precedes($0, $1) }
      if !sort.isAscending { keys.reverse() }
      let part = try store.project(projection)
      try #require(
        (0..<part.count).map { part[$0, column] }
          == Array(keys.dropFirst(projection.offset).prefix(projection.limit ?? .max)), "\(context)")
    }
    #expect(found > 300 && groups > 100, "seed \(seed): \(found) results, \(groups) of groups")
  }

  private func counted(_ rows: [[StoreValue]]) -> [[StoreValue]: Int] {
    rows.reduce(into: [:]) { $0[$1.map(\.bytewise), default: 0] += 1 }
  }

  @Test("All rows together give one result, even if there are none")
  func noRows() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let big = StoreExpression.path(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0)))
    let rows = try store.project(
      StoreProjection(
        entity: store.index("Item"),
        columns: [
          .value(.group(.count, big)), .value(.group(.sum, big)), .value(.group(.max, big)),
          .value(.group(.average, big)),
        ]))
    #expect(rows.count == 1)
    #expect(rows.values == [.integer(0), .integer(0), .null, .null])
  }

  /// The first read after a commit runs on the connection that committed, for 10,000 steps of SQLite's machine at most. Each of
  /// the rows takes ten.
  @Test("A read that is stopped and repeated returns each value once")
  func repeated() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let key = StoreExpression.path(StorePath(end: .object))
    let projection = StoreProjection(entity: store.index("Item"), columns: [.value(key)])
    try store.insert("Item", (1...5_000).map { Draft(key: -$0) })
    #expect(try store.project(projection).count == 5_000)
    try store.insert("Item", [Draft(key: -1)])
    let rows = try store.project(projection)
    #expect(rows.count == 5_001)
    #expect(Set(rows.values).count == 5_001)
  }

  @Test("What makes no sense is refused: no columns, a group within a group, a group in a condition on rows")
  func refusals() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let key = StoreExpression.path(StorePath(end: .object))
    let count = StoreExpression.group(.count, key)
    let item = store.index("Item")
    for projection in [
      StoreProjection(entity: item, columns: []),
      StoreProjection(entity: item, columns: [.value(.group(.max, count))]),
      StoreProjection(
        entity: item, filter: .comparison(count, .greater, .value(.integer(1)), []), columns: [.value(key)]),
      StoreProjection(entity: item, columns: [.value(key)], grouping: [count]),
      StoreProjection(
        entity: item,
        columns: [.object(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0)))]),
      StoreProjection(entity: -7, columns: [.value(key)]),
    ] {
      let error = #expect(throws: StoreError.self) { try store.project(projection) }
      #expect(error?.code == .unsupportedQuery)
    }
  }
}
