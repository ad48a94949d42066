@_spi(CDE) import CDEManagedModel
@_spi(CDE) import CDEPredicates
@_spi(CDE) import CDEStore
import Foundation
import Testing

@testable import CDEModelRuntime

/// A small schema with a property of every kind, and objects of it in memory.
struct QueryWorld {
  let schema: ResolvedSchema

  init() {
    let address = StoreAttribute(
      name: "address", type: .composite,
      elements: [.init(name: "city", type: .string), .init(name: "zip", type: .integer64)])
    let location = StoreAttribute(
      name: "location", type: .composite,
      elements: [.init(name: "lat", type: .double), .init(name: "lon", type: .double), address])
    let item = StoreEntity(
      name: "Item",
      attributes: [
        .init(name: "title", type: .string), .init(name: "count", type: .integer32),
        .init(name: "ratio", type: .double), .init(name: "price", type: .decimal),
        .init(name: "flag", type: .boolean), .init(name: "created", type: .date),
        .init(name: "token", type: .uuid), .init(name: "link", type: .uri),
        .init(name: "blob", type: .binary),
        .init(name: "picture", type: .binary, allowsExternalStorage: true),
        .init(name: "meta", type: .transformable),
        .init(name: "computed", type: .integer32, isTransient: true), location,
      ],
      relationships: [
        .init(name: "category", destination: "Category", inverse: "items", isToMany: false),
        .init(name: "tags", destination: "Tag", inverse: "items", isToMany: true),
      ])
    let tag = StoreEntity(
      name: "Tag",
      attributes: [.init(name: "name", type: .string), .init(name: "score", type: .integer32)],
      relationships: [
        .init(name: "items", destination: "Item", inverse: "tags", isToMany: true),
        .init(name: "category", destination: "Category", inverse: "tags", isToMany: false),
      ])
    let category = StoreEntity(
      name: "Category",
      attributes: [.init(name: "name", type: .string), .init(name: "rank", type: .integer32)],
      relationships: [
        .init(name: "items", destination: "Item", inverse: "category", isToMany: true),
        .init(name: "tags", destination: "Tag", inverse: "category", isToMany: true),
        .init(name: "parent", destination: "Category", inverse: "children", isToMany: false),
        .init(name: "children", destination: "Category", inverse: "parent", isToMany: true),
      ])
    let special = StoreEntity(
      name: "SpecialItem", parent: "Item", attributes: [.init(name: "bonus", type: .integer32)])
    // The schema above is well-formed, so resolving it cannot fail.
    schema = try! ResolvedSchema(StoreSchema(entities: [item, tag, category, special]))
  }

  func index(_ entity: String) -> EntityIndex { schema.entity(named: entity)!.index }

  func reference(_ entity: String, _ key: Int64) -> QueryReference {
    QueryReference(entity: index(entity), root: schema.entity(named: entity)!.root, key: key)
  }

  func resolver(_ entity: String) -> QueryResolver {
    QueryResolver(schema: schema, entity: index(entity)) { object in
      guard let reference = object.reference as? QueryReference else { return .null }
      return .reference(entity: reference.entity, key: reference.key)
    }
  }

  /// What answers conditions on items for one of them.
  func evaluator(_ item: QueryObject) -> ItemEvaluator {
    ItemEvaluator(evaluator: FilterEvaluator(schema), item: item, entity: index("Item"))
  }

  /// The path along relationships to an attribute, by names.
  func path(_ names: [String], leaf: Int, from entity: String, scope: Int) -> StorePath {
    var path = objectPath(names.dropLast(), from: entity, scope: scope)
    var owner = index(entity)
    for slot in path.hops { owner = schema.end(of: slot, in: owner).destination }
    path.end = .property(slot: schema.entities[owner].layout.slot(named: names.last!)!, leaf: leaf)
    return path
  }

