@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Queries mean what a plain evaluation of them means")
struct QueryDifferentialTests {
  let scratch = Scratch()

  func fill(_ store: SQLiteStore, _ maker: inout QueryMaker) throws -> MemoryModel {
    var model = MemoryModel(schema: store.schema)
    let (category, item, special, tag) = (
      store.index("Category"), store.index("Item"), store.index("SpecialItem"), store.index("Tag")
    )
    var transaction = StoreTransaction()
    func value(_ value: StoreValue) -> Draft.Value? {
      switch value {
      case .integer(let integer): .integer(integer)
      case .text(let text): .text(text)
      default: nil
      }
    }
    var categories: [Draft] = []
    for key in 1...Int64(8) {
      // Different codes keep the uniqueness constraint happy.
      let name: StoreValue = maker.chance(20) ? .null : .text(maker.pick(QueryMaker.texts))
      let parent: Int64? = maker.chance(50) ? Int64.random(in: 1...8, using: &maker.random) : nil
      var row = MemoryModel.Row(entity: category)
      row.values[store.slot("Category", "name")] = [name]
      row.values[store.slot("Category", "code")] = [.integer(key - 4)]
      row.values[store.slot("Category", "parent")] = [parent.map { .integer($0) } ?? .null]
      for property in ["items", "children", "featured"] { row.toMany[store.slot("Category", property)] = [] }
      model.rows[store.schema.entities[category].root, default: [:]][key] = row
      categories.append(
        Draft(
          key: -key, values: ["name": value(name), "code": .integer(key - 4)].compactMapValues { $0 },
          references: parent.map { ["parent": -$0] } ?? [:]))
    }
    for (key, row) in model.rows[store.schema.entities[category].root]! {
      if case .integer(let parent)? = row.values[store.slot("Category", "parent")]?.first {
        model.rows[store.schema.entities[category].root]![parent]!.toMany[store.slot("Category", "children")]!
          .append(key)
      }
    }
    transaction.inserted.append(store.batch("Category", categories))

    for key in 1...Int64(60) {
      let isSpecial = maker.chance(30)
      let numbers = (0..<2).map { _ in maker.chance(25) ? StoreValue.null : .integer(maker.integer()) }
      let texts = (0..<2).map { _ in maker.chance(25) ? StoreValue.null : .text(maker.pick(QueryMaker.texts))
      }
      let owner: Int64? = maker.chance(75) ? Int64.random(in: 1...8, using: &maker.random) : nil
      var row = MemoryModel.Row(entity: isSpecial ? special : item)
      row.values[store.slot("Item", "small")] = [numbers[0]]
      row.values[store.slot("Item", "big")] = [numbers[1]]
      row.values[store.slot("Item", "title")] = [texts[0]]
      row.values[store.slot("Item", "place")] = [.null, texts[1]]
      row.values[store.slot("Item", "category")] = [owner.map { .integer($0) } ?? .null]
      row.toMany[store.slot("Item", "tags")] = []
      model.rows[store.schema.entities[item].root, default: [:]][key] = row
      if let owner {
        model.rows[store.schema.entities[category].root]![owner]!.toMany[store.slot("Category", "items")]!
          .append(key)
      }
      let draft = Draft(
        key: -key,
        values: [
          "small": value(numbers[0]), "big": value(numbers[1]), "title": value(texts[0]),
          "place.title": value(texts[1]),
        ].compactMapValues { $0 }, references: owner.map { ["category": -$0] } ?? [:])
      transaction.inserted.append(store.batch(isSpecial ? "SpecialItem" : "Item", [draft]))
      if maker.chance(20) {
        let owner = Int64.random(in: 1...8, using: &maker.random)
        model.rows[store.schema.entities[category].root]![owner]!.toMany[store.slot("Category", "featured")]!
          .append(key)
        transaction.links.append(
          LinkChange(
            kind: .add, entity: category, slot: store.slot("Category", "featured"), owner: -owner,
            member: -key))
      }
    }

    for key in 1...Int64(6) {
      let name: StoreValue = maker.chance(15) ? .null : .text(maker.pick(QueryMaker.texts))
      var row = MemoryModel.Row(entity: tag)
      row.values[store.slot("Tag", "name")] = [name]
      row.toMany[store.slot("Tag", "items")] = []
      row.toMany[store.slot("Tag", "related")] = []
      model.rows[store.schema.entities[tag].root, default: [:]][key] = row
      transaction.inserted.append(
        store.batch("Tag", [Draft(key: -key, values: ["name": value(name)].compactMapValues { $0 })]))
      for member in 1...Int64(60) where maker.chance(20) {
        model.rows[store.schema.entities[tag].root]![key]!.toMany[store.slot("Tag", "items")]!.append(member)
        model.rows[store.schema.entities[item].root]![member]!.toMany[store.slot("Item", "tags")]!.append(key)
        transaction.links.append(
          LinkChange(
            kind: .add, entity: tag, slot: store.slot("Tag", "items"), owner: -key, member: -member,
            order: member))
      }
    }
    for left in 1...Int64(6) {
      for right in left...6 where maker.chance(25) {
        model.rows[store.schema.entities[tag].root]![left]!.toMany[store.slot("Tag", "related")]!.append(
          right)
        if left != right {
          model.rows[store.schema.entities[tag].root]![right]!.toMany[store.slot("Tag", "related")]!.append(
            left)
        }
        transaction.links.append(
          LinkChange(
            kind: .add, entity: tag, slot: store.slot("Tag", "related"), owner: -left, member: -right))
      }
    }
    _ = try store.commit(transaction)
    return model
  }

