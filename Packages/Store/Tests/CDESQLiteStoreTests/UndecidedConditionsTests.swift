import CDEOperators
@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

/// SQLite's dialect without the functions of this process that operate on text.
private struct TextlessDialect: SQLDialect {
  private let sqlite = SQLiteDialect()

  var joinLimit: Int { sqlite.joinLimit }
  var joinReason: String { sqlite.joinReason }
  var depthLimit: Int { sqlite.depthLimit }
  var orderedJoin: String { sqlite.orderedJoin }

  func statement(_ piece: SQLPiece) -> CompiledQuery { sqlite.statement(piece) }
  func parameter(_ value: StoreValue) -> SQLPiece { sqlite.parameter(value) }
  func counting(_ statement: SQLPiece) -> SQLPiece { sqlite.counting(statement) }
  func range(limit: Int?, offset: Int) -> SQLPiece { sqlite.range(limit: limit, offset: offset) }
  func constant(_ holds: Bool) -> SQLPiece { sqlite.constant(holds) }
  func condition(_ piece: SQLPiece, isNegated: Bool) -> SQLPiece {
    sqlite.condition(piece, isNegated: isNegated)
  }
  func equality(isNegated: Bool, hasConstant: Bool) -> String {
    sqlite.equality(isNegated: isNegated, hasConstant: hasConstant)
  }
  func number(_ text: SQLPiece) -> SQLPiece { sqlite.number(text) }
  func membership(_ subject: SQLPiece, in keys: [Int64], isNegated: Bool) -> SQLPiece {
    sqlite.membership(subject, in: keys, isNegated: isNegated)
  }
  func membership(_ subject: SQLPiece, in values: [StoreValue]) -> SQLPiece? {
    sqlite.membership(subject, in: values)
  }
  func joined(_ terms: [SQLPiece], isConjunction: Bool) -> SQLPiece {
    sqlite.joined(terms, isConjunction: isConjunction)
  }
  func balanced(_ terms: ArraySlice<SQLPiece>, _ separator: String) -> SQLPiece {
    sqlite.balanced(terms, separator)
  }
  func order(
    _ piece: SQLPiece, _ options: StoreFilter.TextOptions, isAscending: Bool, mayBeNull: Bool
  ) -> SQLPiece? {
    options.isEmpty
      ? sqlite.order(piece, options, isAscending: isAscending, mayBeNull: mayBeNull) : nil
  }
  func folded(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece? { nil }
  func match(
    _ subject: TextOperand, _ op: TextOperator, _ part: TextOperand,
    _ options: StoreFilter.TextOptions
  ) -> SQLPiece? {
    let isPlain = options.isEmpty && op != .matches
    return isPlain ? sqlite.match(subject, op, part, options) : nil
  }
  func aggregate(_ aggregate: StoreExpression.Aggregate, _ value: SQLPiece) -> SQLPiece? {
    sqlite.aggregate(aggregate, value)
  }
  func call(_ function: StoreExpression.Function, _ arguments: [SQLPiece]) -> SQLPiece? {
    [.lowercase, .uppercase, .canonical].contains(function) ? nil : sqlite.call(function, arguments)
  }
}

/// A row of the plain model, for the evaluator.
private struct ModelRow: EvaluatedRow {
  let model: MemoryModel
  let concreteEntity: EntityIndex
  let key: Int64

  private var row: MemoryModel.Row? { model.row((concreteEntity, key)) }

  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) -> StoreValue {
    row?.values[slot]?[leaf] ?? .null
  }

  func destinations(of slot: SlotIndex, in entity: EntityIndex) -> [ModelRow] {
    let root = model.schema.entities[model.schema.end(of: slot, in: entity).destination].root
    return model.elements([slot], from: (entity, key)).compactMap { element in
      model.rows[root]?[element.key].map {
        ModelRow(model: model, concreteEntity: $0.entity, key: element.key)
      }
    }
  }
}

@Suite("Conditions that a dialect can't decide")
struct UndecidedConditionsTests {
  let scratch = Scratch()

  private func keys(_ compiled: CompiledQuery, in store: SQLiteStore) throws -> [Int64] {
    try store.pool.read { (connection) throws(StoreError) in
      var keys: [Int64] = []
      try connection.forEachRow(compiled.sql, compiled.bindings, while: "Reading candidates") {
        keys.append(sqlite3_column_int64($0, 0))
      }
      return keys
    }
  }

