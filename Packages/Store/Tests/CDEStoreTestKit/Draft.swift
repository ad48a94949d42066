public import CDEStore

/// A row by property names. A composite's leaf is `composite.leaf`.
public struct Draft: Sendable {
  /// The value of an attribute.
  public enum Value: Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
  }

  /// The row's key.
  public var key: Int64
  /// The row's version.
  public var version: Int64
  /// The values of attributes; nil for those that are not named.
  public var values: [String: Value]
  /// The keys of to-one relationships.
  public var references: [String: Int64]
  /// The positions in ordered relationships, by the names of their inverses.
  public var orders: [String: Int64]
  /// The entities of referenced rows, for relationships that need one.
  public var entities: [String: EntityIndex]

  /// Makes a draft of these parts.
  public init(
    key: Int64, version: Int64 = 1, values: [String: Value] = [:], references: [String: Int64] = [:],
    orders: [String: Int64] = [:], entities: [String: EntityIndex] = [:]
  ) {
    self.key = key
    self.version = version
    self.values = values
    self.references = references
    self.orders = orders
    self.entities = entities
  }
}

extension Store {
  /// The root of an entity's tree.
  public func root(_ entity: String) -> RootIndex { schema.entity(named: entity)!.root }

  /// The index of an entity.
  public func index(_ entity: String) -> EntityIndex { schema.entity(named: entity)!.index }

  /// The slot of a property.
  public func slot(_ entity: String, _ property: String) -> SlotIndex {
    schema.entity(named: entity)!.layout.slot(named: property)!
  }

  /// The rows of drafts.
  public func batch(_ entity: String, _ drafts: [Draft]) -> RowBatch {
    let layout = schema.entity(named: entity)!.layout
    var builder = RowBatchBuilder(layout: layout, rows: max(drafts.count, 1))
    for draft in drafts {
      builder.beginRow(key: draft.key, version: draft.version)
      for (cell, description) in zip(layout.cells.indices, layout.cells) {
        let property = layout.properties[description.slot].name
        switch description.role {
        case .value:
          switch draft.values[layout.path(of: description)] {
          case .integer(let value): builder.setInteger(cell, value)
          case .real(let value): builder.setReal(cell, value)
          case .text(let value): builder.setString(cell, value)
          case .bytes(let value): value.withUnsafeBytes { builder.setBytes(cell, $0) }
          case nil: break
          }
        case .key: if let key = draft.references[property] { builder.setInteger(cell, key) }
        case .entity: if let entity = draft.entities[property] { builder.setEntity(cell, entity) }
        case .order: if let order = draft.orders[property] { builder.setInteger(cell, order) }
        }
      }
    }
    return builder.finish()
  }

  // MARK: Changes

  /// Commits a transaction that a closure puts together.
  @discardableResult
  public func commit(_ change: (inout StoreTransaction) -> Void) throws(StoreError) -> CommitResult {
    var transaction = StoreTransaction()
    change(&transaction)
    return try commit(transaction)
  }

  /// Inserts rows and returns their keys.
  @discardableResult
  public func insert(_ entity: String, _ drafts: [Draft]) throws(StoreError) -> [Int64] {
    let batch = batch(entity, drafts)
    try commit { $0.inserted = [batch] }
    return (0..<batch.count).map { batch.key($0) }
  }

  /// A change of some properties of rows.
  public func update(_ entity: String, _ drafts: [Draft], _ properties: String...) -> RowUpdate {
    RowUpdate(
      batch: batch(entity, drafts),
      changed: drafts.map { _ in PropertySet(properties.map { slot(entity, $0) }) })
  }

  /// The deletion of a row.
  public func deletion(_ entity: String, _ key: Int64, version: Int64 = 1) -> RowDeletion {
    RowDeletion(entity: index(entity), key: key, version: version)
  }

  /// A batch that deletes all rows of an entity and leaves those that refer to them.
  public func deletion(of entity: String) -> StoreBatchDelete {
    StoreBatchDelete(
      query: StoreQuery(entity: index(entity)),
      rules: schema.entities.mapped { entity in
        var rules: [SlotIndex: StoreBatchDelete.Rule] = [:]
        for property in entity.layout.properties where property.isRelationship {
          rules[property.slot] = .nullify
        }
        return rules
      })
  }

  // MARK: Rows as text

  /// The values of a row as text, by property names; nil without a row.
  public func describe(_ entity: String, _ key: Int64) throws(StoreError) -> [String: String]? {
    guard let row = try row(entity: index(entity), key: key) else { return nil }
    return describe(row.batch, row.row)
  }

  /// The values of a row as text, by property names, with its entity, key and version. Nulls are left out.
  public func describe(_ batch: RowBatch, _ row: Int) -> [String: String] {
    let layout = batch.layout
    var result = [
      "entity": layout.entityName, "key": "\(batch.key(row))", "version": "\(batch.version(row))",
    ]
    for (cell, description) in zip(layout.cells.indices, layout.cells) {
      let suffix: String =
        switch description.role {
        case .value, .key: ""
        case .entity: "@entity"
        case .order: "@order"
        }
      result[layout.path(of: description) + suffix] = batch.text(row, cell)
    }
    return result
  }
}

extension RowBatch {
  /// A cell's value as text; nil for a null.
  public func text(_ row: Int, _ cell: CellIndex) -> String? {
    if isNull(row, cell) { return nil }
    switch layout.cells[cell].kind {
    case .integer: return String(integer(row, cell)!)
    case .real: return String(real(row, cell)!)
    case .text: return string(row, cell)!
    case .blob: return bytes(row, cell).map { String($0, radix: 16) }.joined(separator: " ")
    }
  }
}

extension RowLayout {
  fileprivate func path(of cell: Cell) -> String {
    let property = properties[cell.slot]
    if case .composite = property.kind { return "\(property.name).\(cell.name)" }
    return property.name
  }
}
