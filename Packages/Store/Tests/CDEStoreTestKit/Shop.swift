public import CDEStore

/// A schema with every attribute type and every kind of relationship.
public enum Shop {
  /// The schema with its numbers.
  public static let resolved = try! ResolvedSchema(schema)

  /// The schema.
  public static let schema = StoreSchema(
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
