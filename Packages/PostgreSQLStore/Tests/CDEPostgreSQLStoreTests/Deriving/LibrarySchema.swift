#if PostgreSQL
  import CDEStore

  /// A schema with each kind of attribute that derives from other rows.
  enum Library {
    private static func attribute(
      _ name: String, _ type: StoreAttributeType, _ derivation: StoreDerivation? = nil
    ) -> StoreAttribute {
      StoreAttribute(name: name, type: type, derivation: derivation)
    }

    private static func relationship(
      _ name: String, _ destination: String, _ inverse: String?, many: Bool
    ) -> StoreRelationship {
      StoreRelationship(name: name, destination: destination, inverse: inverse, isToMany: many)
    }

    static let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Shelf",
        attributes: [
          attribute("name", .string), attribute("serial", .integer64),
          attribute("bookCount", .integer64, .count(relationship: "books")),
          attribute("pages", .integer64, .sum(relationship: "books", attribute: "pages")),
          attribute("pagesAsDouble", .double, .sum(relationship: "books", attribute: "pages")),
          attribute("worth", .double, .sum(relationship: "books", attribute: "price")),
          attribute("cost", .decimal, .sum(relationship: "books", attribute: "cost")),
          attribute("featuredCount", .integer32, .count(relationship: "featured")),
          attribute("featuredPages", .integer64, .sum(relationship: "featured", attribute: "pages")),
          attribute("tagCount", .integer16, .count(relationship: "tags")),
          attribute("tagWeight", .integer64, .sum(relationship: "tags", attribute: "weight")),
          attribute("childCount", .integer64, .count(relationship: "children")),
          attribute("parentName", .string, .copy(relationship: "parent", attribute: "name")),
          attribute("friendCount", .integer64, .count(relationship: "friends")),
          attribute("friendSerials", .integer64, .sum(relationship: "friends", attribute: "serial")),
        ],
        relationships: [
          relationship("books", "Book", "shelf", many: true),
          relationship("featured", "Book", nil, many: true),
          relationship("tags", "Tag", "shelves", many: true),
          relationship("parent", "Shelf", "children", many: false),
          relationship("children", "Shelf", "parent", many: true),
          relationship("friends", "Shelf", "friends", many: true),
        ]),
      StoreEntity(
        name: "Cabinet", parent: "Shelf",
        attributes: [
          attribute("novelCount", .integer64, .count(relationship: "novels")),
          attribute("novelPages", .integer64, .sum(relationship: "novels", attribute: "pages")),
        ],
        relationships: [relationship("novels", "Novel", "cabinet", many: true)]),
      StoreEntity(
        name: "Book",
        attributes: [
          attribute("title", .string), attribute("pages", .integer64), attribute("price", .double),
          attribute("cost", .decimal),
          attribute("shelfName", .string, .copy(relationship: "shelf", attribute: "name")),
          attribute("shelfSerial", .integer64, .copy(relationship: "shelf", attribute: "serial")),
        ],
        relationships: [relationship("shelf", "Shelf", "books", many: false)]),
      StoreEntity(
        name: "Novel", parent: "Book",
        relationships: [relationship("cabinet", "Cabinet", "novels", many: false)]),
      StoreEntity(
        name: "Tag",
        attributes: [
          attribute("weight", .integer64),
          attribute("shelfCount", .integer64, .count(relationship: "shelves")),
        ],
        relationships: [relationship("shelves", "Shelf", "tags", many: true)]),
    ])

    /// The attributes that depend on other rows.
    static let derived: Set<String> = Set(
      schema.entities.flatMap(\.attributes).filter { $0.derivation != nil }.map(\.name))
  }
#endif
