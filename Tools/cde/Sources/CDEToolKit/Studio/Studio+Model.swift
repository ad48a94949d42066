import CDEDiagrams
import CDEManagedModel
import CDEModelRuntime
import Foundation

extension Studio {
  /// What a page needs to know before it shows anything: the store's name, and the model.
  public func overview() throws -> JSONValue {
    let state = try state()
    let store = state.store
    let name: String
    if case .file(let url) = place { name = url.lastPathComponent } else { name = place.text }
    let held = Set(store.concreteEntities.compactMap(\.name))
    return .object([
      .init("name", .string(name)), .init("path", .string(place.text)), .init("writable", .bool(isWritable)),
      .init("history", .bool(store.historyToken != nil)), .init("state", .int(state.number)),
      .init(
        "entities",
        .array(
          store.model.sortedEntities.map { entity in
            .object([
              .init("name", .string(entity.name ?? "")),
              .init("parent", entity.superentity?.name.map { .string($0) } ?? .null),
              .init("abstract", .bool(entity.isAbstract)),
              .init("stored", .bool(held.contains(entity.name ?? ""))),
              .init("label", .array(store.names.keys(of: entity).map { .string($0) })),
              .init(
                "properties",
                .array(
                  entity.shownAttributes(store.names).map(Self.attribute)
                    + entity.shownRelationships.map(Self.relationship))),
            ])
          })),
    ])
  }

  private static func attribute(_ attribute: NSAttributeDescription) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("name", .string(attribute.name)), .init("type", .string(attribute.typeName)),
      .init("optional", .bool(attribute.isOptional)), .init("number", .bool(attribute.isNumber)),
      .init("computed", .bool(attribute is NSDerivedAttributeDescription)),
    ]
    let standard = ValueText.cell(attribute.defaultValue, attribute)
    if standard.json != .null, attribute.attributeType != .binaryDataAttributeType {
      members.append(.init("default", .string(standard.text)))
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      members.append(.init("elements", .array(composite.elements.map(Self.attribute))))
    }
    return .object(members)
  }

  private static func relationship(_ relationship: NSRelationshipDescription) -> JSONValue {
    .object([
      .init("name", .string(relationship.name)),
      .init("to", .string(relationship.destinationEntity?.name ?? "")),
      .init("optional", .bool(relationship.isOptional)),
      .init("many", .bool(relationship.isToMany)), .init("ordered", .bool(relationship.isOrdered)),
      .init("number", .bool(relationship.isToMany)),
      .init("inverse", relationship.inverseRelationship.map { .string($0.name) } ?? .null),
      .init("rule", .string(relationship.ruleName)),
    ])
  }

  /// The number of objects of each entity, those of its sub-entities included.
  public func counts() throws -> JSONValue {
    let state = try state()
    var own: [String: Int] = [:]
    for entity in state.store.concreteEntities {
      own[entity.name ?? ""] = try count(StudioQuery(entity: entity.name ?? "", isExact: true), state)
    }
    let all = state.store.model.sortedEntities.map { entity -> JSONValue.Member in
      let below = state.store.model.entities.filter { $0.isKindOf(entity: entity) }
      return .init(entity.name ?? "", .int(below.reduce(0) { $0 + (own[$1.name ?? ""] ?? 0) }))
    }
    return .object([.init("state", .int(state.number)), .init("counts", .object(all))])
  }

  /// The model as a picture. The colours are those of the page's style.
  public func diagram(showsAttributes: Bool = true) throws -> String {
    Diagram(try state().store.model, showsAttributes: showsAttributes).text(.svg)
  }
}
