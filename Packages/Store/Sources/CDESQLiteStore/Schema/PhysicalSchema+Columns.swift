import CDEStore

extension PhysicalSchema {
  /// Columns have this order. Within a class they are ordered by entity and property.
  private enum SQLClass: Int, CaseIterable {
    case integer, floating, decimal, string, uri, uuid, transformable, binary
  }

  private static func sqlClass(_ type: StoreAttributeType) -> SQLClass {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: .integer
    case .double, .float, .date: .floating
    case .decimal: .decimal
    case .string, .undefined, .objectID: .string
    case .uri: .uri
    case .uuid: .uuid
    case .transformable: .transformable
    case .binary, .composite: .binary
    }
  }

  static func declaration(_ type: StoreAttributeType) -> String {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .date: "TIMESTAMP"
    case .double, .float: "FLOAT"
    case .decimal: "DECIMAL"
    case .string, .uri, .undefined, .objectID: "VARCHAR"
    case .uuid, .transformable, .binary, .composite: "BLOB"
    }
  }

  static func table(
    of root: ResolvedSchema.Entity, schema: ResolvedSchema, held: Set<EntityIndex>,
    numbers: IndexedArray<EntityIndex, Int64>
  ) -> Table {
    var columns: [Column] = []
    var names = NameAllocator(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
    for sqlClass in SQLClass.allCases {
      for entity in root.subtree where held.contains(entity) {
        appendAttributes(of: entity, sqlClass, schema: schema, names: &names, to: &columns)
        if sqlClass == .integer {
          appendRelationships(
            of: entity, schema: schema, held: held, numbers: numbers, names: &names, to: &columns)
        }
      }
    }
    return Table(name: "Z" + root.source.name.uppercased(), root: root.root, columns: columns)
  }

  private static func appendAttributes(
    of entity: EntityIndex, _ sqlClass: SQLClass, schema: ResolvedSchema, names: inout NameAllocator,
    to columns: inout [Column]
  ) {
    let attributes = schema.entities[entity].source.attributes
      .filter { !$0.isTransient }
      .sorted { codePointOrder($0.name, $1.name) }
    for attribute in attributes {
      for (leaf, element) in attribute.leaves.enumerated()
      where Self.sqlClass(element.type) == sqlClass {
        columns.append(
          Column(
            name: names.allocate("Z" + element.name.uppercased()),
            declaration: declaration(element.type), entity: entity, declaringEntity: entity,
            property: attribute.name, source: .property(leaf: leaf, role: .value)))
      }
    }
  }

  private static func appendRelationships(
    of entity: EntityIndex, schema: ResolvedSchema, held: Set<EntityIndex>,
    numbers: IndexedArray<EntityIndex, Int64>, names: inout NameAllocator,
    to columns: inout [Column]
  ) {
    let layout = schema.entities[entity].layout
    // The layout's properties are already sorted by code point.
    let toOnes = layout.properties.filter {
      guard case .toOne = $0.kind else { return false }
      return $0.declaringEntity == entity && !$0.isTransient
    }
    func append(_ name: String, _ property: RowLayout.Property, _ role: RowLayout.Cell.Role) {
      columns.append(
        Column(
          name: names.allocate(name), declaration: "INTEGER", entity: entity, declaringEntity: entity,
          property: property.name, source: .property(leaf: 0, role: role)))
    }
    for property in toOnes {
      append("Z" + property.name.uppercased(), property, .key)
      if property.cells.contains(where: { layout.cells[$0].role == .entity }) {
        let destination = schema.end(of: property.slot, in: entity).destination
        append("Z\(numbers[destination])_" + property.name.uppercased(), property, .entity)
      }
    }

    var implied: [(owner: EntityIndex, property: RowLayout.Property, isOrdered: Bool)] = []
    for owner in schema.entities where held.contains(owner.index) {
      for property in owner.layout.properties where property.declaringEntity == owner.index {
        guard case .toMany(let relationship) = property.kind, relationship.inverse == nil,
          !property.isTransient,
          schema.end(of: property.slot, in: owner.index).destination == entity
        else { continue }
        implied.append((owner.index, property, relationship.isOrdered))
      }
    }
    implied.sort {
      $0.property.name == $1.property.name
        ? $0.owner < $1.owner : codePointOrder($0.property.name, $1.property.name)
    }
    func appendImplied(_ prefix: String, _ owner: EntityIndex, _ name: String, _ source: Column.Source) {
      columns.append(
        Column(
          name: names.allocate("\(prefix)\(numbers[owner])\(name.uppercased())"),
          declaration: "INTEGER", entity: entity, declaringEntity: owner, property: name,
          source: source))
    }
    for column in implied { appendImplied("Z", column.owner, column.property.name, .impliedKey) }

    for property in toOnes
    where property.cells.contains(where: { layout.cells[$0].role == .order }) {
      append("Z_FOK_" + property.name.uppercased(), property, .order)
    }
    for column in implied where column.isOrdered {
      appendImplied("Z_FOK_", column.owner, column.property.name, .impliedOrder)
    }
  }
}

/// Assigns names. A name that is used gets the first free number as a suffix.
struct NameAllocator {
  private var taken: Set<String>
  private var counts: [String: Int] = [:]

  init(taken: Set<String> = []) { self.taken = taken }

  mutating func allocate(_ name: String) -> String {
    var count = counts[name, default: 0]
    var candidate = count == 0 ? name : "\(name)\(count)"
    while !taken.insert(candidate).inserted {
      count += 1
      candidate = "\(name)\(count)"
    }
    counts[name] = count + 1
    return candidate
  }
}