  @Test("Conditions of many terms", arguments: [UInt64.random(in: 0 ... .max), 3])
  func manyTerms(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), schema: store.schema)
    let model = try fill(store, &maker)
    let item = store.index("Item")
    for round in 0..<40 {
      let isAnd = maker.chance(50)
      // Terms that nearly all hold, or nearly none, so that the whole does sometimes.
      let terms = (0..<Int.random(in: 60...300, using: &maker.random)).map { _ -> StoreFilter in
        let subject = StoreExpression.path(maker.path(0, [("Item", maker.pick(["small", "big"]))]))
        switch Int.random(in: 0..<20, using: &maker.random) {
        case 0: return .not(.comparison(subject, .equal, .value(.null), []))
        case 1:
          let text = StoreExpression.path(maker.path(0, [("Item", "title")]))
          return .comparison(
            text, isAnd ? .notEqual : .equal, .value(.text(maker.pick(QueryMaker.texts))),
            maker.pick([[], .caseInsensitive]))
        case 2...10:
          return .comparison(
            subject, isAnd ? .notEqual : .equal,
            .value(.integer(Int64.random(in: 3...400, using: &maker.random))), [])
        default:
          return .comparison(
            subject, isAnd ? .less : .greater,
            .value(.integer(Int64.random(in: 3...400, using: &maker.random))), [])
        }
      }
      let some = maker.chance(50) ? terms : terms.filter { if case .not = $0 { false } else { true } }
      let whole: StoreFilter = isAnd ? .and(some) : .or(some)
      for filter in [whole, .not(whole)] {
        let found = try store.fetch(StoreQuery(entity: item, filter: filter), isKnown: nil).keys.sorted()
        let expected = model.rows[store.schema.entities[item].root]!.keys.filter {
          model.holds(filter, [(item, $0)])
        }.sorted()
        #expect(found == expected, "seed \(seed), round \(round): \(filter)")
      }
    }
  }

  @Test(
    "Random conditions, sorts and limits",
    arguments: [UInt64.random(in: 0 ... .max), 1, 2, 16_917_700_076_176_702_862])
  func differential(seed: UInt64) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    var maker = QueryMaker(random: SplitMix(seed: seed), schema: store.schema)
    let model = try fill(store, &maker)
    var found = 0
    for round in 0..<300 {
      let name = maker.pick(["Item", "Item", "SpecialItem", "Category", "Tag"])
      let scopeName = name == "SpecialItem" ? "Item" : name
      var query = StoreQuery(entity: store.index(name))
      // Slots are those of the fetched entity, which a sub-entity numbers its own way.
      let keys = StoreFilter.keys((0..<20).map { _ in Int64.random(in: 1...60, using: &maker.random) })
      if name == "SpecialItem" {
        query.filter = keys
      } else {
        let filter = maker.filter([scopeName], depth: 3)
        query.filter = maker.pick([
          filter, filter, filter, .and([filter, keys]), .and([.not(keys), filter]),
        ])
      }
      query.includesSubentities = maker.chance(80)
      let entities =
        query.includesSubentities
        ? store.schema.entities[query.entity].subtree : query.entity..<(query.entity + 1)
      let root = store.schema.entities[query.entity].root
      let expected = model.rows[root]!.filter { key, row in
        entities.contains(row.entity) && model.holds(query.filter, [(query.entity, key)])
      }.keys.sorted()
      let context = "seed \(seed), round \(round): \(query)"
      let rows = try store.fetch(query, isKnown: nil)
      try #require(rows.keys.sorted() == expected, "\(context)")
      try #require(try store.count(query) == expected.count, "\(context)")
      query.keysOnly = true
      try #require(try store.fetch(query, isKnown: nil).keys.sorted() == expected, "\(context), keys only")
      query.keysOnly = false
      found += expected.count

      guard name != "SpecialItem" else { continue }
      let options: StoreFilter.TextOptions = maker.pick([[], .caseInsensitive])
      let expression =
        maker.chance(50) ? maker.number([scopeName], depth: 1) : maker.text([scopeName], depth: 1)
      let sort = StoreSort(expression, isAscending: maker.chance(50), options: options)
      query.sort = [sort]
      query.limit = maker.chance(50) ? Int.random(in: 0...20, using: &maker.random) : nil
      query.offset = maker.chance(50) ? Int.random(in: 0...20, using: &maker.random) : 0
      func sortValue(_ key: Int64) -> StoreValue {
        model.folded(model.value(expression, [(query.entity, key)]), options)
      }
      var sorted = expected.map(sortValue).sorted { model.precedes($0, $1) }
      if !sort.isAscending { sorted.reverse() }
      sorted = Array(sorted.dropFirst(query.offset).prefix(query.limit ?? .max))
      let actual = try store.fetch(query, isKnown: nil).keys
      try #require(actual.map(sortValue) == sorted, "\(context), sorted by \(sort)")
      try #require(try store.count(query) == sorted.count, "\(context)")
    }
    #expect(found > 300, "seed \(seed): the conditions hold for too few rows to show anything")
  }
}
