#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Random transactions, which both engines must answer alike.
  @Suite(.needsServer) struct DifferentialTests {
    private typealias Known = NamedTransaction.Known

    private struct Outcome: Equatable {
      var code: String?
      var conflicts: Set<StoreError.RowConflict> = []
      var references: Set<ReferenceConflict> = []
      var properties: [String] = []
    }

    private static let roots = ["Item", "Category", "Tag", "Owner"]

    @Test(arguments: TestScale.seeds(1, 2, 3, 4, 5, 6))
    func `Both engines answer random transactions alike`(seed: UInt64) throws {
      print("seed \(seed)")
      let place = TestSchema()
      let server = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
      let file = try SQLiteStore(
        schema: Shop.schema, configuration: .init(location: .inMemory(name: place.name)))
      var random = SplitMix(seed: seed)
      var known: [Known] = []
      var nextKey: Int64 = 1
      var outcomes: [String: Int] = [:]
      // Some draws need more rounds until each kind of failure has occurred.
      var round = 0
      while round < 120 || (outcomes.count < 4 && round < 1_000) {
        defer { round += 1 }
        let plan = plan(known, &nextKey, &random)
        let expected = outcome(plan, file)
        let found = outcome(plan, server)
        outcomes[expected.code ?? "committed", default: 0] += 1
        // SQLite stops at the first unique value that collides. PostgreSQL compares all versions before.
        if expected.code != StoreError.Code.uniqueness.rawValue
          || found.code != StoreError.Code.conflict.rawValue
        {
          #expect(found == expected, "seed \(seed), round \(round)")
        }
        if expected.code != nil {
          let (left, right) = (
            try file.conflicts(of: plan.transaction(file)), try server.conflicts(of: plan.transaction(server))
          )
          #expect(Set(left.versions) == Set(right.versions), "seed \(seed), round \(round)")
          #expect(Set(left.uniqueness) == Set(right.uniqueness), "seed \(seed), round \(round)")
          #expect(rows(left.rows, file) == rows(right.rows, server), "seed \(seed), round \(round)")
        }
        let all = Array(1..<nextKey)
        known = []
        for root in Self.roots {
          let (left, right) = (
            try file.rows(entity: file.index(root), keys: all),
            try server.rows(entity: server.index(root), keys: all)
          )
          let (expectedRows, foundRows) = (rows(left.batches, file), rows(right.batches, server))
          #expect(foundRows == expectedRows, "seed \(seed), round \(round)")
          known += expectedRows.values.map {
            Known(entity: $0["entity"]!, key: Int64($0["key"]!)!, version: Int64($0["version"]!)!)
          }
        }
        known.sort { $0.key < $1.key }
        try compareLinks(file, server, known, "seed \(seed), round \(round)")
      }
      try expectCopies(of: file, "seed \(seed)")
      try expectCopies(of: server, "seed \(seed)")
      // Otherwise the test would say little.
      #expect(outcomes["committed", default: 0] > 20 && outcomes.count >= 4, "\(outcomes)")
    }

    private func rows(_ batches: [RowBatch], _ store: some Store) -> [String: [String: String]] {
      var result: [String: [String: String]] = [:]
      for batch in batches {
        for row in 0..<batch.count {
          let values = store.describe(batch, row)
          result[values["entity"]! + values["key"]!] = values
        }
      }
      return result
    }

    private func outcome(_ plan: NamedTransaction, _ store: some Store) -> Outcome {
      do throws(StoreError) {
        _ = try store.commit(plan.transaction(store)) { _ in }
        return Outcome()
      } catch {
        return Outcome(
          code: error.code.rawValue, conflicts: Set(error.conflicts), references: Set(error.references),
          // Of several references any may be named.
          properties: error.references.isEmpty ? error.properties : [])
      }
    }

    /// Compares the members of all owners, in their order, and that each is decoded once.
    private func compareLinks(
      _ file: SQLiteStore, _ server: PostgreSQLStore, _ known: [Known], _ place: Comment
    ) throws {
      let relationships = [
        ("Item", "tags"), ("Tag", "items"), ("Tag", "related"), ("Category", "featured"),
        ("Category", "items"),
        ("Category", "children"), ("Item", "owners"),
      ]
      for (entity, property) in relationships {
        let owners = known.filter { file.schema.entity(named: $0.entity)!.root == file.root(entity) }.map(
          \.key)
        let slot = file.slot(entity, property)
        let index = file.index(entity)
        let isEven = { (_: RootIndex, key: Int64) in key.isMultiple(of: 2) }
        let left = try file.related(
          entity: index, slot: slot, owners: owners + owners.prefix(1), isKnown: isEven)
        let right = try server.related(
          entity: index, slot: slot, owners: owners + owners.prefix(1), isKnown: isEven)
        let members = { (related: RelatedRows) in
          related.ranges.map { (range: Range<Int>) -> [Int64] in related.entries[range].map(\.key) }
        }
        #expect(members(right) == members(left), place)
        #expect(rows(right.rows.batches, server) == rows(left.rows.batches, file), place)
        let decoded: Int = right.rows.batches.reduce(0) { $0 + $1.count }
        let expected: Set<Int64> = Set(right.entries.map(\.key).filter { $0 % 2 == 1 })
        #expect(decoded == expected.count, place)
        for entry in right.entries {
          #expect((entry.batch < 0) == entry.key.isMultiple(of: 2), place)
          if entry.batch >= 0 {
            #expect(right.rows.batches[Int(entry.batch)].key(Int(entry.row)) == entry.key, place)
          }
        }
      }
    }

    // MARK: Random transactions

    private func plan(_ known: [Known], _ nextKey: inout Int64, _ random: inout SplitMix)
      -> NamedTransaction
    {
      var plan = NamedTransaction()
      var used: Set<Int64> = []
      func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
      func keys(of root: String) -> [Int64] {
        known.filter { $0.entity == root || (root == "Item" && $0.entity == "SpecialItem") }.map(\.key)
          + plan.inserted.filter { $0.entity == root || (root == "Item" && $0.entity == "SpecialItem") }.map(
            \.draft.key)
      }
      func reference(to root: String) -> Int64? {
        if chance(20) { return nil }
        // Now and then a row that does not exist.
        if chance(4) { return 100_000 + Int64.random(in: 0..<3, using: &random) }
        return keys(of: root).randomElement(using: &random)
      }
      func fill(_ draft: inout Draft, _ entity: String) {
        switch entity {
        case "Item", "SpecialItem":
          draft.values["title"] = .text(["a", "ü", "", "🦆"].randomElement(using: &random)!)
          draft.values["big"] = .integer(.random(in: -9...9, using: &random))
          draft.values["price"] = .text("\(Int.random(in: 0...99, using: &random)).5")
          draft.references["category"] = reference(to: "Category")
          draft.orders["category"] = draft.references["category"].map { _ in
            Int64.random(in: 0...9, using: &random)
          }
        case "Category":
          draft.values["name"] = .text(["x", "y", "z", "w", "v"].randomElement(using: &random)!)
          draft.values["code"] = chance(20) ? nil : .integer(.random(in: 0...9, using: &random))
          draft.references["parent"] = reference(to: "Category")
        case "Owner":
          draft.references["item"] = reference(to: "Item")
          draft.entities["item"] = draft.references["item"].map { _ in 1 }
        default: draft.values["name"] = .text("t\(Int.random(in: 0...3, using: &random))")
        }
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let entity = ["Item", "SpecialItem", "Category", "Tag", "Owner"].randomElement(using: &random)!
        var draft = Draft(key: nextKey)
        nextKey += 1
        fill(&draft, entity)
        plan.inserted.append((entity, draft))
      }
      for row in known.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
        used.insert(row.key)
        var draft = Draft(key: row.key, version: row.version + (chance(5) ? 5 : 1))
        fill(&draft, row.entity)
        let properties: [String] =
          switch row.entity {
          case "Item", "SpecialItem":
            [["title", "price"], ["category"], ["big", "category"], []].randomElement(using: &random)!
          case "Category": [["name", "code"], ["code"], ["parent"]].randomElement(using: &random)!
          case "Owner": ["item"]
          default: ["name"]
          }
        plan.updated.append((row.entity, draft, properties))
      }
      for row in known.shuffled(using: &random).prefix(chance(50) ? Int.random(in: 1...2, using: &random) : 0)
      where used.insert(row.key).inserted {
        let emptied =
          ["Item": ["tags"], "Tag": ["related", "items"], "Category": ["featured"]][row.entity] ?? []
        let kept = ["Item": ["owners"], "Category": ["items", "children"]][row.entity] ?? []
        plan.deleted.append(
          (
            row.entity, row.key, row.version + (chance(5) ? 1 : 0), chance(40) ? emptied : [],
            chance(60) ? kept : []
          ))
      }
      if chance(20), let row = known.randomElement(using: &random), !used.contains(row.key) {
        plan.checked.append(
          Known(entity: row.entity, key: row.key, version: row.version + (chance(20) ? 1 : 0)))
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let (entity, property, destination, isOrdered) = [
          ("Item", "tags", "Tag", false), ("Tag", "items", "Item", true), ("Tag", "related", "Tag", false),
          ("Category", "featured", "Item", true),
        ].randomElement(using: &random)!
        guard let owner = reference(to: entity), let member = reference(to: destination) else { continue }
        let isAppended = isOrdered && chance(40)
        plan.links.append(
          (
            chance(70) ? .add : .remove, entity, property, owner, member,
            isOrdered && !isAppended ? Int64.random(in: 0...9, using: &random) : nil, isAppended,
            isOrdered && !isAppended && chance(50)
          ))
      }
      return plan
    }
  }
#endif