  func objectPath(_ names: [String], from entity: String, scope: Int) -> StorePath {
    var owner = index(entity)
    var hops: [SlotIndex] = []
    for name in names {
      let slot = schema.entities[owner].layout.slot(named: name)!
      hops.append(slot)
      owner = schema.end(of: slot, in: owner).destination
    }
    return StorePath(scope: scope, hops: hops, end: .object)
  }
}

/// Decides conditions on items for one of them.
struct ItemEvaluator {
  let evaluator: FilterEvaluator<QueryObject>
  let item: QueryObject
  let entity: EntityIndex

  func holds(_ filter: StoreFilter) throws -> Bool { try evaluator.holds(filter, for: item, of: entity) }
}

struct QueryReference: PredicateObjectReference {
  var entity: EntityIndex
  var root: RootIndex
  var key: Int64

  static func == (left: Self, right: Self) -> Bool { left.root == right.root && left.key == right.key }
  func hash(into hasher: inout Hasher) { hasher.combine(key) }
  var predicateDescription: String { "\(entity)/\(key)" }
}

/// An object as the evaluation in memory reads it.
final class QueryObject: PredicateValueProviding {
  let schema: ResolvedSchema
  let entity: ResolvedSchema.Entity
  let key: Int64
  var attributes: [String: PredicateConstant] = [:]
  /// The leaves of composites, by property.
  var leaves: [String: [PredicateConstant]] = [:]
  var toOne: [String: QueryObject] = [:]
  var toMany: [String: [QueryObject]] = [:]

  init(_ schema: ResolvedSchema, _ entity: String, key: Int64) {
    self.schema = schema
    self.entity = schema.entity(named: entity)!
    self.key = key
  }

  var predicateReference: PredicateObject? {
    PredicateObject(QueryReference(entity: entity.index, root: entity.root, key: key))
  }

  var predicateValuesHaveTypes: Bool { true }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    if key == "objectID" || key == "self" { return .object(self) }
    if key == "entity" { return .object(EntityReference(name: entity.layout.entityName)) }
    guard let property = entity.layout.property(named: key) else {
      throw PredicateTreeError(.unknownKey, construct: key, "no key \(key)")
    }
    switch property.kind {
    case .attribute: return .constant(attributes[key] ?? .null)
    case .composite(let attribute):
      var values = (leaves[key] ?? [])[...]
      return Self.composite(attribute, &values)
    case .toOne: return toOne[key].map { .object($0) } ?? .null
    case .toMany: return .collection((toMany[key] ?? []).map { .object($0) })
    }
  }

  private static func composite(
    _ attribute: StoreAttribute, _ leaves: inout ArraySlice<PredicateConstant>
  ) -> PredicateValue {
    var result: [String: PredicateValue] = [:]
    for element in attribute.elements {
      if element.type == .composite {
        result[element.name] = composite(element, &leaves)
      } else {
        result[element.name] = .constant(leaves.popFirst() ?? .null)
      }
    }
    let isNil = result.values.allSatisfy { if case .constant(.null) = $0 { true } else { false } }
    return isNil ? .null : .object(result)
  }
}

extension QueryObject: EvaluatedRow {
  var concreteEntity: EntityIndex { entity.index }

  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue {
    let property = schema.entities[entity].layout.properties[slot]
    switch property.kind {
    case .attribute:
      if property.isTransient || leaf != 0 {
        throw StoreError(.unsupportedQuery, "\(property.name) has no cell")
      }
      return (attributes[property.name] ?? .null).stored
    case .composite: return leaves[property.name]?[leaf].stored ?? .null
    case .toOne, .toMany:
      throw StoreError(.unsupportedQuery, "\(property.name) is a relationship at a path's end")
    }
  }

  func destinations(of slot: SlotIndex, in entity: EntityIndex) -> [QueryObject] {
    let name = schema.entities[entity].layout.properties[slot].name
    return toMany[name] ?? toOne[name].map { [$0] } ?? []
  }
}