  @Test(
    "The statement and its remainder together find what the whole condition finds",
    arguments: [UInt64.random(in: 0 ... .max), 1, 2])
  func differential(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), schema: store.schema)
    let model = try QueryDifferentialTests().fill(store, &maker)
    var (whole, partial, narrowed) = (0, 0, 0)
    for round in 0..<400 {
      let name = maker.pick(["Item", "Category", "Tag"])
      let parts = (0..<maker.pick([1, 2])).map { _ in maker.filter([name], depth: 3) }
      var query = StoreQuery(entity: store.index(name), filter: parts.count == 1 ? parts[0] : .and(parts))
      query.limit = maker.chance(30) ? 5 : nil
      let all = model.rows[store.schema.entities[query.entity].root]!.keys
      let expected = all.filter { model.holds(query.filter, [(query.entity, $0)]) }.sorted()
      var compiler = QueryCompiler(store.plans.physical, dialect: TextlessDialect())
      let compiled = try compiler.compile(query, .rows(columns: "t0.Z_PK"))
      let found = try keys(compiled, in: store)
      let context = "seed \(seed), round \(round): \(query)"
      guard let remainder = compiled.remainder else {
        whole += 1
        try #require(Set(found).isSubset(of: expected), "\(context)")
        try #require(found.count == min(expected.count, query.limit ?? .max), "\(context)")
        continue
      }
      partial += 1
      if found.count < all.count { narrowed += 1 }
      let evaluator = FilterEvaluator<ModelRow>(store.schema)
      let decided = try found.filter { key in
        let row = ModelRow(
          model: model, concreteEntity: try #require(model.row((query.entity, key))).entity, key: key)
        return try evaluator.holds(remainder.filter, for: row, of: query.entity)
      }
      try #require(decided.sorted() == expected, "\(context)")
      try #require(remainder.limit == query.limit, "\(context)")
      var counter = QueryCompiler(store.plans.physical, dialect: TextlessDialect())
      let candidates = try keys(try counter.compile(query, .count()), in: store)
      try #require(candidates.sorted() == found.sorted(), "\(context)")
    }
    #expect(whole > 50 && partial > 50 && narrowed > 10, "seed \(seed): \(whole), \(partial), \(narrowed)")
  }

  @Test(
    "Conditions and orders in memory are those of SQLite", arguments: [UInt64.random(in: 0 ... .max), 4, 5])
  func evaluated(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), schema: store.schema)
    let model = try QueryDifferentialTests().fill(store, &maker)
    let evaluator = FilterEvaluator<ModelRow>(store.schema)
    for round in 0..<300 {
      let name = maker.pick(["Item", "Category", "Tag"])
      let entity = store.index(name)
      let options: StoreFilter.TextOptions = maker.pick([
        [], .caseInsensitive, .localized, .localizedStandard,
      ])
      let sort = [
        StoreSort(maker.text([name], depth: 1), isAscending: maker.chance(50), options: options),
        StoreSort(maker.number([name], depth: 1), isAscending: maker.chance(50)),
        StoreSort(.path(StorePath(end: .object))),
      ]
      let query = StoreQuery(entity: entity, filter: maker.filter([name], depth: 3), sort: sort)
      var rows: [(key: Int64, sortKeys: [StoreValue])] = []
      for (key, row) in model.rows[store.schema.entities[entity].root]! {
        let row = ModelRow(model: model, concreteEntity: row.entity, key: key)
        guard try evaluator.holds(query.filter, for: row, of: entity) else { continue }
        rows.append((key, try evaluator.sortKeys(sort, for: row, of: entity)))
      }
      rows.sort { ValueOrder.precedes($0.sortKeys, $1.sortKeys, in: sort) }
      let expected = try store.fetch(query, isKnown: nil).keys
      try #require(rows.map(\.key) == expected, "seed \(seed), round \(round): \(query)")
    }
  }

  private func text(_ store: SQLiteStore) -> StoreExpression {
    .path(StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
  }

  @Test("The remainder has the undecided parts only, and the range moves to it")
  func smallest() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let number = StoreExpression.path(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0)))
    let decided = StoreFilter.comparison(number, .greater, .value(.integer(1)), [])
    let undecided = StoreFilter.comparison(text(store), .contains, .value(.text("a")), .caseInsensitive)
    var compiler = QueryCompiler(store.plans.physical, dialect: TextlessDialect())
    let compiled = try compiler.compile(
      StoreQuery(
        entity: store.index("Item"), filter: .and([decided, undecided]),
        sort: [StoreSort(number)], limit: 3, offset: 2), .rows(columns: "t0.Z_PK"))
    #expect(compiled.remainder == QueryRemainder(filter: undecided, sort: [], offset: 2, limit: 3))
    #expect(!compiled.sql.contains("LIMIT"))
    #expect(compiled.sql.contains("ORDER BY t0.\"ZBIG\" ASC"))
    #expect(compiled.bindings == [.integer(1)])
  }

  @Test("An order that the dialect lacks is left to the remainder")
  func order() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let sort = [StoreSort(text(store), options: .caseInsensitive)]
    var compiler = QueryCompiler(store.plans.physical, dialect: TextlessDialect())
    let compiled = try compiler.compile(
      StoreQuery(entity: store.index("Item"), sort: sort, limit: 3), .rows(columns: "t0.Z_PK"))
    #expect(compiled.remainder == QueryRemainder(filter: .constant(true), sort: sort, offset: 0, limit: 3))
    #expect(!compiled.sql.contains("ORDER BY"))
  }

  @Test("A projection and a computed value without a remainder are refused")
  func refused() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    let item = store.index("Item")
    let lower = StoreExpression.function(.lowercase, [text(store)])
    let undecided = StoreFilter.comparison(lower, .equal, .value(.text("a")), [])
    for projection in [
      StoreProjection(entity: item, columns: [.value(lower)]),
      StoreProjection(entity: item, filter: undecided, columns: [.value(text(store))]),
      StoreProjection(
        entity: item, columns: [.value(text(store))], sort: [StoreSort(text(store), options: .localized)]),
    ] {
      var compiler = QueryCompiler(store.plans.physical, dialect: TextlessDialect())
      let error = #expect(throws: StoreError.self) { _ = try compiler.compile(projection) }
      #expect(error?.code == .unsupportedQuery)
    }
    let error = #expect(throws: StoreError.self) {
      _ = try QueryCompiler.compile(lower, of: item, store.plans.physical, dialect: TextlessDialect())
    }
    #expect(error?.code == .unsupportedQuery)
  }
}
