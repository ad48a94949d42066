import CDESQLite
@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Testing

@Suite("Attributes that the store derives")
struct DerivedAttributeTests {
  /// Nodes form a tree and carry labels; each node derives from its parent, its children and its labels.
  private static let schema: StoreSchema = {
    func sum(_ name: String, _ relationship: String) -> StoreAttribute {
      StoreAttribute(
        name: name, type: .integer64, derivation: .sum(relationship: relationship, attribute: "weight"))
    }
    func count(_ name: String, _ relationship: String) -> StoreAttribute {
      StoreAttribute(name: name, type: .integer64, derivation: .count(relationship: relationship))
    }
    return StoreSchema(entities: [
      StoreEntity(
        name: "Node",
        attributes: [
          StoreAttribute(name: "weight", type: .integer64),
          StoreAttribute(
            name: "above", type: .integer64, derivation: .copy(relationship: "parent", attribute: "weight")),
          count("childCount", "children"), sum("childWeight", "children"),
          count("labelCount", "labels"), sum("labelWeight", "labels"),
        ],
        relationships: [
          StoreRelationship(name: "parent", destination: "Node", inverse: "children", isToMany: false),
          StoreRelationship(name: "children", destination: "Node", inverse: "parent", isToMany: true),
          StoreRelationship(name: "labels", destination: "Label", inverse: "nodes", isToMany: true),
        ]),
      StoreEntity(
        name: "Label",
        attributes: [StoreAttribute(name: "weight", type: .integer64), count("uses", "nodes")],
        relationships: [
          StoreRelationship(name: "nodes", destination: "Node", inverse: "labels", isToMany: true)
        ]),
    ])
  }()

  private struct Node {
    var weight: Int64
    var parent: Int64?
    var version: Int64 = 1
    var labels: Set<Int64> = []
  }

  /// What a node's derived values have to be, by the definition.
  private func expected(_ key: Int64, _ nodes: [Int64: Node], _ labels: [Int64: Int64]) -> [String: String] {
    let node = nodes[key]!
    let children = nodes.values.filter { $0.parent == key }
    return [
      "above": node.parent.map { String(nodes[$0]!.weight) } ?? "nil",
      "childCount": String(children.count), "childWeight": String(children.reduce(0) { $0 + $1.weight }),
      "labelCount": String(node.labels.count),
      "labelWeight": String(node.labels.reduce(0) { $0 + labels[$1]! }),
    ]
  }

