@_spi(CDE) import CDEPredicates
import CDESQLiteStore
import CDEStore
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("SQLite answers as the evaluation in memory does")
struct QueryEngineAgreementTests {
  /// `CDE_SEED=… CDE_QUERY_ROUNDS=…` repeats a run, or makes a long one.
  private static let rounds =
    ProcessInfo.processInfo.environment["CDE_QUERY_ROUNDS"].flatMap(Int.init) ?? 3
  private static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)

  @Test("Random predicates find the same objects", arguments: [11, 12, 13, seed])
  func agreement(seed: UInt64) throws {
    let world = QueryWorld()
    var maker = QueryMaker(world: world, random: SplitMix(state: seed))
    var (compared, held) = (0, 0)
    for round in 0..<Self.rounds {
      let items = maker.objects()
      let store = try SQLiteStore(
        schema: world.schema,
        configuration: .init(location: .inMemory(name: "agreement-\(seed)-\(round)")))
      _ = try store.commit(world.transaction(inserting: items))
      for _ in 0..<60 {
        let tree = maker.tree(depth: 2)
        // What cannot be resolved is another suite's business.
        guard let filter = try? world.resolver("Item").filter(tree) else { continue }
        let rows = try store.fetch(
          StoreQuery(entity: world.index("Item"), filter: filter), isKnown: nil)
        var found: Set<Int64> = []
        if let order = rows.order {
          found = Set(order.map(\.key))
        } else {
          for batch in rows.batches { for row in 0..<batch.count { found.insert(batch.key(row)) } }
        }
        let expected = Set(try items.filter { try tree.evaluate(with: $0) }.map(\.key))
        compared += items.count
        held += expected.count
        guard found == expected else {
          Issue.record(
            "seed \(seed): \(tree.predicateFormat) became \(filter) and found \(found), not \(expected)")
          return
        }
      }
      try store.close()
    }
    #expect(held > compared / 10 && held < compared * 9 / 10, "seed \(seed): \(held) of \(compared)")
  }
}

extension QueryWorld {
  /// All objects that can be reached from items, as new rows: the key n of an object is given as -n, which a
  /// new store turns into n.
  func transaction(inserting items: [QueryObject]) -> StoreTransaction {
    var objects: [QueryObject] = []
    var pending = items
    while let object = pending.popLast() {
      if objects.contains(where: { $0 === object }) { continue }
      objects.append(object)
      pending += object.toOne.values
      pending += object.toMany.values.joined()
    }
    var transaction = StoreTransaction()
    for entity in schema.entities {
      let members = objects.filter { $0.entity.index == entity.index }.sorted { $0.key < $1.key }
      if members.isEmpty { continue }
      var builder = RowBatchBuilder(layout: entity.layout)
      for object in members {
        builder.beginRow(key: -object.key, version: 0)
        for property in entity.layout.properties { write(property, of: object, into: &builder) }
      }
      transaction.inserted.append(builder.finish())
    }
    let slot = schema.entity(named: "Item")!.layout.slot(named: "tags")!
    for item in items {
      for tag in item.toMany["tags"] ?? [] {
        transaction.links.append(
          LinkChange(kind: .add, entity: index("Item"), slot: slot, owner: -item.key, member: -tag.key))
      }
    }
    return transaction
  }

  private func write(
    _ property: RowLayout.Property, of object: QueryObject, into builder: inout RowBatchBuilder
  ) {
    var values: [PredicateConstant] = []
    switch property.kind {
    case .attribute: values = [object.attributes[property.name] ?? .null]
    case .composite: values = object.leaves[property.name] ?? []
    case .toOne:
      values = [object.toOne[property.name].map { .integer(-$0.key) } ?? .null]
    case .toMany: break
    }
    for (cell, value) in zip(property.cells, values) {
      if case .decimal(let decimal) = value {
        builder.setString(cell, decimal.description)
        continue
      }
      switch value.stored {
      case .null, .reference: break
      case .integer(let value): builder.setInteger(cell, value)
      case .real(let value): builder.setReal(cell, value)
      case .text(let value): builder.setString(cell, value)
      case .blob(let value): value.withUnsafeBytes { builder.setBytes(cell, $0) }
      }
    }
  }
}
