import CDESQLiteStore
import CDEStore

/// A schema with every attribute type and every kind of relationship.
enum Shop {
  static let schema = StoreSchema(
    entities: [
      StoreEntity(
        name: "Item",
        attributes: [
          StoreAttribute(name: "small", type: .integer16),
          StoreAttribute(name: "big", type: .integer64),
          StoreAttribute(name: "flag", type: .boolean),
          StoreAttribute(name: "when", type: .date),
          StoreAttribute(name: "ratio", type: .double),
          StoreAttribute(name: "thin", type: .float),
          StoreAttribute(name: "price", type: .decimal),
          StoreAttribute(name: "title", type: .string),
          StoreAttribute(name: "link", type: .uri),
          StoreAttribute(name: "uid", type: .uuid),
          StoreAttribute(name: "payload", type: .binary),
          StoreAttribute(name: "form", type: .transformable),
          StoreAttribute(name: "photo", type: .binary, allowsExternalStorage: true),
          StoreAttribute(name: "draft", type: .string, isTransient: true),
          StoreAttribute(
            name: "place", type: .composite,
            elements: [
              StoreAttribute(name: "latitude", type: .double),
              StoreAttribute(name: "title", type: .string),
            ]),
        ],
        relationships: [
          StoreRelationship(name: "category", destination: "Category", inverse: "items", isToMany: false),
          StoreRelationship(name: "tags", destination: "Tag", inverse: "items", isToMany: true),
          StoreRelationship(name: "owners", destination: "Owner", inverse: "item", isToMany: true),
        ],
        indexes: [StoreIndex(name: "byTitle", elements: [.init(property: "title")])]),
      StoreEntity(
        name: "SpecialItem", parent: "Item",
        attributes: [StoreAttribute(name: "extra", type: .string)]),
      StoreEntity(
        name: "Category",
        attributes: [
          StoreAttribute(name: "name", type: .string), StoreAttribute(name: "code", type: .integer32),
        ],
        relationships: [
          StoreRelationship(
            name: "items", destination: "Item", inverse: "category", isToMany: true, isOrdered: true),
          StoreRelationship(name: "parent", destination: "Category", inverse: "children", isToMany: false),
          StoreRelationship(name: "children", destination: "Category", inverse: "parent", isToMany: true),
          StoreRelationship(
            name: "featured", destination: "Item", inverse: nil, isToMany: true, isOrdered: true),
        ],
        uniquenessConstraints: [["name", "code"]]),
      StoreEntity(
        name: "Tag", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(
            name: "items", destination: "Item", inverse: "tags", isToMany: true, isOrdered: true),
          StoreRelationship(name: "related", destination: "Tag", inverse: "related", isToMany: true),
        ]),
      StoreEntity(
        name: "Owner", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "item", destination: "Item", inverse: "owners", isToMany: false)
        ]),
    ])
}

/// Puts rows of one entity together by property name.
struct Draft {
  enum Value {
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
  }

  var key: Int64
  var version: Int64 = 1
  var values: [String: Value] = [:]
  var references: [String: Int64] = [:]
  var orders: [String: Int64] = [:]
  var entities: [String: Int64] = [:]
}

extension Store {
  func root(_ entity: String) -> RootIndex { schema.entity(named: entity)!.root }

  func index(_ entity: String) -> EntityIndex { schema.entity(named: entity)!.index }

  func slot(_ entity: String, _ property: String) -> SlotIndex {
    schema.entity(named: entity)!.layout.slot(named: property)!
  }

  func batch(_ entity: String, _ drafts: [Draft]) -> RowBatch {
    let layout = schema.entity(named: entity)!.layout
    var builder = RowBatchBuilder(layout: layout, rows: max(drafts.count, 1))
    for draft in drafts {
      builder.beginRow(key: draft.key, version: draft.version)
      for (cell, description) in zip(layout.cells.indices, layout.cells) {
        // A composite's leaves go by "composite.leaf".
        let property = layout.properties[description.slot].name
        let name = property == description.name ? property : "\(property).\(description.name)"
        let path =
          if case .composite = layout.properties[description.slot].kind {
            "\(property).\(description.name)"
          } else { name }
        switch description.role {
        case .value:
          switch draft.values[path] {
          case .integer(let value): builder.setInteger(cell, value)
          case .real(let value): builder.setReal(cell, value)
          case .text(let value): builder.setString(cell, value)
          case .bytes(let value): value.withUnsafeBytes { builder.setBytes(cell, $0) }
          case nil: break
          }
        case .key: if let key = draft.references[property] { builder.setInteger(cell, key) }
        case .entity: if let entity = draft.entities[property] { builder.setInteger(cell, entity) }
        case .order: if let order = draft.orders[property] { builder.setInteger(cell, order) }
        }
      }
    }
    return builder.finish()
  }

  @discardableResult
  func insert(_ entity: String, _ drafts: [Draft]) throws -> CommitResult {
    var transaction = StoreTransaction()
    transaction.inserted = [batch(entity, drafts)]
    return try commit(transaction)
  }

  /// A batch that deletes all rows of an entity and leaves those that refer to them.
  func deletion(of entity: String) -> StoreBatchDelete {
    StoreBatchDelete(
      query: StoreQuery(entity: index(entity)),
      rules: schema.entities.mapped { entity in
        var rules: [SlotIndex: StoreBatchDelete.Rule] = [:]
        for property in entity.layout.properties {
          switch property.kind {
          case .toOne, .toMany: rules[property.slot] = .nullify
          case .attribute, .composite: break
          }
        }
        return rules
      })
  }

  func describe(_ entity: String, _ key: Int64) throws -> [String: String]? {
    guard let reference = try row(entity: index(entity), key: key) else { return nil }
    let layout = reference.batch.layout
    var result: [String: String] = [:]
    for (cell, description) in zip(layout.cells.indices, layout.cells) {
      let property = layout.properties[description.slot].name
      let suffix: String =
        switch description.role {
        case .value: description.name == property ? "" : ".\(description.name)"
        case .key: ""
        case .entity: "@entity"
        case .order: "@order"
        }
      result[property + suffix] = CDESQLiteStoreTests.describe(reference.batch, reference.row, cell)
    }
    return result
  }
}