  @Test("Random trees keep counts, sums and copies right, and commits tell them", arguments: [1, 2, 3])
  func random(seed: UInt64) throws {
    let scratch = Scratch()
    let store = try SQLiteStore.file(scratch.file(), Self.schema)
    let node = RowMaker(store, "Node")
    let label = RowMaker(store, "Label")
    var random = SplitMix(seed: seed)
    var nodes: [Int64: Node] = [:]
    var labels: [Int64: Int64] = [:]

    // The pool of labels.
    var builder = RowBatchBuilder(layout: label.layout)
    for number in 1...4 {
      builder.beginRow(key: Int64(-number), version: 1)
      builder.setInteger(label.cell("weight"), Int64(number) * 100)
    }
    var first = StoreTransaction()
    first.inserted = [builder.finish()]
    let made = try store.commit(first)
    for number in 1...4 {
      labels[made.permanentKey(for: Int64(-number), root: label.layout.root)] = Int64(number) * 100
    }

    for step in 0..<60 {
      var transaction = StoreTransaction()
      // What the caller holds for derived cells is of no account, so garbage goes in.
      func fill(_ builder: inout RowBatchBuilder, _ value: Node) {
        builder.setInteger(node.cell("weight"), value.weight)
        if let parent = value.parent { builder.setInteger(node.cell("parent", .key), parent) }
        builder.setInteger(node.cell("childCount"), 999)
      }
      let kept = nodes.keys.sorted()
      var updated: Set<Int64> = []
      var inserted: [Node] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        inserted.append(
          Node(weight: Int64.random(in: 0..<50, using: &random), parent: kept.randomElement(using: &random)))
      }
      var builder = RowBatchBuilder(layout: node.layout)
      for (index, value) in inserted.enumerated() {
        builder.beginRow(key: Int64(-index - 1), version: 1)
        fill(&builder, value)
      }
      transaction.inserted = [builder.finish()]

      var changes = RowBatchBuilder(layout: node.layout)
      var slots: [PropertySet] = []
      for key in kept where Int.random(in: 0..<3, using: &random) == 0 {
        nodes[key]!.weight = Int64.random(in: 0..<50, using: &random)
        // Parents come before their children, so no circle closes.
        nodes[key]!.parent = kept.filter { $0 < key }.randomElement(using: &random)
        nodes[key]!.version += 1
        changes.beginRow(key: key, version: nodes[key]!.version)
        fill(&changes, nodes[key]!)
        slots.append([node.slot("weight"), node.slot("parent")])
        updated.insert(key)
      }
      if !slots.isEmpty { transaction.updated = [RowUpdate(batch: changes.finish(), changed: slots)] }

      for key in kept where Int.random(in: 0..<4, using: &random) == 0 {
        let changed = labels.keys.sorted().randomElement(using: &random)!
        let isAdded = nodes[key]!.labels.insert(changed).inserted
        if !isAdded { nodes[key]!.labels.remove(changed) }
        transaction.links.append(
          LinkChange(
            kind: isAdded ? .add : .remove, entity: node.layout.entity, slot: node.slot("labels"), owner: key,
            member: changed))
      }
      // A leaf that nothing else in this transaction mentions.
      let leaf = kept.last { key in
        !updated.contains(key) && !nodes.values.contains { $0.parent == key }
          && !inserted.contains { $0.parent == key } && !transaction.links.contains { $0.owner == key }
      }
      if step % 3 == 2, let leaf {
        transaction.deleted = [
          RowDeletion(entity: node.layout.entity, key: leaf, version: nodes[leaf]!.version)
        ]
        nodes[leaf] = nil
      }

      let result = try store.commit(transaction)
      for (index, value) in inserted.enumerated() {
        nodes[result.permanentKey(for: Int64(-index - 1), root: node.layout.root)] = value
      }
      var told: [Int64: [String: String]] = [:]
      for batch in result.derived where batch.layout === node.layout {
        for row in 0..<batch.count {
          var values: [String: String] = [:]
          for name in ["above", "childCount", "childWeight", "labelCount", "labelWeight"] {
            values[name] = batch.text(row, node.cell(name)) ?? "nil"
          }
          told[batch.key(row)] = values
        }
      }
      for key in nodes.keys {
        let row = try #require(try store.row(entity: node.layout.entity, key: key))
        #expect(row.version == nodes[key]!.version)
        for (name, value) in expected(key, nodes, labels) {
          #expect(
            row.batch.text(row.row, node.cell(name)) ?? "nil" == value, "seed \(seed), step \(step), \(name)")
          if let told = told[key] { #expect(told[name] == value, "seed \(seed), step \(step), \(name)") }
        }
        if updated.contains(key) { #expect(told[key] != nil, "seed \(seed), step \(step)") }
      }
      for key in labels.keys {
        let row = try #require(try store.row(entity: label.layout.entity, key: key))
        #expect(
          row.batch.integer(row.row, label.cell("uses"))
            == Int64(nodes.values.count { $0.labels.contains(key) }))
      }
    }
    try store.close()
  }

  @Test("A file without the triggers gets them, and its values with them")
  func missingTriggers() throws {
    let scratch = Scratch()
    var plain = Self.schema
    for entity in plain.entities.indices {
      for attribute in plain.entities[entity].attributes.indices {
        plain.entities[entity].attributes[attribute].derivation = nil
      }
    }
    try SQLiteStore.file(scratch.file(), plain).close()
    _ = sql(
      scratch.file(),
      "INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZWEIGHT, ZPARENT) VALUES (1, 2, 1, 5, NULL), (2, 2, 1, 7, 1)")
    let columns = "SELECT Z_PK, ZABOVE, ZCHILDCOUNT, ZCHILDWEIGHT, ZLABELCOUNT FROM ZNODE ORDER BY 1"
    #expect(
      sql(scratch.file(), columns) == [
        ["1", "NULL", "NULL", "NULL", "NULL"], ["2", "NULL", "NULL", "NULL", "NULL"],
      ])
    try SQLiteStore.file(scratch.file(), Self.schema).close()
    #expect(sql(scratch.file(), columns) == [["1", "NULL", "1", "7", "0"], ["2", "5", "0", "0", "0"]])
    let triggers = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'"
    let made = sql(scratch.file(), triggers)
    #expect(made != [["0"]])
    try SQLiteStore.file(scratch.file(), Self.schema).close()
    #expect(sql(scratch.file(), triggers) == made)
  }

  @Test("A derivation without a column behind it is refused")
  func unknownSource() throws {
    var schema = Self.schema
    schema.entities[1].attributes[1].derivation = .sum(relationship: "nodes", attribute: "size")
    let scratch = Scratch()
    let error = #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.file(), schema) }
    #expect(error?.code == .invalidSchema)
    #expect(error?.properties == ["uses"])
  }
}
